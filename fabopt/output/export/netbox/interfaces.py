"""Files of interfaces, of the transceivers in them, and of the cables between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from fabopt.output.export.netbox.connectors import STRAIGHT, CageKey, JoinedCable
from fabopt.output.export.netbox.objects import line
from fabopt.output.export.netbox.ports import CableEnds, Channel, Ports, ShuffleLane, panel_end
from fabopt.output.export.netbox.table import CsvTable, Row
from fabopt.output.export.netbox.words import (
    CHANNEL,
    INTERFACE,
    PLANNED,
    REAR_PORT,
    SINGLES,
    cable_type,
    interface_type,
    part_number_and_text,
    port_type,
    text,
)
from fabopt.schema.attachment import Attachment
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Fibre, Nic
from fabopt.schema.design import FabricDesign
from fabopt.schema.passive import Panel, Trunk
from fabopt.schema.product import Cage
from fabopt.units import gbps
from fabopt.wiring.model import NOTHING
from fabopt.wiring.numbers import Numbers, booked_fabrics, logical_before
from fabopt.wiring.structured import PulledTrunk, RackPort, far_cord

_KBPS_PER_GBPS = 1_000_000


class Interfaces:
    """The rows of all interfaces."""

    def __init__(self, ports: Ports) -> None:
        self.ports, self.objects, self.wiring = ports, ports.objects, ports.wiring

    def table(self) -> CsvTable:
        """Return interfaces device by device; a channelized interface comes before its channels."""
        more = ("parent", "channels", "channel_id") if self.ports.version.channels else ()
        columns = ("device", "name", "type", *more, "speed", "enabled", "mgmt_only", "description")
        return CsvTable(columns, [row for cage in self.ports.cages() for row in self._cage(cage)])

    def _cage(self, cage: CageKey) -> Iterator[Row]:
        kind, ports = self._kind(cage), self.ports.used.get(cage)
        kept = self.ports.kept.get((cage.device, cage.cage), []) if ports is None else []
        for port in kept:
            yield self._row(cage, port.name, self._type(cage, kind, port.gbps), port.gbps)
        if kept:
            return
        if ports is None:
            yield self._row(cage, self.ports.switch_port(cage), self._type(cage, kind, _most_gbps(kind)), None)
            return
        begun = set()
        for lane, port in sorted(ports.items()):
            channel = self.ports.channels.get((cage, lane))
            if channel is None:
                yield self._row(cage, port.name, self._type(cage, kind, port.gbps), port.gbps)
                continue
            parent = channel.parent
            if parent not in begun:
                begun.add(parent)
                type_ = self._type(cage, kind, parent.gbps)
                yield self._row(cage, parent.name, type_, parent.gbps, channels=parent.channels)
            yield self._row(cage, port.name, CHANNEL, port.gbps, channel)

    def _row(
        self,
        cage: CageKey,
        name: str,
        type_: str,
        speed: float | None,
        channel: Channel | None = None,
        channels: int | None = None,
    ) -> Row:
        more: Row = ()
        if self.ports.version.channels:
            more = (channel.parent.name, "", channel.number) if channel is not None else ("", channels or "", "")
        kbps = "" if speed is None else round(speed * _KBPS_PER_GBPS)
        about = self._logical_abouts.get((cage.device, name), self._abouts[cage.fabric])
        return (self.objects.names[cage.device], name, type_, *more, kbps, "true", "false", about)

    @cached_property
    def _abouts(self) -> list[str]:
        return [text(f"{fabric} fabric") for fabric in self.wiring.fabrics]

    @cached_property
    def _logical_abouts(self) -> dict[tuple[int, str], str]:
        """Descriptions of the ports of logical fabrics, by device and name, at both ends of their links."""
        wiring, networks = self.wiring, booked_fabrics(self.objects.design, self.wiring)
        hosts = {logical.name: fabric.name for fabric in self.objects.design.fabrics for logical in fabric.logical}
        abouts = {}
        for row, number in enumerate(networks.of_link.tolist() if hosts else ()):
            name = networks.names[number]
            if name in hosts:
                about = text(f"{name} on the {hosts[name]} fabric: VLAN {name}, VRF {name}")
                abouts[int(wiring.links.a[row]), wiring.a_port[row]] = about
                abouts[int(wiring.links.b[row]), wiring.b_port[row]] = about
        return abouts

    def _type(self, cage: CageKey, kind: Cage | None, speed: float) -> str:
        return interface_type(self.ports.version, self.wiring.protocols[cage.fabric], kind, speed)

    # -- what a cage is -------------------------------------------------------------------------------------------

    def _kind(self, cage: CageKey) -> Cage | None:
        """Return a cage's kind; None for a cage of an attachment that the case does not describe."""
        role, fabric = self.wiring.devices.role[cage.device], self.wiring.fabrics[cage.fabric]
        if role == "server":
            logical = next((kind for first, last, kind in self._logical_cages if first < cage.cage <= last), None)
            return logical or self._server_cages[fabric]
        if role == "attachment":
            return self._attachment_cages[fabric, self.wiring.devices.product[cage.device]]
        return self.ports.switch_cages(cage.device)[cage.cage - 1]

    @cached_property
    def _server_cages(self) -> dict[str, Cage]:
        return {fabric.name: self._server_cage(fabric) for fabric in self.objects.design.fabrics}

    @cached_property
    def _logical_cages(self) -> list[tuple[int, int, Cage]]:
        """Server cages of logical fabrics' NICs: the number before the first, the last number, and their kind."""
        design, embedded = self.objects.design, self.objects.embedded
        numbers = [Numbers(embedded, fabric) for fabric in design.fabrics]
        before, cages = logical_before(numbers), []
        for fabric in numbers:
            for logical in fabric.fabric.logical:
                first = before[logical.name].cages
                kind = embedded.nic_cages(logical)[logical.nic.cage_group]
                cages.append((first, first + fabric.logical_nics(logical).cages, kind))
        return cages

    def _server_cage(self, fabric: FabricDesign) -> Cage:
        """Return the cages of the server that the NICs share, else those of the NIC."""
        embedded, use = self.objects.embedded, fabric.nic
        shared = [
            listing.cages
            for listing in embedded.server.nics
            if listing.cages and (listing.role, listing.id) == (fabric.role, use.id)
        ]
        return (shared[0] if shared else embedded.part(use.id, Nic).cages)[use.cage_group]

    @cached_property
    def _attachment_cages(self) -> dict[tuple[str, str], Cage | None]:
        fabrics = self.objects.embedded.wanted.values()
        return {
            (fabric.name, attachment.name): _attachment_cage(attachment)
            for fabric in fabrics
            for attachment in fabric.attachments
        }


