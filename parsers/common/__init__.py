"""What several products share, and vCenter Server."""
