"""Designs that commands are given as files: a design file, or a point of a sweep or front."""

from __future__ import annotations

import sys
from typing import Final

from fabopt.design.points import design_at, within_budget
from fabopt.errors import Fault, InputError, fault
from fabopt.io.design import design_in, read_design_or_front, whole_design
from fabopt.schema.design import Design
from fabopt.schema.front import BUDGET_KEY, Front
from fabopt.study.sweep.ranges import budgets
from fabopt.units import some

OPTION = "--point"
BUDGET = "--budget"
NEAREST = "--nearest"
# In place of the number of a point, and the number of none: the nearest design to a case without one.
THE_NEAREST: Final = -sys.maxsize
WHAT = {"sweep": "sweep", "pareto": "front"}


def saved_design(path: str, point: int | None, asked: str = OPTION) -> Design:
    """Return the design of a file, or of a point (from 1) of a sweep or front, or ``THE_NEAREST`` of a file without a
    design; ``InputError`` if the file has no such design. ``asked``: what asks for the point, the option or ``FILE#3``.
    """
    saved = read_design_or_front(path)
    if point == THE_NEAREST:
        return _nearest(saved, path)
    if isinstance(saved, Front):
        return design_of_point(saved, path, point, asked)
    if point is not None:
        what = f"{path} is one design, not a sweep or front"
        number = OPTION if asked == OPTION else f"#{point}"
        raise InputError([fault(asked, "", what, point, hint=f"leave {number} out")])
    return saved


def _nearest(saved: Design | Front, path: str) -> Design:
    """The nearest design to the case of a file without a design."""
    nearest = None if isinstance(saved, Front) else saved.nearest
    if nearest is None or nearest.design is None:
        has_own = isinstance(saved, Front) or saved.fabrics
        what = "this file has designs of its own" if has_own else "no nearest design is in this file"
        hint = f"leave {NEAREST} out" if has_own else "it is where limits on spending alone leave no design"
        raise InputError([fault(NEAREST, "", f"{path}: {what}", hint=hint)])
    return design_in(nearest.design, f"{path}, nearest.design")


def check_whole(design: Design, path: str) -> None:
    """Refuse a file with fabrics and without their totals or stages."""
    missing = [name for name in ("totals", "stages") if not getattr(design, name)]
    if design.fabrics and missing:
        hint = "solve the case again; `fabopt solve --json` writes whole designs"
        faults = [fault(path, name, "a design with fabrics has this too", hint=hint) for name in missing]
        raise InputError(faults)


def nearest_hint(design: Design) -> str:
    """The option that takes the nearest design of a file without a design, if it has one; else empty."""
    return f"{NEAREST} takes the nearest design" if design.nearest is not None and design.nearest.design else ""


def chosen_point(path: str, point: int | None, budget: str | None, nearest: bool = False) -> int | None:
    """Return the point (from 1) that options name: by its number, as the best within a budget, or ``THE_NEAREST``.

    ``InputError`` if several are given, if the file is no front and no sweep over budgets, or if no point costs that
    little.
    """
    if nearest:
        if point is not None or budget is not None:
            hint = "leave one of them out"
            raise InputError([fault(NEAREST, "", "another option names the design already", hint=hint)])
        return THE_NEAREST
    if budget is None:
        return point
    if point is not None:
        raise InputError([fault(BUDGET, "", f"{OPTION} names a point already", budget, hint="leave one of them out")])
    amounts = budgets(budget)
    if isinstance(amounts, Fault):
        raise InputError([amounts])
    if len(amounts) > 1:
        raise InputError([fault(BUDGET, "", "a design has one budget", budget, hint="give one amount, such as 2.5M")])
    usd = amounts[0]
    front = read_design_or_front(path)
    if not isinstance(front, Front) or (front.kind == "sweep" and BUDGET_KEY not in front.keys):
        what = f"{path} is not a front, nor a sweep over budgets"
        raise InputError([fault(BUDGET, "", what, budget, hint=f"leave {BUDGET} out")])
    number = within_budget(front, usd)
    if number is None:
        costs = ((point.totals.capex_usd, point.budget_usd or 0) for point in front.points if point.totals is not None)
        least = min(map(max, costs), default=None)
        allowed = "" if least is None else f"${least:,} or more"
        raise InputError([fault(BUDGET, "", f"no point of {path} costs that little", budget, allowed=allowed)])
    return number


def design_of_point(front: Front, path: str, point: int | None, asked: str = OPTION) -> Design:
    """Return the design of a point (from 1); ``InputError`` if there is none."""
    what = f"a {WHAT[front.kind]} of {some(len(front.points), 'point')}"
    if point is None:
        takes = f"{OPTION} N" if asked == OPTION else f"`{path}#1`"
        raise InputError([fault(path, "", f"this is {what}", hint=f"{takes} takes the design of one")])
    if not 1 <= point <= len(front.points):
        allowed = f"1 to {len(front.points)}" if front.points else "none"
        raise InputError([fault(asked, "", f"{path} is {what}", point, allowed=allowed)])
    if front.points[point - 1].fabrics and not front.points[point - 1].bom:
        hint = "run it again; points are written with their bills since 0.2.0"
        raise InputError([fault(path, f"points[{point - 1}].bom", "this point has no bill of materials", hint=hint)])
    return whole_design(design_at(front, point), path)
