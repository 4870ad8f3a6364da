"""The weight of every rack, and on a square metre of its base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabopt.floor.loads import base_m2
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.halls import Hall, hall_of, unknown_words
from fabopt.output.export.sheets import csv_file

if TYPE_CHECKING:
    import pandas as pd

WEIGHT_COLUMNS = ("rack", "kg", "kg_m2", "limit_kg", "unknown")


def files_of(asked: Exported) -> Files:
    """``weight.csv``."""
    return {"weight.csv": csv_file(weight_table(hall_of(asked)))}


def weight_table(hall: Hall) -> pd.DataFrame:
    """One row a rack with ``WEIGHT_COLUMNS``: the known weight of its devices, at least that where some is unknown."""
    import pandas as pd

    rows = []
    for rack, devices in hall.by_rack.items():
        kg = sum(device.kg or 0.0 for device in devices)
        base = float(base_m2(hall.floor.part_of(rack)))
        unknown = unknown_words(devices, "weight_kg")
        rows.append((rack, round(kg, 3), round(kg / base, 1), hall.most_kg(rack), unknown))
    return pd.DataFrame(rows, columns=list(WEIGHT_COLUMNS))
