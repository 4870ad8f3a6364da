"""Runs of every link in metres: flat lengths of the site, from the sizes of groups, or measured on a floor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Protocol

import numpy as np

from fabopt.floor.group_runs import given_m, group_runs
from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import height_m
from fabopt.schema.design import FabricDesign
from fabopt.schema.structured import StructuredKind
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Devices, Floats, Ints

ATTACHED = ("attachment-leaf", "attachment-spine")
# Links between equal switches run as far as those of a Clos do: within a group or a dimension, or across.
_AS = {
    "dim-1": "leaf-spine",
    "dim-2": "leaf-spine",
    "dim-3": "leaf-spine",
    "local": "leaf-spine",
    "global": "spine-core",
}


class Runs(Protocol):
    """Runs between devices in metres. ``differ``: links of a kind need not have one run.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends.
    """

    differ: ClassVar[bool]

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind."""


class FlatRuns:
    """Runs that are equal for all links of a kind.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends.
    """

    differ: ClassVar[bool] = False

    def __init__(self, runs_m: Mapping[str, float]) -> None:
        self._runs_m = runs_m

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind."""
        return np.full(len(a), float(self._runs_m[_AS.get(kind, kind)]))


class MeasuredRuns:
    """Runs along the trays, from rack to rack.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends. Raises ``ValueError`` where a
    device is in a rack that the floor does not have.
    """

    differ: ClassVar[bool] = True

    def __init__(
        self, plan: FloorPlan, flat: FlatRuns, devices: Devices, trunked: Collection[StructuredKind] = ()
    ) -> None:
        self._plan, self._flat = plan, flat
        self._zones = {str(kind.kind): _zones(plan, kind, devices) for kind in trunked}
        index = {rack: plan.rack_index(rack) for rack in set(devices.rack) if rack}
        self._rack = np.array([index.get(rack, -1) for rack in devices.rack])
        self._height_m = np.asarray(height_m(devices.unit, devices.height_u))

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind between the racks of both ends.

        Links of attachments have the site's flat distance; those through trunks that of their jumper at the near end.
        """
        if kind in ATTACHED:
            return self._flat.of(kind, a, b)
        if kind in self._zones:
            zone = self._zones[kind]
            to_panels_m = self._plan.to_panels_m(self._rack[a], self._height_m[a], zone[a])
            jumpers_m = np.where(self._rack[a] == zone[a], self._plan.longest_in_rack_m, to_panels_m)
            return np.where(zone[a] == zone[b], self.between(a, b), jumpers_m)
        return self.between(a, b)

    def between(self, a: Ints, b: Ints) -> Floats:
        """The run between the racks of every two devices."""
        return self._plan.run_m(self._rack[a], self._height_m[a], self._rack[b], self._height_m[b])


def _zones(plan: FloorPlan, kind: StructuredKind, devices: Devices) -> Ints:
    """The rack of the panels of every device, shape (devices,); -1 of one without a rack."""
    zone = {rack: plan.rack_index(kind.zone(rack)) for rack in set(devices.rack) if rack}
    return np.array([zone.get(rack, -1) for rack in devices.rack])


def flat_runs_m(embedded: Embedded, fabric: FabricDesign) -> Mapping[str, float]:
    """Runs of a fabric's links by kind in metres where none is measured: from the case, or from its groups.

    Groups are those of the last stage; ``LookupError`` where neither gives a run.
    """
    site, whole = embedded.case.site, embedded.design if embedded.whole is None else embedded.whole
    groups = group_runs(site, embedded.server, embedded.servers_of((embedded.case.stages or ())[-1]))
    if groups is None:
        return given_m(site)
    return groups.of(next((of_file for of_file in whole.fabrics if of_file.name == fabric.name), fabric).structure)


def runs_of(embedded: Embedded, fabric: FabricDesign, devices: Devices) -> Runs:
    """Runs that are measured where the case has a floor, else flat."""
    flat, floor = FlatRuns(flat_runs_m(embedded, fabric)), embedded.case.site.floor
    return flat if floor is None else MeasuredRuns(embedded.plan, flat, devices, fabric.structured)
