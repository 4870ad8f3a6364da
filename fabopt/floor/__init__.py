"""Where racks, trays and devices stand, and how long a cable between two of them runs."""
