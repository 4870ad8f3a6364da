"""Tiers of attachments with ``tier: any``: the fabric's space is the union over all tiers that they may be on.

Such an attachment is on free ports of any switches, or on spines as with ``tier: spine``, or dealt over the leaves as
with ``tier: leaf``, which are then sized for it. So ``any`` has every network that the other values have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Final

from fabopt.parts.lookup import Lookup
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import AttachmentTier

# In this order designs that are equal in all else come first.
TIERS: Final[tuple[AttachmentTier, ...]] = ("any", "spine", "leaf")
# What attachments of a kind have in common: of these it is decided together where how many ports are.
_KIND = tuple(field.name for field in fields(AttachmentDemand) if field.name not in ("name", "ports", "adds"))
_PLACED: Lookup[FabricProblem, tuple[()], tuple[FabricProblem, ...]] = Lookup()


def on_each_tier(problem: Problem, fabric: FabricProblem) -> tuple[FabricProblem, ...]:
    """A fabric, then its variants with each attachment of ``tier: any`` on spines or leaves.

    In a cluster that grows such attachments are on free ports only: these are outside the ratio, dealt ones are in it.
    """
    if all(demand.tier != "any" for demand in fabric.attachments) or len(problem.stages) > 1:
        return (fabric,)
    return (fabric, *_PLACED.of(fabric, (), lambda: tuple(_placed(fabric))))


def _placed(fabric: FabricProblem) -> Iterator[FabricProblem]:
    """Variants of the fabric by tiers of its attachments; of variants with equal ports of a kind on each tier, whose
    networks are equal, the first.
    """
    kinds: dict[tuple[object, ...], list[AttachmentDemand]] = {}
    for demand in fabric.attachments:
        kinds.setdefault(tuple(getattr(demand, name) for name in _KIND), []).append(demand)
    tiers = TIERS if max(fabric.tiers) > 1 else tuple(tier for tier in TIERS if tier != "spine")
    for choices in list(product(*(_choices(demands, tiers) for demands in kinds.values())))[1:]:
        placed = {demand: tier for of_kind in choices for demand, tier in of_kind.items()}
        yield replace(fabric, attachments=tuple(replace(demand, tier=placed[demand]) for demand in fabric.attachments))


def _choices(
    demands: Sequence[AttachmentDemand], tiers: Sequence[AttachmentTier]
) -> list[dict[AttachmentDemand, AttachmentTier]]:
    """A tier for each attachment of a kind, one choice for every split of their ports over the tiers."""
    ports = [demand.ports for demand in demands]
    ways = product(tiers if demands[0].tier == "any" else (demands[0].tier,), repeat=len(demands))
    by_ports: dict[tuple[int, ...], dict[AttachmentDemand, AttachmentTier]] = {}
    for way in ways:
        on_each = tuple(sum(many for many, on in zip(ports, way, strict=True) if on == tier) for tier in TIERS)
        by_ports.setdefault(on_each, dict(zip(demands, way, strict=True)))
    return list(by_ports.values())
