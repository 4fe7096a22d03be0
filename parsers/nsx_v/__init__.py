"""NSX for vSphere: manager, controllers, edges, and what a host knows of them."""
