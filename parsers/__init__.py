"""One file an artefact: its tables, its template, how it is recognised."""
