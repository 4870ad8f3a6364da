"""How long the run of every link is: flat lengths of the site, or measured on the floor plan."""

from __future__ import annotations

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import height_m
from fabopt.schema.design import FabricDesign
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


class Runs:
    """Runs between devices in metres.

    Raises ``ValueError`` where a device stands in a rack that the floor does not have.
    """

    def __init__(self, embedded: Embedded, devices: Devices) -> None:
        distances = embedded.case.site.distances_m
        self._flat_m = {
            "server-leaf": distances.server_leaf,
            ATTACHED: distances.server_leaf if distances.attachment_leaf is None else distances.attachment_leaf,
            "leaf-spine": distances.leaf_spine,
            "spine-core": distances.spine_core,
        }
        floor = embedded.case.site.floor
        self._plan = None if floor is None else FloorPlan(floor)
        if self._plan is not None:
            index = {rack: self._plan.rack_index(rack) for rack in set(devices.rack) if rack}
            self._rack = np.array([index.get(rack, -1) for rack in devices.rack])
            self._height_m = np.asarray(height_m(devices.unit, devices.height_u))

    def of(self, made: FabricDesign, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind; that of attachments is the site's flat distance, wherever they stand."""
        kind = _AS.get(kind, kind)
        if self._plan is None or made.placement is None or kind == ATTACHED:
            return np.full(len(a), float(self._flat_m[kind]))
        return self._plan.run_m(self._rack[a], self._height_m[a], self._rack[b], self._height_m[b])
