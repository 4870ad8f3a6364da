"""Which Clos are fast enough for a step of the case's model: least uplinks, and what is met exactly.

Uplinks are bounded with everything above them at its best, so that nothing in time is left out; a candidate that is
offered is then timed as its prediction is (``fabopt.workload``). Symbols are those of docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.problem.fabric import FabricProblem
from fabopt.topology.batch import Batch
from fabopt.topology.clos.classes import LeafEndpoints, busiest_leaves
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints, Parts, Shape
from fabopt.units import Number
from fabopt.workload.deadline import MARGIN, Deadline
from fabopt.workload.many import FabricBandwidths, Floats
from fabopt.workload.prediction import network_of, ratio_left
from fabopt.workload.timing import FabricBandwidth

# Uplinks of a switch where no number would do.
_NEVER = 2**30


def leaf_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a leaf below which no step is in time; 0 if none is asked for. ``gpus``: of a server.

    With d v / (u w) the ratio, u w / (d v) is the share of the injection that leaves give.
    """
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return 0 * endpoints
    group = np.atleast_1d(shape.g) * gpus
    shares = deadline.leaf_shares(parts.nic.injection, group, int(shape.servers) * gpus, parts.reduces)
    return _fewest(endpoints * float(_speeds(parts)["leaf"]) * shares)