def _attachment_cage(attachment: Attachment) -> Cage | None:
    if attachment.form_factor is None or attachment.split is None:
        return None
    return Cage(count=1, form_factor=attachment.form_factor, splits=(attachment.split,), lane_gbps=attachment.lane_gbps)


def _most_gbps(kind: Cage | None) -> float:
    """Return the most Gb/s that a cage carries, over all its ports, of any split."""
    splits = [parse_split(split) for split in kind.splits] if kind is not None else []
    return max((gbps(lane.ports * lane.port_mbps) for lane in splits), default=0)


def transceivers(ports: Ports) -> CsvTable:
    """Return the modules that are bought, each with the (first) interface of its cage."""
    columns = ("device", "name", "status", "manufacturer", "part_id", "description")
    table = CsvTable((*columns, "component_type", "component_name"))
    modules, objects = ports.wiring.modules, ports.objects
    columns_of = modules.device.tolist(), modules.fabric.tolist(), modules.cage.tolist(), modules.part
    parts = {part: _part(ports, part) for part in dict.fromkeys(modules.part)}
    for device, fabric, number, part in zip(*columns_of, strict=True):
        cage = CageKey(device, fabric, number)
        interface = ports.interface(cage, min(ports.used[cage]))
        row = (objects.names[device], f"transceiver {ports.cage_name(cage)}", PLANNED, *parts[part])
        table.rows.append((*row, INTERFACE, interface))
    return table


