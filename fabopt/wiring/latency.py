"""Paths of designs: to a server on the same leaf, in the same pod, and to the farthest, with the time of each part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.latency import (
    NIC,
    Delays,
    PathStep,
    bandwidth_delay_bytes,
    exact_round_trip_ns,
    known_ns,
    merged,
    round_trip_ns,
    slowness,
    without_figure,
)
from fabopt.schema.catalog import Cable, Fibre, Switch, Transceiver
from fabopt.schema.design import FabricDesign, LinkPart, LinkRow
from fabopt.schema.prediction import Place
from fabopt.wiring.design_file import Embedded
from fabopt.workload.on_paths import PlacePath
from fabopt.workload.timing import PLACES

SAME_LEAF, SAME_POD, FARTHEST = "same leaf", "same pod", "farthest pair"
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
    def exact_round_trip_ns(self) -> Fraction:
        """Exact base round trip in nanoseconds, as far as it is known."""
        return exact_round_trip_ns(self.steps, self.gbps)

    @property
    def bandwidth_delay_bytes(self) -> int:
        """Bytes that fill the path."""
        return bandwidth_delay_bytes(self.gbps, self.round_trip_ns)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Parts of which nothing is known."""
        return without_figure(self.steps)


class _PathLink(NamedTuple):
    """A link of a path towards ``to``: a switch, or the NIC at its end (None)."""

    rows: tuple[LinkRow, ...]
    to: Switch | None


def paths_of(embedded: Embedded, fabric: FabricDesign) -> Iterator[Path]:
    """The paths of a fabric, near ones first; none where servers are joined to each other, which pass traffic on.

    Every switch is the slowest of its tier, and every link the slowest of its kind, in its longest length.
    """
    delays, tiers = Delays(embedded.delays), {tier.role: tier for tier in fabric.tiers}
    fabric = fabric.model_copy(update={"links": tuple(_as_laid(fabric))})
    up = tuple(row for row in fabric.links if row.from_ == "server")
    if "leaf" not in tiers or not fabric.structure.has_switches or not any(map(_cable_of, up)):
        return
    switches: dict[str, Switch] = {
        role: max((embedded.part(one.id, Switch) for one in tier.types), key=delays.rank)
        for role, tier in tiers.items()
    }
    for name, roles, lines in _routes(fabric, frozenset(tiers)):
        on_path = [switches[role] for role in roles]
        hops = [*map(_PathLink, (up, *lines), on_path), _PathLink(up, None)]
        links = (step for hop in hops for step in _slowest(embedded, delays, hop))
        gbps = min(fabric.nic.gbps, *(tier.gbps_down for tier in fabric.tiers))
        yield Path(fabric.name, name, gbps, [*delays.devices(on_path), *merged(links)])


def paths_by_place(embedded: Embedded, fabric: FabricDesign) -> tuple[PlacePath, ...]:
    """The paths of calls without their NICs, by place; none where the catalog has no figures, or servers pass traffic
    on.
    """
    named = {path.name: path for path in paths_of(embedded, fabric)} if embedded.delays else {}
    if not named:
        return ()
    farthest = named.get(FARTHEST, named[SAME_LEAF])
    by_place = zip(PLACES[1:], (named[SAME_LEAF], named.get(SAME_POD, farthest), farthest), strict=True)
    return tuple(_without_nics(place, path) for place, path in by_place)


def _without_nics(place: Place, path: Path) -> PlacePath:
    steps = [step for step in path.steps if step.part != NIC]
    return PlacePath(place, slowness(steps)[1], without_figure(steps))


def _as_laid(fabric: FabricDesign) -> Iterator[LinkRow]:
    """The rows of links, of which those through trunks have a cable as long as two jumpers and the longest trunk."""
    further_m: dict[str, float] = {
        kind.kind: kind.jumper_m + max((trunk.length_m for trunk in kind.trunks), default=0)
        for kind in fabric.structured
    }
    for row in fabric.links:
        more_m = further_m.get(f"{row.from_}-{row.to}", 0)
        parts = (
            part if part.length_m is None else part.model_copy(update={"length_m": part.length_m + more_m})
            for part in row.parts
        )
        yield row.model_copy(update={"parts": tuple(parts)}) if more_m else row


def _routes(
    fabric: FabricDesign, tiers: frozenset[str]
) -> Iterator[tuple[str, Sequence[str], Sequence[tuple[LinkRow, ...]]]]:
    """Name, roles of switches and links between these of each path."""
    yield SAME_LEAF, ["leaf"], []
    if fabric.structure.is_direct:
        between = tuple(row for row in fabric.links if row.from_ not in ("server", "attachment"))
        hops = fabric.metrics.max_switch_hops
        if hops > 1 and any(map(_cable_of, between)):
            inner = "spine" if "spine" in tiers else "leaf"
            yield FARTHEST, ["leaf", *[inner] * (hops - 2), "leaf"], [between] * (hops - 1)
        return
    roles, lines = ["leaf"], list[tuple[LinkRow, ...]]()
    for number, (low, high) in enumerate(UPWARDS, 1):
        line = tuple(row for row in fabric.links if (row.from_, row.to) == (low, high))
        if high not in tiers or not any(map(_cable_of, line)):
            return
        lines, roles = [*lines, line], [*roles, high]
        is_last = number == len(UPWARDS) or UPWARDS[number][1] not in tiers
        yield FARTHEST if is_last else SAME_POD, [*roles, *roles[-2::-1]], [*lines, *lines[::-1]]


def _cable_of(row: LinkRow) -> LinkPart | None:
    """The longest cable of a row; None where nothing is bought for it."""
    cables = (part for part in row.parts if part.end is None)
    return max(cables, key=lambda part: part.length_m or 0.0, default=None)


def _slowest(embedded: Embedded, delays: Delays, hop: _PathLink) -> tuple[PathStep, ...]:
    """The steps of the link of some rows that takes longest."""
    return max((_line(embedded, delays, row, hop.to) for row in hop.rows if _cable_of(row)), key=slowness)


def _line(embedded: Embedded, delays: Delays, row: LinkRow, to: Switch | None) -> tuple[PathStep, ...]:
    cable = _cable_of(row)
    assert cable is not None
    product = embedded.product(cable.id)
    assert isinstance(product, Cable | Fibre)
    modules = [embedded.part(part.id, Transceiver) for part in row.parts if part.end is not None]
    return delays.link(product, modules).steps(cable.length_m or 0.0, fecs=int(delays.lacks_fec(to)))
