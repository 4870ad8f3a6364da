"""Notes on stand-ins: tiers with switches of several products."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.rules.defaults import DEFAULT_RULES, INTERCHANGEABLE
from fabopt.schema.design import Design


def stand_in_notes(design: Design) -> Iterator[str]:
    """The products of tiers with several, and the stand-ins that each stage installs."""
    for fabric in design.fabrics:
        for tier in fabric.tiers:
            if tier.stand_ins:
                products = " and ".join(f"{own.count} x {own.id}" for own in tier.types)
                by_stage = ", ".join(f"{one.count} x {one.id} at {one.stage}" for one in tier.stand_ins)
                told = f"{products} as {tier.role}, in place of {tier.id} {by_stage}"
                yield f"{fabric.name}: {DEFAULT_RULES[INTERCHANGEABLE].note(told)}"
