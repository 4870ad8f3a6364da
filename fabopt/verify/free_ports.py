"""Rule of attachments on free ports: free ports exist, and are taken one a switch and round, most free ports first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.free_ports import HOST_TIERS, Exchange, Guest, Hosts, HostTier, dealt_to_free_ports
from fabopt.schema.attachment import SWITCHES, Attachment, HostPort
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import TierUse
from fabopt.schema.in_service import Base
from fabopt.schema.installed import base_of, switches_by_stage
from fabopt.schema.product import Cage
from fabopt.units import some
from fabopt.verify.bandwidth import class_ratios
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.floor_runs import measures_attachments
from fabopt.verify.growth import numbers_at_last, stage_of
from fabopt.verify.link_kinds import ListedRow, attachment_kinds, kinds_in_own_cages
from fabopt.verify.proof import Proof, where
from fabopt.wiring.design_file import item_at

# -- tiers of an attachment on free ports -----------------------------------------------------------------------------


def _allowed(fabric: FabricEvidence, attachment: Attachment) -> tuple[HostTier, ...]:
    """The tiers that the case allows an attachment."""
    if comes_by_stage(fabric, attachment):
        return HOST_TIERS[:1]
    return HOST_TIERS if attachment.placed_on == "any" else (attachment.placed_on,)


def tiers_for(fabric: FabricEvidence, attachment: Attachment) -> tuple[HostTier, ...]:
    """The tiers whose switches may have an attachment's next port, by the file.

    Tiers of its other ports, and tiers where no parts are bought for it, or where the parts of other ports fit too: the
    cages are alike, and a length on offer is long enough. Other parts that could join it are not in the file.
    """
    allowed = _allowed(fabric, attachment)
    there = [tier for tier in HOST_TIERS[: fabric.num_tiers] if tier in allowed]
    used = {tier for tier, _ in fabric.designed.free_ports.get(attachment.name, ())} & set(there)
    joined = {tier for tier in there if any(_parts_fit_tier(fabric, attachment, own, tier) for own in used)}
    return tuple(tier for tier in there if tier in used | joined)


def _parts_fit_tier(fabric: FabricEvidence, attachment: Attachment, own: str, other: str) -> bool:
    """Whether the parts of an attachment's links to one tier fit another tier."""
    if attachment.buys == "none":
        return True
    if _cage(fabric, own) != _cage(fabric, other):
        return False
    kinds = attachment_kinds(fabric) if own == "leaf" else kinds_in_own_cages(fabric)
    measured = measures_attachments(fabric.evidence)
    run_m = fabric.evidence.plan.least_m if measured else fabric.run_m(f"attachment-{other}")
    rows = (row for kind in kinds if kind.attachment == attachment.name for row in kind.rows)
    return any(_reaches(row, run_m) for row in rows)


def _cage(fabric: FabricEvidence, role: str) -> tuple[Cage, tuple[object, ...]]:
    """The cages of a tier's ports down, whatever their count, and other properties that decide which parts fit."""
    tier, switch = fabric.tier(role), fabric.switch(role)
    cage = item_at(switch.cages, tier.down.cage_group, f"{role} cage group").model_copy(update={"count": 1})
    qualified = switch.id if fabric.evidence.case.procurement.qualified else ""
    return cage, (tier.down.split, switch.vendor, switch.works_with, switch.accepts_coding, qualified)


def _reaches(row: ListedRow, run_m: float) -> bool:
    """Whether the parts of a row are on offer for a run."""
    if row.cable_or_fibre is None:
        return False
    reaches = [part.reach_m for part in (row.near, row.far, row.cable) if part is not None and part.reach_m is not None]
    lengths = (length.m for length in row.cable_or_fibre.lengths if length.price_usd is not None)
    return any(run_m <= length <= min(reaches, default=length) for length in lengths)


# -- rule of attachments on free ports --------------------------------------------------------------------------------


def takes_free_ports(fabric: FabricEvidence) -> bool:
    """Whether the case puts attachments of a fabric on free ports, or the file has such."""
    return any(attachment.placed_on != "leaf" for attachment in fabric.wanted.attachments) or bool(
        fabric.designed.free_ports
    )


