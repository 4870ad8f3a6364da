"""Rule ``subnets_are_managed``: the switches of a candidate that run a subnet manager, in every variant.

A subnet is a network of switches that shares no link with others: a plane, a rail that is a network of its own, a
single switch where there is one tier. Switches of a tier may be exchanged for their managed twins, in all subnets
alike; every such exchange is a candidate, and its cost is part of the objective.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, product
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.problem.attachments import INFINIBAND, SubnetManagers, SubnetThere, Twin, can_manage
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.subnet_manager import ON_A_SERVER, SubnetManagerUse, TwinUse, words_of
from fabopt.topology.candidate import Candidate
from fabopt.topology.design import FilePart, NetworkDesign, Tier

# Of one subnet: switches of each tier that are exchanged, in the order of the tiers.
Exchange = tuple[int, ...]


class Subnets(NamedTuple):
    """The subnets of a design, all alike. ``nodes``: the most ports of NICs and attachments in one of them; ``hosts``:
    ports of hosts of management, where there is one subnet; ``there``: of one that a pod joins the hosts and switches
    below its top in service that manage it.
    """

    number: int
    nodes: int
    hosts: int
    there: int


class SwitchesOfTier(NamedTuple):
    """The switches of a tier in one subnet: whether they manage it, and the managed twin that could take their place.

    ``by_stage``: number of switches at each stage.
    """

    tier: Tier
    by_stage: tuple[int, ...]
    manages: bool
    twin: Twin | None


def with_managers(fabric: FabricProblem, servers: int, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates of a fabric with their subnet managers, once for each variant; none where no switch of it can manage a
    subnet and others with the same ports could.
    """
    managers = fabric.rules.binding_managers
    if managers is None:
        return tuple(candidates)
    return tuple(managed for candidate in candidates for managed in _managed(fabric, managers, servers, candidate))


def _managed(
    fabric: FabricProblem, managers: SubnetManagers, servers: int, candidate: Candidate
) -> Iterator[Candidate]:
    part = candidate.design.file_part()
    if part.protocol != INFINIBAND or not part.tiers:
        yield candidate
        return
    subnets = subnets_of(part, fabric, servers)
    places = list(_places(part, managers, candidate.design, subnets))
    given = subnets.hosts + subnets.there
    can_be = given or any(place.manages or place.twin is not None for place in places)
    speed_mbps = part.nic.port.lane.port_mbps
    if not (can_be or managers.is_asked_for or is_manageable(fabric, managers, subnets.nodes, speed_mbps)):
        yield candidate
        return
    met: set[frozenset[tuple[tuple[int, Item], int]]] = set()
    for rank, exchange in enumerate(_exchanges(places, given, managers.fewest)):
        managed = _exchanged(candidate, places, exchange, subnets, rank)
        uses = frozenset(managed.devices.items())
        if uses not in met:
            met.add(uses)
            yield managed


def is_manageable(fabric: FabricProblem, managers: SubnetManagers, nodes: int, speed_mbps: int) -> bool:
    """Whether any leaf switch with ports of the NICs' speed manages ``nodes`` nodes, or has a twin that does."""
    leaves = (
        leaf.product
        for leaf in fabric.switches[INFINIBAND]["leaf"]
        if any(use.lane.port_mbps == speed_mbps for use in leaf.uses)
    )
    return any(
        can_manage(leaf, nodes) or (leaf.id in managers.twins and can_manage(managers.twins[leaf.id].product, nodes))
        for leaf in leaves
    )


def may_be_managed(
    fabric: FabricProblem, servers: int, protocol: str, nic: NicOption, switches: Sequence[SwitchType]
) -> bool:
    """Whether networks of such switches, joined in every plane, can keep the rule where the case asks for it.

    So a space without a manager is empty at once, and not only after every size of it has been looked at.
    """
    managers = fabric.rules.binding_managers
    if managers is None or not managers.is_asked_for or protocol != INFINIBAND:
        return True
    switches_of_plane = 2 if fabric.leaf_pairs.may_be_apart else 1  # that no link may join
    there = managers.there or SubnetThere()
    nodes = (
        servers * nic.ports_per_server // (nic.planes * switches_of_plane)
        + there.nodes
        + sum(demand.ports for demand in fabric.attachments)
    )
    twins = [managers.twins[switch.id].product for switch in switches if switch.id in managers.twins]
    given = there.managers(nodes) or any(demand.manages for demand in fabric.attachments)
    return bool(given) or any(
        can_manage(product, nodes) for product in (*(switch.product for switch in switches), *twins)
    )


