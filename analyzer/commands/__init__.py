"""The commands of the command line that are groups of their own."""
