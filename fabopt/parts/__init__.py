"""Parts on sale and their fit: items with prices, switches, NICs, ports, and assemblies between two cages."""
