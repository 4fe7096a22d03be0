"""What the whole program stands on: errors, limits, texts, output, paths, and the folder of the cache."""
