"""Paths of a design: to a server on the same leaf, in the same pod, and to the farthest, with the time of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.parts.latency import PathStep, bandwidth_delay_bytes, known_ns, round_trip_ns
from fabopt.schema.catalog import Cable, Fibre, Switch, Transceiver
from fabopt.schema.design import FabricDesign, LinkRow
from fabopt.schema.facts import Delay
from fabopt.wiring.design_file import Embedded

SAME_LEAF, SAME_POD, FARTHEST = "same leaf", "same pod", "farthest pair"
FIBRE, COPPER = "fibre", "copper"
# Cables that have lasers in their ends.
OPTICAL = ("AOC",)
UPWARDS = (("leaf", "spine"), ("spine", "core"))


class Path(NamedTuple):
    """A path between two servers of a fabric. ``steps``: of one direction; ``gbps``: of its slowest port."""

    fabric: str
    name: str
    gbps: float
    steps: Sequence[PathStep]

    @property
    def one_way_ns(self) -> float:
        """Nanoseconds from memory to memory of a small message, as far as they are known."""
        return known_ns(self.steps)

    @property
    def round_trip_ns(self) -> float:
        """Base round trip of a packet and its answer in nanoseconds, as far as it is known."""
        return round_trip_ns(self.steps, self.gbps)

    @property
    def bandwidth_delay_bytes(self) -> int:
        """Bytes that fill the path."""
        return bandwidth_delay_bytes(self.gbps, self.round_trip_ns)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Parts of which nothing is known."""
        return tuple(dict.fromkeys(f"{step.part} {step.of}".strip() for step in self.steps if step.ns is None))


class _TimedLink(NamedTuple):
    """What a link passes: steps of its parts, and the lane rate of its ports in Gb/s (None: not known)."""

    steps: Sequence[PathStep]
    lane_gbps: float | None

    @property
    def ns(self) -> float:
        return known_ns(self.steps)


def paths_of(embedded: Embedded, fabric: FabricDesign) -> Iterator[Path]:
    """The paths of a fabric, near ones first; none where servers are joined to each other, which pass traffic on."""
    tiers = {tier.role: tier for tier in fabric.tiers}
    up = _slowest(embedded, (row for row in fabric.links if row.from_ == "server"))
    if "leaf" not in tiers or up is None or not fabric.structure.has_switches:
        return
    switches: dict[str, Switch] = {role: embedded.part(tier.id, Switch) for role, tier in tiers.items()}
    for name, roles, lines in _routes(embedded, fabric, frozenset(tiers)):
        hops = [up, *lines, up]
        steps = [*_devices(embedded, [switches[role] for role in roles], hops), *_merged(hops)]
        yield Path(fabric.name, name, min(fabric.nic.gbps, *(tier.gbps_down for tier in fabric.tiers)), steps)


def _routes(
    embedded: Embedded, fabric: FabricDesign, tiers: frozenset[str]
) -> Iterator[tuple[str, Sequence[str], Sequence[_TimedLink]]]:
    """Name, roles of switches and links between these of each path."""
    yield SAME_LEAF, ["leaf"], []
    if fabric.structure.is_direct:
        between = _slowest(embedded, (row for row in fabric.links if row.from_ not in ("server", "attachment")))
        hops = fabric.metrics.max_switch_hops
        if hops > 1 and between is not None:
            yield FARTHEST, ["leaf"] * hops, [between] * (hops - 1)
        return
    roles, lines = ["leaf"], list[_TimedLink]()
    for number, (low, high) in enumerate(UPWARDS, 1):
        line = _slowest(embedded, (row for row in fabric.links if (row.from_, row.to) == (low, high)))
        if high not in tiers or line is None:
            return
        lines, roles = [*lines, line], [*roles, high]
        is_last = number == len(UPWARDS) or UPWARDS[number][1] not in tiers
        yield FARTHEST if is_last else SAME_POD, [*roles, *roles[-2::-1]], [*lines, *lines[::-1]]


