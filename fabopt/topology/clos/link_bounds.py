"""Lower bounds of the cost of a Clos fabric's links at some weights, over their runs.

Lower bounds of links' cost for servers and switches anywhere on a floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np

from fabopt.floor.arrangements import Anywhere, InLayout, InPlaces
from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.layouts import Layout
from fabopt.floor.racks import height_m
from fabopt.parts.assemblies import Assembly
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.structured import CablingWord
from fabopt.topology.clos.floor_bounds import LayoutBounds, NearestBounds
from fabopt.topology.clos.floor_runs import NearKey
from fabopt.topology.clos.joins import joins_of, runs_differ, server_joins
from fabopt.topology.clos.redundancy import fewest_spines
from fabopt.topology.clos.run_bounds import FlatBounds, FloorBounds, LinkEnds, LinkRows, LinksByClass
from fabopt.topology.clos.shape import Ints, SwitchUse, usable_ports
from fabopt.topology.clos.switch_sizes import size_in_tier
from fabopt.topology.clos.trunk_bounds import with_trunks
from fabopt.topology.link_parts import Costs, Floats
from fabopt.units import ceil_of


class SpreadBounds(FloorBounds):
    """Bounds for servers and switches anywhere on the floor. Arrays of costs have shape (metrics, rows).

    A rack holds a limited number of servers, so those of one leaf are in several racks, at best in those around the
    leaf's own.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, links_by_class: LinksByClass) -> None:
        super().__init__(problem, links_by_class)
        self._runs_m = fabric.runs.m
        self._sums: dict[LinkEnds, Floats] = {}

    @cached_property
    def _classes(self) -> Ints:
        """Lower bounds of the classes of runs from a leaf to the servers nearest to it, rising, shape (servers,)."""
        plan, per_rack, server = self.problem.floor.plan, self.problem.floor.servers_per_rack, self.problem.server
        racks, floor = np.flatnonzero(plan.usable), plan.floor
        away_m = np.sort(plan.tray_m(racks[:, None], racks), axis=1).min(axis=0)
        units = float(server.rack_units or 1)
        up_m = floor.tray_height_m - height_m(np.array(server.units_in_rack(per_rack)), units)
        down_m = floor.tray_height_m - float(height_m(floor.rack_units, 1))
        run_m = plan.spared_m(away_m[:, None] + up_m + down_m + 2 * floor.drop_m)
        run_m[0] = plan.least_in_rack_m
        beyond = np.full(max(0, self.problem.servers - run_m.size), np.inf)
        return classes_of_runs(
            self.problem.item_table.lengths_m, np.sort(np.concatenate([np.round(run_m, 9).ravel(), beyond]))
        )

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The cost of a server's link into its own rack, shape (metrics,)."""
        return self._cost(self._runs_m["server-leaf"], (near, far, protocol, "server-leaf"))

    def server_links(self, links: LinkRows) -> Floats:
        """The cost of a server's link: the mean over the servers that are nearest to a leaf."""
        return self.near_server_links(links.ends, np.atleast_1d(links.shape.g))

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The mean over the servers that are nearest to a leaf, before any switch is placed."""
        if ends not in self._sums:
            self._sums[ends] = self._sums_of_nearest(ends)
        sums, servers = self._sums[ends], self.problem.servers
        whole = ceil_of(servers, g) - 1
        full = np.where(whole > 0, sums[:, np.minimum(g, servers)], 0.0)
        return np.asarray((whole * full + sums[:, servers - whole * g]) / servers)

    def _sums_of_nearest(self, ends: LinkEnds) -> Floats:
        """Cost of the links of the i servers nearest to a leaf together, shape (metrics, servers + 1)."""
        different, place_of = np.unique(self._classes, return_inverse=True)
        sums = np.cumsum(self._costs(different, ends)[:, place_of], axis=1)
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink to a spine beside it, shape (metrics, 1)."""
        return self._cost(self._runs_m["leaf-spine"], links.ends)[:, np.newaxis]

    def core_links(self, links: LinkRows) -> Floats:
        """The cost of a spine's uplink to a core beside it."""
        least = self._cost(self._runs_m["spine-core"], links.ends)[:, np.newaxis]
        return np.repeat(least, np.size(links.shape.g), axis=1)


class PlacesBounds(SpreadBounds):
    """Bounds where every switch may be in any rack that one of some layouts has for it, with the servers in place.

    Arrays of costs have shape (metrics, rows).
    """

    def __init__(
        self, problem: Problem, fabric: FabricProblem, layouts: Sequence[Layout], links_by_class: LinksByClass
    ) -> None:
        super().__init__(problem, fabric, links_by_class)
        self._layouts = [LayoutBounds(problem, layout, links_by_class) for layout in layouts]

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The cost of a server's link, each leaf being in the rack that is best for the servers of its group."""
        of_layouts = [layout.near_server_links(ends, g) for layout in self._layouts]
        return np.asarray(np.minimum.reduce(np.broadcast_arrays(*of_layouts)))


