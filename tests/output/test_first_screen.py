"""The first screen: what a reader who knows networks, and not fabopt, is told of a design, in 25 lines.

``python -m tests.output.test_first_screen`` writes the goldens again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.console import Console, RenderableType

from fabopt.output.terminal.first_screen import LEFT_OUT, LOST, OFF, compared_rows, first_rows, grid
from fabopt.output.terminal.worst_loss import loss_lines
from fabopt.output.words import dollar_shares, dollars
from fabopt.parts.names import product_name
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize
from tests.paths import ROOT
from tests.samples import designs_of_families, designs_of_sections, small
from tests.samples.shipped import shipped

GOLDENS = Path(__file__).parent / "goldens"
WIDTHS = (80, 100, 140)
WIDE = 10_000
MOST_LINES, MOST_COMPARED = 25, 6
SHIPPED = sorted(path.stem for path in (ROOT / "cases").glob("*.yaml"))
# A design as others are compared with it.
ROWS = (
    Alternative(
        what="rails", value="any", summary="7 x a + 2 x b, ethernet; same-rail pairs on one leaf 13.7 % (here 20.1 %), "
        "without a leaf 4 servers cut off (here degraded to 350 of 400 Gb/s a GPU)",
        objective=90, objective_delta=-166_000, capex_delta_usd=-166_000, power_delta_w=-2160,
    ),
    Alternative(
        what="tested-nics", value="none", summary="30 x c", objective=80, objective_delta=-446_800,
        capex_delta_usd=-446_800, power_delta_w=1760,
    ),
    Alternative(what="planes", value="any", summary="nothing cheaper", objective=100, objective_delta=0),
    Alternative(
        what="default rules", value="all kept", summary="4 x a", objective=109, objective_delta=9000,
        capex_delta_usd=9000, power_delta_w=0,
    ),
    Alternative(what="tiers", value="3", summary="not finished", finished=False),
)  # fmt: skip


def budget_just_met() -> Design:
    """A design that costs its budget to the dollar."""
    least = small.solved(small.case()).totals
    assert least is not None
    return small.solved(small.case(limits={"budget_usd": least.capex_usd, "power_w": 10_000}))


GOLDEN: dict[str, Callable[[], Design]] = {
    "leaf-spine": lambda: shipped("finetuning-1024-gpus"),
    "three tiers": lambda: shipped("llama3-405b-8192-gpus"),
    "small three tiers": lambda: shipped("floor-three-tier-256"),
    "four fabrics": lambda: shipped("four-fabrics-1024-gpus"),
    "torus": lambda: shipped("torus-216-gpus"),
    "dragonfly": lambda: designs_of_families.designed("dragonfly"),
    "growth": lambda: shipped("h100-growth-128"),
    "rail-only": lambda: shipped("rail-only-1024-gpus"),
    "a rule left out": lambda: designs_of_sections.designed("a rule left out"),
    "floor": lambda: shipped("hall-1024-gpus"),
    "planes": lambda: shipped("b300-four-planes-1024"),
    "budget just met": budget_just_met,
}


def shown(*parts: object, width: int = 100) -> list[str]:
    """The lines that are printed."""
    page = io.StringIO()
    console = Console(width=width, file=page, markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in page.getvalue().splitlines()]


def first_part(design: Design) -> RenderableType:
    return grid(first_rows(design))


def golden_of(kind: str) -> Path:
    return GOLDENS / f"first-screen-{kind.replace(' ', '-')}.txt"


@pytest.mark.long("four fabrics", "planes")
@pytest.mark.long("three tiers")
@pytest.mark.parametrize("kind", GOLDEN)
def test_golden(kind: str) -> None:
    assert "\n".join(shown(first_part(GOLDEN[kind]()))) + "\n" == golden_of(kind).read_text()


def assert_fits(design: Design) -> None:
    """Nothing is cut, nor wrapped inside a word, at any width; and the screen is short."""
    wide = " ".join(" ".join(shown(first_part(design), width=WIDE)).split())
    for width in WIDTHS:
        lines = shown(first_part(design), width=width)
        assert " ".join(" ".join(lines).split()) == wide
        assert max(map(len, lines)) <= width
    assert len(shown(first_part(design))) <= MOST_LINES - (MOST_COMPARED if len(design.fabrics) < 4 else 4)


def assert_words_of_the_trade(design: Design) -> None:
    """Names in place of ids, no cents of much money, and no words of our own."""
    text = " ".join(" ".join(shown(first_part(design))).split())
    assert not re.search(r"\$\d{2,3},[\d,]*\.\d", text)
    assert not re.search(r"without \d|made by a rule|places kept", text)
    for id_, part in design.parts.items():
        if product_name(part, id_) != id_:
            assert not re.search(rf"(?<![\w-]){re.escape(id_)}(?![\w-])", text)
    for fabric in design.fabrics:
        for tier in fabric.tiers:
            assert f"{tier.count:,} " in text
    if len(design.stages) > 1:
        assert all(f"{stage.name} (month {stage.month}" in text for stage in design.stages[:6])
        assert ("prices fall" in text) == bool((design.case.content.get("finance") or {}).get("price_decline"))
    rows = first_rows(design)
    labels = [row.label for row in rows if row.label]
    assert len(set(labels)) == len(labels)
    assert_reasons(design, {row.label: row.words for row in rows if row.label}, text)


def assert_reasons(design: Design, rows: dict[str, str], text: str) -> None:
    """What the numbers do not say by themselves stands beside them: slots that hold NICs back, planes that are dealt to
    evenly, what stands in a rack; and the worst loss comes first.
    """
    gpus = design.stages[-1].gpus // design.stages[-1].servers
    for fabric in design.fabrics:
        nic, metrics = fabric.nic, fabric.metrics
        ports_gbps = nic.per_server * nic.ports_per_nic * nic.gbps
        if fabric.role == "compute" and len(design.fabrics) <= 4 and metrics.injection_gbps_per_gpu * gpus < ports_gbps:
            assert "held to" in text
        if fabric.structure.kind == "server-torus":
            assert not re.search("switch type(?! or none)", rows["Proof"]) and "beside it lose" in text
    lines = loss_lines(design, 4)
    assert [line.words for line in lines[:1]] == [rows[label] for label in ("Worst loss",) if label in rows]
    told = [(-line.servers, line.left) for line in lines]
    assert told == sorted(told)
    assert all("(" in line.words.partition(":")[0] for line in lines if line.words.startswith("rack "))
    assert not re.search(r"\b(pdus|appliances|rack-devices)\b", text)
    for fabric in design.fabrics:
        switches = [row for row in fabric.failures if row.failed not in ("plane", "cable") and row.count == 1]
        least = min((row.gbps_per_gpu for row in switches), default=0)
        if any(row.made_up_gbps_per_gpu for row in switches if row.gbps_per_gpu == least) and len(lines) > 1:
            assert "evenly over planes" in text


@pytest.mark.long(but=("floor-two-tier-128", "four-fabrics-1024-gpus", "nvl72-rack", "two-tier-example"))
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_cases_fit(name: str) -> None:
    assert_fits(shipped(name))
    assert_words_of_the_trade(shipped(name))


@pytest.mark.parametrize("kind", designs_of_families.MAKERS)
def test_families_fit(kind: str) -> None:
    assert_fits(designs_of_families.designed(kind))
    assert_words_of_the_trade(designs_of_families.designed(kind))


@pytest.mark.long("racks of spares", "what else")
@pytest.mark.long("jobs that train", "served")
@pytest.mark.parametrize("kind", [kind for kind in designs_of_sections.MAKERS if kind != "at work"])
def test_sections_fit(kind: str) -> None:
    assert_fits(designs_of_sections.designed(kind))
    assert_words_of_the_trade(designs_of_sections.designed(kind))


def test_many_fabrics_and_stages_fit() -> None:
    """More than there is room for are shorter, or counted."""
    design = shipped("four-fabrics-1024-gpus")
    twice = [fabric.model_copy(update={"name": f"{fabric.name}-{copy}"}) for copy in "ab" for fabric in design.fabrics]
    lines = shown(first_part(design.model_copy(update={"fabrics": tuple(twice)})))
    assert len(lines) <= MOST_LINES - 4 and sum("-b: " in line for line in lines) >= len(design.fabrics)
    grown = shipped("h100-growth-128")
    stages = grown.stages * 3
    lines = shown(first_part(grown.model_copy(update={"stages": stages})), width=WIDE)
    rest = sum(stage.capex_usd for stage in stages[6:])
    assert any(line.endswith(f"6 later stages ${rest:,.0f}") for line in lines)


def test_shown_amounts_add_up_as_shown() -> None:
    """Stages and kinds to the cost of all, to the dollar; kinds of cables to all cables; shares of prices to 100 %."""
    for name in ("h100-growth-128", "four-fabrics-1024-gpus", "finetuning-1024-gpus", "hall-1024-gpus"):
        rows = {row.label: row.words for row in first_rows(shipped(name)) if row.label}
        whole, *shares = amounts(rows["Cost"].replace(" a GPU", "").replace("; ", ", "))
        assert sum(shares[1:]) == whole
        assert sum(amounts(rows.get("By stage", f"${whole}"))) == whole
        cables = re.search(r"([\d,]+) cables \((.*)\)", rows["Parts"])
        if cables is not None:
            assert sum(map(number, re.findall(r"[\d,]*\d", cables[2]))) == number(cables[1])
        assert sum(map(int, re.findall(r"(\d+) %", rows["Prices"]))) == 100


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=8))
def test_shares_add_up_to_what_is_shown_of_their_sum(cents: list[int]) -> None:
    shares = dollar_shares(cents)
    assert sum(map(Decimal, (share[1:].replace(",", "") for share in shares))) == Decimal(
        dollars(sum(cents) / 100)[1:].replace(",", "")
    )
    assert all(
        abs(Decimal(share[1:].replace(",", "")) - Decimal(amount) / 100) < 1
        for share, amount in zip(shares, cents, strict=True)
    )


def amounts(text: str) -> list[int]:
    return [number(found) for found in re.findall(r"\$([\d,]*\d)", text)]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_colours() -> None:
    """Amber for what is left out, red for what is cut off, grey for what the case turns off."""
    design = designs_of_sections.designed("a rule left out")
    assert styles(design) == {LEFT_OUT, OFF}
    assert LOST in styles(shipped("four-fabrics-1024-gpus"))
    assert not styles(shipped("dgx-superpod-32"))


def styles(design: Design) -> set[str]:
    return {row.style for row in first_rows(design)} - {""}


def test_what_saves_most_comes_first_with_what_it_loses() -> None:
    design = shipped("dgx-superpod-32")
    note = (
        "prices: the bill is 60 % list prices; with estimated and derived prices 30 % higher another design would be "
        "the cheapest, by $1,200: 2 leaves + 1 spine of B, 8 x 400G a server, ethernet"
    )
    content = {**design.case.content, "rules": {"one-port": False, "slot-speed": False}}
    case = design.case.model_copy(update={"content": content})
    compared = design.model_copy(update={"alternatives": ROWS, "notes": (note,), "case": case})
    assert shown(grid(compared_rows(compared))) == [
        "Instead     without rule tested-nics: saves $446,800 (+1.76 kW); lost: NICs that the server is sold",
        "            or tested with",
        "            rails: any: saves $166,000 (-2.16 kW); lost: aligned rails (one switch between 13.7 % of",
        "            server pairs, not 20.1 %; without a leaf 4 servers cut off)",
        "Flips       with estimated and derived prices 30 % higher: 2 leaves + 1 spine of B, 8 x 400G a",
        "            server, ethernet would be the cheapest, by $1,200",
        "If kept     rules one-port and slot-speed together: costs $9,000 more",
    ]
    assert compared_rows(design) == []


def test_what_asks_less_stands_apart_from_other_designs() -> None:
    """And says in place of what; a switch that is not used is named with the one that is used then."""
    design = shipped("dgx-superpod-32")
    used = design.fabrics[0].tiers[0].id
    leaf = Alternative(
        what="leaf switch", value=f"not {used}", summary="4 x b", in_names="4 leaves + 2 spines of B",
        objective=95, objective_delta=-300_000, capex_delta_usd=-300_000, power_delta_w=0,
    )  # fmt: skip
    ratio = leaf.model_copy(update={"what": "oversubscription", "value": "1.5:1", "objective_delta": -400_000})
    compared = design.model_copy(update={"alternatives": (ratio, leaf)})
    told = [(row.label, row.words) for row in compared_rows(compared)]
    assert told == [
        ("Instead", f"4 leaves + 2 spines of B, not {product_name(design.parts[used], used)}: saves $300,000"),
        ("Ask less", "1.5:1 oversubscription in place of 1:1: saves $300,000"),
    ]


def test_what_built_in_nics_could_give_is_said() -> None:
    """Where less is asked of them, by the note that the answer has on it."""
    design = shipped("dgx-superpod-32")
    note = f"compute: {design.fabrics[0].nic.id}, built in, could give 800 Gb/s per GPU; 400 are as many as asked for"
    rows = first_rows(design.model_copy(update={"notes": (note,)}))
    words = next(row.words for row in rows if row.label == "Network")
    assert "400G to every GPU (8 x 400G a server), of 800G that its NICs could give (`min_gbps_per_gpu`), " in words


def test_a_design_that_two_rows_have_is_shown_once_with_what_it_loses() -> None:
    """Rails as planes lose what rail-only loses."""
    design = shipped("dgx-superpod-32")
    planes = Alternative(
        what="planes", value="any", summary="4 x a", in_names="4 switches of B, in planes that are rails",
        objective=95, objective_delta=-300_000, capex_usd=95, capex_delta_usd=-300_000, power_w=9, power_delta_w=0,
    )  # fmt: skip
    rails = planes.model_copy(update={"what": "topologies", "value": "rail-only"})
    lost = "saves $300,000; lost: paths between rails outside the servers"
    for rows, words in (((rails, planes), "rail-only"), ((planes,), f"planes: any ({planes.in_names})")):
        assert [row.words for row in compared_rows(design.model_copy(update={"alternatives": rows}))] == [
            f"{words}: {lost}"
        ]


def test_another_design_of_several_fabrics_is_named() -> None:
    """By the switches that are others, or where there are too many of these by the fabrics."""
    design = shipped("four-fabrics-1024-gpus")
    for switches, says in (
        (1, "storage: 2 leaves of B; in-band: 2 leaves of B"),
        (40, "another design of storage and in-band"),
    ):
        rival = "; ".join(f"{name}: {' + '.join(['2 leaves of B'] * switches)}" for name in ("storage", "in-band"))
        lead = "with estimated and derived prices 30 % lower"
        note = f"prices: the bill is 60 % list prices; {lead} another design would be cheaper, by $9: {rival}"
        (row,) = compared_rows(design.model_copy(update={"notes": (note,), "alternatives": ()}))
        assert row.words == f"{lead}: {says} would be cheaper, by $9"


def test_answer_comes_before_what_compares() -> None:
    told: list[object] = []
    design = optimize.solve(small.inputs(small.case()), reached=told.append, compared=told.append)
    first, *others = told
    assert isinstance(first, Design) and all(isinstance(row, Alternative) for row in others)
    assert others and first.checks and not first.alternatives
    assert shown(first_part(first)) == shown(first_part(design))


if __name__ == "__main__":
    for kind, make in GOLDEN.items():
        golden_of(kind).write_text("\n".join(shown(first_part(make()))) + "\n")
