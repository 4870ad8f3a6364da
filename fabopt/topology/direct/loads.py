"""Loads of a direct network: the rates that ports of servers demand, and the links of a pair that these take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import Parts
from fabopt.units import Number, ceil_of

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
    per_gpu, figure_demands = nic.injection / fabric.oversubscription_leaf, fabric.figure_demands
    gpus_per_port = Fraction(max(1, problem.server.gpus), nic.ports_per_server)
    cut, spread = per_gpu, per_gpu
    if figure_demands is not None:
        cut, spread = max(cut, figure_demands.bisection), max(spread, figure_demands.alltoall)
    return Rates(cut * gpus_per_port, spread * gpus_per_port)


def load_of(problem: Problem, fabric: FabricProblem, parts: Parts, ports: int) -> Load:
    """Demand on a network with ``ports`` server ports on its busiest switch."""
    assert parts.leaf_up is not None
    speed, wanted = parts.leaf_up.lane.port_mbps, rates_of(problem, fabric, parts.nic)
    endpoints = problem.servers * parts.nic.ports_per_plane
    return Load(ports, endpoints, wanted.cut / speed, wanted.spread / speed, fabric.most_hops)