def _part(ports: Ports, part: str) -> tuple[str, str, str]:
    """Maker, part number and description of a part."""
    known = ports.objects.design.parts[part]
    number = line(known.get("part_number") or part)
    return ports.objects.vendor(part), *part_number_and_text(number, str(known.get("description") or ""))


def shuffle_ports(ports: Ports) -> tuple[CsvTable, CsvTable]:
    """Return the rear ports of shuffles, and their front ports, one for each lane, which lead to them.

    The jumper at a connector nearer the servers ends in the front ports of its lanes; that at a connector of the other
    end in a rear port with a position for each lane, or, where no cable has several links, in one rear port a lane.
    """
    objects, wiring = ports.objects, ports.wiring
    rear = CsvTable(("device", "name", "type", "positions", "description"))
    front = CsvTable(("device", "name", "type", "rear_port", "rear_port_position", "description"))
    positions = _positions(ports)
    taken = set(positions.values())
    for cable, size in objects.shuffles.items():
        name, by_lane = wiring.cables.name[cable], ports.is_by_lane(size)
        near, far = (
            port_type(end.connector) for end in objects.embedded.part(wiring.cables.part[cable], Fibre).both_ends
        )
        for other in range(1, size + 1):
            free = [number for number in range(1, size + 1) if (cable, other, number) not in taken]
            if not by_lane:
                rear.rows.append((name, f"B{other}", far, size, f"connector {other} away from the servers"))
            for leg in range(1, size + 1):
                lane = ShuffleLane(leg, other)
                if by_lane:
                    rear.rows.append((name, lane.name, far, 1, f"connector {other} away from the servers"))
                _, _, number = positions.get((cable, lane)) or (cable, other, free.pop(0))
                place = (lane.name, 1) if by_lane else (f"B{other}", number)
                front.rows.append((name, lane.name, near, *place, f"connector {leg} nearer the servers"))
    return rear, front


def panel_ports(ports: Ports) -> Iterator[tuple[Row, Row]]:
    """Yield the rear port of every leg of every panel, and a front port before it: a jumper goes into that.

    Of cassettes front ports at both ends of a trunk that light leads to have one position behind.
    """
    cabling, embedded = ports.objects.cabling, ports.objects.embedded
    legs = {port: f"{trunk.name} leg {leg.number}" for trunk in cabling.trunks for leg in trunk.legs
            for port in (leg.a, leg.b) if port is not None}  # fmt: skip
    place_of = {port: place + 1 for trunk in cabling.trunks for leg in trunk.legs for place in range(len(leg.links))
                for port in trunk.fronts(leg, place) if port is not None}  # fmt: skip
    for panel in cabling.panels:
        part = embedded.part(panel.product, Panel)
        front, per_leg = port_type(part.connector), part.links_per_leg
        back = front if part.back is None else port_type(part.back.connector)
        for number in range(1, panel.legs + 1):
            rear = RackPort(panel.name, number, panel.has_cassettes)
            about = legs.get(rear, "free")
            for place in range(1, per_leg + 1):
                port = (number - 1) * per_leg + place
                row = panel.name, str(port), front, rear.name, place_of.get(RackPort(panel.name, port), place), about
                yield (panel.name, rear.name, back, per_leg, about), row


def _positions(ports: Ports) -> dict[tuple[int, ShuffleLane], tuple[int, int, int]]:
    """Shuffle, far connector and position there of every lane in use: the channel at the far end of its jumper."""
    known = {}
    for joined in ports.joined_cables:
        if joined.far and joined.jumper:
            size = ports.objects.shuffles[joined.cable]
            for link in joined.links:
                end, lane = ports.ends.far[link], ports.lane_of(link, size)
                channel = ports.channels.get((end.cage, end.lane))
                number = channel.number if channel is not None else lane.near
                known[joined.cable, lane] = joined.cable, lane.far, number
    return known


