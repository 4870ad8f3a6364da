"""What can be bought, and what fits: items with their prices, switches, NICs, ports, and what joins two cages."""
