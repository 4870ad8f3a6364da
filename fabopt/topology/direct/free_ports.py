"""Attachments on free ports of a direct network: whether there are enough free ports, and which switches they are on.

A switch has free ports beside those of its servers, the reserve, and links to others as the busiest switch has them.
Rule ``attachments_take_free_ports``. See docs/formulation/direct-networks.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabopt.network.free_ports import Guest, Hosts, dealt_to_free_ports, empty_cages, free_ports
from fabopt.parts.switches import cages_beside
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.free_ports import tiers_for
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.direct.loads import Ints
from fabopt.topology.direct.network import DirectNetwork
from fabopt.topology.direct.networks import DirectNetworks
from fabopt.units import ceil_div, ceil_of


def may_fit(
    problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, net: DirectNetworks, reserve: int
) -> NDArray[np.bool_]:
    """Networks that have the free ports that attachments ask for, shape (networks,); ``shape`` has one group size.

    ``reserve``: ports of every switch that are kept free.
    """
    fits = np.ones(len(net), dtype=np.bool_)
    if not fabric.on_free_ports:
        return fits
    if not all(tuple(tiers_for(problem, fabric, parts, demand)) for demand in fabric.on_free_ports):
        return ~fits
    cages, most, lanes = down_cages(parts, net), _down_ports(parts, net), parts.leaf_down.lane.ports
    with_servers, of_last = int(shape.leaves[0]), int(shape.rails)
    kinds = (
        (with_servers - of_last, int(shape.g[0] * shape.k)),
        (of_last, int(shape.last_group[0] * shape.k)),
        (net.switches - with_servers, 0),
    )
    free = sum(
        number * free_ports(empty_cages(cages, servers + reserve, lanes), most - servers - reserve, lanes)
        for number, servers in kinds
    )
    return np.asarray(parts.nic.planes * free >= sum(demand.ports for demand in fabric.on_free_ports))


def down_cages(parts: Parts, net: DirectNetworks) -> Ints:
    """Cages of a switch beside those of its links to others, shape (networks,)."""
    assert parts.leaf_up is not None
    between = ceil_of(net.most_ports, parts.leaf_up.lane.ports).sum(axis=1)
    return np.asarray(cages_beside(parts.leaf_down, parts.leaf_up, between))


def _down_ports(parts: Parts, net: DirectNetworks) -> Ints:
    return np.asarray(parts.leaf.max_ports - net.most_ports.sum(axis=1))


def with_free_ports(problem: Problem, fabric: FabricProblem, network: DirectNetwork) -> DirectNetwork | None:
    """A network with the switches of its attachments on free ports; None if there are too few."""
    if not fabric.on_free_ports:
        return network
    parts, lanes, used = network.parts, network.parts.leaf_down.lane.ports, _used(network)
    cages = empty_cages(int(down_cages(parts, network.net)[0]), used, lanes)
    ports = int(_down_ports(parts, network.net)[0]) - used
    hosts = Hosts(np.asarray(cages), np.asarray(ports), lanes, (0,) * len(used))
    guests = [
        Guest(demand.ports, dict.fromkeys(tiers_for(problem, fabric, parts, demand), 0))
        for demand in fabric.attachments
    ]
    places = dealt_to_free_ports(guests, {"leaf": hosts})
    return None if places is None else replace(network, free=tuple(places))


def _used(network: DirectNetwork) -> Ints:
    """Ports of every switch that servers occupy or that are kept free, plane by plane, shape (switches,)."""
    of_plane = np.bincount(network.rings().ravel(), minlength=network.switches)
    return np.tile(of_plane, network.nic.planes) + network.servers.reserved_ports


def cages_for_servers(network: DirectNetwork) -> int:
    """Cages of a switch that are left for the servers of a full one beside those of attachments.

    A switch with fewer servers has as many cages more for attachments.
    """
    lanes, used = network.parts.leaf_down.lane.ports, _used(network)
    own = np.asarray(ceil_of(used, lanes))
    attached = np.zeros_like(own)
    for places in network.free:
        for switch, ports in Counter(number for _, number in places).items():
            attached[switch] += ceil_div(ports, lanes)
    has_servers = used > network.servers.reserved_ports
    beside = np.where(has_servers, attached - (own.max() - own), 0)
    return int(down_cages(network.parts, network.net)[0]) - max(0, int(beside.max()))
