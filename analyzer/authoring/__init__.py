"""The tools of a rule's author: draft, check, format, prove, explain, watch, profile, document."""
