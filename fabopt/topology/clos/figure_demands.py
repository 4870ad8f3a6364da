"""Figures that a case, or a point of a front, asks of a Clos, as least uplinks; and headroom for more servers.

Rule ``figures_meet_demand``. Bisection per GPU is I / (max(1, r) x max(1, s)) with injection I and the ratios r at the
leaves and s at the spines, so that a least bisection b is one on uplinks: u w >= b d v / I, and then x w2 >= b max(1,
r) dS w / I. All-to-all: a leaf or a pod with e of the E server ports of a plane sends e rho (E-e)/(E-1) upwards. Ring
all-reduce: the last server of a group, or of a pod, sends from all its ports on the leaf, or in the pod, upwards.
Headroom depends on leaves alone. See docs/bandwidth.md, docs/fronts.md. Symbols are those of docs/formulation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_shape import greater, lesser
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem, FigureDemands
from fabopt.topology.clos.classes import LeafEndpoints
from fabopt.topology.clos.shape import Parts, Shape, down_cage_limit, usable_ports
from fabopt.units import Number, Truth, ceil_of

_SAFE = 2**62


def leaf_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: Number, gpus: int) -> Number:
    """Fewest uplinks of a leaf that meet the demanded figures; 0 without demands.

    ``gpus``: of a server. Leaves of a differing last group have ``uplinks_of_last``.
    """
    figure_demands = fabric.figure_demands
    if figure_demands is None:
        return 0 * endpoints
    full = np.minimum(shape.g, shape.servers) * shape.k
    within = [(full, shape.groups > 1), (shape.last_group * shape.k, shape.groups > 0)]
    return _of_leaf(figure_demands, parts, shape, within[: 2 - shape.has_own_last], gpus, endpoints)


def uplinks_of_last(fabric: FabricProblem, parts: Parts, shape: Shape, gpus: int, endpoints: Number) -> Number:
    """Fewest uplinks of a leaf of a differing last group that meet the demanded figures; 0 without demands."""
    ports: Number = shape.last_group * shape.own_k
    if fabric.figure_demands is None:
        return 0 * ports
    within = [(ports, ports > 0)]
    return _of_leaf(fabric.figure_demands, parts, shape.of_last, within, gpus, endpoints)


def _of_leaf(
    figure_demands: FigureDemands,
    parts: Parts,
    shape: Shape,
    within: Sequence[tuple[Number, Truth]],
    gpus: int,
    endpoints: Number,
) -> Number:
    fewest = _for_traffic(figure_demands, parts, shape, within, gpus, (parts.uplink.lane.port_mbps, 1), shape.k)
    if not figure_demands.bisection:
        return fewest
    speeds = Fraction(parts.leaf_down.lane.port_mbps, parts.uplink.lane.port_mbps)
    return np.maximum(fewest, _ceil(endpoints, 1, speeds * figure_demands.bisection / parts.nic.injection))


def spine_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: LeafEndpoints, gpus: int) -> Number:
    """Fewest uplinks of a spine that meet the demanded figures; 0 without demands."""
    figure_demands = fabric.figure_demands
    if figure_demands is None:
        none: Number = 0 * shape.spine_down
        return none
    assert parts.spine_up is not None
    per_group = shape.k * shape.leaves_of_a_group
    last = ((shape.last_pod_groups - 1) * shape.g + shape.last_group) * per_group
    within = [(shape.groups_per_pod * shape.g * per_group, shape.groups > shape.groups_per_pod), (last, last > 0)]
    fewest = _for_traffic(
        figure_demands, parts, shape, within, gpus, (parts.spine_up.lane.port_mbps, shape.spines), per_group
    )
    return (
        np.maximum(fewest, _for_bisection(figure_demands, parts, shape, endpoints))
        if figure_demands.bisection
        else fewest
    )


def _for_traffic(
    figure_demands: FigureDemands,
    parts: Parts,
    shape: Shape,
    within: Sequence[tuple[Number, Truth]],
    gpus: int,
    upward: tuple[int, Number],
    ring: Number,
) -> Number:
    """Fewest uplinks of a device with which all-to-all and ring all-reduce meet their demands.

    ``within``: server ports under a device (or the devices of a pod), and whether there is such a one; ``upward``: Mb/s
    of an uplink, and the number of devices that share the load; ``ring``: ports of a server that send upwards there.
    """
    speed, devices = upward
    ports = shape.servers * shape.ports
    per_port = Fraction(gpus, shape.ports * shape.planes)
    fewest = 0 * ring
    if figure_demands.alltoall:
        for inside, there in within:
            crossing = np.where(there, inside * (ports - inside), 0)
            needed = _ceil(crossing, devices * max(1, ports - 1), figure_demands.alltoall * per_port / speed)
            fewest = np.maximum(fewest, needed)
    if figure_demands.allreduce:
        needed = _ceil(ring, devices, figure_demands.allreduce * per_port / speed)
        several = within[0][1]
        fewest = np.maximum(fewest, np.where(several, needed, 0))
    return fewest


def _for_bisection(figure_demands: FigureDemands, parts: Parts, shape: Shape, endpoints: LeafEndpoints) -> Number:
    """Fewest uplinks of a spine that meet the demanded bisection."""
    assert parts.leaf_up is not None and parts.spine_down is not None and parts.spine_up is not None
    down, up = _reduced(parts.leaf_down, parts.leaf_up)
    speeds = Fraction(parts.spine_down.lane.port_mbps, parts.spine_up.lane.port_mbps)
    fewest: Number = 0 * shape.spine_down
    for ports, uplinks in (
        (endpoints.most, shape.u),
        *([(endpoints.of_last, shape.own_u)] if shape.has_own_last else ()),
    ):
        worst = np.maximum(ports * down, uplinks * up)
        needed = _ceil(shape.spine_down * worst, uplinks * up, speeds * figure_demands.bisection / parts.nic.injection)
        fewest = greater(fewest, needed)
    return fewest


def headroom(fabric: FabricProblem, parts: Parts, shape: Shape, ratio: Fraction) -> Number:
    """Servers that could be added on the present leaves, all groups filled alike, uplinks unchanged.

    ``ratio``: the most oversubscription at the leaves. Ports in reserve stay free, and all attachments that may be on
    leaves count as endpoints there. 0 where groups are full.
    """
    on_leaves = fabric.attachment_ports + sum(demand.ports for demand in fabric.on_free_ports if demand.takes("leaf"))
    attached = ceil_of(on_leaves, shape.planes * shape.leaves)
    per_group = _servers_of_group(fabric, parts, shape, ratio, attached)
    if fabric.leaf_groups.servers is not None:
        per_group = np.minimum(per_group, fabric.leaf_groups.servers)
    if shape.has_own_last:
        last = lesser(per_group, _servers_of_group(fabric, parts.of_last, shape.of_last, ratio, attached))
        return greater(0, (shape.groups - 1) * per_group + last - shape.servers)
    return greater(0, shape.groups * per_group - shape.servers)


def _servers_of_group(fabric: FabricProblem, parts: Parts, shape: Shape, ratio: Fraction, attached: Number) -> Number:
    """Servers of a group on leaves with their uplinks, ``attached`` attachment ports and the reserve."""
    fits = _most_endpoints(parts, shape, ratio)
    free = 1 - fabric.reserve
    endpoints = _most_down(parts.leaf_down, parts.leaf_up, parts.leaf, shape.u) * free.numerator // free.denominator
    servers: Number = (lesser(endpoints, fits) - attached) // shape.k
    return servers


def has_room(fabric: FabricProblem, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
    """Whether each row has the demanded headroom, shape (rows,)."""
    figure_demands = fabric.figure_demands
    if figure_demands is None or not figure_demands.headroom:
        return np.ones(np.size(shape.g), dtype=bool)
    return np.asarray(headroom(fabric, parts, shape, figure_demands.leaf_ratio) >= figure_demands.headroom)


def _most_endpoints(parts: Parts, shape: Shape, ratio: Fraction) -> Number:
    """Most endpoints of a leaf that its uplinks carry; all ports of the switch on one tier."""
    if parts.leaf_up is None:
        return usable_ports(parts.leaf_down, parts.leaf)
    most = ratio * parts.leaf_up.lane.port_mbps / parts.leaf_down.lane.port_mbps
    return _floor(shape.u, most)


def _most_down(down: CageUse, up: CageUse | None, switch: SwitchType, uplinks: Number) -> Number:
    """Most down ports of a switch beside ``uplinks`` uplinks."""
    if up is None:
        return usable_ports(down, switch)
    return np.minimum(down_cage_limit(down, up, uplinks) * down.lane.ports, switch.max_ports - uplinks)


def _reduced(down: CageUse, up: CageUse) -> tuple[int, int]:
    """Speeds of a down port and an uplink in the largest unit that divides both."""
    unit = gcd(down.lane.port_mbps, up.lane.port_mbps)
    return down.lane.port_mbps // unit, up.lane.port_mbps // unit


def _ceil(above: Number, below: Number, share: Fraction) -> Number:
    """Ceiling of ``above / below * share``, exact however large."""
    if np.max(above, initial=0) * share.numerator < _SAFE and np.max(below, initial=0) * share.denominator < _SAFE:
        return ceil_of(above * share.numerator, below * share.denominator)
    above, below = np.asarray(above, dtype=object), np.asarray(below, dtype=object)
    return np.asarray(ceil_of(above * share.numerator, below * share.denominator), dtype=np.int64)


def _floor(values: Number, share: Fraction) -> Number:
    """Floor of ``values * share``, exact however large."""
    if np.max(values, initial=0) * share.numerator < _SAFE:
        return values * share.numerator // share.denominator
    exact = np.minimum(np.asarray(values, dtype=object) * share.numerator // share.denominator, _SAFE)
    return np.asarray(exact, dtype=np.int64)
