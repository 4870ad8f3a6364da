"""The tiers on which attachments of ``tier: any`` can be: a fabric's space is that of all of them together.

Such an attachment is on free ports of any switches, or where it is with ``tier: spine``, or dealt over the leaves as
with ``tier: leaf``, which are then sized for it. So ``any`` has every network that one of the others has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from fabopt.parts.lookup import Lookup
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import AttachmentTier

# In this order designs that are equal in all else come first.
TIERS: Final[tuple[AttachmentTier, ...]] = ("any", "spine", "leaf")
_PLACED: Lookup[FabricProblem, tuple[()], tuple[FabricProblem, ...]] = Lookup()


def on_each_tier(problem: Problem, fabric: FabricProblem) -> tuple[FabricProblem, ...]:
    """A fabric, and the same with each of its attachments of ``tier: any`` on spines or leaves.

    In a cluster that grows these have to be on free ports: they are outside the ratio there, and those on leaves in it.
    """
    if all(one.tier != "any" for one in fabric.attachments) or len(problem.stages) > 1:
        return (fabric,)
    return (fabric, *_PLACED.of(fabric, (), lambda: tuple(_placed(fabric))))


def _placed(fabric: FabricProblem) -> Iterator[FabricProblem]:
    ways = [TIERS if one.tier == "any" else (one.tier,) for one in fabric.attachments]
    for tiers in list(product(*ways))[1:]:
        demands = zip(fabric.attachments, tiers, strict=True)
        yield replace(fabric, attachments=tuple(replace(demand, tier=tier) for demand, tier in demands))
