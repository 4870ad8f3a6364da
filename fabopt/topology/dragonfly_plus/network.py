"""A dragonfly+: its hardware, its groups and how servers are dealt to its leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fabopt.network.direct_links import DragonflyPlus, SpineMesh
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.schema.structure import DragonflyPlusStructure
from fabopt.topology.design import Figures, FilePart, LinkUse, Tier, single_flow
from fabopt.topology.direct.graph_network import SwitchedNetwork, words_of
from fabopt.topology.dragonfly_plus.networks import DragonflyPlusNetworks
from fabopt.units import ceil_of

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
    def leaf_up(self) -> CageUse:
        """Use of a leaf's cages for links to spines."""
        assert self.parts.leaf_up is not None
        return self.parts.leaf_up

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
        return {"leaf-spine": self.leaf_up.lane.port_mbps, "global": self.spine[2].lane.port_mbps}

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
            self.leaf_up, self.servers.reserved_ports,
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
