"""What an architect keeps in every rack: how full it may be, and what else needs room in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from fabopt.schema.attachment import RackId
from fabopt.schema.base import Count, Strict
from fabopt.schema.product import Airflow

Units = Annotated[int, Field(ge=0, le=100)]
Spare = Annotated[float, Field(ge=0, le=10)]


class RackRules(Strict):
    """What holds in every rack of a floor that has servers or switches.

    ``switches``: the most in it, None being no limit. ``manager_units_per_switch``: units of cable managers, below each
    switch in turn. ``patch_panel_units``, ``pdu_units``, ``management_units``: kept at its top; the last are of a
    management switch, None being one unit where the case has no out-of-band fabric, else none. ``cable_ends``: the most
    that the ports of its switches may have, None being no limit. ``power``: whether a switch counts in
    ``rack_power_w`` with the larger of what its maker states at most and what it uses with its modules, or the latter.
    ``side_m``: added to cables that stay in a rack, out to its side and back; ``spare_m``, ``spare_fraction``: of its
    way, the least that every cable is longer. ``spread_spines``, ``spread_leaves``, ``spread_attachments``:
    whether spines and cores, leaves, and devices of an attachment are in two racks at least (rule ``rack-spread``).
    ``airflow``: that all switches have to be sold with, None being any; it is not given up.
    ``feeds``: of power of every rack, each of which gives
    ``rack_power_w``; not a part of the rules that can be given up.
    """

    switches: Annotated[int, Field(ge=1, le=1000)] | None = 20
    manager_units_per_switch: Annotated[float, Field(ge=0, le=10)] = 0.5
    patch_panel_units: Units = 0
    pdu_units: Units = 0
    management_units: Units | None = None
    cable_ends: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    power: Literal["largest", "typical"] = "largest"
    side_m: Spare = 0.48
    spare_m: Spare = 0.3
    spare_fraction: Annotated[float, Field(ge=0, le=1)] = 0.05
    spread_spines: bool = True
    spread_leaves: bool = True
    spread_attachments: bool = True
    airflow: Airflow | None = None
    feeds: Literal[1, 2] = 2


# Every part of the rules with the value that turns it off, in the order in which parts are given up last.
OFF: Final[dict[str, int | str | None]] = {
    "pdu_units": 0,
    "patch_panel_units": 0,
    "management_units": 0,
    "manager_units_per_switch": 0,
    "switches": None,
    "spare_m": 0,
    "spare_fraction": 0,
    "side_m": 0,
    "power": "typical",
    "cable_ends": None,
    "spread_spines": False,
    "spread_leaves": False,
    "spread_attachments": False,
}
SPREAD: Final = ("spread_spines", "spread_leaves", "spread_attachments")


RackIds = Annotated[tuple[RackId, ...], Field(min_length=1)]


class PinnedRacks(Strict):
    """Racks of the floor for the switches of each tier, which are in no others; None: in any."""

    leaf: RackIds | None = None
    spine: RackIds | None = None
    core: RackIds | None = None

    @property
    def by_tier(self) -> Mapping[str, tuple[str, ...]]:
        """The racks of the tiers that have some."""
        tiers = {"leaf": self.leaf, "spine": self.spine, "core": self.core}
        return {tier: racks for tier, racks in tiers.items() if racks is not None}


class RackGroups(Strict):
    """Leaf groups of whole racks of servers. ``racks``: of each group."""

    racks: Count
