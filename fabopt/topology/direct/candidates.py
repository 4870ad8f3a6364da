"""From the search's arrays to a candidate of a direct family: exact quantities, and the open choices of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import DeviceRole
from fabopt.topology.batch import AnyBatch, Batch
from fabopt.topology.candidate import Candidate, Choice, Option, RowShare, all_choices, row_share, undominated
from fabopt.topology.clos.attached import CagesOfPorts, in_own_cages
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.link_kinds import kind_choices, server_leaf
from fabopt.topology.clos.network import clos_of
from fabopt.topology.clos.shape import Parts
from fabopt.topology.design import NetworkDesign
from fabopt.topology.direct.design import DirectDesign
from fabopt.topology.direct.free_ports import cages_for_servers, with_free_ports
from fabopt.topology.direct.network import DirectNetwork
from fabopt.topology.direct.networks import DirectNetworks, DirectTopology, run_of
from fabopt.topology.direct.shapes import SwitchedShape
from fabopt.topology.evenness import EVEN, Evenness, evenness_of
from fabopt.topology.link_parts import Costs, Floats, Quantities
from fabopt.units import Number, ceil_of


def equal_joins(
    problem: Problem, fabric: FabricProblem, port: PortType, scope: str, protocol: str, all_: bool = False
) -> tuple[Assembly, ...]:
    """Assemblies between two equal cages of switches: the same part at both ends, as a cage has links of either end."""
    joins = joins_of(problem, fabric, run_of(scope), port, port, protocol, all_)
    return tuple(join for join in joins if join.near is join.far and join.mode in (Mode.LINK, Mode.PAIR))


@dataclass(frozen=True, eq=False)
class DirectBatch(Batch[Parts, SwitchedShape[DirectNetworks]]):
    """Networks of equal switches, joined as ``topology`` says."""

    topology: DirectTopology

    @property
    def family(self) -> str:
        """Name of the family."""
        return self.topology.name

    def network(self, index: int) -> DirectNetwork:
        """The network of one candidate."""
        shape = self.shape.row(index)
        return DirectNetwork(self.topology, shape.net, clos_of(self.fabric, self.parts, shape.servers))

    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate; empty if its servers' links cannot be made beside the others, or its attachments have too few
        free ports.
        """
        network = with_free_ports(problem, self.fabric, self.network(index))
        if network is None:
            return ()
        switches = [(network.parts.leaf, network.nic.planes * network.switches)]
        links, order = _links(problem, self.fabric, network, prune), _tie_order(network)
        evenness = evenness_of(problem, network.shape)
        return assembled(problem, self, index, DirectDesign(network), switches, links, order, evenness)

    def switch_counts(self) -> dict[Item, Number]:
        """Number of switches by item, with servers or without."""
        return {self.parts.leaf.item: self.parts.nic.planes * self.shape.net.switches}


def assembled(
    problem: Problem,
    batch: AnyBatch,
    index: int,
    design: NetworkDesign,
    switches: Sequence[tuple[SwitchType, int]],
    links: Iterable[Sequence[Choice] | None],
    order: tuple[Any, ...],
    evenness: Evenness = EVEN,
) -> tuple[Candidate, ...]:
    """A candidate of a batch of networks whose devices are joined to each other, with its NICs.

    Empty if some of its links cannot be made. ``switches``: number of each type, over all planes.
    """
    choices, nic, slots = all_choices(links), design.nic, 0
    if choices is None:
        return ()
    devices: Counter[tuple[int, Item]] = Counter()
    for switch, number in switches:
        devices[0, switch.item] += number
    if nic.item is not None:
        slots = nic.nics_per_server
        devices[0, nic.item] = problem.servers * slots
    named = batch.fabric.name, batch.family
    candidate = Candidate(*named, design, devices, choices, order=order, nic_slots=slots)
    return (replace(candidate, evenness=evenness),)


