"""Clos candidates that are fast enough for a step of the case's model: least uplinks, then exact times.

Uplinks are bounded with the best tiers above them, so that nothing in time is left out; a candidate that is offered is
then timed as its prediction is (``fabopt.workload``). Symbols are those of docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.classes import LeafEndpoints, busiest_leaves, endpoints_in_ratio
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints, Parts, Shape
from fabopt.topology.family import Batch
from fabopt.units import Number
from fabopt.workload.deadline import MARGIN, Blocks, Deadline
from fabopt.workload.many import FabricBandwidths, Floats
from fabopt.workload.prediction import network_of, ratio_left
from fabopt.workload.timing import FabricBandwidth

# Uplinks of a switch where no number would do.
_NEVER = 2**30
# The largest number that tells rows apart.
_MOST_CODE = 2**62


class ShareCosts(NamedTuple):
    """Least cost of uplinks with all tiers above that carry all of the injection, and with cores that leave as much
    above pods; None: there are no pods. ``least``: the same, however little they carry.
    """

    of_leaves: float
    in_pods: float | None = None
    least: float = 0.0


def leaf_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a leaf below which no step is in time; 0 without a deadline. ``gpus``: of a server.

    With d v / (u w) the ratio, u w / (d v) is the share of the injection that leaves carry.
    """
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return 0 * endpoints
    group = np.atleast_1d(shape.g) * gpus
    shares = deadline.leaf_shares(parts.nic.injection, group, int(shape.servers) * gpus, parts.reduces)
    return _fewest(endpoints * float(_speeds(parts)["leaf"]) * shares)


def leaves_alone_may_cost(fabric: FabricProblem, block: Blocks, most: float, share_costs: ShareCosts) -> Floats:
    """Most cost of leaves without uplinks at which a step is in time and worth it, if the network costs at most
    ``most``.

    Shape (sizes,).
    """
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return np.full(block.leaf_gpus.shape, np.inf)
    least = share_costs.least
    of_leaves = deadline.most_cost_of_leaves(block, most, share_costs.of_leaves, False, least)
    if share_costs.in_pods is None:
        return of_leaves
    return np.minimum(of_leaves, deadline.most_cost_of_leaves(block, most, share_costs.in_pods, True, least))


