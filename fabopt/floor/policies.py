"""Policies of layouts: the racks that they keep for switches. See docs/formulation/floor.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, islice
from math import ceil
from typing import Final, Literal, NamedTuple

import numpy as np

from fabopt.floor.loads import NO_LOAD, RackLoad, added
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import FEWEST_RACKS
from fabopt.floor.racks import Ints
from fabopt.schema.product import Airflow
from fabopt.units import ceil_div

Policy = Literal["top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks", "anywhere"]
# Layouts with a rule for every switch; ``anywhere`` has none.
# Sets of so many of several halls are looked at.
MOST_SETS_OF_HALLS = 20
POLICIES: tuple[Policy, ...] = ("top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks")


def switch_racks_of(plan: FloorPlan, needed: int, wanted: int, free: int) -> Iterator[tuple[Policy, Ints]]:
    """Policies with the racks that they keep for switches, as ``network_racks`` allows; of shape (racks kept,).

    ``needed``: racks of servers; ``wanted``: racks that the switches fill; ``free``: racks that servers leave.
    """
    if plan.server_racks is None:
        yield from _by_rule(plan, needed, wanted, free)
        return
    for policy, racks in _beside(plan, plan.server_racks):
        others = racks[~np.isin(racks, plan.server_racks)]
        if others.size or policy == "top-of-rack":
            yield policy, others[:wanted]


def in_halls(plan: FloorPlan, needed: int, wanted: int) -> Iterator[tuple[Policy, Ints, Ints]]:
    """Policies in the fewest of several halls: with the racks that each of these keeps for switches, its share of
    ``wanted``, and all their racks, where servers are; none of one hall. Both of shape (racks listed,).
    """
    for number in range(1, len(plan.of_halls) + 1):
        rooms = []
        for chosen in islice(combinations(plan.of_halls, number), MOST_SETS_OF_HALLS):
            free = sum(hall.usable_racks for _, hall in chosen) - needed
            if free >= 0 and sum(_for_servers(hall) for _, hall in chosen) >= needed:
                rooms.append(free)
                every = np.concatenate([start + np.flatnonzero(hall.usable) for start, hall in chosen])
                yield from ((policy, racks, every) for policy, racks in _in_each(chosen, needed, wanted, free))
        if max(rooms, default=-1) >= wanted:
            return


def _for_servers(hall: FloorPlan) -> int:
    """Racks of a hall that may have servers."""
    return hall.usable_racks if hall.server_racks is None else int(hall.usable[hall.server_racks].sum())


def _in_each(
    chosen: Sequence[tuple[int, FloorPlan]], needed: int, wanted: int, free: int
) -> Iterator[tuple[Policy, Ints]]:
    """The policies of all of some halls, by which each keeps its share of racks for switches."""
    whole = sum(hall.usable_racks for _, hall in chosen)
    kept: dict[Policy, list[Ints]] = {}
    for start, hall in chosen:
        own = max(FEWEST_RACKS, ceil_div(wanted * hall.usable_racks, whole))
        left = min(own, free * hall.usable_racks // whole)
        servers = min(needed, hall.usable_racks - left, _for_servers(hall))
        of_hall = dict(reversed([*switch_racks_of(hall, servers, own, hall.usable_racks - servers)]))
        for policy, racks in of_hall.items():
            kept.setdefault(policy, []).append(start + racks)
        needed -= servers
    yield from ((policy, np.concatenate(racks)) for policy, racks in kept.items() if len(racks) == len(chosen))


def _beside(plan: FloorPlan, servers: Ints) -> Iterator[tuple[Policy, Ints]]:
    """Policies where the case names the racks of servers, with racks for switches in order of preference.

    Racks of servers are among them. All have shape (racks listed,).
    """
    allowed, nearest = plan.floor.network_racks, plan.from_centre(servers)
    if isinstance(allowed, tuple):
        yield from (("listed-racks", plan.network_racks()), ("top-of-rack", plan.network_racks()))
        return
    own_rows = nearest[~np.isin(plan.row[nearest], plan.row[servers])]
    ways: dict[str, tuple[Policy, Ints]] = {
        "row": ("network-row", own_rows), "middle": ("middle-of-row", plan.middle()), "end": ("end-of-row", plan.ends())
    }  # fmt: skip
    yield from ways.values() if allowed == "any" else (ways[allowed],)
    yield "top-of-rack", nearest if allowed == "any" else ways[allowed][1]


def _by_rule(plan: FloorPlan, needed: int, wanted: int, free: int) -> Iterator[tuple[Policy, Ints]]:
    """Policies where servers are in any racks."""
    allowed = plan.floor.network_racks
    if isinstance(allowed, tuple):
        listed = plan.network_racks()
        yield from (("listed-racks", listed), ("top-of-rack", listed))
    elif allowed in ("middle", "end"):
        in_rows = [
            (policy, racks) for policy, racks in _in_every_row(plan, needed, wanted) if policy.startswith(allowed)
        ]
        yield from in_rows
        yield from (("top-of-rack", racks) for _, racks in in_rows)
    else:
        yield from (("network-row", racks) for racks in _own_rows(plan, needed, wanted))
        if allowed == "any":
            yield from _in_every_row(plan, needed, wanted)
        counts = sorted({min(free, count) for count in (wanted, 2 * wanted) if free})
        yield from (("top-of-rack", plan.from_centre()[:count]) for count in counts)
    if free < wanted:
        yield "top-of-rack", np.array([], dtype=np.int64)


def _own_rows(plan: FloorPlan, needed: int, wanted: int) -> Iterator[Ints]:
    """Racks of rows without servers: the middle row of those in use, and rows around it if it is too short."""
    for used in range(2, plan.floor.rows + 1):
        middle = (used - 1) / 2
        network_rows: list[int] = []
        racks = np.empty(0, dtype=np.int64)
        for row in sorted(range(used), key=lambda row: (abs(row - middle), row)):
            network_rows.append(row)
            racks = np.concatenate([plan.racks_of(own) for own in network_rows])
            if len(racks) >= wanted:
                break
        for_servers = sum(len(plan.racks_of(row)) for row in range(used) if row not in network_rows)
        if len(racks) >= wanted and for_servers >= needed:
            from_centre = plan.from_centre()
            yield from_centre[np.isin(from_centre, racks)]
            return


def _in_every_row(plan: FloorPlan, needed: int, wanted: int) -> Iterator[tuple[Policy, Ints]]:
    """Racks in the middle or at the end of every row in use."""
    for used in range(1, plan.floor.rows + 1):
        per_row = ceil_div(wanted, used)
        for_servers = sum(max(0, len(plan.racks_of(row)) - per_row) for row in range(used))
        if for_servers >= needed:
            yield "middle-of-row", np.concatenate([plan.middle([row])[:per_row] for row in range(used)])
            yield "end-of-row", np.concatenate([plan.ends([row])[:per_row] for row in range(used)])
            return


# -- shares of several fabrics in a rack's room -----------------------------------------------------------------------
# Shares of several fabrics in a rack's room: equal parts, or parts by need of their switches.


class SwitchSize(NamedTuple):
    """Needs of a switch in a rack: its height in units (perhaps a fraction), its largest load with modules, and cable
    ends, the ports of its cages in use.

    ``nics``: for a leaf, the load of its fabric's NICs and their modules in every full rack of servers. ``airflows``:
    that it is sold with, none where they are not known or do not matter on the floor. ``panels_u``: units of the panels
    of its links through trunks. ``there``: what one in service needs, by product, where that is other than a new one.
    """

    height_u: float
    load: RackLoad = NO_LOAD
    cable_ends: int = 0
    nics: RackLoad = NO_LOAD
    airflows: frozenset[Airflow] = frozenset()
    panels_u: float = 0.0
    there: tuple[SwitchSize, ...] = ()

    @property
    def units(self) -> int:
        """Whole units that it blocks."""
        return max(1, int(-(-self.height_u // 1)))


# Switches of a tier: how many, and what each takes of a rack.
Tier = tuple[int, SwitchSize]


class Part(NamedTuple):
    """``own`` parts of ``whole`` equal ones, after ``before`` other parts."""

    before: int
    own: int
    whole: int

    def start(self, amounts: Ints) -> Ints:
        """The amount before this part, shape of ``amounts``."""
        return np.asarray(amounts * self.before // self.whole)

    def of(self, amounts: Ints) -> Ints:
        """The amount of this part, shape of ``amounts``."""
        return np.asarray(amounts * (self.before + self.own) // self.whole - self.start(amounts))


ALL: Final = Part(0, 1, 1)


class Room(NamedTuple):
    """Parts of a rack's free units, switches and cable ends, and of each quantity of its load."""

    units: Part = ALL
    switches: Part = ALL
    cable_ends: Part = ALL
    load: tuple[Part, ...] = (ALL,) * len(NO_LOAD)


