"""esxtop: the batch CSV and pasted screens."""
