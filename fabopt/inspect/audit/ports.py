"""Ports of switches by name: cage, port of the cage, and possible speed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from math import gcd
from typing import NamedTuple

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Nic, Switch
from fabopt.schema.product import Cage
from fabopt.units import MBPS_PER_GBPS, largest
from fabopt.wiring.port_names import namer_of, places_by_name, splits_of

_CUMULUS = re.compile(r"swp(\d{1,15})(?:s(\d{1,15}))?")
_SLASHED = re.compile(r"(?:Ethernet|Et|E\d+/)?(\d{1,15})(?:/(\d{1,15}))?")
_ALIAS = re.compile(r"etp(\d{1,15})([a-h])?")
_OF_SONIC = re.compile(r"Ethernet(\d{1,15})")
_NUMBER = re.compile(r"P?(\d{1,15})")
# Words of a port's name that tell its speed, which the whole port and its parts have not alike: 400GE1/0/1:1 of
# 800GE1/0/1, xe-0/0/1:0 of et-0/0/1.
_SPEED = re.compile(r"(?:\d+(?:\.\d+)?|[A-Z][A-Za-z]*)?(?:GE|GigE|GigabitEthernet)(?=\d)|(?:xe|et|ge)(?=-\d)")
# How a part of a split port is told from the port: swp1s0, Ethernet1/1/2, et-0/0/1:0, etp1a, port 7.3.
_PART = re.compile(r"(?<=\d)(?:s\d+|[/:.]\d+|[a-h])")


class PortPlace(NamedTuple):
    """A port: its cage from 1, and its place in it from 0; ``is_split``: its name says that the cage has several."""

    cage: int
    lane: int
    is_split: bool


def place_of(name: str) -> PortPlace | None:
    """Where a port of a switch is, by its name; None where that is not told."""
    if match := _CUMULUS.fullmatch(name):
        return PortPlace(int(match[1]), int(match[2] or 0), match[2] is not None)
    if match := _SLASHED.fullmatch(name):
        return PortPlace(int(match[1]), int(match[2] or 1) - 1, match[2] is not None)
    if match := _ALIAS.fullmatch(name):
        return PortPlace(int(match[1]), ord(match[2] or "a") - ord("a"), match[2] is not None)
    match = _NUMBER.fullmatch(name)
    return PortPlace(int(match[1]), 0, False) if match else None


def without_speed(name: str) -> str:
    """A name of a port without the word at its beginning that tells its speed."""
    match = _SPEED.match(name)
    return name[match.end() :] if match else name


def whole_of(name: str) -> str:
    """The whole port of a split one, as ``swp1`` of ``swp1s0``; empty for other names."""
    matches = [match for match in _PART.finditer(name) if match.end() == len(name)]
    return name[: matches[-1].start()] if matches else ""


def cages_of(product: Switch | Nic) -> list[Cage]:
    """The cages of a product, one by one."""
    return [cage for cages in product.cages for cage in [cages] * cages.count]


def most_ports(switch: Switch) -> int:
    """The most ports of a switch: splits of its cages, limited by its ASIC."""
    cages = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in switch.cages)
    return min(cages, switch.max_ports) if switch.max_ports else cages


def ports_at(switch: Switch, mbps: int | None) -> int:
    """The most ports of a switch at a speed or above; of any speed if ``mbps`` is None."""
    if mbps is None:
        return most_ports(switch)
    ports = sum(
        cage.count * max((lane.ports for lane in map(parse_split, cage.splits) if lane.port_mbps >= mbps), default=0)
        for cage in switch.cages
    )
    return min(ports, switch.max_ports) if switch.max_ports else ports


def per_cage(switch: Switch, devices: Iterable[Collection[str]]) -> int:
    """Ports per cage if plain numbers count over all cages, as in InfiniBand; 0 if they number cages.

    They count over cages if at least half of the devices have numbers above their cages: then a cage has the fewest
    ports that fit all numbers. ``devices``: names of ports by device.
    """
    cages, above, all_, highest = len(cages_of(switch)), 0, 0, 0
    for names in devices:
        most = max((int(match[1]) for match in map(_NUMBER.fullmatch, names) if match), default=0)
        all_, above, highest = all_ + 1, above + (most > cages), max(highest, most)
    ports = sorted(parse_split(split).ports for split in switch.cages[0].splits)
    return next((own for own in ports if highest <= own * cages), ports[-1]) if 0 < all_ <= 2 * above else 0


def places_on(switch: Switch, names: Collection[str], ports: int, is_sonic: bool) -> dict[str, PortPlace]:
    """Places of a switch's ports, for names that determine them.

    ``ports``: per cage, if plain numbers count over all cages, else 0. ``is_sonic``: whether numbers are known to count
    lanes of the ASIC.
    """
    if is_sonic or _counts_from_one(switch, names):
        way = namer_of("sonic", switch, 1)
        table = places_by_name(way, splits_of(switch, {})) if way is not None else {}
        return {name: PortPlace(own.cage, own.lane, own.lanes > 1) for name in names if (own := table.get(name))}
    places = {name: place for name in names if (place := place_of(name))}
    if ports:
        return {name: place if place.is_split else numbered(place, ports) for name, place in places.items()}
    return places


def _counts_from_one(switch: Switch, names: Iterable[str]) -> bool:
    """Whether numbers are SONiC's on a platform that begins at 1: some exceed the cages, and all have a common step."""
    numbers = [int(match[1]) for match in map(_OF_SONIC.fullmatch, names) if match]
    if switch.sonic_ports is None or max(numbers, default=0) <= len(cages_of(switch)):
        return False
    return gcd(*(number - switch.sonic_ports.first for number in numbers)) > 1


def numbered(place: PortPlace, ports: int) -> PortPlace:
    """A port that is numbered over all cages, which have so many each, by cage and place."""
    cage, lane = divmod(place.cage - 1, ports)
    return PortPlace(cage + 1, lane, ports > 1)


def speeds(cage: Cage, lanes: int) -> set[int]:
    """Mb/s that the ports of a cage can have, so many of them at least being in use. ``lanes``: 1 for a whole cage."""
    splits = [parse_split(split) for split in cage.splits]
    number = min((split.ports for split in splits if split.ports >= lanes), default=0)
    return {split.port_mbps for split in splits if split.ports == number}


def speeds_of_nic(nic: Nic, ports: int) -> set[int]:
    """Possible Mb/s of a NIC's ports with ``ports`` of them in use."""
    cages = cages_of(nic)
    return {
        split.port_mbps
        for cage in cages
        for split in map(parse_split, cage.splits)
        if split.ports * len(cages) >= ports
    }


def in_gbps(mbps: int) -> str:
    """``400 Gb/s``."""
    return f"{mbps / MBPS_PER_GBPS:g} Gb/s"


def lanes_by_cage(places: Mapping[str, PortPlace]) -> dict[int, int]:
    """Ports that the names of each cage show it to have, at least: 1 for one that is not split."""
    return largest((place.cage, max(place.lane + 1, 2 if place.is_split else 1)) for place in places.values())
