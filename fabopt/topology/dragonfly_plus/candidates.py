"""From the search's arrays to a candidate dragonfly+: exact quantities, and the open choices of parts.

A dragonfly+: its hardware, its groups and how servers are dealt to its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from fabopt.network.direct_links import DragonflyPlus, SpineMesh
from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of
from fabopt.network.graph.pair_flow import HalfRate, port_share
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.parts.assemblies import Assembly
from fabopt.parts.items import Item
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.resilience import Failed, Failing
from fabopt.schema.structure import DragonflyPlusStructure
from fabopt.topology.candidate import Candidate, Choice, choices_of
from fabopt.topology.clos.failures import server_ports, without
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.shape import Parts, down_cage_limit, up_cage_limit
from fabopt.topology.clos.stage_links import kind_choices, server_leaf
from fabopt.topology.design import Figures, FilePart, LinkUse, Tier, evenness_of, single_flow
from fabopt.topology.direct.candidates import SwitchedShape, assembled, equal_joins, fills, whole_choice
from fabopt.topology.direct.design import GraphDesign
from fabopt.topology.direct.graph_network import SwitchedFailures, SwitchedNetwork, words_of
from fabopt.topology.dragonfly_plus.networks import DragonflyPlusNetworks
from fabopt.topology.family import Batch
from fabopt.topology.link_parts import Need, PeerLinks, Side
from fabopt.units import Number, ceil_of

# Leaf, spine, spine and leaf: two leaves of different groups have no shorter way.
HOPS = 4


@dataclass(frozen=True)
class DragonflyPlusNetwork(SwitchedNetwork):
    """A dragonfly+. ``net`` has one row."""

    net: DragonflyPlusNetworks

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """L, S, G, m and t."""
        size, spines, groups, links, outside = self.net.numbers[0].tolist()
        return size, spines, groups, links, outside

    @property
    def leaves(self) -> int:
        """Number of leaves of one plane."""
        return int(self.net.leaves[0])

    @property
    def spines(self) -> int:
        """Number of spines of one plane."""
        return int(self.net.spines[0])

    @property
    def spine(self) -> tuple[SwitchType, CageUse, CageUse]:
        """The spine, and the use of its cages towards leaves and towards other groups."""
        parts = self.parts
        assert parts.spine is not None and parts.spine_down is not None and parts.spine_up is not None
        return parts.spine, parts.spine_down, parts.spine_up

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """The types of leaf and spine."""
        return self.parts.leaf, self.spine[0]

    @property
    def mesh(self) -> DragonflyPlus:
        """The switches of one plane, link by link."""
        size, spines, groups, links, outside = self.numbers
        return DragonflyPlus(size, links, SpineMesh(spines, groups, outside))

    @property
    def speeds_mbps(self) -> Mapping[str, int]:
        """Speed of a link of each scope."""
        return {"leaf-spine": self.parts.uplink.lane.port_mbps, "global": self.spine[2].lane.port_mbps}

    @property
    def _streams(self) -> Fraction:
        """Streams on the busiest link between a leaf and a spine, times m, with one stream for every pair of leaves."""
        size, spines, groups, _, outside = self.numbers
        return max(
            Fraction(self.leaves - 1, spines), Fraction(size * int(self.net.spine_up[0]), outside // (groups - 1))
        )

    @property
    def _between(self) -> Fraction:
        """Mb/s of every ordered pair of leaves over the links of their two groups."""
        size, _, groups, _, outside = self.numbers
        return Fraction(outside // (groups - 1) * self.speeds_mbps["global"], size * size)

    @property
    def cut_mbps(self) -> Fraction:
        """Mb/s of a port over a cut into halves."""
        (_, spines, groups, links, outside), d = self.numbers, self.servers.down_ports
        n = outside // (groups - 1)
        of_leaf = max(Fraction(n, int(ceil_of(n, spines))), self.leaves / (2 * self._streams))
        return min(self._between * self.leaves / 2, links * self.speeds_mbps["leaf-spine"] * of_leaf) / d

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula: see ``fabopt.topology.dragonfly_plus.networks``."""
        (size, spines, _, links, outside), (up, out) = self.numbers, self.speeds_mbps.values()
        d, ports = self.servers.down_ports, int(self.shape.servers) * self.shape.ports
        flow = min(self._between, links * up / self._streams)
        return Figures(
            oversubscription={
                "leaf": Fraction(d * self.parts.leaf_down.lane.port_mbps, spines * links * up),
                "spine": Fraction(size * spines * links * up, outside * out),
            },
            injection=self.parts.nic.injection,
            bisection=self.per_gpu(gpus, self.cut_mbps),
            alltoall=self.per_gpu(gpus, flow * max(1, ports - 1) / (d * d)),
            max_switch_hops=HOPS,
            single_flow=single_flow(self.parts.nic, up, out),
        )

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        parts, planes = self.parts, self.parts.nic.planes
        (size, spines, groups, links, outside), (spine, down, out) = self.numbers, self.spine
        leaf_tier = Tier(
            "leaf", parts.leaf, planes * self.leaves, self.servers.down_ports, spines * links, parts.leaf_down,
            self.parts.uplink, self.servers.reserved_ports,
        )  # fmt: skip
        spine_tier = Tier("spine", spine, planes * self.spines, size * links, int(self.net.spine_up[0]), down, out)
        return FilePart(
            protocol=parts.protocol,
            planes=planes,
            rails=int(self.shape.rails),
            structure=DragonflyPlusStructure(
                family="dragonfly+",
                leaves_per_group=size,
                spines_per_group=spines,
                switch_groups=groups,
                links_per_pair=links,
                global_links_per_group=outside,
                **words_of(self.shape),
            ),
            nic=parts.nic,
            tiers=(leaf_tier, spine_tier),
            links=(
                LinkUse("server", "leaf", None, parts.leaf_down.lane.port_mbps, "server-leaf"),
                LinkUse("leaf", "spine", None, down.lane.port_mbps, "leaf-spine"),
                LinkUse("spine", "spine", "global", out.lane.port_mbps, "spine-core"),
            ),
        )


