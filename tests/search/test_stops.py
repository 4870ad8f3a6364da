"""A clock that ends searches of several fabrics at many points: an answer, a word on the bound, no false proof."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.program.settings import Clock, StoppedError
from fabopt.schema.design import Design
from fabopt.search.expansion import Expansion
from fabopt.search.search import Search
from fabopt.solution import optimize, subnet_hosts
from tests.samples.small import case, catalog, inputs

# Steps of a search after each of which the clock is over once.
STEPS = 6


def stopped_after(asked: Inputs, steps: int, monkeypatch: pytest.MonkeyPatch) -> Design:
    """The design of a case where the clock is over after so many expansions and programs."""
    clock, left = Clock(None), [steps]

    def counted(method: Any) -> Any:
        def step(self: Any, *given: Any, **named: Any) -> Any:
            outcome = method(self, *given, **named)
            left[0] -= 1
            if left[0] == 0:
                clock.stop()
            return outcome

        return step

    with monkeypatch.context() as patched:
        patched.setattr(Expansion, "expand", counted(Expansion.expand))
        patched.setattr(Search, "_solve", counted(Search._solve))
        return optimize.solve(asked, clock=clock, alternatives_s=0)


def several(fabrics: int, servers: int, **more: Any) -> Inputs:
    """A case with so many fabrics, alike but for what they ask."""
    content = case(servers=servers, **more)
    first = content["fabrics"][0]
    asked = {**first, "nics_per_server": 1, "min_gbps_per_gpu": 50}
    content["fabrics"] = [
        {**asked, "name": f"fabric-{number}", "max_oversubscription": 1 + number} for number in range(fabrics)
    ]
    return inputs(content, catalog())


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(several(2, 5), id="two"),
        pytest.param(several(3, 7, limits={"power_w": 4_000}), id="three within power"),
        pytest.param(several(4, 9), id="four"),
    ],
)
def test_every_stop_has_an_answer_or_a_bound_and_equal_ones_are_proofs(
    asked: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimum = optimize.solve(asked, alternatives_s=0)
    least = optimum.objective.value
    assert optimum.status == "optimal"
    for steps in range(1, STEPS + 1):
        design = stopped_after(asked, steps, monkeypatch)
        value, bound = design.objective.value, design.objective.bound
        assert least is not None and (value is None or value >= least) and (bound is None or bound <= least)
        assert bound is not None or value is None or design.status == "optimal"
        assert (design.status == "optimal") == (value is not None and value == bound), (steps, design.objective)


def test_what_lacks_a_manager_for_want_of_time_is_not_said_to_be_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """No design with one is below it, but it is none of those."""

    def over(*_: object) -> None:
        raise StoppedError

    content = {
        "name": "unmanaged",
        "server": "nvidia-dgx-b200",
        "servers": 320,
        "fabrics": [{"name": "compute", "protocol": "infiniband"}],
    }
    monkeypatch.setattr(subnet_hosts, "_managed", over)
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    value, bound = design.objective.value, design.objective.bound
    assert design.status == "feasible" and value is not None and bound is not None
    assert bound < value and subnet_hosts.NOT_IN_TIME in design.notes
