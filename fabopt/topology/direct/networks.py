"""The numbers of many direct networks, as arrays, and the protocol of a topology.

*Pair flow*: the most that every ordered pair of switches can have at the same time over the family's minimal routes, in
units of one link's speed. It is the least, over the kinds of links, of links of a pair over pairs that load one of
them. From it follow figures that hold however servers fill the switches, at most d ports on any: uniform all-to-all
traffic of ``flow * (E - 1) / d^2`` a port, for a pair of switches has at most d^2 of the E (E - 1) pairs of ports; and
a bisection of ``flow * Q / (2 d)`` a port, for between x switches and the other Q - x run at least ``flow * x * (Q -
x)``, and x switches hold at most ``d x`` ports. Source: Dally and Towles, Principles and Practices of Interconnection
Networks, 2004, sections 3.3 and 25.2 (channel load); Leighton and Rao, "Multicommodity max-flow min-cut theorems", J.
ACM 1999 (the easy direction). docs/formulation/direct-networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabopt.network.direct_links import Mesh
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.structure import AnyStructure
from fabopt.topology.clos.shape import Parts
from fabopt.units import Number, ceil_of

# -- loads: rates that ports of servers demand, and the links of a pair that these take -------------------------------


Ints = NDArray[np.int64]
# Products below are computed in 64 bits, others exactly however large; more links than any switch has ports.
_SAFE = 2**62
_MOST_LINKS = 2**20


@dataclass(frozen=True)
class Load:
    """Demand on a network of switches.

    ``ports`` d on the busiest switch, ``endpoints`` E of a plane; the least ``bisection`` and ``alltoall`` of a port,
    in units of one link's speed. ``most_hops``: most switches on a shortest path, None: any.
    """

    ports: int
    endpoints: int
    bisection: Fraction
    alltoall: Fraction
    most_hops: int | None = None

    def links(self, switches: Number, number: Number, of: Number) -> Ints:
        """Fewest links of a pair (at least 1) where one link would be loaded by ``number / of`` pairs of switches.

        Shape as of all three numbers broadcast.
        """
        cut, spread = self.bisection, self.alltoall
        largest = int(np.max(number, initial=1)) * max(2 * self.ports * cut.numerator, self.ports**2 * spread.numerator)
        divisor = int(np.max(of, initial=1)) * int(np.max(switches, initial=1)) * max(1, self.endpoints)
        if max(largest, divisor * max(cut.denominator, spread.denominator)) >= _SAFE:
            switches, number, of = (np.asarray(column).astype(object) for column in (switches, number, of))
        for_cut = ceil_of(2 * self.ports * cut.numerator * number, cut.denominator * switches * of)
        for_spread = ceil_of(
            self.ports**2 * spread.numerator * number, spread.denominator * max(1, self.endpoints - 1) * of
        )
        fewest = np.maximum(np.maximum(for_cut, for_spread), 1)
        return np.asarray(np.minimum(fewest, _MOST_LINKS).astype(np.int64))


class Rates(NamedTuple):
    """Least rates of a port, in Mb/s: over a cut into halves, and of uniform all-to-all traffic."""

    cut: Fraction
    spread: Fraction


def rates_of(problem: Problem, fabric: FabricProblem, nic: NicOption) -> Rates:
    """Least rates of a port of servers with a NIC.

    Rule ``flow_carries_demand``: bisection and all-to-all of a GPU are to be its injection over the most
    oversubscription at the leaves, or more if the case or a front asks for more.
    """
    per_gpu, figure_demands = nic.injection / fabric.ratios.leaf, fabric.figure_demands
    gpus_per_port = Fraction(max(1, problem.server.gpus), nic.ports_per_server)
    cut, spread = per_gpu, per_gpu
    if figure_demands is not None:
        cut, spread = max(cut, figure_demands.bisection), max(spread, figure_demands.alltoall)
    return Rates(cut * gpus_per_port, spread * gpus_per_port)


def load_of(problem: Problem, fabric: FabricProblem, parts: Parts, ports: int) -> Load:
    """Demand on a network with ``ports`` server ports on its busiest switch."""
    speed, wanted = parts.uplink.lane.port_mbps, rates_of(problem, fabric, parts.nic)
    endpoints = problem.servers * parts.nic.ports_per_plane
    return Load(ports, endpoints, wanted.cut / speed, wanted.spread / speed, fabric.shapes.most_hops)


# -- networks ---------------------------------------------------------------------------------------------------------


Floats = NDArray[np.float64]
# Far beyond the diameter of anything that is built; and what floating-point sums may be off.
_MOST_LEVELS = 64
_MARGIN = 1e-9


@dataclass(frozen=True)
class DirectNetworks:
    """Networks, one a row. ``numbers``: the family's own, shape (networks, numbers).

    ``switches``: those of one plane that can have servers, shape (networks,). Other arrays have a column for each kind
    of links, shape (networks, kinds): ``ports`` of a switch, ``busier`` switches that have one more, ``together``:
    links of a joined pair of switches, as far as a cable may carry several of them.
    """

    numbers: Ints
    switches: Ints
    ports: Ints
    busier: Ints
    together: Ints

    def __len__(self) -> int:
        """Number of networks."""
        return len(self.switches)

    def take(self, index: Any) -> DirectNetworks:
        """Some of the networks, by their places."""
        return DirectNetworks(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    @property
    def most_ports(self) -> Ints:
        """Ports of each kind on the busiest switch, shape (networks, kinds)."""
        return self.ports + (self.busier > 0)

    @property
    def links(self) -> Ints:
        """Links of each kind in one plane, shape (networks, kinds)."""
        return (self.ports * self.switches[:, np.newaxis] + self.busier) // 2

    def cages(self, ports_per_cage: int) -> Ints:
        """Cages that the links of each kind occupy over all switches of a plane, shape (networks, kinds)."""
        few = self.switches[:, np.newaxis] - self.busier
        low, high = ceil_of(self.ports, ports_per_cage), ceil_of(self.ports + 1, ports_per_cage)
        return np.asarray(few * low + self.busier * high)


def merged(parts: list[DirectNetworks], most_ports: int) -> DirectNetworks:
    """The distinct networks of all parts whose switches have at most ``most_ports`` ports for each other."""
    names = DirectNetworks.__dataclass_fields__
    net = DirectNetworks(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    net = net.take(np.flatnonzero(net.most_ports.sum(axis=1) <= most_ports))
    return net.take(np.unique(net.numbers, axis=0, return_index=True)[1])


class DirectTopology(Protocol):
    """How equal devices are joined: hyperx, torus or dragonfly.

    Arrays ``numbers`` hold those of one network, in the topology's own order, shape (numbers,).
    """

    @property
    def name(self) -> str:
        """The topology as in the case and the design file."""

    @property
    def slack_ports(self) -> int:
        """Upper bound, not reached, of the busiest switch's links above the mean of all switches."""

    def nets(self, leaves: int, load: Load, most_ports: int, ports_per_cable: tuple[int, ...]) -> DirectNetworks:
        """Networks of at least ``leaves`` switches that carry a load, with at most ``most_ports`` ports a switch for
        each other.

        Rule ``switches_form_network``: they are networks of the family, and every server has a switch.
        ``ports_per_cable``: links of a pair that cables on sale carry, beside 1.
        """

    def thicker(self, leaves: int, load: Load, most_ports: int) -> Iterator[DirectNetworks]:
        """Networks as of ``nets``, with all numbers of links that fit, also more than the load asks for.

        Networks that are equal but for these numbers come in one batch, those of any load.
        """

    def scopes(self, numbers: Ints) -> tuple[str, ...]:
        """The kinds of links of one network, in the order of columns."""

    def mesh(self, numbers: Ints) -> Mesh:
        """The links of one network."""

    def flow(self, numbers: Ints) -> Fraction:
        """The pair flow of one network."""

    def hops(self, numbers: Ints, used: int) -> int:
        """Switches on the longest shortest path between servers, which are on the first ``used`` switches."""

    def steps(self, numbers: Ints, sources: Ints, targets: Ints) -> Ints | None:
        """Links of each kind, shape (kinds,), on shortest paths, summed over all pairs of switches.

        ``sources`` and ``targets`` have shape (pairs,). None where paths of one length differ in their kinds of links.
        """

    def structure(self, numbers: Ints, servers: dict[str, int]) -> AnyStructure:
        """The network as the design file has it."""

    def mean_distance(self, switches: Ints, ports: Ints) -> Floats:
        """A lower bound of the mean distance in links between switches, each with ``ports`` for others.

        Shape as of both broadcast.
        """

    def most_switches(self, most_ports: int) -> int:
        """An upper bound of the switches of a network whose switches have ``most_ports`` for each other."""


