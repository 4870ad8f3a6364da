"""The explicit wiring as evidence: the tables of one fabric, and the file's statements to be found in them.

Rules of the wiring read the rows of its tables and count them, however the tables were made, so a wiring from elsewhere
can be proven as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.lookup import Lookup
from fabopt.schema.catalog import Switch, Transceiver
from fabopt.schema.design import TierUse
from fabopt.units import MBPS_PER_GBPS, ceil_div
from fabopt.verify.assemblies import CabledAssembly, cable_of
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.closed import require_closed, require_rows
from fabopt.verify.evidence import RAIL_ONLY, Evidence, FabricEvidence
from fabopt.verify.floor_runs import measured_m
from fabopt.verify.link_kinds import LinkKind, all_kinds
from fabopt.verify.proof import UNPROVABLE, coded
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import item_at
from fabopt.wiring.model import (
    KINDS,
    LAST_OF_ENDPOINTS,
    NOTHING,
    OF_PEERS,
    Cables,
    Devices,
    Floats,
    Ints,
    Links,
    Mask,
    Wiring,
    at_stage,
)
from fabopt.wiring.structured import PatchedLink, StructuredCabling, structured_of

# Beyond this a wiring takes gigabytes, and its rules are left out: some 700,000 GPUs on three tiers.
MOST_LINKS = 2_000_000
# Far beyond any port, and small enough that sums of a million stay exact.
MOST_MBPS = 10**12


@dataclass(frozen=True, eq=False)
class CabledDesign:
    """A design and its wiring, made when the first rule asks; ``given``: a wiring from elsewhere to prove instead.

    ``wiring`` raises ``ValueError``, each time, where the file has none.
    """

    evidence: Evidence
    given: Wiring | None = None

    @property
    def is_listed(self) -> bool:
        """True unless there are more links than the wiring lists."""
        return sum(row.count for fabric in self.evidence.design.fabrics for row in fabric.links) <= MOST_LINKS

    @property
    def wiring(self) -> Wiring:
        """The tables of devices, links and cables; raises ``ValueError`` where the file has no wiring."""
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
        """Role of every device, shape (devices,)."""
        return np.array(self.wiring.devices.role, dtype=np.str_)

    @cached_property
    def laid(self) -> StructuredCabling:
        """The trunks and panels of the design, each leg with its links."""
        return structured_of(self.evidence.design, self.wiring)

    @cached_property
    def patched(self) -> dict[int, PatchedLink]:
        """Where every link through a trunk is patched, by its row of the wiring."""
        return self.laid.patched(self.wiring)

    @cached_property
    def runs_m(self) -> Floats:
        """Metres of cable along the floor between the ends of every link, shape (links,).

        NaN where the floor does not decide.
        """
        return measured_m(self.evidence, self.wiring)


# What a file's wiring is, or why it has none.
_WIRING: Lookup[Evidence, None, Wiring | str] = Lookup()


class LinksOfKind(NamedTuple):
    """A kind of links of the file, and its rows of ``FabricCabling.links``, shape (links,)."""

    kind: LinkKind
    rows: Ints


class CageRange(NamedTuple):
    """Cages from ``first`` to ``last``, both from 1 over all groups of a device."""

    first: int
    last: int


class ServerPart(NamedTuple):
    """NICs of a server, and their own or shared cages."""

    nics: int
    cages: int


class LogicalPart(NamedTuple):
    """A logical fabric's part of a server. ``cages_of_nic``: 0 where its NICs share cages of the server."""

    nics_before: int
    cages_before: int
    nics: int
    cages: int
    cages_of_nic: int


def cages_per_server(fabric: FabricEvidence) -> int:
    """Cages of a server in use by a fabric: those of all its NICs, or those that its NICs share."""
    cages = sum(cage.count for cage in fabric.nic_cages)
    return cages if fabric.shared_cages else cages * fabric.designed.nic.per_server


