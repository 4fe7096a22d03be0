"""Storage of an ESXi host: devices, paths, adapters, file systems, VAAI."""
