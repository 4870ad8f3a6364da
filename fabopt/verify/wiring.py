"""The explicit wiring as evidence: the tables of one fabric, and what the file says that must be found in them.

Rules of the wiring read the rows of its tables and count them; how the tables were made is nothing to them, so a wiring
from elsewhere can be proven as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.lookup import Lookup
from fabopt.schema.catalog import Transceiver
from fabopt.schema.design import TierUse
from fabopt.units import MBPS_PER_GBPS
from fabopt.verify.assemblies import Assembly, cable_of
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.closed import require_closed, require_rows
from fabopt.verify.codes import coded
from fabopt.verify.evidence import RAIL_ONLY, Evidence, FabricEvidence
from fabopt.verify.floor_runs import measured_m
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.link_rows import Kind
from fabopt.verify.proof import UNPROVABLE
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import item_at
from fabopt.wiring.model import KINDS, NOTHING, Cables, Devices, Floats, Ints, Links, Wiring, at_stage

# Beyond this a wiring takes gigabytes; its rules are left out then, and the classes of equal boxes must do.
MOST_LINKS = 1_000_000
# Far beyond any port, and small enough that sums of a million stay exact.
MOST_MBPS = 10**12


@dataclass(frozen=True, eq=False)
class CabledDesign:
    """A design and its wiring, which is made when the first rule asks; ``given``: one from elsewhere to prove instead.

    ``wiring`` raises ``ValueError``, each time, where the file has none.
    """

    evidence: Evidence
    given: Wiring | None = None

    @property
    def is_listed(self) -> bool:
        """True unless there are more links than are worth a list."""
        return sum(row.count for fabric in self.evidence.design.fabrics for row in fabric.links) <= MOST_LINKS

    @property
    def wiring(self) -> Wiring:
        """The tables."""
        if isinstance(self._wiring_or_fault, str):
            raise ValueError(f"there is no wiring: {self._wiring_or_fault}")
        return self._wiring_or_fault

    @cached_property
    def _wiring_or_fault(self) -> Wiring | str:
        return self._read() if self.given is not None else _WIRING.of(self.evidence, None, self._read)

    def _read(self) -> Wiring | str:
        try:
            if self.given is None:
                for fabric in self.evidence.fabrics:
                    require_closed(fabric)
            wiring = self.given if self.given is not None else wiring_of(self.evidence.design)
            require_rows(wiring)
            return wiring
        except UNPROVABLE as error:
            return str(error.args[0] if error.args else type(error).__name__)

    @cached_property
    def roles(self) -> NDArray[np.str_]:
        """Role of every box."""
        return np.array(self.wiring.devices.role, dtype=np.str_)

    @cached_property
    def runs_m(self) -> Floats:
        """The cable that the floor asks for between the ends of every link; NaN where it says nothing."""
        return measured_m(self.evidence, self.wiring)


# What a file's wiring is, or why it has none.
_WIRING: Lookup[Evidence, None, Wiring | str] = Lookup()


class LinksOfKind(NamedTuple):
    """A kind of links of the file, and the rows of ``FabricCabling.links`` that are of it."""

    kind: Kind
    rows: Ints


class CageRange(NamedTuple):
    """Cages from ``first`` to ``last``, both from 1 over all groups of a box."""

    first: int
    last: int


class ServerPart(NamedTuple):
    """Cards of a server, and the cages that they have or share."""

    cards: int
    cages: int


class LogicalPart(NamedTuple):
    """What of a server a logical fabric has. ``cages_of_card``: 0 where its cards share cages of the server."""

    cards_before: int
    cages_before: int
    cards: int
    cages: int
    cages_of_card: int


def cages_per_server(fabric: FabricEvidence) -> int:
    """Cages of a server that are a fabric's: those of all its cards, or those that its cards share."""
    cages = sum(cage.count for cage in fabric.nic_cages)
    return cages if fabric.shared_cages else cages * fabric.made.nic.per_server


