"""Virtual machines of an ESXi host: their files, processes, disks and logs."""
