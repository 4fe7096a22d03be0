"""Network of an ESXi host: physical NICs, switches, ports, VMkernel adapters, firewall."""
