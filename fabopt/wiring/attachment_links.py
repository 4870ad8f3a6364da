"""Links of attachments: to leaves, in cages that they may share with the servers, and to cages of spines.

Leaf cages of attachments: links with the same part in a leaf cage fill it up together with the servers' links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.floor.rack_rules import rack_limits
from fabopt.network.attached_ports import AttachedPort, dealt_over_leaves
from fabopt.schema.attachment import Attachment
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Fibre, Transceiver
from fabopt.schema.design import LinkRow, TierUse
from fabopt.units import ceil_div
from fabopt.wiring.assembly import Carries, RowAssembly, assembly_of, padding
from fabopt.wiring.fabric_plan import FabricPlan
from fabopt.wiring.join import CabledLinks, at_slots, last_down_cages
from fabopt.wiring.model import KINDS, NOTHING, TO_ATTACHMENTS, Floats, Ints

PartInCage = tuple[object, ...]


def lanes_of(attachment: Attachment) -> int:
    """Ports of one of an attachment's cages; 1 where the case gives no split."""
    return parse_split(attachment.split).ports if attachment.split is not None else 1


def part_in_cage(assembly: RowAssembly, runs_differ: bool) -> PartInCage:
    """Key of the part in a leaf cage for links of an assembly; empty if they never share a cage with others.

    ``runs_differ``: a breakout is as long as its own links need; else all of a row are of one length.
    """
    if assembly.carries in (Carries.PAIR, Carries.CROSS):
        return ()
    cable = assembly.cables[0][: 1 if runs_differ else 2] if assembly.carries is Carries.FAR and assembly.cables else ()
    return "part", assembly.far_module, cable


class LeafSlots(NamedTuple):
    """Leaf of every port of an attachment, and its slot among the leaf's down ports, from 0; both of shape (ports,)."""

    leaf: Ints
    slot: Ints


class OpenCages:
    """Down cages of leaves as they fill up. ``used``: slots that servers take on each leaf, shape (leaves,)."""

    def __init__(self, used: Ints, lanes: int, of_servers: PartInCage) -> None:
        self._lanes = lanes
        self._cages = [ceil_div(int(slots), lanes) for slots in used]
        self._open: dict[tuple[int, PartInCage], int] = {}
        if of_servers:
            self._open.update({(leaf, of_servers): int(slots) for leaf, slots in enumerate(used) if slots % lanes})

    def place(self, leaf: int, part: PartInCage, ports: int, per_cable: int) -> list[int]:
        """Slots for ``ports`` ports with one part; cables that carry several take whole cages."""
        slots = []
        slot = self._open.pop((leaf, part), None) if part else None
        for number in range(ports):
            if slot is None or slot % self._lanes == 0:
                slot = self._cages[leaf] * self._lanes
                self._cages[leaf] += 1
            slots.append(slot)
            slot += 1
            if not part and (number + 1) % per_cable == 0 and slot % self._lanes:
                slot = ceil_div(slot, per_cable) * per_cable
        if part and slot is not None and slot % self._lanes:
            self._open[leaf, part] = slot
        return slots


def place_attachments(
    wanted: Sequence[Attachment],
    parts: Sequence[PartInCage],
    leaves: Sequence[Sequence[int]],
    cages: OpenCages,
    per_cable: Sequence[int],
) -> list[LeafSlots]:
    """Slots of the ports of all attachments (``leaves``: of each) in leaf cages; attachments without parts come
    last.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].buys == "none")
    placed: list[LeafSlots] = [LeafSlots(np.array([], dtype=np.int64), np.array([], dtype=np.int64))] * len(wanted)
    for index in order:
        own = leaves[index]
        slots = [0] * len(own)
        for leaf in dict.fromkeys(own):
            where = [place for place, other in enumerate(own) if other == leaf]
            dealt = cages.place(leaf, parts[index], len(where), per_cable[index])
            for place, slot in zip(where, dealt, strict=True):
                slots[place] = slot
        placed[index] = LeafSlots(np.array(own, dtype=np.int64), np.array(slots, dtype=np.int64))
    return placed


def in_cages(slots: LeafSlots, lanes: int, per_cable: int) -> tuple[LeafSlots, Ints]:
    """The ports of an attachment in the order of its own cages of ``lanes`` ports, and their slots there, shape
    (ports,).

    Links that one cable carries to a leaf are dealt apart; here they lie side by side again, cable by cable.
    """
    if per_cable == 1 or lanes % per_cable:
        return slots, np.arange(len(slots.leaf))
    cables: dict[tuple[int, int], int] = {}
    pairs = zip(slots.leaf.tolist(), (slots.slot // per_cable).tolist(), strict=True)
    own = np.array([cables.setdefault(pair, len(cables)) for pair in pairs]) * per_cable + slots.slot % per_cable
    order = np.argsort(own)
    return LeafSlots(slots.leaf[order], slots.slot[order]), own[order]


NO_MEDIUM = "none"


class _NearEnd(NamedTuple):
    """The near end of links of an attachment, link by link: ``slot`` counts ports over the cages of the device, from 0;
    ``kind``: kind of links with the same run.
    """

    device: Ints
    nic: Ints
    port: Ints
    slot: Ints
    kind: str

    def run_m(self, plan: FabricPlan, rows: Sequence[LinkRow], b: Ints) -> Floats:
        """The run of every link as planned, in metres; for ports of servers that of the servers' links."""
        if self.kind == "server-leaf":
            return plan.runs.of(self.kind, self.device, b)
        return np.full(len(b), float(rows[0].length_m))


