"""Places for the devices of a torus so that no cable spans a row: every ring is folded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fabopt.network.direct_links import Torus
from fabopt.network.structure_links import tori_of
from fabopt.schema.design import Design, FabricDesign
from fabopt.wiring.model import Wiring

if TYPE_CHECKING:
    import pandas as pd

DIMENSIONS = (1, 2, 3)
FOLDED_COLUMNS = (
    *("fabric", "plane", "device"),
    *(f"coordinate_{dimension}" for dimension in DIMENSIONS),
    *(f"place_{dimension}" for dimension in DIMENSIONS),
)


def folded_places(design: Design, wiring: Wiring) -> pd.DataFrame:
    """One row a device of a torus, in the order of places: coordinates from 0, and its place in each dimension from 1.

    Neighbours are at most two places apart in the one dimension in which they differ. Empty without a torus.
    """
    import pandas as pd

    rows = [
        row for fabric in design.fabrics for torus in tori_of(fabric.structure) for row in _rows(wiring, fabric, torus)
    ]
    return pd.DataFrame(rows, columns=list(FOLDED_COLUMNS))


def _rows(wiring: Wiring, fabric: FabricDesign, torus: Torus) -> Iterator[tuple[object, ...]]:
    devices = wiring.devices
    owner = ("leaf", fabric.name) if fabric.structure.has_switches else ("server", "")
    joined = [row for row in range(len(devices)) if (devices.role[row], devices.fabric[row]) == owner]
    order = np.lexsort(torus.places.T)
    empty = ("",) * (len(DIMENSIONS) - len(torus.sides))
    for start in range(0, len(joined), torus.switches):
        for within in order.tolist():
            point, place = torus.coordinates[within].tolist(), (torus.places[within] + 1).tolist()
            name = devices.name[joined[start + within]]
            yield fabric.name, start // torus.switches + 1, name, *point, *empty, *place, *empty
