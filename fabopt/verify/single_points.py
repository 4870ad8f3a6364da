"""Single points of failure: every switch and rack whose loss takes paths from servers elsewhere.

Found on the wiring, device by device. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from fabopt.network.graph.losses import Holders, Loss
from fabopt.schema.losses import Exposed, SinglePoint, WorstRack
from fabopt.units import grouped, some
from fabopt.verify.exposures import DeviceLinks, Exposure, Mask, PointRows, exposures_of
from fabopt.verify.hall_losses import LinkWays, over, over_routes
from fabopt.verify.halls import HallGraph, hall_of, has_halls
from fabopt.verify.proof import Proof, has_rules_of, since
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.structured import PatchedLink

# The first edition whose files have counts of what is lost beside the words.
COUNTED_IN = "0.3.0"
NOT_COUNTED: Mapping[str, None] = dict.fromkeys(("attachment", "lost", "of"))


class SinglePoints(NamedTuple):
    """Every single point of failure, by fabric and kind of device, and the rack whose loss hits most servers."""

    points: tuple[SinglePoint, ...]
    worst_rack: WorstRack | None


def single_points_of(cabled: CabledDesign) -> SinglePoints:
    """The single points of failure of a design; raises ``ValueError`` where its file has no wiring."""
    exposures = exposures_of(cabled)
    points = [point for exposure in exposures for point in exposure.of_switches()]
    panels = _of_panel_racks(cabled, exposures)
    racks = LostRacks(cabled, exposures, panels=panels)
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
        for device, names_of in kinds:
            lost = _without_each(cabled, exposure, names_of)
            yield from PointRows(exposure.name, device, [*lost]).of([*lost.values()], exposure.served.nics)


def _of_panel_racks(cabled: CabledDesign, exposures: Sequence[Exposure]) -> Mapping[str, Sequence[Loss]]:
    """Racks at the ends of rows that have panels alone, with the loss of each fabric without all links through them."""
    devices = set(cabled.wiring.devices.rack)

    def names_of(link: PatchedLink) -> tuple[str, ...]:
        return tuple(rack for rack in link.trunk.racks if rack not in devices)

    if not any(names_of(link) for link in cabled.patched.values()):
        return {}
    lost = [_without_each(cabled, exposure, names_of) for exposure in exposures]
    nobody = np.zeros(cabled.evidence.servers, dtype=np.bool_)
    return {
        name: [of.get(name) or exposure.without((), nobody) for of, exposure in zip(lost, exposures, strict=True)]
        for name in {name for of in lost for name in of}
    }


def _without_each(
    cabled: CabledDesign, exposure: Exposure, names_of: Callable[[PatchedLink], tuple[str, ...]]
) -> dict[str, Loss]:
    """The loss of a fabric without all links through each of what ``names_of`` gives."""
    patched, links, number_of = cabled.patched, exposure.cabling.links, exposure.number
    rows = np.flatnonzero(cabled.wiring.links.fabric == exposure.cabling.index).tolist()
    passed = [names_of(patched[row]) if row in patched else () for row in rows]
    names = sorted({name for names in passed for name in names})
    numbers = {name: number for number, name in enumerate(names)}
    ways = [[numbers[name] for name in names] for names in passed]
    none = [[()] * len(holders.switch) for holders in exposure.served.devices]
    between = exposure.between
    of_ports = [ways[row] for row in exposure.ports.tolist()]
    through = LinkWays([ways[row] for row in between.tolist()], of_ports, none)
    ends = number_of[links.a[between]].tolist(), number_of[links.b[between]].tolist()
    whole = over(exposure.served, ends, through)
    return {name: whole.without(frozenset((number,))) for number, name in enumerate(names)}


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


class LostRacks:
    """The racks of a design, or its halls (``place_of`` a rack), each lost with all its devices.

    ``panels``: racks that have panels alone, with the loss of each fabric without them.
    """

    def __init__(
        self, cabled: CabledDesign, exposures: Sequence[Exposure], device: Exposed = "rack",
        place_of: Callable[[str], str] = str, panels: Mapping[str, Sequence[Loss]] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        devices, self._device = cabled.wiring.devices, device
        self._exposures, self._panels = exposures, panels
        self._rows = grouped((place_of(rack), row) for row, rack in enumerate(devices.rack) if rack)
        self._server = FabricCabling(exposures[0].cabling.fabric, cabled, 0).numbers("server")
        self._servers = cabled.evidence.servers

    @cached_property
    def names(self) -> list[str]:
        """Names of the racks with devices or panels, in order."""
        return sorted({*self._rows, *self._panels})

    @cached_property
    def absent(self) -> list[Mask]:
        """The servers in each rack, as masks of shape (servers,)."""
        masks = []
        for name in self.names:
            number = self._server[np.array(self._rows.get(name, ()), dtype=np.int64)]
            masks.append(np.isin(np.arange(self._servers), number[number >= 0]))
        return masks

    @cached_property
    def losses(self) -> list[list[Loss]]:
        """Losses elsewhere, by fabric and then by rack."""
        return [
            [
                self._panels[name][index] if name in self._panels else exposure.without(self._rows[name], absent)
                for name, absent in zip(self.names, self.absent, strict=True)
            ]
            for index, exposure in enumerate(self._exposures)
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
        within[holders.holder[np.isin(exposure.cabling.links.a[kind.rows], self._rows.get(rack, []))]] = True
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
