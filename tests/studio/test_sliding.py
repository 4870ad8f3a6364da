"""Sliders end at the last value that has a design, and name what stops them there."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_text
from fabopt.io.keys import with_change
from fabopt.program.settings import Clock, Settings
from fabopt.solution import optimize
from fabopt.solution.question import Question
from fabopt.studio.sliding import slider
from fabopt.studio.worker import Bench
from tests.paths import ROOT
from tests.studio.test_studio import CASE

CASES = ROOT / "cases"
GROWTH = (CASES / "h100-growth-128.yaml").read_text()
BUDGET = CASE + "limits: {budget_usd: 400000}\n"
TOO_LITTLE = CASE + "limits: {budget_usd: 300000}\n"


def slid(text: str, key: str, **more: Any) -> Any:
    return slider(Bench(CASES, CASES, lambda message: None), text, key, **more)


def has_design(text: str, key: str, value: float) -> bool:
    changes = [f"{key.removeprefix('prices.')}={value:+g}%"] if key.startswith("prices.") and value else []
    inputs = inputs_from_text(text, CASES / "case.yaml", changes)
    try:
        changed = inputs if key.startswith("prices.") else with_change(inputs, {key: value})
    except InputError:
        return False
    return optimize.settled(Question(changed, Settings(), Clock(None)))[1].best is not None


@pytest.mark.parametrize(
    ("text", "key", "step", "rule"),
    [
        (TOO_LITTLE, "limits.budget_usd", 1, "limits.budget_usd: the cheapest design costs $387,120"),
        pytest.param(CASE, "fabrics.0.min_gbps_per_gpu", 0.001,
                     "fabrics.compute.min_gbps_per_gpu: fabric compute: no infini", marks=pytest.mark.long),
        pytest.param(CASE, "limits.power_w", 1, "limits.power_w: the leanest design uses", marks=pytest.mark.long),
        pytest.param(CASE, "servers", 1, "site.floor", marks=pytest.mark.long),
        pytest.param(CASE.replace("servers: 16", "gpus: 128"), "gpus", 8, "site.floor", marks=pytest.mark.long),
        pytest.param(BUDGET, "prices.switch", 1, "limits.budget_usd: allows $400,000; the", marks=pytest.mark.long),
        pytest.param(GROWTH, "stages.1.servers", 1, "stages[2].servers: servers fall", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_slider_ends_where_no_design_is(text: str, key: str, step: float, rule: str) -> None:
    """Each end that names a rule has a design, and the next value has none; all values between are asked for."""
    found = slid(text, key)
    ends = {-1: found["low"], 1: found["high"]}
    assert found["values"] == sorted(found["values"])
    assert (found["values"][0], found["values"][-1]) == (ends[-1]["value"], ends[1]["value"])
    stopped = [(sign, end) for sign, end in ends.items() if end["rule"]]
    assert any(end["rule"].startswith(rule) for _, end in stopped)
    for sign, end in stopped:
        assert has_design(text, key, end["value"])
        assert not has_design(text, key, round(end["value"] + sign * step, 3))


def test_what_does_not_slide_is_refused() -> None:
    for key in ("name", "no.such", "prices.no", "fabrics"):
        with pytest.raises(InputError):
            slid(CASE, key)


@pytest.mark.long
def test_case_without_any_design_says_why() -> None:
    impossible = CASE.replace("protocol: infiniband", "protocol: infiniband\n    min_gbps_per_gpu: 5000")
    found = slid(impossible, "limits.rack_units")
    assert found["low"] == found["high"]
    assert "min_gbps_per_gpu" in found["low"]["rule"]
