"""The cases of one server: uploads, the process that triages each, and what is told of it."""
