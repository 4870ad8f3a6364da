"""How far a search goes where nothing that it meets is a design: to all there is, and not there again and again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.expansion import Expanded, Expansion
from fabopt.search.search import FAR_RISES
from fabopt.topology.link_parts import Floats
from tests.floor import test_appliances as appliances
from tests.samples.small import Json


@pytest.fixture
def rises(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, Expanded]]:
    """How far above the bound a search looks each time, and what it finds."""
    known: list[tuple[float, Expanded]] = []
    expand = Expansion.expand

    def told(self: Expansion, prices: Floats, slack: float = 0.0, first: bool = False) -> Expanded:
        expanded = expand(self, prices, slack, first)
        known.append((slack, expanded))
        return expanded

    monkeypatch.setattr(Expansion, "expand", told)
    return known


@pytest.mark.usefixtures("unadvised")
def test_what_is_met_no_more_is_looked_for_once(rises: list[tuple[float, Expanded]]) -> None:
    """No cable reaches the devices: the eighth rise, far above the bound, meets nothing new, and the next is the last.

    There were three more.
    """
    devices = appliances.STORES | {"boxes": 2, "ports": 2, "buys": "both"} | appliances.PORT
    content = appliances.case(devices, floor={"aisle_m": 100}, rules={"attachment-runs": True})
    content["fabrics"][0]["tiers"] = 1
    assert appliances.solved(content).status == "infeasible"
    risen = [slack for slack, _ in rises if slack]
    whole = [number for number, slack in enumerate(risen, start=1) if slack == np.inf]
    assert whole
    assert max(number - before for before, number in pairwise([0, *whole])) == FAR_RISES + 1


@pytest.mark.long
def test_sizes_that_are_no_design_of_one_fabric_open_no_other() -> None:
    """InfiniBand for 33 servers starts above its bound, as nothing manages the cheapest switches. Four per cent of that
    is more than three times what in-band costs: no design was met in a minute.
    """
    fabrics = [
        {"name": "compute", "protocol": "infiniband", "min_gbps_per_gpu": 200},
        {"name": "in-band", "role": "in-band"},
    ]
    together = _sized(fabrics)
    assert together <= sum(_sized([fabric]) for fabric in fabrics)


def _sized(fabrics: list[Json]) -> int:
    """How many candidates were sized for the proven optimum of some fabrics for 33 servers."""
    content = {"name": "two", "server": "generic-hgx-h100", "servers": 33, "fabrics": fabrics}
    given = inputs_from_objects(content)
    best = search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run()
    assert best.verdict == "optimal"
    return best.sized


@pytest.mark.long
def test_several_fabrics_take_no_more_work_than_one_by_one() -> None:
    """Each starts from its own best design, so that what nothing manages in one opens no other; and the slots that all
    three share, which are enough, are not priced. It was fourteen times as much work.
    """
    fabrics = [
        {"name": "compute", "protocol": "infiniband", "min_gbps_per_gpu": 200, "planes": "any"},
        {"name": "in-band", "role": "in-band", "protocol": "infiniband"},
        {"name": "storage", "role": "storage", "protocol": "any"},
    ]
    together, work = _value_and_work(fabrics)
    alone = [_value_and_work([fabric]) for fabric in fabrics]
    assert together == sum(value for value, _ in alone)
    assert work <= 1.2 * sum(of_one for _, of_one in alone)


def _value_and_work(fabrics: list[Json]) -> tuple[int, int]:
    """The proven optimum of some fabrics for 17 servers, and the bounds that were held against a cutoff."""
    content = {"name": "several", "server": "generic-hgx-h100", "servers": 17, "fabrics": fabrics}
    given, settings = inputs_from_objects(content | {"workload": {"profile": "fine-tuning"}}), Settings()
    best = search_of(problem_of(given.case, given.catalog), settings, Clock(None)).run()
    assert best.verdict == "optimal"
    assert best.value is not None
    return best.value, settings.work.done
