"""The expression language of rules: nodes, checks, texts with values, and the SQL they become."""
