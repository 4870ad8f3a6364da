"""Answers just above a cliff: that they are is said first, with what other settings cost."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.answer import alternative_line
from fabopt.output.terminal.summary import summary
from fabopt.program.settings import Clock
from fabopt.schema.cliff import CLIFF
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from tests.samples.small import Json, assert_proven, case, catalog, inputs

SMALL = {"switches": {"leaf": ["small"], "spine": ["small"], "core": ["small"]}, "nics_per_server": 2, "tiers": "any"}
SHORT = {"distances_m": {"server-leaf": 3, "leaf-spine": 30, "spine-core": 30}}


def parts(gbps: int) -> Json:
    """The small catalog with NICs of two ports."""
    form_factor, like = {400: ("QSFP112", 1), 200: ("QSFP56", 0)}[gbps]
    content = catalog()
    cages = [{"count": 2, "form_factor": form_factor, "splits": [f"1x{gbps}"]}]
    return {**content, "nics": [{**content["nics"][like], "id": "two-ports", "pcie": None, "cages": cages}]}


def with_rivals(servers: int, gbps: int = 200, **fabric: Any) -> tuple[Design, list[Alternative]]:
    """The design on switches of eight cages, and the rows of "what else" in the order in which they are found."""
    found: list[Alternative] = []
    content = case({**SMALL, **fabric}, servers=servers, site=SHORT)
    design = optimize.solve(inputs(content, parts(gbps)), alternatives_s=60, compared=found.append)
    assert_proven(design)
    return design, found


def on_cliff(design: Design) -> list[str]:
    return [note for note in design.notes if note.startswith(CLIFF)]


def test_it_is_said_first_with_what_would_do() -> None:
    """Leaves of 8 ports of 200 Gb/s and 4 of 400: 8 of them have 64 ports, so for 16 servers of 4 in one plane.

    In two planes each has twice as many.
    """
    design, rivals = with_rivals(17)
    assert len(design.fabrics[0].tiers) == 3
    (planes,) = [rival for rival in rivals if rival.what == "planes"]
    assert planes.capex_delta_usd < 0 and rivals[0] is planes
    (note,) = on_cliff(design)
    assert note == (
        f"{CLIFF} at these settings two tiers of compute join at most 16 servers, 1 fewer; "
        f"it would cost ${planes.capex_usd:,.0f} with planes any"
    )
    console = Console(width=400)
    with console.capture() as text:
        console.print(summary(design))
    assert note in text.get().splitlines()[1]


def test_what_rules_of_whose_parts_are_used_cost_comes_before() -> None:
    """They are asked for by name, and looked for fast: at 1,024 GPUs a cliff takes all the time there is."""
    content = case(
        SMALL, servers=17, site=SHORT, procurement={"max_part_numbers": {"switch": 9}, "max_vendors": {"nic": 2}}
    )
    found: list[Alternative] = []
    optimize.solve(inputs(content, parts(200)), alternatives_s=60, compared=found.append)
    assert [row.what for row in found][:2] == ["sourcing", "planes"]


def test_it_is_not_said_below() -> None:
    design, rivals = with_rivals(16)
    assert on_cliff(design) == []
    assert {rival.value for rival in rivals if rival.what == "oversubscription"} == {"1.05:1"}


def test_it_is_not_said_far_above_but_what_would_do_is_there() -> None:
    """18 servers are more than a tenth above 16."""
    design, rivals = with_rivals(18)
    assert on_cliff(design) == []
    (planes,) = [rival for rival in rivals if rival.what == "planes"]
    assert planes.capex_delta_usd < 0


@pytest.mark.parametrize("servers", [17, 18, 30])
def test_every_setting_has_one_row_on_three_tiers_too(servers: int) -> None:
    """Below a cliff or not, cheaper or not."""
    design, rivals = with_rivals(servers)
    assert len(design.fabrics[0].tiers) == 3
    told = [rival.what for rival in rivals if rival.what in ("rails", "striping", "planes", "oversubscription")]
    assert sorted(told) == ["oversubscription", "planes", "rails", "striping"]


@pytest.mark.parametrize(("protocol", "is_cliff"), [("ethernet", True), ("infiniband", False)])
def test_of_a_cliff_of_cost_is_said_what_a_ratio_a_little_higher_saves(protocol: str, is_cliff: bool) -> None:
    """8,256 GPUs: two tiers of Ethernet can join them, but only on dear switches; InfiniBand needs three all the same.
    The rows are what a case with these settings gives.
    """
    fabric = {"name": "compute", "protocol": protocol, "min_gbps_per_gpu": 400, "max_oversubscription": 1}
    content: Json = {"name": "tall", "server": "nvidia-dgx-h100", "gpus": 8256, "fabrics": [fabric]}
    rows, clock = {}, Clock(None)

    def compared(rival: Alternative) -> None:
        """Keep a row; those below a cliff come first, and after them nothing more is looked for."""
        rows[rival.what] = rival
        if rows.keys() >= {"oversubscription", "family"}:
            clock.stop()

    design = optimize.solve(inputs_from_objects(content), alternatives_s=30, compared=compared, clock=clock)
    assert_proven(design)
    for what, setting in (("oversubscription", {"max_oversubscription": 1.05}),
                          ("family", {"topologies": ["rail-only"]})):  # fmt: skip
        other = optimize.solve(inputs_from_objects(content | {"fabrics": [fabric | setting]}), alternatives_s=0)
        assert other.totals is not None and rows[what].capex_usd == other.totals.capex_usd
        assert rows[what].capex_delta_usd < 0
    ratio = rows["oversubscription"]
    assert (-ratio.capex_delta_usd >= 0.1 * (ratio.capex_usd - ratio.capex_delta_usd)) == is_cliff
    said = f"${ratio.capex_usd:,.0f} with oversubscription 1.05:1"
    assert [said in note for note in on_cliff(design)] == [True] * is_cliff


def test_it_is_not_said_where_nobody_asks_what_else_there_is() -> None:
    content = case({**SMALL}, servers=17, site=SHORT)
    assert on_cliff(optimize.solve(inputs(content, parts(200)), alternatives_s=0)) == []


def test_rows_are_told_as_they_are_found() -> None:
    design, rivals = with_rivals(17)
    assert tuple(rivals) == design.alternatives
    (planes,) = [rival for rival in rivals if rival.what == "planes"]
    assert alternative_line(planes) == f"  planes: any: ${planes.capex_usd:,} (-${-planes.capex_delta_usd:,})"
