"""What does not go with prices for moving what is in service (``base.move``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.errors import Fault, fault
from fabopt.rules.defaults import INTERCHANGEABLE, is_kept
from fabopt.schema.case import Case
from fabopt.schema.fabric_design import FabricDesign
from fabopt.units import grouped


def faults_of_moves(case: Case, base: Case, fabrics: Sequence[FabricDesign], file: str) -> Iterator[Fault]:
    """What of a case that prices moves, or of the case in service (``base``) and its ``fabrics``, they are not worked
    out with.
    """
    if case.base is None or case.base.move is None:
        return
    yield from _of_keys(case, base, file)
    hint = "leave it out, so that nothing moves, or design the base with"
    for fabric in fabrics:
        makes = grouped(((row.from_, row.to, row.attachment), {part.id for part in row.parts}) for row in fabric.links)
        for (near, far, _), parts in makes.items():
            if any(one != parts[0] for one in parts):
                problem, kind = "does not go with links of several parts in service", f"{near}-{far}"
                yield fault(file, "base.move", problem, kind, hint="leave it out, so that nothing moves")
        if fabric.clos.last_group is not None:
            problem = "does not go with a last group of its own"
            yield fault(file, "base.move", problem, fabric.name, hint=f"{hint} `groups: equal`")
        if fabric.nic.stand_ins:
            offers = sorted({fabric.nic.id, *(one.id for one in fabric.nic.stand_ins)})
            problem = "does not go with NICs of several vendors"
            yield fault(file, "base.move", problem, " and ".join(offers), hint="leave it out, so that nothing moves")
        mixed = (tier for tier in fabric.tiers if tier.stand_ins and not is_kept(case.rules, INTERCHANGEABLE))
        for tier in mixed:
            problem = f"does not go with a {tier.role} tier of several products without the rule `interchangeable`"
            products = " and ".join(own.id for own in tier.types)
            yield fault(file, "base.move", problem, products, hint="leave out `rules: {interchangeable: false}`")


def _of_keys(case: Case, base: Case, file: str) -> Iterator[Fault]:
    """Keys that prices for moves do not go with, given here or in service."""
    hint = "leave out `base.move`, so that nothing moves, or this key; docs/formulation/outside.md"
    grows = len(case.stages or ()) > 1
    attached = {fabric.name for fabric in (*case.fabrics, *base.fabrics) if fabric.attachments}
    given: list[tuple[str, bool, tuple[str, ...]]] = [
        ("joins", base.joins is not None, ()),
        ("site.floor", case.site.has_floor or base.site.has_floor, ()),
    ]
    for index, own in enumerate(case.fabrics):
        given += [
            (f"fabrics[{index}].attachments", grows and own.name in attached, (own.name,)),
            (f"fabrics[{index}].role", grows and own.role == "oob", ("oob",)),
        ]
    for key, is_given, value in given:
        if is_given:
            yield fault(file, key, "does not go with `base.move`", *value, hint=hint)
