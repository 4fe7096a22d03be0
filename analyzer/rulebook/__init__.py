"""How a rule file is read: YAML with places, values, logs, examples; every mistake with its caret."""