def _links(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, prune: bool
) -> Iterator[Sequence[Choice] | None]:
    yield kind_choices(problem, network.servers, server_leaf(network.servers, cages_for_servers(network)), prune)
    for demand, places in zip(fabric.attachments, network.free, strict=False):
        yield in_own_cages(
            problem, fabric, demand, CagesOfPorts("leaf", network.parts.leaf_down, network.protocol, places), prune
        )
    for column, scope in enumerate(network.scopes):
        yield _between(problem, fabric, network, column, scope, prune)


def _between(
    problem: Problem, fabric: FabricProblem, network: DirectNetwork, column: int, scope: str, prune: bool
) -> Sequence[Choice] | None:
    """A choice of one assembly for all links of a scope."""
    up, planes = network.parts.leaf_up, network.parts.nic.planes
    assert up is not None
    together = int(network.net.together[0, column])
    joins = equal_joins(problem, fabric, up.port, scope, network.parts.protocol)
    return whole_choice(
        [join for join in joins if fills(join, together)],
        ("leaf", scope),
        planes * int(network.net.links[0, column]),
        planes * int(network.net.cages(up.lane.ports)[0, column]),
        prune,
    )


def whole_choice(
    joins: Sequence[Assembly], of: tuple[DeviceRole, str], links: int, cages: int, prune: bool
) -> Sequence[Choice] | None:
    """A choice for all links of a role and scope between equal cages, each option of one assembly.

    None without an assembly.
    """
    options = [Option((_row(join, of, links, cages),)) for join in joins]
    if not options:
        return None
    kept = undominated(options) if prune else tuple(options)
    return (Choice((of[1], "whole", tuple(option.rows for option in kept)), 1, kept),)


def fills(assembly: Assembly, together: int) -> bool:
    """Whether ``together`` links of a pair fill cables of an assembly."""
    return together % cable_links(assembly) == 0


def cable_links(assembly: Assembly) -> int:
    """Links that one cable carries."""
    return assembly.ports_per_cable if assembly.mode is Mode.PAIR else 1


def least_of_kind(
    costs: Costs, joins: Sequence[Assembly], net: DirectNetworks, column: int, ports_per_cage: int, planes: int = 1
) -> Floats:
    """Least cost of the links of a kind, each metric by itself: shape (metrics, networks).

    Infinite where no assembly joins them, or their number does not fill cables.
    """
    cages, links = planes * net.cages(ports_per_cage)[:, column], planes * net.links[:, column]
    used, together = links > 0, net.together[:, column]
    least = np.where(used, np.inf, 0.0)[np.newaxis, :].repeat(len(costs.table), axis=0)
    for assembly in joins:
        per_cable = cable_links(assembly)
        cost = np.multiply.outer(costs.of(assembly.near), cages)
        cost = cost + np.multiply.outer(costs.of(assembly.cable), links / per_cable)
        least = np.where(used & (together % per_cable == 0), np.minimum(least, cost), least)
    return np.asarray(least)


def _row(assembly: Assembly, of: tuple[DeviceRole, str], links: int, cages: int) -> RowShare:
    """A row of links between equal cages.

    Cages have links of either end, so half of them (rounded up) are counted at one end, the others at the other.
    """
    near, (role, scope) = int(ceil_of(cages, 2)), of
    row = row_share((role, role), assembly, links, Quantities(near, links // cable_links(assembly), cages - near, True))
    return row._replace(scope=scope)


def _tie_order(network: DirectNetwork) -> tuple[Any, ...]:
    """Rank among candidates that are equal in all sums, the smallest first (docs/formulation/search.md)."""
    parts, shape = network.parts, network.shape
    up = parts.leaf_up
    assert up is not None
    return (
        len(network.scopes), *(int(number) for number in network.numbers),
        -int(shape.g), int(shape.k),
        parts.nic.nic_id, parts.leaf.id,
        parts.nic.split, parts.leaf_down.split, up.split,
        parts.nic.group, parts.leaf_down.group, up.group,
        parts.nic.nics_per_server, parts.nic.ports_per_nic, parts.nic.planes,
    )  # fmt: skip
