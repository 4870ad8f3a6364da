"""Torus: switches in a lattice of two or three dimensions, every line of it closed to a ring of m_i parallel links.

Sides are 3 at least: of 2 the two links of a ring would join one pair, of 1 a switch would be joined to itself. Routes
are dimension by dimension, the shorter way round, both ways half and half where they are equal: a link of dimension i
is loaded by ``Q floor(k_i^2 / 4) / (2 k_i)`` ordered pairs, and no routing loads them less, as the distances add up to
that. Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, sections 5.1 and 5.2.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from fabopt.network.direct_links import Torus
from fabopt.schema.structure import TorusStructure
from fabopt.topology.direct.lattices import (
    LONGEST_SIDE,
    MOST_DIMENSIONS,
    LatticeTopology,
    halves,
    smallest_sides,
    volume,
)
from fabopt.topology.direct.networks import Floats, Ints, Load

SHORTEST_SIDE = 3


class TorusTopology(LatticeTopology):
    """Tori of sides k_i >= 3 and multiplicities m_i.

    Arrays ``numbers`` of a network have shape (6,): sides, then multiplicities.
    """

    name = "torus"
    dimensions = range(2, MOST_DIMENSIONS + 1)

    def _sides(self, leaves: int, dimensions: int, most_ports: int) -> Ints:
        """Sides of the smallest tori; no torus has fewer switches than that of the shortest sides, needed or not."""
        return smallest_sides(max(leaves, SHORTEST_SIDE**dimensions), dimensions, SHORTEST_SIDE, LONGEST_SIDE)

    def _ports(self, sides: Ints) -> Ints:
        """Ports of a switch in each dimension: one each way round."""
        return np.full_like(sides, 2)

    def _fewest(self, sides: Ints, load: Load) -> Ints:
        switches = sides.prod(axis=1)[:, np.newaxis]
        return load.links(switches, switches * (sides**2 // 4), 2 * sides)

    def _steps(self, sides: Ints, apart: Ints) -> Ints:
        """Links of each dimension on a shortest path: the shorter way round."""
        return np.asarray(np.minimum(apart, sides - apart))

    def mesh(self, numbers: Ints) -> Torus:
        """The links of one network."""
        return Torus(*halves(numbers))

    def flow(self, numbers: Ints) -> Fraction:
        """The pair flow: the least of 2 k_i m_i / (Q floor(k_i^2 / 4))."""
        sides, links = halves(numbers)
        switches = volume(np.array(sides))
        return min(Fraction(2 * k * m, switches * (k * k // 4)) for k, m in zip(sides, links, strict=True))

    def hops(self, numbers: Ints, used: int) -> int:
        """Most switches on a shortest path: half way round every dimension that used switches differ in, and the first.

        Some two of the used switches are that far apart.
        """
        sides, _ = halves(numbers)
        return 1 + sum(side // 2 for number, side in enumerate(sides) if prod(sides[:number]) < used)

    def structure(self, numbers: Ints, servers: dict[str, int]) -> TorusStructure:
        """Sides and multiplicities as the design file has them."""
        sides, links = halves(numbers)
        return TorusStructure(family="torus", sides=sides, links_per_pair=links, **servers)

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """A lower bound of the mean distance in links, shape as of both broadcast.

        In each dimension it is floor(k^2 / 4) / k >= (k - 1/3) / 4, least where sides are equal.
        """
        means = [(dimensions * switches ** (1 / dimensions) - dimensions / 3) / 4 for dimensions in (2, 3)]
        return np.asarray(np.minimum(*means) + 0.0 * ports)

    def most_switches(self, most_ports: int) -> int:
        """Upper bound of the switches of any torus: those of the largest cube, for which two ports a dimension are
        enough.
        """
        return int(LONGEST_SIDE**3) if most_ports >= 6 else int(LONGEST_SIDE**2) if most_ports >= 4 else 0
