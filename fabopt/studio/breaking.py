"""What a design loses with a device, a rack, a cable or a feed: servers cut off, bandwidth, and marks of boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from fabopt.errors import refusal
from fabopt.network.graph.cut_off import NOWHERE, outside
from fabopt.network.graph.distances import components
from fabopt.network.graph.network import network_of
from fabopt.network.graph.outage import Lost, Mask, Plant, nothing
from fabopt.operate.hostlists import compressed
from fabopt.output.sheet.pages import boxes_in_column
from fabopt.output.terminal.worst_loss import degraded, rack_words
from fabopt.output.words import plain
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.studio.showing import shown, wiring
from fabopt.studio.worker import Bench, Message
from fabopt.units import MBPS_PER_GBPS, milliwatts, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.outages import TIERS, plant_of, server_ports, switches_of
from fabopt.verify.racks import most_milliwatts
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import TO_ATTACHMENTS, Ints, Wiring

KINDS = (*TIERS, "server", "rack", "cable", "feed")
FEEDS = ("A", "B")
DOWN, CUT, DEGRADED = "down", "cut", "degraded"
# Names of more servers than fit so many letters are not listed.
LONGEST_LIST = 160
LONGEST_NUMBER = 10


class Broken(NamedTuple):
    """What breaks, in words; masks of its devices, shape (devices,), and of its links, shape (links,)."""

    what: str
    devices: Mask
    links: Mask


class FabricLoss(NamedTuple):
    """What a fabric loses: masks of shape (servers,), and one of the devices of attachments, shape (devices,).

    ``cut``: servers cut off that are there; ``worse``: others with less bandwidth, or without a NIC. ``left_gbps``: per
    GPU of the worst of these, ``whole_gbps``: of any before; None where servers are joined to each other.
    """

    cut: Mask
    worse: Mask
    devices: Mask
    left_gbps: float | None = None
    whole_gbps: float | None = None

    def told(self) -> Message:
        """Return the loss in numbers."""
        servers = {"cut": int(self.cut.sum()), "degraded": int(self.worse.sum())}
        return {**servers, "left_gbps_per_gpu": self.left_gbps, "of_gbps_per_gpu": self.whole_gbps}


@dataclass(frozen=True, eq=False)
class Whole:
    """A design as it is cabled."""

    design: Design
    wiring: Wiring

    @cached_property
    def cablings(self) -> list[FabricCabling]:
        """The fabrics of the design, each with its links."""
        cabled = CabledDesign(Evidence(self.design), self.wiring)
        return [FabricCabling(fabric, cabled, index) for index, fabric in enumerate(cabled.evidence.fabrics)]

    @cached_property
    def plants(self) -> list[Plant | None]:
        """The fabrics that have switches, port by port."""
        return [plant_of(one) if one.fabric.has_switches else None for one in self.cablings]

    @property
    def servers(self) -> Ints:
        """Rows of the servers among the devices, shape (servers,)."""
        return self.cablings[0].devices_of("server")


@lru_cache(maxsize=2)
def _whole(bench: Bench, answer: str) -> Whole:
    return Whole(shown(bench, answer), wiring(bench, answer))


def lose(bench: Bench, answer: str, fabric: str | None, kind: str, name: str) -> Message:
    """Return what is lost, in words and numbers of servers, and the marks of boxes and racks.

    ``name``: of a rack; of a device, or the number of its box in the drawing; of a cable, or the boxes at its ends
    (``2-0``); a feed, A or B, of all racks. Of several alike in a box the first.
    """
    if kind not in KINDS:
        raise refusal("kind", "", "this is not broken here", kind, allowed=", ".join(KINDS))
    whole = _whole(bench, answer)
    fabrics = [drawn.name for drawn in whole.design.fabrics]
    drawn = fabric or fabrics[0]
    if drawn not in fabrics:
        raise refusal("fabric", "", "no such fabric", fabric, allowed=", ".join(fabrics))
    boxes = np.array(boxes_in_column(whole.design, whole.wiring, drawn))
    broken = _feed(whole, name) if kind == "feed" else _named(whole, boxes, fabrics.index(drawn), kind, name)
    losses = [_loss(whole, index, broken) for index in range(len(fabrics))]
    gone = broken.devices[whole.servers]
    cut = np.logical_or.reduce([gone, *(loss.cut for loss in losses)])
    worse = np.logical_or.reduce([loss.worse for loss in losses]) & ~cut
    apart = np.logical_or.reduce([loss.devices for loss in losses])
    apart[whole.servers[cut]] = True
    marked = ((whole.servers[worse], DEGRADED), (np.flatnonzero(apart), CUT), (np.flatnonzero(broken.devices), DOWN))
    marks: dict[str, str] = {}
    racks: dict[str, str] = {}
    for rows, mark in marked:
        marks |= {str(box): mark for box in np.unique(boxes[rows]).tolist() if box >= 0}
        racks |= {rack: mark for row in rows.tolist() if (rack := whole.wiring.devices.rack[row])}
    told = "; ".join(_words(whole, losses, gone)) or "nothing is cut off, and no GPU loses bandwidth"
    return {
        "words": f"without {broken.what}: {told}",
        "cut": int(cut.sum()),
        "degraded": int(worse.sum()),
        "fabrics": {name: loss.told() for name, loss in zip(fabrics, losses, strict=True)},
        "marks": marks,
        "racks": racks,
    }


# -- what breaks ------------------------------------------------------------------------------------------------------


def _named(whole: Whole, boxes: Ints, fabric: int, kind: str, name: str) -> Broken:
    """Return what breaks by its name; ``InputError`` where there is no such thing."""
    devices, links, cables = whole.wiring.devices, whole.wiring.links, whole.wiring.cables
    lost, parted = np.zeros(len(devices), dtype=np.bool_), np.zeros(len(links), dtype=np.bool_)
    what = name
    if kind == "rack":
        lost[[row for row, rack in enumerate(devices.rack) if rack and rack == name]] = True
        what = rack_words(whole.design, name)
    elif kind == "cable":
        ends = sorted(map(_number, name.split("-")))
        rows = np.flatnonzero(np.isin(links.cable, [row for row, label in enumerate(cables.name) if label == name]))
        if not len(rows) and len(ends) == 2:
            pairs = np.sort(boxes[np.stack([links.a, links.b], axis=1)], axis=1)
            rows = np.flatnonzero((links.fabric == fabric) & np.all(pairs == np.array(ends), axis=1))
        for row in rows[:1].tolist():
            cable = int(links.cable[row])
            parted |= (links.cable == cable) if cable >= 0 else np.arange(len(links)) == row
            label = f"cable {cables.name[cable]}" if cable >= 0 else "the link"
            what = f"{label} from {devices.name[links.a[row]]} to {devices.name[links.b[row]]}"
    else:
        own = (row for row, role in enumerate(devices.role) if role == kind)
        for row in own:
            if devices.name[row] == name or boxes[row] == _number(name):
                lost[row], what = True, devices.name[row]
                break
    if not lost.any() and not parted.any():
        raise refusal("name", "", f"the design has no such {kind}", name)
    return Broken(what, lost, parted)


def _number(text: str) -> int:
    """Return the number of a box; one that no box has for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else NOWHERE - 1


