"""Outputs, files and logs of an ESXi host."""
