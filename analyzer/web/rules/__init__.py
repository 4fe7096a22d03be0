"""The pages of rules: the catalog, a verdict while one is typed, back-tests."""
