"""Tables, esxtop and the merged log of a case, without a report."""
