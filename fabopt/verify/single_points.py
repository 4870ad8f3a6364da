"""Single points of failure: every switch and rack whose loss takes paths from servers elsewhere.

Found on the wiring, device by device. A server is cut off if it is outside the largest connected part of a fabric; it
is degraded if it is inside, but a NIC of it has lost all links to that part. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.losses import Holders, Loss, Served, cut_switches
from fabopt.network.graph.network import network_of
from fabopt.schema.losses import Exposed, SinglePoint, WorstRack
from fabopt.units import some
from fabopt.verify.hall_losses import EndRacks, LinkWays, over, over_routes
from fabopt.verify.halls import HallGraph, hall_of, has_halls
from fabopt.verify.link_kinds import SERVER_LEAF
from fabopt.verify.proof import Proof, has_rules_of, since
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import NOTHING, TO_ATTACHMENTS, Ints
from fabopt.wiring.structured import PatchedLink

Mask = NDArray[np.bool_]
# The first edition whose files have counts of what is lost beside the words.
COUNTED_IN = "0.3.0"
NOT_COUNTED: Mapping[str, None] = dict.fromkeys(("attachment", "lost", "of"))


class SinglePoints(NamedTuple):
    """Every single point of failure, by fabric and kind of device, and the rack whose loss hits most servers."""

    points: tuple[SinglePoint, ...]
    worst_rack: WorstRack | None


class DeviceLinks(NamedTuple):
    """An attachment of ``boxes`` devices; ``rows`` of its links, shape (links,)."""

    name: str
    boxes: int
    rows: Ints


def single_points_of(cabled: CabledDesign) -> SinglePoints:
    """The single points of failure of a design; raises ``ValueError`` where its file has no wiring."""
    exposures = exposures_of(cabled)
    points = [point for exposure in exposures for point in exposure.of_switches()]
    racks = LostRacks(cabled, exposures)
    cabling = _of_trunks(cabled, exposures)
    return SinglePoints((*points, *cabling, *racks.points(), *_between_halls(cabled, exposures)), racks.worst())


def _of_trunks(cabled: CabledDesign, exposures: Sequence[Exposure]) -> Iterator[SinglePoint]:
    """Trunks and panels whose loss, with all links through them, takes paths from servers."""
    patched = cabled.patched
    kinds: tuple[tuple[Exposed, Callable[[PatchedLink], tuple[str, ...]]], ...] = (
        ("trunk", lambda link: (link.trunk.name,)),
        ("panel", lambda link: (link.near.panel, link.far.panel)),
    )
    for exposure in exposures if patched else ():
        rows = np.flatnonzero(cabled.wiring.links.fabric == exposure.cabling.index).tolist()
        for device, names_of in kinds:
            passed = [names_of(patched[row]) if row in patched else () for row in rows]
            names = sorted({name for names in passed for name in names})
            numbers = {name: number for number, name in enumerate(names)}
            ways = [[numbers[name] for name in names] for names in passed]
            none = [[()] * len(holders.switch) for holders in exposure.served.devices]
            between, links, number_of = exposure.between, exposure.cabling.links, exposure.number
            of_ports = [ways[row] for row in exposure.ports.tolist()]
            through = LinkWays([ways[row] for row in between.tolist()], of_ports, none)
            ends = number_of[links.a[between]].tolist(), number_of[links.b[between]].tolist()
            whole = over(exposure.served, ends, through)
            losses = [whole.without(frozenset((number,))) for number in range(len(names))]
            yield from PointRows(exposure.name, device, names).of(losses, exposure.served.nics)


def _between_halls(cabled: CabledDesign, exposures: Sequence[Exposure]) -> Iterator[SinglePoint]:
    """Halls, routes and ducts of a site with several halls whose loss takes paths from servers elsewhere."""
    if not has_halls(cabled.evidence):
        return
    yield from LostRacks(cabled, exposures, "hall", hall_of).points()
    graph = HallGraph(cabled.evidence)
    for exposure in exposures:
        whole = over_routes(exposure.served, exposure.racks, graph)
        for device in ("route", "duct"):
            lost = {name: routes for (kind, name), routes in graph.lost_together.items() if kind == device}
            losses, listed = (
                [whole.without(routes) for routes in lost.values()],
                PointRows(exposure.name, device, [*lost]),
            )
            yield from listed.of(losses, exposure.served.nics)
            for number, kind in enumerate(exposure.kinds):
                counts = np.array([int(loss.devices[number].sum()) for loss in losses], dtype=np.int64)
                yield from listed.devices(kind.name, counts, exposure.served.devices[number].number)


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


class LostRacks:
    """The racks of a design, or its halls (``place_of`` a rack), each lost with all its devices."""

    def __init__(
        self, cabled: CabledDesign, exposures: Sequence[Exposure], device: Exposed = "rack",
        place_of: Callable[[str], str] = str,
    ) -> None:  # fmt: skip
        devices, self._device = cabled.wiring.devices, device
        self._exposures = exposures
        self._rows: dict[str, list[int]] = {}
        for row, rack in enumerate(devices.rack):
            if rack:
                self._rows.setdefault(place_of(rack), []).append(row)
        self._server = FabricCabling(exposures[0].cabling.fabric, cabled, 0).numbers("server")
        self._servers = cabled.evidence.servers

    @cached_property
    def names(self) -> list[str]:
        """Names of the racks with devices, in order."""
        return sorted(self._rows)

    @cached_property
    def absent(self) -> list[Mask]:
        """The servers in each rack, as masks of shape (servers,)."""
        masks = []
        for name in self.names:
            number = self._server[self._rows[name]]
            masks.append(np.isin(np.arange(self._servers), number[number >= 0]))
        return masks

    @cached_property
    def losses(self) -> list[list[Loss]]:
        """Losses elsewhere, by fabric and then by rack."""
        return [
            [exposure.without(self._rows[name], absent) for name, absent in zip(self.names, self.absent, strict=True)]
            for exposure in self._exposures
        ]

    def points(self) -> Iterator[SinglePoint]:
        """Racks whose loss takes paths from servers elsewhere, or all devices of an attachment."""
        for exposure, losses in zip(self._exposures, self.losses if self._rows else (), strict=False):
            listed = PointRows(exposure.name, self._device, self.names)
            yield from listed.of(losses, exposure.served.nics)
            for number, kind in enumerate(exposure.kinds):
                holders = exposure.served.devices[number]
                lost = [
                    int((loss.devices[number] | self._within(name, exposure, kind, holders)).sum())
                    for name, loss in zip(self.names, losses, strict=True)
                ]
                yield from listed.devices(
                    kind.name, np.where(np.array(lost) == holders.number, lost, 0), holders.number
                )

    def _within(self, rack: str, exposure: Exposure, kind: DeviceLinks, holders: Holders) -> Mask:
        """Whether each device of an attachment is in a rack, shape (devices,)."""
        within = np.zeros(holders.number, dtype=np.bool_)
        within[holders.holder[np.isin(exposure.cabling.links.a[kind.rows], self._rows[rack])]] = True
        return within

    def worst(self) -> WorstRack | None:
        """The rack whose loss leaves fewest servers whole; the first of such. None without a floor."""
        if not self._rows:
            return None
        masks = [(absent, *self._elsewhere(rack, absent)) for rack, absent in enumerate(self.absent)]
        sums = [tuple(int(mask.sum()) for mask in of_rack) for of_rack in masks]
        worst = max(range(len(sums)), key=lambda rack: (sums[rack][0] + sums[rack][1], sums[rack][2], -rack))
        servers, cut, degraded = sums[worst]
        return WorstRack(rack=self.names[worst], servers=servers, servers_cut_off=cut, servers_degraded=degraded)

    def _elsewhere(self, rack: int, absent: Mask) -> tuple[Mask, Mask]:
        """Servers of other racks that are cut off from any fabric, and others that lose a NIC."""
        cut, hit = np.zeros_like(absent), np.zeros_like(absent)
        for losses in self.losses:
            cut |= losses[rack].cut_off
            hit |= losses[rack].nics > 0
        return cut, hit & ~cut


@since("0.2.0", "single_points_of_failure")
def single_points_are_listed(proof: Proof, cabled: CabledDesign) -> None:
    """Every switch, rack, trunk and panel whose loss cuts servers, NICs or attachments off is in the file, with it all.

    Found again on the wiring, device by device; and servers cut off are those in ``failures`` of the tier, counted from
    the structure. Source: docs/bandwidth.md.
    """
    design, recounted = cabled.evidence.design, single_points_of(cabled)
    if not has_rules_of(design, COUNTED_IN):
        recounted = recounted._replace(points=tuple(row.model_copy(update=NOT_COUNTED) for row in recounted.points))
    listed = design.single_points_of_failure
    proof.holds(listed is not None, "the file does not list single points of failure")
    for row in listed or ():
        proof.holds(row in recounted.points, f"{row.fabric}: {row.device} {row.worst}, {row.loses}: not found again")
    for row in recounted.points:
        proof.holds(row in (listed or ()), f"{row.fabric}: {row.device} {row.worst}, {row.loses}: is not listed")
    proof.equal("order of single points", listed, recounted.points)
    proof.equal("worst rack", design.worst_rack, recounted.worst_rack)
    _agree_with_failures(proof, cabled, recounted.points)
    cutting = sum(not row.degraded for row in recounted.points)
    degrading = len(recounted.points) - cutting
    proof.note(f"{some(cutting, 'kind')} of devices that cut something off, {some(degrading, 'kind')} that degrade")


def _agree_with_failures(proof: Proof, cabled: CabledDesign, points: Sequence[SinglePoint]) -> None:
    """Counts on the graph agree with those from the structure."""
    for fabric in cabled.evidence.design.fabrics:
        for row in fabric.failures:
            if row.failed in ("leaf", "spine", "core") and row.servers_cut_off is not None:
                most = max(
                    (
                        point.servers
                        for point in points
                        if (point.fabric, point.device) == (fabric.name, row.failed) and not point.degraded
                    ),
                    default=0,
                )
                proof.equal(f"servers that a {row.failed} of {fabric.name} cuts off", most, row.servers_cut_off)
