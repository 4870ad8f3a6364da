"""Sweeps: a grid of points, who solves it, and the file that it becomes."""
