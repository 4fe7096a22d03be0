"""Who may talk to the server, how much and how long, and the private folder for uploads."""
