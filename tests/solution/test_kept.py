"""Designs that are kept while a search goes on, for the case that its process is cut off."""

from __future__ import annotations

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import designs as kept_designs, optimize
from fabopt.verify import verify
from tests.samples.designs_of_families import MAKERS

FEW = ("clos, three tiers", "procurement")


@pytest.mark.long("procurement")
@pytest.mark.long(*(kind for kind in MAKERS if kind not in FEW))
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "model"])
def test_what_is_kept_holds_and_ends_in_the_answer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all designs kept that are met: each passes every check, each is better than those before it."""
    monkeypatch.setattr(kept_designs, "FIRST_S", 0.0)
    monkeypatch.setattr(kept_designs, "ONE_SECOND_IN", 0)
    catalog, case = MAKERS[kind]()
    content = {key: value for key, value in case.items() if key != "catalog"}
    designs: list[Design] = []
    best = optimize.solve(inputs_from_objects(content, catalog), kept=designs.append, alternatives_s=1)
    assert all(check.ok for design in designs for check in verify(design))
    values = [design.objective.value for design in designs]
    assert values == sorted(set(values), key=float, reverse=True)
    assert not values or values[-1] >= best.objective.value
    assert kind not in FEW or values[-1] == best.objective.value
