"""Pseudonyms for what is handed out: collect the names of a case, replace them, prove that none is left."""