@where(takes_free_ports)
def attachments_take_free_ports(proof: Proof, fabric: FabricEvidence) -> None:
    """Each port of an attachment on free ports of leaves or spines is at the next switch in turn.

    Of the switches with a free port whose uplinks carry the port if it counts, in the tiers that the attachment may be
    on: the one with the fewest ports of such attachments, then the most free ports before any of them came, then a
    leaf, then the first. On a floor, with rule ``rack-spread``, it is then exchanged, once, for the equal switch in the
    rack with the fewest ports of the attachment, then of all, then the first. Ports run at the servers' speed; on
    spines each attachment has cages of its own. Of attachments on any tier, those with ports on spines alone are dealt
    over these, and those without listed ports over all leaves (``attachments_are_placed``). In a cluster that grows
    only switches of the first stage have free ports, beyond their use at any stage. Beside a base its ports stay; then
    come others of leaves, stage by stage, each on the first leaf of its stage with room and the fewest; then those of
    any tier. Source: case file, ``attachments``, ``rules``; design file, ``free_ports``.
    """
    wanted = {attachment.name: attachment for attachment in fabric.wanted.attachments if attachment.placed_on != "leaf"}
    proof.equal("attachments on free ports", list(fabric.designed.free_ports), list(wanted))
    tiers = {role: _Switches.of(fabric, role) for role in HOST_TIERS[: fabric.num_tiers]}
    racks, kinds = fabric.racks_of_hosts, {tier: switches.kinds for tier, switches in tiers.items()}
    exchange, dealt = Exchange(racks, kinds) if racks else None, _dealt(fabric, list(wanted.values()), tiers)
    for index, (name, attachment) in enumerate(wanted.items()):
        places = fabric.designed.free_ports.get(name, ())
        proof.equal(f"ports of {name}", len(places), attachment.ports)
        strange = sorted({tier for tier, _ in places} - set(_allowed(fabric, attachment)) & set(tiers))
        proof.equal(f"tiers of {name} that the case does not allow", strange, [])
        moves = fabric.evidence.case.base is None
        for port, (place, expected) in enumerate(zip(places, dealt[index], strict=False), 1):
            exchanged = exchange.next(expected, index) if exchange is not None and moves else expected
            proof.equal(f"switch of port {port} of {name}", place, exchanged)
        of_tier = Counter(tier for tier, _ in places)
        proof.note(f"{name} " + ", ".join(f"{some(of_tier[tier], 'port')} on {tier}s" for tier in sorted(of_tier)))


def in_service_of(fabric: FabricEvidence, attachment: Attachment) -> int:
    """Ports of an attachment that a case's base has: they are where ``base_stays`` proves that they were, or counts
    what moves.
    """
    base = fabric.evidence.case.base
    if base is None:
        return 0
    if base.move is not None:
        return min(attachment.ports, _ports_in_base(fabric, base, attachment.name))
    return attachment.adds[0] if attachment.adds else attachment.ports


def _ports_in_base(fabric: FabricEvidence, base: Base, name: str) -> int:
    """Ports of an attachment of a fabric in service, of switches as many as these have."""
    service = base_of(fabric.evidence.case)
    if name != SWITCHES or service is None or fabric.wanted.oob is None:
        return base.attached(fabric.designed.name).get(name, 0)
    return switches_by_stage(service.fabrics, len(service.stages))[base.stage] * fabric.wanted.oob.ports_per_switch


def comes_by_stage(fabric: FabricEvidence, attachment: Attachment) -> bool:
    """Whether ports of an attachment beside those that a case's base has come stage by stage, to leaves."""
    asked = (one for one in fabric.evidence.case.fabrics if one.name == fabric.designed.name)
    elsewhere = {one.name for of_fabric in asked for one in of_fabric.attachments if one.placed_on != "leaf"}
    return fabric.evidence.case.base is not None and attachment.name not in elsewhere


def _dealt(
    fabric: FabricEvidence, attachments: Sequence[Attachment], tiers: Mapping[HostTier, _Switches]
) -> list[tuple[HostPort, ...]]:
    """The switch of every port of attachments on free ones, before exchange between racks: dealt as
    ``fabopt.network.free_ports`` does, to the ports that are counted here. Raises ``ValueError`` if these are too few.
    """
    guests = [_guest(fabric, attachment) for attachment in attachments]
    places = dealt_to_free_ports(guests, {tier: switches.hosts for tier, switches in tiers.items()})
    if places is None:
        raise ValueError("free ports are too few")
    return places


