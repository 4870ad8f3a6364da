"""How long a message takes over parts of a path without load, and the bytes that fill a path meanwhile.

base round trip = 2 x (metres, switches, FEC, modules of one direction) + both NICs + sending a packet and its answer
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.schema.catalog import Cable, Catalog, Fibre, Switch, Transceiver
from fabopt.schema.facts import Delay
from fabopt.units import NS_PER_US, exact

# A packet of RDMA, which InfiniBand and RoCE limit to this payload, and its acknowledgement, in bytes.
PACKET_BYTES, ANSWER_BYTES = 4096, 64
BITS = 8
FIBRE, COPPER = "fibre", "copper"
NIC = "nic"
# Cables that have lasers in their ends.
OPTICAL = ("AOC",)


class PathStep(NamedTuple):
    """Some equal parts of a path. ``part``: as ``facts.latency`` names it; ``ns``: of one of them (None: not known)."""

    part: str
    of: str
    number: float
    ns: float | None
    source: str = ""

    @property
    def all_ns(self) -> float | None:
        """Nanoseconds of all of them."""
        return None if self.ns is None else float(self.exact_ns)

    @property
    def exact_ns(self) -> Fraction:
        """Nanoseconds of all of them, exact; 0 where they are not known."""
        return exact(self.number) * exact(self.ns or 0)


def known_ns(steps: Iterable[PathStep]) -> float:
    """Nanoseconds of those steps that are known."""
    return float(_sum(steps))


def _sum(steps: Iterable[PathStep]) -> Fraction:
    return sum((step.exact_ns for step in steps), Fraction(0))


def serialisation_ns(size_bytes: int, gbps: float) -> Fraction:
    """Nanoseconds in which a port sends so many bytes."""
    return size_bytes * BITS / exact(gbps)


def exact_round_trip_ns(steps: Sequence[PathStep], gbps: float) -> Fraction:
    """Base round trip of a packet and its answer over one direction's steps, NICs once, in nanoseconds."""
    nics = _sum(step for step in steps if step.part == NIC)
    return 2 * (_sum(steps) - nics) + nics + serialisation_ns(PACKET_BYTES + ANSWER_BYTES, gbps)


def round_trip_ns(steps: Sequence[PathStep], gbps: float) -> float:
    """``exact_round_trip_ns``, to a millionth."""
    return round(float(exact_round_trip_ns(steps, gbps)), 6)


def bandwidth_delay_bytes(gbps: float, rtt_ns: float) -> int:
    """Bytes that fill a path of a speed for a round trip."""
    return ceil(round(gbps * rtt_ns / BITS, 6))


def without_figure(steps: Iterable[PathStep]) -> tuple[str, ...]:
    """Parts of which nothing is known, in words."""
    return tuple(dict.fromkeys(f"{step.part} {step.of}".strip() for step in steps if step.ns is None))


def slowness(steps: Sequence[PathStep]) -> tuple[bool, Fraction]:
    """Rank of the time of steps: what is not known in all its parts takes longest."""
    return bool(without_figure(steps)), _sum(steps)


class LinkTime(NamedTuple):
    """What a link passes. ``metre``: one of its cable; ``fec``: where the figure of a receiver is without it."""

    metre: PathStep
    inside: tuple[PathStep, ...]
    fec: PathStep

    def steps(self, metres: float, times: int = 1, fecs: int = 0) -> tuple[PathStep, ...]:
        """The steps over such links of a length, ``fecs`` of whose receivers' figures are without FEC."""
        passed = (self.metre._replace(number=metres), *self.inside)
        ends = (self.fec._replace(number=fecs),) if fecs else ()
        return (*(step._replace(number=step.number * times) for step in passed), *ends)

    def is_no_slower(self, metres: float, other: LinkTime, other_metres: float) -> bool:
        """Whether a link takes no longer than another one, whatever its receivers; what is not known takes longest."""
        pairs = ((self.steps(metres), other.steps(other_metres)), ((self.fec,), (other.fec,)))
        return all(slowness(of)[0] or slowness(own) <= slowness(of) for own, of in pairs)