class LinkBounds:
    """Bounds of one fabric's links at some weights. Arrays of costs have shape (metrics,)."""

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: Costs) -> None:
        self.problem = problem
        self.fabric = fabric
        self.costs = costs
        self.runs = self._run_bounds()

    def _run_bounds(self) -> FlatBounds | FloorBounds:
        match self.fabric.on_floor.arrangement:
            case InLayout(layout, "measured"):
                return LayoutBounds(self.problem, layout, self.links_by_class)
            case InLayout(layout, "nearest"):
                return NearestBounds(self.problem, layout, self.links_by_class)
            case Anywhere("spread"):
                return SpreadBounds(self.problem, self.fabric, self.links_by_class)
            case InPlaces(layouts):
                return PlacesBounds(self.problem, self.fabric, layouts, self.links_by_class)
            case _:
                return FlatBounds(self.fabric.runs.m, self.link_at)

    def joins(self, near: PortType, far: PortType, kind: str, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies of a kind of link, over its run."""
        return joins_of(self.problem, self.fabric, kind, near, far, protocol)

    def server_joins(self, nic: NicOption, down: CageUse, k: int, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies between servers and leaves that suit ``k`` ports on one leaf."""
        return server_joins(self.problem, self.fabric, nic, down.port, k, protocol)

    def least_link(self, near: PortType, far: PortType, kind: str, protocol: str) -> Floats:
        """Least cost of a link, with its share of parts that several links have in common."""
        if kind == "server-leaf":
            return self.runs.server_link(near, far, protocol)
        return self.link_at(near, far, self.fabric.runs.m[kind], protocol, kind)

    def least_uplink(self, up: PortType, spine: SwitchUse, protocol: str) -> Floats:
        """Least mean cost of a leaf's link to spines, with its share of parts that several links have in common."""
        link = self.least_link(up, spine.down.port, "leaf-spine", protocol)
        if spine.up is not None or not self.fabric.leaf_groups.is_even:
            return link
        ends = up, spine.down.port, protocol, "leaf-spine"
        return self.runs.raised(
            link[:, np.newaxis], lambda runs: runs.least_uplinks(ends, self._fewest_spines(spine, protocol))
        )[:, 0]

    def _fewest_spines(self, spine: SwitchUse, protocol: str) -> NearKey:
        """The fewest spines of a plane of two tiers whose ports take the uplinks that the ratio asks for."""
        spine_mbps = usable_ports(spine.down, spine.switch) * spine.down.lane.port_mbps
        needed = ceil(self._least_mbps.get(protocol, Fraction(0)) / self.fabric.ratios.leaf / spine_mbps)
        size = size_in_tier(self.problem, self.fabric, 1, spine.switch, (spine.down,), protocol)
        return NearKey(max(needed, fewest_spines(self.fabric, self._most_planes)), size)

    @cached_property
    def _least_mbps(self) -> Mapping[str, Fraction]:
        """The least speed of all servers' ports in a plane together, in Mb/s, by protocol."""
        return {
            protocol: Fraction(
                self.problem.servers * min((nic.ports_per_plane * nic.port.lane.port_mbps for nic in nics), default=0)
            )
            for protocol, nics in self.fabric.nics.items()
        }

    @cached_property
    def _most_planes(self) -> int:
        return max((nic.planes for nics in self.fabric.nics.values() for nic in nics), default=1)

    @cached_property
    def _differ(self) -> Mapping[str, bool]:
        return {kind: runs_differ(self.problem, self.fabric, kind) for kind in self.fabric.runs.m}

    def link_at(self, near: PortType, far: PortType, run_m: float, protocol: str, kind: str = "server-leaf") -> Floats:
        """Least cost of a link over a run (or, where runs differ, a longer one); infinite past the longest part on
        sale.
        """
        longer = self._differ[kind]
        key, known = (near, far, run_m, protocol, kind if kind in self._trunked else "", longer), self.costs.least_links
        least = known.get(key)
        if least is None and longer:
            length_class = int(classes_of_runs(self.problem.item_table.lengths_m, run_m))
            least = known[key] = np.asarray(self.links_by_class(near, far, protocol, kind)[:, length_class])
        elif least is None:
            joins = self.problem.links.assemblies(near, far, run_m, protocol) if np.isfinite(run_m) else ()
            least = known[key] = self.costs.least_per_link(joins, near.ports, far.ports)
        return least

    @cached_property
    def _trunked(self) -> Mapping[str, CablingWord]:
        """How links that may run through trunks are cabled, by kind; all other kinds are alike."""
        return self.problem.case.trunked_of(self.fabric.name)

    def links_by_class(self, near: PortType, far: PortType, protocol: str, kind: str) -> Floats:
        """Least cost of a link over a run of each length class or a longer one, shape (metrics, classes + 1); infinite
        past the longest part on sale.
        """
        key, known = (near, far, protocol, kind if kind in self._trunked else ""), self.costs.least_by_class
        if key not in known:
            assemblies = self.problem.links.in_all_lengths(near, far, protocol)
            ports = (near.ports, far.ports)
            least = self.costs.least_from_class(assemblies, self.problem.item_table.lengths_m, *ports)
            if key[3]:
                least = with_trunks(self.problem, self.costs, least, key[:3], self._trunked[kind])
            known[key] = least
        return known[key]
