"""Cases for a program that asks by the Model Context Protocol: read-only, redacted, each answer bounded."""