@dataclass(frozen=True)
class Delays:
    """How long parts take, as a catalog says."""

    rows: tuple[Delay, ...]

    def row(self, part: str, of: str) -> Delay | None:
        """The row about a part: of its kind, else of any."""
        rows = [row for row in self.rows if row.part == part and row.of in (None, of)]
        return max(rows, key=lambda row: row.of is not None, default=None)

    def step(self, part: str, of: str, count: float = 1.0) -> PathStep:
        """Some equal parts of a path."""
        row = self.row(part, of)
        source = row.source.url or "" if row is not None and row.source is not None else ""
        return PathStep(part, of, count, None if row is None else row.ns, source)

    def switch(self, switch: Switch, count: float = 1.0) -> PathStep:
        """Switches on a path: by their own figure, else by that of their ASIC."""
        if switch.latency_ns is not None:
            said = switch.provenance.get("latency_ns")
            return PathStep("switch", switch.id, count, switch.latency_ns, said.url or "" if said else "")
        return self.step("switch", _asic(switch), count)._replace(of=switch.id)

    def lacks_fec(self, receiver: Switch | None) -> bool:
        """Whether the figure of a switch, or of a NIC, is without the decoding of what comes in."""
        if receiver is not None and receiver.latency_ns is not None:
            return False
        row = self.row(NIC, "") if receiver is None else self.row("switch", _asic(receiver))
        return row is not None and not row.holds_fec

    def link(self, cable: Cable | Fibre, modules: Sequence[Transceiver]) -> LinkTime:
        """What a link of a cable, or of a fibre between modules, passes."""
        if isinstance(cable, Fibre):
            lane = next((module.lane_gbps for module in modules if module.lane_gbps is not None), None)
            linear = bool(modules) and all(module.retiming == "none" for module in modules)
            inside = () if linear else (self.step("module", _rate(lane)),)
            return LinkTime(self.step("metre", FIBRE), inside, self.step("fec", _rate(lane)))
        lane = cable.lane_gbps or next((end.lane_gbps for end in cable.ends if end.lane_gbps is not None), None)
        is_optical = cable.medium in OPTICAL
        inside = (self.step("module", _rate(lane)) if is_optical else self.step("cable", cable.medium),)
        return LinkTime(self.step("metre", FIBRE if is_optical else COPPER), inside, self.step("fec", _rate(lane)))

    def link_of(self, catalog: Catalog, cable_id: str, ends: Sequence[Item | None]) -> LinkTime:
        """What a link of a cable or fibre passes, by its id and the items of the modules."""
        laid: tuple[Cable | Fibre, ...] = (*catalog.cables, *catalog.fibres)
        ids = {item.id for item in ends if item is not None}
        cable = next(part for part in laid if part.id == cable_id)
        return self.link(cable, [module for module in catalog.transceivers if module.id in ids])

    def devices(self, switches: Sequence[Switch]) -> Iterator[PathStep]:
        """NICs at both ends of a path, and the switches on it."""
        yield self.step(NIC, "", 2)
        on_path, numbers = {switch.id: switch for switch in switches}, Counter(switch.id for switch in switches)
        yield from (self.switch(switch, numbers[id_]) for id_, switch in on_path.items())

    def rank(self, switch: Switch) -> tuple[bool, Fraction]:
        """Rank of a switch by its time: one of which nothing is known takes longest."""
        return slowness([self.switch(switch)])


@dataclass(frozen=True)
class LatencyLimit:
    """The most that a base round trip between any two servers may take, in nanoseconds; what has no figure is out."""

    most_ns: Fraction
    delays: Delays

    def rank(self, switch: Switch) -> tuple[bool, Fraction]:
        """Rank of a switch by its time: see ``Delays``."""
        return self.delays.rank(switch)

    def is_no_slower(self, switch: Switch, other: Switch) -> bool:
        """Whether a switch takes no longer than another one, with FEC where its figure is without."""
        own, theirs = self.rank(switch), self.rank(other)
        return theirs[0] or (own <= theirs and self.delays.lacks_fec(switch) <= self.delays.lacks_fec(other))

    def may_be(self, switches: Sequence[Switch], metres: float) -> bool:
        """Whether a round trip over these switches may be within the limit; ``metres``: the least of all its links."""
        devices = [*self.delays.devices(switches)]
        per_m = [row.ns for row in self.delays.rows if row.part == "metre"]
        if without_figure(devices) or not per_m:
            return False
        nics = devices[0].exact_ns
        return 2 * (_sum(devices) - nics + exact(min(per_m)) * exact(metres)) + nics <= self.most_ns


def latency_limit(most_us: float | None, delays: Delays | None) -> LatencyLimit | None:
    """The limit of a fabric; None where any time will do."""
    return None if most_us is None or delays is None else LatencyLimit(exact(most_us) * NS_PER_US, delays)


def merged(steps: Iterable[PathStep]) -> list[PathStep]:
    """Equal steps of links as one."""
    counts: dict[PathStep, float] = {}
    for step in steps:
        key = step._replace(number=1.0)
        counts[key] = counts.get(key, 0.0) + step.number
    return [step._replace(number=count) for step, count in counts.items()]


def _rate(lane_gbps: float | None) -> str:
    return "" if lane_gbps is None else f"{lane_gbps:g}"


def _asic(switch: Switch) -> str:
    """The ASIC of a switch without its number in brackets and how many there are."""
    return (switch.asic or "").rpartition("x ")[2].partition(" (")[0].strip()
