"""Hardware of an ESXi host: processors, memory, PCI, firmware."""
