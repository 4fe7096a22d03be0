"""Proof of rules: their examples, and whether these notice a threshold that moves."""
