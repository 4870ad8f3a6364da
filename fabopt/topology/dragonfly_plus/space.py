"""The search for a dragonfly+: leaves by their bound, then spines and group sizes by theirs, then all groups of each.

A leaf with d server ports has uplinks for the rates of its ports, and a share of its group's global links; each of
these takes one port of some spine. So the least cost of an uplink and of a global link with a spine's share bounds the
leaf, and with the real number of leaves each group size. See docs/formulation/direct-networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import Parts, Shape, SwitchUse, uplinks_that_fit, usable_ports
from fabopt.topology.direct.candidates import SwitchedShape
from fabopt.topology.direct.networks import Ints, Rates, rates_of
from fabopt.topology.direct.space import BoundedHardware, SwitchedSpace
from fabopt.topology.dragonfly_plus.candidates import HOPS, NAME, DragonflyPlusBatch, global_joins, leaf_spine_need
from fabopt.topology.dragonfly_plus.networks import (
    LEAST_LEAVES,
    DragonflyPlusNetworks,
    GroupLoad,
    SpinePorts,
    frames,
    networks,
    spine_ports,
)
from fabopt.topology.family import Cutoff, SpaceRequest, Spaces
from fabopt.topology.link_parts import FAR_TOO_MANY, Floats
from fabopt.topology.remembered import remembered
from fabopt.topology.spans import in_pods, spans_of
from fabopt.units import ceil_of

# What floating-point sums of bounds may be off.
_MARGIN = 1e-9
# Rounds after which the number of groups that are needed hardly grows.
_STEPS = 4


class _SpineAbove(NamedTuple):
    """A use of a spine above some leaf: its least cost share of one port, the least cost of an uplink without that
    share, and that of one end of a global link.
    """

    spine: SwitchType
    down: CageUse
    up: CageUse
    ports: SpinePorts
    share: Floats
    uplink: Floats
    outlet: Floats


class _Leaves(NamedTuple):
    """Leaves by size: server ports of each, number with servers in a plane, ``room`` for uplinks."""

    ports: Ints
    number: Ints
    room: Ints
    rates: Rates
    endpoints: int
    up: CageUse

    @property
    def uplinks(self) -> Ints:
        """Fewest uplinks of a leaf, one at least: for any half of its traffic, and for all-to-all.

        Other leaves have E - d ports at the least, so uplinks carry ``spread d (E - d) / (E - 1)``.
        """
        spread = float(self.rates.spread) * np.maximum(self.endpoints - self.ports, 0) / max(1, self.endpoints - 1)
        needed = np.maximum(float(self.rates.cut), spread) * self.ports / self.up.lane.port_mbps
        return np.clip(np.ceil(needed * (1 - _MARGIN)), 1, FAR_TOO_MANY).astype(np.int64)

    def outlets(self, most: int, mbps: int) -> Floats:
        """Lower bound of a leaf's share of global ports: ``2 cut d (G - 1) / (G w2)``, for all-to-all ``spread d^2 (Q -
        L) / (w2 (E - 1))``.

        The S spines of a group have ports for all, ``most`` P each, and S is at most the room u: ``L (u + outlets) <= u
        P``, by which larger machines need more groups, and so on.
        """
        groups, size = np.full(len(self.ports), 2), np.full(len(self.ports), most)
        cut, pairs = (float(rate) * self.ports / mbps * (1 - _MARGIN) for rate in self.rates)
        outlets = np.zeros(len(self.ports))
        for _ in range(_STEPS):
            between = pairs * self.ports * np.maximum(self.number - size, 0) / max(1, self.endpoints - 1)
            outlets = np.maximum(2 * cut * (groups - 1) / groups, between)
            size = np.maximum(1, self.room * most / np.maximum(1, self.room + outlets) + _MARGIN).astype(np.int64)
            groups = np.maximum(2, ceil_of(self.number, size))
        return outlets


class DragonflyPlusSpace(SwitchedSpace):
    """The dragonfly+ candidates that a fabric may have."""

    def _blocks(self, cutoff: Cutoff) -> Iterator[BoundedHardware]:
        if self.fabric.shapes.most_hops is None or self.fabric.shapes.most_hops >= HOPS:
            yield from super()._blocks(cutoff)

    # -- bounds -------------------------------------------------------------------------------------------------

    def _leaf_share(self, protocol: str, nic: NicOption, leaf: SwitchType, down: CageUse, up: CageUse) -> Floats:
        """Least cost share of one server port in a leaf, its uplinks, and all spines above, shape (metrics,)."""
        rates, endpoints = rates_of(self.problem, self.fabric, nic), self.problem.servers * nic.ports_per_plane
        return self._least_share(protocol, leaf, down, up, rates, endpoints)

    @remembered("leaf-spine", "spine-core")
    def _least_share(
        self, protocol: str, leaf: SwitchType, down: CageUse, up: CageUse, rates: Rates, endpoints: int
    ) -> Floats:
        ports = np.arange(1, usable_ports(down, leaf) + 1)
        room = uplinks_that_fit(leaf, down, up, ports)
        leaves = _Leaves(ports, ceil_of(endpoints, ports), room, rates, endpoints, up)
        ways = _costs_above(self._above_leaf(leaf, up.port, protocol), leaves)
        none = np.full((len(self.costs.table), len(leaves.ports)), np.inf)
        cost = self.costs.of(leaf.item)[:, np.newaxis] + np.minimum.reduce([none, *ways])
        return np.asarray((np.where(leaves.uplinks <= leaves.room, cost, np.inf) / leaves.ports).min(axis=1))

    def _above_leaf(self, leaf: SwitchType, up: PortType, protocol: str) -> list[_SpineAbove]:
        """Spines that may be above a leaf. Rule ``generations_agree``"""
        agree = self.fabric.rules.are_of_one_generation
        return [above for above in self._above(up, protocol) if agree(leaf=leaf, spine=above.spine)]

    @remembered("leaf-spine", "spine-core")
    def _above(self, up: PortType, protocol: str) -> list[_SpineAbove]:
        """Spines that take such uplinks and can be joined to each other."""
        uppers = self.bounds.uppers(up.lane.port_mbps, protocol, 3)
        return [above for upper in uppers if (above := self._used(upper, up, protocol)) is not None]

    def _used(self, upper: SwitchUse, up: PortType, protocol: str) -> _SpineAbove | None:
        """A spine type above leaves with such uplinks; None if no parts join them, or two spines."""
        spine, down, out = upper
        assert out is not None
        room = spine_ports(spine, down, out)
        share = self.costs.of(spine.item) / max(1, room.most)
        uplink = self.bounds.least_link(up, down.port, "leaf-spine", protocol)
        outlet = self._half_link(out, protocol, ("global",))
        if not np.isfinite(uplink[0] + outlet[0]):
            return None
        return _SpineAbove(spine, down, out, room, share, uplink, outlet)

    # -- sizes --------------------------------------------------------------------------------------------------

    def _groups(self, cutoff: Cutoff, block: BoundedHardware, k: int) -> None:
        """Spines and group sizes with k ports of a server on a leaf, the cheapest first."""
        sizes = self._sizes(block, k)
        if sizes is None:
            return
        (shape, base), nic = sizes, block.nic
        rates, ports = rates_of(self.problem, self.fabric, nic), np.minimum(shape.g, shape.servers) * k
        room = uplinks_that_fit(block.leaf, block.down, block.up, self.bounds.reserved(ports))
        leaves = _Leaves(ports, shape.leaves, room, rates, shape.servers * shape.ports, block.up)
        able = (leaves.uplinks <= room) & (shape.leaves >= LEAST_LEAVES)
        options = self._above_leaf(block.leaf, block.up.port, block.protocol)
        if not options or not able.any():
            return
        leaf, leaves_of_planes = self.costs.of(block.leaf.item)[:, np.newaxis], nic.planes * shape.leaves
        bounds = [base + leaves_of_planes * (leaf + above) for above in _costs_above(options, leaves)]
        of_all = np.where(able, [bound[0] for bound in bounds], np.inf)
        for flat in np.argsort(of_all, axis=None, kind="stable").tolist():
            option, place = divmod(flat, len(ports))
            if of_all[option, place] > cutoff.limit or not able[place]:
                break
            if cutoff.within(bounds[option][:, place : place + 1]).all():
                row = shape.take(np.array([place]))
                sized = _Sized(block, options[option], row, int(ports[place]), int(room[place]), rates)
                self._networks(cutoff, sized, base[:, place : place + 1])

    def _networks(self, cutoff: Cutoff, sized: _Sized, base: Floats) -> None:
        """Offer every network for one spine and group size."""
        frame = frames(int(sized.shape.leaves[0]), sized.demand, sized.room, sized.above.ports)
        in_span = in_pods(self.fabric, ceil_of(frame.numbers[:, 0], sized.shape.rails) * sized.shape.g[0])
        frame = frame.take(np.flatnonzero(self._roomy(sized.shape, frame.leaves) & in_span))
        frame = frame.take(cutoff.within(base + self._least_cost(sized, frame)))
        if not len(frame):
            return
        net = networks(frame, sized.demand, sized.room, sized.above.ports)
        cost = base + self._net_cost(sized, net)
        whole = np.flatnonzero(np.isfinite(cost[0]))
        if whole.size:
            shapes = replace(sized.shape, g=np.full(whole.size, sized.shape.g[0]))
            shape = SwitchedShape(shapes, net.take(whole))
            cutoff.offer(DragonflyPlusBatch(self.fabric, sized.parts, shape, cost[:, whole]))

    def _switch_cost(self, sized: _Sized, net: DragonflyPlusNetworks) -> Floats:
        planes, leaf, spine = sized.block.nic.planes, sized.block.leaf.item, sized.above.spine.item
        return np.asarray(
            np.multiply.outer(self.costs.of(leaf), planes * net.leaves)
            + np.multiply.outer(self.costs.of(spine), planes * net.spines)
        )

    def _least_cost(self, sized: _Sized, net: DragonflyPlusNetworks) -> Floats:
        """Cost of switches, and lower bound of that of links, shape (metrics, networks)."""
        planes, above = sized.block.nic.planes, sized.above
        uplinks = np.multiply.outer(above.uplink, planes * net.leaves * net.uplinks)
        outlets = np.multiply.outer(above.outlet, planes * 2 * net.global_links)
        return np.asarray(self._switch_cost(sized, net) + (uplinks + outlets) * (1 - _MARGIN))

    def _net_cost(self, sized: _Sized, net: DragonflyPlusNetworks) -> Floats:
        """Cost of switches, and least cost of their links, each metric by itself, shape (metrics, networks)."""
        parts, above, planes, total = sized.parts, sized.above, sized.parts.nic.planes, self._switch_cost(sized, net)
        joins = self.bounds.joins(sized.block.up.port, above.down.port, "leaf-spine", parts.protocol)
        need = leaf_spine_need(parts, tuple(net.numbers.T), int(self.bounds.reserved(sized.ports)))
        total = total + self.costs.least(joins, need)
        cages, links = planes * net.global_cages(above.up.lane.ports), planes * net.global_links
        ways = [
            np.multiply.outer(self.costs.of(way.near), cages) + np.multiply.outer(self.costs.of(way.cable), links)
            for way in global_joins(self._joins(above.up, "global", parts.protocol))
        ]
        return np.asarray(total + (np.minimum.reduce(ways) if ways else np.inf))


class _Sized(NamedTuple):
    """Leaves of one group size below one spine: ``ports`` of servers on a leaf, ``room`` for its uplinks."""

    block: BoundedHardware
    above: _SpineAbove
    shape: Shape
    ports: int
    room: int
    rates: Rates

    @property
    def parts(self) -> Parts:
        """The hardware."""
        block, above = self.block, self.above
        return Parts(
            block.protocol, block.nic, block.leaf, block.down, block.up, above.spine, above.down, above.up
        )  # fmt: skip

    @property
    def demand(self) -> GroupLoad:
        """The demand on the groups."""
        endpoints, speeds = self.shape.servers * self.shape.ports, (self.block.up, self.above.up)
        return GroupLoad(self.ports, endpoints, self.rates, *(use.lane.port_mbps for use in speeds))


def _costs_above(options: Sequence[_SpineAbove], leaves: _Leaves) -> list[Floats]:
    """Least cost of everything above one leaf with each spine, shape (metrics, sizes)."""
    costs, outlets = [], dict[tuple[int, int], Floats]()
    uplinks = leaves.uplinks
    for option in options:
        key = option.ports.most, option.up.lane.port_mbps
        if key not in outlets:
            outlets[key] = leaves.outlets(*key)
        # more than a number holds is more than any design costs
        with np.errstate(over="ignore"):
            out = np.multiply.outer(option.share + option.outlet, outlets[key])
            costs.append(np.asarray(np.multiply.outer(option.share + option.uplink, uplinks) + out))
    return costs


# -- dragonfly+ as the search sees it ---------------------------------------------------------------------------------


class DragonflyPlusFamily:
    """The dragonfly+: leaf-spine groups, every two of them joined."""

    name = NAME

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The dragonfly+ candidates of a fabric."""
        return Spaces(
            tuple(DragonflyPlusSpace(problem, variant, request) for variant in spans_of(problem, fabric, self.name))
        )

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Upper bound of the servers, on L (u (p - L) + 1) leaves, a number that is largest where L is half of p.

        With u uplinks of a leaf, a group has at most u spines, each with p ports for leaves and global links.
        """
        spine = max(
            (switch.max_ports for roles in fabric.switches.values() for switch in roles["spine"]),
            default=0,
        )
        return max(
            (
                down * (spine // 2 + 1) * ((leaf.max_ports - down) * (spine - spine // 2) + 1) // nic.ports_per_plane
                for protocol in fabric.protocols
                for leaf in fabric.switches[protocol]["leaf"]
                for use in leaf.uses
                for nic in fabric.nics[protocol]
                if use.lane.port_mbps == nic.port.lane.port_mbps and not nic.apart
                for down in range(1, usable_ports(use, leaf) + 1)
            ),
            default=0,
        )
