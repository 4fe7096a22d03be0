"""System of an ESXi host: version, options, packages, time, dumps, services."""
