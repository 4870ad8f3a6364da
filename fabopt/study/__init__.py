"""Studies of one case that is solved many times: sweeps, Pareto fronts, ranges of prices."""
