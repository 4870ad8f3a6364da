"""Port names of a switch by operating system: the one table that exports write by and readers read by.

A port is its cage from 1, its lane from 0, and the lanes of the cage. A name is read by writing the names of all ports
that a switch can have and looking it up among them, so that both directions are the same function. Sources: SONiC's
device folders (first port and step of each platform); for EOS, arista.com, EOS Layer 1 Profiles: a cage shows an
interface for each of its signalling lanes; for InfiniBand, ports are counted over all cages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from fabopt.parts.switches import ALL_LANES, SIGNAL_LANES, signal_lanes
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.operate import SonicPorts
from fabopt.wiring.model import Wiring

# Letters of a name of an interface of Linux.
LONGEST = 15
# Steps by which SONiC's numbers of cages are apart on some platform, beside the lanes of the cage.
_STEPS = (8, 4, 2, 1, 16)
# Short forms of `Ethernet`, and the unit that Hedgehog writes before the cage.
_SHORT = re.compile(r"(?:Eth?|E1/)(?=\d)")


class CagePort(NamedTuple):
    """A port: its cage from 1, its lane from 0, and the ports that the cage is split into."""

    cage: int
    lane: int
    lanes: int


class OwnName(NamedTuple):
    """A system's name of a port; ``alias``: SONiC's second name, empty where it is not known."""

    name: str
    alias: str = ""


Namer = Callable[[int, int, int], OwnName]


# -- writing --------------------------------------------------------------------------------------------------------


def cumulus(cage: int, lane: int, lanes: int) -> OwnName:
    """``swp1``, ``swp1s0``."""
    return OwnName(f"swp{cage}s{lane}" if lanes > 1 else f"swp{cage}")


def makers_own(cage: int, lane: int, lanes: int) -> OwnName:
    """``17``, ``17/1``, as makers of InfiniBand print it on a switch."""
    return OwnName(f"{cage}/{lane + 1}" if lanes > 1 else str(cage))


def infiniband(most_lanes: int, cage: int, lane: int, lanes: int) -> OwnName:
    """Numbers over all cages: ``most_lanes`` to a cage, as many as the most split cage has; ``ValueError`` for a cage
    with more.
    """
    if lanes > most_lanes:
        raise ValueError(f"InfiniBand cannot number {lanes} ports of a cage where others have {most_lanes}")
    return OwnName(str(most_lanes * (cage - 1) + lane + 1))


def sonic(ports: SonicPorts, cage: int, lane: int, lanes: int) -> OwnName:
    """``Ethernet8``; raises ``ValueError`` for a split that the step cannot number."""
    if ports.step % lanes:
        raise ValueError(f"SONiC cannot number {lanes} ports of a cage in steps of {ports.step}")
    name = f"Ethernet{ports.first + ports.step * (cage - 1) + lane * (ports.step // lanes)}"
    return OwnName(name, _sonic_alias(ports, cage, lane, lanes))


def _sonic_alias(ports: SonicPorts, cage: int, lane: int, lanes: int) -> str:
    """``etp1b``, counted on from the first cage's; empty where a platform's is not known."""
    known = re.fullmatch(r"(.*?)(\d{1,15})", ports.alias or "")
    if known is None or (lanes > 1 and known[1] != "etp"):
        return ""
    return f"{known[1]}{int(known[2]) + cage - 1}{'abcdefgh'[lane] if lanes > 1 else ''}"


def eos(signal_lanes: dict[int, int], cage: int, lane: int, lanes: int) -> OwnName:
    """``Ethernet1/5``: the first signalling lane of the port. ``signal_lanes``: of each cage."""
    signals = signal_lanes[cage]
    if signals == 1:
        return OwnName(f"Ethernet{cage}")
    if signals % lanes:
        raise ValueError(f"EOS cannot number {lanes} ports of a cage with {signals} lanes")
    return OwnName(f"Ethernet{cage}/{1 + lane * (signals // lanes)}")


def counted(cage: int, lane: int, lanes: int) -> OwnName:
    """``Ethernet1``, ``Ethernet1/2``: the second port of a cage, whatever its signalling lanes."""
    return OwnName(f"Ethernet{cage}/{lane + 1}" if lanes > 1 else f"Ethernet{cage}")


def tagged_port(system: str, name: str, vlan: int) -> str:
    """A VRF's name of a port: ``swp1.100``, ``Eth1000.1000`` of SONiC where the long form has too many letters."""
    tagged = f"{name}.{vlan}"
    return tagged.replace("Ethernet", "Eth") if system == "sonic" and len(tagged) > LONGEST else tagged


