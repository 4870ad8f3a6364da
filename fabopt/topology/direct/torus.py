"""Torus: switches in a lattice of two or three dimensions, every line of it closed to a ring of m_i parallel links.

Sides are 3 at least: of 2 the two links of a ring would join one pair, of 1 a switch would be joined to itself. Routes
are dimension by dimension, the shorter way round, both ways half and half where they are equal: a link of dimension i
is loaded by ``Q floor(k_i^2 / 4) / (2 k_i)`` ordered pairs, and no routing loads them less, as the distances add up to
that. Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, sections 5.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fabopt.network.direct_links import Torus
from fabopt.schema.structure import TorusStructure
from fabopt.topology.direct.lattices import (
    LONGEST_SIDE,
    halves,
    lattice_net,
    multiplicities,
    smallest_sides,
    thickened,
    volume,
)
from fabopt.topology.direct.loads import Ints, Load
from fabopt.topology.direct.networks import DirectNetworks, Floats, merged

SHORTEST_SIDE = 3


class TorusTopology:
    """Sides k_i >= 3 and multiplicities m_i; numbers are the sides, then the multiplicities."""

    name = "torus"
    slack_ports = 0

    def nets(self, leaves: int, load: Load, most_ports: int, ports_per_cable: tuple[int, ...]) -> DirectNetworks:
        """Lattices of no more switches than needed, their rings as thick as the load asks, or filling cables."""
        parts = []
        for dimensions in (2, 3):
            sides = smallest_sides(leaves, dimensions, SHORTEST_SIDE, LONGEST_SIDE)
            switches = sides.prod(axis=1)
            around = switches[:, np.newaxis] * (sides**2 // 4)
            fewest = load.links(switches[:, np.newaxis], around, 2 * sides)
            for links in multiplicities(fewest, ports_per_cable):
                parts.append(lattice_net(sides, links, switches, 2 * links))
        return merged(parts, most_ports)

    def thicker(self, leaves: int, load: Load, most_ports: int) -> Iterator[DirectNetworks]:
        """Every lattice with all numbers of links that fit."""
        for dimensions in (2, 3):
            sides = smallest_sides(leaves, dimensions, SHORTEST_SIDE, LONGEST_SIDE)
            switches = sides.prod(axis=1)
            around = switches[:, np.newaxis] * (sides**2 // 4)
            fewest = load.links(switches[:, np.newaxis], around, 2 * sides)
            yield from thickened(sides, fewest, np.full_like(sides, 2), most_ports)

    def scopes(self, numbers: Ints) -> tuple[str, ...]:
        """One for each dimension."""
        return self.mesh(numbers).scopes

    def mesh(self, numbers: Ints) -> Torus:
        """One network."""
        return Torus(*halves(numbers))

    def flow(self, numbers: Ints) -> Fraction:
        """The least of 2 k_i m_i / (Q floor(k_i^2 / 4))."""
        sides, links = halves(numbers)
        switches = volume(np.array(sides))
        return min(Fraction(2 * k * m, switches * (k * k // 4)) for k, m in zip(sides, links, strict=True))

    def hops(self, numbers: Ints, used: int) -> int:
        """Half way round in every dimension, and the first switch; two of the used ones are as far apart."""
        return sum(side // 2 for side in halves(numbers)[0]) + 1

    def structure(self, numbers: Ints, servers: dict[str, int]) -> TorusStructure:
        """Sides and multiplicities."""
        sides, links = halves(numbers)
        return TorusStructure(family="torus", sides=sides, links_per_pair=links, **servers)

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """floor(k^2 / 4) / k >= (k - 1/3) / 4 in each dimension, least where sides are equal."""
        means = [(dimensions * switches ** (1 / dimensions) - dimensions / 3) / 4 for dimensions in (2, 3)]
        return np.asarray(np.minimum(*means) + 0.0 * ports)

    def most_switches(self, most_ports: int) -> int:
        """The largest cube; two ports a dimension are enough for any."""
        return int(LONGEST_SIDE**3) if most_ports >= 6 else int(LONGEST_SIDE**2) if most_ports >= 4 else 0