class CableRows:
    """The rows of all cables."""

    def __init__(self, ports: Ports) -> None:
        self.ports, self.design, self.cables = ports, ports.objects.design, ports.wiring.cables

    def table(self) -> CsvTable:
        """Return one row a cable; for cables that ``Ports.is_whole`` does not take, one for every breakout end."""
        ends = [f"side_{side}_{what}" for side in "ab" for what in ("device", "type", "name")]
        more = ("profile",) if self.ports.version.profiles else ()
        columns = (*ends, "type", "status", *more, "label", "length", "length_unit", "description")
        rows = [row for joined in self.ports.joined_cables for row in self._rows(joined)]
        rows += [row for trunk in self.ports.objects.cabling.trunks for row in self._legs(trunk)]
        return CsvTable(columns, rows)

    def _legs(self, trunk: PulledTrunk) -> Iterator[Row]:
        """One row a leg that is plugged in: NetBox has profiles for trunks of two and four legs only.

        Its positions are those of the links that it may carry.
        """
        part = self.ports.objects.embedded.part(trunk.product, Trunk)
        type_, about = self._cable_words(trunk.product, part.fibre)
        size = next((size for size in SINGLES if size >= len(trunk.far_ports)), None)
        more = ("" if size is None else f"single-1c{size}p",) if self.ports.version.profiles else ()
        for leg in trunk.legs:
            if leg.a is not None and leg.b is not None:
                sides = (panel_end(leg.a, REAR_PORT), panel_end(leg.b, REAR_PORT))
                name = f"{trunk.name} leg {leg.number} of {part.legs}"
                end = (type_, PLANNED, *more, name, f"{trunk.length_m:g}", "m", about)
                yield (*(cell for side in sides for cell in _cells(side)), *end)

    def _rows(self, joined: JoinedCable) -> Iterator[Row]:
        if joined.links[0] in self.ports.patched:
            for sides, is_far in zip(self.ports.jumpers(joined.links[0]), (False, True), strict=True):
                yield self._row(joined, sides, STRAIGHT, "", is_far)
            return
        if self.ports.is_whole(joined):
            profile = joined.profile if self.ports.version.channels or not joined.splits else ""
            yield self._row(joined, self.ports.sides(joined), profile, "")
            return
        for number, sides in enumerate(self.ports.breakout_ends(joined), start=1):
            yield self._row(joined, sides, "", f"breakout end {number} of {len(joined.links)}")

    def _row(
        self,
        joined: JoinedCable,
        sides: tuple[CableEnds, CableEnds],
        profile: str,
        part_of_cable: str,
        is_far: bool = False,
    ) -> Row:
        cells = [cell for side in sides for cell in _cells(side)]
        more = (profile,) if self.ports.version.profiles else ()
        if joined.cable == NOTHING:
            return (*cells, "", PLANNED, *more, "", "", "", "not bought by this design")
        type_, label, length, about = self._known[joined.cable]
        words = [word for word in (far_cord(label) if is_far else label, joined.jumper, part_of_cable) if word]
        described = text(f"{part_of_cable} of {self.cables.name[joined.cable]}: {about}") if part_of_cable else about
        if joined.jumper:
            described = text(f"jumper of a shuffle, {length} m through both: {about}")
        lengths = ("", "") if joined.jumper else (length, "m")
        return (*cells, type_, PLANNED, *more, " ".join(words), *lengths, described)

    @cached_property
    def _known(self) -> list[tuple[str, str, str, str]]:
        """Type, label, length and description of every cable."""
        columns = self.cables.name, self.cables.part, self.cables.medium, self.cables.length_m.tolist()
        parts = {pair: self._cable_words(*pair) for pair in dict.fromkeys(zip(*columns[1:3], strict=True))}
        known = []
        for name, part, medium, length in zip(*columns, strict=True):
            type_, about = parts[part, medium]
            known.append((type_, name, f"{length:.2f}".rstrip("0").rstrip("."), about))
        return known

    def _cable_words(self, part: str, medium: str) -> tuple[str, str]:
        known = self.design.parts[part]
        vendor, number, _ = _part(self.ports, part)
        type_ = cable_type(medium, f"{known.get('part_number')} {known.get('description')}")
        return type_, text(f"{vendor} {number or part} {medium}")


def _cells(side: CableEnds) -> Row:
    """Devices, type and names of one side of a cable."""
    return ",".join(side.devices), side.type, ",".join(side.interfaces)