def namer_of(system: str, switch: Switch, most_lanes: int) -> Namer | None:
    """The naming of a switch's ports by a system; None where that is not known. ``most_lanes``: of its cages in use."""
    if system == "infiniband":
        return partial(infiniband, most_lanes)
    if system == "eos":
        return partial(eos, signal_lanes(switch))
    if system == "sonic":
        return partial(sonic, switch.sonic_ports) if switch.sonic_ports and len(switch.cages) == 1 else None
    return cumulus


def most_lanes(wiring: Wiring) -> list[int]:
    """Most ports of a cage in use, by device, over all stages."""
    most = np.ones(len(wiring.devices), dtype=np.int64)
    for side in "ab":
        np.maximum.at(most, getattr(wiring.links, side), getattr(wiring.links, f"{side}_lanes"))
    lanes: list[int] = most.tolist()
    return lanes


# -- reading --------------------------------------------------------------------------------------------------------


def spelled_out(name: str) -> str:
    """A name without short forms: ``Et1/1``, ``Eth1/1`` and Hedgehog's ``E1/1/1`` are ``Ethernet1/1``."""
    return _SHORT.sub("Ethernet", name, count=1) if _SHORT.match(name) else name


def ways_of(system: str, switch: Switch, most: int) -> Iterator[Namer]:
    """All namings of a switch's ports, the likeliest first: by its systems, then by any other.

    ``most``: ports of the cage in use that is split most.
    """
    for name in dict.fromkeys(filter(None, (system, *switch.nos))):
        own = namer_of(name, switch, most)
        if own is not None:
            yield own
    signals = signal_lanes(switch)
    yield from (cumulus, makers_own, partial(infiniband, most), partial(eos, signals))
    yield from _ways_of_sonic((signals[1], *_STEPS))
    yield counted


def _ways_of_sonic(steps: Iterable[int] = _STEPS) -> Iterator[Namer]:
    """Namings of unknown SONiC platforms: each has some first number and some step."""
    for step, first in product(dict.fromkeys(steps), (0, 1)):
        yield partial(sonic, SonicPorts(first=first, step=step, alias="etp1"))


def misnamed_port(system: str, places: Mapping[str, CagePort]) -> str:
    """The first name that a system does not give to its port; empty where all are right.

    The platform's numbering is not needed: names must fit some first port and some step that all ports of a switch
    share.
    """
    splits = [place.lanes for place in places.values()]
    ways: Iterable[Namer] = (cumulus,)
    if system == "infiniband":
        ways = (partial(infiniband, most) for most in range(max(splits, default=1), ALL_LANES + 1))
    elif system == "sonic":
        ways = (*_ways_of_sonic(), cumulus)
    elif system == "eos":
        cages = [place.cage for place in places.values()]
        ways = (partial(eos, dict.fromkeys(cages, signals)) for signals in (1, SIGNAL_LANES["QSFP28"], ALL_LANES))
    wrong = [next((name for name, place in places.items() if not _is_so(way, place, name)), "") for way in ways]
    return "" if "" in wrong else next(iter(wrong), "")


def _is_so(way: Namer, place: CagePort, name: str) -> bool:
    try:
        return way(*place).name == name
    except ValueError:
        return False


def splits_of(switch: Switch, used: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Ports that each cage of a switch may be split into, the likeliest first: as it is used, or as most others are."""
    usual = max(used.values(), default=1)
    by_cage = {}
    for number, cage in enumerate((cages for cages in switch.cages for _ in range(cages.count)), 1):
        ports = sorted(parse_split(split).ports for split in cage.splits)
        by_cage[number] = tuple(dict.fromkeys((used.get(number, usual if usual in ports else ports[0]), *ports)))
    return by_cage


def places_by_name(way: Namer, splits: Mapping[int, Iterable[int]]) -> dict[str, CagePort]:
    """Every port by its name, aliases too; a name that two splits of a cage have is of the first."""
    places: dict[str, CagePort] = {}
    for cage, numbers in splits.items():
        for lanes in numbers:
            for lane in range(lanes):
                try:
                    names = way(cage, lane, lanes)
                except ValueError:
                    continue
                for name in filter(None, names):
                    places.setdefault(name, CagePort(cage, lane, lanes))
    return places