def _guest(fabric: FabricEvidence, attachment: Attachment) -> Guest:
    """An attachment without ports but those in service. With ports on spines alone it is dealt over these."""
    places = fabric.designed.free_ports.get(attachment.name, ())
    index = [other.name for other in fabric.wanted.attachments].index(attachment.name)
    spine = _load(fabric, fabric.oversubscription_limits["spine"]) if attachment.counts else 0
    loads = {"leaf": _loads_on_leaves(fabric)[index], "spine": spine}
    is_on_spines = {tier for tier, _ in places} == {"spine"}
    reach = HOST_TIERS[1:] if is_on_spines else tiers_for(fabric, attachment)
    load = {tier: loads[tier] if _has_uplinks(fabric, tier) else 0 for tier in reach}
    there = in_service_of(fabric, attachment)
    later = (0, *attachment.adds[1 : len(fabric.evidence.stage_names)])
    if fabric.evidence.case.moving is not None:
        later = (attachment.ports - there,)
    return Guest(attachment.ports, load, places[:there], later if comes_by_stage(fabric, attachment) else ())


def _unit(fabric: FabricEvidence) -> int:
    """Parts of a Mb/s in which loads at every ratio are whole."""
    ratios = [*class_ratios(fabric), *fabric.oversubscription_limits.values()]
    return lcm(*(ratio.numerator for ratio in ratios))


def _load(fabric: FabricEvidence, ratio: Fraction, role: str = "leaf") -> int:
    """Load of a port of a tier on its uplinks at a ratio, in ``_unit``."""
    return int(fabric.down(role).port_mbps * _unit(fabric) / ratio)


def _loads_on_leaves(fabric: FabricEvidence) -> list[int]:
    """Load of a port of each attachment on the uplinks of a leaf; 0 of those that do not count."""
    ratios = zip(fabric.wanted.attachments, class_ratios(fabric), strict=True)
    return [_load(fabric, ratio) if attachment.counts else 0 for attachment, ratio in ratios]


def _has_uplinks(fabric: FabricEvidence, role: str) -> bool:
    """Whether uplinks of a tier limit what is on its switches."""
    return not fabric.is_direct and fabric.tier(role).up is not None


