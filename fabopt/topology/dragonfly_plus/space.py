"""The search for a dragonfly+: leaves by their bound, then spines and group sizes by theirs, then all groups of each.

A leaf with d server ports has uplinks for what its ports have to get, and its share of the group's global links at
least for the bisection; every one of these ports is one of some spine's. So the least that an uplink and a global link
cost with a spine's share bounds the leaf, and with the real number of leaves each group size. See docs/formulation.md,
"Direct networks".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fabopt.hardware import CageUse, NicOption, SwitchType
from fabopt.topology.clos.bounds import Upper
from fabopt.topology.clos.shape import Parts, Shape, uplinks_that_fit, usable_ports
from fabopt.topology.direct.design import DirectShape, Rates, rates_of
from fabopt.topology.direct.nets import Ints
from fabopt.topology.direct.space import Block, LeafSpace
from fabopt.topology.dragonfly_plus.candidates import NAME, global_joins, leaf_spine_need
from fabopt.topology.dragonfly_plus.design import HOPS
from fabopt.topology.dragonfly_plus.nets import Demand, Groups, SpinePorts, networks, spine_ports
from fabopt.topology.needs import Floats
from fabopt.topology.threshold import Batch, Threshold

# What floating-point sums of bounds may be off.
_MARGIN = 1e-9


class _Above(NamedTuple):
    """A spine as it is used above some leaf, and the least that an uplink, or a global port, costs with its share."""

    spine: SwitchType
    down: CageUse
    up: CageUse
    ports: SpinePorts
    uplink: Floats
    outlet: Floats


class PlusSpace(LeafSpace):
    """The candidates that a fabric may have."""

    def _blocks(self, threshold: Threshold) -> Iterator[Block]:
        if self.fabric.most_hops is None or self.fabric.most_hops >= HOPS:
            yield from super()._blocks(threshold)

    # -- bounds -------------------------------------------------------------------------------------------------

    def _leaf_share(self, protocol: str, nic: NicOption, leaf: SwitchType, down: CageUse, up: CageUse) -> Floats:
        """The least share of a leaf, its uplinks, and all above them that one server port can have."""
        rates, endpoints = rates_of(self.problem, self.fabric, nic), self._endpoints(nic)
        key = (NAME, leaf, down, up, rates, endpoints)
        known = self.bounds.shelf(("leaf-spine", "spine-core"))
        if key not in known:
            known[key] = self._worked_out_share(protocol, leaf, down, up, rates, endpoints)
        share: Floats = known[key]
        return share

    def _worked_out_share(
        self, protocol: str, leaf: SwitchType, down: CageUse, up: CageUse, rates: Rates, endpoints: int
    ) -> Floats:
        ports = np.arange(1, usable_ports(down, leaf) + 1)
        fits = _uplinks(rates, ports, endpoints, up) <= uplinks_that_fit(leaf, down, up, ports)
        above = np.full((len(self.costs.table), len(ports)), np.inf)
        for one in self._above(up, protocol):
            above = np.minimum(above, self._of_leaf(one, rates, ports, endpoints, up))
        cost = self.costs.of(leaf.item)[:, np.newaxis] + above
        return np.asarray((np.where(fits, cost, np.inf) / ports).min(axis=1))

    def _above(self, up: CageUse, protocol: str) -> list[_Above]:
        """Spines that take such uplinks and can be joined to each other."""
        key = (NAME, "above", up.port, protocol)
        known = self.bounds.shelf(("leaf-spine", "spine-core"))
        if key not in known:
            uppers = self.bounds.uppers(up.lane.port_mbps, protocol, 3)
            known[key] = [made for one in uppers if (made := self._used(one, up, protocol)) is not None]
        found: list[_Above] = known[key]
        return found

    def _used(self, upper: Upper, up: CageUse, protocol: str) -> _Above | None:
        """One spine over such uplinks; None if nothing joins them, or two spines."""
        spine, down, out = upper
        assert out is not None
        room = spine_ports(spine, down, out)
        share = self.costs.of(spine.item) / max(1, room.most)
        uplink = share + self.bounds.least_link(up.port, down.port, "leaf-spine", protocol)
        outlet = share + self._half_link(out, protocol, ("global",))
        return _Above(spine, down, out, room, uplink, outlet) if np.isfinite(uplink[0] + outlet[0]) else None

    def _of_leaf(self, one: _Above, rates: Rates, ports: Ints, endpoints: int, up: CageUse) -> Floats:
        """The least that all above a leaf costs by its server ports, shape (metrics, sizes)."""
        outlets = np.maximum(float(rates.cut), float(rates.spread) / 2) * ports / one.up.lane.port_mbps
        uplinks = _uplinks(rates, ports, endpoints, up)
        return np.asarray(
            np.multiply.outer(one.uplink, uplinks) + np.multiply.outer(one.outlet, outlets) * (1 - _MARGIN)
        )

    def _endpoints(self, nic: NicOption) -> int:
        return self.problem.servers * nic.ports_per_plane

    # -- sizes --------------------------------------------------------------------------------------------------

    def _groups(self, threshold: Threshold, block: Block, k: int) -> None:
        """Spines and group sizes with k ports of a server on a leaf, the cheapest first."""
        sizes = self._sizes(block, k)
        if sizes is None:
            return
        (shape, base), nic = sizes, block.nic
        rates, ports = rates_of(self.problem, self.fabric, nic), np.minimum(shape.g, shape.servers) * k
        room = uplinks_that_fit(block.leaf, block.down, block.up, self.bounds.reserved(ports))
        able = (_uplinks(rates, ports, self._endpoints(nic), block.up) <= room) & (shape.leaves >= 3)
        leaf, many = self.costs.of(block.leaf.item)[:, np.newaxis], nic.planes * shape.leaves
        options = self._above(block.up, block.protocol)
        if not options or not able.any():
            return
        bounds = [
            base + many * (leaf + self._of_leaf(one, rates, ports, self._endpoints(nic), block.up)) for one in options
        ]
        of_all = np.where(able, [bound[0] for bound in bounds], np.inf)
        for flat in np.argsort(of_all, axis=None, kind="stable").tolist():
            option, at = divmod(flat, len(ports))
            if of_all[option, at] > threshold.limit or not able[at]:
                break
            if threshold.within(bounds[option][:, at : at + 1]).all():
                one = _Sized(block, options[option], shape.take(np.array([at])), int(ports[at]), int(room[at]), rates)
                self._networks(threshold, one, base[:, at : at + 1])

    def _networks(self, threshold: Threshold, one: _Sized, base: Floats) -> None:
        """Offer every network for one spine and group size."""
        net = networks(int(one.shape.leaves[0]), one.demand, one.room, one.above.ports)
        net = net.take(self._wanted(one.shape, net))
        if not len(net):
            return
        cost = base + self._net_cost(one, net)
        made = np.flatnonzero(np.isfinite(cost[0]))
        if made.size:
            many = replace(one.shape, g=np.full(made.size, one.shape.g[0]))
            threshold.offer(Batch(one.parts, DirectShape(many, net.take(made)), cost[:, made], family=NAME))

    def _wanted(self, shape: Shape, net: Groups) -> Ints:
        """Networks with room for as many more servers as is asked for."""
        wants = self.fabric.wants
        least = 0 if wants is None else wants.headroom or 0
        return np.flatnonzero(net.leaves // int(shape.rails) * int(shape.g[0]) - self.problem.servers >= least)

    def _net_cost(self, one: _Sized, net: Groups) -> Floats:
        """Switches, and their links at the least that each metric by itself can be."""
        parts, above, planes = one.parts, one.above, one.parts.nic.planes
        total = np.multiply.outer(self.costs.of(parts.leaf.item), planes * net.leaves)
        total = total + np.multiply.outer(self.costs.of(above.spine.item), planes * net.spines)
        joins = self.bounds.joins(one.block.up.port, above.down.port, "leaf-spine", parts.protocol)
        need = leaf_spine_need(parts, tuple(net.numbers.T), int(self.bounds.reserved(one.ports)))
        total = total + self.costs.least(joins, need)
        cages, links = planes * net.global_cages(above.up.lane.ports), planes * net.global_links
        ways = [
            np.multiply.outer(self.costs.of(way.near), cages) + np.multiply.outer(self.costs.of(way.wire), links)
            for way in global_joins(self._joins(above.up, "global", parts.protocol))
        ]
        return np.asarray(total + (np.minimum.reduce(ways) if ways else np.inf))


class _Sized(NamedTuple):
    """Leaves of one group size below one spine: ``ports`` of servers on a leaf, ``room`` for its uplinks."""

    block: Block
    above: _Above
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
    def demand(self) -> Demand:
        """What the groups have to carry."""
        endpoints, speeds = self.shape.servers * self.shape.ports, (self.block.up, self.above.up)
        return Demand(self.ports, endpoints, self.rates, *(use.lane.port_mbps for use in speeds))


def _uplinks(rates: Rates, ports: Ints, endpoints: int, up: CageUse) -> Ints:
    """Fewest uplinks of a leaf with so many server ports, one at least: for any of its halves, and for all-to-all.

    Other leaves have E - d ports at the least, so uplinks carry ``spread d (E - d) / (E - 1)``.
    """
    spread = float(rates.spread) * np.maximum(endpoints - ports, 0) / max(1, endpoints - 1)
    needed = np.maximum(float(rates.cut), spread) * ports / up.lane.port_mbps
    return np.maximum(1, np.ceil(needed * (1 - _MARGIN))).astype(np.int64)
