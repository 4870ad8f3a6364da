"""How long what else there is is looked at: after the answer, for so many seconds, or not at all."""

from __future__ import annotations

import pytest

from fabopt.cli.solving import SolveRequest
from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.program import copies
from fabopt.program.settings import Clock
from fabopt.solution import alternatives
from fabopt.solution.optimize import solve
from tests.samples.lengths import USUAL
from tests.samples.small import Json, assert_proven, case, inputs
from tests.solution import test_brute_force

WANTED = case({"tiers": "any", "max_oversubscription": 2})


def test_what_is_cut_off_is_said_and_the_answer_is_the_same() -> None:
    whole, cut = solve(inputs(WANTED)), solve(inputs(WANTED), alternatives_s=1e-9)
    assert whole.alternatives and whole.alternatives_complete
    assert not cut.alternatives and not cut.alternatives_complete
    assert cut.notes[-1] == "not all alternatives were compared: 1e-09 s for them (`--alternatives`) were over"
    assert (cut.status, cut.totals, cut.bom) == ("optimal", whole.totals, whole.bom)
    assert_proven(cut)


def test_without_a_look_nothing_is_cut_off() -> None:
    alone = solve(inputs(WANTED), alternatives_s=0)
    assert not alone.alternatives and alone.alternatives_complete
    assert not any("alternatives" in note for note in alone.notes)


def test_the_time_of_the_answer_is_its_own() -> None:
    """What is compared afterwards is not in it."""
    clock, told = Clock(None), list[float]()

    def progress(text: str) -> None:
        if text.startswith("looking at the best design with"):
            told.append(clock.spent_s())

    design = solve(inputs(WANTED), progress=progress, clock=clock)
    assert design.objective.solve_s is not None and told
    assert design.objective.solve_s <= told[0] + 0.001


def test_what_rules_cost_is_looked_at_first() -> None:
    """Before what takes longer: the time for it may be over."""
    looks = list[str]()
    wanted = test_brute_force.case(4, {"tiers": 2}, site={"distances_m": USUAL}, resilience="default")
    design = solve(inputs(wanted, test_brute_force.catalog()), progress=looks.append)
    others = [one for one in looks if one.startswith("looking at the best design with ")]
    assert others[0] == "looking at the best design with redundancy none" and len(others) > 1
    assert design.alternatives[0].what == "redundancy"


def test_a_clock_is_shortened_within_only() -> None:
    clock = Clock(None)
    with clock.shortened(0):
        assert clock.is_over()
    assert not clock.is_over() and clock.left() is None


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan")])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="--alternatives: not a time; found "):
        SolveRequest("case.yaml", alternatives_s=seconds).inputs()


@pytest.mark.long("8-0.001-floor1", "48-1-floor2", "64-0.001-floor3")
@pytest.mark.parametrize(
    ("servers", "share", "floor"),
    [(0, 0.001, {}), (8, 0.001, {}), (48, 1, {}), (64, 0.001, {"site": {"floor": {"rows": 4, "racks_per_row": 10}}})],
)
def test_rows_are_alike_however_many_processors_there_are(
    monkeypatch: pytest.MonkeyPatch, servers: int, share: float, floor: Json
) -> None:
    """Those of the small catalog and the shipped one, in this process and in copies; also where they end with what they
    met by then.
    """
    content = {
        "server": "generic-hgx-h100",
        "servers": servers,
        "workload": {"profile": "pretraining"},
        "fabrics": [{"name": "compute"}] if floor else [{"name": "compute"}, {"name": "storage", "role": "storage"}],
    }
    given = inputs_from_objects({"name": "rows", **content, **floor}) if servers else inputs(WANTED)
    monkeypatch.setattr(alternatives, "WORK_PER_S", int(share * alternatives.WORK_PER_S))
    monkeypatch.setattr(copies, "can_fork", lambda: True)
    rows = []
    for processors in (1, 3):
        monkeypatch.setattr(copies, "processors", lambda number=processors: number)
        design = solve(given, alternatives_s=300)
        assert design.alternatives_complete
        rows.append((design.alternatives, design.notes))
    assert len(rows[0][0]) > (8 if servers else 3) and rows[0] == rows[1]