def moore_mean(switches: Ints, ports: Ints) -> Floats:
    """The least mean distance in links over all pairs of ``switches`` switches with ``ports`` ports each, a switch to
    itself included.

    p switches are a link away at the most, p (p - 1) two links, and so on (Moore's bound). Shape as of both broadcast.
    """
    left, reach = np.broadcast_arrays(switches - 1.0, ports.astype(float))
    left, total = left.copy(), np.zeros(left.shape)
    for distance in range(1, _MOST_LEVELS):
        step = np.minimum(left, reach)
        total += distance * step
        left -= step
        reach = reach * np.maximum(ports - 1.0, 0.0)
        if not left.any():
            break
    return np.asarray((total + _MOST_LEVELS * left) / switches)


def fewest_ports(topology: DirectTopology, ports: Ints, leaves: Ints, bisection: Fraction, most: int) -> Ints:
    """Fewest ports for others of the busiest switch, with ``ports`` of servers; ``most + 1``: too many.

    ``ports``, ``leaves`` and the result have shape (size,). All traffic takes ``2 d bisection`` times the mean distance
    in links of every switch. More switches are no nearer, and more ports make no distance longer, so that the fewest
    are found by bisection.
    """
    low, high = np.ones_like(ports), np.full_like(ports, most + 1)
    while (low < high).any():
        middle = (low + high) // 2
        needed = 2 * float(bisection) * ports * topology.mean_distance(leaves, middle) * (1 - _MARGIN)
        enough = middle >= needed
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return np.asarray(low)


def run_of(scope: str) -> str:
    """Key of the run of a scope: ``spine-core`` for global links, ``leaf-spine`` for all others."""
    return "spine-core" if scope == "global" else "leaf-spine"


def rounded_up(fewest: Ints, ports_per_cable: tuple[int, ...]) -> list[Ints]:
    """Candidate numbers of links of a pair: the fewest, and the next multiples that fill cables of several links.

    All have the shape of ``fewest``.
    """
    return [fewest, *(ceil_of(fewest, ports) * ports for ports in ports_per_cable)]