def subnets_of(part: FilePart, fabric: FabricProblem, servers: int) -> Subnets:
    """The subnets of a design; attachments count in every one of them."""
    planes, leaves = part.nic.planes, part.tiers[0].num_switches
    alone = all("server" in (link.near, link.far) or link.near == "attachment" for link in part.links)
    number = leaves if alone else planes
    hosts = sum(demand.ports for demand in fabric.attachments if demand.manages) if number == 1 else 0
    attached = sum(demand.ports for demand in fabric.attachments)
    there = SubnetThere() if fabric.rules.managers is None else fabric.rules.managers.there or SubnetThere()
    nodes = servers * part.nic.ports_per_server // number + attached + there.nodes
    return Subnets(number, nodes, hosts, there.managers(nodes))


def _places(
    part: FilePart, managers: SubnetManagers, design: NetworkDesign, subnets: Subnets
) -> Iterator[SwitchesOfTier]:
    for tier in part.tiers:
        by_stage = tuple(int(count) // subnets.number for count in accumulate(design.switches_added(tier.role)))
        manages = can_manage(tier.switch.product, subnets.nodes)
        twin = None if manages else managers.twins.get(tier.switch.id)
        is_there = managers.there is not None and tier.role == managers.there.role
        usable = twin if twin is not None and not is_there and can_manage(twin.product, subnets.nodes) else None
        yield SwitchesOfTier(tier, by_stage, manages, usable)


def _exchanges(places: Sequence[SwitchesOfTier], given: int, fewest: int) -> Iterator[Exchange]:
    """Every way to have as many managers as a subnet can have, ``fewest`` at the most, one of them from the start; none
    where it can have no manager. ``given``: managers that are there anyway.
    """
    most = [place.by_stage[-1] if place.twin is not None else 0 for place in places]
    managed = given + sum(place.by_stage[-1] for place in places if place.manages)
    at_first = given > 0 or any(place.manages and place.by_stage[0] for place in places)
    wanted = max(0, min(fewest, managed + sum(most)) - managed)
    for exchange in product(*(range(min(wanted, number), -1, -1) for number in most)):
        starts = any(number and place.by_stage[0] for number, place in zip(exchange, places, strict=True))
        if sum(exchange) == wanted and (starts or at_first):
            yield exchange


def _exchanged(
    candidate: Candidate, places: Sequence[SwitchesOfTier], exchange: Exchange, subnets: Subnets, rank: int
) -> Candidate:
    """A candidate with some of its switches exchanged, those of each tier that are installed first."""
    devices, twins = dict(candidate.devices), []
    for place, number in zip(places, exchange, strict=True):
        if place.twin is None or not number:
            continue
        exchanged = [min(number, count) * subnets.number for count in place.by_stage]
        for stage, (before, now) in enumerate(pairwise([0, *exchanged])):
            for item, count in ((place.tier.switch.item, before - now), (place.twin.item, now - before)):
                devices[stage, item] = devices.get((stage, item), 0) + count
        twins.append(TwinUse(role=place.tier.role, id=place.twin.product.id, count=exchanged[-1]))
    devices = {key: count for key, count in devices.items() if count}
    return replace(candidate, devices=devices, twins=tuple(twins), order=(*candidate.order, rank))


def managers_in(
    fabric: FabricProblem, servers: int, design: NetworkDesign, twins: Sequence[TwinUse]
) -> SubnetManagerUse | None:
    """What the design file says of the rule in a fabric of InfiniBand; None where it is off."""
    part = design.file_part()
    if fabric.rules.managers is None or part.protocol != INFINIBAND:
        return None
    if not part.tiers:
        return SubnetManagerUse(kept=None, detail=ON_A_SERVER)
    subnets = subnets_of(part, fabric, servers)
    there = fabric.rules.managers.there
    own = {place.tier.role: place.by_stage[-1] for place in _places(part, fabric.rules.managers, design, subnets)
           if place.manages}  # fmt: skip
    managers = sum(own.values()) + sum(twin.count for twin in twins) // subnets.number + subnets.hosts + subnets.there
    use = SubnetManagerUse(
        kept=managers > 0,
        detail="",
        subnets=subnets.number,
        nodes=subnets.nodes,
        managers=managers,
        hosts=subnets.hosts + (0 if there is None else there.hosts),
        in_service=None if there is None else own.get(there.role, 0) + subnets.there,
        twins=tuple(twins),
    )
    silent = [tier.switch.id for tier in part.tiers if tier.switch.product.managed is None]
    return use.model_copy(update={"detail": words_of(use, silent)})
