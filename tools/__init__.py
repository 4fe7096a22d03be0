"""Tools of the repository: sample cases, large bundles, bench, generated pages, vendored files."""
