"""Plots of dots and sentences of sweeps and fronts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from fabopt.errors import InputError
from fabopt.output.terminal.front import dots, span, stairs
from fabopt.output.words import value_text
from fabopt.program.settings import Clock
from fabopt.schema.design import FrontPoint
from fabopt.study.sweep.cells import GridCell, SweepInputs
from fabopt.study.sweep.workers import solve_on_dask
from tests.samples import small


def test_dots_are_two_across_and_four_down() -> None:
    # one character: the lowest point is dot 7 at the left (0x40), the highest dot 4 at the right (0x08)
    assert dots([(0, 0), (1, 1)], 1, 1) == [chr(0x2800 | 0x40 | 0x08)]


def test_the_largest_value_is_on_top() -> None:
    top, bottom = dots([(0, 5), (9, 7)], 2, 2)
    assert top == chr(0x2800) + chr(0x2808) and bottom == chr(0x2840) + chr(0x2800)


def test_points_that_are_alike_share_a_corner() -> None:
    assert dots([(3, 3), (3, 3)], 1, 1) == [chr(0x2840)] and dots([], 1, 1) == [chr(0x2800)]


def test_an_axis_begins_at_nothing_unless_the_values_are_far_from_it() -> None:
    assert span([2, 10]) == (0, 10) and span([5, 9]) == (5, 9) and span([-3, 9]) == (-3, 9)


def test_stairs_hold_a_value_until_the_next() -> None:
    drawn = stairs([(2, 10), (0, 4)])
    assert (1.0, 4) in drawn and (1.0, 10) not in drawn and drawn[-1] == (2, 10)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("limits.budget_usd", 1_500_000, "$1,500,000"),
        ("power_w", 25_033.6, "25 kW"),
        ("gbps_per_gpu", 195.348837, "195.35"),
        ("servers", 64, "64"),
        ("capex_usd", None, "-"),
    ],
)
def test_values_read_well(metric: str, value: int | float | None, text: str) -> None:
    assert value_text(metric, value) == text


def test_dask_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(cell: GridCell, points: Sequence[FrontPoint]) -> None:
        raise AssertionError("nothing was solved")

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError) as caught:
        solve_on_dask(
            SweepInputs(small.inputs(small.case()), {}, "cp-sat", False), [], "tcp://host:8786", Clock(None), take
        )
    assert str(caught.value) == (
        "--dask: Dask is not installed; found 'tcp://host:8786'; install it: pip install 'fabopt[dask]'"
    )
