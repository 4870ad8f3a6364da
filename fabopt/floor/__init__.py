"""Racks, trays and devices on a floor: places of devices, and runs of cables between them."""