NAME = "dragonfly+"


@dataclass(frozen=True, eq=False)
class DragonflyPlusBatch(Batch[Parts, SwitchedShape[DragonflyPlusNetworks]]):
    """Leaf-spine groups that are joined to each other."""

    @property
    def family(self) -> str:
        """Name of the family."""
        return NAME

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its links cannot be made beside each other."""
        shape = self.shape.row(index)
        network = DragonflyPlusNetwork(clos_of(self.fabric, self.parts, shape.servers), shape.net)
        planes, spine = network.nic.planes, network.spine[0]
        switches = [(network.parts.leaf, planes * network.leaves), (spine, planes * network.spines)]
        links, order = _links(problem, self.fabric, network, prune), _tie_order(network)
        evenness = evenness_of(problem, network.shape)
        return assembled(
            problem, self, index, GraphDesign(network, DragonflyPlusFailures), switches, links, order, evenness
        )

    def switch_counts(self) -> dict[Item, Number]:
        """Leaves and spines."""
        parts, net, planes = self.parts, self.shape.net, self.parts.nic.planes
        assert parts.spine is not None
        counts: dict[Item, Number] = {parts.leaf.item: planes * net.leaves}
        counts[parts.spine.item] = counts.get(parts.spine.item, 0) + planes * net.spines
        return counts


def _links(
    problem: Problem, fabric: FabricProblem, network: DragonflyPlusNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    limit = int(down_cage_limit(network.parts.leaf_down, network.parts.uplink, int(network.net.uplinks[0])))
    yield kind_choices(problem, network.servers, server_leaf(network.servers, limit), prune)
    yield _leaf_spine(problem, fabric, network, prune)
    (_, _, out), planes = network.spine, network.nic.planes
    yield whole_choice(
        global_joins(equal_joins(problem, fabric, out.port, "global", network.parts.protocol)),
        ("spine", "global"),
        planes * int(network.net.global_links[0]),
        planes * int(network.net.global_cages(out.lane.ports)[0]),
        prune,
    )


def _leaf_spine(
    problem: Problem, fabric: FabricProblem, network: DragonflyPlusNetwork, prune: bool
) -> Sequence[Choice] | None:
    """Links within groups: as in a Clos, cage by cage or bundle by bundle where cages allow it."""
    parts, up, (_, down, _) = network.parts, network.parts.uplink, network.spine
    need = leaf_spine_need(parts, network.numbers, network.servers.down_ports + network.servers.reserved_ports)
    joins = joins_of(problem, fabric, "leaf-spine", up.port, down.port, parts.protocol)
    mixes = up.lane.ports == down.lane.ports and network.numbers[3] % up.lane.ports == 0
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return choices_of(problem.links, need, joins, ("leaf", "spine"), key, mixes, prune)


def leaf_spine_need(parts: Parts, numbers: Sequence[Number], down_ports: int) -> Need:
    """Links within groups; ``numbers``: L, S, G, m, t of one network or many, ``down_ports``: with those kept free."""
    up, down, out = parts.leaf_up, parts.spine_down, parts.spine_up
    assert up is not None and down is not None and out is not None
    size, spines, groups, links, outside = numbers
    leaf = PeerLinks(parts.nic.planes * size * groups, links, spines, 0)
    spine = PeerLinks(parts.nic.planes * spines * groups, links, size, 0)
    return Need(
        Side((leaf,), up.lane.ports, up_cage_limit(parts.leaf_down, up, down_ports)),
        Side((spine,), down.lane.ports, down_cage_limit(down, out, ceil_of(outside, spines))),
    )


def global_joins(joins: Sequence[Assembly]) -> tuple[Assembly, ...]:
    """Assemblies that carry one link a cable: the links of two groups end at many spines."""
    return tuple(join for join in joins if fills(join, 1))


def _tie_order(network: DragonflyPlusNetwork) -> tuple[Any, ...]:
    """Rank among candidates that are equal in all sums, the smallest first (docs/formulation/search.md)."""
    parts, shape, (spine, *uses) = network.parts, network.shape, network.spine
    cages = (parts.leaf_down, network.parts.uplink, *uses)
    return (
        *network.numbers,
        -int(shape.g), int(shape.k),
        parts.nic.nic_id, parts.leaf.id, spine.id,
        parts.nic.split, *(use.split for use in cages),
        parts.nic.group, *(use.group for use in cages),
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes,
    )  # fmt: skip


# -- bandwidth that a dragonfly+ has left when a leaf, a spine, a link or a plane fails at the worst place ------------


# Links, both ways, times groups, times losses that may have to be tried: some minutes where none are alike.
MOST_WORK = 250_000_000
KINDS: tuple[Failing, ...] = ("leaf", "spine", "plane", "cable")
_BETWEEN = "between"


@dataclass(frozen=True)
class DragonflyPlusFailures(SwitchedFailures):
    """Single failures of one dragonfly+; ``gpus``: of a server."""

    network: DragonflyPlusNetwork

    def kinds(self) -> tuple[Failing, ...]:
        """Kinds of devices and links that can fail alone; only planes of a network whose graph takes minutes."""
        _, spines, groups, _, outside = self.network.numbers
        work = 2 * self.network.links * groups * (spines + outside)
        return KINDS if work <= MOST_WORK else ("plane",)

    def bandwidth_left(self, failed: Failed, count: int) -> Fraction:
        """Mb/s per GPU after one failure; raises ``ValueError`` for several."""
        if count != 1:
            raise ValueError(f"{count} failures of {failed} are not looked at")
        network = self.network
        own = server_ports(network.parts, network.shape, self.gpus)
        kinds = ("server-leaf", _BETWEEN) if failed == "cable" else (failed,)
        return min(network.nic.injection * without(own, kind, 1) * self._carried(kind) for kind in kinds)

    def _carried(self, failed: str) -> Fraction:
        """The share of a port's speed that bisection carries."""
        network = self.network
        speed, ports = network.parts.leaf_down.lane.port_mbps, network.servers.down_ports
        carried = min(Fraction(1), network.cut_mbps / speed)
        if failed not in ("leaf", "spine", _BETWEEN):
            return carried
        left = worst_rate(network.mesh, self._speeds, failed)
        return min(carried, port_share(left, ports, speed) / speed)

    @property
    def _speeds(self) -> tuple[int, int]:
        """Mb/s of a link within a group, and of a global one."""
        return self.network.speeds_mbps["leaf-spine"], self.network.speeds_mbps["global"]

    @property
    def plane(self) -> tuple[Network, Kinds]:
        """The graph of a plane's switches, and its symmetries."""
        return plane_of(self.network.mesh, self._speeds)

    @property
    def link_mbps(self) -> Ints:
        """Speed of each row of links of the graph, shape (rows,)."""
        return _link_mbps(self.network.mesh, self._speeds, self.plane[0])

    def switches_of(self, failed: Failed) -> Ints:
        """Numbers of the leaves, or of the spines, shape (switches of the kind,)."""
        return _switches(self.network.mesh, failed)