class _Switches(NamedTuple):
    """The leaves or spines without attachments on free ports; ``kinds``: equal for switches that may be exchanged."""

    hosts: Hosts
    kinds: list[tuple[int, ...]]

    @staticmethod
    def of(fabric: FabricEvidence, role: str) -> _Switches:
        """The switches of a tier without attachments on free ports."""
        if fabric.is_direct:
            return _Switches._of_equals(fabric)
        tier, use = fabric.tier(role), fabric.tier(role).down
        lanes = parse_split(use.split).ports
        used = np.array(fabric.clos.dealt_ports, dtype=np.int64) if role == "leaf" else _most_downlinks(fabric)
        uplinks = _uplinks(fabric, role, len(used))
        cages, most = _down_ports(tier.types[0], fabric, uplinks)
        if tier.other is not None:
            is_of_last, others = _of_own_last_group(fabric, len(used)), _down_ports(tier.types[1], fabric, uplinks)
            cages, most = (np.where(is_of_last, other, own) for own, other in zip((cages, most), others, strict=True))
        occupied = used + (_reserved(fabric, len(used)) if role == "leaf" else 0)
        left, ports = cages - -(-occupied // lanes), most - uplinks - occupied
        if fabric.down(role).port_mbps != fabric.down("leaf").port_mbps:
            left = left * 0
        stages = _stages(fabric, role, len(used))
        hosts = Hosts(left, ports, lanes, _spare_uplinks(fabric, role, used), tuple(stages.tolist()))
        return _Switches(hosts, _kinds(fabric, role, used, stages == 0))

    @staticmethod
    def _of_equals(fabric: FabricEvidence) -> _Switches:
        """Switches of a direct network, each with as many links to others as the busiest one; those with servers come
        first in every plane.
        """
        tier, mesh = fabric.tier("leaf"), fabric.mesh
        switch, lanes = fabric.evidence.part(tier.id, Switch), fabric.down("leaf").ports
        of_plane = [ports for ports, _ in fabric.clos.dealt_leaves[: fabric.clos.leaves]]
        servers = np.tile(np.array(of_plane + [0] * (mesh.leaves - len(of_plane))), fabric.clos.planes)
        used, number = servers + tier.reserved_ports, len(servers)
        cages = np.full(number, item_at(switch.cages, tier.down.cage_group, "leaf cage group").count)
        if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
            cages -= mesh.most_cages(fabric.up("leaf").ports)
        left, ports = cages - -(-used // lanes), _most_ports(switch) - tier.up_ports - used
        return _Switches(Hosts(left, ports, lanes, (0,) * number), [(own,) for own in servers.tolist()])


def _kinds(
    fabric: FabricEvidence, role: str, used: NDArray[np.int64], at_first: NDArray[np.bool_]
) -> list[tuple[int, ...]]:
    """The planned use of every switch of a tier: equal for switches that may be exchanged."""
    if role == "spine":
        return list(zip(used.tolist(), at_first.tolist(), strict=True))
    of_last = _of_own_last_group(fabric, len(used)).tolist()
    return [
        (servers, *attached, is_of_last, is_first)
        for (servers, attached), is_of_last, is_first in zip(
            fabric.clos.dealt_leaves, of_last, at_first.tolist(), strict=True
        )
    ]


def _most_downlinks(fabric: FabricEvidence) -> NDArray[np.int64]:
    """Most links of every spine to leaves at any stage, its own and those lent to it, shape (spines,)."""
    most = np.array(fabric.clos.spine_downlinks, dtype=np.int64)
    for number, stage in enumerate(fabric.designed.growth[:-1]):
        if stage.spines_per_pod:
            there = numbers_at_last(fabric, stage, "spine")
            most[there] = np.maximum(most[there], stage_of(fabric, stage, number).clos.spine_downlinks)
    return most


def _stages(fabric: FabricEvidence, role: str, switches: int) -> NDArray[np.int64]:
    """The stage that installs each switch of a tier, from 0, shape (switches,)."""
    stages = np.zeros(switches, dtype=np.int64)
    for number, stage in enumerate(fabric.designed.growth[:-1], 1):
        stages[np.setdiff1d(np.arange(switches), numbers_at_last(fabric, stage, role))] = number
    return stages


def _down_ports(
    tier: TierUse, fabric: FabricEvidence, uplinks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cages for ports down besides the ``uplinks``, and ports in all, of switches of one type, shape (switches,)."""
    switch = fabric.evidence.part(tier.id, Switch)
    cages = np.full(len(uplinks), item_at(switch.cages, tier.down.cage_group, f"{tier.role} cage group").count)
    if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
        cages -= -(-uplinks // parse_split(tier.up.split).ports)
    return cages, np.full(len(uplinks), _most_ports(switch))


def _most_ports(switch: Switch) -> int:
    """Ports that a switch drives."""
    return switch.max_ports or sum(
        cage.count * max(parse_split(split).ports for split in cage.splits) for cage in switch.cages
    )


def _uplinks(fabric: FabricEvidence, role: str, switches: int) -> NDArray[np.int64]:
    """Uplinks of every switch of a tier, shape (switches,)."""
    uplinks = np.full(switches, fabric.tier(role).up_ports)
    if role == "leaf" and not fabric.is_direct:
        uplinks[_of_own_last_group(fabric, switches)] = fabric.clos.own_u
    return uplinks


def _reserved(fabric: FabricEvidence, leaves: int) -> NDArray[np.int64]:
    """Ports kept free on every leaf, shape (leaves,)."""
    reserved = np.full(leaves, fabric.tier("leaf").reserved_ports)
    last = None if fabric.is_direct else fabric.designed.clos.last_group
    reserved[_of_own_last_group(fabric, leaves)] = 0 if last is None else last.reserved_ports
    return reserved


def _of_own_last_group(fabric: FabricEvidence, leaves: int) -> NDArray[np.bool_]:
    """Whether each leaf is of a last group unlike the others, shape (leaves,)."""
    return fabric.clos.is_of_last(np.arange(leaves))


def _spare_uplinks(fabric: FabricEvidence, role: str, used: NDArray[np.int64]) -> tuple[int, ...]:
    """What the uplinks of each switch carry besides the traffic below it, in ``_unit``; 0 without uplinks."""
    if not _has_uplinks(fabric, role):
        return (0,) * len(used)
    unit, limit = _unit(fabric), fabric.oversubscription_limits[role]
    ups = [int(number) * fabric.up(role).port_mbps for number in _uplinks(fabric, role, len(used))]
    if role == "spine":
        load = _load(fabric, limit, "spine")
        return tuple(unit * up - int(links) * load for up, links in zip(ups, used, strict=True))
    loads = [_load(fabric, limit), *_loads_on_leaves(fabric)]
    return tuple(
        unit * up - sum(map(mul, loads, (servers, *attached)))
        for up, (servers, attached) in zip(ups, fabric.clos.dealt_leaves, strict=True)
    )
