"""Links of servers and attachments that share the cages of leaves, worked out once for equal leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from fabopt.io.case import read_inputs
from fabopt.solution import optimize
from fabopt.topology.clos import joint_links
from tests.paths import ROOT
from tests.samples.adapter import run
from tests.samples.random_cases import generate


class _WorkedOutAnew:
    """In place of what is kept: works every value out anew, and holds it against those of the same key before."""

    def __init__(self) -> None:
        self.known: dict[tuple[Hashable, Hashable], Any] = {}
        self.met_again = 0

    def of(self, owner: Hashable, key: Hashable, work_out: Callable[..., Any], *args: Any) -> Any:
        value = work_out(*args)
        if (owner, key) in self.known:
            assert value == self.known[owner, key]
            self.met_again += 1
        self.known[owner, key] = value
        return value


def test_equal_leaves_have_equal_choices_in_a_shipped_case(monkeypatch: pytest.MonkeyPatch) -> None:
    anew = _WorkedOutAnew()
    monkeypatch.setattr(joint_links, "_JOINT_CHOICES", anew)
    optimize.solve(read_inputs(ROOT / "cases" / "four-fabrics-1024-gpus.yaml"), alternatives_s=0)
    assert anew.met_again > 0


def test_equal_leaves_have_equal_choices_in_random_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    anew = _WorkedOutAnew()
    monkeypatch.setattr(joint_links, "_JOINT_CHOICES", anew)
    for seed in range(30):
        run(*generate("attached", seed))
    assert anew.met_again > 0
