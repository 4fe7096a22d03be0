"""What a case document is made of: its records, verdicts, what to ask a customer for, and the order of findings."""
