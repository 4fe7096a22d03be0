"""NSX-T and NSX 4: managers, edges, transport nodes, REST answers."""
