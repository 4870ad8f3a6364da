"""A fabric while it is cabled: its rows of links, its tiers, and the rows of its devices in the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabopt.network.direct_links import slots_of
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import LinkRow, PortUse, TierUse
from fabopt.schema.homing import CABLES_OF_PEER_LINK
from fabopt.wiring.assembly import Carries, RowAssembly, assembly_of
from fabopt.wiring.cages import Cages, down_cages
from fabopt.wiring.devices import Device
from fabopt.wiring.join import CabledLinks, RealizedRow, cables_of, deal
from fabopt.wiring.model import Ints, Lent, Mask
from fabopt.wiring.numbers import Numbers, ServerNics
from fabopt.wiring.runs import Runs
from fabopt.wiring.tables import CabledKinds

Lanes = tuple[int, int]


@dataclass(frozen=True, eq=False)
class FabricPlan:
    """A fabric while it is cabled.

    ``fabric``: its index in the design; ``first``: the row of its first device of each role; ``before``: NICs and cages
    of a server that earlier fabrics have; ``logical``: NICs and cages before those of each logical fabric.
    """

    numbers: Numbers
    fabric: int
    first: Mapping[str, int]
    runs: Runs
    before: ServerNics
    logical: Mapping[str, ServerNics]

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
        lanes, mesh = parse_split(up_use(self.numbers.fabric.tiers[-1]).split).ports, self.numbers.mesh.equals
        slots = {scope: slots_of(mesh.pairs(scope)) for scope in mesh.scopes}
        return {scope: int(max(of.a.max(), of.b.max())) // lanes + 1 for scope, of in slots.items()}

    def dealt(self, cabled: CabledLinks, rows: Sequence[LinkRow], lanes: Lanes) -> CabledLinks:
        """The links, each with its row of the file."""
        deal(cabled, self._shares(rows, cabled.assemblies, lanes))
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