def spine_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a spine below which no step is in time; 0 without a deadline.

    With r the ratio at the leaves, x w2 / (dS w max(1, r)) is the share of the injection that pods carry.
    """
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        none: Number = 0 * shape.spine_down
        return none
    speeds = _speeds(parts)
    below = np.maximum(1.0, endpoints * float(speeds["leaf"]) / shape.u)
    group = np.atleast_1d(shape.g) * gpus
    whole = int(shape.servers) * gpus
    shares = deadline.pod_shares(parts.nic.injection, group, group * shape.groups_per_pod, whole, parts.reduces)
    return _fewest(shape.spine_down * float(speeds["spine"]) * below * shares)


def in_time(fabric: FabricProblem, batch: Batch[Parts, Shape], gpus: int) -> NDArray[np.bool_]:
    """Candidates of a batch that are in time, exactly, and may be worth their cost, shape (size,).

    ``gpus``: of a server.
    """
    timed = _timed(fabric, batch.parts, _rows_of(fabric, batch), gpus)
    if timed is None:
        return np.ones(len(batch), dtype=bool)
    met, cost = timed.met, batch.cost[0]
    timed.deadline.meet(timed.networks, timed.network_of[met], cost[met])
    return np.asarray(met & (cost <= timed.most_cost))


def steps_of(fabric: FabricProblem, batch: Batch[Parts, Shape], deadline: Deadline, gpus: int) -> Floats:
    """Seconds of a step on each candidate of a batch at the pace of a deadline, to rounding, shape (size,)."""
    networks = _networks(deadline, batch.parts, _rows_of(fabric, batch), gpus)
    return np.asarray(deadline.pace.steps_s(networks.networks)[networks.of_rows])


def _rows_of(fabric: FabricProblem, batch: Batch[Parts, Shape]) -> _Rows:
    above = 0 if batch.parts.spine is None else batch.shape.spine_down
    return _Rows(batch.shape, busiest_leaves(fabric, batch.shape), above, len(batch), batch.parts.tiers)


def uplinks_may_cost(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int) -> Floats:
    """Most cost of leaves with uplinks at which their step is worth it, whatever is above them, shape (size,).

    Minus infinity where that is too late, infinite where cost does not matter. Uplinks of a differing last group are
    not known yet. ``gpus``: of a server.
    """
    down = LeafEndpoints(endpoints_in_ratio(fabric, shape))
    return _may_cost(fabric, parts, _Rows(_of_others(shape), down, 0, np.size(shape.u), 2, False), gpus)


def leaves_may_cost(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int, with_last: bool = False) -> Floats:
    """Most cost of leaves with spines at which their step, which may lose one, is worth it, whatever is above, shape
    (size,).

    As of ``uplinks_may_cost``; ``with_last``: uplinks of a differing last group are known, and slow the step too.
    """
    down = busiest_leaves(fabric, shape) if with_last else LeafEndpoints(endpoints_in_ratio(fabric, shape))
    counted = shape if with_last else _of_others(shape)
    return _may_cost(fabric, parts, _Rows(counted, down, 0, np.size(shape.spines), 2), gpus)


def has_deadline(fabric: FabricProblem) -> bool:
    """Whether a step has to be in time, or worth its cost."""
    return fabric.figure_demands is not None and fabric.figure_demands.deadline is not None


def loses_spine(fabric: FabricProblem) -> bool:
    """Whether a fabric has a deadline for steps that lose a spine."""
    demands = fabric.figure_demands
    return demands is not None and demands.deadline is not None and demands.deadline.loses_spine


def pods_may_cost(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int) -> Floats:
    """Most cost of rows of pods at which their step is worth it, whatever their cores, shape (size,);
    ``uplinks_may_cost``.
    """
    rows = _Rows(shape, busiest_leaves(fabric, shape), shape.spine_down, np.size(shape.x), 3)
    return _may_cost(fabric, parts, rows, gpus)


def is_in_time(fabric: FabricProblem, clos: ClosNetwork, gpus: int) -> bool:
    """Whether one Clos is in time, with all ports on its leaves and spines. ``gpus``: of a server."""
    down = LeafEndpoints(*(np.array([ports]) for ports in clos.endpoints))
    rows = _Rows(clos.shape, down, np.array([clos.spine_ports]), 1, clos.tiers)
    timed = _timed(fabric, clos.parts, rows, gpus)
    return timed is None or bool(timed.met[0])


class _Rows(NamedTuple):
    """``size`` rows of a shape. ``down``, ``spine_down``: ports that count in the ratios of leaves and spines.

    ``has_spines``: whether their number is known.
    """

    shape: Shape
    down: LeafEndpoints
    spine_down: Number
    size: int
    tiers: int
    has_spines: bool = True


class _Networks(NamedTuple):
    """Distinct networks of rows for a step, ``exactly`` one of these and its ``key``; ``of_rows``: each row's index
    among them, shape (size,).
    """

    networks: FabricBandwidths
    exactly: Callable[[int], FabricBandwidth]
    key: Callable[[int], Hashable]
    of_rows: Ints


class _Timed(NamedTuple):
    """Rows with a deadline. ``networks``: distinct networks for a step, ``are_met``: whether each is in time,
    ``network_of``: each row's index among them, shape (size,).
    """

    deadline: Deadline
    networks: FabricBandwidths
    are_met: NDArray[np.bool_]
    network_of: Ints

    @property
    def met(self) -> NDArray[np.bool_]:
        """Rows that are in time, shape (size,)."""
        return np.asarray(self.are_met[self.network_of])

    @property
    def most_cost(self) -> Floats:
        """Most cost of rows in time, shape (size,)."""
        return np.asarray(self.deadline.most_cost(self.networks)[self.network_of])


def _may_cost(fabric: FabricProblem, parts: Parts, rows: _Rows, gpus: int) -> Floats:
    timed = _timed(fabric, parts, rows, gpus)
    return np.full(rows.size, np.inf) if timed is None else np.where(timed.met, timed.most_cost, -np.inf)


def _timed(fabric: FabricProblem, parts: Parts, rows: _Rows, gpus: int) -> _Timed | None:
    """Rows with the fabric's deadline, None if there is none; ``gpus``: of a server."""
    deadline = None if fabric.figure_demands is None else fabric.figure_demands.deadline
    if deadline is None:
        return None
    networks, network_at, key, network_of = _networks(deadline, parts, rows, gpus)
    return _Timed(deadline, networks, deadline.are_met(networks, network_at, key), network_of)


def _networks(deadline: Deadline, parts: Parts, rows: _Rows, gpus: int) -> _Networks:
    """Distinct networks of rows for a step, as far as a deadline depends on them."""
    speeds, shape = _speeds(parts), rows.shape
    ratios = {"leaf": _busiest(shape, rows.down), "spine": (rows.spine_down, shape.x)}
    columns = [*_below(rows.tiers, shape, gpus, rows.size)]
    for name, speed in speeds.items():
        columns += _reduced(*ratios[name], speed)
    if "leaf" in speeds and rows.has_spines and deadline.loses_spine:
        columns += _reduced(*_busiest_left(shape, rows.down), speeds["leaf"])
    first, network_of = _alike(columns, rows.size)
    alike = np.stack([np.broadcast_to(column, rows.size)[first] for column in columns])
    return _Networks(*_tabled(parts, tuple(speeds), alike), network_of)


