"""Cliffs: the next figure at which a bill falls by more, told first and as solving it gives it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from fabopt.io.case import Inputs, inputs_from_objects, read_inputs
from fabopt.io.keys import with_change
from fabopt.output.terminal.answer import alternative_line, leading_notes
from fabopt.schema.cliff import CLIFF
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from fabopt.units import exact
from tests.paths import ROOT
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, inputs

REPRO = ROOT / "tests" / "solution" / "answers"
SMALL = {"switches": {"leaf": ["small"], "spine": ["small"], "core": ["small"]}, "nics_per_server": 2, "tiers": "any"}
SHORT = {"distances_m": {"server-leaf": 3, "leaf-spine": 30, "spine-core": 30}}
UFM = {"name": "ufm", "kind": "management", "ports": 4, "gbps": 400, "form_factor": "OSFP-RHS", "split": "1x400"}


def parts(gbps: int = 200) -> Json:
    """The small catalog with NICs of two ports."""
    form_factor, like = {400: ("QSFP112", 1), 200: ("QSFP56", 0)}[gbps]
    content = catalog()
    cages = [{"count": 2, "form_factor": form_factor, "splits": [f"1x{gbps}"]}]
    return {**content, "nics": [{**content["nics"][like], "id": "two-ports", "pcie": None, "cages": cages}]}


def with_rows(servers: int, **fabric: Any) -> tuple[Design, list[Alternative]]:
    """The design on switches of eight cages, and the rows of *what else* in the order in which they are found."""
    rows: list[Alternative] = []
    content = case({**SMALL, **fabric}, servers=servers, site=SHORT)
    design = optimize.solve(inputs(content, parts()), compared=rows.append)
    assert_proven(design)
    return design, rows


def on_cliff(design: Design) -> list[str]:
    return [note for note in design.notes if note.startswith(CLIFF)]


@pytest.mark.long
def test_a_ratio_that_saves_leaves_is_told_first() -> None:
    """32 servers of 8 rails and 4 ports of managers: a leaf for each rail holds them at 33:31, else there are ten."""
    fabric = {"name": "compute", "protocol": "infiniband", "attachments": [UFM]}
    given = inputs_from_objects({"name": "h200-32", "server": "nvidia-dgx-h200", "servers": 32, "fabrics": [fabric]})
    design = optimize.solve(given)
    (row,) = [row for row in design.alternatives if row.what == "oversubscription"]
    assert row.value == "1.07:1" and row.summary.startswith("8 + 5 switches: ")
    assert row.change == {"fabrics.compute.max_oversubscription": 1.07}
    other = optimize.solve(with_change(given, row.change), alternatives_s=0)
    assert other.totals is not None and other.totals.capex_usd == row.capex_usd
    assert [tier.count for tier in other.fabrics[0].tiers] == [8, 5]
    assert row.capex_delta_usd is not None and row.capex_delta_usd < 0
    (note,) = [note for note in on_cliff(design) if "1.07:1" in note]
    assert note == f"{CLIFF} at 1.07:1: 8 + 5 switches, -${-row.capex_delta_usd:,.0f}"
    assert note in leading_notes(design)


@pytest.mark.long
def test_a_cliff_on_a_floor_of_four_fabrics() -> None:
    given = read_inputs(str(REPRO / "four-fabrics-32.yaml"))
    design = optimize.solve(given)
    (row,) = [row for row in design.alternatives if row.what == "compute oversubscription"]
    assert row.value == "1.07:1" and row.summary.startswith("8 + 5 switches: ")
    other = optimize.solve(with_change(given, row.change), alternatives_s=0)
    assert other.totals is not None and other.totals.capex_usd == row.capex_usd
    assert any(" at 1.07:1 of compute: 8 + 5 switches, -$" in note for note in on_cliff(design))


@pytest.mark.long
def test_a_bandwidth_that_slower_cards_give_is_told() -> None:
    """Compute and storage share the ports of a GPU: cards of 400 Gb/s carry both with 375 in place of 400."""
    given = with_change(read_inputs(str(REPRO / "shared-storage.yaml")), {"fabrics.storage.shared_port": "added"})
    design = optimize.solve(given)
    told = [row for row in design.alternatives if row.what == "bandwidth"]
    asked = design.case.content["fabrics"][0]["min_gbps_per_gpu"]
    for row in told:
        other = optimize.solve(with_change(given, row.change), alternatives_s=0)
        assert other.totals is not None and other.totals.capex_usd == row.capex_usd
        (figure,) = row.change.values()
        assert 0.85 * asked <= figure < asked
    assert told


def test_servers_that_do_with_a_tier_less_are_told() -> None:
    """Leaves of 8 ports of 200 Gb/s and 4 of 400: 8 of them have 64 ports, so for 16 servers of 4."""
    design, rows = with_rows(17)
    assert len(design.fabrics[0].tiers) == 3
    (row,) = [row for row in rows if row.what == "servers"]
    assert (row.value, row.change["servers"]) == ("16 servers", 16)
    other = optimize.solve(inputs(case(SMALL, servers=16, site=SHORT), parts()), alternatives_s=0)
    assert other.totals is not None and row.capex_usd == other.totals.capex_usd
    (note,) = [note for note in on_cliff(design) if "16 servers" in note]
    assert note.endswith(f" switches, -${-(row.capex_delta_usd or 0):,.0f}")


def test_nothing_is_told_where_no_figure_is_near_enough() -> None:
    """Up to a ratio 15 % higher the bill falls by less than the ratio rises."""
    _, rows = with_rows(16)
    for row in rows:
        if row.what == "oversubscription":
            assert -(row.capex_delta_usd or 0) > 0


def test_it_is_not_said_where_nobody_asks_what_else_there_is() -> None:
    content = case({**SMALL}, servers=17, site=SHORT)
    assert on_cliff(optimize.solve(inputs(content, parts()), alternatives_s=0)) == []


def test_rows_are_told_as_they_are_found() -> None:
    design, rows = with_rows(17)
    assert tuple(rows) == design.alternatives
    (planes,) = [row for row in rows if row.what == "planes"]
    assert alternative_line(planes) == f"  planes: any: ${planes.capex_usd:,} (-${-(planes.capex_delta_usd or 0):,})"


def test_every_setting_has_one_row_at_most() -> None:
    _, rows = with_rows(18)
    names = [row.what for row in rows]
    assert len(names) == len(set(names))


def bills_of_ratios(given: Inputs, ratio: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Every hundredth of a ratio up to 15 % above it, with what is bought for the fabric there, in dollars."""
    for hundredths in range(int(ratio * 100), int(ratio * 115) + 1):
        value = ratio if Fraction(hundredths, 100) <= ratio else Fraction(hundredths, 100)
        other = with_change(given, {"fabrics.compute.max_oversubscription": float(value)})
        design = optimize.solve(other, alternatives_s=0)
        assert design.status == "optimal"
        yield value, Fraction(sum(exact(row.total_usd) for row in design.bom if row.fabric == "compute"))


