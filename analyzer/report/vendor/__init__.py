"""Third-party files of the report, as published; vendor.toml holds their sources and sums."""
