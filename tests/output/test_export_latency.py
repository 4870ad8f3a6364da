"""Paths of designs by part: sums, near and far, and parts of which nothing is known."""

from __future__ import annotations

import csv
import io
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from fabopt.output.export.formats import Options, export
from fabopt.output.statements import latency
from fabopt.parts.latency import Delays, LinkTime, bandwidth_delay_bytes, known_ns, serialisation_ns
from fabopt.schema.design import Design
from fabopt.schema.facts import Delay
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import paths_of
from tests.samples.small import Json, case, catalog, solved

# Endpoints of 50 ns a side, links of 50 ns, a switch of 250: Scale-Up Ethernet (Broadcom RM104, appendix A).
SCALE_UP = [
    {"part": "nic", "ns": 50.0, "holds_fec": False}, {"part": "switch", "of": "X1", "ns": 250.0, "holds_fec": False},
    {"part": "fec", "ns": 50.0}, {"part": "cable", "of": "DAC", "ns": 0.0},
    {"part": "metre", "of": "copper", "ns": 4.6},
    {"part": "metre", "of": "fibre", "ns": 4.96},
]  # fmt: skip


def timed(rows: list[Json], **changes: Any) -> Design:
    content = catalog()
    content["facts"] = {"latency": rows}
    for switch in content["switches"]:
        switch["asic"] = "2x X1"
    return solved({**case(**changes), "site": {"distances_m": {"server-leaf": 3, "leaf-spine": 30}}}, content)


def sheet(design: Design, folder: Path) -> list[dict[str, str]]:
    (path,) = export(design, wiring_of(design), ["latency"], folder, Options())
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_one_leaf_is_the_published_budget(tmp_path: Path) -> None:
    design = timed(SCALE_UP, fabric={"tiers": 1}, servers=2)
    rows = sheet(design, tmp_path)
    assert {row["path"] for row in rows} == {"same leaf"}
    one_way = next(row for row in rows if row["part"] == "one way")
    assert (float(one_way["ns"]), one_way["not_known"]) == (477.6, "")


def test_published_budgets_add_up() -> None:
    """Scale-Up Ethernet over 3 m of twinax and 10 m of fibre; fibre one way; sending; bytes of 10 us at 400G."""
    delays = Delays(tuple(Delay.model_validate(row) for row in SCALE_UP))
    ends = [delays.step("nic", "", 2), delays.step("switch", "X1")]
    for of, metres, budget_ns in (("copper", 3, 477.6), ("fibre", 10, 549.2)):
        link = LinkTime(delays.step("metre", of), (), delays.step("fec", ""))
        assert known_ns([*ends, *link.steps(metres, times=2, fecs=2)]) == budget_ns
    for metres, us, digits in ((100, 0.5, 2), (350, 1.74, 2), (500, 2.48, 2), (10_000, 49.6, 1), (80_000, 397, 0)):
        assert round(known_ns([delays.step("metre", "fibre", metres)]) / 1000, digits) == us
    assert [round(serialisation_ns(*sent)) for sent in ((4096, 400), (9216, 100))] == [82, 737]
    assert bandwidth_delay_bytes(400, 10_000) == 500_000


def test_parts_add_up_and_far_is_never_nearer(tmp_path: Path) -> None:
    """Two tiers: three switches, two cables of 3 m and two fibres of 50 m. 100 + 750 + 27.6 + 496 + 4 x 50."""
    design = timed(SCALE_UP)
    rows = sheet(design, tmp_path)
    sums = {}
    for name, of_path in groupby(rows, key=lambda row: row["path"]):
        *parts, one_way, trip = of_path
        assert float(one_way["ns"]) == pytest.approx(sum(float(part["ns"] or 0) for part in parts))
        assert float(trip["ns"]) > float(one_way["ns"])
        sums[name] = one_way
    assert list(sums) == ["same leaf", "farthest pair"]
    assert float(sums["farthest pair"]["ns"]) == pytest.approx(100 + 750 + 6 * 4.6 + 100 * 4.96 + 4 * 50)
    assert sums["farthest pair"]["not_known"] == "module"


def test_what_is_not_known_is_named_and_left_out() -> None:
    design = timed(SCALE_UP[2:])
    paths = [path for fabric in design.fabrics for path in paths_of(Embedded(design), fabric)]
    assert all({"nic", "switch large"} <= {*path.unknown} or "nic" in path.unknown for path in paths)
    stated = latency(design)
    assert stated is not None and "nic" in str(stated.said[0])
    assert latency(timed([])) is None