def first_cliff(bills: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """The least ratio at which a bill falls by a larger share than the ratio rises, from the step before or in all."""
    (ratio, own), *_ = bills
    before, last = ratio, own
    for value, usd in bills[1:]:
        if usd < last:
            fall, in_all = (last - usd) / own, (own - usd) / own
            if fall > (value - before) / ratio or in_all > value / ratio - 1:
                return value
            before, last = value, usd
    return None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_a_scan_of_ratios_finds_no_nearer_cliff_than_is_told(seed: int) -> None:
    """Random cases solved at every hundredth: the cliff that is told is the first one, and what solving it gives."""
    parts, content = generate(("linear", "three_tier", "ruled")[seed % 3], 2000 + seed)
    fabric = content["fabrics"][0] | {"max_oversubscription": (1, 1.5, 2)[seed // 3 % 3]}
    wanted = {key: value for key, value in content.items() if key not in ("limits", "stages")}
    given = inputs_from_objects(
        wanted | {"objective": "capex_usd", "include_servers": False, "fabrics": [fabric]}, parts
    )
    design = optimize.solve(given)
    if design.status != "optimal" or design.fabrics[0].topology != "clos" or len(design.fabrics[0].tiers) < 2:
        return
    told = [row for row in design.alternatives if row.what == "oversubscription"]
    assert all(row.finished for row in told)
    bills = list(bills_of_ratios(given, exact(fabric["max_oversubscription"])))
    cliff = first_cliff(bills)
    assert [exact(row.change["fabrics.compute.max_oversubscription"]) for row in told] == [
        value for value in (cliff,) if value is not None
    ]
    for row in told:
        other = optimize.solve(with_change(given, row.change), alternatives_s=0)
        assert other.totals is not None and other.totals.capex_usd == row.capex_usd
