"""Sweeps: the grid of points, the processes that solve it, and its file.

Ranges of values on the command line: ``2M:10M:9`` (start, stop, count) or ``1,1.5,2``; suffixes K and M.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import chain, product
from typing import TypeVar

from fabopt.design.build import case_record
from fabopt.design.points import gathered, spread
from fabopt.errors import Fault, NoAnswerError, fault, refusal
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.io.keys import KeyPath, all_changed, content_of, key_path
from fabopt.io.quantities import MONEY, MeasuredText, quantity_under
from fabopt.problem.certain import limited_cables, uncertain_stages
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import BUDGET_KEY, Front, FrontObjective, FrontPoint
from fabopt.schema.version import VERSION
from fabopt.study.front.pareto import with_marginal
from fabopt.study.sweep.cells import MAXIMIZED, GridCell, SweepInputs
from fabopt.study.sweep.workers import Take, solve_here, solve_in_processes, solve_on_dask
from fabopt.units import exact, grouped, plain_fraction
from fabopt.verify.editions import edition_of

# New points, how many there are by then, and how many of them were solved now.
Report = Callable[[Sequence[FrontPoint], int, int], None]


@dataclass(frozen=True)
class Grid:
    """The swept values: budgets in dollars, and values of keys of the case in the order given."""

    budgets: tuple[int | float, ...] | None
    keys: Mapping[KeyPath, str]
    values: Mapping[KeyPath, tuple[int | float, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The swept keys as they were written, the budget last."""
        return (*self.keys.values(), *((BUDGET_KEY,) if self.budgets is not None else ()))

    def cells(self) -> list[GridCell]:
        """Every combination of values, the last key running fastest, each with all budgets."""
        combinations = product(*self.values.values())
        return [
            GridCell(number, dict(zip(self.values, values, strict=True)), self.budgets or ())
            for number, values in enumerate(combinations)
        ]

    @property
    def size(self) -> int:
        """Number of points."""
        size = len(self.budgets) if self.budgets is not None else 1
        for values in self.values.values():
            size *= len(values)
        return size


@dataclass(frozen=True)
class Execution:
    """The workers of a sweep: ``jobs`` processes, or those of a Dask scheduler at an address."""

    jobs: int = 1
    dask: str | None = None


@dataclass
class Collected:
    """Points as workers hand them in, and in order. A key: number of the cell, place of the budget."""

    grid: Grid
    report: Report
    points: dict[tuple[int, int], FrontPoint] = field(default_factory=dict)
    solved: int = 0

    def take(self, cell: GridCell, points: Sequence[FrontPoint]) -> None:
        """Keep some points of a cell."""
        for point in points:
            self.keep(cell, point)
        self.solved += len(points)
        self.report(points, len(self.points), self.solved)

    def keep(self, cell: GridCell, point: FrontPoint) -> None:
        """Keep a point that was known before."""
        self.points[cell.number, self._place(point)] = point

    def _place(self, point: FrontPoint) -> int:
        return 0 if self.grid.budgets is None else self.grid.budgets.index(point.budget_usd or 0)

    def in_order(self) -> list[FrontPoint]:
        """The points in the order of the grid."""
        return [self.points[key] for key in sorted(self.points)]


class CutShortError(NoAnswerError):
    """A sweep that could not go on; ``front`` has its finished points."""

    def __init__(self, reason: str, front: Front) -> None:
        super().__init__(reason)
        self.front = front


def grid_of(inputs: Inputs, budget: str | None, over: Sequence[str]) -> Grid:
    """The grid of the options; ``InputError`` lists all faults of the options, and of any case of the grid."""
    faults: list[Fault] = []
    budgets = None if budget is None else _value_or_fault(budget_range(budget), faults)
    content = content_of(inputs.case)
    keys: dict[KeyPath, str] = {}
    values: dict[KeyPath, tuple[int | float, ...]] = {}
    for text in over:
        key, equals, range_ = text.partition("=")
        key = key.strip()
        if not equals or not key:
            faults.append(fault("--over", "", "not a key with values", text, allowed=f"KEY={RANGE_FORM}"))
            continue
        steps = _value_or_fault(key_path(key, content), faults)
        swept = _value_or_fault(value_range(key, range_), faults)
        if steps is not None and steps in keys:
            faults.append(fault("--over", key, "this key is swept twice"))
        elif steps is not None and swept is not None:
            keys[steps], values[steps] = key, tuple(swept)
    if budget is None and not over:
        faults.append(fault("sweep", "", "nothing to sweep", hint="give --budget, --over, or both"))
    if budget is not None and BUDGET_KEY in keys.values():
        faults.append(fault("--over", BUDGET_KEY, "--budget sweeps this key already"))
    what = "sweeps of budgets are not worked out" if budget is not None else "sweeps are not worked out"
    faults += uncertain_stages(inputs.case, inputs.case_file, what, takes_limits=budget is None)
    refuse_any(faults)
    grid = Grid(None if budgets is None else tuple(budgets), keys, values)
    if grid.size > MOST_POINTS:
        raise refusal("--over", "", "too many points", grid.size, allowed=f"up to {MOST_POINTS:,}")
    points = all_changed(inputs, content, [cell.values for cell in grid.cells() if cell.values])
    limited = (limited_cables(point.case, inputs.case_file, what) for point in points if budget is not None)
    refuse_any(list(dict.fromkeys(chain.from_iterable(limited))))
    return grid