@lru_cache(maxsize=4096)
def worst_rate(mesh: DragonflyPlus, speeds_mbps: tuple[int, int], failed: str) -> float:
    """Mb/s of a leaf without the worst ``leaf``, ``spine`` or link between switches."""
    network, kinds = plane_of(mesh, speeds_mbps)
    rate = HalfRate(network)
    if failed == _BETWEEN:
        return min(rate.without_links(kinds, _link_mbps(mesh, speeds_mbps, network)))
    return min(rate.without_switches(kinds, _switches(mesh, failed)))


@lru_cache(maxsize=16)
def plane_of(mesh: DragonflyPlus, speeds_mbps: tuple[int, int]) -> tuple[Network, Kinds]:
    """The graph of a plane's switches, one endpoint on each leaf, and its symmetries."""
    ends, scope = mesh.all_pairs()
    hosts = (np.arange(mesh.switches) < mesh.leaves).astype(np.int64)
    network = network_of(*ends, np.array(speeds_mbps)[scope], hosts, 1, np.array([1, GLOBAL_LENGTH])[scope])
    return network, kinds_of(network, mesh.moves)


def _link_mbps(mesh: DragonflyPlus, speeds_mbps: tuple[int, int], network: Network) -> Ints:
    return np.where(network.a < mesh.leaves, *speeds_mbps)


def _switches(mesh: DragonflyPlus, failed: str) -> Ints:
    return np.arange(mesh.leaves) if failed == "leaf" else np.arange(mesh.leaves, mesh.switches)
