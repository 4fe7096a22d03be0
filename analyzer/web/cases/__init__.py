"""The cases of one server: uploads, the process that triages each, and the events it sends."""
