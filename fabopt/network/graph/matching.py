"""The heaviest matching of switches with switches, by classes of equal switches.

Devices of one class are exchanged by symmetries of the graph, so that a best fractional matching gives all pairs of one
kind equal shares; it is then a transport between classes, and its optimum that of the matching of single switches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def heaviest_transport(weights: Ints, counts: Sequence[int]) -> int:
    """Weight of the heaviest matching of all switches with all switches, ``counts[c]`` of them being of class c.

    ``weights``: weight of the best pair of a switch of the first class and one of the second, shape (classes, classes).
    Exact; raises ``RuntimeError`` if the flow has no optimum.
    """
    classes = len(counts)
    if classes == 1:
        return int(weights[0, 0]) * counts[0]
    from ortools.graph.python import min_cost_flow  # most callers have one class

    flow = min_cost_flow.SimpleMinCostFlow()
    near, far = np.divmod(np.arange(classes * classes), classes)
    most = np.minimum(np.asarray(counts)[near], np.asarray(counts)[far])
    flow.add_arcs_with_capacity_and_unit_cost(near, classes + far, most, -weights.ravel())
    flow.set_nodes_supplies(np.arange(2 * classes), np.concatenate([counts, np.negative(counts)]))
    status = flow.solve()
    if status != flow.OPTIMAL:
        raise RuntimeError(f"the transport has no optimum: {status}")
    return -int(flow.optimal_cost())


def heaviest_assignment(weights: Ints) -> int:
    """Weight of the heaviest matching of all switches with all, one by one; ``weights``: shape (switches, switches).

    Exact. Raises ``RuntimeError`` if the assignment has no optimum.
    """
    from ortools.graph.python import linear_sum_assignment  # only irregular graphs need it

    switches = len(weights)
    near, far = np.divmod(np.arange(switches * switches), switches)
    assignment = linear_sum_assignment.SimpleLinearSumAssignment()
    assignment.add_arcs_with_cost(near, far, int(weights.max()) - weights.ravel())
    status = assignment.solve()
    if status != assignment.OPTIMAL:
        raise RuntimeError(f"the assignment has no optimum: {status}")
    return int(weights.max()) * switches - int(assignment.optimal_cost())
