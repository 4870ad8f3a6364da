"""Limits that can be moved, one alone or several together, to the nearest value that gives a design.

Every value told is one of a found design; nearer values were asked for, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError, unbroken
from fabopt.schema.design import Conflict, Needed, Number

# So near to a value that fails, a value is told: twice as near as it has to be.
PRECISION = 1 / 2000
# So many designs are looked for that are a little nearer than the one before, until the rest is halved.
FIRST_STEPS = 4
# What is said of a value where it is not known whether a nearer one would do, and where none a thousandth nearer does.
UNSETTLED = "whether a smaller change would do was not settled in time"
SETTLED_FINELY = "a thousandth less would not do"
# By lever, its value; None: as far as it goes.
Values = Mapping["Lever", Number | None]


def advice(limit: str, value: Number, needed: Number, detail: str, minimal: bool = True) -> Conflict:
    """The conflict of a number, with the needed number and its direction."""
    direction = "up" if needed > value else "down"
    return Conflict.model_validate(
        {
            "limit": limit,
            "value": value,
            "needed": needed,
            "direction": direction,
            "minimal": minimal,
            "detail": detail,
        }
    )


def halfway_whole(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two; None where there is none between them."""
    return halfway(int(works), int(fails))


def halfway_to_precision(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two; None within ``PRECISION``."""
    return halfway_whole(works, fails) if abs(works - fails) > PRECISION * abs(works) else None


def a_little_nearer(works: Number, fails: Number) -> int | None:
    """The whole number ``PRECISION`` away from a working one, towards a failing one; None if past the failing one."""
    step = max(1, int(PRECISION * abs(works)))
    return int(works) + (step if works < fails else -step) if step < abs(works - fails) else None


def as_it_is(value: Number) -> Number:
    """The value itself, for levers in the units of the case."""
    return value


@dataclass(frozen=True, eq=False)
class Lever:
    """A limit that can be moved. ``value``: of the case, without a design; ``words``: on the needed value.

    ``applied``: the supposition with another value, or with None lifted; ``taken``: the value nearest to ``value`` that
    admits a found design, ``value`` itself if that does; ``least``: such a value over all designs, where a single
    question finds it, else None; ``between``: the next value to ask for, between a working and a failing one;
    ``shown``: a value in the units of the case; ``along``: other limits that it moves.
    """

    limit: str
    value: Number
    words: str
    applied: Callable[[Supposition, Number | None], Supposition]
    taken: Callable[[Problem, Optimum], Number]
    between: Callable[[Number, Number], Number | None] = halfway_whole
    shown: Callable[[Number], Number] = as_it_is
    along: Callable[[Number], tuple[Needed, ...]] = lambda value: ()
    least: Callable[[Inquiry, Supposition], Number | None] = lambda inquiry, asked: None


def move_each_alone(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """Conflicts of levers moved one at a time, where this gives a design."""
    for lever in levers:
        inquiry.tell(lever.limit)
        known: Conflict | None = None
        with suppress(StoppedError), inquiry.clock.bounded():
            values = _values(inquiry, {lever: None})
            if values is not None:
                known = _conflict(lever, values[lever], False)
                needed, is_least = _nearest(inquiry, lever, {}, values[lever])
                known = _conflict(lever, needed, is_least)
                inquiry.met.clear()
                _values(inquiry, {lever: needed})  # the design of what is told, by which it is priced
        if known is not None:
            yield known


def move_together(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """The conflict of levers moved together where no single one gives a design: none dispensable, each minimized.

    Levers are minimized in order, with later ones lifted.
    """
    inquiry.tell(f"{len(levers)} limits together")
    known = _values(inquiry, dict.fromkeys(levers))
    if known is None:
        return
    needed, is_least = _none_to_spare(inquiry, [lever for lever in known if known[lever] != lever.value])
    values = {lever: known[lever] for lever in needed}
    try:
        for smaller, minimal in _made_small(inquiry, needed):
            values, is_least = smaller, is_least and minimal
        inquiry.met.clear()
        _values(inquiry, values)
    except StoppedError:
        is_least = False
    yield _joint(needed, values, is_least)


def _made_small(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[tuple[dict[Lever, Number], bool]]:
    """Values of all levers with a design, minimized one after the other.

    With each, whether the value of the lever minimized before is proven to be least.
    """
    fixed: dict[Lever, Number] = {}
    minimal = True
    for lever in levers:
        free = {other: None for other in levers if other not in fixed}
        start = _values(inquiry, {**fixed, **free})
        assert start is not None, "what a design was found for has one"
        yield {**start, **fixed}, minimal
        fixed[lever], minimal = _nearest(inquiry, lever, {**free, **fixed}, start[lever])
    yield fixed, minimal


def _none_to_spare(inquiry: Inquiry, levers: list[Lever]) -> tuple[list[Lever], bool]:
    """A subset of levers that still gives a design, and whether each of them is proven to be needed."""
    needed, settled = levers, True
    for lever in levers:
        fewer = [other for other in needed if other is not lever]
        try:
            if fewer and _values(inquiry, dict.fromkeys(fewer)) is not None:
                needed = fewer
        except StoppedError:
            settled = False
    return needed, settled


def _values(inquiry: Inquiry, moved: Values) -> dict[Lever, Number] | None:
    """The values of the moved levers that some design takes; None if there is no design."""
    problem = inquiry.problem_asked(_moved(inquiry, moved))
    optimum = inquiry.design_of(problem)
    # what was found as the time was over counts too
    with unbroken():
        return None if optimum is None else {lever: lever.taken(problem, optimum) for lever in moved}


def _moved(inquiry: Inquiry, moved: Values) -> Supposition:
    asked = inquiry.asked
    for lever, value in moved.items():
        asked = lever.applied(asked, value)
    return asked


def _nearest(inquiry: Inquiry, lever: Lever, others: Values, works: Number) -> tuple[Number, bool]:
    """The value of a lever nearest to the case's that gives a design with others moved, and whether none is nearer."""

    def ask(value: Number) -> Number | None:
        values = _values(inquiry, {**others, lever: value})
        return None if values is None else values[lever]

    with suppress(StoppedError):
        least = lever.least(inquiry, _moved(inquiry, {**others, lever: None}))
        if least is not None:
            return least, True
    # often nothing nearer than what one of the first designs takes will do
    for _ in range(FIRST_STEPS if lever.between is halfway_to_precision else 0):
        little = a_little_nearer(works, lever.value)
        if little is None:
            break
        try:
            nearer = ask(little)
        except StoppedError:
            break
        if nearer is None:
            return works, True
        works = nearer
    return closest(works, lever.value, ask, lever.between)


def _conflict(lever: Lever, needed: Number, minimal: bool) -> Conflict:
    shown = lever.shown(needed)
    least = (SETTLED_FINELY if lever.between is halfway_to_precision else "") if minimal else UNSETTLED
    words = "; ".join(part for part in (lever.words, least) if part)
    conflict = advice(lever.limit, lever.shown(lever.value), shown, words, minimal)
    along = lever.along(needed)
    if not along:
        return conflict
    return conflict.model_copy(update={"together": (Needed(limit=lever.limit, needed=shown), *along)})


def _joint(levers: Sequence[Lever], values: Mapping[Lever, Number], minimal: bool) -> Conflict:
    """One conflict of levers that must be moved together."""
    first = levers[0]
    conflict = _conflict(first, values[first], minimal)
    changes = tuple(Needed(limit=lever.limit, needed=lever.shown(values[lever])) for lever in levers)
    return conflict.model_copy(update={"together": changes if len(changes) > 1 else conflict.together})