def _feed(whole: Whole, name: str) -> Broken:
    """Return what ends with one feed of all racks: racks that use more than the other gives, and devices that have one
    power supply, which may be on it. Rule ``feeds_carry_racks``.
    """
    evidence, devices = whole.cablings[0].fabric.evidence, whole.wiring.devices
    if not any(devices.rack):
        raise refusal("kind", "", "feeds are of racks, and the case has no floor", hint="give `site.floor`")
    feeds = FEEDS[: evidence.case.site.rack_rules.feeds]
    if name not in feeds:
        raise refusal("name", "", "racks have no such feed", name, allowed=", ".join(feeds))
    used, limit_w = most_milliwatts(whole.cablings[0].cabled), evidence.plan.floor.usable_power_w
    over = {rack for rack, power in used.items() if limit_w is not None and power > milliwatts(limit_w)}
    single = {evidence.server.id} if evidence.server.power_supplies == 1 else set()
    for product, role in dict(zip(devices.product, devices.role, strict=True)).items():
        if role in TIERS and evidence.part(product, Switch).power_supplies == 1:
            single.add(product)
    lost = np.array(
        [
            bool(rack) and (len(feeds) == 1 or rack in over or product in single)
            for rack, product in zip(devices.rack, devices.product, strict=True)
        ]
    )
    most = max(used.values(), default=0) / 1000
    gives = "" if limit_w is None else f" of {plain(limit_w)} W that one feed gives"
    why = "racks have no other" if len(feeds) == 1 else f"a rack uses up to {plain(most)}{gives or ' W'}"
    if single and len(feeds) > 1:
        why += f"; {', '.join(sorted(single))} with one power supply may be on it"
    return Broken(f"feed {name} ({why})", lost, np.zeros(len(whole.wiring.links), dtype=np.bool_))


# -- what is lost with it ---------------------------------------------------------------------------------------------