@dataclass(frozen=True, eq=False)
class _Attached:
    """An attachment: its rows, their assemblies, the row of its first device, and its ports on leaves.

    ``leaves``, ``ports``: leaf of every port on a leaf, and its number in the attachment from 0; ``stage``: the stage
    that installs it.
    """

    attachment: Attachment
    rows: list[LinkRow]
    assemblies: list[RowAssembly]
    first: int
    leaves: list[int]
    ports: Ints
    stage: Ints

    @property
    def lanes(self) -> int:
        return lanes_of(self.attachment)

    @property
    def per_cable(self) -> int:
        return padding(self.assemblies)


def attached(plan: FabricPlan, servers: CabledLinks) -> list[CabledLinks]:
    """The links of every attachment to leaves, in listed order."""
    of_servers = part_in_cage(servers.assemblies[0], plan.runs.differ)
    unbought = of_servers or ("nothing bought",)
    attachments = _on_leaves(plan, servers.assemblies)
    parts = [
        unbought if entry.attachment.buys == "none" else part_in_cage(entry.assemblies[0], plan.runs.differ)
        for entry in attachments
    ]
    cages = OpenCages(_used_slots(plan, servers), _leaf_lanes(plan), of_servers)
    wanted, leaves = [entry.attachment for entry in attachments], [entry.leaves for entry in attachments]
    placed = place_attachments(wanted, parts, leaves, cages, [entry.per_cable for entry in attachments])
    return [_cabled(plan, entry, slots) for entry, slots in zip(attachments, placed, strict=True)]


def attached_above(plan: FabricPlan) -> Iterator[CabledLinks]:
    """The links of every attachment to spines, or to switches that are joined to each other, in listed order: each in
    cages of its own, from the last one down.
    """
    role = "leaf" if plan.numbers.fabric.structure.is_direct else "spine"
    taken: Counter[int] = Counter()
    for attachment, first in _devices(plan):
        places = plan.numbers.fabric.free_ports.get(attachment.name, ())
        ports = np.array([port for port, (tier, _) in enumerate(places) if tier == role], dtype=np.int64)
        if len(ports):
            switches = np.array([places[port][1] for port in ports])
            yield _in_own_cages(plan, role, (attachment, first), (ports, switches), taken)


def cages_on_spines(plan: FabricPlan) -> Ints:
    """Cages of attachments on every spine, the last ones that face down, shape (spines,)."""
    tier = plan.tier("spine")
    cages, lanes = np.zeros(tier.count, dtype=np.int64), parse_split(tier.down.split).ports
    for places in plan.numbers.fabric.free_ports.values():
        for spine, ports in Counter(number for tier_of, number in places if tier_of == "spine").items():
            cages[spine] += ceil_div(ports, lanes)
    return cages


