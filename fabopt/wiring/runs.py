"""How long the run of every link is: flat lengths of the site, or measured on the floor plan."""

from __future__ import annotations

import numpy as np

from fabopt.embedded import Embedded
from fabopt.schema.design import FabricDesign
from fabopt.wiring.model import Devices, Floats, Ints


class Runs:
    """Runs between devices in metres."""

    def __init__(self, embedded: Embedded, devices: Devices) -> None:
        self._embedded = embedded
        self._devices = devices

    def of(self, made: FabricDesign, kind: str, a: Ints, b: Ints) -> Floats:
        """The run of every link of a kind."""
        distances = self._embedded.case.site.distances_m
        flat = {
            "server-leaf": distances.server_leaf,
            "attachment-leaf": (
                distances.server_leaf if distances.attachment_leaf is None else distances.attachment_leaf
            ),
            "leaf-spine": distances.leaf_spine,
            "spine-core": distances.spine_core,
        }
        return np.full(len(a), float(flat[kind]))
