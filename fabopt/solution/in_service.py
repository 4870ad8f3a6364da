"""What is in service is proven before anything is designed on it."""

from __future__ import annotations

from fabopt.errors import fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse, refuse_any
from fabopt.schema.in_service import Joins
from fabopt.schema.installed import all_live, live_design
from fabopt.solution.floor_in_service import other_ways
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import in_service
from fabopt.wiring.joined import free_cages
from fabopt.wiring.model import Wiring


def require_base_holds(inputs: Inputs) -> None:
    """Raise ``InputError`` where the design that a case goes on from, or joins, fails one of its checks, its cables lie
    in other ways on the floor, or what was found of them is another network.
    """
    said = inputs.case.live
    base = live_design(said)
    if base is None or said is None:
        return
    for file, design in ((one.file, design) for one, design in all_live(said)):
        failed = [check for check in verify(design) if not check.ok]
        hint = "`fabopt check` shows every check of it"
        refuse_any([fault(file, check.name, f"fails its check: {check.detail}", hint=hint) for check in failed])
    if inputs.case.base is not None:
        refuse_any(list(other_ways(inputs, base)))
    in_service(said, wiring_of)
    joined = in_service(inputs.case.joins, wiring_of)
    if inputs.case.joins is not None and joined is not None:
        _require_free_cages(inputs, inputs.case.joins, joined.wiring)


def _require_free_cages(inputs: Inputs, joins: Joins, live: Wiring) -> None:
    """Raise ``InputError`` where a switch that is joined has fewer cages free than its file counts."""
    switches = {switch.id: switch for switch in inputs.catalog.switches}
    for joined in joins.switches:
        for row, groups in free_cages(live, [(joined.fabric, joined.role)], switches.__getitem__).items():
            if any(len(group) < count for group, count in zip(groups, joined.cages, strict=True)):
                problem = (
                    f"{live.devices.name[row]} has fewer free cages than the other {joined.role}s, or than were planned"
                )
                raise refuse([fault(inputs.case_file, "joins", problem, [len(group) for group in groups],
                                    allowed=str(list(joined.cages)), hint="mend that first")])  # fmt: skip
