"""A search on a floor that the clock ends before any design was met says what no design is below."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import pytest

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.output.terminal.answer import headline
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Design
from fabopt.search.floor.expansion import FloorExpansion
from fabopt.search.floor.search import FloorSearch, PlaceSearch
from fabopt.solution import optimize
from fabopt.solution.designs import NO_BOUND

HOUR_S = 3600.0
FABRICS = ("compute", "storage", "oob")


def hall(fabrics: Sequence[str], servers: int = 32) -> Inputs:
    floor = {"rows": 2, "racks_per_row": 8, "rack_units": 48}
    return inputs_from_objects(
        {
            "name": "hall",
            "server": "nvidia-dgx-h100",
            "servers": servers,
            "workload": {"profile": "pretraining"},
            "fabrics": [{"name": name, "role": name} for name in fabrics],
            "site": {"servers_per_rack": 4, "floor": floor},
        }
    )


@pytest.mark.long
@pytest.mark.parametrize("fabrics", [FABRICS, FABRICS[:1]], ids=["three", "one"])
@pytest.mark.parametrize("measured", [True, False], ids=["after all were sized", "before"])
def test_bound_is_said_and_true(fabrics: Sequence[str], measured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = hall(fabrics)
    least = optimize.solve(asked, alternatives_s=0).objective.value
    assert least is not None

    def over(*given: object, **named: object) -> None:
        raise StoppedError

    for search in (FloorSearch, PlaceSearch):
        monkeypatch.setattr(search, "_in_layouts", over)
    monkeypatch.setattr(FloorSearch, "_layout_by_layout", over)
    if not measured:
        monkeypatch.setattr(FloorExpansion, "anywhere", over)
    stopped = optimize.solve(asked, alternatives_s=0, time_limit_s=HOUR_S)
    assert stopped.status == "unknown" and stopped.objective.bound is not None
    share = 0.3 if measured else 0.01
    assert share * least < stopped.objective.bound <= least
    assert "None that keeps the rules of the case has a purchase price below $" in headline(stopped)
    assert Design.model_validate_json(stopped.model_dump_json()) == stopped


@pytest.mark.long
@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_known_at_once_is_said_and_else_that_nothing_is(
    is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over(*given: object, **named: object) -> None:
        raise StoppedError

    monkeypatch.setattr(FloorSearch, "_best", over)
    monkeypatch.setattr(PlaceSearch, "_best", over)
    if not is_known:
        monkeypatch.setattr(FloorSearch, "_bound_at_once", lambda search: -inf)
    stopped = optimize.solve(hall(FABRICS), alternatives_s=0, time_limit_s=HOUR_S)
    assert stopped.status == "unknown" and (stopped.objective.bound is not None) == is_known
    assert ("None that keeps" in headline(stopped)) == is_known
    assert any(note.startswith(NO_BOUND) for note in stopped.notes) != is_known
