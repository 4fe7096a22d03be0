"""Reports of a case: HTML page, case note in Markdown, terminal. Each reads the case document alone."""
