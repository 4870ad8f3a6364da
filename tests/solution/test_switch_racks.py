"""Ports of management of power strips in racks without servers, and of what whole racks have in them."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from fabopt.floor.layouts import Layout
from fabopt.io.case import inputs_from_objects
from fabopt.problem import site
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Design
from fabopt.search.floor import expansion
from fabopt.solution.optimize import solve
from fabopt.solution.switch_racks import racks_in
from fabopt.topology.clos.layouts import before_placing
from fabopt.verify import verify
from tests.samples.shipped import shipped
from tests.samples.small import Json, assert_proven

NODES: Json = {
    "name": "nodes", "ports": 4, "boxes": 4, "rack_units": 2, "power_w": 800, "racks": ["A08"], "buys": "none"
}  # fmt: skip


@cache
def eight(switch_racks: int | None = None, proven: bool = True, **rules: bool) -> Design:
    """Eight servers, four a rack, with four boxes in a rack of their own; ``switch_racks``: that the case says."""
    compute = {"name": "compute", "tiers": 2, "attachments": [NODES]}
    management: Json = {"name": "management", "role": "oob"}
    if switch_racks is not None:
        management["oob"] = {"switch_racks": switch_racks}
    return solved({
        "server": "nvidia-dgx-h200", "servers": 8, "fabrics": [compute, management],
        "site": {"servers_per_rack": 4, "floor": {"rows": 1, "racks_per_row": 8, "rack_power_w": 45_000}},
        "rules": {name.replace("_", "-"): holds for name, holds in rules.items()},
    }, proven)  # fmt: skip


def solved(content: Json, proven: bool = True) -> Design:
    design = solve(inputs_from_objects({"name": "racks", "catalog": ["reference"], **content}, None), alternatives_s=0)
    if proven:
        assert_proven(design)
    return design


def ports(design: Design) -> dict[str, int]:
    rows = [row for row in design.fabrics[-1].links if row.to == "leaf" and row.attachment]
    return {str(row.attachment): sum(one.count for one in rows if one.attachment == row.attachment) for row in rows}


@pytest.mark.long
def test_strips_of_every_rack_have_ports() -> None:
    design, free = eight(), eight(rack_rules=False)
    of_switches = racks_in(design)
    assert of_switches > 0 and ports(design)["pdus"] == 2 * (2 + 1 + of_switches)
    assert ports(free)["pdus"] == 2 * 2
    assert design.totals is not None and design.totals.racks == 2 + 1 + of_switches
    assert not any("PDUs" in note for note in design.notes)
    (told,) = (note for note in design.notes if "reach across the floor" in note)
    assert told.endswith("as they are counted before it is known in which racks their devices are")


@pytest.mark.long
def test_bounds_of_other_fabrics_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On floors too large for a proof, in every layout once, though the answer is looked for again with its racks."""
    looked: Counter[tuple[str, object]] = Counter()
    fabrics: set[object] = set()

    def counted(problem: Problem, variant: FabricProblem, layout: Layout) -> FabricProblem:
        fabrics.add(problem.fabrics)
        looked[variant.name, layout] += 1
        return before_placing(problem, variant, layout)

    monkeypatch.setattr(site, "MOST_SERVERS_OF_SEVERAL_FABRICS", 0)
    monkeypatch.setattr(expansion, "before_placing", counted)
    eight.__wrapped__(proven=False)
    assert len(fabrics) == 2
    assert {most for (name, _), most in looked.items() if name == "compute"} == {1}


@pytest.mark.long
def test_the_answer_is_that_of_a_case_that_says_the_racks() -> None:
    """Of the other fabric is kept what was worked out before the racks were known."""
    found, told = eight(), eight(racks_in(eight()))
    assert found.totals == told.totals and found.bom == told.bom
    assert [fabric.places for fabric in found.fabrics] == [fabric.places for fabric in told.fabrics]


@pytest.mark.long("eight")
@pytest.mark.parametrize("name", ["eight", "floor-four-fabrics-32"])
def test_too_few_are_found_unless_they_are_told(name: str) -> None:
    design = eight() if name == "eight" else shipped(name)
    content = design.case.content
    assert isinstance(content["fabrics"], list)
    oob = {**(content["fabrics"][-1].get("oob") or {}), "switch_racks": 0}
    fewer = {**content, "fabrics": [*content["fabrics"][:-1], {**content["fabrics"][-1], "oob": oob}]}
    changed = design.model_copy(update={"case": design.case.model_copy(update={"content": fewer})})
    (detail,) = [check.detail for check in verify(changed) if check.name == "oob_covers_boxes"]
    assert f"no note says: {design.fabrics[-1].name}: PDUs of {racks_in(design)} rack" in detail


@pytest.mark.long(but=("18-1",))
@pytest.mark.parametrize(("servers", "racks"), ((18, 1), (20, 2)))
def test_devices_of_whole_racks_have_ports(servers: int, racks: int) -> None:
    # nine NVLink switch trays with three ports each and eight power shelves with one, beside eighteen trays of a rack
    design = solved({
        "server": "nvidia-gb200-nvl72-tray", "servers": servers, "fabrics": [{"name": "management", "role": "oob"}],
    })  # fmt: skip
    assert ports(design)["rack-devices"] == racks * (9 * 3 + 8)
