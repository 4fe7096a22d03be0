"""The pages of an archive: search, stored cases, labels, the heat map."""
