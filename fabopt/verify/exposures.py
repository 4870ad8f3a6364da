"""Fabrics of a design under losses of their devices, and rows about what each loss takes from servers.

A server is cut off if it is outside the largest connected part of a fabric; it is degraded if it is inside, but a NIC
of it has lost all links to that part. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.losses import Holders, Loss, Served, cut_switches
from fabopt.network.graph.network import network_of
from fabopt.schema.losses import Exposed, SinglePoint
from fabopt.units import some
from fabopt.verify.hall_losses import EndRacks
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import NOTHING, TO_ATTACHMENTS, Ints

Mask = NDArray[np.bool_]


class DeviceLinks(NamedTuple):
    """An attachment of ``boxes`` devices; ``rows`` of its links, shape (links,)."""

    name: str
    boxes: int
    rows: Ints


def exposures_of(cabled: CabledDesign) -> list[Exposure]:
    """All fabrics of a design, and the logical ones on their switches, under losses."""
    cablings = [FabricCabling(fabric, cabled, index) for index, fabric in enumerate(cabled.evidence.fabrics)]
    return [exposure for cabling in cablings for exposure in _exposures(cabling)]


def _exposures(cabling: FabricCabling) -> Iterator[Exposure]:
    """A fabric, and every logical one on its switches."""
    if not cabling.fabric.has_switches:
        yield Exposure(cabling, cabling.fabric.designed.name, np.arange(0), ())
        return
    attached, names = np.flatnonzero(np.isin(cabling.links.kind, TO_ATTACHMENTS)), cabling.attached_names
    logical = cabling.fabric.logical
    physical = [attachment for attachment in cabling.fabric.wanted.attachments if attachment.name not in logical]
    kinds = tuple(
        DeviceLinks(attachment.name, attachment.boxes, attached[names[attached] == attachment.name])
        for attachment in physical
    )
    yield Exposure(cabling, cabling.fabric.designed.name, cabling.of(SERVER_LEAF), kinds)
    for name in logical:
        yield Exposure(cabling, name, attached[names[attached] == name], ())


@dataclass(frozen=True, eq=False)
class Exposure:
    """A fabric under losses.

    ``rows``: links of its servers, as rows, shape (links,); ``kinds``: its attachments. Servers joined to each other
    are their own switches.
    """

    cabling: FabricCabling
    name: str
    rows: Ints
    kinds: Sequence[DeviceLinks]

    @cached_property
    def switches(self) -> Ints:
        """Rows of the devices that forward traffic, shape (switches,)."""
        roles = ("leaf", "spine", "core") if self.cabling.fabric.has_switches else ("server",)
        return np.concatenate([self.cabling.devices_of(role) for role in roles])

    @cached_property
    def number(self) -> Ints:
        """Number of every device among the switches, shape (devices,); ``NOTHING`` for others."""
        number = np.full(len(self.cabling.devices), NOTHING)
        number[self.switches] = np.arange(len(self.switches))
        return number

    @cached_property
    def between(self) -> Ints:
        """Rows of the links between switches, shape (links,)."""
        links = self.cabling.links
        return np.flatnonzero((self.number[links.a] >= 0) & (self.number[links.b] >= 0))

    @cached_property
    def ports(self) -> Ints:
        """Rows of the links of servers, server by server in the order of their NICs and ports, shape (links,)."""
        links, rows = self.cabling.links, self.rows
        return rows[np.lexsort((links.a_nic_port[rows], links.a_nic[rows], links.a[rows]))]

    @cached_property
    def served(self) -> Served:
        """The fabric as a graph with its endpoints; raises ``ValueError`` where servers differ in ports."""
        links, servers = self.cabling.links, self.cabling.fabric.evidence.servers
        ends = self.number[links.a[self.between]], self.number[links.b[self.between]]
        network = network_of(*ends, 1, np.ones(len(self.switches), dtype=np.int64), 1)
        if not self.cabling.fabric.has_switches:
            return Served(network, np.arange(servers)[:, np.newaxis], np.zeros(1, dtype=np.int64))
        rows = self.ports
        switch_of = self.number[links.b[rows]].reshape(servers, len(rows) // servers)
        nic = links.a_nic[rows].reshape(switch_of.shape)[0]
        return Served(network, switch_of, nic - nic.min(), tuple(map(self._holders, self.kinds)))

    def _holders(self, kind: DeviceLinks) -> Holders:
        """The devices of an attachment: one for each port where their numbers are equal, else those listed in the
        wiring.
        """
        links, rows = self.cabling.links, kind.rows
        device = np.unique(links.a[rows], return_inverse=True)[1].ravel()
        return Holders(np.arange(len(rows)) if kind.boxes == len(rows) else device, self.number[links.b[rows]])

    @property
    def racks(self) -> EndRacks:
        """Racks of its switches, its servers, and the devices of its attachments, link by link."""
        rack, links = self.cabling.devices.rack, self.cabling.links
        servers = [rack[row] for row in self.cabling.devices_of("server").tolist()]
        kinds = [[rack[row] for row in links.a[kind.rows].tolist()] for kind in self.kinds]
        return EndRacks([rack[row] for row in self.switches.tolist()], servers, kinds)

    @property
    def names(self) -> list[str]:
        """Names of the switches."""
        return [self.cabling.devices.name[row] for row in self.switches.tolist()]

    def of_switches(self) -> Iterator[SinglePoint]:
        """Single points among the switches of each tier.

        There is one row for servers cut off, one for each number of NICs that others lose, and one for each attachment.
        """
        if not self.cabling.fabric.has_switches:
            return
        losses, names, served = self.served.one_by_one(), self.names, self.served
        role = self.cabling.cabled.roles[self.switches]
        for tier in self.cabling.tiers():
            own = np.flatnonzero(role == tier.role)
            listed = PointRows(self.name, tier.role, [names[switch] for switch in own.tolist()])
            yield from listed.cut_off(losses.cut_off[own])
            yield from listed.degraded(losses.degraded[own], losses.nics[own], served.nics)
            yield from listed.parted(np.where(losses.cut_off[own], 0, losses.parted[own]))
            for kind, holders, counts in zip(self.kinds, served.devices, losses.devices, strict=True):
                yield from listed.devices(kind.name, counts[own], holders.number)

    @cached_property
    def _cuts(self) -> frozenset[int]:
        return frozenset(cut_switches(self.served.network).tolist())

    def without(self, rows: Sequence[int], absent: Mask) -> Loss:
        """Losses without some devices; ``absent``: whether each server is lost with them, shape (servers,)."""
        lost = self.number[list(rows)]
        lost = lost[lost >= 0]
        splits = len(lost) > 1 or bool(self._cuts.intersection(lost.tolist()))
        return self.served.after(lost, absent, splits)


@dataclass(frozen=True)
class PointRows:
    """Devices of a kind, for rows about losses with any one of them.

    Arrays have shape (devices,), a count for each of ``names``.
    """

    fabric: str
    device: Exposed
    names: Sequence[str]

    def of(self, losses: Sequence[Loss], nics: int) -> Iterator[SinglePoint]:
        """Rows of what servers lose, by the losses of each of ``names``; ``nics``: of a server."""
        cut = np.array([loss.cut_off.sum() for loss in losses], dtype=np.int64)
        yield from self.cut_off(cut)
        most = np.array([loss.nics.max(initial=0) for loss in losses], dtype=np.int64)
        yield from self.degraded(np.array([(loss.nics > 0).sum() for loss in losses], dtype=np.int64), most, nics)
        yield from self.parted(np.where(cut, 0, [loss.parted.sum() for loss in losses]))

    def cut_off(self, servers: Ints) -> Iterator[SinglePoint]:
        """The row of devices that cut servers off; none if there are no such devices."""
        yield from self._row("every path", servers, False)

    def degraded(self, servers: Ints, nics: Ints, of: int) -> Iterator[SinglePoint]:
        """Rows of devices whose loss takes NICs from servers, one for each number of NICs, most first."""
        for lost in np.unique(nics[servers > 0])[::-1].tolist():
            for row in self._row(f"{lost} of {some(of, 'NIC')}", np.where(nics == lost, servers, 0), True):
                yield row.model_copy(update={"lost": lost, "of": of})

    def parted(self, servers: Ints) -> Iterator[SinglePoint]:
        """The row of devices whose loss parts NICs of a server from each other, though each reaches its like."""
        yield from self._row("paths between rails", servers, True)

    def devices(self, name: str, lost: Ints, of: int) -> Iterator[SinglePoint]:
        """The row of devices that cut devices of an attachment off."""
        most = int(lost.max(initial=0))
        what = name if most == of else f"{most} of {of} {name}"
        counts = {"attachment": name, "lost": most, "of": of, "servers": 0, "fewest_servers": 0}
        for row in self._row(what, lost, False):
            yield row.model_copy(update=counts)

    def _row(self, loses: str, hit: Ints, degraded: bool) -> Iterator[SinglePoint]:
        if not hit.any():
            return
        yield SinglePoint(
            fabric=self.fabric,
            device=self.device,
            count=int((hit > 0).sum()),
            worst=self.names[int(hit.argmax())],
            loses=loses,
            servers=int(hit.max()),
            fewest_servers=int(hit[hit > 0].min()),
            degraded=degraded,
        )
