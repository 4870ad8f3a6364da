"""Upper bound of the servers that a Clos can join, by arithmetic: money plays no part, and nothing is sized.

A leaf holds the endpoints beside whose uplinks they still fit; every leaf of a pod has links to each of its spines, and
every pod to each core of a group, so groups are no more than spine and core ports allow. A case with more servers has
no design. A case with fewer nearly always has one, but that is for a search to say: parts may be short, for one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.base import Lane
from fabopt.schema.product import Protocol
from fabopt.topology.clos.joins import attaches, fewest_together, server_joins
from fabopt.topology.clos.shape import Shape, last_endpoints, most_endpoints, most_peers, up_cage_limit, usable_ports
from fabopt.units import ceil_of, sets

ONE = Fraction(1)


class _AboveLeaf(NamedTuple):
    """The reach of a leaf's uplinks: most ``leaves`` of a pod, and most ``pods`` (1 without cores).

    ``spread``: ports of the leaf's cages that an uplink takes, more than 1 where a cable of several ports joins a pair
    of devices that has fewer links.
    """

    leaves: int
    pods: int
    spread: Fraction


class _Way(NamedTuple):
    """A way to set up leaves: the most servers without attachments, and the factors of that product.

    ``room``: endpoints of a leaf; ``ports``: of a server into one plane, ``k`` of them on one leaf; ``last_k``: on a
    leaf of a differing last group, which is among the groups.
    """

    most: int
    groups: int
    room: int
    ports: int
    k: int
    down: PortType
    last_k: int = 0


def most_servers_of(problem: Problem, fabric: FabricProblem) -> int:
    """Upper bound of a Clos fabric's servers, at most the problem's number of servers each, whatever it costs."""
    return _Reach(problem, fabric).most()


def broken_out(problem: Problem, fabric: FabricProblem) -> tuple[Lane, ...]:
    """Splits of the cages of uplinks, fewest ports first, with which the fabric could have the problem's servers in its
    tiers if parts of the catalog joined them; empty where it has them as it is.
    """
    as_is = _Reach(problem, fabric)
    if as_is.most() >= problem.servers:
        return ()
    leaves = (leaf for protocol in fabric.protocols for leaf in fabric.switches[protocol]["leaf"])
    splits = sorted({use.lane for leaf in leaves for use in leaf.up_uses})
    return tuple(split for split in splits if _JoinedReach(as_is, split).most() >= problem.servers)


class _Reach:
    """Upper bound of the servers of one fabric."""

    def __init__(self, problem: Problem, fabric: FabricProblem) -> None:
        self.problem = problem
        self.fabric = fabric
        self.known: dict[Hashable, int] = {}
        # by kind of leaf uplink, protocol and tiers
        self.reaches: dict[tuple[PortType, str, int], list[_AboveLeaf]] = {}

    def most(self) -> int:
        """The bound over all protocols, tiers, NICs and leaves; the largest ways first."""
        best = 0
        for protocol in self.fabric.protocols:
            nics = self._nics(protocol)
            ways = {
                way
                for tiers in self.fabric.shapes.tiers
                for way in self._ways(protocol, tiers, [nic for nic in nics if nic.allows(tiers)])
            }
            for way in sorted(ways, key=lambda way: -way.most):
                if way.most <= best:
                    break
                for nic in nics:
                    if nic.ports_per_plane == way.ports and self._joins(nic, way, protocol):
                        best = max(best, self._with_attachments(nic, way, best))
        return best

    def _nics(self, protocol: Protocol) -> Sequence[NicOption]:
        speeds = {demand.port_mbps for demand in self.fabric.attachments} - {None}
        return [nic for nic in self.fabric.nics.get(protocol, ()) if speeds <= {nic.port.lane.port_mbps}]

    def _ways(self, protocol: Protocol, tiers: int, nics: Sequence[NicOption]) -> Iterator[_Way]:
        wanted = sets((nic.port.lane.port_mbps, nic.ports_per_plane) for nic in nics)
        for (down, above), room in self._leaves(protocol, tiers).items():
            for ports in wanted.get(down.lane.port_mbps, ()):
                for k in [divisor for divisor in range(1, ports + 1) if ports % divisor == 0]:
                    servers = self.fabric.leaf_groups.at_most(room // k)
                    groups = self._groups(above, ports, k)
                    if not self.fabric.leaf_groups.may_have(servers):
                        groups = min(groups, 1)
                    if groups and servers:
                        yield _Way(servers * groups, groups, room, ports, k, down)
                        way = _Way(servers * groups, groups, room, ports, k, down)
                        if self.fabric.leaf_groups.may_have(servers):
                            yield from self._last_groups(above, tiers, way)

    def _groups(self, above: _AboveLeaf | None, ports: int, k: int) -> int:
        """Most groups: those of a pod by its leaves, times pods; or with pods for each rail."""
        if above is None:
            return int(k == ports or (self.fabric.leaf_pairs.may_be_apart and 2 * k == ports))
        rails = ports // k
        most = max(above.leaves // rails * above.pods, above.leaves * (above.pods // rails))
        return most if self.fabric.leaf_groups.may_share(k) else min(most, 1)

    def _last_groups(self, above: _AboveLeaf | None, tiers: int, way: _Way) -> Iterator[_Way]:
        """The way with one more, differing group, on the leaves that spines of a pod have ports left for."""
        differs = self.fabric.last_may_differ_on(tiers)
        if above is None or not differs or not self.fabric.leaf_groups.may_share(way.k):
            return
        groups, left = divmod(above.leaves, way.ports // way.k)
        way = way._replace(most=way.most // way.groups * groups * above.pods, groups=groups * above.pods)
        fits = [k for k in range(1, way.ports + 1) if way.ports % k == 0 and way.ports // k <= left]
        if not self.fabric.leaf_groups.last.may_be_one_leaf and way.k != way.ports:
            fits = [k for k in fits if k != way.ports]
        for k in fits if groups else ():
            last = min(way.most // way.groups, way.room // k)
            if last:
                yield way._replace(most=way.most + last, groups=way.groups + 1, last_k=k)

    # -- switches ---------------------------------------------------------------------------------------------

    def _leaves(self, protocol: Protocol, tiers: int) -> dict[tuple[PortType, _AboveLeaf | None], int]:
        """Most endpoints of any leaf, by its down ports and the reach above it."""
        most: dict[tuple[PortType, _AboveLeaf | None], int] = {}
        ratio, reserve = self.fabric.ratios.leaf, self.fabric.reserve
        above = self._above(protocol, tiers) if tiers > 1 else {}
        for leaf in self.fabric.switches[protocol]["leaf"]:
            for down in leaf.uses:
                if tiers == 1:
                    key = (down.port, None)
                    most[key] = max(most.get(key, 0), _most_down(leaf, down, None, ratio, reserve))
                for up in leaf.uses if tiers > 1 else ():
                    for over in above.get(up.port, ()):
                        looks = leaf, down, up, over.spread
                        if looks not in self.known:
                            self.known[looks] = _most_down(leaf, down, up, ratio, reserve, up_spread=over.spread)
                        most[down.port, over] = max(most.get((down.port, over), 0), self.known[looks])
        return most

    def _above(self, protocol: Protocol, tiers: int) -> dict[PortType, list[_AboveLeaf]]:
        """The reaches of each kind of leaf uplink."""
        ups = {up.port for leaf in self.fabric.switches[protocol]["leaf"] for up in leaf.uses}
        pods = self._pods(protocol) if tiers == 3 else {}
        for up in ups:
            if (up, protocol, tiers) not in self.reaches:
                self.reaches[up, protocol, tiers] = _largest(self._spines(up, pods, protocol, tiers))
        return {up: self.reaches[up, protocol, tiers] for up in ups}

    def _spines(self, up: PortType, pods: dict[PortType, int], protocol: Protocol, tiers: int) -> Iterator[_AboveLeaf]:
        for spine in self.fabric.switches[protocol]["spine"]:
            for down in spine.uses:
                together = self._together(up, down.port, "leaf-spine", protocol)
                for links, spread in self._pairings(together):
                    for over in spine.uses if tiers == 3 else (None,):
                        leaves = self._spine_ports(spine, down, over, Fraction(together, links)) // links
                        yield _AboveLeaf(leaves, 1 if over is None else pods[over.port], spread)

    def _spine_ports(self, spine: SwitchType, down: CageUse, up: CageUse | None, spread: Fraction) -> int:
        key = (spine.id, down.group, down.split, up and (up.group, up.split), spread)
        if key not in self.known:
            self.known[key] = _most_down(spine, down, up, self.fabric.ratios.spine, spread=spread)
        return self.known[key]

    def _pairings(self, together: int) -> Iterator[tuple[int, Fraction]]:
        """Links of a leaf and a spine, and the leaf ports that each takes, where a cable between them has ``together``
        ports: fewer links spare the spine's uplinks, more of them the leaf's cages.
        """
        if self.fabric.leaf_groups.is_even:
            yield from ((links, Fraction(together, links)) for links in range(1, together + 1))
        elif together:
            yield 1, ONE

    def _pods(self, protocol: Protocol) -> dict[PortType, int]:
        """Most pods that any core joins, by the spines' uplinks."""
        most: dict[PortType, int] = {}
        for up in {up.port for spine in self.fabric.switches[protocol]["spine"] for up in spine.uses}:
            most[up] = 0
            for core in self.fabric.switches[protocol]["core"]:
                for down in core.uses:
                    together = self._together(up, down.port, "spine-core", protocol)
                    if together:
                        most[up] = max(most[up], most_peers(down, core, together))
        return most

    # -- links ------------------------------------------------------------------------------------------------

    def _together(self, near: PortType, far: PortType, kind: str, protocol: str) -> int:
        """Fewest ports of a cage that one peer takes; 0 if no part joins the two."""
        return fewest_together(self.problem, self.fabric, kind, near, far, protocol)

    def _joins(self, nic: NicOption, way: _Way, protocol: Protocol) -> bool:
        """Whether parts join the servers, and attachments that buy some, to the leaves."""
        return bool(server_joins(self.problem, self.fabric, nic, way.down, way.k, protocol)) and all(
            attaches(self.problem, self.fabric, demand, {"leaf": [way.down]}, protocol)
            for demand in self.fabric.attachments
            if demand.tier == "leaf"
        )

    def _with_attachments(self, nic: NicOption, way: _Way, best: int) -> int:
        """Most servers of a way beside the attachments on its leaves, if they are more than ``best``."""
        if not self.fabric.attachments:
            return way.most
        for g in range(self.fabric.leaf_groups.at_most(way.room // way.k), 0, -1):
            if g * way.groups <= best:
                break
            servers = np.arange((way.groups - 1) * g + 1, way.groups * g + 1)
            shape = Shape(servers, way.ports, nic.planes, way.k, g, own_k=way.last_k)
            endpoints = most_endpoints(shape, self.fabric.attached)
            if way.last_k:
                endpoints = np.maximum(endpoints, last_endpoints(shape, self.fabric.attached))
            fits = np.flatnonzero(endpoints <= way.room)
            if fits.size:
                best = max(best, int(servers[fits[-1]]))
        return best


class _JoinedReach(_Reach):
    """The bound if parts joined uplinks of one split to all spines of their speed."""

    def __init__(self, as_is: _Reach, split: Lane) -> None:
        super().__init__(as_is.problem, as_is.fabric)
        self.split, self.known = split, as_is.known
        self.reaches = {key: reach for key, reach in as_is.reaches.items() if key[0].lane != split}

    def _together(self, near: PortType, far: PortType, kind: str, protocol: str) -> int:
        is_joined = kind == "leaf-spine" and near.lane == self.split and far.lane.port_mbps == self.split.port_mbps
        return 1 if is_joined else super()._together(near, far, kind, protocol)


def _largest(reaches: Iterator[_AboveLeaf]) -> list[_AboveLeaf]:
    """Pareto-maximal reaches above a leaf."""
    kept: list[_AboveLeaf] = []
    for reach in sorted(set(reaches), reverse=True):
        beaten = any(
            reach.leaves <= other.leaves and reach.pods <= other.pods and reach.spread >= other.spread for other in kept
        )
        if reach.leaves and reach.pods and not beaten:
            kept.append(reach)
    return kept


def _most_down(
    switch: SwitchType,
    down: CageUse,
    up: CageUse | None,
    ratio: Fraction,
    reserve: Fraction = Fraction(0),
    spread: Fraction = ONE,
    up_spread: Fraction = ONE,
) -> int:
    """Most down links of a switch beside which the uplinks they need, and the ports in reserve, still fit.

    ``spread``, ``up_spread``: ports of the cages that one down link, one uplink takes.
    """
    free = 1 - reserve

    def is_too_many(links: int) -> bool:
        ports = ceil_of(links * free.denominator, free.numerator)
        filled = ceil_of(ports * spread.numerator, spread.denominator)
        if ceil_of(filled, down.lane.ports) > down.cages:
            return True
        if up is None:
            return bool(ports > switch.max_ports)
        speed = ratio.numerator * up.lane.port_mbps
        need = max(1, ceil_of(links * down.lane.port_mbps * ratio.denominator, speed))
        taken = ceil_of(need * up_spread.numerator, up_spread.denominator)
        return bool(ports + need > switch.max_ports or taken > up_cage_limit(down, up, filled) * up.lane.ports)

    return bisect_left(range(1, usable_ports(down, switch) + 1), True, key=is_too_many)
