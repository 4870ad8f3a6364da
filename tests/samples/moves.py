"""Cases that go on from a design of which things move at a price, and what holds of every one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.solution import optimize
from tests.samples.bases import saved

Json = dict[str, Any]
FREE = {"cable": 0, "device": 0}


def given(
    parts: Json, content: Json, base: Design, folder: Path, move: Json | None, *keep: str, stage: str = ""
) -> Inputs:
    """A case that goes on from a design, or a stage of it, of which things move at these prices."""
    said: Json = {"file": str(saved(base, folder)) + stage}
    if move is not None:
        said["move"] = move
    if keep:
        said["keep"] = list(keep)
    return inputs_from_objects({**content, "base": said}, parts)


def moved(
    parts: Json, content: Json, base: Design, folder: Path, move: Json | None, *keep: str, stage: str = ""
) -> Design:
    """The design of such a case; one that is proven to have none is not explained."""
    inputs = given(parts, content, base, folder, move, *keep, stage=stage)
    problem = problem_of(inputs.case, inputs.catalog)
    if search_of(problem, Settings(), Clock(None)).any_design().verdict == "infeasible":
        return Design.model_construct(status="infeasible", fabrics=(), totals=None)
    return optimize.solve(inputs, alternatives_s=0)


def usd(design: Design) -> float:
    """What is paid by a design that is proven to be the cheapest, of which every rule holds."""
    assert design.totals is not None and design.status == "optimal", design.status
    assert [check for check in design.checks if not check.ok] == []
    return design.totals.capex_usd


def assert_costs(design: Design, least: float | None) -> None:
    """It costs the least of all designs, or there is none."""
    if least is None:
        assert design.status == "infeasible"
    else:
        assert usd(design) == least


def anew_with_what_is_owned(
    parts: Json, content: Json, base: Design, folder: Path, move: Json | None = None, whole: Json | None = None
) -> Design:
    """A design on a green field that has all parts of a base; ``whole``: of what the base has and the case adds."""
    inputs = given(parts, content, base, folder, move)
    owned = {
        part: {str(m): n for m, n in units.items()} if isinstance(units, dict) else units
        for part, units in inputs.case.owned.items()
    }
    return optimize.solve(inputs_from_objects({**(whole or content), "have": owned}, parts), alternatives_s=0)


def assert_costs_the_same(design: Design, other: Design) -> None:
    assert design.status == other.status
    if design.status == "optimal":
        assert usd(design) == usd(other)


def dearer_moves(
    parts: Json, content: Json, base: Design, folder: Path, steps: Sequence[int]
) -> Iterator[tuple[Json, float]]:
    """What is paid as moves get dearer, which is never less; it ends where there is no design."""
    last = 0.0
    for dearer in steps if base.status == "optimal" else ():
        move = {"cable": 7 * dearer, "device": 100 * dearer}
        design = moved(parts, content, base, folder, move)
        if design.status == "infeasible":
            return
        assert usd(design) >= last
        last = usd(design)
        yield move, last


def assert_no_less_where_nothing_moves(
    parts: Json, content: Json, base: Design, folder: Path, paid: Sequence[float]
) -> None:
    """Beside what was paid where all might move."""
    if paid:
        still = moved(parts, content, base, folder, None)
        assert still.status == "infeasible" or usd(still) >= paid[-1]
