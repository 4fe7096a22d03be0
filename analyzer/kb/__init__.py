"""The rule catalog: one YAML file a rule."""
