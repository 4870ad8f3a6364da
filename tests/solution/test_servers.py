"""Cases that list several servers: the answer is the best of the cases of single servers, and says so."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.keys import with_change
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.verify import verify
from tests.mutations import document_of
from tests.samples.once import once
from tests.samples.random_cases import Json
from tests.samples.server_lists import listed, single
from tests.samples.small import case, catalog

BOTH = ["gpu-8", "gpu-4"]
SEEDS = range(40)


def parts(price_usd: float = 230_000, **changes: Any) -> Json:
    """The small catalog with a server of eight GPUs in four slots beside that of four in four."""
    content = catalog()
    four = next(one for one in content["servers"] if one["id"] == "gpu-4")
    content["servers"].append({**copy.deepcopy(four), "id": "gpu-8", "gpus": 8, "price_usd": price_usd, **changes})
    return content


def of_both(**changes: Any) -> Json:
    return case({"min_gbps_per_gpu": 100}, server=BOTH, gpus=24, **changes)


def solved(content: Json, given: Json, alternatives_s: float = 0) -> Design:
    def work() -> Design:
        return optimize.solve(inputs_from_objects(content, given), alternatives_s=alternatives_s)

    return once(work, "servers", content, given, alternatives_s)


def value(design: Design) -> float:
    assert design.objective.value is not None
    return design.objective.value


# -- the answer -------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("5",))
@pytest.mark.parametrize("seed", [seed if seed < 12 else pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS])
def test_answer_is_best_of_single_servers(seed: int) -> None:
    """Statuses, objectives, devices and bills; of equal servers the first is taken; every check holds."""
    given, content = listed(seed)
    try:
        inputs = inputs_from_objects(content, given)
    except InputError:
        refused = [server for server in content["server"] if is_refused(single(given, content, server), given)]
        assert refused
        return
    design = optimize.solve(inputs, alternatives_s=0)
    singles = [solved(single(given, content, server), given) for server in content["server"]]
    best = min((one for one in singles if one.fabrics), key=value, default=None)
    if best is None:
        assert design.status == "infeasible"
        assert design.conflicts
        return
    assert (design.status, value(design)) == ("optimal", value(best))
    assert design.case.content["server"] == best.case.content["server"]
    assert (design.fabrics, design.bom, design.stages) == (best.fabrics, best.bom, best.stages)
    assert [check for check in design.checks if not check.ok] == []
    compared = {one.id: one for one in design.servers_compared}
    assert list(compared) == content["server"]
    for server, alone in zip(content["server"], singles, strict=True):
        entry = compared[server]
        if entry.status == "dearer":
            assert entry.bound is not None
            assert value(design) <= entry.bound <= (value(alone) if alone.fabrics else entry.bound)
        else:
            assert (entry.status, entry.objective) == (alone.status, alone.objective.value)


def is_refused(content: Json, given: Json) -> bool:
    try:
        inputs_from_objects(content, given)
    except InputError:
        return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_longer_list_is_never_dearer(seed: int) -> None:
    given, content = listed(seed)
    values = []
    for number in range(1, len(content["server"]) + 1):
        shorter = {"include_servers": True, **content, "server": content["server"][:number]}
        try:
            design = solved(shorter if number > 1 else single(given, content, content["server"][0]), given)
        except InputError:
            continue
        values.append(value(design) if design.fabrics else float("inf"))
    assert values == sorted(values, reverse=True)


def test_price_up_to_which_a_server_is_taken() -> None:
    """24 GPUs are six servers of four, or three of eight: $3,000 for three is what the networks differ by."""
    cheap = solved(of_both(), parts(150_000), 9)
    assert cheap.case.content["server"] == "gpu-8"
    other = next(row for row in cheap.alternatives if row.what == "server")
    assert (other.change["server"], other.finished) == ("gpu-4", True)
    assert other.capex_delta_usd is not None
    most = 150_000 + other.capex_delta_usd / 3
    told = next(note for note in cheap.notes if note.startswith("rests on prices of servers"))
    assert f"above ${int(most):,} for gpu-8 the whole costs less with gpu-4" in told
    assert solved(of_both(), parts(int(most))).case.content["server"] == "gpu-8"
    assert solved(of_both(), parts(int(most) + 1)).case.content["server"] == "gpu-4"


def test_of_equal_servers_the_first_of_the_list_is_taken() -> None:
    given = parts()
    given["servers"].append({**given["servers"][0], "id": "twin"})
    for order in (["gpu-4", "twin"], ["twin", "gpu-4"]):
        design = solved({**of_both(), "server": order}, given)
        assert design.case.content["server"] == order[0]
        assert design.status == "optimal"


def test_list_of_one_is_that_server() -> None:
    alone, plain = ({**of_both(), "server": server} for server in (["gpu-4"], "gpu-4"))
    assert inputs_from_objects(alone, parts()).case == inputs_from_objects(plain, parts()).case


# -- rules ------------------------------------------------------------------------------------------------------------


def test_servers_count_unless_the_case_says_no() -> None:
    cheap = parts(100_000)
    assert solved(of_both(), cheap).case.content["server"] == "gpu-8"
    networks = [of_both(include_servers=False), of_both(rules={"servers-count": False})]
    for content in networks:
        design = solved(content, cheap)
        assert not design.case.content["include_servers"]
        assert design.case.content["server"] == "gpu-4"
        assert any("by their networks alone" in note for note in design.notes)


def test_gpus_are_rounded_up_to_whole_servers() -> None:
    """27 GPUs are four servers of eight, of which five are unused; without the rule they are refused."""
    content = of_both() | {"gpus": 27}
    design = solved(content, parts(100_000))
    assert [stage.servers for stage in design.stages] == [4]
    assert [(one.id, one.servers, one.gpus) for one in design.servers_compared] == [("gpu-8", 4, 32), ("gpu-4", 7, 28)]
    assert any("4 servers of gpu-8 have 32 GPUs for 27: 5 unused" in note for note in design.notes)
    with pytest.raises(InputError, match="with gpu-8: not a whole number of servers; found 27"):
        inputs_from_objects({**content, "rules": {"whole-servers": False}}, parts())


@pytest.mark.long
def test_rows_are_what_their_keys_give() -> None:
    content, given = of_both(limits={"power_w": 60_000}), parts(150_000)
    design = solved(content, given, 9)
    inputs = inputs_from_objects(content, given)
    assert {row.what for row in design.alternatives} > {"server"}
    for row in design.alternatives:
        if row.finished:
            again = optimize.solve(with_change(inputs, row.change), alternatives_s=0)
            assert again.objective.value == row.objective, row.what


# -- without an answer ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_least_budget_is_that_of_the_cheapest_server() -> None:
    given = parts(150_000)
    least = value(solved(of_both(), given))
    design = solved(of_both(limits={"budget_usd": least - 1}), given)
    assert design.status == "infeasible"
    budgets = [conflict for conflict in design.conflicts if conflict.limit == "limits.budget_usd"]
    assert [conflict.needed for conflict in budgets] == [least]
    assert budgets[0].detail.startswith("with gpu-8:")
    assert design.nearest is not None
    assert design.nearest.capex_usd == least
    assert [one.status for one in design.servers_compared] == ["infeasible", "infeasible"]
    assert solved(of_both(limits={"budget_usd": least}), given).status == "optimal"


def test_stopped_before_all_servers_are_looked_at() -> None:
    """What was met stays, and is not called proven; no design is below what the servers of the other cost alone."""
    cancel, told = threading.Event(), list[str]()

    def hear(text: str) -> None:
        told.append(text)
        if text.startswith("gpu-4: "):
            cancel.set()

    inputs = inputs_from_objects(of_both(), parts(199_999))
    design = optimize.solve(inputs, alternatives_s=0, progress=hear, cancel=cancel)
    assert any(text.startswith("gpu-8: ") for text in told)
    assert design.status == "feasible"
    assert [one.status for one in design.servers_compared] == ["optimal", "unknown"]
    assert design.objective.bound == 600_000
    assert [check for check in design.checks if not check.ok] == []


def test_what_is_about_one_server_refuses_a_list() -> None:
    with pytest.raises(InputError, match="server: only `fabopt solve` and what solves a case compare servers"):
        formulation_text(inputs_from_objects(of_both(), parts()), "lp")


# -- the check --------------------------------------------------------------------------------------------------------


def test_every_change_of_what_was_compared_is_found() -> None:
    design = solved(of_both() | {"gpus": 27}, parts(100_000), 9)
    assert all(check.ok for check in verify(design))
    document = document_of(design)
    entries = document["servers_compared"]
    changes: list[tuple[str, Any]] = [
        *((f"{number}.{key}", entry[key] + by)
          for number, entry in enumerate(entries) for key in ("servers", "gpus") for by in (1, -1)),
        ("0.objective", entries[0]["objective"] - 1),
        ("0.status", "dearer"),
        ("1.id", "gpu-5"),
        ("1.bound", 1),
        ("1.status", "unknown"),
        ("1.status", "optimal"),
    ]  # fmt: skip
    for place, wrong in changes:
        number, key = place.split(".")
        changed = copy.deepcopy(document)
        changed["servers_compared"][int(number)][key] = wrong
        assert is_found(changed), (place, wrong)
    for entries_left in (entries[:1], entries[::-1], [], [*entries, entries[1]]):
        assert is_found({**document, "servers_compared": entries_left})
    for key, wrong in {"server": ["gpu-4"], "gpus": 33, "include_servers": False}.items():
        changed = copy.deepcopy(document)
        changed["case"]["asked"][key] = wrong
        assert is_found(changed), key


def is_found(document: Json) -> bool:
    checks = verify(Design.model_validate(document, strict=False))
    return any(check.name == "server_is_of_the_list" and not check.ok for check in checks)
