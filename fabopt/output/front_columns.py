"""Columns that only some sweeps and fronts have, in words, for every output that has a table of points."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.stated import Column
from fabopt.output.steps import COLUMN as CUT_OFF, cut_off_cell, marginal_unit, tells_cut_off
from fabopt.output.words import COLUMN as LEFT_OUT, dollars, left_out_cell
from fabopt.schema.design import Front, FrontPoint


def some_columns(front: Front) -> Iterator[Column[FrontPoint]]:
    """What one more costs, the knee, servers cut off, and default rules left out, where any point has them."""
    points = front.points
    if any(point.marginal is not None for point in points):
        yield Column(
            f"$ per {marginal_unit(front)} more",
            True,
            lambda point: "-" if point.marginal is None else dollars(point.marginal),
        )
    if any(point.knee for point in points):
        yield Column("", False, lambda point: "knee" if point.knee else "")
    if tells_cut_off(front):
        yield Column(CUT_OFF, True, cut_off_cell)
    if any(point.rules_left_out for point in points):
        yield Column(LEFT_OUT, False, lambda point: left_out_cell(point.rules_left_out))
