"""Uniform all-to-all by linear program: the largest rate over all routings, exact, on small graphs.

Variables: the traffic to every switch on every arc, gathered by destination, and the rate. What enters a switch for
another one leaves it, with what its own endpoints send; arcs carry no more than their capacity. Source: Shahrokhi and
Matula, "The maximum concurrent flow problem", J. ACM 37, 1990. Solved by GLOP in floating point, to about 1e-9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from fabopt.network.graph.network import Network


def uniform(network: Network) -> NDArray[np.float64]:
    """Demand where every endpoint sends 1 to each other one, shape (switches, switches); 0 on the diagonal."""
    hosts = network.hosts.astype(np.float64)
    demand = np.multiply.outer(hosts, hosts)
    np.fill_diagonal(demand, 0)
    return demand


def alltoall_by_program(network: Network) -> float:
    """Mb/s of every endpoint, at most its port's speed; raises ``RuntimeError`` if the program has no optimum."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    rate = solver.NumVar(0, network.port_mbps / max(1, network.endpoints - 1), "rate")
    arcs, demand = network.arcs, uniform(network)
    carried = [solver.Constraint(-solver.infinity(), int(mbps)) for mbps in arcs.mbps]
    for target in network.with_hosts.tolist():
        kept = {number: solver.Constraint(0, 0) for number in range(network.switches) if number != target}
        for number, constraint in kept.items():
            constraint.SetCoefficient(rate, demand[number, target])
        for arc, (tail, head) in enumerate(zip(arcs.tail.tolist(), arcs.head.tolist(), strict=True)):
            if tail == target:
                continue
            flow = solver.NumVar(0, solver.infinity(), "")
            carried[arc].SetCoefficient(flow, 1)
            kept[tail].SetCoefficient(flow, -1)
            if head != target:
                kept[head].SetCoefficient(flow, 1)
    solver.Maximize(rate)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        raise RuntimeError("the linear program has no optimum")
    return float(rate.solution_value() * (network.endpoints - 1))
