"""Single points of failure: losses of a design with any one switch or rack, computed on its wiring."""

from __future__ import annotations

from typing import NamedTuple

from fabopt.schema.design import Design
from fabopt.solution.question import SameHardware
from fabopt.verify.evidence import Evidence
from fabopt.verify.hall_traffic import hall_traffic
from fabopt.verify.proof import UNPROVABLE
from fabopt.verify.single_points import single_points_of
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import Wiring


class Wired(NamedTuple):
    """A design and its wiring; None with too many links, or with a fault that the checks report."""

    design: Design
    wiring: Wiring | None


def with_those_of(twin: SameHardware, design: Design) -> Design:
    """The design with the single points of failure of a twin with the same devices and links."""
    update = {"single_points_of_failure": twin.single_points_of_failure, "worst_rack": twin.worst_rack}
    return design.model_copy(update=update)


def with_single_points(design: Design) -> Wired:
    """The design with its single points of failure and its worst rack, and the wiring that they were found on."""
    cabled = CabledDesign(Evidence(design))
    if not cabled.is_listed:
        return Wired(design, None)
    try:
        lost = single_points_of(cabled)
    except UNPROVABLE:
        return Wired(design, None)
    update: dict[str, object] = {"single_points_of_failure": lost.points, "worst_rack": lost.worst_rack}
    if cabled.evidence.case.site.halls:
        update["hall_traffic"] = hall_traffic(cabled)
    return Wired(design.model_copy(update=update), cabled.wiring)
