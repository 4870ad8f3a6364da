"""Designs of the small catalog, and what exports are made of: their wiring, and a floor to stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS, NOTHING, Cables, Devices, Lent, Links, Modules, Wiring
from tests.paths import ROOT
from tests.samples import small

FLOOR: dict[str, Any] = {
    "rows": 2,
    "racks_per_row": 4,
    "rack_units": 12,
    "rack_power_w": 9000,
    "blocked": ["A04"],
    "reserved": ["B04"],
}
ATTACHMENTS = [
    {"name": "storage", "ports": 2, "form_factor": "QSFP112", "split": "1x400"},
    {"name": "manager", "ports": 1, "buys": "near"},
    {"name": "firewall", "ports": 1, "buys": "none"},
]
OF_200: dict[str, Any] = {"nics": ["nic-200"], "nics_per_server": 4}
CASES: dict[str, small.Json] = {
    # straight cables to the servers, optics and fibre above
    "plain": small.case(servers=4),
    # six splitters, each from one leaf cage to two cards of a server
    "splitters": small.case(OF_200, servers=3),
    "attachments": small.case({"attachments": ATTACHMENTS, "reserve_ports": 0.2}, servers=4),
    "two fabrics": small.case(
        fabrics=[
            {"name": "compute", "min_gbps_per_gpu": 100, "tiers": 2},
            {"name": "storage", "role": "compute", "min_gbps_per_gpu": 100, "tiers": 1},
        ]
    ),
    "one tier": small.case({"tiers": 1}, servers=2),
}


@cache
def solved(name: str) -> Design:
    """A design of ``CASES``."""
    return small.solved(CASES[name])


def on_floor(name: str = "splitters", **floor: Any) -> tuple[Design, Wiring]:
    """A design of ``CASES`` and its wiring on ``FLOOR``: two servers of 4 U a rack, switches from the top of B01 down.

    Only what exports look at is there: lengths are those of the design without a floor.
    """
    design = solved(name)
    site = {**design.case.content["site"], "floor": {**FLOOR, **floor}}
    content = {**design.case.content, "site": site, "rules": {"rack-rules": False}}
    record = design.case.model_copy(update={"content": content})
    wiring = wiring_of(design)
    switches = iter(range(FLOOR["rack_units"], 0, -1))
    places = [_place(row, role, switches) for row, role in enumerate(wiring.devices.role)]
    devices = replace(
        wiring.devices,
        rack=[rack for rack, _, _ in places],
        unit=np.array([unit for _, unit, _ in places]),
        height_u=np.array([height for _, _, height in places]),
    )
    return design.model_copy(update={"case": record}), replace(wiring, devices=devices)


def _place(row: int, role: str, switches: Iterator[int]) -> tuple[str, int, float]:
    if role == "server":
        return f"A{row // 2 + 1:02d}", 1 + row % 2 * 4, 4.0
    return ("", 0, 0.0) if role == "attachment" else ("B01", next(switches), 1.0)


@cache
def placed(**rack_rules: int) -> Design:
    """Four servers of 4 U, solved on a floor of one row of six racks of 12 U, with short slack."""
    parts = small.catalog()
    small.product(parts, "gpu-4")["rack_units"] = 4
    floor = {"rows": 1, "racks_per_row": 6, "rack_units": 12, "slack_m": 0.2}
    return small.solved(small.case(servers=4, site={"floor": floor, "rack_rules": rack_rules}), parts)


def exported(design: Design, folder: Path, *formats: str, wiring: Wiring | None = None) -> dict[str, Path]:
    """Files of formats by name, written into a folder."""
    paths = export(design, wiring or wiring_of(design), formats, folder, Options())
    return {path.name: path for path in paths}


def shown(language: str) -> list[str]:
    """Excerpts of files in docs/exports.md."""
    text = (ROOT / "docs" / "exports.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def text_table(path: Path) -> pd.DataFrame:
    """A CSV file as pandas reads it, everything as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def sheets(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """A workbook as openpyxl reads it, by sheet."""
    book = openpyxl.load_workbook(path)
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


# -- by hand --------------------------------------------------------------------------------------------------------


def by_hand() -> Wiring:
    """One leaf, two servers, one spine, and what the small catalog does not have.

    W1: a splitter, from leaf cage 1 to both servers. W2: a straight cable with two links, leaf cage 3 to spine cage 1.
    W3: a splitter with its single head at the spine (cage 2), its two heads in leaf cages 4 and 5.
    """
    devices = Devices(
        ["server-0001", "server-0002", "compute-leaf-001", "compute-spine-001"],
        ["server", "server", "leaf", "spine"],
        ["gpu-4", "gpu-4", "small", "small"],
        ["", "", "compute", "compute"],
        *(np.full(4, NOTHING) for _ in range(4)),
        ["A01", "A02", "B01", "B01"],
        np.array([1, 1, 12, 11]),
        np.array([4.0, 4.0, 1.0, 1.0]),
        np.zeros(4, int),
    )
    rows = [
        # a, card, port, cage, lane, lanes, b, cage, lane, lanes, wire
        (0, 1, 1, 1, 0, 1, 2, 1, 0, 2, 0),
        (1, 1, 1, 1, 0, 1, 2, 1, 1, 2, 0),
        (2, NOTHING, NOTHING, 3, 0, 2, 3, 1, 0, 2, 1),
        (2, NOTHING, NOTHING, 3, 1, 2, 3, 1, 1, 2, 1),
        (2, NOTHING, NOTHING, 4, 0, 1, 3, 2, 0, 2, 2),
        (2, NOTHING, NOTHING, 5, 0, 1, 3, 2, 1, 2, 2),
    ]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    none = np.full(6, NOTHING)
    below, above = KINDS.index("server-leaf"), KINDS.index("leaf-spine")
    kinds = np.array([below] * 2 + [above] * 4)
    links = Links(np.zeros(6, int), kinds, *columns, np.full(6, 200.0), np.zeros(6, int), none, none)
    cables = Cables(
        ["W1", "W2", "W3"],
        np.zeros(3, int),
        np.array([below, above, above]),
        ["splitter", "aoc", "splitter"],
        np.array([3.0, 30.0, 3.0]),
        np.array([2.5, 21.0, 1.0]),
        ["DAC", "AOC", "DAC"],
        np.array([2, 1, 2]),
        np.array([1, 1, 1]),
        ["", "", ""],
        ["", "", ""],
        np.zeros(3, int),
    )
    none = np.zeros(0, int)
    modules, lent = Modules(none, none, [], none, none), Lent(*[none] * 6)
    return Wiring(("compute",), ("ethernet",), devices, links, cables, modules, lent)