@dataclass(frozen=True, eq=False)
class FabricCabling:
    """The wiring of one fabric, which is number ``index`` of the design's; ``stage``: of what is there by then only."""

    fabric: FabricEvidence
    cabled: CabledDesign
    index: int
    stage: int | None = None

    @property
    def clos(self) -> ClosCounts:
        """The fabric recounted from its free choices."""
        return self.fabric.clos

    @cached_property
    def devices(self) -> Devices:
        """The boxes of all fabrics: links name them by their rows.

        Of a rail-only fabric, ``plane`` tells the networks apart (each rail of each plane, 0 where there is no such
        rail), and ``rail`` is the place of a leaf within its network.
        """
        devices, clos = self.cabled.wiring.devices, self.clos
        if self.fabric.made.topology != RAIL_ONLY:
            return devices
        cards = self.fabric.made.nic.per_server
        own = np.array([name == self.fabric.made.name for name in devices.fabric], dtype=np.bool_)
        card, place = np.divmod(devices.rail - 1, clos.rails)
        known = (card >= 0) & (card < cards)
        network = np.where(known, (devices.plane - 1) * cards + card + 1, 0)
        leaf = own & (self.cabled.roles == "leaf")
        switch = own & (devices.plane != NOTHING)
        return replace(
            devices, plane=np.where(switch, network, devices.plane), rail=np.where(leaf, place + 1, devices.rail)
        )

    @property
    def cables(self) -> Cables:
        """The wires of all fabrics: links name them by their rows."""
        return self.cabled.wiring.cables

    @cached_property
    def server_before(self) -> ServerPart:
        """What earlier fabrics have of every server: the fabric's cards and cages are numbered on from there."""
        earlier = self.cabled.evidence.fabrics[: self.index]
        return ServerPart(sum(one.made.nic.per_server for one in earlier), sum(map(cages_per_server, earlier)))

    @cached_property
    def links(self) -> Links:
        """The links of the fabric."""
        links = self.cabled.wiring.links
        mine = links.fabric == self.index
        if self.stage is not None:
            mine = mine & (links.stage <= self.stage)
            links = at_stage(self.cabled.wiring, self.stage)
        return links if mine.all() else Links(*(getattr(links, one.name)[mine] for one in fields(links)))

    @cached_property
    def runs_m(self) -> Floats:
        """The cable that the site asks for between the ends of every link, on its floor or over flat distances.

        0 for links of no kind.
        """
        measured: Floats = self.cabled.runs_m[self.cabled.wiring.links.fabric == self.index]
        for joined in self.joined:
            flat = joined.rows[np.isnan(measured[joined.rows])]
            measured[flat] = joined.kind.run_m
        return np.nan_to_num(measured)

    @cached_property
    def own_cables(self) -> Ints:
        """Rows of the fabric's wires."""
        return np.flatnonzero(self.cables.fabric == self.index)

    @cached_property
    def assemblies(self) -> tuple[Assembly, ...]:
        """The links that have a wire, by kind and parts; ``LookupError`` for a part that is not embedded."""
        links, cables = self.links, self.cables
        number, made = coded(zip(cables.a_module, cables.part, cables.b_module, strict=True))
        logical_fabrics, found = self._logical_fabrics(), []
        for kind, rows in self.joined:
            cabled = rows[links.cable[rows] >= 0]
            for parts, logical in itertools.product(range(len(made)), (False, True)):
                mine = cabled[(number[links.cable[cabled]] == parts) & (logical_fabrics[cabled] == logical)]
                if len(mine):
                    found.append(self._assembly(kind, mine, made[parts], logical))
        return tuple(found)

    def _logical_fabrics(self) -> NDArray[np.bool_]:
        """True for links on a free leg of another kind's wire; that names the modules of its first link."""
        links, kind = self.links, np.zeros(len(self.links), dtype=np.int64)
        for number, joined in enumerate(self.joined):
            kind[joined.rows] = number
        _, first, cable = np.unique(links.cable, return_index=True, return_inverse=True)
        return np.asarray(kind != kind[first][cable.ravel()], dtype=np.bool_)

    def _assembly(self, kind: Kind, rows: Ints, parts: tuple[str, str, str], logical: bool) -> Assembly:
        near, cable, far = parts
        if logical:
            own = kind.rows[0].near
            near = own.id if own is not None else ""
        evidence = self.fabric.evidence
        modules = [evidence.part(module, Transceiver) if module else None for module in (near, far)]
        return Assembly(kind, rows, cable_of(evidence, cable), *modules)

    def devices_of(self, role: str) -> Ints:
        """Rows of the fabric's boxes of a role, in order; servers are every fabric's."""
        rows = np.flatnonzero(self.cabled.roles == role)
        if self.stage is not None:
            rows = rows[self.devices.stage[rows] <= self.stage]
        if role == "server":
            return rows
        own = [row for row in rows.tolist() if self.devices.fabric[row] == self.fabric.made.name]
        return np.array(own, dtype=np.int64)

    def numbers(self, role: str) -> Ints:
        """For every box of the design its number among the fabric's boxes of a role, from 0; -1 for all others."""
        numbers = np.full(len(self.devices), -1, dtype=np.int64)
        rows = self.devices_of(role)
        numbers[rows] = np.arange(len(rows))
        return numbers

    def of(self, kind: str) -> Ints:
        """The rows of ``links`` of a kind of ``KINDS``."""
        return np.flatnonzero(self.links.kind == KINDS.index(kind))

    @cached_property
    def joined(self) -> tuple[LinksOfKind, ...]:
        """The links of every kind that the file must have; attachments one by one."""
        found = []
        for kind in all_kinds(self.fabric):
            if kind.name in KINDS:
                found.append(LinksOfKind(kind, self.of(kind.name)))
        attached = self.of("attachment-leaf")
        names = self.attached_names[attached]
        for kind in all_kinds(self.fabric):
            if kind.name not in KINDS:
                found.append(LinksOfKind(kind, attached[names == kind.name.removeprefix("attachment ")]))
        return tuple(found)

    @cached_property
    def logical_parts(self) -> dict[str, LogicalPart]:
        """What of a server the logical fabrics on this one have: numbered on from all fabrics with switches."""
        fabrics = self.cabled.evidence.fabrics
        cards, cages = sum(one.made.nic.per_server for one in fabrics), sum(map(cages_per_server, fabrics))
        found = {}
        for fabric in fabrics:
            for one in fabric.made.logical:
                groups = fabric.evidence.nic_cages(one)
                shared = any(nic.cages is not None for nic in fabric.evidence.server.nics if nic.role == one.role)
                mine = groups if one.nic.built_in else (item_at(groups, one.nic.cage_group, "NIC cage group"),)
                of_card = 0 if shared else sum(cage.count for cage in mine)
                own = sum(cage.count for cage in mine) if shared else of_card * one.nic.per_server
                found[one.name] = LogicalPart(cards, cages, one.nic.per_server, own, of_card)
                cards, cages = cards + one.nic.per_server, cages + own
        return {one.name: found[one.name] for one in self.fabric.made.logical}

    @cached_property
    def attached_names(self) -> NDArray[np.str_]:
        """The attachment that the near end of every link is: of a server's port, the logical fabric of its card."""
        links = self.links
        names = np.array([self.devices.product[row] for row in links.a.tolist()], dtype=object)
        for name, part in self.logical_parts.items():
            mine = (links.a_nic > part.cards_before) & (links.a_nic <= part.cards_before + part.cards)
            names[mine & (self.cabled.roles[links.a] == "server")] = name
        return names.astype(np.str_)

    def cage_range(self, role: str, upwards: bool) -> CageRange:
        """The cages of a tier's switch that face one side."""
        tier = self.fabric.tier(role)
        use = self.fabric.up_use(role) if upwards else tier.down
        before = sum(cage.count for cage in self.fabric.switch(role).cages[: use.cage_group])
        return CageRange(before + 1, before + self.fabric.cage(role, use).count)

    def tiers(self) -> Sequence[TierUse]:
        """The tiers, in their order from the servers up."""
        return [self.fabric.tier(tier.role) for tier in self.fabric.made.tiers]

    def mbps(self, rows: Ints) -> Ints:
        """Speed of some links in Mb/s; -1 for what is no speed."""
        speed = np.rint(self.links.gbps[rows] * MBPS_PER_GBPS)
        return np.where((speed > 0) & (speed < MOST_MBPS), speed, -1).astype(np.int64)
