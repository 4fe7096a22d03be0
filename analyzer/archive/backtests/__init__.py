"""A rule over all stored cases, against its released version."""
