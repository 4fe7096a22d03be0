"""Tables, esxtop, the merged log of a case and the screen to browse it, without a report."""
