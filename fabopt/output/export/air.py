"""Heat to air and to liquid, air and water, by device and by row."""

from __future__ import annotations

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.halls import Hall, hall_of
from fabopt.output.export.sheets import csv_file

AIR_COLUMNS = (
    *("rack", "row", "device", "air_w", "liquid_w", "air_m3_h", "water_l_min", "inlet_class", "limit_w"),
    *("most_air_w", "unknown"),
)
# What of a device the sums and columns of air rest on.
OF_AIR = ("liquid_share", "inlet_c")
ROW_COLUMNS = ("row", "racks", "air_w", "liquid_w", "air_m3_h", "water_l_min", "limit_w", "most_air_w")


def files_of(asked: Exported) -> Files:
    """``air.csv`` and ``air-rows.csv``."""
    hall = hall_of(asked)
    return {"air.csv": csv_file(air_table(hall)), "air-rows.csv": csv_file(row_table(hall))}


def air_table(hall: Hall) -> Frame:
    """One row a device with ``AIR_COLUMNS``; last, without a rack, what is bought and in no device."""
    rows = [
        (
            device.rack, device.row, device.name, round(device.air_w, 3), round(device.liquid_w, 3),
            round(device.air_m3_h, 1), round(device.water_l_min, 2), device.inlet,
            hall.floor.part_of(device.rack).rack_air_w if device.rack else None, round(device.most_air_w, 3),
            ", ".join(key for key in OF_AIR if key in device.unknown),
        )
        for device in hall.devices
    ]  # fmt: skip
    return frame_of(AIR_COLUMNS, rows)


def row_table(hall: Hall) -> Frame:
    """One row a row of racks with ``ROW_COLUMNS``."""
    rows = [
        (
            row, len({device.rack for device in devices}), round(sum(device.air_w for device in devices), 3),
            round(sum(device.liquid_w for device in devices), 3),
            round(sum(device.air_m3_h for device in devices), 1),
            round(sum(device.water_l_min for device in devices), 2), hall.floor.part_of(row).row_air_w,
            round(sum(device.most_air_w for device in devices), 3),
        )
        for row, devices in hall.by(lambda device: device.row).items()
    ]  # fmt: skip
    return frame_of(ROW_COLUMNS, rows)