def _alike(columns: Sequence[Ints], size: int) -> tuple[Ints, Ints]:
    """The first of rows that are equal for a step, and for each row the index of the first it equals."""
    codes, most = np.zeros(size, dtype=np.int64), 1
    for column in columns:
        if np.ndim(column) and column.size > 1:
            values = int(column.max(initial=0)) + 1
            if most * values > _MOST_CODE:
                _, codes = np.unique(codes, return_inverse=True)
                most = size
            codes, most = codes * values + column, most * values
    _, first, row_of = np.unique(codes, return_index=True, return_inverse=True)
    return first, row_of


def _tabled(
    parts: Parts, tiers: Sequence[str], table: Ints
) -> tuple[FabricBandwidths, Callable[[int], FabricBandwidth], Callable[[int], Hashable]]:
    """Networks, each exactly, and its key; ``table``: columns of ``_networks``, (columns, networks)."""
    leaf_gpus, pod_gpus, *numbers = table
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    ratios = dict(zip(tiers, pairs, strict=False))
    left = pairs[-1] if len(pairs) > len(tiers) else None

    def network_at(place: int) -> FabricBandwidth:
        """The network of a candidate, exactly as its prediction has it."""
        exact = {name: Fraction(int(down[place]), int(up[place])) for name, (down, up) in ratios.items()}
        without = None if left is None else Fraction(int(left[0][place]), int(left[1][place]))
        below = int(leaf_gpus[place]), int(pod_gpus[place])
        return network_of(parts.nic.injection, exact, below, parts.reduces, without)

    def rates(of_leaves: tuple[Ints, Ints] | None) -> tuple[Floats, Floats]:
        """Mb/s that leaves and pods give each GPU."""
        for_leaf = np.full(leaf_gpus.size, float(parts.nic.injection)) / _ratio(of_leaves)
        return for_leaf, for_leaf / _ratio(ratios.get("spine"))

    networks = FabricBandwidths(
        float(parts.nic.injection), *rates(ratios.get("leaf")), leaf_gpus, pod_gpus, parts.reduces, rates(left)
    )
    alike = parts.nic.injection.numerator, parts.nic.injection.denominator, parts.reduces, tiers
    return networks, network_at, lambda place: (*alike, *table[:, place].tolist())


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
    if not shape.has_own_last:
        return down.most, shape.u
    is_last = down.of_last * shape.u > down.most * shape.own_u
    return np.where(is_last, down.of_last, down.most), np.where(is_last, shape.own_u, shape.u)


def _busiest_left(shape: Shape, down: LeafEndpoints) -> tuple[Number, Number]:
    """Endpoints and uplinks of the leaves with the largest ratio, after every leaf has lost the spine that it has most
    links to.
    """
    most, up = ratio_left(down.most, shape.u, shape.links_to_spines(1))
    if not shape.has_own_last:
        return most, up
    last, last_up = ratio_left(down.of_last, shape.own_u, shape.of_last.links_to_spines(1))
    is_last = last * up > most * last_up
    return np.where(is_last, last, most), np.where(is_last, last_up, up)


def _of_others(shape: Shape) -> Shape:
    """A shape without the numbers of a differing last group."""
    return replace(shape, own_k=0, own_u=0)


def _below(tiers: int, shape: Shape, gpus: int, size: int) -> tuple[Ints, Ints]:
    """GPUs that reach each other under the leaves of a group, and within a pod: see ``fabopt.workload.prediction``."""
    group = np.broadcast_to(shape.g * gpus, size)
    whole = np.full(size, int(shape.servers) * gpus, dtype=np.int64)
    leaf = whole if tiers == 1 else group
    return leaf, whole if tiers <= 2 else group * shape.groups_per_pod


def _speeds(parts: Parts) -> dict[str, Fraction]:
    """Speed of a down link over that of an uplink, by boundary."""
    speeds = {}
    for name, down, up in (("leaf", parts.leaf_down, parts.leaf_up), ("spine", parts.spine_down, parts.spine_up)):
        if down is not None and up is not None:
            speeds[name] = Fraction(down.lane.port_mbps, up.lane.port_mbps)
    return speeds


def _fewest(uplinks: Floats) -> Ints:
    """Integer uplinks, rounded down within rounding errors; more than any switch has where no number is enough."""
    least = np.ceil(np.asarray(uplinks) * (1 - MARGIN) - MARGIN)
    return np.asarray(np.minimum(least, _NEVER).astype(np.int64))
