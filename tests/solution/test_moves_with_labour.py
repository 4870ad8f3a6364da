"""Labour where what is in service may move: on what is new to a fabric and on cables that move, in the optimum."""

from __future__ import annotations

import json
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fabopt.output.labour import work_rows
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.labour import VISIT
from fabopt.search.choice import search_of
from fabopt.verify import verify
from tests.oracles.brute_labour import folded, unit_usd
from tests.parts.test_labour import LABOUR, lines, some_labour
from tests.samples.bases import designed
from tests.samples.growth_samples import eight
from tests.samples.moves import dearer_moves, given, moved, usd
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import a_base, in_stages
from tests.solution.test_labour_in_service import with_labour
from tests.solution.test_moves import bases, least_with_moves, of_two, parts_of_two, prices
from tests.solution.test_moves_in_stages import in_two, least_in_stages

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def test_what_stays_owes_none_and_what_moves_its_own(tmp_path: Path) -> None:
    """Eight servers that become twelve, as without labour: a leaf, a spine, four cards, four cables and four of
    20 USD are new, and four uplinks move.
    """
    base = designed(eight(), in_stages(8))
    plain = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    design = moved(eight(), with_labour(in_stages(12)), base, tmp_path, {"cable": 10})
    new = {"switch": 2, "nic": 4, "cable": 8, "moved": 4}
    owed = sum((units * unit_usd(LABOUR, kind, 2 if kind == "cable" else 1) for kind, units in new.items()), Decimal(0))
    owed += 4 * unit_usd(LABOUR, "server") + 450
    assert sum(lines(design).values()) == pytest.approx(float(owed))
    assert usd(design) == pytest.approx(usd(plain) + float(owed))
    assert {row.kind for row in work_rows(design)} == {*new, "server", VISIT}


def test_with_nothing_new_nobody_comes(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), with_labour(in_stages(8)), base, tmp_path, {"cable": 1, "device": 1})
    assert usd(design) == 0 and lines(design) == {}


def test_labour_that_is_left_out_is_noticed(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = moved(eight(), with_labour(in_stages(12)), base, tmp_path, {"cable": 10})
    wrong = design.model_copy(update={"bom": tuple(row for row in design.bom if row.id != "labour-moved")})
    assert "labour_is_counted" in {check.name for check in verify(wrong) if not check.ok}


def test_rows_of_the_program_count_what_a_fabric_uses_beyond_what_it_has(tmp_path: Path) -> None:
    """Two leaves, a spine, eight cards and sixteen cables are there; each part has a row, and visits one for it."""
    base = designed(eight(), in_stages(8))
    inputs = given(eight(), with_labour(in_stages(8)), base, tmp_path, {"cable": 10, "device": 10})
    problem = problem_of(inputs.case, inputs.catalog)
    there = {(item.id, item.length_m): units for (_, item), units in problem.labour.in_service.items()}
    assert there == {("eight", None): 3, ("card", None): 8, ("cable", 3): 8, ("cable", 30): 8}
    program = search_of(problem, Settings(), Clock(None)).run(ties=False).program
    assert program is not None
    rows = Counter(name.rstrip("0123456789_").removesuffix("_beyond") for name in program.lp.constraints)
    assert rows["labour_is_on_what_is_new"] == len(program.installed.beyond) == 4
    assert rows["visits_are_paid"] >= 4


def test_what_another_fabric_alone_has_in_service_is_new(tmp_path: Path) -> None:
    """Eight servers that become twelve: those for computing have uplinks of 30 m, and those of storage had one leaf.

    New are, for computing, a leaf, a spine, four cards, four cables of 3 m and four of 30 m; of storage, which comes to
    have three leaves and two spines, four of these, four cards, four cables of 3 m and twelve of 30 m. Four cables of
    either move.
    """
    parts, before, after = (parts_of_two(eight()), *(of_two(in_stages(size), tiers=[1, 2]) for size in (8, 12)))
    base, move = designed(parts, before), {"cable": 10, "device": 10}
    assert [[tier.count for tier in fabric.tiers] for fabric in base.fabrics] == [[2, 1], [1]]
    design = moved(parts, with_labour(after), base, tmp_path, move)
    new = {"compute": {"switch": 2, "nic": 4, "cable": 8, "moved": 4},
           "storage": {"switch": 4, "nic": 4, "cable": 16, "moved": 4}}  # fmt: skip
    owed = {
        ("stage-1", name, f"labour-{kind}"): float(units * unit_usd(LABOUR, kind, 2 if kind == "cable" else 1))
        for name, of_fabric in new.items()
        for kind, units in of_fabric.items()
    }
    owed |= {("stage-1", "", "labour-server"): float(4 * unit_usd(LABOUR, "server")), ("stage-1", "", VISIT): 450}
    assert lines(design) == pytest.approx(owed)
    assert usd(design) == pytest.approx(usd(moved(parts, after, base, tmp_path, move)) + sum(owed.values()))


def owed_usd(design: Design, base: Design, labour: Json) -> float:
    """US dollars of all labour on what each fabric uses beyond what it had, on moved cables, servers and a visit."""
    used, there = (
        Counter({
            (row.fabric, row.id, row.length_m, row.kind): row.in_use
            for row in one.bom if row.kind not in ("other", "server")
        })
        for one in (design, base)
    )  # fmt: skip
    units = {key: count for key, count in (used - there).items() if count}
    owed = sum((count * unit_usd(labour, kind, 2 if kind == "cable" else 1) for (*_, kind), count in units.items()), 0)
    gone = sum(row.in_use for row in design.bom if row.id == "moved-cable")
    moves = sum(row.in_use for row in design.bom if row.id in ("moved-cable", "moved-device"))
    servers = design.stages[-1].servers - base.stages[-1].servers
    visit = labour["visit_usd"] if servers or units or moves else 0
    return float(owed + gone * unit_usd(labour, "moved") + servers * unit_usd(labour, "server")) + visit


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", range(24 * MORE_SEEDS))
def test_of_two_fabrics_each_pays_for_what_is_new_to_it(seed: int, tmp_path: Path) -> None:
    """The bill has it, counted by hand, and no design that is cheaper without labour is cheaper with it."""
    dice = Dice(f"moves-of-two-with-labour-{seed}")
    parts, before, after = a_base(dice)
    other = {"tiers": dice.one([[1, 2], 2]), "max_oversubscription": dice.one([1, 1.5, 2, 3])}
    parts, labour, move = parts_of_two(parts), labour_of(dice), {"cable": dice.one([0, 40]), "device": 100}
    base = designed(parts, of_two(before, **other))
    if base.status != "optimal":
        return
    plain = moved(parts, of_two(after, **other), base, tmp_path, move)
    if plain.status == "infeasible":
        return
    design = moved(parts, with_labour(of_two(after, **other), labour), base, tmp_path, move)
    of_labour = owed_usd(design, base, labour)
    assert sum(lines(design).values()) == pytest.approx(of_labour)
    assert usd(plain) <= usd(design) - of_labour + 0.005
    assert usd(design) <= usd(plain) + owed_usd(plain, base, labour) + 0.005


def labour_of(dice: Dice) -> Json:
    """Labour on moved cables too, and on what is pulled, racked and plugged."""
    labour = some_labour(dice.random)
    labour["minutes"].setdefault("pull", {"cable": 2, "fibre": 3})["moved"] = dice.one([1, 15])
    return labour | {"visit_usd": dice.one([0, 300])}


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", range(24 * MORE_SEEDS))
def test_no_design_with_moves_and_labour_is_cheaper(seed: int, tmp_path: Path) -> None:
    """Brute force whose parts beyond those in service cost their labour too, and moved cables theirs."""
    dice = Dice(f"moves-with-labour-{seed}")
    parts, before, after = a_base(dice)
    base, labour, move = designed(parts, before), labour_of(dice), prices(dice)
    if base.status != "optimal":
        return
    with_work = {**move, "cable": move["cable"] + float(unit_usd(labour, "moved"))} if "cable" in move else move
    least = least_with_moves(json.loads(json.dumps(folded(parts, labour), default=float)), after, base, with_work)
    design = moved(parts, with_labour(after, labour), base, tmp_path, move)
    if least is None:
        assert design.status == "infeasible"
        return
    added = after["stages"][-1]["servers"] - before["stages"][-1]["servers"]
    visit = labour["visit_usd"] if added or least else 0
    assert usd(design) == pytest.approx(least + visit + added * float(unit_usd(labour, "server")), abs=0.005)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(12))
