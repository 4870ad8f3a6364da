"""Sweeps: a grid of points, the processes that solve it, and its file."""
