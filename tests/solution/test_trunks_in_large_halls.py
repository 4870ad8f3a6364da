"""Halls of thousands of GPUs with structured cabling: an answer whose racks have room for its panels, and a bound."""

from __future__ import annotations

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.solution import optimize
from fabopt.topology.clos import candidates
from tests.samples.small import Json
from tests.solution.test_trunks_in_growth import failed

BOTH: Json = {"leaf-spine": "structured", "spine-core": "structured", "spare_legs": 0.1}
LOWER: Json = {"leaf-spine": "structured", "spare_legs": 0.1}


def hall(servers: int, rows: int, racks: int, cabling: Json, **site: object) -> Json:
    """DGX H100, four in a rack, with parts of the reference catalog."""
    floor: Json = {"rows": rows, "racks_per_row": racks}
    return {
        "name": "hall",
        "server": "nvidia-dgx-h100",
        "servers": servers,
        "fabrics": [{"name": "compute", "protocol": "infiniband"}],
        "site": {"servers_per_rack": 4, "cabling": cabling, "floor": floor, **site},
    }


def designed(servers: int, rows: int, racks: int, cabling: Json) -> Design:
    return optimize.solve(inputs_from_objects(hall(servers, rows, racks, cabling)), alternatives_s=0)


def gap_of(design: Design) -> float:
    """How far above its bound an answer may be whose racks have room for all panels, and that keeps all rules."""
    assert failed(design) == [] and design.objective is not None and design.objective.gap is not None
    assert all(place.unit for kind in design.fabrics[0].structured for place in kind.panels)
    return design.objective.gap


def test_a_small_hall_is_proven() -> None:
    design = designed(32, 2, 8, BOTH)
    assert (design.status, gap_of(design)) == ("optimal", 0)


def test_where_no_module_stands_a_trunk_none_is_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links within a rack do not make up for those that have to run through trunks, which no length is short enough
    for.
    """
    read = inputs_from_objects(hall(16, 2, 10, LOWER, optical_margin_db=1.0))
    monkeypatch.setattr(candidates, "links_between", None)
    problem = problem_of(read.case, read.catalog)
    assert search_of(problem, Settings(), Clock(None), context=Context()).run().value is None


@pytest.mark.long
@pytest.mark.parametrize(("cabling", "most"), [(BOTH, 30_874_345), (LOWER, 27_605_973)])
def test_a_hall_of_4096_gpus_is_proven(cabling: Json, most: int) -> None:
    """Few sizes are looked at: bounds know what links through trunks cost."""
    design = designed(512, 8, 20, cabling)
    assert (design.status, gap_of(design)) == ("optimal", 0)
    assert design.objective is not None and design.objective.candidates is not None
    assert design.objective.value is not None and design.objective.value <= most
    assert design.objective.candidates < 10_000


@pytest.mark.long
def test_a_hall_of_16384_gpus_has_an_answer_and_a_bound() -> None:
    design = designed(2048, 16, 40, BOTH)
    assert design.status == "feasible" and gap_of(design) < 0.15
