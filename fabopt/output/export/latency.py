"""How long messages take between servers without load, part by part, and the bytes that fill a path meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import Path, paths_of

COLUMNS = ("fabric", "path", "part", "of", "count", "ns_each", "ns", "bandwidth_delay_bytes", "not_known", "source")


def files_of(asked: Exported) -> Files:
    """Return ``latency.csv``."""
    return {"latency.csv": csv_file(latencies(asked))}


def latencies(asked: Exported) -> Frame:
    """Rows with ``COLUMNS``: of each path its parts in one direction, their sum, and the base round trip."""
    embedded = Embedded(asked.design)
    paths = (path for fabric in asked.design.fabrics for path in paths_of(embedded, fabric))
    return frame_of(COLUMNS, (row for path in paths for row in _rows(path)))


def _rows(path: Path) -> Iterator[tuple[object, ...]]:
    unknown = ", ".join(path.unknown)
    for step in path.steps:
        said = "" if step.ns is not None else "ns"
        yield path.fabric, path.name, step.part, step.of, step.number, step.ns, step.all_ns, None, said, step.source
    yield path.fabric, path.name, "one way", "", 1, None, path.one_way_ns, None, unknown, ""
    filled, trip = path.bandwidth_delay_bytes, path.round_trip_ns
    yield path.fabric, path.name, "base round trip", f"{path.gbps:g} Gb/s", 1, None, trip, filled, unknown, ""
