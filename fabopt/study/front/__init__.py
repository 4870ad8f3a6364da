"""Sweeps and Pareto fronts: one case solved at many points, every point proven. See docs/fronts.md."""
