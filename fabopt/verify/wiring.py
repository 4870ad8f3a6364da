"""The explicit wiring as evidence: the tables of one fabric, and what the file says that must be found in them.

Rules of the wiring read the rows of its tables and count them; how the tables were made is nothing to them, so a wiring
from elsewhere can be proven as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import height_m
from fabopt.parts.lookup import Lookup
from fabopt.schema.catalog import Transceiver
from fabopt.schema.design import TierUse
from fabopt.units import MBPS_PER_GBPS
from fabopt.verify.assemblies import Assembly, cable_of
from fabopt.verify.clos_counts import Clos
from fabopt.verify.direct_counts import Mesh
from fabopt.verify.evidence import RAIL_ONLY, Evidence, FabricEvidence
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.link_rows import Kind
from fabopt.verify.proof import UNPROVABLE
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import item_at
from fabopt.wiring.model import KINDS, NOTHING, Cables, Devices, Floats, Ints, Links, Wiring, at_stage

_MOST_NUMBERS = 2**31  # two factors below it have a product that still fits
Word = TypeVar("Word", bound=Hashable)
# Beyond this a wiring takes gigabytes; its rules are left out then, and the classes of equal boxes must do.
MOST_LINKS = 1_000_000
# Far beyond any port, and small enough that sums of a million stay exact.
MOST_MBPS = 10**12


@dataclass(frozen=True, eq=False)
class Cabled:
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
        if isinstance(self._made, str):
            raise ValueError(f"there is no wiring: {self._made}")
        return self._made

    @cached_property
    def _made(self) -> Wiring | str:
        return self._read() if self.given is not None else _WIRING.of(self.evidence, None, self._read)

    def _read(self) -> Wiring | str:
        try:
            if self.given is None:
                for fabric in self.evidence.fabrics:
                    _require_closed(fabric)
            made = self.given if self.given is not None else wiring_of(self.evidence.design)
            _require_rows(made)
            return made
        except UNPROVABLE as error:
            return str(error.args[0] if error.args else type(error).__name__)

    @cached_property
    def roles(self) -> NDArray[np.str_]:
        """Role of every box."""
        return np.array(self.wiring.devices.role, dtype=np.str_)

    @cached_property
    def runs_m(self) -> Floats:
        """The cable that the floor asks for between the ends of every link; NaN where it says nothing: attachments'
        links run over the site's flat distance.
        """
        links, devices, site = self.wiring.links, self.wiring.devices, self.evidence.case.site
        if site.floor is None or self.evidence.design.floor is None:
            return np.full(len(links), np.nan)
        plan = FloorPlan(site.floor)
        rack = np.array([plan.rack_index(one) if one else -1 for one in devices.rack], dtype=np.int64)
        height = height_m(devices.unit, devices.height_u)
        run = plan.run_m(rack[links.a], height[links.a], rack[links.b], height[links.b])
        measured = (rack[links.a] >= 0) & (rack[links.b] >= 0) & (links.kind != KINDS.index("attachment-leaf"))
        return np.where(measured, run, np.nan)


# What a file's wiring is, or why it has none.
_WIRING: Lookup[Evidence, None, Wiring | str] = Lookup()


def _require_closed(fabric: FabricEvidence) -> None:
    """Refuse a file whose counts disagree: tables of a damaged one could have any size."""
    clos = fabric.clos
    if fabric.mesh is not None:
        _require_mesh(fabric, fabric.mesh)
        return
    structure = fabric.made.clos
    counts = [fabric.tier(tier.role).count for tier in fabric.made.tiers]
    if counts != list(clos.switches()):
        raise ValueError(f"{fabric.made.name} has {counts} switches, recounted {list(clos.switches())}")
    sizes = [(clos.per_group, clos.servers), (clos.groups_per_pod, clos.groups), (clos.per_leaf, clos.ports_per_server)]
    if clos.tiers > 1:
        sizes.append((clos.spines, clos.uplinks))
    if clos.tiers > 2:
        sizes += [(clos.spines_per_core_group, clos.spines), (clos.links_per_core_pair, clos.spine_uplinks)]
        sizes.append((structure.cores_per_group, clos.cores_per_group))
    for part, whole in sizes:
        if not 1 <= part <= whole:
            raise ValueError(f"{fabric.made.name}: {part} is not within 1 to {whole}")
    _require_links(fabric)


def _require_mesh(fabric: FabricEvidence, mesh: Mesh) -> None:
    clos = fabric.clos
    if fabric.is_switchless and fabric.evidence.servers != mesh.switches:
        raise ValueError(f"{fabric.made.name} joins {mesh.switches} of {fabric.evidence.servers} servers")
    listed = [(tier.role, tier.count) for tier in fabric.made.tiers]
    wanted = [(role, clos.planes * count) for role, count in mesh.tiers]
    if listed != wanted or clos.leaves > mesh.leaves:
        raise ValueError(f"{fabric.made.name} has switches {listed}, recounted {wanted}")
    if not (1 <= clos.per_group <= clos.servers and 1 <= clos.per_leaf <= clos.ports_per_server):
        raise ValueError(f"{fabric.made.name}: groups of {clos.per_group} servers, {clos.per_leaf} ports on a leaf")
    _require_links(fabric)


def _require_links(fabric: FabricEvidence) -> None:
    for kind in all_kinds(fabric):
        listed = sum(row.made.count for row in kind.rows)
        if listed != kind.count:
            raise ValueError(f"{fabric.made.name}: {listed} {kind.name} links are listed, recounted {kind.count}")


def _require_rows(wiring: Wiring) -> None:
    """Refuse tables that name rows which are not there."""
    links, boxes = wiring.links, len(wiring.devices)
    for what, column, lowest, rows in (
        ("links lead to boxes", links.a, 0, boxes),
        ("links lead to boxes", links.b, 0, boxes),
        ("links have wires", links.cable, NOTHING, len(wiring.cables)),
        ("modules are in boxes", wiring.modules.device, 0, boxes),
        ("links are lent", wiring.lent.link, 0, len(links)),
        ("links are lent to boxes", wiring.lent.b, 0, boxes),
    ):
        if len(column) and not lowest <= int(column.min()) <= int(column.max()) < rows:
            raise ValueError(f"{what} that are not listed")


class Joined(NamedTuple):
    """A kind of links of the file, and the rows of ``Cabling.links`` that are of it."""

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
class Cabling:
    """The wiring of one fabric, which is number ``index`` of the design's; ``stage``: of what is there by then only."""

    fabric: FabricEvidence
    cabled: Cabled
    index: int
    stage: int | None = None

    @property
    def clos(self) -> Clos:
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

    def boxes(self, role: str) -> Ints:
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
        rows = self.boxes(role)
        numbers[rows] = np.arange(len(rows))
        return numbers

    def of(self, kind: str) -> Ints:
        """The rows of ``links`` of a kind of ``KINDS``."""
        return np.flatnonzero(self.links.kind == KINDS.index(kind))

    @cached_property
    def joined(self) -> tuple[Joined, ...]:
        """The links of every kind that the file must have; attachments one by one."""
        found = []
        for kind in all_kinds(self.fabric):
            if kind.name in KINDS:
                found.append(Joined(kind, self.of(kind.name)))
        attached = self.of("attachment-leaf")
        names = self.attached_names[attached]
        for kind in all_kinds(self.fabric):
            if kind.name not in KINDS:
                found.append(Joined(kind, attached[names == kind.name.removeprefix("attachment ")]))
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


def combined(*columns: Ints) -> Ints:
    """One number for each row of columns of whole numbers; equal rows, and only they, have equal numbers."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns if len(code) else ():
        low, high = int(column.min()), int(column.max())
        if high - low >= _MOST_NUMBERS:
            column, low, high = _ranked(column), 0, len(column)
        if int(code.max()) >= _MOST_NUMBERS:
            code = _ranked(code)
        code = code * (high - low + 1) + (column - low)
    return code


def _ranked(column: Ints) -> Ints:
    """Equal numbers for equal ones, as small as can be."""
    return np.unique(column, return_inverse=True)[1].ravel().astype(np.int64)


def repeated(code: Ints) -> int:
    """How many rows are there once more."""
    return len(code) - len(np.unique(code))


def counts_of(code: Ints) -> Ints:
    """How often each number is there."""
    return np.unique(code, return_counts=True)[1]


def coded(words: Iterable[Word]) -> tuple[Ints, list[Word]]:
    """(Number of every word, the words by number)."""
    found: dict[Word, int] = {}
    numbers = [found.setdefault(word, len(found)) for word in words]
    return np.array(numbers, dtype=np.int64), list(found)
