"""What is in service beside a plan that goes on from it: the plan as far as it is done, and what is to be done.

A cable that is new, moves or goes is no fault where it was, where it will be, or unplugged between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Literal, NamedTuple, get_args

from fabopt.inspect.cabling import FoundCabling
from fabopt.inspect.planned import NO_PORT, CablePlan, PlannedDevice, PlannedLink, PortName, SystemNames, plan_of
from fabopt.schema.design import Design
from fabopt.schema.installed import live_design
from fabopt.units import grouped
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.in_service import base_wiring
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import Wiring, wiring_at
from fabopt.wiring.together import together

Ends = frozenset[PortName]
Change = Literal["new", "moved", "gone"]
CHANGES: tuple[Change, ...] = get_args(Change)


class LinkToDo(NamedTuple):
    """A link to be laid, moved or taken out; ``cable``: the label of its cable.

    a, b       its ends as planned; where it goes, as they are
    before     its ends before it moves; ``NO_PORT`` otherwise
    """

    change: Change
    cable: str
    a: PortName
    b: PortName
    before: tuple[PortName, PortName] = (NO_PORT, NO_PORT)


class DeviceToDo(NamedTuple):
    """A device to be brought in, given another role, or taken out; ``before``: its name before it moves."""

    change: Change
    name: str
    part: str
    before: str = ""


@dataclass(frozen=True)
class WantedCables:
    """What should be cabled of a design at a stage, from 0, beside what is in service if it goes on
    from that or joins it.

    ``done``: ends of the links that should be there by now; None: those in service.
    """

    design: Design
    wiring: Wiring
    stage: int
    done: frozenset[Ends] | None = None

    @cached_property
    def base(self) -> Wiring | None:
        """The wiring of what is in service; None without it."""
        base, live = base_wiring(self.design, wiring_of), self._live
        return together(base, live) if base is not None and live is not None else base or live

    @cached_property
    def _live(self) -> Wiring | None:
        """The wiring of what a pod joins; None where it joins nothing."""
        return joined_wiring(self.design, wiring_of)

    @cached_property
    def whole(self) -> Wiring:
        """The wiring with that of what a pod joins."""
        return self.wiring if self._live is None else together(self.wiring, self._live)

    @cached_property
    def wirings(self) -> list[tuple[Design, Wiring]]:
        """What is in service, if anything is, then the design; each with its own wiring."""
        said = Embedded(self.design).case.live
        service, own = live_design(said), (self.design, self.wiring)
        if said is None or service is None or self.base is None:
            return [own]
        if self._live is None:
            return [(service, self.base), own]
        return [*WantedCables(service, wiring_at(wiring_of(service), said.stage), said.stage).wirings, own]

    @property
    def joined(self) -> list[tuple[Design, Wiring]]:
        """What a pod joins and the pod, each with its own wiring; none where it joins nothing."""
        return self.wirings if self._live is not None else []

    @cached_property
    def systems(self) -> SystemNames:
        """Names of the ports of all devices."""
        names: SystemNames | None = None
        for design, wiring in self.wirings:
            names = SystemNames(design, wiring, names)
        assert names is not None
        return names

    @cached_property
    def plan(self) -> CablePlan:
        """The plan, with what is in service and does not stay."""
        plan = plan_of(self.whole, self.stage)
        return plan if self._there is None else _beside(plan, self._there, self.done)

    @cached_property
    def _there(self) -> CablePlan | None:
        return None if self.base is None else plan_of(self.base, int(self.base.links.stage.max(initial=0)))

    @cached_property
    def new(self) -> frozenset[Ends]:
        """Ends of the links that are not there yet; none without anything in service."""
        if self._there is None:
            return frozenset()
        done = map(_ends, self._there.links) if self.done is None else self.done
        return frozenset(map(_ends, self.plan.links)).difference(done)

    def until_now(self, cabling: FoundCabling) -> CablePlan:
        """The plan as far as it is done.

        A new link is to be done where nothing but cables in service is at its ends; where something else is, it was
        cabled wrong. A link that moves or goes is planned as long as it is seen.
        """
        plan, seen = self.plan, frozenset(map(frozenset, cabling.joined))
        known = {_ends(link) for link in (*plan.links, *plan.was)}
        was = [link for link in plan.was if _ends(link) in seen]
        held = {port for link in was for port in _ends(link)}
        strange = {port for ends in seen - known for port in ends}
        missing = (link for link in plan.links if _ends(link) in self.new - seen and self._is_looked_at(link, cabling))
        left = {_ends(link) for link in missing if held & _ends(link) or not strange & _ends(link)}
        links = [link for link in plan.links if _ends(link) not in left]
        taken, labels = {port for link in links for port in _ends(link)}, {link.cable for link in links}
        # a cable that moves is another one where it was
        still = (replace(link, cable="") if link.cable in labels else link for link in was)
        return replace(plan, links=[*links, *(link for link in still if taken.isdisjoint(_ends(link)))], was=())

    def _is_looked_at(self, link: PlannedLink, cabling: FoundCabling) -> bool:
        """Whether files would show a link: of its network, or of its fabric where nothing of the network is there."""
        if link.network in cabling.networks:
            return True
        all_ = (*self.plan.links, *self.plan.was)
        there = {one.network for one in all_ if _ends(one) not in self.new}
        return link.network not in there and any(
            one.fabric == link.fabric and one.network in cabling.networks for one in all_
        )

    def links_to_do(self, now: CablePlan, cabling: FoundCabling) -> list[LinkToDo]:
        """Links to be laid, moved and taken out; ``now``: the plan as far as it is done."""
        planned, seen = frozenset(map(_ends, now.links)), frozenset(map(frozenset, cabling.joined))
        coming = grouped((link.cable or link, link) for link in self.plan.links if _ends(link) in self.new)
        going = grouped((link.cable or link, link) for link in self.plan.was)
        to_do: list[LinkToDo] = []
        for cable in dict.fromkeys((*coming, *going)):
            for new, old in zip_longest(coming.get(cable, ()), going.get(cable, ())):
                is_left, stays = new and _ends(new) not in planned, old and _ends(old) in seen
                if new and old and (is_left or stays):
                    to_do.append(LinkToDo("moved", new.cable, new.a, new.b, (old.a, old.b)))
                elif new and not old and is_left:
                    to_do.append(LinkToDo("new", new.cable, new.a, new.b))
                elif old and not new and stays:
                    to_do.append(LinkToDo("gone", old.cable, old.a, old.b))
        return sorted(to_do, key=lambda link: CHANGES.index(link.change))

    def devices_to_do(self, now: CablePlan, cabling: FoundCabling) -> list[DeviceToDo]:
        """Devices to be brought in, moved and taken out.

        A device is there if anything is seen of it; one with the name of one in service, if new links of it are.
        """
        wirings = (self.base or self.wiring, wiring_at(self.whole, self.stage))
        there, named = (dict.fromkeys(zip(one.devices.name, one.devices.product, strict=True)) for one in wirings)
        seen, names = cabling.devices | cabling.reporters, {name for name, _ in there}
        cabled = {port.device for link in now.links if _ends(link) in self.new for port in _ends(link)}
        going = grouped((part, name) for name, part in there if (name, part) not in named)
        to_do: list[DeviceToDo] = []
        for name, part in (one for one in named if one not in there):
            before = going[part].pop(0) if going.get(part) else ""
            if name not in (cabled if name in names else seen):
                to_do.append(DeviceToDo("moved" if before else "new", name, part, before))
        left = (DeviceToDo("gone", name, part) for part, of_part in going.items() for name in of_part if name in seen)
        return sorted((*to_do, *left), key=lambda device: CHANGES.index(device.change))


def _beside(plan: CablePlan, base: CablePlan, done: frozenset[Ends] | None) -> CablePlan:
    """The plan with the links in service (``done``: those that should be there by now) that it does not have."""
    planned = frozenset(map(_ends, plan.links))
    network_of = {link.b.device: link.network for link in plan.links}
    same = {link.network: network_of[link.b.device] for link in base.links if link.b.device in network_of}
    was = [
        replace(link, network=same.get(link.network, -1 - link.network))
        for link in base.links
        if _ends(link) not in planned and (done is None or _ends(link) in done)
    ]
    slots = {port: slot for port, slot in base.slots.items() if port not in plan.link_at}
    devices = _of_both(plan.devices, base.devices)
    return replace(plan, devices=devices, slots={**slots, **plan.slots}, was=was)


def _of_both(planned: Mapping[str, PlannedDevice], base: Mapping[str, PlannedDevice]) -> dict[str, PlannedDevice]:
    """Devices with the ports that they have in either; of one that goes the row counts from the end, from -1."""
    devices = dict(planned)
    for name, device in base.items():
        own = devices.get(name, replace(device, row=-1 - device.row))
        devices[name] = replace(own, ports={**device.ports, **own.ports}, lanes={**device.lanes, **own.lanes})
    return devices


def _ends(link: PlannedLink) -> Ends:
    return frozenset((link.a, link.b))
