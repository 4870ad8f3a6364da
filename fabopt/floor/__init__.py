"""Racks, trays and devices on a floor: where they are installed, and how long a cable between two of them runs."""
