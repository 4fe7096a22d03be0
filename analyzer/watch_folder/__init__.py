"""A download folder that is watched: what lands in it is triaged once it is complete, and only once."""