Parsed = TypeVar("Parsed")


def _value_or_fault(parsed: Parsed | Fault, faults: list[Fault]) -> Parsed | None:
    """The parsed value, or None, its fault noted."""
    if isinstance(parsed, Fault):
        faults.append(parsed)
        return None
    return parsed


def empty_front(inputs: Inputs, grid: Grid) -> Front:
    """The file of a sweep before any point is solved."""
    case = inputs.case
    objectives = [FrontObjective(metric=case.objective, sense="minimize")]
    if grid.budgets is not None:
        objectives = [
            FrontObjective(metric="capex_usd", sense="minimize"),
            FrontObjective(metric=MAXIMIZED[case.maximize], sense="maximize"),
        ]
    return Front(
        fabopt=VERSION,
        rules=edition_of(VERSION),
        case=case_record(problem_of(case, inputs.catalog)),
        catalog_sha256=catalog_hash(inputs),
        kind="sweep",
        keys=grid.names,
        objectives=tuple(objectives),
        complete=False,
        notes=inputs.notes,
    )


def catalog_hash(inputs: Inputs) -> str:
    """Hash of the products and their prices, changes applied."""
    return hashlib.sha256(inputs.catalog.model_dump_json().encode()).hexdigest()


def sweep(
    inputs: Inputs,
    grid: Grid,
    execution: Execution,
    before: Front | None,
    settings: Settings,
    clock: Clock,
    report: Report,
) -> Front:
    """The best design at every point of a grid; points of ``before`` are not solved again.

    ``complete`` is False if the clock stopped it. ``report`` is given new points as they come. Raises ``CutShortError``
    where workers cannot go on.
    """
    collected = Collected(grid, report)
    cells = _open_cells(grid, before, collected)
    shared = SweepInputs(inputs, grid.keys, settings.engine, grid.budgets is not None)
    reason = ""
    try:
        complete = not cells or _solved(shared, cells, execution, settings, clock, collected.take)
    except NoAnswerError as error:
        complete, reason = False, str(error)
    front = empty_front(inputs, grid)
    front = gathered(front.model_copy(update={"points": _priced(front, collected, grid), "complete": complete}))
    if reason:
        raise CutShortError(reason, front)
    return front


def _solved(
    shared: SweepInputs, cells: Sequence[GridCell], execution: Execution, settings: Settings, clock: Clock, take: Take
) -> bool:
    """Solve cells where the execution asks for it; False if the clock stopped it."""
    if execution.dask is not None:
        return solve_on_dask(shared, cells, execution.dask, clock, take)
    if execution.jobs > 1 and len(cells) > 1:
        return solve_in_processes(shared, cells, execution.jobs, clock, take)
    return solve_here(shared, cells, settings, clock, take)


def _open_cells(grid: Grid, before: Front | None, collected: Collected) -> list[GridCell]:
    """Cells with points still to be solved; the others are collected."""
    known = {_at(point): point for point in spread(before).points} if before is not None else {}
    left = []
    for cell in grid.cells():
        over = tuple((grid.keys[steps], value) for steps, value in cell.values.items())
        there = [known[over, budget] for budget in cell.budgets or (None,) if (over, budget) in known]
        for point in there:
            collected.keep(cell, point)
        if len(there) < len(cell.budgets or (None,)):
            left.append(_open_part(cell, there))
    return left


def _open_part(cell: GridCell, there: Sequence[FrontPoint]) -> GridCell:
    """A cell without its known points. The search goes on from those of lower budgets."""
    done = {point.budget_usd for point in there}
    budgets = sorted(budget for budget in cell.budgets if budget not in done)
    lower = [point for point in there if budgets and (point.budget_usd or 0) < budgets[0]]
    return replace(cell, budgets=tuple(budgets)).after(sorted(lower, key=lambda point: point.budget_usd or 0))


def _at(point: FrontPoint) -> tuple[tuple[tuple[str, object], ...], object]:
    return tuple(point.over.items()), point.budget_usd


