"""The drag-in page: drop files on it, watch, read."""
