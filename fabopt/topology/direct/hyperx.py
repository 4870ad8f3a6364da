"""HyperX: switches in a lattice of one to three dimensions, any two that differ in one coordinate joined by m_i links.

With one dimension it is a full mesh, with equal sides and single links a flattened butterfly. Routes are dimension
by dimension, so a link of dimension i is loaded by Q / S_i ordered pairs of switches; as every pair that differs in
coordinate i needs a link of that dimension, no routing loads them less. Source: Ahn et al., "HyperX: topology, routing,
and packaging of efficient large-scale networks", SC 2009, sections 3.1 to 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fabopt.network.direct_links import HyperX
from fabopt.schema.structure import HyperxStructure
from fabopt.topology.direct.lattices import (
    MOST_DIMENSIONS,
    halves,
    lattice_net,
    multiplicities,
    smallest_sides,
    thickened,
    volume,
)
from fabopt.topology.direct.loads import Ints, Load
from fabopt.topology.direct.networks import DirectNetworks, Floats, merged, moore_mean


class HyperxTopology:
    """Sides S_i >= 2 and multiplicities m_i; numbers are the sides, then the multiplicities."""

    name = "hyperx"
    slack_ports = 0

    def nets(self, leaves: int, load: Load, most_ports: int, ports_per_cable: tuple[int, ...]) -> DirectNetworks:
        """Lattices of no more switches than needed, their pairs joined as the load asks, or filling cables."""
        parts = []
        for dimensions in range(1, MOST_DIMENSIONS + 1):
            sides = smallest_sides(leaves, dimensions, 2, most_ports + 1)
            sides = sides[(sides - 1).sum(axis=1) <= most_ports]
            switches = sides.prod(axis=1)
            fewest = load.links(switches[:, np.newaxis], switches[:, np.newaxis], sides)
            for links in multiplicities(fewest, ports_per_cable):
                parts.append(_net(sides, links, switches))
        return merged(parts, most_ports)

    def thicker(self, leaves: int, load: Load, most_ports: int) -> Iterator[DirectNetworks]:
        """Every lattice with all numbers of links that fit."""
        for dimensions in range(1, MOST_DIMENSIONS + 1):
            sides = smallest_sides(leaves, dimensions, 2, most_ports + 1)
            sides = sides[(sides - 1).sum(axis=1) <= most_ports]
            switches = sides.prod(axis=1)
            fewest = load.links(switches[:, np.newaxis], switches[:, np.newaxis], sides)
            yield from thickened(sides, fewest, sides - 1, most_ports)

    def scopes(self, numbers: Ints) -> tuple[str, ...]:
        """One for each dimension."""
        return self.mesh(numbers).scopes

    def mesh(self, numbers: Ints) -> HyperX:
        """One network."""
        return HyperX(*halves(numbers))

    def flow(self, numbers: Ints) -> Fraction:
        """The least of m_i S_i / Q."""
        sides, links = halves(numbers)
        return min(Fraction(m * side, volume(np.array(sides))) for side, m in zip(sides, links, strict=True))

    def hops(self, numbers: Ints, used: int) -> int:
        """A switch for every dimension, and the first: so far apart are two of the used ones."""
        return len(halves(numbers)[0]) + 1

    def structure(self, numbers: Ints, servers: dict[str, int]) -> HyperxStructure:
        """Sides and multiplicities."""
        sides, links = halves(numbers)
        return HyperxStructure(family="hyperx", sides=sides, links_per_pair=links, **servers)

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """That of any graph."""
        return moore_mean(switches, ports)

    def most_switches(self, most_ports: int) -> int:
        """The largest cube."""
        return int((most_ports / MOST_DIMENSIONS + 1) ** MOST_DIMENSIONS)


def _net(sides: Ints, links: Ints, switches: Ints) -> DirectNetworks:
    return lattice_net(sides, links, switches, (sides - 1) * links)
