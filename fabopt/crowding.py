"""Why a floor has no room for a case: too few racks, racks that no tray reaches, runs past everything on sale."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.floor import FloorPlan, racks_needed
from fabopt.inquiry import Inquiry
from fabopt.problem import Problem
from fabopt.schema.design import Conflict

# Racks that a message names at most.
MOST_NAMED = 8


def floor_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """A floor with too few racks, with racks that no tray reaches, or with runs longer than everything on sale."""
    problem, plan = inquiry.problem, inquiry.problem.plan
    if plan is None or problem.servers_per_rack is None:
        return
    needed = racks_needed(problem.servers, problem.servers_per_rack)
    lost = plan.cut_off()
    joined = plan.usable_racks - len(lost)
    if needed > joined:
        detail = f"{problem.servers} servers, {problem.servers_per_rack} a rack, fill {needed} racks; "
        detail += f"the floor has {joined} that are neither blocked nor reserved"
        if lost:
            detail += f", and no tray joins {', '.join(lost[:MOST_NAMED])} to these: a cross tray between them would"
        yield Conflict(limit="site.floor", value=joined, needed=needed, detail=detail)
        return
    yield from _far_apart(problem, plan)


def _far_apart(problem: Problem, plan: FloorPlan) -> Iterator[Conflict]:
    """The longest run of the floor, if nothing on sale is as long."""
    usable = np.flatnonzero(plan.usable)
    runs = plan.run_m(usable[:, None], 1.0, usable[None, :], 1.0)
    finite = np.where(np.isfinite(runs), runs, 0.0)
    longest_m = max((item.length_m or 0.0 for item in problem.goods.items), default=0.0)
    if finite.max(initial=0.0) > longest_m:
        one, other = (plan.ids[usable[index]] for index in np.unravel_index(int(finite.argmax()), finite.shape))
        detail = (
            f"the run from {one} to {other} is {finite.max():.1f} m, the longest cable or fibre on sale "
            f"{longest_m:g} m; cross trays shorten runs"
        )
        yield Conflict(limit="site.floor", value=round(float(finite.max()), 1), needed=longest_m, detail=detail)
