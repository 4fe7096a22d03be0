"""What an engineer asks an archive, and how the answer reads."""
