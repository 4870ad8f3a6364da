"""Bandwidth that a Clos has left when some of its devices or links of a kind fail, in the worst places.

Bandwidth left per GPU is that of the worst-hit server: injection over the ports that it has left, times the share that
every boundary carries: uplinks that a leaf has left over its endpoints, and uplinks of a pod's spines over what comes
from below. Without failures this is bisection. See docs/bandwidth.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.survival import (
    MAKING_UP,
    PLACES,
    PLANE_OUT,
    SAME,
    OtherPlanes,
    ServerPorts,
    Share,
    by_number,
    over_rails,
    worst_mix,
)
from fabopt.problem.fabric import FabricProblem, Survival
from fabopt.schema.resilience import FEED, RACK, Failed, Failing
from fabopt.topology.clos.classes import LeafEndpoints
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.rack_losses import RacksOfClos
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.stripes import across_halves
from fabopt.topology.design import LostPlace
from fabopt.units import Number

# Relative rounding error of arrays, within which the search keeps rows; figures and proofs are exact.
_ROUNDING = 1e-12


def tiers_of(parts: Parts) -> tuple[Failing, ...]:
    """Roles of the switch tiers."""
    tiers: tuple[Failing, ...] = ("leaf", "spine", "core")
    return tiers[: parts.tiers]


def bandwidth_left(
    parts: Parts, shape: Shape, endpoints: LeafEndpoints, gpus: int, failed: str, count: int, other: OtherPlanes = SAME
) -> Share:
    """Mb/s per GPU (``gpus`` of a server) after ``count`` failures; an exact fraction for one candidate.

    For candidates in arrays the result has shape (rows,).
    """
    nic, servers = parts.nic, [server_ports(parts, kind, gpus) for kind in _kinds_of_groups(shape)]
    injection, networks = nic.injection, nic.planes
    if other.is_out:
        injection, networks = injection * servers[0].without_planes(1), networks - networks // servers[0].planes
        servers = [ports.with_plane_out for ports in servers]
    at_server, above_leaf, above_spine = PLACES[failed]
    own = by_number(lambda lost: min(without(ports, at_server, lost) for ports in servers), count if at_server else 0)
    leaf = by_number(lambda lost: _of_leaves(parts, shape, endpoints, above_leaf, lost), count if above_leaf else 0)
    pod = by_number(lambda lost: _of_pod(parts, shape, above_spine, lost), count if above_spine else 0)
    above = worst_mix(leaf, pod, count)
    if nic.apart or other.make_up:
        above = over_rails(above, networks, count)
    share = worst_mix(own, above, count)[-1]
    if isinstance(share, np.ndarray):
        return np.asarray(np.minimum(float(injection) * share, float(nic.crosses_any_cut)))
    return min(injection * share, nic.crosses_any_cut)


def server_ports(parts: Parts, shape: Shape, gpus: int) -> ServerPorts:
    """The ports of a server and how they lie on leaves and planes."""
    nic = parts.nic
    top = nic.nic_mbps / nic.port.lane.port_mbps
    planes = nic.planes // nic.rails_per_plane
    return ServerPorts(
        nic.nics_per_server, nic.ports_per_nic, planes, int(shape.k), top, nic.dual, nic.apart, nic.own_rails
    )


def without(ports: ServerPorts, failed: str, count: int) -> Fraction:
    """Share of a server's injection over its own ports after ``count`` failures."""
    if failed == "leaf":
        return ports.without_leaves(count)
    if failed == "plane":
        return ports.without_planes(count)
    return ports.without_cables(count) if failed == "server-leaf" else Fraction(1)


def _kinds_of_groups(shape: Shape) -> tuple[Shape, ...]:
    """A shape for each kind of groups, as if all groups were of it."""
    return (replace(shape, own_k=0, own_u=0), shape.of_last) if shape.has_own_last else (shape,)


def _of_leaves(parts: Parts, shape: Shape, endpoints: LeafEndpoints, failed: str, count: int) -> Share:
    """Share of its endpoints' bandwidth that the uplinks of the worst leaf carry."""
    share = _of_leaf(parts, shape, endpoints.most, failed, count)
    if not shape.has_own_last:
        return share
    last = _of_leaf(parts, shape.of_last, endpoints.of_last, failed, count)
    if isinstance(share, np.ndarray) and isinstance(last, np.ndarray):
        return np.asarray(np.minimum(share, last))
    assert isinstance(share, Fraction) and isinstance(last, Fraction)
    return min(share, last)


