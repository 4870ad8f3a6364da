"""Drawings of fabrics on paper: one layout in millimetres, from a design's wiring, for every writer of drawings."""
