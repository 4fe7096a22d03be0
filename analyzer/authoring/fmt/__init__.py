"""The layout of a rule file: read with its comments, printed in one way."""
