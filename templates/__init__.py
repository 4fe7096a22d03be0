"""TextFSM templates, one an artefact, the same stem as its parser."""
