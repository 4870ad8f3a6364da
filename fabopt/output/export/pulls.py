"""The cables that a crew pulls, stage by stage, in the order in which they are pulled.

Of a stage first the cables that are moved, then pairs of racks, those with the longest run first, as what lies lowest
in a tray is what goes furthest; pairs within a rack come last. Without a floor plan a pair is of two groups of devices.
Of a pair copper comes before glass, which would be crushed under it, then places and ports at the far end in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fabopt.errors import Fault
from fabopt.io.faults import refuse_any
from fabopt.operate.model import numbered_devices
from fabopt.operate.ports import names_of
from fabopt.output.export.cables import is_pulled, moves, schedule, stage_names
from fabopt.output.export.changes import work_on_base
from fabopt.output.export.ends import natural
from fabopt.output.export.frames import Frame
from fabopt.output.terminal.floor import OPTICAL, class_of
from fabopt.schema.design import Design
from fabopt.units import plural
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring, at_stage


@dataclass(frozen=True)
class Pair:
    """Two racks, or groups of devices, and the rows of the cable schedule between them, in the order of pulling."""

    name: str
    rows: Frame


@dataclass(frozen=True)
class Visit:
    """What a crew does at a stage: cables that it moves (``output.export.cables.moves``), and those that it pulls.

    ``moved``: the rows of moved cables as they are then, of the cable schedule.
    """

    stage: str
    moves: Frame
    moved: Frame
    pairs: tuple[Pair, ...]


def named(design: Design, wiring: Wiring) -> Wiring:
    """The wiring with the names of devices that the case's templates give; ``InputError`` where they give none."""
    faults: list[Fault] = []
    names = names_of(Embedded(design).case, numbered_devices(design, wiring), faults)
    refuse_any(faults)
    return replace(wiring, devices=replace(wiring.devices, name=names))


def visits(design: Design, wiring: Wiring, stage: int | None = None) -> Iterator[Visit]:
    """Yield the visits of all stages, or of one, from 0; a stage at which nothing is pulled has none, nor has what is
    in service.
    """
    groups, work = _groups(wiring), work_on_base(design, wiring)
    all_moves = moves(design, wiring, work)
    for number, name in enumerate(stage_names(design)):
        if stage is not None and stage != number:
            continue
        rows = schedule(design, replace(wiring, links=at_stage(wiring, number)))
        is_new = (rows["stage"] == name) & is_pulled(rows, work)
        of_stage = all_moves[all_moves["stage"] == name] if len(all_moves) else all_moves
        is_moved = rows["cable"].isin(of_stage["cable"]) if len(of_stage) else np.zeros(len(rows), dtype=np.bool_)
        moved = rows[is_moved & ~is_new]
        is_glass = {part: class_of(design, part) == OPTICAL for part in set(rows["part"])}
        pairs = tuple(_pairs(rows[is_new], groups, is_glass))
        if pairs or len(of_stage):
            yield Visit(name, of_stage, moved, pairs)


def place(rack: str, unit: float, device: str, port: str) -> str:
    """Where a cable ends: ``A01-U17-swp1``, without a unit ``A01 loose 4``, without a floor ``spine-001 swp1``."""
    return f"{rack}-U{unit:.0f}-{port}" if rack and unit == unit else f"{device} {port}"


_ENDS = ("bundle", "cable", "from_device", "to_device")


def _pairs(rows: Frame, groups: dict[str, str], is_glass: dict[str, bool]) -> Iterator[Pair]:
    """The pairs of a stage, those with the longest run first, those within a rack last; ``is_glass``: by part."""
    ends: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for cable, near, far in zip(rows["cable"], rows["from_device"], rows["to_device"], strict=True):
        for side, device in zip(ends.setdefault(cable, ({}, {})), (near, far), strict=True):
            side[groups.get(device, device)] = None
    keys = [
        bundle.replace("-", " - ")
        or " - ".join(map("+".join, ends[cable] if cable else ([groups[near]], [groups[far]])))
        for bundle, cable, near, far in zip(*(rows[key] for key in _ENDS), strict=True)
    ]
    rows = rows.assign(pair=keys, is_glass=[is_glass[part] for part in rows["part"]])
    pairs = [(name, pair) for name, pair in rows.groupby("pair", sort=False)]
    pairs.sort(key=lambda pair: (_is_within(pair[1]), -float(np.nan_to_num(pair[1]["run_m"].max()))))
    for name, pair in pairs:
        columns = ("is_glass", "to_rack", "to_unit", "to_device", "to_port", "cable", "leg")
        keys_of_rows = [
            (glass, rack, 0.0 if unit != unit else unit, *map(natural, rest))
            for glass, rack, unit, *rest in zip(*(pair[column] for column in columns), strict=True)
        ]
        order = sorted(range(len(pair)), key=keys_of_rows.__getitem__)
        yield Pair(str(name), pair.iloc[order])


def _is_within(pair: Frame) -> bool:
    """Whether all cables of a pair stay within a rack."""
    return bool(((pair["from_rack"] == pair["to_rack"]) & (pair["from_rack"] != "")).all())


def _groups(wiring: Wiring) -> dict[str, str]:
    """The group of every device, by its name: ``servers, group 2``, ``compute spines, plane 1``."""
    devices = wiring.devices
    numbers = {key: getattr(devices, key).tolist() for key in ("plane", "pod", "group")}
    several = {key: len(set(values) - {-1}) > 1 for key, values in numbers.items()}
    groups = {}
    for row, (name, role) in enumerate(zip(devices.name, devices.role, strict=True)):
        called = devices.product[row] if role == "attachment" else plural(role)
        parts = [f"{devices.fabric[row]} {called}".strip()]
        parts += [f"{key} {values[row]}" for key, values in numbers.items() if several[key] and values[row] > 0]
        groups[name] = ", ".join(parts)
    return groups