@dataclass(frozen=True)
class Share:
    """The room of a fabric in racks with servers (``beside``) and without (``alone``), counted from the top."""

    beside: Room
    alone: Room


WHOLE: Final = Share(Room(), Room())


class _Need(NamedTuple):
    """Units, switches, cable ends and load of a rack."""

    units: int
    switches: int
    cable_ends: int
    load: RackLoad


def equal_share(index: int, fabrics: int) -> Share:
    """The share of one of several fabrics with equal parts."""
    part = Part(index, 1, fabrics)
    room = Room(part, part, part, (part,) * len(NO_LOAD))
    return Share(room, room)


def shares_by_need(
    plan: FloorPlan, needs: Sequence[Sequence[Tier]], with_servers: Sequence[bool], racks: int, server_racks: int
) -> list[Share]:
    """Shares of all fabrics by their needs in every rack, switches spread evenly over ``racks`` racks.

    ``needs``: by fabric and tier; ``with_servers``: whether a fabric's leaves are spread over the ``server_racks``.
    """
    alone = _rooms([_of_rack(plan, tiers, racks) for tiers in away_from_servers(needs, with_servers)])
    nics = [tiers[0][1].nics if tiers else NO_LOAD for tiers in needs]
    if not any(with_servers):
        by_nics = [_parts(column) if any(column) else None for column in zip(*nics, strict=True)]
        beside = [
            room._replace(load=tuple(parts[index] if parts else own for own, parts in pairs))
            for index, room in enumerate(alone)
            for pairs in (tuple(zip(room.load, by_nics, strict=True)),)
        ]
        return [Share(*rooms) for rooms in zip(beside, alone, strict=True)]
    leaves = [tiers[:1] if own else () for tiers, own in zip(needs, with_servers, strict=True)]
    counted = [_of_rack(plan, tiers, server_racks) for tiers in leaves]
    beside = _rooms([one._replace(load=added((one.load, own))) for one, own in zip(counted, nics, strict=True)])
    return [Share(*rooms) for rooms in zip(beside, alone, strict=True)]


