"""Batch runs: which cases there are, what is to do, and the processes that do it."""
