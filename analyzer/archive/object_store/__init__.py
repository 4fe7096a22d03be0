"""Where the objects of an archive lie: a folder or an object store."""
