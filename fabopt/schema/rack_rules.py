"""What an architect keeps in every rack: how full it may be, and what else needs room in it."""

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

    Attributes:
        switches: Most switches in a rack. Null is no limit.
        manager_units_per_switch: Rack units of cable managers for each switch, below each in turn.
        patch_panel_units: Rack units kept for patch panels, at the top.
        pdu_units: Rack units kept for power strips, at the top.
        management_units: Rack units kept for a management switch, at the top. Null is one where the case has no
            out-of-band fabric, else none.
        cable_ends: Most cable ends on the switches of a rack. Null is no limit.
        power: Power by which a switch counts against `rack_power_w`; the `largest` of its maker's maximum and its use,
            or the `typical` use.
        side_m: Metres added to cables that stay in a rack, out to its side and back.
        spare_m: Least metres that a cable is longer than its way.
        spare_fraction: Least share of its way that a cable is longer.
        spread_spines: Whether the spines of a pod, and all cores, stand in two racks at least.
        spread_leaves: Whether the leaves of a group of several racks stand in two racks at least.
        spread_attachments: Whether the devices of an attachment, and its ports, are in two racks at least.
        airflow: Airflow that all switches have to be sold with. Null is any.
        feeds: Power feeds of every rack, each of which gives `rack_power_w`.
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
    """Racks of the floor for the switches of each tier, which are in no others.

    Attributes:
        leaf: Racks for leaves. Null is any.
        spine: Racks for spines. Null is any.
        core: Racks for cores. Null is any.
    """

    leaf: RackIds | None = None
    spine: RackIds | None = None
    core: RackIds | None = None

    @property
    def by_tier(self) -> Mapping[str, tuple[str, ...]]:
        """The racks of the tiers that have some."""
        tiers = {"leaf": self.leaf, "spine": self.spine, "core": self.core}
        return {tier: racks for tier, racks in tiers.items() if racks is not None}


class RackGroups(Strict):
    """Leaf groups of whole racks of servers.

    Attributes:
        racks: Racks of servers in each leaf group.
    """

    racks: Count