def _of_leaf(parts: Parts, shape: Shape, endpoints: Number, failed: str, count: int) -> Share:
    """Share of a leaf's endpoints' bandwidth that its uplinks carry."""
    if parts.leaf_up is None:
        return Fraction(1)
    lost = 0 * shape.u
    if failed == "spine":
        lost = shape.links_to_spines(count)
    elif failed == "leaf-spine":
        lost = lost + count
    return _share((shape.u - lost) * parts.leaf_up.lane.port_mbps, endpoints * parts.leaf_down.lane.port_mbps)


def _of_pod(parts: Parts, shape: Shape, failed: str, count: int) -> Share:
    """Share of the leaves' bandwidth that the spines of a pod send on."""
    if parts.spine_up is None or parts.spine_down is None:
        return Fraction(1)
    # one core hits q spines, each of which is cut off by the loss of all its cores; another failure hits one spine
    hit, fatal, links = (shape.q, shape.cores_per_group, shape.m2) if failed == "core" else (1, shape.x, 1)
    lost = count if failed else 0
    gone = np.minimum(lost // np.maximum(1, fatal), shape.spines // np.maximum(1, hit))
    partly = np.minimum(hit, shape.spines - gone * hit)
    below, up = shape.spine_down * parts.spine_down.lane.port_mbps, parts.spine_up.lane.port_mbps
    whole = np.minimum(below, shape.x * up)
    less = np.minimum(below, (shape.x - (lost - gone * fatal) * links) * up)
    return _share((shape.spines - gone * hit - partly) * whole + partly * less, shape.spines * below)


def _share(above: Number, below: Number) -> Share:
    """A quotient between 0 and 1."""
    if np.ndim(above) == 0 and np.ndim(below) == 0:
        return min(Fraction(1), max(Fraction(0), Fraction(int(above), int(below))))
    return np.asarray(np.clip(np.asarray(above) / np.asarray(below), 0, 1))


def may_survive(
    fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: LeafEndpoints, gpus: int
) -> NDArray[np.bool_]:
    """Sized leaves that meet the demand after failures with the best spines above them, shape (rows,).

    The best are spines with one link of a leaf each, which send on all that comes up.
    """
    kept = np.ones(np.size(shape.g), dtype=np.bool_)
    spread = replace(shape, spines=shape.u)
    below = replace(parts, spine_down=None, spine_up=None)
    for survival in fabric.resilience:
        left = bandwidth_left(below, spread, endpoints, gpus, *_before_racks(fabric, parts, survival))
        kept &= np.asarray(left, dtype=float) >= survival.least_mbps * (1 - _ROUNDING)
    return kept


def survives(
    fabric: FabricProblem, parts: Parts, shape: Shape, endpoints: LeafEndpoints, gpus: int
) -> NDArray[np.bool_]:
    """Rows that have the bandwidth left that the case asks for, shape (rows,). Rule ``failures_leave_bandwidth``.

    For the loss of a rack: rows that may have it, as far as that is known before switches are in racks.
    """
    kept = np.ones(np.size(shape.g), dtype=np.bool_)
    for survival in fabric.resilience:
        left = bandwidth_left(parts, shape, endpoints, gpus, *_before_racks(fabric, parts, survival))
        kept &= np.asarray(left, dtype=float) >= survival.least_mbps * (1 - _ROUNDING)
    return kept


def _before_racks(fabric: FabricProblem, parts: Parts, survival: Survival) -> tuple[str, int]:
    """The least failure, (kind, count), that a survival asks for wherever switches are.

    With a rack of two tiers a spine, which servers in other racks have links to; with one of two feeds nothing.
    """
    if survival.failed not in (RACK, FEED):
        return survival.failed, survival.count
    return "spine", int(survival.outlived and fabric.leaf_groups.is_even and parts.tiers == 2)


@dataclass(frozen=True)
class ClosFailures:
    """Failures of one Clos; ``gpus``: of a server."""

    clos: ClosNetwork
    gpus: int

    def kinds(self) -> tuple[Failed, ...]:
        """Kinds of devices and links that can fail alone, on a floor racks too."""
        racks: tuple[Failed, ...] = (RACK,) if isinstance(self.clos.placement, RackPlacement) else ()
        return (*tiers_of(self.clos.parts), "plane", "cable", *racks)

    def bandwidth_left(self, failed: Failed, count: int, other: OtherPlanes = SAME) -> Fraction:
        """Mb/s per GPU after ``count`` failures of a kind; the loss of one of two feeds takes nothing.

        Raises ``ValueError`` for a rack of a network that is not in racks.
        """
        left = self._worst_rack.mbps if failed == RACK else self._of_devices(failed, count, other)
        across = across_halves(self.clos.parts, self.clos.shape, self.gpus)
        return left if across is None else min(left, across)

    def _of_devices(self, failed: Failed, count: int, other: OtherPlanes) -> Fraction:
        clos = self.clos
        failed, count = ("spine", 0) if failed == FEED else (failed, count)
        left = bandwidth_left(clos.parts, clos.shape, clos.endpoints, self.gpus, failed, count, other)
        assert isinstance(left, Fraction)  # of one candidate
        return left

    def beside(self, failed: Failed) -> tuple[Fraction | None, Fraction | None]:
        """Mb/s per GPU after one failure where planes make up for each other; and of a plane, with a switch of another.

        None where they are no other than without.
        """
        nic = self.clos.parts.nic
        if nic.planes == nic.rails_per_plane or failed in (RACK, FEED):
            return None, None
        if failed == "plane":
            return None, min(self.bandwidth_left(tier, 1, PLANE_OUT) for tier in tiers_of(self.clos.parts))
        made_up = self.bandwidth_left(failed, 1, MAKING_UP)
        return (made_up if made_up > self.bandwidth_left(failed, 1) else None), None

    def servers_cut_off(self, failed: Failed) -> int:
        """Servers that one failure, at the worst place, cuts off from the largest part that stays joined.

        Another plane keeps all joined, and so does a second leaf of each server, spine of a pod, or core.
        """
        parts, shape = self.clos.parts, self.clos.shape
        if failed in (RACK, FEED):
            return self._worst_rack.loss.cut_off if failed == RACK else 0
        if failed == "plane" and parts.nic.planes == parts.nic.rails_per_plane:
            return int(shape.servers)
        if parts.nic.planes > 1:
            return 0
        if failed == "switch":
            return max(_cut_off(parts, shape, tier) for tier in tiers_of(parts))
        if failed == "cable":
            return max(
                _cut_off(parts, shape, end) for end in ("server-leaf", "leaf-spine", "spine-core")[: parts.tiers]
            )
        return _cut_off(parts, shape, failed)

    def place(self, failed: Failed) -> LostPlace | None:
        """The rack whose loss leaves the least bandwidth."""
        if failed != RACK:
            return None
        return LostPlace(self._worst_rack.name, self._worst_rack.loss.servers)

    @cached_property
    def _worst_rack(self) -> RacksOfClos:
        return RacksOfClos(self.clos)


def _cut_off(parts: Parts, shape: Shape, failed: str) -> int:
    servers, group = int(shape.servers), min(int(shape.g), int(shape.servers))
    one_leaf, one_spine = shape.rails == 1, shape.spines == 1
    last = int(shape.last_group) if shape.has_own_last and shape.last_rails == 1 else 0
    # with pods of one rail, servers are joined through their other rails
    pod = min(servers, int(shape.groups_per_pod) * group) if parts.core is not None else servers
    by_rail = bool(shape.rail_pods) and not one_leaf
    if failed == "server-leaf":
        return int(shape.ports == 1)
    if failed == "leaf":
        return group if one_leaf else last
    if failed == "leaf-spine":
        return max(group if one_leaf and shape.u == 1 else 0, last if shape.own_u == 1 else 0)
    if failed == "spine" or (failed == "spine-core" and shape.x == 1):
        if not one_spine or by_rail:
            return 0
        return servers - max(servers - pod, group if failed == "spine" else pod)
    if failed == "core" and parts.core is not None and shape.cores == 1:
        return servers - pod
    return 0
