"""Fabrics on a floor: search by layouts, and on small floors the best places of all switches."""
