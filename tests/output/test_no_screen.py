"""The screen of a no: the limit, the nearest design, levers with what they lose, and the line to write."""

from __future__ import annotations

import random
from functools import cache

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.no_screen import MOST_LINES, line_of, no_rows, no_screen, ordered
from fabopt.output.words import dollars
from fabopt.schema.design import Design, Needed
from fabopt.solution import optimize
from tests.output.test_first_screen import WIDE, WIDTHS, shown
from tests.paths import ROOT
from tests.samples import small
from tests.samples.infeasible import MAKERS, Sample

SEED = 3
FEW = ("budget", "budget and power", "late switches", "hops", "runs together", "vendors and size")


@cache
def refused(kind: str) -> tuple[Sample, Design]:
    sample = MAKERS[kind](random.Random(SEED))
    return sample, optimize.solve(sample.inputs, alternatives_s=0)


@pytest.mark.long("budget and power")
@pytest.mark.long("budget")
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=() if kind in FEW else pytest.mark.long) for kind in MAKERS])
def test_it_fits_and_its_line_helps(kind: str) -> None:
    """Nothing is cut at any width, and pasting the line gives a design at the price that is said."""
    sample, design = refused(kind)
    if design.fabrics:
        return
    wide = " ".join(" ".join(shown(no_screen(design), width=WIDE)).split())
    for width in WIDTHS:
        lines = shown(no_screen(design), width=width)
        assert " ".join(" ".join(lines).split()) == wide and max(map(len, lines)) <= width
    rows = shown(no_screen(design))
    assert len(rows) < MOST_LINES
    line = next(row for row in rows if row.startswith("Paste")).removeprefix("Paste").strip()
    assert rows[-1].strip().startswith("# ") or any(row.strip().startswith("# ") for row in rows)
    changes = ordered(design)[0].together or (ordered(design)[0],)
    if len(changes) == 1 and not line_of(changes[0])[1]:
        found = small.solved({**sample.content, **yaml.safe_load(line)}, sample.parts).totals
        assert found is not None and found.capex_usd == ordered(design)[0].capex_usd


@pytest.mark.long("budget and power")
@pytest.mark.parametrize("kind", FEW)
def test_levers_come_cheapest_first(kind: str) -> None:
    """Apart from limits on spending, which are what to paste; as many as there is room for."""
    _, design = refused(kind)
    prices = [one.capex_usd for one in ordered(design) if "limits." not in one.limit]
    known = [price for price in prices if price is not None]
    assert known == sorted(known) and prices[: len(known)] == known
    rows = no_rows(design)
    first = next((number for number, row in enumerate(rows) if row.label in ("Or", "Change")), len(rows))
    levers = [row.words for row in rows[first:] if row.label in ("Or", "Change", "")]
    assert all(f"{dollars(price)} with " in " ".join(levers) for price in known[:2])
    pasted = [row.words for row in rows if row.label == "Paste"]
    assert not any(lever.endswith(line) for lever in levers for line in pasted if "limits" in line)


def test_a_dollar_short() -> None:
    """The nearest design, what it costs more, and levers with what each loses."""
    least = small.solved(small.case()).totals
    assert least is not None
    design = small.solved(small.case(limits={"budget_usd": least.capex_usd - 1, "power_w": 10_000}))
    assert shown(no_screen(design)) == [
        "Not met     a budget of $107,519",
        "Cheapest    $107,520, 2.68 kW, 6 rack units, $1 over the budget; all else as asked: Ethernet",
        "            rail-optimized leaf-spine, 2 leaves + 1 spine of large, 200G to every GPU (2 x 400G",
        "            nic-400 a server), 1:1",
        "Or          give up the limit to 2 tiers: $43,800 with tiers: any in fabric compute",
        "            give up 100 of 200 Gb/s for every GPU: $65,760 with min_gbps_per_gpu: 100 in fabric",
        "            compute",
        "            give up 1 server: $101,600 with servers: 5",
        "            give up 1:1 at the leaves: $104,900 with max_oversubscription: {leaf: 1.2} in fabric",
        "            compute",
        "Paste       limits: {budget_usd: 107520, power_w: 10000}",
        "            # raises the budget to $107,520; all else is kept",
    ]


def test_other_limits_stay_in_the_line() -> None:
    content = {**small.case(), "limits": {"budget_usd": 50_000, "power_w": 100_000}}
    design = optimize.solve(inputs_from_objects(content, small.catalog()), alternatives_s=0)
    assert any(row.endswith("power_w: 100000}") for row in shown(no_screen(design)) if row.startswith("Paste"))


def test_what_a_whole_floor_lacks_is_no_line_of_a_case() -> None:
    """Ten servers, two a rack, on four racks: a longer row is a line to write, and five racks are not."""
    floor = {"rows": 1, "racks_per_row": 4, "rack_units": 24}
    site, parts = {"servers_per_rack": 2, "floor": floor}, small.catalog()
    for server in parts["servers"]:
        server.update(rack_units=4, power_w=2000)
    content = {**small.case(servers=10), "site": site, "rules": {"rack-rules": False, "rack-spread": False}}
    design = optimize.solve(inputs_from_objects(content, parts), alternatives_s=0)
    assert {"site.floor", "site.floor.racks_per_row"} <= {one.limit for one in design.conflicts}
    assert [one.limit for one in ordered(design)] == ["site.floor.racks_per_row"]
    (line,) = (row for row in shown(no_screen(design)) if row.startswith("Paste"))
    pasted = yaml.safe_load(line.removeprefix("Paste").strip())["site"]["floor"]
    site["floor"] = {**floor, **pasted}
    again = optimize.solve(inputs_from_objects(content, parts), alternatives_s=0)
    assert again.status == "optimal", again.conflicts


def test_a_key_of_all_halls_is_written_in_each() -> None:
    change = Needed(limit="site.halls[*].rack_power_w", needed=47504.5)
    assert line_of(change) == ("rack_power_w: 47504.5", "each hall")


def test_nothing_is_found_of_what_is_open() -> None:
    """A search that stopped says what it knows, not that there is nothing."""
    design = optimize.stopped_design(small.inputs(small.case()), "cp-sat", "interrupted")
    assert "interrupted" in shown(no_screen(design))[-1]
    assert (ROOT / "cases").is_dir()
