"""Direct networks, recounted from the few numbers of their structure, by the definition of the family.

Only the structure is read here: it goes in, every count comes out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.design import Metrics
from fabopt.schema.structure import DirectStructure
from fabopt.units import ceil_div
from fabopt.wiring.model import NOTHING, Ints

Mask = NDArray[np.bool_]
Role = Literal["leaf", "spine", "server"]


@dataclass(frozen=True)
class MeshLinks:
    """Links of one kind, of one plane.

    ``holders``: (switches, links of each); ``pairs``: joined pairs with ``links_of_pair`` links side by side; ``load``:
    ordered pairs of switches that the busiest link carries on minimal routes, their traffic being spread evenly.
    """

    name: str
    holders: tuple[tuple[int, int], ...]
    pairs: int
    links_of_pair: int
    load: Fraction

    @property
    def links(self) -> int:
        """Number of links: each is at two switches."""
        return sum(switches * links for switches, links in self.holders) // 2

    @property
    def most(self) -> int:
        """Links at the busiest switch."""
        return max(links for switches, links in self.holders if switches)

    def cages(self, ports: int) -> int:
        """Cages of ``ports`` ports for these links, over all switches: a cage has links of one kind only."""
        return sum(switches * ceil_div(links, ports) for switches, links in self.holders)


@dataclass(frozen=True)
class MeshCounts(ABC):
    """One plane of a direct network, recounted from its structure.

    Arrays of devices are by their numbers in the plane, from 0, and have shape (devices asked,); masks of ``halves``
    have shape (devices,).
    """

    structure: DirectStructure

    @property
    @abstractmethod
    def devices(self) -> tuple[tuple[Role, int], ...]:
        """Joined devices by role: those with endpoints first."""

    @property
    @abstractmethod
    def scopes(self) -> tuple[MeshLinks, ...]:
        """The kinds of links; raises ``ValueError`` where the numbers do not make a network of the family."""

    @property
    @abstractmethod
    def smallest(self) -> bool:
        """Whether no shorter side (or fewer groups) would hold as many switches with servers."""

    @property
    @abstractmethod
    def hops(self) -> tuple[int, int]:
        """Fewest and most devices on the longest shortest path between two devices with endpoints."""

    @property
    @abstractmethod
    def halves(self) -> tuple[tuple[str, Mask], ...]:
        """Names and masks of sets of devices that part the plane along each dimension, or between groups."""

    @abstractmethod
    def are_neighbours(self, scope: str, a: Ints, b: Ints) -> Mask:
        """Whether links of a scope may join these devices."""

    @property
    def tiers(self) -> tuple[tuple[Role, int], ...]:
        """Switches by role."""
        return self.devices

    @property
    def leaves(self) -> int:
        """Q: devices that can have endpoints, the first of all."""
        return self.devices[0][1]

    @property
    def switches(self) -> int:
        """Number of joined devices."""
        return sum(count for _, count in self.devices)

    @property
    def rails(self) -> int:
        """Switches of a server group."""
        return self.structure.ports_per_server // self.structure.ports_per_server_per_leaf

    @property
    def used_leaves(self) -> int:
        """Switches with servers."""
        return self.structure.groups * self.rails

    @property
    def sides(self) -> tuple[int, ...]:
        """Lengths of a lattice; none of a network of groups."""
        return ()

    @property
    def groups(self) -> int:
        """Groups of switches; none in a lattice."""
        return 0

    def group_of(self, switch: Ints) -> Ints:
        """Number of the group of each switch, from 0; ``NOTHING`` in a lattice."""
        return np.full(len(switch), NOTHING)

    def hops_claimed(self, metrics: Metrics) -> int:
        """Devices on the longest shortest path by the figures of the file."""
        return metrics.max_switch_hops

    def down_ports(self) -> tuple[tuple[Role, int], ...]:
        """Down ports of switches above the leaves."""
        return ()

    @property
    def spines_of_leaf(self) -> tuple[int, int]:
        """Spines of a leaf, and links to each of them; raises ``LookupError`` without spines."""
        raise LookupError(f"no spines in a {self.structure.kind}")

    @cached_property
    def flow(self) -> Fraction:
        """Traffic between every ordered pair of switches at once, in units of a link's speed."""
        return min(1 / scope.load for scope in self.scopes)

    def cut(self, ports: int, speeds: Sequence[int]) -> Fraction:
        """Bisection, Mb/s of a port; ``ports``: the most on a switch, ``speeds``: Mb/s of links up from each tier.

        Any x of Q switches have links of ``flow x (Q - x)`` to the others, for at most d x ports.
        """
        return self.flow * speeds[0] * self.leaves / (2 * ports)

    def spread(self, ports: int, endpoints: int, speeds: Sequence[int]) -> Fraction:
        """Uniform all-to-all, Mb/s of a port: two switches have at most d^2 of the E (E - 1) ordered pairs of ports."""
        return self.flow * speeds[0] * max(1, endpoints - 1) / ports**2

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """Speed of the server ports of the busiest switch over that of its links to others, by tier."""
        return {"leaf": Fraction(down_mbps, self.most_ports * speeds[0])}

    def up_ports(self, role: Role) -> int:
        """Links of the busiest switch of a tier to others of its tier or of the next."""
        return self.most_ports

    def most_cages(self, ports: int) -> int:
        """Cages for links to other switches on the busiest switch."""
        return sum(ceil_div(scope.most, ports) for scope in self.scopes)

    @property
    def most_ports(self) -> int:
        """Links to other switches on the busiest switch."""
        return sum(scope.most for scope in self.scopes)


def require(condition: bool, otherwise: str) -> None:
    """Raise ``ValueError`` with ``otherwise`` unless a structure meets a condition of its family."""
    if not condition:
        raise ValueError(otherwise)


def half(number: Ints, size: int) -> Mask:
    """Whether places are in the first half of ``size``, shape (places,)."""
    return np.asarray(number < size // 2)
