"""Rule ``base_stays``: ports of attachments in service on a Clos whose devices and cables may move.

Each is dealt as in a Clos without a base, or stays on its switch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from fabopt.network.attached_ports import dealt_over_leaves
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.free_ports import HOST_TIERS, SwitchesOfPlane
from fabopt.network.staying import NOTHING, StandingClos, StandingTier, Staying, equipped_with, standing_of
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.live import InService
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.schema.base import parse_split
from fabopt.schema.design import NicUse
from fabopt.schema.structure import Structure
from fabopt.schema.subnet_manager import TwinUse
from fabopt.schema.tiers import TierUse
from fabopt.topology.clos.in_service import ports_in_service
from fabopt.topology.design import FilePart, Tier

# Switches of the ports of every attachment, by its name.
Places = Mapping[str, Sequence[HostPort]]


def planned_of(
    problem: Problem, fabric: FabricProblem, part: FilePart, nic: NicOption, twins: Sequence[TwinUse]
) -> StandingClos | None:
    """A network as it would stand; None where it is no Clos. ``twins``: managed switches of its tiers."""
    if not isinstance(part.structure, Structure) or nic.topology != "clos":
        return None
    asked = next(asked for asked in problem.case.fabrics if asked.name == fabric.name)
    use = NicUse(
        id=nic.nic_id, per_server=nic.nics_per_server, ports_per_nic=nic.ports_per_nic, gbps=0, split=nic.split,
        cage_group=nic.group, built_in=nic.item is None,
    )  # fmt: skip
    equipped = equipped_with(use, nic.own_rails and asked.planes == "any", fabric.leaf_pairs.homing == "dual")
    tiers: dict[str, StandingTier] = {}
    moving = fabric.live.moving
    there = {} if moving is None else {tier.role: tier for tier in moving.fabric.tiers}
    for tier in part.tiers:
        own = tuple(twin for twin in twins if twin.role == tier.role)
        up = None if tier.up is None else (tier.up.group, tier.up.split)
        types = _types(fabric, None if own else there.get(tier.role), tier)
        tiers[tier.role] = StandingTier(types, own, (tier.down.group, tier.down.split), up, tier.up_ports)
    family = nic.topology, part.protocol
    peers = None if part.peers is None else (part.peers.group, part.peers.split)
    return StandingClos(family, part.planes, problem.stages[0].servers, equipped, part.structure, tiers, peers)


def _types(fabric: FabricProblem, there: TierUse | None, tier: Tier) -> dict[str, int]:
    """Switches of a planned tier by product: those in service that it may have, and as many of its own beside."""
    left = 0 if there is None else tier.num_switches - there.count
    if there is None or left < 0 or not fabric.may_stay(there, tier.switch):
        return {tier.switch.id: tier.num_switches}
    beside = Counter({tier.switch.id: left})
    beside.update({own.id: own.count for own in there.types})
    return dict(+beside)


def _numbers_of(structure: Structure, planes: int, sizes: Sequence[int]) -> ClosNumbers:
    """The numbers of servers and leaves of a Clos; ``sizes``: servers at each stage."""
    ports, last = structure.ports_per_server, structure.last_group
    return ClosNumbers(
        servers=sizes[-1], ports=ports, planes=planes, k=structure.ports_per_server_per_leaf,
        g=structure.servers_per_group, sizes=tuple(sizes) if len(sizes) > 1 else (),
        own_k=0 if last is None else last.ports_per_server_per_leaf,
        nics=1, ports_per_nic=ports * planes, shared_cages=False,
    )  # fmt: skip


def _numbers_in_service(there: InService) -> ClosNumbers:
    return _numbers_of(there.whole.clos, there.whole.planes, there.sizes)


def _standing_ports(there: InService) -> Places:
    """Switches of ports in service by their numbers at the stage that is in service."""
    at_last, now = (
        SwitchesOfPlane(one.tiers[0].count // one.planes, one.clos.pods, max(1, one.clos.spines_per_pod))
        for one in (there.whole, there.fabric)
    )
    places = ports_in_service(there, _numbers_in_service(there))
    return {name: [at_last.renumbered(port, now) for port in ports] for name, ports in places.items()}


def _still(problem: Problem, fabric: FabricProblem, part: FilePart) -> Mapping[str, Sequence[HostPort | None]] | None:
    """The switch in a Clos of every port in service where that stays, by attachment; None where it is no Clos."""
    assert fabric.live.moving is not None
    service = standing_of(fabric.live.moving.fabric, fabric.live.moving.servers)
    twins = [twin for tier in service.tiers.values() for twin in tier.twins]
    planned = planned_of(problem, fabric, part, part.nic, twins)
    if planned is None:
        return None
    number_of = _numbers(Staying(service, planned, alone=len(problem.case.fabrics) == 1))
    return {name: [number_of.get(port) for port in own] for name, own in _standing_ports(fabric.live.moving).items()}


def places_that_stay(problem: Problem, fabric: FabricProblem, part: FilePart) -> Places | None:
    """Switches in a Clos of listed ports in service, each the one on which it is; None where one of these is gone."""
    listed = {demand.name for demand in fabric.attachments if demand.listed}
    if fabric.live.moving is None or not listed:
        return {}
    places = _still(problem, fabric, part)
    if places is None:
        return None
    places = {
        demand.name: places[demand.name][: demand.ports] for demand in fabric.attachments if demand.name in places
    }
    there = {name: [port for port in own if port is not None] for name, own in places.items() if name in listed}
    return there if all(len(own) == len(places[name]) for name, own in there.items()) else None


def in_their_order(
    problem: Problem, fabric: FabricProblem, part: FilePart, places: list[tuple[HostPort, ...]]
) -> list[tuple[HostPort, ...]]:
    """Switches of the ports of every attachment, with those in service that can be on their own at the same numbers."""
    still = None if fabric.live.moving is None else _still(problem, fabric, part)
    if still is None:
        return places
    asked = next(one for one in problem.case.fabrics if one.name == fabric.name)
    devices = {one.name: one.devices for one in asked.attachments}
    ordered: list[tuple[HostPort, ...]] = []
    for demand, own in zip(fabric.attachments, places, strict=True):
        of_device, there = max(1, len(own) // devices.get(demand.name, 1)), still.get(demand.name, ())
        ports: list[HostPort] = []
        for first in range(0, len(own) if there else 0, of_device):
            ports += _in_order(own[first : first + of_device], there[first : first + of_device])
        ordered.append(tuple(ports) if there else own)
    return ordered


def _in_order(places: Sequence[HostPort], wanted: Sequence[HostPort | None]) -> list[HostPort]:
    """Places with those ``wanted`` at their numbers, as far as there are such, and others in their order."""
    left, kept = list(places), list[HostPort | None]()
    for port, _ in zip_longest(wanted[: len(places)], places):
        kept.append(port if port in left else None)
        if port is not None and port in left:
            left.remove(port)
    return [left.pop(0) if port is None else port for port in kept]


def _numbers(staying: Staying) -> dict[HostPort, HostPort]:
    """The number of every leaf and spine that stays, by that in service."""
    numbers: dict[HostPort, HostPort] = {}
    for tier in HOST_TIERS:
        own, old, new = staying.of_role(tier), staying.service.of_plane(tier), staying.planned.of_plane(tier)
        for number in np.flatnonzero(own != NOTHING).tolist():
            for plane in range(staying.planned.planes):
                numbers[tier, plane * old + int(own[number])] = tier, plane * new + number
    return numbers


def ports_that_stay(
    problem: Problem, fabric: FabricProblem, part: FilePart, staying: Staying, of: tuple[str, Collection[str | None]]
) -> tuple[int, bool]:
    """Ports of attachments in service whose links stay, and whether all do, each port on its own switch. ``of``: kind
    of links, and names of the attachments that count.
    """
    assert fabric.live.moving is not None
    kind, names = of
    if not staying.may_stay(kind):
        return 0, False
    tier, there, now = (
        kind.removeprefix("attachment-"),
        _standing_ports(fabric.live.moving),
        _planned_ports(fabric, staying, part),
    )
    number_of, asked = _numbers(staying), next(one for one in problem.case.fabrics if one.name == fabric.name)
    devices, kept, in_order = {one.name: one.devices for one in asked.attachments}, 0, True
    for name in there:
        # of counted ports the last ones go
        own = there[name][: len(now.get(name, ()))]
        in_order &= len(own) == len(there[name])
        of_device = max(1, len(now.get(name, ())) // devices.get(name, 1))
        before = Counter(
            (port // of_device, number_of.get(place)) for port, place in enumerate(own) if place[0] == tier
        )
        after: Counter[tuple[int, HostPort | None]] = Counter(
            (port // of_device, place) for port, place in enumerate(now.get(name, ()))
        )
        kept += (before & after).total() * (name in names)
        in_order &= all(number_of.get(place) == now[name][port] for port, place in enumerate(own) if place[0] == tier)
    if tier == "leaf" and not _share_cages_alike(fabric.live.moving, staying, there, now):
        return 0, False
    return kept, in_order


def _planned_ports(fabric: FabricProblem, staying: Staying, part: FilePart) -> Places:
    """Switches of ports of attachments in a planned Clos."""
    planned, names = staying.planned, [demand.name for demand in fabric.attachments]
    numbers = _numbers_of(planned.structure, planned.planes, [planned.servers])
    adds = [demand.by_stage for demand in fabric.attachments]
    places: dict[str, list[HostPort]] = {name: [] for name in names}
    for port in dealt_over_leaves(numbers, adds, in_pairs=fabric.leaf_pairs.exist):
        places[names[port.owner]].append(("leaf", port.leaf))
    for name, own in zip(names, part.free_ports, strict=False):
        places[name] += own
    return places


def _share_cages_alike(moving: InService, staying: Staying, there: Places, now: Places) -> bool:
    """Whether attachments share cages of leaves with servers as they do in service: where servers come or go, they fill
    whole cages before and after, and no port of an attachment goes.
    """
    lanes, planned = parse_split(staying.planned.tiers["leaf"].down[1]).ports, staying.planned
    if lanes == 1:
        return True
    number_of, before = _numbers(staying), _numbers_in_service(moving)
    numbers = _numbers_of(planned.structure, planned.planes, [planned.servers])
    old, new = (
        {name: Counter(number for tier, number in own if tier == "leaf") for name, own in places.items()}
        for places in (there, now)
    )
    of_plane = staying.service.of_plane("leaf"), before.leaves
    for leaf in sorted(set().union(*(own.keys() for own in old.values()))):
        if ("leaf", leaf) not in number_of:
            continue
        at_last, (plane, within) = number_of["leaf", leaf][1], divmod(leaf, of_plane[0])
        first = _ports_on(before, plane * of_plane[1] + within, moving.servers)
        last = _ports_on(numbers, at_last, numbers.servers)
        whole = first == last or not (first % lanes or last % lanes)
        if not whole or any(own[leaf] > new[name][at_last] for name, own in old.items()):
            return False
    return True


def _ports_on(numbers: ClosNumbers, leaf: int, servers: int) -> int:
    """Ports of servers on a leaf when there are so many."""
    number = np.array([leaf])
    k = np.where(numbers.is_of_last(number), numbers.last_k, numbers.k)
    return int((numbers.servers_of_groups(numbers.group_of_leaf(number), servers) * k)[0])


def all_staying(fabric: FabricProblem) -> Iterator[FabricProblem]:
    """The fabric with the ports of attachments in service on their switches, and new ones of leaves beside them."""
    there = {} if fabric.live.moving is None else fabric.live.moving.attached
    if there:
        listed = (
            replace(one, listed=one.name in there or (one.tier == "leaf" and one.oversubscription is None))
            for one in fabric.attachments
        )
        yield replace(fabric, attachments=tuple(listed))
