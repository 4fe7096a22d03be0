"""Two versions of a catalog, held against each other by what they find."""
