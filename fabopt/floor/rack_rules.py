"""Limits of every rack: units kept for devices other than servers and switches, and the most switches.

Rule ``racks_keep_rules``. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fabopt.floor.racks import Floats, Ints, servers_per_rack
from fabopt.rules.defaults import RACK_RULES, RACK_SPREAD, is_kept
from fabopt.schema.case import Case, Fabric, Floor
from fabopt.schema.rack_rules import OFF, SPREAD, RackRules
from fabopt.schema.server import Server
from fabopt.units import ceil_div, exact

# More than a rack can ever have.
NO_LIMIT: Final = 10**9
# Over so many racks devices are spread.
FEWEST_RACKS: Final = 2
# Keys that say something of switches and of losses wherever racks are.
WITHOUT_A_FLOOR: Final = ("airflow", "feeds")
# One management switch in a rack.
MANAGEMENT_UNITS: Final = 1


@dataclass(frozen=True)
class RackLimits:
    """The limits of every rack on a floor.

    ``kept_units``: at the top of every rack with servers or switches; ``manager_units``: of cable managers for each
    switch; ``switches`` and ``cable_ends``: the most in a rack; ``largest_power``: whether its power is checked with
    the makers' maximum. ``side_m``: the sideways run of a cable within a rack; ``spare_m`` and ``spare_fraction`` of
    its way: the least slack of a cable. ``spread_spines``, ``spread_leaves``: whether spines and cores, and leaves, are
    in two racks at least; ``spread_attachments``: whether ports of an attachment are spread over as many racks as there
    are equal switches. ``spread_halls``: whether groups and pods
    are in one hall each and the highest tier in two.
    """

    kept_units: int = 0
    manager_units: Fraction = Fraction(0)
    switches: int = NO_LIMIT
    cable_ends: int = NO_LIMIT
    largest_power: bool = False
    side_m: float = 0.0
    spare_m: float = 0.0
    spare_fraction: float = 0.0
    spread_spines: bool = False
    spread_leaves: bool = False
    spread_attachments: bool = False
    spread_halls: bool = False

    def spared_m(self, way_m: ArrayLike, slack_m: float) -> Floats:
        """The length of cable in metres for ways of ``way_m``, at least ``slack_m`` longer; shape of ``way_m``."""
        way, least_m = np.asarray(way_m, dtype=np.float64), max(slack_m, self.spare_m)
        return np.asarray(way + (np.maximum(least_m, way * self.spare_fraction) if self.spare_fraction else least_m))

    def managers(self, switches: Ints) -> Ints:
        """Whole units of the cable managers of a rack with ``switches`` switches, shape of ``switches``."""
        if not self.manager_units:
            return np.zeros_like(switches)
        return np.asarray(-(-switches * self.manager_units.numerator // self.manager_units.denominator))

    def most_switches(self, units: Ints, installed: Ints, height: int) -> Ints:
        """Number of switches of ``height`` whole units that fit into ``units`` with their cable managers, broadcast.

        ``installed``: earlier switches, whose managers are not in ``units``.
        """
        upper, lower = self.manager_units.numerator, self.manager_units.denominator
        if not upper:
            return np.asarray(np.maximum(0, units // height))
        left = (units + self.managers(installed)) * lower - installed * upper
        return np.asarray(np.maximum(0, left // (height * lower + upper)))


NO_LIMITS: Final = RackLimits()


def rack_limits(case: Case) -> RackLimits:
    """The rules of a case; no limits without a floor, or where the case turns them off. Rule ``feeds_carry_racks``."""
    if case.site.floor is None:
        return NO_LIMITS
    rules = case.site.rack_rules
    spread = is_kept(case.rules, RACK_SPREAD)
    limits = _kept_limits(case) if is_kept(case.rules, RACK_RULES) else NO_LIMITS
    return replace(
        limits,
        spread_spines=spread and rules.spread_spines,
        spread_leaves=spread and rules.spread_leaves,
        spread_attachments=spreads_attachments(case),
        spread_halls=case.site.spread == "halls",
    )


def limits_if_kept(case: Case) -> RackLimits:
    """The limits of a case with a floor with no rule turned off."""
    return rack_limits(case.model_copy(update={"rules": {}}))


def spreads_attachments(case: Case) -> bool:
    """Whether devices of attachments are in two racks at least, and the ports that they have."""
    return is_kept(case.rules, RACK_SPREAD) and case.site.rack_rules.spread_attachments


def _kept_limits(case: Case) -> RackLimits:
    rules, floor = case.site.rack_rules, case.site.floor
    return RackLimits(
        sum(kept_units(case).values()),
        exact(rules.manager_units_per_switch),
        NO_LIMIT if rules.switches is None else rules.switches,
        NO_LIMIT if rules.cable_ends is None else rules.cable_ends,
        rules.power == "largest" and floor is not None and floor.limits_power,
        rules.side_m,
        rules.spare_m,
        rules.spare_fraction,
    )


def kept_units(case: Case) -> dict[str, int]:
    """Kept units of every rack by key, from the top down; 0 left out."""
    rules = case.site.rack_rules
    management = rules.management_units
    if management is None:
        management = 0 if any(fabric.role == "oob" for fabric in case.fabrics) else MANAGEMENT_UNITS
    kept = {
        "patch_panel_units": rules.patch_panel_units,
        "pdu_units": rules.pdu_units,
        "management_units": management,
    }
    return {key: units for key, units in kept.items() if units}


def servers_in_rack(case: Case, server: Server) -> int | None:
    """Servers in a rack: as stated, else the most that fit beside the kept units, else None.

    If none fits, as many as fit without kept units.
    """
    return servers_per_rack(case.site, server, rack_limits(case).kept_units) or servers_per_rack(case.site, server)


def servers_in_group(fabric: Fabric, case: Case, server: Server) -> int | None:
    """The exact servers of a leaf group by the racks of ``group_by``; None for any number."""
    per_rack, racks = servers_in_rack(case, server), fabric.racks_per_group
    return None if per_rack is None or racks is None else per_rack * racks


def rule_of(key: str) -> str:
    """The default rule that a key of ``site.rack_rules`` is a part of."""
    return RACK_SPREAD if key in SPREAD else RACK_RULES


def parts_of(case: Case) -> tuple[str, ...]:
    """Keys of ``site.rack_rules`` that bind, in reverse order of yielding."""
    if rack_limits(case) == NO_LIMITS:
        return ()
    return tuple(key for key in _asking(case) if is_kept(case.rules, rule_of(key)))


def keys_without_racks(case: Case) -> list[str]:
    """Keys of ``site.rack_rules`` that a case without a floor sets without effect."""
    if case.site.floor is not None:
        return []
    rules, default = case.site.rack_rules, RackRules()
    keys = (key for key in RackRules.model_fields if key not in WITHOUT_A_FLOOR)
    return [key for key in keys if getattr(rules, key) != getattr(default, key)]


def _asking(case: Case) -> Iterator[str]:
    kept = kept_units(case)
    for key, off in OFF.items():
        is_asked = key in kept if key.endswith("_units") else getattr(case.site.rack_rules, key) != off
        if is_asked and (key != "power" or rack_limits(case).largest_power) and _concerns(case, key):
            yield key


def _concerns(case: Case, key: str) -> bool:
    """Whether a key has a subject in a case; ``spread_attachments``: an attachment in racks with several ports."""
    attachments = (attachment for fabric in case.fabrics for attachment in fabric.attachments)
    return key != "spread_attachments" or any(
        attachment.rack_units is not None and attachment.ports > 1 for attachment in attachments
    )


def without_parts(case: Case, keys: tuple[str, ...]) -> Case:
    """The case with some keys of ``site.rack_rules`` turned off."""
    return with_parts(case, {key: OFF[key] for key in keys})


def with_parts(case: Case, parts: Mapping[str, int | str | None]) -> Case:
    """The case with keys of ``site.rack_rules`` updated."""
    rules = case.site.rack_rules.model_copy(update=dict(parts))
    return case.model_copy(update={"site": case.site.model_copy(update={"rack_rules": rules})})


def empty_racks(units: int, switches: int, rack_units: int, limits: RackLimits) -> int:
    """Number of empty racks that hold ``switches`` switches of ``units`` units in all."""
    managers = int(limits.managers(np.asarray(switches)))
    racks = max(ceil_div(units + managers, max(1, rack_units - limits.kept_units)), ceil_div(switches, limits.switches))
    return max(racks, FEWEST_RACKS) if limits.spread_spines and switches > 1 else racks


class KeptUnits(NamedTuple):
    """Units of a rack with another device than a server or a switch; ``unit``: the lowest."""

    unit: int
    units: int
    what: str


MANAGER: Final = "cable manager"
REST: Final = "rest of the rack"
KEPT_WORDS: Final = {
    "patch_panel_units": "patch panel",
    "pdu_units": "PDU",
    "management_units": "management switch",
}


def kept_places(case: Case, floor: Floor, switches: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[KeptUnits]:
    """Units of other devices in a rack with servers or switches, from the top down.

    ``switches``: of the rack, by fabric: the lowest unit and the whole units of each.
    """
    limits = rack_limits(case)
    if not is_kept(case.rules, RACK_RULES):
        return
    above = floor.rack_units + 1
    for key, units in kept_units(case).items():
        above -= units
        yield KeptUnits(above, units, KEPT_WORDS[key])
    managers = [
        manager for of_fabric in switches.values() for manager in _managers(sorted(of_fabric, reverse=True), limits)
    ]
    yield from sorted(managers, reverse=True)


def in_whole_rack(server: Server, filled: Collection[int]) -> Iterator[KeptUnits]:
    """Units of other devices in a whole rack, from the top down; ``filled``: units of its servers."""
    if server.rack is None:
        return
    parts = [
        KeptUnits(unit, devices.count * (devices.rack_units or 1), devices.device)
        for unit, devices in server.places_in_rack()
        if not devices.is_servers
    ]
    taken = {*filled, *(unit for part in parts for unit in range(part.unit, part.unit + part.units))}
    free = [unit for unit in range(1, server.rack.rack_units + 1) if unit not in taken]
    runs = (list(run) for _, run in groupby(free, key=lambda unit: unit - free.index(unit)))
    yield from sorted([*parts, *(KeptUnits(run[0], len(run), REST) for run in runs)], reverse=True)


def _managers(switches: Sequence[tuple[int, int]], limits: RackLimits) -> Iterator[KeptUnits]:
    """Cable managers below the switches of a fabric, given from the top down."""
    there = limits.managers(np.arange(len(switches) + 1)).tolist()
    for (unit, _), before, after in zip(switches, there, there[1:], strict=False):
        if after > before:
            yield KeptUnits(unit - after + before, after - before, MANAGER)
