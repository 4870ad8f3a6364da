"""How few lengths a site orders: the least over all sets of lengths, against each set solved alone."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.solution.question import Answers, Question
from fabopt.study.sweep.sweep import Execution, grid_of, sweep
from fabopt.verify import verify
from tests.samples.small import Json, assert_proven, bought, case, catalog, inputs, solved, usd, value_of

Settled = tuple[Question, Answers]
RUNS = {"server-leaf": 1, "leaf-spine": 9}


def _lengths(design: Design) -> set[tuple[str, float]]:
    return {(row.id, row.length_m) for row in design.bom if row.length_m is not None}


def _small(**changes: object) -> Json:
    return case(servers=4, site={"distances_m": RUNS}, **changes)


def _sold(parts: Json) -> list[tuple[str, float]]:
    return [
        (one["id"], length["m"]) for kind in ("cables", "fibres") for one in parts[kind] for length in one["lengths"]
    ]


def _kept(parts: Json, kept: set[tuple[str, float]]) -> Json:
    """The catalog with some lengths alone."""
    changed = {**parts}
    for kind in ("cables", "fibres"):
        own = [
            {**one, "lengths": [length for length in one["lengths"] if (one["id"], length["m"]) in kept]}
            for one in parts[kind]
        ]
        changed[kind] = [one for one in own if one["lengths"]]
    return changed


def _sets(parts: Json, limits: Json) -> list[set[tuple[str, float]]]:
    """Every set of lengths that the limits allow."""
    sold = _sold(parts)
    subsets = (set(kept) for number in range(1, len(sold) + 1) for kept in combinations(sold, number))
    return [kept for kept in subsets if _keeps(kept, limits)]


def _keeps(kept: set[tuple[str, float]], limits: Json) -> bool:
    most = max(sum(id_ == own for own, _ in kept) for id_, _ in kept)
    return len({m for _, m in kept}) <= limits.get("site", 99) and most <= limits.get("product", 99)


def _random(seed: int) -> tuple[Json, Json, Json]:
    """A case, a catalog with few lengths at any prices, and limits."""
    dice, parts = random.Random(seed), catalog()

    def price() -> int | list[Json]:
        if dice.random() < 0.2:
            return [{"from": 1, "usd": 300}, {"from": dice.choice([4, 9]), "usd": dice.choice([40, 120])}]
        return dice.choice([20, 50, 90, 200, 450])

    parts["cables"] = [parts["cables"][0]]
    metres = {"cables": dice.sample([1, 2, 3, 5], 2), "fibres": dice.sample([2, 5, 10, 20, 50], 3)}
    for kind, lengths in metres.items():
        parts[kind][0]["lengths"] = [{"m": m, "price_usd": price()} for m in sorted(lengths)]
    runs = {"server-leaf": dice.choice([1, 2, 3]), "leaf-spine": dice.choice([4, 9, 18])}
    limits = dice.choice([{"site": 1}, {"site": 2}, {"site": 3}, {"product": 1}, {"site": 2, "product": 1}])
    content = case(servers=dice.choice([3, 4, 6]), site={"distances_m": runs})
    if dice.random() < 0.3:
        content["procurement"] = {"spares": {"cable": {"fraction": 0.1}, "fibre": {"minimum": 2}}}
    return content, parts, limits


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(8))
def test_the_best_set_of_lengths_is_found(seed: int) -> None:
    content, parts, limits = _random(seed)
    said = limits["site"] if set(limits) == {"site"} and seed % 2 else limits
    design = solved({**content, "max_lengths": said}, parts)
    alone = [solved(content, _kept(parts, kept)) for kept in _sets(parts, limits)]
    values = [value_of(one) for one in alone if one.status == "optimal"]
    free = solved(content, parts)
    if free.status == "optimal" and _keeps(_lengths(free), limits):
        # nothing has to be left out
        values = [value_of(free)]
    if not values:
        assert design.status == "infeasible"
        return
    assert_proven(design)
    assert value_of(design) == min(values)
    assert _keeps(_lengths(design), limits)


def test_more_lengths_are_never_dearer_and_enough_change_nothing() -> None:
    designs = [solved(_small(max_lengths=most)) for most in (1, 2, 3, 9)]
    costs = [usd(design) for design in designs]
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]
    free = solved(_small())
    assert [row.model_dump() for row in free.bom] == [row.model_dump() for row in designs[-1].bom]
    assert free.fabrics == designs[-1].fabrics


def test_one_length_by_hand() -> None:
    """DACs of 1 m and fibres of 10 m: of one length all are fibres of 10 m, with a module at each end."""
    two, one = solved(_small()), solved(_small(max_lengths=1))
    assert {m for _, m in _lengths(two)} == {1, 10} and {m for _, m in _lengths(one)} == {10}
    links = sum(row.count for row in one.fabrics[0].links)
    assert bought(one)["mpo"] == links and "dac" not in bought(one)
    (note,) = [note for note in one.notes if note.startswith("`max_lengths`")]
    assert note == (
        "`max_lengths`: cables and fibres come in 1 length (10 m), not in 2; capex_usd is "
        f"{usd(one) - usd(two):,.12g} more for it"
    )


def test_too_few_lengths_say_how_many_would_do() -> None:
    parts = catalog()
    parts["transceivers"], parts["fibres"] = [], []
    design = solved(_small(max_lengths=1), parts)
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert (conflict.limit, conflict.value, conflict.needed, conflict.direction) == ("max_lengths", 1, 2, "up")
    assert solved(_small(max_lengths=2), parts).status == "optimal"


def test_a_file_with_more_lengths_than_it_may_have_is_refused() -> None:
    design = solved(_small(max_lengths=2))
    content = {**design.case.content, "max_lengths": 1}
    record = design.case.model_copy(update={"content": content})
    failed = {check.name for check in verify(design.model_copy(update={"case": record})) if not check.ok}
    assert "lengths_are_few" in failed
    names = {check.name for check in solved(_small()).checks}
    assert "lengths_are_few" not in names


@pytest.mark.parametrize("said", [0, -1, {"site": 0}, {"product": 1.5}, {"metres": 3}])
def test_no_length_at_all_is_refused(said: object) -> None:
    with pytest.raises(InputError, match="max_lengths"):
        inputs_from_objects({**_small(), "max_lengths": said}, catalog())


def test_what_is_no_single_sum_is_refused() -> None:
    with pytest.raises(InputError, match="`max_lengths` and `objective: usd_per_effective_gpu`"):
        inputs_from_objects({**_small(max_lengths=2), "objective": "usd_per_effective_gpu"}, catalog())
    with pytest.raises(InputError, match="lengths of cables are limited"):
        formulation_text(inputs_from_objects(_small(max_lengths=2), catalog()), "lp")


def test_spares_without_optics_are_told() -> None:
    hint = "`procurement.spares` has no `transceiver`"
    told = [note for note in solved(_small(procurement={"spares": {"switch": {"minimum": 1}}})).notes if hint in note]
    assert len(told) == 1 and "fraction: 0.02" in told[0]
    both = {"spares": {"switch": {"minimum": 1}, "transceiver": {"fraction": 0.02}}}
    assert not any(hint in note for content in ({}, both) for note in solved(_small(procurement=content)).notes)


def _stopped_after(steps: int, content: Json, parts: Json) -> Design:
    """The design of a case where the clock is over once so many sets of lengths were settled."""
    inner, clock, left = optimize._settled_with_room, Clock(None), [steps]

    def settled(question: Question) -> Settled:
        found = inner(question)
        left[0] -= 1
        if left[0] == 0:
            clock.stop()
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(optimize, "_settled_with_room", settled)
        return optimize.solve(inputs_from_objects(content, parts), alternatives_s=0, clock=clock)


def test_stopped_where_fewer_lengths_may_cost_less_nothing_is_bounded() -> None:
    """With spares of each length the answer in all lengths is no bound: fewer lengths need fewer spares."""
    content = _small(max_lengths=1, procurement={"spares": {"cable": {"minimum": 3}, "fibre": {"minimum": 3}}})
    designs = [_stopped_after(steps, content, catalog()) for steps in range(2, 6)]
    assert {design.status for design in designs} <= {"feasible", "unknown"}
    assert {design.objective.bound for design in designs if design.status == "feasible"} == {None}


def test_stopped_while_the_limit_that_would_do_is_sought_the_answer_says_one() -> None:
    content = _small(max_lengths=1, procurement={"spares": {"cable": {"minimum": 3}}})
    designs = [_stopped_after(steps, content, {**catalog(), "transceivers": [], "fibres": []}) for steps in range(1, 6)]
    assert {design.status for design in designs} <= {"infeasible", "unknown"}
    assert {conflict.needed for design in designs for conflict in design.conflicts} == {2}


@pytest.mark.long
def test_a_sweep_has_at_every_point_what_the_case_alone_gives() -> None:
    """Few lengths and full trays are chosen point by point; a point that is not proven says so; budgets are refused."""
    content = {**_small(), "max_lengths": {"site": 1}}
    read = inputs(content)
    grid = grid_of(read, None, ["max_lengths.site=1:2:2", "servers=4:6:2"])
    swept = sweep(read, grid, Execution(), None, Settings(), Clock(None), lambda *new: None)
    assert swept.complete
    assert [point.over for point in swept.points] == [
        {"max_lengths.site": most, "servers": servers} for most in (1, 2) for servers in (4, 6)
    ]
    for point in swept.points:
        most, servers = point.over["max_lengths.site"], point.over["servers"]
        alone = solved({**content, "max_lengths": {"site": most}, "servers": servers})
        assert point.status == alone.status
        assert (point.totals and point.totals.capex_usd) == (alone.totals and alone.totals.capex_usd)
    with pytest.raises(InputError, match="max_lengths: sweeps of budgets are not worked out"):
        grid_of(read, "100000:200000:3", [])
