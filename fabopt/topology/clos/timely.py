"""Which Clos are fast enough for a step of the case's model: least uplinks, and what is met exactly.

Uplinks are bounded with everything above them at its best, so that nothing in time is left out; a candidate that is
offered is then timed as its prediction is (``fabopt.workload``). Symbols are those of docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabopt.fabric import FabricProblem
from fabopt.topology.clos.shape import Ints, Parts, Shape, most_endpoints
from fabopt.topology.needs import Number
from fabopt.topology.threshold import Batch
from fabopt.workload.prediction import REDUCES, gpus_below, network_of

# Uplinks of a switch where no number would do.
_NEVER = 2**30


def leaf_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a leaf below which no step is in time; 0 if none is asked for. ``gpus``: of a server.

    With d v / (u w) the ratio, u w / (d v) is the share of the injection that leaves give.
    """
    deadline = None if fabric.wants is None else fabric.wants.deadline
    if deadline is None:
        return 0 * endpoints
    assert parts.leaf_up is not None
    injection, reduces = parts.nic.injection, _reduces(parts)
    speeds = Fraction(parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps)

    def needed(row: Ints) -> Fraction | None:
        share = deadline.leaf_share(injection, int(row[0]) * gpus, reduces)
        return None if share is None else share * speeds

    shares = _by_row([shape.g], needed)
    return _ceil(endpoints, 1, shares)


def spine_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a spine below which no step is in time; 0 if none is asked for.

    With r the ratio at the leaves, x w2 / (dS w max(1, r)) is the share of the injection that pods give.
    """
    deadline = None if fabric.wants is None else fabric.wants.deadline
    if deadline is None:
        return 0 * shape.spine_down
    assert parts.leaf_up is not None and parts.spine_down is not None and parts.spine_up is not None
    injection, reduces = parts.nic.injection, _reduces(parts)
    speeds = Fraction(parts.spine_down.lane.port_mbps, parts.spine_up.lane.port_mbps)

    def needed(row: Ints) -> Fraction | None:
        group = int(row[0]) * gpus
        share = deadline.pod_share(injection, group, group * int(row[1]), reduces)
        return None if share is None else share * speeds

    shares = _by_row([shape.g, shape.groups_per_pod], needed)
    down, up = parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps
    worst = np.maximum(endpoints * down, shape.u * up)
    return _ceil(shape.spine_down * worst, shape.u * up, shares)


def in_time(fabric: FabricProblem, batch: Batch, gpus: int) -> NDArray[np.bool_]:
    """Which candidates of a batch are in time, exactly. ``gpus``: of a server."""
    size = batch.cost.shape[1]
    deadline = None if fabric.wants is None else fabric.wants.deadline
    if deadline is None:
        return np.ones(size, dtype=bool)
    parts, shape = batch.parts, batch.shape
    injection, tiers, reduces = parts.nic.injection, parts.tiers, _reduces(parts)
    servers = int(shape.servers) * gpus
    speeds = _speeds(parts)

    def is_met(row: Ints) -> bool:
        d, u, spine_down, x, g, per_pod = (int(one) for one in row)
        ratios = dict(zip(("leaf", "spine"), (Fraction(d, u or 1), Fraction(spine_down, x or 1)), strict=True))
        ratios = {name: ratio * speeds[name] for name, ratio in ratios.items() if name in speeds}
        below = gpus_below(tiers, g * gpus, per_pod, servers)
        return deadline.is_met(network_of(injection, ratios, below, reduces))

    down = most_endpoints(shape, fabric.attached)
    spine_down = shape.spine_down if "spine" in speeds else 0
    columns = [down, shape.u, spine_down, shape.x, shape.g, shape.groups_per_pod]
    return np.asarray(_by_row([np.broadcast_to(one, size) for one in columns], is_met), dtype=bool)


def _speeds(parts: Parts) -> dict[str, Fraction]:
    """Speed of a link downwards over one upwards, by boundary."""
    found = {}
    for name, down, up in (("leaf", parts.leaf_down, parts.leaf_up), ("spine", parts.spine_down, parts.spine_up)):
        if down is not None and up is not None:
            found[name] = Fraction(down.lane.port_mbps, up.lane.port_mbps)
    return found


def _reduces(parts: Parts) -> bool:
    """Whether all switches that are chosen reduce."""
    switches = (parts.leaf, parts.spine, parts.core)
    return all(REDUCES in one.product.features for one in switches if one is not None)


def _by_row(columns: list[Any], value: Callable[[Ints], Any]) -> NDArray[Any]:
    """A value for every row of some columns, worked out once for equal rows."""
    rows = np.column_stack([np.atleast_1d(one) for one in np.broadcast_arrays(*columns)])
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    values = np.empty(len(distinct), dtype=object)
    values[:] = [value(row) for row in distinct]
    found: NDArray[Any] = values[places.reshape(-1)]
    return found


def _ceil(above: Number, below: Number, shares: NDArray[Any]) -> Number:
    """Ceiling of ``above / below * share`` of every row, exact; more than any switch has where there is no share."""
    above, below = (np.broadcast_to(one, shares.shape) for one in (above, below))
    counts = [
        _NEVER if share is None else -(-int(a) * share.numerator // (int(b) * share.denominator))
        for a, b, share in zip(above, below, shares, strict=True)
    ]
    return np.minimum(np.array(counts, dtype=object), _NEVER).astype(np.int64)
