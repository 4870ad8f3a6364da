"""How long the run of every link is: flat lengths of the site, or measured on the floor plan."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import height_m
from fabopt.schema.case import Distances
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Devices, Floats, Ints

ATTACHED = "attachment-leaf"
# Links between equal switches run as far as those of a Clos do: within a group or a dimension, or across.
_AS = {
    "dim-1": "leaf-spine",
    "dim-2": "leaf-spine",
    "dim-3": "leaf-spine",
    "local": "leaf-spine",
    "global": "spine-core",
}


class Runs(Protocol):
    """Runs between devices in metres. ``differ``: links of a kind need not run alike.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends.
    """

    differ: ClassVar[bool]

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind."""


class FlatRuns:
    """Runs that are equally far for all links of a kind.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends.
    """

    differ: ClassVar[bool] = False

    def __init__(self, distances: Distances) -> None:
        attached = distances.server_leaf if distances.attachment_leaf is None else distances.attachment_leaf
        self._run_m = {
            "server-leaf": distances.server_leaf,
            ATTACHED: attached,
            "leaf-spine": distances.leaf_spine,
            "spine-core": distances.spine_core,
        }

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind: the site's distance."""
        return np.full(len(a), float(self._run_m[_AS.get(kind, kind)]))


class MeasuredRuns:
    """Runs along the trays, from rack to rack.

    Arrays have shape (links,): ``a`` and ``b`` are the rows of the devices at both ends. Raises ``ValueError`` where a
    device is in a rack that the floor does not have.
    """

    differ: ClassVar[bool] = True

    def __init__(self, plan: FloorPlan, flat: FlatRuns, devices: Devices) -> None:
        self._plan, self._flat = plan, flat
        index = {rack: plan.rack_index(rack) for rack in set(devices.rack) if rack}
        self._rack = np.array([index.get(rack, -1) for rack in devices.rack])
        self._height_m = np.asarray(height_m(devices.unit, devices.height_u))

    def of(self, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind between the racks of both ends.

        That of attachments is the site's flat distance.
        """
        return self._flat.of(kind, a, b) if kind == ATTACHED else self.between(a, b)

    def between(self, a: Ints, b: Ints) -> Floats:
        """The run between the racks of every two devices."""
        return self._plan.run_m(self._rack[a], self._height_m[a], self._rack[b], self._height_m[b])


def runs_of(embedded: Embedded, devices: Devices) -> Runs:
    """Runs that are measured where the case has a floor, else flat."""
    site = embedded.case.site
    flat = FlatRuns(site.distances_m)
    return flat if site.floor is None else MeasuredRuns(FloorPlan(site.floor), flat, devices)