def _in_own_cages(
    plan: FabricPlan, role: str, owner: tuple[Attachment, int], places: tuple[Ints, Ints], taken: Counter[int]
) -> CabledLinks:
    """Links of ports of an attachment, whose first device is given, to switches of a tier.

    ``places``: the ports and their switches; ``taken``: cages of each switch that other attachments have, which is
    added to.
    """
    (attachment, first), (ports, switches) = owner, places
    tier, rows = plan.tier(role), plan.rows("attachment", role, attachment.name)
    lanes = parse_split(tier.down.split).ports
    serial: Counter[int] = Counter()
    slots = np.zeros(len(ports), dtype=np.int64)
    for place, switch in enumerate(switches.tolist()):
        slots[place] = taken[switch] * lanes + serial[switch]
        serial[switch] += 1
    for switch, own in serial.items():
        taken[switch] += ceil_div(own, lanes)
    device, number, slot = _by_device(attachment, ports, ports)
    b, none = switches + plan.first[role], np.full(len(ports), NOTHING)
    cabled = CabledLinks(
        kind=KINDS.index(f"attachment-{role}"),
        a=first + device,
        a_nic=none,
        a_nic_port=number + 1,
        near=at_slots(slot, 1, 1),
        b=b,
        far=last_down_cages(plan.switch(role), tier, slots, _cages_above(plan, tier)),
        gbps=float(tier.gbps_down),
        run_m=np.full(len(ports), float(rows[0].length_m)),
        assemblies=[assembly_of(plan.numbers.embedded, row, 1, lanes) for row in rows],
        row=none.copy(),
        stage=np.array(attachment.stage_of_ports, dtype=np.int64)[ports],
    )
    return plan.dealt(cabled, rows, (1, lanes))


def _cages_above(plan: FabricPlan, tier: TierUse) -> int:
    """Cages of a switch for links other than those to servers and the tier below."""
    if plan.numbers.fabric.structure.is_direct:
        return sum(plan.cages_between.values())
    return 0 if tier.up is None else ceil_div(tier.up_ports, parse_split(tier.up.split).ports)


def _leaf_lanes(plan: FabricPlan) -> int:
    return parse_split(plan.tier("leaf").down.split).ports


def _devices(plan: FabricPlan) -> Iterator[tuple[Attachment, int]]:
    """Every attachment, and the row of its first device."""
    first = plan.first.get("attachment", 0)
    for attachment in plan.numbers.attachments:
        yield attachment, first
        first += 0 if attachment.name in plan.numbers.logical else attachment.devices


def _on_leaves(plan: FabricPlan, of_servers: Sequence[RowAssembly]) -> list[_Attached]:
    """Attachments on leaves with their rows; each may use modules of the servers' links or of earlier attachments."""
    hosts, lanes, attachments = list(of_servers), _leaf_lanes(plan), []
    dealt = _dealt(plan)
    for index, (attachment, first) in enumerate(_devices(plan)):
        places = enumerate(plan.numbers.fabric.free_ports.get(attachment.name, ()))
        own = [port for port in dealt if port.owner == index]
        leaves, ports = [port.leaf for port in own], np.arange(len(own))
        stage = np.array([port.stage for port in own], dtype=np.int64)
        if attachment.placed_on != "leaf" and plan.numbers.fabric.structure.is_direct:
            continue
        if attachment.placed_on != "leaf":
            free = [(leaf, port) for port, (tier, leaf) in places if tier == "leaf"]
            leaves, ports = [leaf for leaf, _ in free], np.array([port for _, port in free], dtype=np.int64)
            stage = np.array(attachment.stage_of_ports, dtype=np.int64)[ports]
        if not leaves:
            continue
        rows = plan.rows("attachment", "leaf", attachment.name)
        assemblies = [_assembly(plan, row, attachment, lanes, hosts) for row in rows]
        hosts += assemblies
        attachments.append(_Attached(attachment, rows, assemblies, first, leaves, ports, stage))
    return attachments


def _assembly(
    plan: FabricPlan, row: LinkRow, attachment: Attachment, far: int, hosts: Sequence[RowAssembly]
) -> RowAssembly:
    alone = row.to_cages or row.medium == NO_MEDIUM or any(part.end == "to" for part in row.parts)
    # links with parts of their own are in no splitter
    is_in_splitter = not row.parts
    fit = [
        host
        for host in hosts
        if (_joins(plan, row, attachment, host) if host.far_module else host.carries is Carries.FAR and is_in_splitter)
    ]
    fit = [] if alone else fit
    long_enough = [host for host in fit if row.parts or (host.cables and host.cables[-1][1] >= row.length_m)]
    host = next(iter(long_enough or fit), None)
    return assembly_of(plan.numbers.embedded, row, lanes_of(attachment), far, host)


