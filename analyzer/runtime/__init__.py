"""What the whole program is on: errors, limits, texts, output, paths, and the folder of the cache."""
