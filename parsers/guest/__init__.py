"""Commands typed inside a guest."""
