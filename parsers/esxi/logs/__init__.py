"""Logs of an ESXi host."""
