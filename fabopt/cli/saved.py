"""Designs that commands are given as files: a design file, or a point of a sweep or front."""

from __future__ import annotations

from fabopt.design.points import design_at, within_budget
from fabopt.errors import Fault, InputError, fault
from fabopt.io.design import read_design_or_front, whole_design
from fabopt.schema.design import Design
from fabopt.schema.front import BUDGET_KEY, Front
from fabopt.study.sweep.ranges import budgets
from fabopt.units import some

OPTION = "--point"
BUDGET = "--budget"
WHAT = {"sweep": "sweep", "pareto": "front"}


def saved_design(path: str, point: int | None, asked: str = OPTION) -> Design:
    """Return the design of a file, or of a point (from 1) of a sweep or front; ``InputError`` if the file has no such
    design. ``asked``: what asks for the point, the option or ``FILE#3``.
    """
    saved = read_design_or_front(path)
    if isinstance(saved, Front):
        return _at(saved, path, point, asked)
    if point is not None:
        what = f"{path} is one design, not a sweep or front"
        number = OPTION if asked == OPTION else f"#{point}"
        raise InputError([fault(asked, "", what, point, hint=f"leave {number} out")])
    return saved


def chosen_point(path: str, point: int | None, budget: str | None) -> int | None:
    """Return the point (from 1) that options name: by its number, or as the best within a budget.

    ``InputError`` if both are given, if the file is no front and no sweep over budgets, or if no point costs that
    little.
    """
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


def _at(front: Front, path: str, point: int | None, asked: str) -> Design:
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
