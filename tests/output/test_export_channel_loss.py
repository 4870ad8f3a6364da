"""The sheet of testers: one row an optical link, its sums, and what the cable schedule says of the same fibres."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.export_samples import CASES, solved
from tests.samples.small import solved as designed
from tests.solution.test_optic_loss import parts, wanted


def sheet(design: Design, folder: Path) -> list[dict[str, str]]:
    (path,) = export(design, wiring_of(design), ["channel-loss"], folder, Options())
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_figures_are_those_of_the_parts(tmp_path: Path) -> None:
    """50 m of OM4, two plugs of low loss: 0.15 + 2 x 0.35 of 1.5 + 0.15 dB, of which 0.3 stay free."""
    rows = sheet(designed(wanted(0.3), parts("low-loss")), tmp_path)
    first = rows[0]
    assert {key: first[key] for key in ("standard", "fibre_m", "mated_pairs", "splices", "not_known")} == {
        "standard": "400G-SR4", "fibre_m": "50", "mated_pairs": "2", "splices": "0", "not_known": "",
    }  # fmt: skip
    figures = [float(first[key]) for key in ("loss_db", "budget_db", "margin_db", "limit_db", "expected_db")]
    assert figures == pytest.approx([0.85, 1.65, 0.8, 1.35, 0.45])
    assert first["link"] == f"{first['from_device']} {first['from_port']} > {first['to_device']} {first['to_port']}"


@pytest.mark.parametrize("name", CASES)
def test_every_link_of_fibre_has_a_row(name: str, tmp_path: Path) -> None:
    """Without facts nothing is known of them but their glass."""
    design = solved(name)
    wiring = wiring_of(design)
    rows = sheet(design, tmp_path)
    fibres = {part for part, body in design.parts.items() if body["kind"] == "fibre"}
    of_fibre = [cable for cable in wiring.links.cable.tolist() if cable >= 0 and wiring.cables.part[cable] in fibres]
    assert [row["cable"] for row in rows] == [wiring.cables.name[cable] for cable in of_fibre]
    for row in rows:
        assert (row["budget_db"], row["margin_db"], row["expected_db"]) == ("", "", "")
        assert row["not_known"] == "budget, loss of MPO-12-APC"
        assert float(row["loss_db"]) == float(row["limit_db"]) == pytest.approx(float(row["fibre_m"]) * 0.4 / 1000)
