"""HyperX and torus: lattices of devices in up to three dimensions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np

from fabopt.network.direct_links import HyperX, Lattice, Torus
from fabopt.schema.structure import HyperxStructure, TorusStructure
from fabopt.topology.direct.networks import DirectNetworks, Floats, Ints, Load, merged, moore_mean, rounded_up

MOST_DIMENSIONS = 3
# No side of a torus is longer; of a HyperX ports forbid it first.
LONGEST_SIDE = 1024


@lru_cache(maxsize=4096)
def smallest_sides(switches: int, dimensions: int, shortest: int, longest: int) -> Ints:
    """Rising sides of the lattices with at least ``switches`` switches that have fewer with any shorter side.

    Shape (lattices, dimensions). The longest side follows from the others; as a slice across it is the smallest, no
    other side can be shorter either.
    """
    if longest**dimensions < switches:
        return np.empty((0, dimensions), dtype=np.int64)
    rows = np.empty((1, 0), dtype=np.int64)
    for dimension in range(dimensions - 1):
        lowest = rows[:, -1] if dimension else np.full(len(rows), shortest)
        before = rows.prod(axis=1)
        # the sides that follow are no shorter
        highest = np.minimum(longest, _root(-(-switches // before) + 0, dimensions - dimension))
        counts = np.maximum(0, highest - lowest + 1)
        start = np.repeat(np.cumsum(counts) - counts, counts)
        side = np.arange(counts.sum()) - start + np.repeat(lowest, counts)
        rows = np.column_stack([np.repeat(rows, counts, axis=0), side])
    last = -(-switches // rows.prod(axis=1))
    lowest = np.maximum(rows[:, -1] if dimensions > 1 else shortest, shortest)
    rows = np.column_stack([rows, last])
    return np.asarray(rows[(last >= lowest) & (last <= longest)])


def _root(number: Ints, degree: int) -> Ints:
    """The least integer whose power of ``degree`` is at least ``number``: no side above it is the shortest one."""
    root = np.ceil(number ** (1 / degree) - 1e-9).astype(np.int64)
    return np.asarray(root + (root**degree < number))


def multiplicities(fewest: Ints, ports_per_cable: tuple[int, ...]) -> list[Ints]:
    """Links of a pair in every dimension that may be best, shape (lattices, dimensions) each."""
    choices = rounded_up(fewest, ports_per_cable)
    columns = fewest.shape[1]
    return [
        np.column_stack([choices[pick][:, at] for at, pick in enumerate(picks)])
        for picks in product(range(len(choices)), repeat=columns)
    ]


def volume(sides: Ints) -> int:
    """Number of switches of one lattice; ``sides``: shape (dimensions,)."""
    return prod(int(side) for side in sides)


def lattice_net(sides: Ints, links: Ints, switches: Ints, ports: Ints) -> DirectNetworks:
    """Lattices as networks: ``sides``, ``links`` of a pair and ``ports`` of a switch have shape (lattices, dimensions).

    ``switches`` has shape (lattices,). Columns of dimensions that a lattice does not have are 0 in the result.
    """
    rows, dimensions = sides.shape
    numbers = np.zeros((rows, 2 * MOST_DIMENSIONS), dtype=np.int64)
    numbers[:, :dimensions] = sides
    numbers[:, MOST_DIMENSIONS : MOST_DIMENSIONS + dimensions] = links
    used = np.zeros((rows, MOST_DIMENSIONS), dtype=np.int64)
    used[:, :dimensions] = ports
    return DirectNetworks(numbers, switches, used, np.zeros_like(used), numbers[:, MOST_DIMENSIONS:])


def halves(numbers: Ints) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sides and multiplicities of the dimensions that one network has; ``numbers``: shape (6,)."""
    row = [int(number) for number in numbers]
    dimensions = sum(1 for side in row[:MOST_DIMENSIONS] if side)
    return tuple(row[:dimensions]), tuple(row[MOST_DIMENSIONS : MOST_DIMENSIONS + dimensions])


class LatticeTopology(ABC):
    """Lattices whose lines are joined alike.

    Arrays ``numbers`` of a network are the sides, then the links of a pair in each dimension, 0 in dimensions that it
    does not have: shape (6,).
    """

    dimensions: ClassVar[range]
    slack_ports = 0

    @abstractmethod
    def mesh(self, numbers: Ints) -> Lattice:
        """The lattice of one network, link by link."""

    @abstractmethod
    def _sides(self, leaves: int, dimensions: int, most_ports: int) -> Ints:
        """Sides of lattices without needless switches, shape (lattices, dimensions)."""

    @abstractmethod
    def _ports(self, sides: Ints) -> Ints:
        """Ports of a switch in each dimension, if a pair has one link."""

    @abstractmethod
    def _fewest(self, sides: Ints, load: Load) -> Ints:
        """Fewest links of a pair in each dimension that carry a load."""

    @abstractmethod
    def _steps(self, sides: Ints, apart: Ints) -> Ints:
        """Links of each dimension on a shortest path between switches ``apart`` in their coordinates, shape (pairs,
        dimensions).
        """

    def nets(self, leaves: int, load: Load, most_ports: int, ports_per_cable: tuple[int, ...]) -> DirectNetworks:
        """Lattices without needless switches, their links as many as the load asks, or filling cables."""
        parts = []
        for dimensions in self.dimensions:
            sides = self._sides(leaves, dimensions, most_ports)
            for links in multiplicities(self._fewest(sides, load), ports_per_cable):
                parts.append(lattice_net(sides, links, sides.prod(axis=1), links * self._ports(sides)))
        return merged(parts, most_ports)

    def thicker(self, leaves: int, load: Load, most_ports: int) -> Iterator[DirectNetworks]:
        """Networks with all numbers of links that fit, from the fewest on, one lattice after another."""
        for dimensions in self.dimensions:
            all_sides = self._sides(leaves, dimensions, most_ports)
            for sides, fewest, ports in zip(
                all_sides, self._fewest(all_sides, load), self._ports(all_sides), strict=True
            ):
                spare = most_ports - int((fewest * ports).sum())
                if spare >= 0:
                    yield _thickened(sides, fewest, ports, spare)

    def scopes(self, numbers: Ints) -> tuple[str, ...]:
        """The kinds of links: one for each dimension."""
        return self.mesh(numbers).scopes

    def steps(self, numbers: Ints, sources: Ints, targets: Ints) -> Ints:
        """Links of each dimension, shape (dimensions,), that shortest paths take, over all pairs of switches together.

        ``sources`` and ``targets`` have shape (pairs,).
        """
        mesh = self.mesh(numbers)
        apart = np.abs(mesh.coordinates[sources] - mesh.coordinates[targets])
        return np.asarray(self._steps(np.array(mesh.sides), apart).sum(axis=0))


def _thickened(sides: Ints, fewest: Ints, ports: Ints, spare: int) -> DirectNetworks:
    """A lattice with all numbers of links from the fewest on that ``spare`` more ports of a switch allow."""
    choices = (least + np.arange(spare // of_link + 1) for least, of_link in zip(fewest, ports, strict=True))
    links = np.stack(np.meshgrid(*choices)).reshape(len(sides), -1).T
    links = links[((links - fewest) * ports).sum(axis=1) <= spare]
    repeated = np.repeat(sides[np.newaxis, :], len(links), axis=0)
    return lattice_net(repeated, links, repeated.prod(axis=1), links * ports)


# -- HyperX -----------------------------------------------------------------------------------------------------------


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


# -- torus ------------------------------------------------------------------------------------------------------------


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
