"""Who may talk to the server, how much and how long, and the private place of what came."""