def _priced(front: Front, collected: Collected, grid: Grid) -> tuple[FrontPoint, ...]:
    """The points in order, with the marginal cost of the maximized metric from one budget to the next."""
    points = collected.in_order()
    if grid.budgets is None:
        return tuple(points)
    by_cell = grouped((_at(point)[0], point) for point in points)
    priced: dict[object, FrontPoint] = {}
    for cell in by_cell.values():
        rising = sorted(cell, key=lambda point: point.budget_usd or 0)
        priced.update({_at(point): point for point in with_marginal(rising, front.objectives)})
    return tuple(priced[_at(point)] for point in points)


# What one command solves at the most; more than that is nearly always a slip of the keyboard.
MOST_POINTS = 100_000
# Ratios of a case have at most six decimals, and so do steps of a range.
DIGITS = 6
# Dollars below this without a suffix are taken for a forgotten M or K.
LEAST_BUDGET_USD = 1000
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([KkM]?)")
_SUFFIXES = {"": 1, "K": 1000, "k": 1000, "M": 1_000_000}
_ONE_AMOUNT = re.compile(r"\s*\$\s*[0-9]{1,3}(?:,[0-9]{3})+\s*")
RANGE_FORM = "start:stop:count such as 2:10:9, or a list such as 1,1.5,2; suffixes K and M"
BUDGET_FORM = "start:stop:count such as 2M:10M:9, or a list such as 2M,4.5M; suffixes K and M"


class _WrongError(ValueError):
    """The problem of a range, and the remedy."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.hint = hint


def budget_range(text: str) -> list[int | float] | Fault:
    """Budgets in dollars, each once, in the order given; or their fault."""
    return _parsed("--budget", text, text, BUDGET_FORM, _budget, 2)


def value_range(key: str, text: str) -> list[int | float] | Fault:
    """Values of a key of the case, each once, in the order given; or their fault."""
    quantities = (quantity_under(word) for word in reversed(key.split(".")))
    measured = next((quantity for quantity in quantities if quantity is not None), None)
    return _parsed("--over", f"{key}={text}", text, RANGE_FORM, partial(_number, measured=measured), DIGITS)


def _parsed(
    option: str, whole: str, text: str, form: str, number: Callable[[str], Fraction], digits: int
) -> list[int | float] | Fault:
    try:
        points = _points(text.strip(), number)
    except _WrongError as error:
        return fault(option, "", str(error), whole, allowed=form, hint=error.hint)
    return list(dict.fromkeys(plain_fraction(point, digits) for point in points))


def _points(text: str, number: Callable[[str], Fraction]) -> Sequence[Fraction]:
    if not text:
        raise _WrongError("there are no values")
    if _ONE_AMOUNT.fullmatch(text):
        return [number(text)]
    if ":" not in text:
        return [number(word) for word in text.split(",")]
    words = text.split(":")
    if len(words) != 3:
        raise _WrongError("a range has three parts")
    start, stop, count = number(words[0]), number(words[1]), _count(words[2])
    if start > stop:
        raise _WrongError("the range is reversed: it starts above its end", _forgotten_suffix(words))
    if count == 1 and start != stop:
        raise _WrongError("a range of one value has the same start and end")
    return [start + (stop - start) * index / max(1, count - 1) for index in range(count)]


def _forgotten_suffix(words: Sequence[str]) -> str:
    """A hint where only the start has a suffix K or M."""
    first, last = words[0].strip(), words[1].strip()
    return f"did you mean `{last}{first[-1]}`?" if first[-1:] in "KM" and last[-1:] not in "KM" else ""


def _count(text: str) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdigit():
        raise _WrongError("how many values is a whole number")
    count = int(text) if len(text) <= len(str(MOST_POINTS)) else MOST_POINTS + 1
    if count == 0:
        raise _WrongError("the range is empty")
    if count > MOST_POINTS:
        raise _WrongError(f"a range has at most {MOST_POINTS:,} values")
    return count


def _number(text: str, measured: MeasuredText | None = None) -> Fraction:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        quantity = None if measured is None else measured.read(text)
        if quantity is not None:
            return quantity
        raise _WrongError(f"`{text.strip()}` is not a number" if text.strip() else "a value is missing")
    return exact(match.group(1)) * _SUFFIXES[match.group(2)]


def _budget(text: str) -> Fraction:
    usd = _number(text, MONEY)
    if usd < LEAST_BUDGET_USD and text.strip()[-1].isdigit():
        word = text.strip()
        raise _WrongError(f"`{word}` has no unit", f"write {word}M or {word}K; dollars are written in full: 2000000")
    return usd
