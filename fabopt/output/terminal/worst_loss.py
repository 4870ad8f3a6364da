"""The worst failure of one device of a fabric, in words."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import listed, plain
from fabopt.schema.design import Design, FabricDesign, Failure, Number
from fabopt.schema.resilience import RACK
from fabopt.units import some

COMPUTE = "compute"
DEVICES = ("leaf", "spine", "core", "switch", "server")


class WorstLoss:
    """The worst failure of one device of a fabric."""

    def __init__(self, design: Design, fabric: FabricDesign) -> None:
        self.design, self.fabric = design, fabric
        points = design.single_points_of_failure or ()
        self.points = [point for point in points if point.fabric == fabric.name and point.device != RACK]
        failures = [row for row in fabric.failures if row.count == 1 and row.failed in DEVICES]
        self.most_cut = max((row.servers_cut_off or 0 for row in failures), default=0)
        self.left = min((row.gbps_per_gpu for row in failures), default=0)
        self.devices = [row.failed for row in failures if self._is_worst(row)]
        self.cut_off = list(self._cut_off())

    def _is_worst(self, row: Failure) -> bool:
        return row.servers_cut_off == self.most_cut if self.most_cut else row.gbps_per_gpu == self.left

    def _cut_off(self) -> Iterator[str]:
        points = [point for point in self.points if not point.degraded]
        servers = max((point.servers for point in points), default=self.most_cut)
        if servers:
            yield some(servers, "server")
        yield from dict.fromkeys(_devices(point.loses) for point in points if not point.servers)

    def words(self, is_alone: bool) -> str:
        """``a leaf: degraded to 350 of 400 Gb/s a GPU``, or what is cut off; with NICs lost of a fabric that
        ``is_alone``.
        """
        if self.most_cut:
            return f"{self._device}: {listed(self.cut_off)} cut off"
        beside = f"; {listed(self.cut_off)} cut off without {self._cutting}" if self.cut_off else ""
        whole = self.fabric.metrics.bisection_gbps_per_gpu
        if self.left >= whole:
            return f"{self._device}: {'' if beside else 'nothing is cut off, and '}no GPU loses bandwidth{beside}"
        lost = self._nics_lost if is_alone else ""
        return f"{self._device}: {degraded(self.design, self.fabric, self.left)}{lost}{beside}"

    def of_planes(self) -> Iterator[str]:
        """What a plane leaves that has failed, or is out of service for an upgrade; nothing of a fabric with one."""
        for row in self.fabric.failures:
            if (row.failed, row.count) == ("plane", 1) and row.with_switch_gbps_per_gpu is not None:
                left, less = (
                    degraded(self.design, self.fabric, gbps)
                    for gbps in (row.gbps_per_gpu, row.with_switch_gbps_per_gpu)
                )
                yield f"a plane, failed or upgraded: {left}; {less} if a switch of another fails meanwhile"

    @property
    def _device(self) -> str:
        if not self.fabric.tiers:
            return "a server"
        if len(self.fabric.tiers) == 1:
            return "the only switch" if self.fabric.tiers[0].count == 1 else "a switch"
        only = {tier.role for tier in self.fabric.tiers if tier.count == 1}
        return listed([f"{'the only' if device in only else 'a'} {device}" for device in self.devices], "or")

    @property
    def _cutting(self) -> str:
        """The devices without one of which something is cut off."""
        devices = dict.fromkeys(point.device for point in self.points if not point.degraded)
        return f"a {listed(list(devices), 'or')}"

    @property
    def _nics_lost(self) -> str:
        """NICs that most servers lose with a device."""
        points = [point for point in self.points if point.degraded and point.device in self.devices]
        worst = max(points, key=lambda point: (_share(point.loses), point.servers), default=None)
        if worst is None:
            return ""
        where = f"a {worst.device}" if len(self.devices) > 1 else "it"
        return f"; {some(worst.servers, 'server')} lose {worst.loses} with {where}"


def _devices(loses: str) -> str:
    """Devices of an attachment: ``5 of 26 appliances``; ``1 of the 2 of subnet-manager``."""
    number, is_part, rest = loses.partition(" of ")
    total, _, name = rest.partition(" ")
    return f"{number} of the {total} of {name}" if is_part and not name.endswith("s") else loses


def _share(loses: str) -> float:
    """The share of ``2 of 4 NICs``; 0 of other words."""
    lost, _, of = loses.partition(" of ")
    whole = of.partition(" ")[0]
    return int(lost) / int(whole) if lost.isdigit() and whole.isdigit() else 0.0


def degraded(design: Design, fabric: FabricDesign, left: Number) -> str:
    """What a failure leaves of the bandwidth of a GPU, or in fabrics other than compute of a server: of any traffic, or
    where a fabric is oversubscribed of traffic between two halves of the cluster.
    """
    stage, metrics = design.stages[-1], fabric.metrics
    noun, gpus = ("GPU", 1) if fabric.role == COMPUTE else ("server", stage.gpus // stage.servers)
    is_whole = left > 0 and metrics.bisection_gbps_per_gpu >= metrics.injection_gbps_per_gpu
    whose = f"half the {noun}s sending" if len(design.fabrics) == 1 else "half"
    between = "" if is_whole else f", {whose} to the other half"
    return f"degraded to {plain(left * gpus)} of {plain(metrics.bisection_gbps_per_gpu * gpus)} Gb/s a {noun}{between}"


def rack_losses(design: Design) -> Iterator[tuple[str, bool]]:
    """The worst loss of servers with one rack of a floor in words, and whether it cuts them off; none without racks."""
    racks = [point for point in design.single_points_of_failure or () if point.device == RACK and point.servers]
    worst = max(racks, key=lambda point: (not point.degraded, _share(point.loses), point.servers), default=None)
    if worst is None:
        return
    where = f" of {worst.fabric}" if len(design.fabrics) > 1 else ""
    lost = f"lose {worst.loses}{where}" if worst.degraded else f"cut off{where.replace('of', 'from')}"
    words = f"{some(worst.servers, 'server')} {lost}"
    for fabric in design.fabrics:
        left = next((row for row in fabric.failures if row.failed == RACK and worst.degraded), None)
        if left is not None and fabric.name == worst.fabric:
            told = degraded(design, fabric, left.gbps_per_gpu)
            if left.worst == worst.worst:
                words = f"{told}; {words}"
            else:
                yield f"rack {left.worst}: {told}", False
    yield f"rack {worst.worst}: {words}", not worst.degraded
