"""Folded Clos (leaf-spine, fat tree) of one to three switch tiers."""
