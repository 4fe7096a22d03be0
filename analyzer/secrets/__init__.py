"""Secrets in text: what they look like, and how no output shows one."""
