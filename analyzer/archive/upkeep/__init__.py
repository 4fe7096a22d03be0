"""Segments, compaction, and the check of every object."""
