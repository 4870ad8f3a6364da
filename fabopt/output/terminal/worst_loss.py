"""Losses with one device of each fabric, a plane or a rack of a floor, in words: the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from fabopt.output.statements import lost_words
from fabopt.output.terminal.families import switch_noun
from fabopt.output.words import listed, plain
from fabopt.schema.design import Design, FabricDesign, Failure, Number
from fabopt.schema.losses import SinglePoint
from fabopt.schema.resilience import RACK
from fabopt.schema.structure import SwitchlessStructure
from fabopt.units import some

COMPUTE = "compute"
DEVICES = ("leaf", "spine", "core", "switch", "server")


class LossLine(NamedTuple):
    """A loss in words; the servers that it cuts off, whether it cuts anything off, and the share that is left of the
    bandwidth of the others.
    """

    words: str
    servers: int
    cuts_off: bool
    left: float


def loss_lines(design: Design, most: int) -> list[LossLine]:
    """The worst loss of one device in each fabric, of planes and of racks, the worst first; of more than ``most``
    fabrics those that cut something off, if any do.
    """
    losses = [WorstLoss(design, fabric) for fabric in design.fabrics]
    told = [loss for loss in losses if loss.devices]
    if len(told) > most:
        told = [loss for loss in told if loss.cut_off] or told[:most]
    lines = [*(loss.line() for loss in told), *(line for loss in losses for line in loss.of_planes())]
    lines = sorted([*lines, *_rack_losses(design)], key=lambda line: (-line.servers, line.left))
    return [*lines, LossLine("other fabrics: nothing is cut off", 0, False, 1)] if len(told) < len(losses) else lines


class WorstLoss:
    """The worst failure of one device of a fabric."""

    def __init__(self, design: Design, fabric: FabricDesign) -> None:
        self.design, self.fabric = design, fabric
        self.name = f"{fabric.name}: " * (len(design.fabrics) > 1)
        points = design.single_points_of_failure or ()
        self.points = [point for point in points if point.fabric == fabric.name and point.device != RACK]
        failures = [row for row in fabric.failures if row.count == 1 and row.failed in DEVICES]
        self.most_cut = max((row.servers_cut_off or 0 for row in failures), default=0)
        self.left = min((row.gbps_per_gpu for row in failures), default=0)
        self.failures = [row for row in failures if self._is_worst(row)]
        self.devices = [row.failed for row in self.failures]
        self.cut_off = list(self._cut_off())

    def _is_worst(self, row: Failure) -> bool:
        return row.servers_cut_off == self.most_cut if self.most_cut else row.gbps_per_gpu == self.left

    def _cut_off(self) -> Iterator[str]:
        points = [point for point in self.points if not point.degraded]
        servers = max((point.servers for point in points), default=self.most_cut)
        if servers:
            yield some(servers, "server")
        yield from dict.fromkeys(lost_words(self.design, point) for point in points if not point.servers)

    def line(self) -> LossLine:
        """``a leaf: degraded to 350 of 400 Gb/s a GPU``, or what is cut off; with NICs lost of a fabric alone."""
        words = f"{self.name}{self._device}: {self._lost()}"
        return LossLine(words, self.most_cut, bool(self.cut_off), _share(self.fabric, self.left))

    def _lost(self) -> str:
        if self.most_cut:
            return f"{listed(self.cut_off)} cut off"
        beside = f"; {listed(self.cut_off)} cut off without {self._cutting}" if self.cut_off else ""
        structure = self.fabric.structure
        if isinstance(structure, SwitchlessStructure):
            return f"{_beside_a_server(structure)}; {self._left}{beside}"
        if self.left >= self.fabric.metrics.bisection_gbps_per_gpu:
            return f"{'' if beside else 'nothing is cut off, and '}no GPU loses bandwidth{beside}"
        return f"{self._left}{self._over_planes}{self._nics_lost}{beside}"

    @property
    def _left(self) -> str:
        return degraded(self.design, self.fabric, self.left)

    @property
    def _over_planes(self) -> str:
        """Why one switch of a plane takes from all planes."""
        made_up = max((row.made_up_gbps_per_gpu or 0 for row in self.failures), default=0)
        dealt = "with traffic dealt evenly over planes"
        return f" {dealt} ({plain(made_up)} if by what each still carries)" if made_up else ""

    def of_planes(self) -> Iterator[LossLine]:
        """What a plane leaves that has failed, or is out of service for an upgrade; nothing of a fabric with one."""
        for row in self.fabric.failures:
            if (row.failed, row.count) == ("plane", 1) and row.with_switch_gbps_per_gpu is not None:
                left = degraded(self.design, self.fabric, row.gbps_per_gpu)
                less = f"{plain(row.with_switch_gbps_per_gpu * self._gpus)} if a switch of another fails meanwhile"
                words = f"{self.name}a plane, failed or upgraded: {left}; {less}"
                yield LossLine(words, 0, False, _share(self.fabric, row.gbps_per_gpu))

    @property
    def _gpus(self) -> int:
        return _gpus_of(self.design, self.fabric)[1]

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
        """NICs that most servers lose with a device, of a fabric alone."""
        points = [point for point in self.points if point.degraded and point.device in self.devices]
        worst = max(points, key=_hit, default=None)
        if worst is None or self.name:
            return ""
        where = f"a {worst.device}" if len(self.devices) > 1 else "it"
        return f"; {some(worst.servers, 'server')} lose {worst.loses} with {where}"


def _beside_a_server(structure: SwitchlessStructure) -> str:
    """What servers lose that are joined to one that fails."""
    lines = [
        (2 if side > 2 else 1, links) for side, links in zip(structure.sides, structure.links_per_pair, strict=True)
    ]
    links = dict.fromkeys(str(number) for neighbours, number in lines if neighbours)
    lose = f"lose {listed(list(links), 'or')} of their {structure.ports_per_server} links"
    return f"the {sum(neighbours for neighbours, _ in lines)} servers beside it {lose}"


def _hit(point: SinglePoint) -> tuple[bool, float, int]:
    """How bad a loss of servers is: cut off before NICs lost, by their share and the servers hit; in files without
    counts the first one listed.
    """
    return not point.degraded, (point.lost or 0) / (point.of or 1), point.servers if point.of else 0


def _share(fabric: FabricDesign, left: Number) -> float:
    whole = fabric.metrics.bisection_gbps_per_gpu
    return min(1.0, left / whole) if whole else 1.0


def _gpus_of(design: Design, fabric: FabricDesign) -> tuple[str, int]:
    """Whose bandwidth is told: that of a GPU, or in fabrics other than compute of a server with its GPUs."""
    stage = design.stages[-1]
    return ("GPU", 1) if fabric.role == COMPUTE else ("server", stage.gpus // stage.servers)


def degraded(design: Design, fabric: FabricDesign, left: Number) -> str:
    """What a failure leaves of the bandwidth of a GPU, or in fabrics other than compute of a server: of any traffic, or
    where a fabric is oversubscribed of traffic between two halves of the cluster.
    """
    metrics, (noun, gpus) = fabric.metrics, _gpus_of(design, fabric)
    if _share(fabric, left) == 1:
        return f"no {noun} gets less than {plain(left * gpus)} Gb/s"
    is_whole = left > 0 and metrics.bisection_gbps_per_gpu >= metrics.injection_gbps_per_gpu
    what = "degraded" if is_whole else "bisection degraded"
    return f"{what} to {plain(left * gpus)} of {plain(metrics.bisection_gbps_per_gpu * gpus)} Gb/s a {noun}"


# -- racks ----------------------------------------------------------------------------------------------------------


def _rack_losses(design: Design) -> Iterator[LossLine]:
    """The worst losses with one rack of a floor: of servers' paths, and of bandwidth where that is another rack."""
    racks = [point for point in design.single_points_of_failure or () if point.device == RACK and point.servers]
    worst = max(racks, key=_hit, default=None)
    if worst is None:
        return
    where = f" of {worst.fabric}" if len(design.fabrics) > 1 else ""
    lost = f"lose {worst.loses}{where}" if worst.degraded else f"cut off{where.replace('of', 'from')}"
    words, share = f"{some(worst.servers, 'server')} {lost}", 1 - (worst.lost or 0) / (worst.of or 1)
    for fabric in design.fabrics:
        left = next((row for row in fabric.failures if row.failed == RACK and worst.degraded), None)
        if left is not None and fabric.name == worst.fabric:
            told, of_rack = degraded(design, fabric, left.gbps_per_gpu), _share(fabric, left.gbps_per_gpu)
            if left.worst == worst.worst:
                words, share = f"{told}; {words}", of_rack
            else:
                yield LossLine(f"{rack_words(design, left.worst or '')}: {told}", 0, False, of_rack)
    cut = 0 if worst.degraded else worst.servers
    yield LossLine(f"{rack_words(design, worst.worst)}: {words}", cut, bool(cut), share)


def rack_words(design: Design, rack: str) -> str:
    """A rack with what stands in it: ``rack A08 (4 leaves and 4 spines)``."""
    within, floor = Counter[str](), design.racks
    for number, name in enumerate(floor.server_racks):
        if name == rack:
            rest = design.stages[-1].servers - number * floor.servers_per_rack
            within["server"] += max(0, min(floor.servers_per_rack, rest))
    for fabric in design.fabrics:
        places = fabric.places
        for tier in fabric.tiers:
            standing = sum(name == rack for name, _ in getattr(places, tier.role))
            within[switch_noun(fabric, tier.role)] += standing
        for name, of_attachment in places.attachments.items():
            within[f"device of {name}"] += sum(place == rack for place, _ in of_attachment)
    told = [some(number, noun) for noun, number in within.items() if number]
    return f"rack {rack} ({listed(told)})" if told else f"rack {rack}"
