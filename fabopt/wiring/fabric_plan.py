"""A fabric while it is cabled: its rows of links, its tiers, and the rows of its devices in the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, repeat
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import NO_GROUP
from fabopt.schema.attachment import Attachment
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import FabricDesign, LinkRow, Place, PortUse, TierUse
from fabopt.schema.resilience import CABLES_OF_PEER_LINK
from fabopt.schema.subnet_manager import twins_of
from fabopt.wiring.assembly import Carries, RowAssembly, assembly_of
from fabopt.wiring.design_file import Embedded, divide
from fabopt.wiring.join import CabledLinks, Cages, LiveParts, RealizedRow, cables_of, deal, down_cages
from fabopt.wiring.model import NOTHING, Devices, Ints, Lent, Mask, Role
from fabopt.wiring.numbers import Numbers, ServerNics
from fabopt.wiring.runs import Runs
from fabopt.wiring.tables import CabledKinds

Lanes = tuple[int, int]


@dataclass(frozen=True, eq=False)
class FabricPlan:
    """A fabric while it is cabled.

    ``fabric``: its index in the design; ``first``: the row of its first device of each role; ``before``: NICs and cages
    of a server that earlier fabrics have; ``logical``: NICs and cages before those of each logical fabric; ``live``:
    parts that links have in service, by kind and devices, in their order.
    """

    numbers: Numbers
    fabric: int
    first: Mapping[str, int]
    runs: Runs
    before: ServerNics
    logical: Mapping[str, ServerNics]
    live: LiveParts = field(default_factory=dict)

    def rows(self, near: str, far: str, attachment: str | None = None, scope: str | None = None) -> list[LinkRow]:
        """The file's rows of one kind of links; raises ``LookupError`` where it has none."""
        wanted = (near, far, attachment, scope)
        rows = [row for row in self.numbers.fabric.links if (row.from_, row.to, row.attachment, row.scope) == wanted]
        if not rows:
            raise LookupError(f"{self.numbers.fabric.name} has no links from {attachment or near} to {far}")
        return rows

    def assemblies(self, rows: Sequence[LinkRow], lanes: Lanes) -> list[RowAssembly]:
        """Assemblies of rows between cages with ``lanes`` ports (near, far)."""
        return [assembly_of(self.numbers.embedded, row, *lanes) for row in rows]

    def tier(self, role: str) -> TierUse:
        """The tier of a role."""
        return next(tier for tier in self.numbers.fabric.tiers if tier.role == role)

    def switch(self, role: str) -> Switch:
        """The switch type of a tier."""
        return self.numbers.embedded.part(self.tier(role).id, Switch)

    def types(self, role: str) -> list[tuple[Switch, TierUse]]:
        """The types of a tier's switches, with the use of each."""
        return [(self.numbers.embedded.part(own.id, Switch), own) for own in self.tier(role).types]

    def is_other(self, role: str, number: Ints) -> Mask:
        """Mask of the switches of a tier, by their numbers, of the tier's other type, shape (switches asked,)."""
        return self.numbers.is_other(self.tier(role), number)

    def down_cages(self, role: str, number: Ints, slots: Ints) -> Cages:
        """Cages of ports towards the servers on switches of a tier, whose numbers these are, shape (slots,)."""
        own, *other = (down_cages(switch, tier.down, slots) for switch, tier in self.types(role))
        return own if not other else own.where(self.is_other(role, number), other[0])

    @property
    def peer_use(self) -> PortUse | None:
        """The cages of peer links between leaves; None where there are none."""
        peers = self.numbers.fabric.peer_links
        return None if peers is None else PortUse(cage_group=peers.cage_group, split=peers.split)

    def cages_past(self, tier: TierUse, use: PortUse) -> int:
        """Cages at the end of a group that peer links have, past those of a use."""
        peers = self.peer_use if tier.role == "leaf" else None
        return CABLES_OF_PEER_LINK if peers is not None and peers.cage_group == use.cage_group else 0

    @cached_property
    def cages_between(self) -> Mapping[str, int]:
        """Cages of every switch of the last tier for links to others of the tier, by scope."""
        lanes = parse_split(up_use(self.numbers.fabric.tiers[-1]).split).ports
        links = {scope: self.numbers.expanded.links(scope) for scope in self.numbers.mesh.equals.scopes}
        return {scope: int(max(of.a_slot.max(), of.b_slot.max())) // lanes + 1 for scope, of in links.items()}

    def dealt(self, cabled: CabledLinks, rows: Sequence[LinkRow], lanes: Lanes) -> CabledLinks:
        """The links, each with its row of the file."""
        ends = [(cabled.kind, a, b) for a, b in zip(cabled.a.tolist(), cabled.b.tolist(), strict=True)]
        parts = {one: iter(self.live[one]) for one in ends if self.live}
        deal(cabled, self._shares(rows, cabled.assemblies, lanes), [next(parts[one]) for one in ends if parts])
        return cabled

    def cabled(self, parts: Sequence[CabledLinks], lent: Lent | None = None) -> CabledKinds:
        """Kinds of links that may share cables, with their cables."""
        assemblies = [assembly for part in parts for assembly in part.assemblies]
        offsets = np.cumsum([0, *(len(part.assemblies) for part in parts)]).tolist()
        row = np.concatenate([part.row + offset for part, offset in zip(parts, offsets, strict=False)])
        return CabledKinds(self.fabric, tuple(parts), tuple(assemblies), row, cables_of(parts, assemblies, row), lent)

    def _shares(self, rows: Sequence[LinkRow], assemblies: Sequence[RowAssembly], lanes: Lanes) -> list[RealizedRow]:
        names = [stage.name for stage in self.numbers.embedded.case.stages or ()]
        return [
            RealizedRow(
                row.count,
                row.from_cages if lanes[0] > 1 else row.to_cages,
                _cables(assembly),
                None if row.runs_m is None else tuple(float(run) for run in row.runs_m),
                None if row.stages is None else tuple(names.index(name) for name in row.stages),
            )
            for row, assembly in zip(rows, assemblies, strict=True)
        ]


def up_use(tier: TierUse) -> PortUse:
    """The cages of a tier's links to other switches; ``LookupError`` if it has none."""
    if tier.up is None:
        raise LookupError(f"the {tier.role} tier names no cages for links to other switches")
    return tier.up


def _cables(assembly: RowAssembly) -> int | None:
    """Number of cables of an assembly; None where it has none, one a link, or shuffles."""
    if assembly.carries in (Carries.LINK, Carries.CROSS) or not assembly.cables:
        return None
    return sum(number for *_, number in assembly.cables)


def first_rows(devices: Sequence[Device], start: int, fabric: str) -> dict[str, int]:
    """The row of a fabric's first device of each role; ``start``: of its first device."""
    first: dict[str, int] = {}
    own: Iterable[Device] = (device for device in devices[start:] if device.fabric == fabric)
    for row, device in enumerate(own, start):
        first.setdefault(device.role, row)
    return first


# -- the devices of a design by name, with their numbers and places ---------------------------------------------------


LEAST_DIGITS = {"server": 4, "attachment": 2, "leaf": 3, "spine": 3, "core": 3}
NOWHERE: Place = ("", 0)


class Device(NamedTuple):
    """A row of ``Devices``."""

    name: str
    role: Role
    product: str
    fabric: str = ""
    plane: int = NOTHING
    pod: int = NOTHING
    group: int = NOTHING
    rail: int = NOTHING
    rack: str = ""
    unit: int = 0
    height_u: float = 0.0
    stage: int = 0


def table_of(devices: list[Device]) -> Devices:
    """Devices as columns."""

    def numbers(column: str) -> Ints:
        return np.array([getattr(device, column) for device in devices], dtype=np.int64)

    return Devices(
        name=[device.name for device in devices],
        role=[device.role for device in devices],
        product=[device.product for device in devices],
        fabric=[device.fabric for device in devices],
        plane=numbers("plane"),
        pod=numbers("pod"),
        group=numbers("group"),
        rail=numbers("rail"),
        rack=[device.rack for device in devices],
        unit=numbers("unit"),
        height_u=np.array([device.height_u for device in devices], dtype=float),
        stage=numbers("stage"),
    )


def server_devices(embedded: Embedded) -> Iterator[Device]:
    """The servers, in the order in which they fill the racks."""
    server, racks = embedded.server, embedded.design.racks
    ends = [embedded.servers_of(stage) for stage in embedded.case.stages or ()][:-1]
    height = float(server.rack_units or 1)
    units = server.units_in_rack(racks.servers_per_rack)
    places = placed((rack, unit) for rack in racks.server_racks for unit in units)
    for index, (rack, unit) in enumerate(islice(places, embedded.servers)):
        name = numbered("server", "server", index)
        stage = sum(index >= end for end in ends)
        yield Device(name, "server", server.id, rack=rack, unit=unit, height_u=height, stage=stage)


def placed(places: Iterator[Place]) -> Iterator[Place]:
    """Places in their order, then ``NOWHERE`` without end."""
    return chain(places, repeat(NOWHERE))


def units_of(height_u: float) -> int:
    """Integer rack units that a device blocks."""
    return max(1, int(-(-height_u // 1)))


def numbered(prefix: str, role: str, index: int) -> str:
    """``compute-leaf`` and 6 give ``compute-leaf-007``; digits grow only past the last name that fits."""
    return f"{prefix}-{index + 1:0{LEAST_DIGITS[role]}d}"


def fabric_devices(numbers: Numbers) -> Iterator[Device]:
    """Attachments, leaves, spines and cores of a fabric, each role counted plane by plane."""
    for attachment in numbers.attachments:
        if attachment.name not in numbers.logical:
            yield from _attached(attachment, numbers.fabric)
    for tier in numbers.fabric.tiers:
        yield from _switches(numbers, tier)


def _switches(numbers: Numbers, tier: TierUse) -> Iterator[Device]:
    fabric, number, clos = numbers.fabric, np.arange(tier.count), numbers.clos
    heights = {own.id: float(numbers.embedded.part(own.id, Switch).rack_units) for own in tier.types}
    places = placed(iter(getattr(fabric.places, tier.role)))
    of_network = divide(tier.count, clos.planes, f"networks of {fabric.name} share its {tier.role} switches evenly")
    network, within = np.divmod(number, of_network)
    plane, apart = np.divmod(network, clos.planes // fabric.planes)
    pod, group, rail = _numbers_of(numbers, tier.role, within)
    stage = numbers.expanded.stages_of(tier.role, number)
    products = _products(numbers, tier, network, stage)
    for index, (rack, unit) in zip(number.tolist(), places, strict=False):
        words = [fabric.name, *([f"p{plane[index] + 1}"] if fabric.planes > 1 else ())]
        of_rail = int(rail[index])
        if fabric.topology == "rail-only":
            words.append(f"r{apart[index] + 1}")
            of_rail = int(apart[index]) * clos.rails + max(1, of_rail)
        yield Device(
            numbered("-".join([*words, tier.role]), tier.role, int(within[index])), tier.role, products[index],
            fabric.name,
            int(plane[index]) + 1, int(pod[index]), int(group[index]), of_rail, rack, unit,
            heights.get(products[index], heights[tier.id]), int(stage[index]),
        )  # fmt: skip


def _products(numbers: Numbers, tier: TierUse, network: Ints, stage: Ints) -> list[str]:
    """The product of each switch of a tier: in every network those installed first are exchanged for their twin; of
    each stage those installed last are of products that stand in.

    ``network``, ``stage``: of each switch, shape (switches,).
    """
    stages = [entry.name for entry in numbers.embedded.design.stages]
    products = tier.products({name: np.flatnonzero(stage == index).tolist() for index, name in enumerate(stages)})
    if tier.other is not None:
        for index in np.flatnonzero(numbers.is_other(tier, np.arange(tier.count))).tolist():
            products[index] = tier.other.id
    for twin in twins_of(numbers.fabric.subnet_manager, tier.role):
        of_network = divide(twin.count, numbers.clos.planes, f"networks share the {twin.role} twins evenly")
        by_stage = np.lexsort((stage, network)).reshape(numbers.clos.planes, -1)
        for index in by_stage[:, :of_network].flatten().tolist():
            products[index] = twin.id
    return products


def _attached(attachment: Attachment, fabric: FabricDesign) -> Iterator[Device]:
    """The devices of an attachment, numbered if there are several, in their racks."""
    places = placed(iter(fabric.places.attachments.get(attachment.name, ())))
    name, height = f"{fabric.name}-{attachment.name}", attachment.rack_units or 0.0
    for index, (rack, unit) in enumerate(islice(places, attachment.devices)):
        own = name if attachment.devices == 1 else numbered(name, "attachment", index)
        yield Device(
            own,
            "attachment",
            attachment.name,
            fabric.name,
            rack=rack,
            unit=unit,
            height_u=height,
            stage=attachment.first_stage,
        )


def _numbers_of(numbers: Numbers, role: str, within: Ints) -> tuple[Ints, Ints, Ints]:
    """(pod, group, rail) from 1 of switches by their numbers in their plane; only leaves with servers have a group."""
    pods = numbers.expanded.pods_of(role, within)
    clos = numbers.clos
    group = clos.group_of_leaf(within) if clos.has_own_last and role == "leaf" else within // clos.rails
    rail = within - clos.first_leaves(group)
    with_servers = (group < clos.groups) & (role == "leaf")
    pod = np.where(pods == NO_GROUP, NOTHING, pods + 1)
    return pod, np.where(with_servers, group + 1, NOTHING), np.where(with_servers, rail + 1, NOTHING)
