"""Links of attachments to the leaves, in cages that they may share with the servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers, attached_leaves, dealt
from fabopt.schema.base import parse_split
from fabopt.schema.case import Attachment
from fabopt.schema.design import LinkRow
from fabopt.wiring.assembly import Carries, RowAssembly, assembly_of, padding
from fabopt.wiring.attachments import LeafSlots, OpenCages, in_cages, lanes_of, part_in_cage, place_attachments
from fabopt.wiring.cages import at_slots, down_cages
from fabopt.wiring.fabric_plan import FabricPlan
from fabopt.wiring.join import CabledLinks
from fabopt.wiring.model import NOTHING, Ints

NO_MEDIUM = "none"


class _NearEnd(NamedTuple):
    """The near end of links of an attachment, link by link: ``slot`` counts ports over the cages of the device, from 0;
    ``kind``: of links that run as far.
    """

    device: Ints
    nic: Ints
    port: Ints
    slot: Ints
    kind: str


@dataclass(frozen=True, eq=False)
class _Attached:
    """An attachment: its rows, how they make links, and the first of its devices."""

    attachment: Attachment
    rows: list[LinkRow]
    assemblies: list[RowAssembly]
    first: int

    @property
    def lanes(self) -> int:
        return lanes_of(self.attachment)

    @property
    def per_cable(self) -> int:
        return padding(self.assemblies)


def attached(plan: FabricPlan, servers: CabledLinks) -> list[CabledLinks]:
    """The links of every attachment, in listed order."""
    wanted = plan.numbers.attachments
    if not wanted:
        return []
    of_servers = part_in_cage(servers.assemblies[0], plan.runs.differ)
    unbought = of_servers or ("nothing bought",)
    attachments = _read(plan, servers.assemblies)
    parts = [
        unbought if entry.attachment.buys == "none" else part_in_cage(entry.assemblies[0], plan.runs.differ)
        for entry in attachments
    ]
    cages = OpenCages(_used_slots(plan, servers), _leaf_lanes(plan), of_servers)
    leaves, stages = _dealt(plan.numbers.clos, wanted)
    placed = place_attachments(wanted, parts, leaves, cages, [entry.per_cable for entry in attachments])
    return [_cabled(plan, entry, slots, stage) for entry, slots, stage in zip(attachments, placed, stages, strict=True)]


def _leaf_lanes(plan: FabricPlan) -> int:
    return parse_split(plan.tier("leaf").down.split).ports


def _read(plan: FabricPlan, of_servers: Sequence[RowAssembly]) -> list[_Attached]:
    """Attachments with their rows; each may use modules of the servers' links or of attachments before it."""
    hosts, lanes, attachments = list(of_servers), _leaf_lanes(plan), []
    first = plan.first.get("attachment", 0)
    for attachment in plan.numbers.attachments:
        rows = plan.rows("attachment", "leaf", attachment.name)
        assemblies = [_assembly(plan, row, lanes_of(attachment), lanes, hosts) for row in rows]
        hosts += assemblies
        attachments.append(_Attached(attachment, rows, assemblies, first))
        first += 0 if attachment.name in plan.numbers.logical else attachment.devices
    return attachments


def _assembly(plan: FabricPlan, row: LinkRow, near: int, far: int, hosts: Sequence[RowAssembly]) -> RowAssembly:
    alone = row.to_cages or row.medium == NO_MEDIUM or any(part.end == "to" for part in row.parts)
    fit = [] if alone else [host for host in hosts if host.far_module or host.carries is Carries.FAR]
    long_enough = [host for host in fit if row.parts or (host.cables and host.cables[-1][1] >= row.length_m)]
    return assembly_of(plan.numbers.embedded, row, near, far, next(iter(long_enough or fit), None))


def _used_slots(plan: FabricPlan, servers: CabledLinks) -> Ints:
    """Down slots of every leaf up to the last one that servers take."""
    tier, lanes = plan.tier("leaf"), _leaf_lanes(plan)
    first_cage = down_cages(plan.switch("leaf"), tier.down, np.array([0])).cage[0]
    used = np.zeros(tier.count, dtype=np.int64)
    slots = (servers.far.cage - first_cage) * lanes + servers.far.lane + 1
    np.maximum.at(used, servers.b - plan.first["leaf"], slots)
    return used


def _cabled(plan: FabricPlan, entry: _Attached, placed: LeafSlots, stage: Ints) -> CabledLinks:
    tier = plan.tier("leaf")
    slots, own = in_cages(placed, entry.lanes, entry.per_cable)
    end = _near_end(plan, entry.attachment, entry.first, own)
    b = slots.leaf + plan.first["leaf"]
    cabled = CabledLinks(
        kind=1,
        a=end.device,
        a_nic=end.nic,
        a_nic_port=end.port,
        near=at_slots(end.slot, entry.lanes, 1),
        b=b,
        far=down_cages(plan.switch("leaf"), tier.down, slots.slot),
        gbps=float(tier.gbps_down),
        run_m=plan.runs.of(end.kind, end.device, b),
        assemblies=entry.assemblies,
        row=np.full(len(own), NOTHING),
        stage=stage,
    )
    return plan.dealt(cabled, entry.rows, (entry.lanes, _leaf_lanes(plan)))


def _near_end(plan: FabricPlan, attachment: Attachment, first: int, slots: Ints) -> _NearEnd:
    """Where the ports of an attachment are, in their order: on devices, or if a logical fabric's, on the servers."""
    if attachment.name not in plan.numbers.logical:
        device, serial, own = _by_device(attachment, slots)
        return _NearEnd(first + device, np.full(len(slots), NOTHING), serial + 1, own, "attachment-leaf")
    serial = np.arange(len(slots))
    use, before = plan.numbers.logical[attachment.name], plan.logical[attachment.name]
    server, port = np.divmod(serial, use.nic.per_server * use.nic.ports_per_nic)
    nic, of_nic = np.divmod(port, use.nic.ports_per_nic)
    cage = before.cages + plan.numbers.port_cages(use, port)
    return _NearEnd(server, before.nics + nic + 1, of_nic + 1, cage, "server-leaf")


def _by_device(attachment: Attachment, own: Ints) -> tuple[Ints, Ints, Ints]:
    """Of every port of an attachment its device, its number there, and its slot in the device's own cages."""
    serial = np.arange(attachment.ports)
    if attachment.devices == 1:
        return 0 * serial, serial, own
    device, slot = np.divmod(own, attachment.ports // attachment.devices)
    return device, slot, slot


def _dealt(clos: ClosNumbers, wanted: Sequence[Attachment]) -> tuple[list[int], list[Ints]]:
    """The leaf of every port, attachment by attachment, and the stages of the ports of each."""
    owners = dealt([attachment.adds or (attachment.ports,) for attachment in wanted])
    of_stage = np.bincount([stage for _, stage in owners], minlength=1).tolist()
    leaves = attached_leaves(clos, of_stage)
    order = sorted(range(len(owners)), key=lambda place: owners[place][0])
    stages = [np.array([stage for owner, stage in owners if owner == index]) for index in range(len(wanted))]
    return [leaves[place] for place in order], stages
