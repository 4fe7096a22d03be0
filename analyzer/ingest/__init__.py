"""From the members of a case to named rows: which parser, which log, which machine, what was not read."""
