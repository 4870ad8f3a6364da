"""One case solved many times: sweeps, Pareto fronts, ranges of prices."""
