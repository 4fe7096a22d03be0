"""vSAN as an ESXi host sees it."""
