"""How a design is run: one plan of names, ports, addresses and queues, from which every file for a system follows."""
