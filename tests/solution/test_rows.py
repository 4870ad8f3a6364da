"""Rows of what else there is: what becomes of the answer while they are looked at."""

from __future__ import annotations

import pytest

from fabopt.errors import NoAnswerError
from fabopt.io.case import read_inputs
from fabopt.solution import alternatives, optimize
from tests.paths import ROOT
from tests.samples.small import case, inputs


@pytest.mark.parametrize("name", ["dgx-superpod-128", "rail-only-1024-gpus"])
def test_rows_are_alike_on_every_engine(name: str) -> None:
    """CBC gives nothing usable for programs of some rows: they are solved by the engine that is exact."""
    ours, theirs = (
        optimize.solve(read_inputs(str(ROOT / "cases" / f"{name}.yaml")), engine=engine) for engine in ("cp-sat", "cbc")
    )
    assert theirs.status == "optimal"
    assert ours.alternatives and ours.alternatives == theirs.alternatives


def test_an_answer_outlives_what_fails_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*asked: object) -> None:
        raise NoAnswerError("engine returned no usable answer")

    alone = optimize.solve(inputs(case()), alternatives_s=0)
    monkeypatch.setattr(alternatives, "compare", fails)
    design = optimize.solve(inputs(case()))
    assert (design.status, design.totals, design.bom) == ("optimal", alone.totals, alone.bom)
    assert not design.alternatives_complete
