"""What readers see of rules: lists, plain words, pages, the schema of editors."""
