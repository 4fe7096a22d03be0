"""New rules: skeletons, and drafts from evidence with customer data masked."""
