"""Where the boxes of a torus are to stand, so that no cable spans a row: every ring is folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabopt.network.direct_links import Torus
from fabopt.schema.design import Design
from fabopt.schema.structure import SwitchlessStructure, TorusStructure
from fabopt.wiring.model import Wiring

if TYPE_CHECKING:
    import pandas as pd

DIMENSIONS = (1, 2, 3)
FOLDED_COLUMNS = (
    *("fabric", "plane", "device"),
    *(f"coordinate_{one}" for one in DIMENSIONS),
    *(f"place_{one}" for one in DIMENSIONS),
)


def folded_places(design: Design, wiring: Wiring) -> pd.DataFrame:
    """One row a box of a torus, in the order of places: coordinates from 0, and its place in each dimension from 1.

    Neighbours are at most two places apart in the one dimension in which they differ. Empty without a torus.
    """
    import pandas as pd

    rows: list[tuple[object, ...]] = []
    for fabric in design.fabrics:
        if isinstance(fabric.structure, TorusStructure):
            torus = Torus(fabric.structure.sides, fabric.structure.links_per_pair)
            rows += _rows(wiring, fabric.name, torus, isinstance(fabric.structure, SwitchlessStructure))
    return pd.DataFrame(rows, columns=list(FOLDED_COLUMNS))


def _rows(wiring: Wiring, fabric: str, torus: Torus, of_servers: bool) -> list[tuple[object, ...]]:
    devices = wiring.devices
    role, owner = ("server", "") if of_servers else ("leaf", fabric)
    boxes = [row for row in range(len(devices)) if (devices.role[row], devices.fabric[row]) == (role, owner)]
    order = np.lexsort(torus.places.T)
    empty = ("",) * (len(DIMENSIONS) - len(torus.sides))
    rows: list[tuple[object, ...]] = []
    for start in range(0, len(boxes), torus.switches):
        for within in order.tolist():
            at, place = torus.coordinates[within].tolist(), (torus.places[within] + 1).tolist()
            rows.append(
                (fabric, start // torus.switches + 1, devices.name[boxes[start + within]], *at, *empty, *place, *empty)
            )
    return rows
