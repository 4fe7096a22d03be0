"""The case archive: batch runs, stored cases, search, back-tests."""
