"""Designs that commands are given as files: a design of its own, or a point of a sweep or front."""

from __future__ import annotations

from fabopt.design.points import design_at
from fabopt.errors import InputError, fault
from fabopt.io.design import read_design_or_front, whole_design
from fabopt.schema.design import Design
from fabopt.schema.front import Front
from fabopt.units import some

OPTION = "--point"
WHAT = {"sweep": "sweep", "pareto": "front"}


def saved_design(path: str, point: int | None) -> Design:
    """Return the design of a file, or that of a point (from 1) of a sweep or front; ``InputError`` if it is not so."""
    saved = read_design_or_front(path)
    if isinstance(saved, Front):
        return _at(saved, path, point)
    if point is not None:
        what = f"{path} is one design, not a sweep or front"
        raise InputError([fault(OPTION, "", what, point, hint="leave --point out")])
    return saved


def _at(front: Front, path: str, point: int | None) -> Design:
    what = f"a {WHAT[front.kind]} of {some(len(front.points), 'point')}"
    if point is None:
        raise InputError([fault(path, "", f"this is {what}", hint=f"{OPTION} N takes the design of one")])
    if not 1 <= point <= len(front.points):
        allowed = f"1 to {len(front.points)}" if front.points else "none"
        raise InputError([fault(OPTION, "", f"{path} is {what}", point, allowed=allowed)])
    if front.points[point - 1].fabrics and not front.points[point - 1].bom:
        hint = "run it again; points are written with their bills since 0.2.0"
        raise InputError([fault(path, f"points[{point - 1}].bom", "this point has no bill of materials", hint=hint)])
    return whole_design(design_at(front, point), path)
