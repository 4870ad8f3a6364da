"""Fabrics on a floor: in which layouts they are searched, and on small floors the best places of all."""
