"""One rule on one case: why it says what it says, again on every save, and what it costs."""