def _joins(plan: FabricPlan, row: LinkRow, attachment: Attachment, host: RowAssembly) -> bool:
    """Whether a leaf's module for other links serves a row: it has the standard of the row's own module, a connector of
    the row's fibre, and the reach. A row without parts fits any module.
    """
    embedded = plan.numbers.embedded
    module = embedded.part(host.far_module, Transceiver)
    for part in row.parts:
        if part.end == "from":
            speaks = embedded.part(part.id, Transceiver).standard_by_split.get(attachment.split or "")
            if speaks != module.standard_by_split.get(plan.tier("leaf").down.split):
                return False
        elif embedded.kind(part.id) == "fibre":
            connectors = {end.connector for end in embedded.part(part.id, Fibre).both_ends}
            if not any(connector.endswith(module.connector) for connector in connectors):
                return False
    return module.reach_m >= row.length_m


def _used_slots(plan: FabricPlan, servers: CabledLinks) -> Ints:
    """Down slots of every leaf up to the last one that servers take."""
    leaf, lanes = servers.b - plan.first["leaf"], _leaf_lanes(plan)
    used = np.zeros(plan.tier("leaf").count, dtype=np.int64)
    cage = servers.far.cage - plan.down_cages("leaf", leaf, np.zeros_like(leaf)).cage
    np.maximum.at(used, leaf, cage * lanes + servers.far.lane + 1)
    return used


def _cabled(plan: FabricPlan, entry: _Attached, placed: LeafSlots) -> CabledLinks:
    tier = plan.tier("leaf")
    slots, own = in_cages(placed, entry.lanes, entry.per_cable)
    end = _near_end(plan, entry, entry.ports[own])
    b = slots.leaf + plan.first["leaf"]
    cabled = CabledLinks(
        kind=TO_ATTACHMENTS[0],
        a=end.device,
        a_nic=end.nic,
        a_nic_port=end.port,
        near=at_slots(end.slot, entry.lanes, 1),
        b=b,
        far=plan.down_cages("leaf", slots.leaf, slots.slot),
        gbps=float(tier.gbps_down),
        run_m=end.run_m(plan, entry.rows, b),
        assemblies=entry.assemblies,
        row=np.full(len(own), NOTHING),
        stage=entry.stage,
    )
    return plan.dealt(cabled, entry.rows, (entry.lanes, _leaf_lanes(plan)))


def _near_end(plan: FabricPlan, entry: _Attached, slots: Ints) -> _NearEnd:
    """The ports of an attachment in their order: on its devices, or for a logical fabric on the servers."""
    attachment = entry.attachment
    if attachment.name not in plan.numbers.logical:
        device, serial, own = _by_device(attachment, entry.ports, slots)
        return _NearEnd(entry.first + device, np.full(len(slots), NOTHING), serial + 1, own, "attachment-leaf")
    serial = np.arange(len(slots))
    use, before = plan.numbers.logical[attachment.name], plan.logical[attachment.name]
    server, port = np.divmod(serial, use.nic.per_server * use.nic.ports_per_nic)
    nic, of_nic = np.divmod(port, use.nic.ports_per_nic)
    cage = before.cages + plan.numbers.port_cages(use, port)
    return _NearEnd(server, before.nics + nic + 1, of_nic + 1, cage, "server-leaf")


def _by_device(attachment: Attachment, serial: Ints, own: Ints) -> tuple[Ints, Ints, Ints]:
    """Device, number there, and slot in its own cages of ports of an attachment; ``serial``: their numbers."""
    if attachment.devices == 1:
        return 0 * serial, serial, own
    device, slot = np.divmod(own, attachment.ports // attachment.devices)
    return device, slot, slot


def _dealt(plan: FabricPlan) -> list[AttachedPort]:
    """The attachment ports that are dealt over all leaves."""
    wanted, embedded = plan.numbers.attachments, plan.numbers.embedded
    # files from before rules were named have them anywhere
    spreads = embedded.design.rules is not None and rack_limits(embedded.case).spread_attachments
    adds = [(attachment.adds or (attachment.ports,)) if attachment.placed_on == "leaf" else () for attachment in wanted]
    racks = [rack for rack, _ in plan.numbers.fabric.places.leaf] if spreads else []
    return dealt_over_leaves(plan.numbers.clos, adds, racks, plan.numbers.fabric.homing in ("pair", "dual"))
