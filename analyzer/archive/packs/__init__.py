"""One case as bytes: its material, its judgement, and the tables of both."""
