"""What is in service is proven before anything is designed on it."""

from __future__ import annotations

from fabopt.errors import fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse, refuse_any
from fabopt.schema.installed import base_of
from fabopt.solution.floor_in_service import other_ways
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import in_service


def require_base_holds(inputs: Inputs) -> None:
    """Raise ``InputError`` where the design that a case goes on from fails one of its checks, its cables lie in other
    ways on the floor, or what was found of them is another network.
    """
    base, said = base_of(inputs.case), inputs.case.base
    if base is None or said is None:
        return
    failed = [check for check in verify(base) if not check.ok]
    if failed:
        hint = "`fabopt check` shows every check of it"
        raise refuse([fault(said.file, check.name, f"fails its check: {check.detail}", hint=hint) for check in failed])
    faults = list(other_ways(inputs, base))
    refuse_any(faults)
    in_service(inputs.case, wiring_of)
