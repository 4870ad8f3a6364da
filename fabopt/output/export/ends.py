"""The wiring with names instead of numbers, the source of every list of cables and ports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fabopt.floor.racks import place_of
from fabopt.output.export.frames import Frame, frame_of_columns
from fabopt.schema.design import Design
from fabopt.wiring.model import Devices, Ints, Wiring

HOSTS = ("server", "attachment")


def natural(name: str) -> list[int | str]:
    """A key by which ``swp2`` comes before ``swp10``."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d{1,9})", name)]


def part_text(design: Design, part: str, key: str) -> str:
    """Return a text of an embedded part (``part_number``, ``description``); empty where it has none."""
    return str(design.parts.get(part, {}).get(key) or "")


def part_texts(design: Design, parts: Sequence[str], key: str) -> list[str]:
    """Return a text of every part of a column."""
    texts = {part: part_text(design, part, key) for part in dict.fromkeys(parts)}
    return [texts[part] for part in parts]


def part_numbers(design: Design, parts: Sequence[str]) -> list[str]:
    """Return the order code of every part of a column: its part number, else its id."""
    return [number or part for number, part in zip(part_texts(design, parts, "part_number"), parts, strict=True)]


def taken(values: Sequence[Any], rows: Ints) -> list[Any]:
    """Return the values at rows of a table, shape (rows,); nothing (an empty text) for a row of ``NOTHING``."""
    # The empty text comes last, where -1 finds it.
    values_at: list[Any] = np.array([*values, ""], dtype=object)[rows].tolist()
    return values_at


def units_of(devices: Devices) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the lowest unit of every device, shape (devices,), NaN where it has no place."""
    return np.where(devices.unit > 0, devices.unit, np.nan)


def device_columns(wiring: Wiring, rows: Ints) -> dict[str, Any]:
    """Return rack, unit and name of devices, as columns rack, unit, device, each of shape (rows,)."""
    devices = wiring.devices
    return {
        "rack": taken(devices.rack, rows),
        "unit": units_of(devices)[rows],
        "device": taken(devices.name, rows),
    }


def link_ends(wiring: Wiring) -> Frame:
    """One row a link, in the wiring's order: its cable, and rack, unit, device and port of both ends."""
    links = wiring.links
    columns: dict[str, Any] = {"cable": links.cable}
    for side, rows, ports in (("from", links.a, wiring.a_port), ("to", links.b, wiring.b_port)):
        columns |= {f"{side}_{key}": value for key, value in device_columns(wiring, rows).items()}
        columns[f"{side}_port"] = ports
    return frame_of_columns(columns)


def route_name(ends: tuple[str, str]) -> str:
    """The bundle between the racks of two ends, in the order of the floor; an end without a place is written ``?``."""
    if not any(ends):
        return ""
    known = sorted((sorted(end.split("+"), key=place_of) for end in ends if end), key=lambda racks: place_of(racks[0]))
    return "-".join([*map("+".join, known), "?"][:2])


def joined(texts: Sequence[str], starts: Ints, separator: str) -> list[str]:
    """Return the texts of each run of rows as one, every text once.

    ``starts``: first row of each run, from 0, shape (runs,).
    """
    return [separator.join(dict.fromkeys(texts[a:b])) for a, b in pairwise([*starts.tolist(), len(texts)])]


def spread(texts: Sequence[str], starts: Ints, rows: int) -> list[str]:
    """Return the text of its run for every row, as ``joined`` made it. ``starts``: as there, shape (runs,)."""
    return taken(texts, np.repeat(np.arange(len(texts)), np.diff(starts, append=rows)))
