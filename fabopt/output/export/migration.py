"""How what is in service becomes the design: each step on a cable by window, and what is cabled after each window.

A roll-back of a window is its steps from the last to the first, each from where the cable goes to where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from fabopt.output.export.cables import POINT_TO_POINT_COLUMNS, point_to_point
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_as_is, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.migration import LAY, PLUG, TAKE_OUT, Migration, MigrationStep, MovingCable, migration_of
from fabopt.wiring.model import Wiring
from fabopt.wiring.rails import Link

FOLDER: Final = "migration"
OWN_FILES: Final = r"steps\.csv|after-\d{1,9}\.csv"
COLUMNS: Final = (
    *("window", "step", "minute", "rack", "act", "cable", "from_device", "from_port", "to_device", "to_port"),
    *("before_from_device", "before_from_port", "before_to_device", "before_to_port", "rails_lost"),
)


def files_of(asked: Exported) -> Files:
    """Return ``migration/steps.csv``, and ``migration/after-N.csv`` with the columns of ``point-to-point.csv``."""
    design = asked.design
    migration = migration_of(design, asked.wiring)
    base = migration.base
    minutes = Embedded(design).case.growth.minutes_per_moved_cable
    rows = list(_steps(migration, asked.wiring, base, minutes))
    files = {"steps.csv": csv_file(frame_as_is(COLUMNS, rows))}
    points = _points(base) | _points(asked.wiring)
    for window, cabled in migration.states():
        files[f"after-{window:02d}.csv"] = csv_file(_state(cabled, points))
    return files


def _steps(migration: Migration, wiring: Wiring, base: Wiring, minutes: float) -> Iterator[tuple[object, ...]]:
    """One row a step; the minute counts from the beginning of its window, a cable that moves taking ``minutes``."""
    racks = {
        name: rack for one in (base, wiring) for name, rack in zip(one.devices.name, one.devices.rack, strict=True)
    }
    window, minute = -1, 0.0
    for number, step in enumerate(migration.steps, start=1):
        if step.window != window:
            window, minute = step.window, 0.0
        for now, before in _ends(step):
            yield (step.window, number, round(minute), racks[now[0]], step.act, step.cable.name, *now, *before,
                   step.lost)  # fmt: skip
        minute += minutes * (step.act in (PLUG, TAKE_OUT))


def _ends(step: MigrationStep) -> Iterator[tuple[Link, Link]]:
    """Every link of a step's cable, with where it was."""
    nothing: Link = ("", "", "", "")
    before = () if step.before is None or step.act == LAY else step.before.links
    for place, link in enumerate(step.cable.links):
        yield link, before[place] if place < len(before) else nothing


def _points(wiring: Wiring) -> dict[Link, tuple[str, ...]]:
    """Rows of the point-to-point sheet, by both ends."""
    rows = point_to_point(wiring).itertuples(index=False, name=None)
    return {(row[0], row[2], row[3], row[5]): row for row in rows}


def _state(cabled: Mapping[str, MovingCable], points: Mapping[Link, tuple[str, ...]]) -> Frame:
    rows = sorted(points[link] for cable in cabled.values() for link in cable.links)
    return frame_of(POINT_TO_POINT_COLUMNS, rows)