def away_from_servers(needs: Sequence[Sequence[Tier]], with_servers: Sequence[bool]) -> list[Sequence[Tier]]:
    """The tiers of each fabric outside racks of servers."""
    return [tiers[1:] if own else tiers for tiers, own in zip(needs, with_servers, strict=True)]


def racks_by_need(plan: FloorPlan, needs: Sequence[Sequence[Tier]]) -> int:
    """Fewest empty racks over which all fabrics can spread their switches evenly; all usable racks
    if none are enough.
    """
    limits, floor = plan.limits, plan.floor
    room = (floor.rack_units - limits.kept_units, limits.switches, limits.cable_ends, *plan.most_without_servers)
    for racks in range(FEWEST_RACKS, plan.usable_racks):
        needed = [_columns(_of_rack(plan, tiers, racks)) for tiers in needs]
        if all(sum(column) <= most for column, most in zip(zip(*needed, strict=True), room, strict=True)):
            return racks
    return plan.usable_racks


def _of_rack(plan: FloorPlan, tiers: Sequence[Tier], racks: int) -> _Need:
    """Needs in one rack for an even part of the switches of some tiers."""
    counted = [(ceil_div(count, racks), size) for count, size in tiers]
    switches = sum(count for count, _ in counted)
    units = sum(ceil(count * (size.units + size.panels_u)) for count, size in counted)
    units += int(plan.limits.managers(np.asarray(switches)))
    ends = sum(count * size.cable_ends for count, size in counted)
    return _Need(units, switches, ends, added(size.load.times(count) for count, size in counted))


def _columns(need: _Need) -> tuple[int, ...]:
    return *need[:-1], *need.load


def _rooms(needs: Sequence[_Need]) -> list[Room]:
    """The rooms of fabrics in proportion to needs; equal where no fabric has a need."""
    columns = [
        _parts(column if any(column) else (1,) * len(needs)) for column in zip(*map(_columns, needs), strict=True)
    ]
    return [Room(units, switches, ends, tuple(load)) for units, switches, ends, *load in zip(*columns, strict=True)]


def _parts(needs: Sequence[int]) -> list[Part]:
    """Parts in proportion to needs, not all 0."""
    starts = [0, *accumulate(needs)]
    return [Part(start, need, starts[-1]) for start, need in zip(starts, needs, strict=False)]
