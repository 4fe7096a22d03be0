"""What the judge is made of: one query a rule, log windows, traces, evidence, relations."""
