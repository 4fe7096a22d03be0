"""The rule catalog: one YAML file a rule, in folders by subject."""
