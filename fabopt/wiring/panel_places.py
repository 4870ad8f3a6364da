"""Units of panels: the highest free ones of their racks, once all devices have theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import ceil

from fabopt.floor.rack_rules import kept_units
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.passive import Panel
from fabopt.schema.structured import PanelPlace
from fabopt.units import exact
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Devices

PATCH_PANELS = "patch_panel_units"
SWITCHES = ("leaf", "spine", "core")


def with_panel_places(design: Design) -> Design:
    """The design with the unit of every panel; unit 0 where its rack has no room for it."""
    if not any(fabric.structured for fabric in design.fabrics):
        return design
    embedded = Embedded(design)
    free = _FreeUnits(embedded, wiring_of(design).devices)
    fabrics = tuple(
        fabric.model_copy(update={"structured": tuple(
            kind.model_copy(update={"panels": tuple(_placed(embedded, free, kind.panels))})
            for kind in fabric.structured
        )})
        for fabric in design.fabrics
    )  # fmt: skip
    return design.model_copy(update={"fabrics": fabrics})


def _placed(embedded: Embedded, free: _FreeUnits, panels: tuple[PanelPlace, ...]) -> Iterator[PanelPlace]:
    for place in panels:
        height = ceil(embedded.part(place.id, Panel).rack_units)
        yield place.model_copy(update={"unit": free.take(place.rack, height)})


def panel_units(design: Design) -> dict[str, int]:
    """Rack units of the panels of every rack."""
    units: dict[str, int] = defaultdict(int)
    embedded = Embedded(design)
    for place in panels_of(design.fabrics):
        units[place.rack] += ceil(embedded.part(place.id, Panel).rack_units)
    return dict(units)


def panels_of(fabrics: tuple[FabricDesign, ...]) -> Iterator[PanelPlace]:
    """The panels of all fabrics."""
    return (place for fabric in fabrics for kind in fabric.structured for place in kind.panels)


class _FreeUnits:
    """Units of every rack that no device fills, and that are kept for nothing but panels."""

    def __init__(self, embedded: Embedded, devices: Devices) -> None:
        self._floor, self._server = embedded.plan.floor, embedded.server
        rules, case = embedded.case.site.rack_rules, embedded.case
        kept = kept_units(case) if is_kept(case.rules, RACK_RULES) else {}
        above = kept.get(PATCH_PANELS, 0)
        others = sum(units for key, units in kept.items() if key != PATCH_PANELS)
        top = self._floor.rack_units - above
        self._taken: dict[str, set[int]] = defaultdict(lambda: set(range(top - others + 1, top + 1)))
        lowest: dict[tuple[str, str], list[int]] = defaultdict(list)
        columns = zip(
            devices.rack, devices.role, devices.fabric, devices.unit.tolist(), devices.height_u.tolist(), strict=True
        )
        for rack, role, fabric, unit, height in columns:
            if rack:
                self._taken[rack].update(range(unit, unit + max(1, ceil(height))))
            if rack and role in SWITCHES:
                lowest[rack, fabric].append(unit)
        if self._server.rack is not None:
            for rack in embedded.design.racks.server_racks:
                self._taken[rack].update(range(1, self._floor.rack_units + 1))
        per_switch = exact(rules.manager_units_per_switch) if is_kept(case.rules, RACK_RULES) else exact(0)
        for (rack, _), units in lowest.items():
            for number, unit in enumerate(sorted(units, reverse=True)):
                managers = ceil((number + 1) * per_switch) - ceil(number * per_switch)
                self._taken[rack].update(range(unit - managers, unit))

    def take(self, rack: str, height: int) -> int:
        """The lowest unit of the highest room for so many units, which is taken; 0 where there is none."""
        taken = self._taken[rack]
        for unit in range(self._floor.rack_units - height + 1, 0, -1):
            if taken.isdisjoint(range(unit, unit + height)):
                taken.update(range(unit, unit + height))
                return unit
        return 0
