"""Dragonfly+: leaf-spine groups, whose spines are joined to those of all other groups."""
