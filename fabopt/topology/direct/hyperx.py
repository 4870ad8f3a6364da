"""HyperX: switches in a lattice of one to three dimensions, any two that differ in one coordinate joined by m_i links.

With one dimension it is a full mesh, with equal sides and single links a flattened butterfly. Routes are dimension
by dimension, so a link of dimension i is loaded by Q / S_i ordered pairs of switches; as every pair that differs in
coordinate i needs a link of that dimension, no routing loads them less. Source: Ahn et al., "HyperX: topology, routing,
and packaging of efficient large-scale networks", SC 2009, sections 3.1 to 3.3.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.network.direct_links import HyperX
from fabopt.schema.structure import HyperxStructure
from fabopt.topology.direct.lattices import MOST_DIMENSIONS, LatticeTopology, halves, smallest_sides, volume
from fabopt.topology.direct.networks import Floats, Ints, Load, moore_mean


class HyperxTopology(LatticeTopology):
    """HyperX networks of sides S_i >= 2 and multiplicities m_i.

    Arrays ``numbers`` of a network have shape (6,): sides, then multiplicities.
    """

    name = "hyperx"
    dimensions = range(1, MOST_DIMENSIONS + 1)

    def _sides(self, leaves: int, dimensions: int, most_ports: int) -> Ints:
        sides = smallest_sides(leaves, dimensions, 2, most_ports + 1)
        return np.asarray(sides[(sides - 1).sum(axis=1) <= most_ports])

    def _ports(self, sides: Ints) -> Ints:
        """Ports of a switch: one to every other switch of the line."""
        return sides - 1

    def _fewest(self, sides: Ints, load: Load) -> Ints:
        switches = sides.prod(axis=1)[:, np.newaxis]
        return load.links(switches, switches, sides)

    def _steps(self, sides: Ints, apart: Ints) -> Ints:
        return np.asarray(apart > 0).astype(np.int64)

    def mesh(self, numbers: Ints) -> HyperX:
        """The links of one network."""
        return HyperX(*halves(numbers))

    def flow(self, numbers: Ints) -> Fraction:
        """The pair flow: the least of m_i S_i / Q."""
        sides, links = halves(numbers)
        return min(Fraction(m * side, volume(np.array(sides))) for side, m in zip(sides, links, strict=True))

    def hops(self, numbers: Ints, used: int) -> int:
        """Most switches on a shortest path: one for every dimension, and the first.

        Some two of the used switches are that far apart.
        """
        return len(halves(numbers)[0]) + 1

    def structure(self, numbers: Ints, servers: dict[str, int]) -> HyperxStructure:
        """Sides and multiplicities as the design file has them."""
        sides, links = halves(numbers)
        return HyperxStructure(family="hyperx", sides=sides, links_per_pair=links, **servers)

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """A lower bound of the mean distance in links, that of any graph; shape as of both broadcast."""
        return moore_mean(switches, ports)

    def most_switches(self, most_ports: int) -> int:
        """Upper bound of the switches of any HyperX: those of the largest cube."""
        return int((most_ports / MOST_DIMENSIONS + 1) ** MOST_DIMENSIONS)
