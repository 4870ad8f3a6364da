"""Servers cut off by the worst switch of a point of a sweep or front, in a cell of a table."""

from __future__ import annotations

from fabopt.output.words import count
from fabopt.schema.front import Front, FrontPoint

COLUMN = "cut off"
EVERY_PATH = "every path"


def cut_off(point: FrontPoint) -> int | None:
    """The most servers that lose every path of a fabric with one switch; None where the file does not state it."""
    points = point.single_points_of_failure
    if points is None:
        return None
    switches = (
        point
        for point in points
        if point.device != "rack" and not point.degraded and point.loses.startswith(EVERY_PATH)
    )
    return max((switch.servers for switch in switches), default=0)


def cut_off_cell(point: FrontPoint) -> str:
    """The number in words; ``-`` where there is no design, or the file does not say."""
    servers = cut_off(point)
    return "-" if servers is None or point.totals is None else count(servers)


def tells_cut_off(front: Front) -> bool:
    """Whether some switch of some point cuts servers off, so that a table has the column."""
    return any(cut_off(point) for point in front.points)
