"""Stored cases back again: the material of one, the tables of many."""