def spine_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a spine below which no step is in time; 0 if none is asked for.

    With r the ratio at the leaves, x w2 / (dS w max(1, r)) is the share of the injection that pods give.
    """
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return 0 * shape.spine_down
    speeds = _speeds(parts)
    below = np.maximum(1.0, endpoints * float(speeds["leaf"]) / shape.u)
    group = np.atleast_1d(shape.g) * gpus
    whole = int(shape.servers) * gpus
    shares = deadline.pod_shares(parts.nic.injection, group, group * shape.groups_per_pod, whole, parts.reduces)
    return _fewest(shape.spine_down * float(speeds["spine"]) * below * shares)


def in_time(fabric: FabricProblem, batch: Batch[Parts, Shape], gpus: int) -> NDArray[np.bool_]:
    """Which candidates of a batch are in time, exactly, shape (size,). ``gpus``: of a server."""
    down = busiest_leaves(fabric, batch.shape)
    above = 0 if batch.parts.spine is None else batch.shape.spine_down
    rows = _Rows(batch.shape, down, above, len(batch), batch.parts.tiers)
    return _are_in_time(fabric, batch.parts, rows, gpus, batch.cost[0], are_candidates=True)


def leaves_in_time(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int, cost: Floats) -> NDArray[np.bool_]:
    """Which rows of uplinks and spines may be in time if nothing above them slows it, shape (size,).

    ``gpus``: of a server; ``cost``: what is made of a row costs at the least, shape (size,).
    """
    rows = _Rows(shape, busiest_leaves(fabric, shape), 0, np.size(shape.spines), 2)
    return _are_in_time(fabric, parts, rows, gpus, cost)


def pods_in_time(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int, cost: Floats) -> NDArray[np.bool_]:
    """Which rows of three tiers may be in time, whatever their cores, shape (size,); ``gpus``, ``cost``: as above."""
    rows = _Rows(shape, busiest_leaves(fabric, shape), shape.spine_down, np.size(shape.x), 3)
    return _are_in_time(fabric, parts, rows, gpus, cost)


def is_in_time(fabric: FabricProblem, clos: ClosNetwork, gpus: int) -> bool:
    """Whether one Clos is in time, with all that is on its leaves and spines. ``gpus``: of a server."""
    down = LeafEndpoints(*(np.array([ports]) for ports in clos.endpoints))
    rows = _Rows(clos.shape, down, np.array([clos.spine_ports]), 1, clos.tiers)
    return bool(_are_in_time(fabric, clos.parts, rows, gpus)[0])


class _Rows(NamedTuple):
    """``size`` rows of a shape. ``down``, ``spine_down``: what counts in the ratios of leaves and spines."""

    shape: Shape
    down: LeafEndpoints
    spine_down: Number
    size: int
    tiers: int


def _are_in_time(
    fabric: FabricProblem,
    parts: Parts,
    rows: _Rows,
    gpus: int,
    cost: Floats | None = None,
    are_candidates: bool = False,
) -> NDArray[np.bool_]:
    """Which rows are in time, and of those with a cost which may be worth it; ``gpus``: of a server."""
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return np.ones(rows.size, dtype=bool)
    speeds, shape = _speeds(parts), rows.shape
    ratios = {"leaf": _busiest(shape, rows.down), "spine": (rows.spine_down, shape.x)}
    columns = [*_below(rows.tiers, shape, gpus, rows.size)]
    for name, speed in speeds.items():
        columns += _reduced(*ratios[name], speed)
    if "leaf" in speeds:
        columns += _reduced(*_busiest_left(shape, rows.down), speeds["leaf"])
    first, row_of = _alike(columns, rows.size)
    alike = np.stack([np.broadcast_to(column, rows.size)[first] for column in columns])
    met, networks = _are_met(deadline, parts, tuple(speeds), alike)
    if cost is None:
        return np.asarray(met[row_of])
    in_time = met[row_of]
    return in_time & deadline.are_worth_it(networks, row_of, cost, in_time if are_candidates else None)


def _alike(columns: Sequence[Ints], size: int) -> tuple[Ints, Ints]:
    """The first of rows that differ in nothing that a step depends on, and which of these each row is like."""
    first, row_of = np.zeros(min(1, size), dtype=np.int64), np.zeros(size, dtype=np.int64)
    for column in columns:
        if np.ndim(column) and column.size > 1:
            _, first, row_of = np.unique(
                row_of * (int(column.max(initial=0)) + 1) + column, return_index=True, return_inverse=True
            )
    return first, row_of


def _are_met(
    deadline: Deadline, parts: Parts, tiers: Sequence[str], table: Ints
) -> tuple[NDArray[np.bool_], FabricBandwidths]:
    """Which networks are in time, and these. ``table``: columns of ``_are_in_time``, shape (columns, networks)."""
    leaf_gpus, pod_gpus, *numbers = table
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    ratios = dict(zip(tiers, pairs, strict=False))
    left = pairs[-1] if "leaf" in ratios else None

    def network_at(place: int) -> FabricBandwidth:
        """The network of a candidate, exactly as its prediction has it."""
        exact = {name: Fraction(int(down[place]), int(up[place])) for name, (down, up) in ratios.items()}
        without = None if left is None else Fraction(int(left[0][place]), int(left[1][place]))
        below = int(leaf_gpus[place]), int(pod_gpus[place])
        return network_of(parts.nic.injection, exact, below, parts.reduces, without)

    def rates(of_leaves: tuple[Ints, Ints] | None) -> tuple[Floats, Floats]:
        """What leaves and pods give each GPU, in Mb/s."""
        for_leaf = np.full(leaf_gpus.size, float(parts.nic.injection)) / _ratio(of_leaves)
        return for_leaf, for_leaf / _ratio(ratios.get("spine"))

    networks = FabricBandwidths(
        float(parts.nic.injection), *rates(ratios.get("leaf")), leaf_gpus, pod_gpus, parts.reduces, rates(left)
    )
    alike = parts.nic.injection.numerator, parts.nic.injection.denominator, parts.reduces, tiers
    return deadline.are_met(networks, network_at, lambda place: (*alike, *table[:, place].tolist())), networks


def _ratio(numbers: tuple[Ints, Ints] | None) -> Floats | float:
    return 1.0 if numbers is None else np.asarray(numbers[0] / numbers[1])


def _reduced(down: Number, up: Number, speed: Fraction) -> tuple[Ints, Ints]:
    """A ratio in lowest terms, 1 where there are uplinks to spare: they slow nothing."""
    above, below = np.broadcast_arrays(
        np.asarray(down, dtype=np.int64) * speed.numerator, np.asarray(up, dtype=np.int64) * speed.denominator
    )
    common = np.gcd(above, below)
    spare = above <= below
    return np.where(spare, 1, above // common), np.where(spare, 1, below // common)


def _busiest(shape: Shape, down: LeafEndpoints) -> tuple[Number, Number]:
    """Endpoints and uplinks of the leaves with the largest ratio."""
    if not shape.is_odd:
        return down.most, shape.u
    is_last = down.of_last * shape.u > down.most * shape.odd_u
    return np.where(is_last, down.of_last, down.most), np.where(is_last, shape.odd_u, shape.u)


def _busiest_left(shape: Shape, down: LeafEndpoints) -> tuple[Number, Number]:
    """The same, once every leaf has lost the spine that it has most links to: ``ratio_left``."""
    most, up = ratio_left(down.most, shape.u, shape.links_to_spines(1))
    if not shape.is_odd:
        return most, up
    last, last_up = ratio_left(down.of_last, shape.odd_u, shape.of_last.links_to_spines(1))
    is_last = last * up > most * last_up
    return np.where(is_last, last, most), np.where(is_last, last_up, up)


def _below(tiers: int, shape: Shape, gpus: int, size: int) -> tuple[Ints, Ints]:
    """GPUs that reach each other under the leaves of a group, and within a pod: see ``fabopt.workload.prediction``."""
    group = np.broadcast_to(shape.g * gpus, size)
    whole = np.full(size, int(shape.servers) * gpus, dtype=np.int64)
    leaf = whole if tiers == 1 else group
    return leaf, whole if tiers <= 2 else group * shape.groups_per_pod


def _speeds(parts: Parts) -> dict[str, Fraction]:
    """Speed of a link downwards over one upwards, by boundary."""
    speeds = {}
    for name, down, up in (("leaf", parts.leaf_down, parts.leaf_up), ("spine", parts.spine_down, parts.spine_up)):
        if down is not None and up is not None:
            speeds[name] = Fraction(down.lane.port_mbps, up.lane.port_mbps)
    return speeds


def _fewest(uplinks: Floats) -> Number:
    """Whole uplinks, no more than rounding allows; more than any switch has where none would do."""
    least = np.ceil(np.asarray(uplinks) * (1 - MARGIN) - MARGIN)
    return np.asarray(np.minimum(least, _NEVER).astype(np.int64))
