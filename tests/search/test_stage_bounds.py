"""What stages before the last cost at least, before any size of a network is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.leaves import Leaves
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_futures import uncertain

Json = dict[str, Any]
# A leaf of eight ports takes 4 servers at 1:1. One of sixteen takes 8, at more than twice the price.
TWO_LEAVES = {"switches": [switch("eight", cage(8, "1x100")), switch("sixteen", cage(16, "1x100"), usd=2100)]}


def test_leaves_too_dear_at_first_are_not_sized_where_growth_is_unlikely(monkeypatch: pytest.MonkeyPatch) -> None:
    # 4 servers at first need a leaf of eight, 1000, or of sixteen, 2100; what 16 need later hardly weighs anything.
    sized: set[str] = set()
    expand = Leaves.expand

    def counted(self: Leaves, block: Block) -> None:
        sized.add(block.leaf.id)
        expand(self, block)

    monkeypatch.setattr(Leaves, "expand", counted)
    inputs = inputs_from_objects(uncertain(0.001, 4, 16, fabric={"tiers": 2}), catalog(**TWO_LEAVES))
    found = search_of(problem_of(inputs.case, inputs.catalog), Settings(), Clock(None)).run()
    assert found.verdict == "optimal" and sized == {"eight"}