def test_dearer_moves_never_lower_the_cost_with_labour(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"dearer-moves-with-labour-{seed}")
    parts, before, after = a_base(dice)
    base, after = designed(parts, before), with_labour(after, labour_of(dice))
    for _ in dearer_moves(parts, after, base, tmp_path, (0, 3, 100)):
        pass


def test_of_several_stages_each_pays_for_what_it_installs(tmp_path: Path) -> None:
    """A spine and four moves at first, for which somebody comes; then a leaf, four cards and eight cables."""
    base = designed(eight(), in_stages(8))
    plain, design = (
        moved(eight(), content, base, tmp_path, {"cable": 10})
        for content in (in_stages(8, 12), with_labour(in_stages(8, 12)))
    )
    at_first = unit_usd(LABOUR, "switch") + 4 * unit_usd(LABOUR, "moved") + 450
    then = sum((units * unit_usd(LABOUR, kind) for kind, units in {"switch": 1, "nic": 4, "server": 4}.items()), 0)
    then += 8 * unit_usd(LABOUR, "cable", 2) + 450
    owed = [with_.capex_usd - bare.capex_usd for with_, bare in zip(design.stages, plain.stages, strict=True)]
    assert owed == [pytest.approx(float(at_first)), pytest.approx(float(then))]
    assert usd(design) == pytest.approx(usd(plain) + float(at_first + then))


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(40 * MORE_SEEDS))
def test_no_plan_with_moves_and_labour_is_cheaper(seed: int, tmp_path: Path) -> None:
    """Labour costs no less than on what the last stage has beyond what is in service; as much where the first stage
    uses all of that, else parts that a later one takes up again are worked on too.
    """
    dice = Dice(f"moves-in-stages-with-labour-{seed}")
    parts, before, after = in_two(dice)
    base, labour, move = designed(parts, before), labour_of(dice) | {"visit_usd": 0}, prices(dice)
    if base.status != "optimal":
        return
    with_work = {**move, "cable": move["cable"] + float(unit_usd(labour, "moved"))} if "cable" in move else move
    least = least_in_stages(json.loads(json.dumps(folded(parts, labour), default=float)), after, base, with_work)
    design = moved(parts, with_labour(after, labour), base, tmp_path, move)
    if least is None:
        assert design.status == "infeasible"
        return
    added = after["stages"][-1]["servers"] - before["stages"][-1]["servers"]
    work = usd(design) - least - added * float(unit_usd(labour, "server"))
    taken = sum(row.from_stock for row in design.bom if row.stage != design.stages[0].name)
    assert work > -0.005 and (taken > 0 or work < 0.005)