def _loss(whole: Whole, index: int, broken: Broken) -> FabricLoss:
    """Return the losses of a fabric."""
    cabling, plant = whole.cablings[index], whole.plants[index]
    links, there = cabling.links, ~broken.devices[whole.servers]
    dead = broken.links[whole.wiring.links.fabric == index] | broken.devices[links.a] | broken.devices[links.b]
    if plant is None:
        return _of_joined(whole, cabling, dead, there)
    switches = switches_of(cabling)
    ports = dead[server_ports(cabling)].reshape(plant.switch_of.shape)
    lost = Lost(broken.devices[switches], dead[cabling.between_switches], ports)
    cut = plant.cut_off(lost, there)
    before, after = plant.rates(nothing(plant)), plant.rates(lost)
    nics = [ports[:, plant.nic_of == nic].all(axis=1) for nic in np.unique(plant.nic_of).tolist()]
    worse = (after < before * (1 - 1e-9)) | np.logical_or.reduce(nics)
    devices = np.zeros(len(cabling.devices), dtype=np.bool_)
    devices[_attached_without(cabling, plant, lost, dead)] = True
    cut |= devices[whole.servers]
    devices &= ~broken.devices
    cut, worse = cut & there, worse & there & ~cut
    whole_mbps = float(before.min())
    left_mbps = float(after[worse].min(initial=whole_mbps))
    return FabricLoss(cut, worse, devices, left_mbps / MBPS_PER_GBPS, whole_mbps / MBPS_PER_GBPS)


def _of_joined(whole: Whole, cabling: FabricCabling, dead: Mask, there: Mask) -> FabricLoss:
    """Return the losses of a fabric whose servers are joined to each other."""
    links, number, servers = cabling.links, cabling.numbers("server"), len(there)
    ends = number[links.a], number[links.b]
    a, b = (end[~dead] for end in ends)
    part = components(network_of(a, b, 1, np.ones(servers, dtype=np.int64), 1))
    own = np.where(there, np.arange(servers), NOWHERE)[:, np.newaxis]
    cut = outside(np.where(there, part, NOWHERE), own) & there
    worse = np.zeros(servers, dtype=np.bool_)
    worse[np.concatenate([end[dead] for end in ends])] = True
    return FabricLoss(cut, worse & there & ~cut, np.zeros(len(cabling.devices), dtype=np.bool_))


def _attached_without(cabling: FabricCabling, plant: Plant, lost: Lost, dead: Mask) -> Ints:
    """Return rows of the devices of attachments, and of servers in logical fabrics, that reach no part of a network
    with most of its servers.
    """
    links, switches = cabling.links, switches_of(cabling)
    rows = np.flatnonzero(np.isin(links.kind, TO_ATTACHMENTS))
    part = plant.parts(lost)
    alive = np.where(lost.ports, NOWHERE, plant.switch_of)
    held = np.bincount(part[plant.switch_of[alive >= 0]], minlength=int(part.max(initial=0)) + 1)[part]
    most = np.zeros(int(plant.network.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(most, plant.network, held)
    number = np.full(len(cabling.devices), NOWHERE)
    number[switches] = np.arange(len(switches))
    reached = (held == most[plant.network]) & ~lost.switches
    live = rows[~dead[rows] & reached[number[links.b[rows]]]]
    without = []
    for name in np.unique(cabling.attached_names[rows]).tolist():
        own = links.a[rows[cabling.attached_names[rows] == name]]
        without.append(np.setdiff1d(own, links.a[live[cabling.attached_names[live] == name]]))
    return np.concatenate([np.zeros(0, dtype=np.int64), *without])


def _words(whole: Whole, losses: Sequence[FabricLoss], gone: Mask) -> Iterator[str]:
    """Say what is lost: servers, bandwidth of those that stay, devices of attachments."""
    design, names = whole.design, whole.wiring.devices.name
    gpus = design.stages[-1].gpus // len(gone)

    def some_of(mask: Mask) -> str:
        number = int(mask.sum())
        words = f"{some(number, 'server')} ({some(number * gpus, 'GPU')})"
        listed = compressed([names[row] for row in whole.servers[mask].tolist()])
        return words if number == len(gone) or len(listed) > LONGEST_LIST else f"{words}, {listed}"

    if gone.any():
        yield f"down: {some_of(gone)}"
    for fabric, loss in zip(design.fabrics, losses, strict=True):
        if loss.cut.any():
            yield f"cut off{f' from {fabric.name}' * (len(losses) > 1)}: {some_of(loss.cut)}"
        if loss.worse.any():
            lose = "links lost" if loss.left_gbps is None else degraded(design, fabric, loss.left_gbps)
            yield f"{fabric.name}: {lose}, of {some_of(loss.worse)}"
    devices = np.logical_or.reduce([loss.devices for loss in losses])
    devices[whole.servers] = False
    if devices.any():
        yield f"cut off: {compressed([names[row] for row in devices.nonzero()[0].tolist()])}"
