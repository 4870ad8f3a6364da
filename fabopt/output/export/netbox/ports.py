"""Ports of all devices as NetBox names them: one interface a port, or a channelized one with a channel for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from fabopt.output.export.ends import HOSTS
from fabopt.output.export.netbox.connectors import (
    CageKey,
    JoinedCable,
    LaneEnd,
    LaneEnds,
    Plug,
    joined_cables,
)
from fabopt.output.export.netbox.objects import Objects
from fabopt.output.export.netbox.words import BREAKOUTS, FRONT_PORT, INTERFACE, REAR_PORT, Version
from fabopt.output.export.ports import kept_ports
from fabopt.schema.catalog import Switch
from fabopt.schema.product import Cage
from fabopt.units import grouped
from fabopt.wiring.model import KINDS, port_name
from fabopt.wiring.structured import PatchedLink, RackPort


class Port(NamedTuple):
    """A port with a link, or an idle one in the same cage."""

    name: str
    gbps: float


class Parent(NamedTuple):
    """A connector of several links as one interface; the speed is that of all its channels."""

    name: str
    channels: int
    gbps: float


class Channel(NamedTuple):
    """The parent of a channel, and its number there, from 1."""

    parent: Parent
    number: int


class CableEnds(NamedTuple):
    """One side of a cable: devices and interfaces (or ports of a shuffle), paired; one device alone is that of all."""

    devices: tuple[str, ...]
    interfaces: tuple[str, ...]
    type: str = INTERFACE


class ShuffleLane(NamedTuple):
    """A lane of a shuffle: its connectors at both ends, from 1."""

    near: int
    far: int

    @property
    def name(self) -> str:
        """The name of its port in NetBox."""
        return f"A{self.near}-B{self.far}"


def panel_end(port: RackPort, type_: str) -> CableEnds:
    """The side of a cable that is in front of a port of a panel, or behind it."""
    return CableEnds((port.panel,), (port.name,), type_)


class Ports:
    """The ports of a design and the cables between them, as a NetBox release has them."""

    def __init__(self, objects: Objects, version: Version) -> None:
        self.objects, self.version, self.wiring = objects, version, objects.wiring
        self.ends = LaneEnds(self.wiring)
        self.near_names = self.wiring.a_port
        self.far_names = self.wiring.b_port
        self.joined_cables = list(joined_cables(self.wiring, objects.embedded, self.ends))
        self.is_switch = [role not in HOSTS for role in self.wiring.devices.role]
        self._cages_of_product: dict[str, list[Cage]] = {}

    # -- cages ----------------------------------------------------------------------------------------------------

    @cached_property
    def used(self) -> dict[CageKey, dict[int, Port]]:
        """Ports by cage in use and lane; of switches also the idle ports of such a cage."""
        by_cage: dict[CageKey, dict[int, Port]] = {}
        speeds = self.wiring.links.gbps.tolist()
        for ends, names in ((self.ends.near, self.near_names), (self.ends.far, self.far_names)):
            for end, name, speed in zip(ends, names, speeds, strict=True):
                ports = by_cage.setdefault(end.cage, {})
                if not ports and self.is_switch[end.cage.device]:
                    lanes = range(end.lanes)
                    ports.update({lane: Port(self.switch_port(end.cage, lane, end.lanes), speed) for lane in lanes})
                ports[end.lane] = Port(name, speed)
        return by_cage

    @cached_property
    def kept(self) -> dict[tuple[int, int], list[Port]]:
        """Ports of split cages in which some are kept free and none is used, by device and cage, as in the port map."""
        kept = kept_ports(self.objects.design, self.wiring)
        return {place: [Port(*port) for port in ports] for place, ports in kept.items()}

    def cages(self) -> Iterator[CageKey]:
        """Yield cages device by device: of a host those in use, of a switch all."""
        in_use = grouped((cage.device, cage) for cage in self.used)
        place = {name: index for index, name in enumerate(self.wiring.fabrics)}
        for device, fabric in enumerate(self.wiring.devices.fabric):
            if self.is_switch[device]:
                count = len(self.switch_cages(device))
                yield from (CageKey(device, place[fabric], number) for number in range(1, count + 1))
            else:
                yield from sorted(in_use.get(device, []))

    def switch_cages(self, device: int) -> list[Cage]:
        """Return the kind of each cage of a switch, in the order of their numbers."""
        product = self.wiring.devices.product[device]
        if product not in self._cages_of_product:
            switch = self.objects.embedded.part(product, Switch)
            self._cages_of_product[product] = [cage for cage in switch.cages for _ in range(cage.count)]
        return self._cages_of_product[product]

    def switch_port(self, cage: CageKey, lane: int = 0, lanes: int = 1) -> str:
        """Return the name of a switch's port; without a lane, of its whole cage."""
        return port_name(self.wiring.protocols[cage.fabric], len(KINDS), cage.cage, lane, lanes)

    def cage_name(self, cage: CageKey) -> str:
        """Return the name of a cage; a host's cage is named by its number."""
        return self.switch_port(cage) if self.is_switch[cage.device] else f"cage{cage.cage}"

    # -- channels -------------------------------------------------------------------------------------------------

    @cached_property
    def channels(self) -> dict[tuple[CageKey, int], Channel]:
        """Channels by cage and lane; none before NetBox 4.7."""
        by_lane: dict[tuple[CageKey, int], Channel] = {}
        if self.version.channels:
            for joined in self.joined_cables:
                sides = (self.ends.near, joined.near), (self.ends.far, joined.far)
                for (ends, plugs), count in zip(sides, joined.channels, strict=True):
                    if count:
                        by_lane.update(self._channels(plugs[0], count, [ends[link].lane for link in joined.links]))
        return by_lane

    def _channels(self, plug: Plug, count: int, lanes: Sequence[int]) -> dict[tuple[CageKey, int], Channel]:
        """Number the lanes of a connector. Channel i is the i-th end of a splitter, so lanes in use come first."""
        cage, connector = plug.place
        ports = self.used[cage]
        name = self.cage_name(cage) + ("" if plug.fills_cage else f"-c{connector + 1}")
        parent = Parent(name, count, ports[lanes[0]].gbps * count)
        lanes_of_plug = range(connector * plug.capacity, (connector + 1) * plug.capacity)
        idle = [lane for lane in lanes_of_plug if lane in ports and lane not in lanes]
        return {(cage, lane): Channel(parent, number) for number, lane in enumerate([*lanes, *idle], start=1)}

    def interface(self, cage: CageKey, lane: int) -> str:
        """Return the name of the interface into which the cable of a lane is plugged."""
        channel = self.channels.get((cage, lane))
        return self.used[cage][lane].name if channel is None else channel.parent.name

    def sides(self, joined: JoinedCable) -> tuple[CableEnds, CableEnds]:
        """Return both sides of a cable; where one splits, it is the first."""
        if joined.jumper:
            return self._jumper(joined, joined.links)
        near, far = (self._side([ends[link] for link in joined.links]) for ends in (self.ends.near, self.ends.far))
        return (far, near) if joined.turned else (near, far)

    def is_whole(self, joined: JoinedCable) -> bool:
        """Whether a cable is one in NetBox too. Without a profile, NetBox joins each port with all opposite."""
        return len(joined.links) == 1 or (self.version.channels and bool(joined.profile))

    def breakout_ends(self, joined: JoinedCable) -> Iterator[tuple[CableEnds, CableEnds]]:
        """Yield both sides of every link of a cable, each as if it were a cable."""
        for link in joined.links:
            if joined.jumper:
                yield self._jumper(joined, [link])
            else:
                yield self._side([self.ends.near[link]]), self._side([self.ends.far[link]])

    # -- panels ---------------------------------------------------------------------------------------------------

    @cached_property
    def patched(self) -> dict[int, PatchedLink]:
        """Links that run through a trunk."""
        return self.objects.cabling.patched(self.wiring)

    def jumpers(self, link: int) -> Iterator[tuple[CableEnds, CableEnds]]:
        """Yield both sides of the jumpers at the near and the far end of a link through a trunk, the devices first."""
        patched = self.patched[link]
        for ends, port in ((self.ends.near, patched.near), (self.ends.far, patched.far)):
            yield self._side([ends[link]]), panel_end(port, FRONT_PORT)

    # -- shuffles -------------------------------------------------------------------------------------------------

    def is_by_lane(self, size: int) -> bool:
        """Whether each lane of a shuffle has a rear port of its own: where no cable has several links in NetBox."""
        return not self.version.channels or size not in BREAKOUTS

    def lane_of(self, link: int, size: int) -> ShuffleLane:
        """Return the lane of a shuffle that a link takes."""
        return ShuffleLane(self.ends.far[link].lane % size + 1, self.ends.near[link].lane % size + 1)

    def _jumper(self, joined: JoinedCable, links: Sequence[int]) -> tuple[CableEnds, CableEnds]:
        """Return the sides of a jumper: of its device and of the shuffle, or of the shuffle and of its device."""
        size, name = self.objects.shuffles[joined.cable], self.wiring.cables.name[joined.cable]
        lanes = [self.lane_of(link, size) for link in links]
        if joined.near:
            own = self._side([self.ends.near[link] for link in links])
            return own, CableEnds((name,), tuple(lane.name for lane in lanes), FRONT_PORT)
        own = self._side([self.ends.far[link] for link in links])
        ports = [lane.name if self.is_by_lane(size) else f"B{lane.far}" for lane in lanes]
        return CableEnds((name,), tuple(dict.fromkeys(ports)), REAR_PORT), own

    def _side(self, ends: Sequence[LaneEnd]) -> CableEnds:
        pairs = dict.fromkeys((end.cage.device, self.interface(end.cage, end.lane)) for end in ends)
        devices = [self.objects.names[device] for device, _ in pairs]
        alone = len(set(devices)) == 1
        return CableEnds(tuple(devices[:1] if alone else devices), tuple(interface for _, interface in pairs))
