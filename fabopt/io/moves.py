"""What does not go with prices for moving what is in service (``base.move``)."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.schema.case import Case


def faults_of_moves(case: Case, base: Case, file: str) -> Iterator[Fault]:
    """Keys of a case that prices moves, or of the case in service (``base``), with which they are not worked out."""
    if case.base is None or case.base.move is None:
        return
    hint = "leave out `base.move`, so that nothing moves, or this key; docs/formulation/outside.md"
    given = {
        "stages": len(case.stages or ()) > 1,
        "fabrics": len(case.fabrics) > 1,
        "charges": bool(case.charges),
        "fabrics.attachments": any(fabric.attachments for fabric in (*case.fabrics, *base.fabrics)),
        "fabrics.homing": any(fabric.homing in ("pair", "dual") for fabric in case.fabrics),
        "site.floor": case.site.has_floor or base.site.has_floor,
    }
    for key, is_given in given.items():
        if is_given:
            yield fault(file, key, "does not go with `base.move`", hint=hint)
