"""Shares of several fabrics in a rack's room: equal parts, or parts by need of their switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import FEWEST_RACKS
from fabopt.floor.racks import Ints
from fabopt.units import ceil_div


class SwitchSize(NamedTuple):
    """Needs of a switch in a rack: its height in units (perhaps a fraction), its largest power with modules, and cable
    ends, the ports of its cages in use.

    ``nics_mw``: for a leaf, power of its fabric's NICs and their modules in every full rack of servers.
    """

    height_u: float
    power_mw: int
    cable_ends: int = 0
    nics_mw: int = 0

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
    """Parts of a rack's free units, power, switches and cable ends."""

    units: Part = ALL
    power_mw: Part = ALL
    switches: Part = ALL
    cable_ends: Part = ALL


@dataclass(frozen=True)
class Share:
    """The room of a fabric in racks with servers (``beside``) and without (``alone``), counted from the top."""

    beside: Room
    alone: Room


WHOLE: Final = Share(Room(), Room())


class _Need(NamedTuple):
    """Units, milliwatts, switches and cable ends of a rack."""

    units: int
    power_mw: int
    switches: int
    cable_ends: int


def equal_share(index: int, fabrics: int) -> Share:
    """The share of one of several fabrics with equal parts."""
    room = Room(*[Part(index, 1, fabrics)] * len(Room._fields))
    return Share(room, room)


def shares_by_need(
    plan: FloorPlan, needs: Sequence[Sequence[Tier]], with_servers: Sequence[bool], racks: int, server_racks: int
) -> list[Share]:
    """Shares of all fabrics by their needs in every rack, switches spread evenly over ``racks`` racks.

    ``needs``: by fabric and tier; ``with_servers``: whether a fabric's leaves are spread over the ``server_racks``.
    """
    alone = _rooms([_of_rack(plan, tiers, racks) for tiers in away_from_servers(needs, with_servers)])
    nics_mw = [tiers[0][1].nics_mw if tiers else 0 for tiers in needs]
    if not any(with_servers):
        beside = alone
        if any(nics_mw):
            beside = [room._replace(power_mw=part) for room, part in zip(alone, _parts(nics_mw), strict=True)]
        return [Share(*rooms) for rooms in zip(beside, alone, strict=True)]
    leaves = [tiers[:1] if own else () for tiers, own in zip(needs, with_servers, strict=True)]
    counted = [_of_rack(plan, tiers, server_racks) for tiers in leaves]
    beside = _rooms([one._replace(power_mw=one.power_mw + mw) for one, mw in zip(counted, nics_mw, strict=True)])
    return [Share(*rooms) for rooms in zip(beside, alone, strict=True)]


def away_from_servers(needs: Sequence[Sequence[Tier]], with_servers: Sequence[bool]) -> list[Sequence[Tier]]:
    """The tiers of each fabric outside racks of servers."""
    return [tiers[1:] if own else tiers for tiers, own in zip(needs, with_servers, strict=True)]


def racks_by_need(plan: FloorPlan, needs: Sequence[Sequence[Tier]]) -> int:
    """Fewest empty racks over which all fabrics can spread their switches evenly; all usable racks
    if none are enough.
    """
    limits, floor = plan.limits, plan.floor
    power = np.inf if floor.rack_power_w is None else floor.rack_power_w * 1000
    room = (floor.rack_units - limits.kept_units, power, limits.switches, limits.cable_ends)
    for racks in range(FEWEST_RACKS, plan.usable_racks):
        needed = [_of_rack(plan, tiers, racks) for tiers in needs]
        if all(sum(column) <= most for column, most in zip(zip(*needed, strict=True), room, strict=True)):
            return racks
    return plan.usable_racks


def _of_rack(plan: FloorPlan, tiers: Sequence[Tier], racks: int) -> _Need:
    """Needs in one rack for an even part of the switches of some tiers."""
    counted = [(ceil_div(count, racks), size) for count, size in tiers]
    switches = sum(count for count, _ in counted)
    units = sum(count * size.units for count, size in counted) + int(plan.limits.managers(np.asarray(switches)))
    power_mw, ends = (sum(count * size[field] for count, size in counted) for field in (1, 2))
    return _Need(units, int(power_mw), switches, int(ends))


def _rooms(needs: Sequence[_Need]) -> list[Room]:
    """The rooms of fabrics in proportion to needs; equal where no fabric has a need."""
    columns = [_parts(column if any(column) else (1,) * len(needs)) for column in zip(*needs, strict=True)]
    return [Room(*parts) for parts in zip(*columns, strict=True)]


def _parts(needs: Sequence[int]) -> list[Part]:
    """Parts in proportion to needs, not all 0."""
    starts = [0, *accumulate(needs)]
    return [Part(start, need, starts[-1]) for start, need in zip(starts, needs, strict=False)]