@dataclass(frozen=True, eq=False)
class FabricCabling:
    """The wiring of one fabric, number ``index`` of the design; ``stage``: only devices and links installed by then.

    Arrays of rows have shape (rows found,), numbers and names one entry for each device or link.
    """

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
        """The devices of all fabrics: links name them by their rows.

        Of a rail-only fabric, ``plane`` tells the networks apart (each rail of each plane, 0 where there is no such
        rail), and ``rail`` is the place of a leaf within its network.
        """
        devices, clos = self.cabled.wiring.devices, self.clos
        if self.fabric.designed.topology != RAIL_ONLY:
            return devices
        nics = self.fabric.designed.nic.per_server
        own = np.array([name == self.fabric.designed.name for name in devices.fabric], dtype=np.bool_)
        nic_number, place = np.divmod(devices.rail - 1, clos.rails)
        known = (nic_number >= 0) & (nic_number < nics)
        network = np.where(known, (devices.plane - 1) * nics + nic_number + 1, 0)
        leaf = own & (self.cabled.roles == "leaf")
        switch = own & (devices.plane != NOTHING)
        return replace(
            devices, plane=np.where(switch, network, devices.plane), rail=np.where(leaf, place + 1, devices.rail)
        )

    @property
    def cables(self) -> Cables:
        """The cables of all fabrics: links name them by their rows."""
        return self.cabled.wiring.cables

    @cached_property
    def server_before(self) -> ServerPart:
        """NICs and cages of every server in earlier fabrics: the fabric's own are numbered on from there."""
        earlier = self.cabled.evidence.fabrics[: self.index]
        return ServerPart(
            sum(fabric.designed.nic.per_server for fabric in earlier), sum(map(cages_per_server, earlier))
        )

    @cached_property
    def links(self) -> Links:
        """The links of the fabric."""
        links = self.cabled.wiring.links
        own = links.fabric == self.index
        if self.stage is not None:
            own = own & (links.stage <= self.stage)
            links = at_stage(self.cabled.wiring, self.stage)
        return links if own.all() else Links(*(getattr(links, column.name)[own] for column in fields(links)))

    @cached_property
    def runs_m(self) -> Floats:
        """Metres of cable that the site requires between the ends of every link, on its floor or over flat distances.

        Links of no kind have 0. Shape (links,).
        """
        measured: Floats = self.cabled.runs_m[self.cabled.wiring.links.fabric == self.index]
        for joined in self.joined:
            flat = joined.rows[np.isnan(measured[joined.rows])]
            measured[flat] = joined.kind.run_m
        return np.nan_to_num(measured)

    @cached_property
    def own_cables(self) -> Ints:
        """Rows of the fabric's cables."""
        return np.flatnonzero(self.cables.fabric == self.index)

    @cached_property
    def assemblies(self) -> tuple[CabledAssembly, ...]:
        """The links that have a cable, by kind and parts; ``LookupError`` for a part that is not embedded."""
        links, cables = self.links, self.cables
        number, parts_of = coded(zip(cables.a_module, cables.part, cables.b_module, strict=True))
        logical_fabrics, assemblies = self._logical_fabrics(), []
        for kind, rows in self.joined:
            cabled = rows[links.cable[rows] >= 0]
            for parts, logical in itertools.product(range(len(parts_of)), (False, True)):
                alike = cabled[(number[links.cable[cabled]] == parts) & (logical_fabrics[cabled] == logical)]
                if len(alike):
                    assemblies.append(self._assembly(kind, alike, parts_of[parts], logical))
        return tuple(assemblies)

    def _logical_fabrics(self) -> NDArray[np.bool_]:
        """True for links on a free breakout end of another kind's cable; that cable names the modules of its first
        link.
        """
        links, kind = self.links, np.zeros(len(self.links), dtype=np.int64)
        for number, joined in enumerate(self.joined):
            kind[joined.rows] = number
        _, first, cable = np.unique(links.cable, return_index=True, return_inverse=True)
        return np.asarray(kind != kind[first][cable.ravel()], dtype=np.bool_)

    def _assembly(self, kind: LinkKind, rows: Ints, parts: tuple[str, str, str], logical: bool) -> CabledAssembly:
        near, cable, far = parts
        if logical:
            own = kind.rows[0].near
            near = own.id if own is not None else ""
        evidence = self.fabric.evidence
        modules = [evidence.part(module, Transceiver) if module else None for module in (near, far)]
        return CabledAssembly(kind, rows, cable_of(evidence, cable), *modules)

    def devices_of(self, role: str) -> Ints:
        """Rows of the fabric's devices of a role, in order; servers are every fabric's."""
        rows = np.flatnonzero(self.cabled.roles == role)
        if self.stage is not None:
            rows = rows[self.devices.stage[rows] <= self.stage]
        if role == "server":
            return rows
        own = [row for row in rows.tolist() if self.devices.fabric[row] == self.fabric.designed.name]
        return np.array(own, dtype=np.int64)

    def numbers(self, role: str) -> Ints:
        """Number of every device among the fabric's devices of a role, from 0, shape (devices,); -1 for all others."""
        numbers = np.full(len(self.devices), -1, dtype=np.int64)
        rows = self.devices_of(role)
        numbers[rows] = np.arange(len(rows))
        return numbers

    @cached_property
    def between_switches(self) -> Ints:
        """Rows of the links between switches, without peer links."""
        kind = self.links.kind
        return np.flatnonzero((kind > LAST_OF_ENDPOINTS) & (kind != OF_PEERS))

    def of(self, kind: str) -> Ints:
        """The rows of ``links`` of a kind of ``KINDS``."""
        return np.flatnonzero(self.links.kind == KINDS.index(kind))

    @cached_property
    def joined(self) -> tuple[LinksOfKind, ...]:
        """The links of every kind that the file must have; attachments one by one."""
        kinds = []
        for kind in all_kinds(self.fabric):
            if kind.attachment is None:
                kinds.append(LinksOfKind(kind, self.of(kind.name)))
        for kind in all_kinds(self.fabric):
            if kind.attachment is not None:
                attached = self.of(f"attachment-{kind.host}")
                kinds.append(LinksOfKind(kind, attached[self.attached_names[attached] == kind.attachment]))
        return tuple(kinds)

    @cached_property
    def logical_parts(self) -> dict[str, LogicalPart]:
        """Parts of a server by logical fabric on this one: numbered on from all fabrics with switches."""
        fabrics = self.cabled.evidence.fabrics
        nics, cages = sum(logical.designed.nic.per_server for logical in fabrics), sum(map(cages_per_server, fabrics))
        parts = {}
        for fabric in fabrics:
            for logical in fabric.designed.logical:
                groups = fabric.evidence.nic_cages(logical)
                shared = any(nic.cages is not None for nic in fabric.evidence.server.nics if nic.role == logical.role)
                used = groups if logical.nic.built_in else (item_at(groups, logical.nic.cage_group, "NIC cage group"),)
                of_nic = 0 if shared else sum(cage.count for cage in used)
                own = sum(cage.count for cage in used) if shared else of_nic * logical.nic.per_server
                parts[logical.name] = LogicalPart(nics, cages, logical.nic.per_server, own, of_nic)
                nics, cages = nics + logical.nic.per_server, cages + own
        return {logical.name: parts[logical.name] for logical in self.fabric.designed.logical}

    @cached_property
    def attached_names(self) -> NDArray[np.str_]:
        """Name of the attachment at the near end of every link, shape (links,).

        For a server's port it is the logical fabric of its NIC.
        """
        links = self.links
        names = np.array([self.devices.product[row] for row in links.a.tolist()], dtype=object)
        for name, part in self.logical_parts.items():
            own = (links.a_nic > part.nics_before) & (links.a_nic <= part.nics_before + part.nics)
            names[own & (self.cabled.roles[links.a] == "server")] = name
        return names.astype(np.str_)

    def types(self, role: str, device: Ints) -> Iterator[tuple[TierUse, Switch, Mask]]:
        """Every type of a tier's switches, and whether each device is of it, shape (devices,)."""
        first, *others = (own for own in self.fabric.switch_types if own[0].role == role)
        product, rest = np.array(self.devices.product)[device], np.ones(len(device), dtype=bool)
        for tier, switch in others:
            yield tier, switch, product == tier.id
            rest &= product != tier.id
        yield *first, rest

    def cage_ranges(self, role: str, device: Ints, upwards: bool) -> Iterator[tuple[CageRange, Mask]]:
        """The cages that face one side on every type of a tier's switches, and whether each device has these, shape
        (devices,).
        """
        for tier, switch, is_own in self.types(role, device):
            use = (tier.up or self.fabric.peer_use) if upwards else tier.down
            if use is None:
                raise LookupError(f"the {role} tier names no cages for its uplinks")
            before = sum(cage.count for cage in switch.cages[: use.cage_group])
            there = item_at(switch.cages, use.cage_group, f"{role} cage group")
            yield CageRange(before + 1, before + there.count), is_own

    def near_cages(self, joined: LinksOfKind, role: str, device: Ints) -> Iterator[tuple[CageRange, Mask]]:
        """Cages at the near end of a kind of links, and whether each device has these, shape (links,).

        Of a switch the cages that face up, of a server those of all NICs, else those that an attachment's ports fill.
        """
        if role in ("server", "attachment"):
            yield self._host_cages(joined, role), np.ones(len(device), dtype=bool)
        else:
            yield from self.cage_ranges(role, device, upwards=True)

    def _host_cages(self, joined: LinksOfKind, role: str) -> CageRange:
        name = joined.kind.attachment or ""
        part = self.logical_parts.get(name)
        if part is not None and role == "attachment":
            return CageRange(part.cages_before + 1, part.cages_before + part.cages)
        if role == "attachment":
            attachment = next(wanted for wanted in self.fabric.wanted.attachments if wanted.name == name)
            cages = ceil_div(attachment.ports, joined.kind.near.lane.ports)
            return CageRange(1, cages // attachment.devices)
        before = self.server_before.cages
        return CageRange(before + 1, before + cages_per_server(self.fabric))

    def tiers(self) -> Sequence[TierUse]:
        """The tiers, in their order from the servers up."""
        return [self.fabric.tier(tier.role) for tier in self.fabric.designed.tiers]

    def mbps(self, rows: Ints) -> Ints:
        """Speed in Mb/s of the links of some rows, shape (rows,); -1 for an invalid speed."""
        speed = np.rint(self.links.gbps[rows] * MBPS_PER_GBPS)
        return np.where((speed > 0) & (speed < MOST_MBPS), speed, -1).astype(np.int64)