def _slowest(embedded: Embedded, rows: Iterator[LinkRow]) -> _TimedLink | None:
    """The link of some rows that takes longest, in its longest length."""
    lines = [_line(embedded, row) for row in rows if any(part.end is None for part in row.parts)]
    return max(lines, key=lambda line: line.ns, default=None)


def _line(embedded: Embedded, row: LinkRow) -> _TimedLink:
    cable = max((part for part in row.parts if part.end is None), key=lambda part: part.length_m or 0.0)
    product, metres = embedded.product(cable.id), cable.length_m or 0.0
    modules = [embedded.part(part.id, Transceiver) for part in row.parts if part.end is not None]
    if isinstance(product, Fibre):
        lane = next((module.lane_gbps for module in modules if module.lane_gbps is not None), None)
        linear = bool(modules) and all(module.retiming == "none" for module in modules)
        inside = [] if linear else [_step(embedded, "module", _rate(lane), 1)]
        return _TimedLink([_step(embedded, "metre", FIBRE, metres), *inside], lane)
    assert isinstance(product, Cable)
    lane = product.lane_gbps or next((end.lane_gbps for end in product.ends if end.lane_gbps is not None), None)
    if product.medium in OPTICAL:
        return _TimedLink([_step(embedded, "metre", FIBRE, metres), _step(embedded, "module", _rate(lane), 1)], lane)
    return _TimedLink([_step(embedded, "metre", COPPER, metres), _step(embedded, "cable", product.medium, 1)], lane)


def _merged(lines: Sequence[_TimedLink]) -> list[PathStep]:
    """Equal steps of links as one."""
    counts: dict[PathStep, float] = {}
    for step in (step for line in lines for step in line.steps):
        key = step._replace(number=1.0)
        counts[key] = counts.get(key, 0.0) + step.number
    return [step._replace(number=count) for step, count in counts.items()]


def _devices(embedded: Embedded, switches: Sequence[Switch], lines: Sequence[_TimedLink]) -> Iterator[PathStep]:
    """NICs at both ends, switches on the way, and FEC of links whose receiver's figure is without it."""
    nic = _delay(embedded, "nic", "")
    yield _step(embedded, "nic", "", 2)
    without = [line for line in lines[-1:] if nic is not None and not nic.holds_fec]
    for switch, count in Counter(switch.id for switch in switches).items():
        product = next(one for one in switches if one.id == switch)
        row = _delay(embedded, "switch", _asic(product))
        if product.latency_ns is not None:
            said = product.provenance.get("latency_ns")
            yield PathStep("switch", switch, count, product.latency_ns, said.url or "" if said else "")
            continue
        yield _of_row("switch", switch, count, row)
        if row is not None and not row.holds_fec:
            without += [line for line, one in zip(lines, switches, strict=False) if one.id == switch]
    for lane, count in Counter(line.lane_gbps for line in without).items():
        yield _step(embedded, "fec", _rate(lane), count)


def _rate(lane_gbps: float | None) -> str:
    return "" if lane_gbps is None else f"{lane_gbps:g}"


def _asic(switch: Switch) -> str:
    """The ASIC of a switch without its number in brackets and how many there are."""
    return (switch.asic or "").rpartition("x ")[2].partition(" (")[0].strip()


def _step(embedded: Embedded, part: str, of: str, count: float) -> PathStep:
    return _of_row(part, of, count, _delay(embedded, part, of))


def _of_row(part: str, of: str, count: float, row: Delay | None) -> PathStep:
    source = row.source.url or "" if row is not None and row.source is not None else ""
    return PathStep(part, of, count, None if row is None else row.ns, source)


def _delay(embedded: Embedded, part: str, of: str) -> Delay | None:
    """The row about a part: of its kind, else of any."""
    rows = [row for row in embedded.delays if row.part == part and row.of in (None, of)]
    return max(rows, key=lambda row: row.of is not None, default=None)
