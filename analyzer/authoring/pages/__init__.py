"""What is told of rules: lists, plain words, pages, the schema of editors."""
