"""Rule ``paths_keep_latency``: a base round trip between any two servers takes no longer than the case allows.

Every switch of a path is the slowest of its tier, every link the slowest of its kind. Parts without a figure make no
path whose time is known, so that none of them is chosen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

from fabopt.parts.latency import LatencyLimit, PathStep, exact_round_trip_ns, slowness, without_figure
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.catalog import Switch
from fabopt.topology.candidate import Candidate, Option, RowShare
from fabopt.topology.pools import with_options
from fabopt.units import gbps, grouped, sets

SERVERS, BETWEEN = "server-leaf", "between"
# Nanoseconds of all links of a kind on a path, by kind.
Times = Mapping[str, Fraction]


class Passed(NamedTuple):
    """How many links of a kind are on a path, and at how many of their ends a figure is without FEC."""

    links: int
    fecs: int


@dataclass(frozen=True)
class FarthestPath:
    """The path between the farthest servers of a candidate. ``devices``: the steps over NICs and switches; ``mbps``: of
    its slowest port; ``passed``: its links by kind; ``further_m``: metres of those through trunks beyond one jumper.
    """

    is_direct: bool
    devices: tuple[PathStep, ...]
    mbps: int
    passed: Mapping[str, Passed]
    further_m: Mapping[str, float] = field(default_factory=dict)

    def kind(self, row: RowShare) -> str | None:
        """The kind of links on the path that a row is of; None where it is not on it."""
        if row.attachment is not None or row.assembly is None:
            return None
        if row.near == "server":
            return SERVERS
        kind = BETWEEN if self.is_direct else f"{row.near}-{row.far}"
        return kind if kind in self.passed else None

    def steps(self, option: Option) -> Iterator[tuple[str, tuple[PathStep, ...]]]:
        """The kind of each row of an option, and the steps over such links on the path."""
        for row in option.rows:
            kind = self.kind(row)
            if kind is not None and row.assembly is not None and row.assembly.time is not None:
                metres = row.longest_m + self.further_m.get(kind, 0.0)
                yield kind, row.assembly.time.steps(metres, *self.passed[kind])

    def times(self, option: Option) -> Times | None:
        """The times of the links that an option makes; None where they are not known."""
        slowest: dict[str, Fraction] = {}
        for kind, steps in self.steps(option):
            is_unknown, ns = slowness(steps)
            if is_unknown:
                return None
            slowest[kind] = max(ns, slowest.get(kind, ns))
        return slowest

    def left_ns(self, most_ns: Fraction) -> Fraction:
        """What a round trip of ``most_ns`` leaves for the links of one direction."""
        return (most_ns - exact_round_trip_ns(self.devices, gbps(self.mbps))) / 2

    def round_trip_ns(self, options: Sequence[Option]) -> Fraction | None:
        """The base round trip with these options on the links; None where it is not known."""
        times = [self.times(option) for option in options]
        if without_figure(self.devices) or None in times:
            return None
        by_kind = grouped(of_kind for one in times if one for of_kind in one.items())
        return 2 * sum(map(max, by_kind.values()), Fraction(0)) - 2 * self.left_ns(Fraction(0))


def farthest(limit: LatencyLimit, candidate: Candidate, gpus: int) -> FarthestPath | None:
    """The path between the farthest servers; None where servers are joined to each other."""
    part = candidate.design.file_part()
    if not part.structure.has_switches:
        return None
    switches: dict[str, Switch] = {
        tier.role: max((one.product for one, _ in tier.counts), key=limit.rank) for tier in part.tiers
    }
    mbps = min(lane.port_mbps for lane in (part.nic.port.lane, *(tier.down.lane for tier in part.tiers)))
    if not part.structure.is_direct:
        path = path_of(limit, switches, [*switches, *list(switches)[-2::-1]], mbps, None)
        return replace(path, further_m={kind.kind: kind.further_m for kind in candidate.trunked})
    hops = candidate.design.figures(gpus).max_switch_hops
    inner = "spine" if "spine" in switches else "leaf"
    return path_of(limit, switches, ["leaf", *[inner] * (hops - 2), "leaf"][-hops:], mbps, BETWEEN)


def path_of(
    limit: LatencyLimit, switches: Mapping[str, Switch], roles: Sequence[str], mbps: int, between: str | None
) -> FarthestPath:
    """A path over switches of these roles; ``between``: the kind of all links between them, None: that of both roles,
    the lower one first.
    """
    heights = list(switches)
    lacking = [limit.delays.lacks_fec(switches[role]) for role in roles]
    ends = grouped(
        (between or "-".join(sorted(pair, key=heights.index)), lacks)
        for pair, lacks in zip(pairwise(roles), lacking[1:], strict=True)
    )
    passed = {SERVERS: Passed(2, lacking[0] + limit.delays.lacks_fec(None))}
    passed |= {kind: Passed(len(lacks), sum(lacks)) for kind, lacks in ends.items()}
    devices = tuple(limit.delays.devices([switches[role] for role in roles]))
    return FarthestPath(between is not None, devices, mbps, passed)


def with_latency(fabric: FabricProblem, gpus: int, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates whose farthest servers are as near as the case asks, with parts on their links that allow it.

    Where either of two kinds of links may be slower, but not both, each is a candidate of its own.
    """
    limit = fabric.latency
    if limit is None:
        return tuple(candidates)
    return tuple(fast for candidate in candidates for fast in _limited(limit, gpus, candidate))


def _limited(limit: LatencyLimit, gpus: int, candidate: Candidate) -> Iterator[Candidate]:
    path = farthest(limit, candidate, gpus)
    if path is None or without_figure(path.devices):
        return
    times = {id(option): path.times(option) for choice in candidate.choices for option in choice.options}
    on_offer = sets((kind, ns) for of_option in times.values() if of_option for kind, ns in of_option.items())
    if on_offer.keys() != path.passed.keys():
        return
    for rank, most in enumerate(_maximal_times(on_offer, path.left_ns(limit.most_ns))):
        fast = with_options(candidate, "latency", partial(_is_fast, times, most))
        if all(choice.options for choice in fast.choices):
            yield replace(fast, order=(*candidate.order, rank))


def _is_fast(times: Mapping[int, Times | None], most: Times, option: Option) -> bool:
    return _are_within(times[id(option)], most)


def _are_within(times: Times | None, most: Times) -> bool:
    return times is not None and all(ns <= most[kind] for kind, ns in times.items())


def _maximal_times(on_offer: Mapping[str, set[Fraction]], left_ns: Fraction) -> list[Times]:
    """Pareto-maximal times by kind of links whose sum is at most ``left_ns``."""
    *kinds, last = on_offer
    longest: list[Times] = []
    of_last = sorted(on_offer[last])
    for chosen in product(*(sorted(on_offer[kind], reverse=True) for kind in kinds)):
        place = bisect_right(of_last, left_ns - sum(chosen))
        times = dict(zip(on_offer, (*chosen, *of_last[place - 1 : place]), strict=False))
        if place and not any(_are_within(times, other) for other in longest):
            longest.append(times)
    return longest
