"""What the signature scanner is made of: line blocks, engines, literal pre-filter, hits."""
