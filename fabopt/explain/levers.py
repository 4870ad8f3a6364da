"""Limits that can be moved, one alone or several together, to the nearest value with which there is a design.

Every value that is told is that of a design that was found; that nothing nearer does was asked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError, unbroken
from fabopt.schema.case import Case
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
    """A number that would have to be another one."""
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


def whole(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two; None where there is none between them."""
    return halfway(int(works), int(fails))


def finely(works: Number, fails: Number) -> int | None:
    """The whole number halfway between two, until they are as near as they have to be."""
    return whole(works, fails) if abs(works - fails) > PRECISION * abs(works) else None


def a_little_nearer(works: Number, fails: Number) -> int | None:
    """The whole number as near to one that works as a failing one has to be; None if that is past what fails."""
    step = max(1, int(PRECISION * abs(works)))
    return int(works) + (step if works < fails else -step) if step < abs(works - fails) else None


def as_it_is(value: Number) -> Number:
    """A value in the units in which it is told."""
    return value


@dataclass(frozen=True, eq=False)
class Lever:
    """A limit that can be moved. ``value``: what it is, with which there is no design; ``words``: what that means.

    ``applied``: the question with another value of it, or with None as far as it goes; ``taken``: the value nearest to
    ``value`` with which a design that was found for a problem holds, ``value`` itself if that will do; ``least``: that
    of all designs, where a single question tells it, else None; ``between``: what to ask for next, between a value
    that works and one that fails; ``shown``: a value in the units of the case; ``along``: other limits that it moves.
    """

    limit: str
    value: Number
    words: str
    applied: Callable[[Supposition, Number | None], Supposition]
    taken: Callable[[Problem, Optimum], Number]
    between: Callable[[Number, Number], Number | None] = whole
    shown: Callable[[Number], Number] = as_it_is
    along: Callable[[Number], tuple[Needed, ...]] = lambda value: ()
    least: Callable[[Inquiry, Supposition], Number | None] = lambda inquiry, asked: None


def first_of(
    inquiry: Inquiry, limit: str, value: int, changes: Iterable[tuple[int, Case]], detail: str
) -> Iterator[Conflict]:
    """The first of some numbers with which the changed case has a design, in the place of a value without one."""

    def questions() -> Iterator[Conflict]:
        needed = inquiry.first_with_design(changes)
        if needed is not None:
            yield advice(limit, value, needed, detail)

    return inquiry.of_limit(limit, value, questions())


def alone(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """What each lever would have to be with all others kept, where that gives a design."""
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


def together(inquiry: Inquiry, levers: Sequence[Lever]) -> Iterator[Conflict]:
    """The changes that do together where none does alone: none of them to spare, each as small as it can be.

    The first ones are made as small as they can be first, with those after them as far as they go.
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
    """Values of all levers with which there is a design, one after the other as small as it can be.

    With each, whether no smaller one of those before was left open.
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
    """Those levers that are needed, and whether none of them could be spared."""
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
    """What some design takes of each lever that is moved; None if there is no design."""
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
    """The value of a lever nearest to its own that gives a design with others moved, and whether none is nearer."""

    def ask(value: Number) -> Number | None:
        values = _values(inquiry, {**others, lever: value})
        return None if values is None else values[lever]

    with suppress(StoppedError):
        least = lever.least(inquiry, _moved(inquiry, {**others, lever: None}))
        if least is not None:
            return least, True
    # often nothing nearer than what one of the first designs takes will do
    for _ in range(FIRST_STEPS if lever.between is finely else 0):
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
    least = (SETTLED_FINELY if lever.between is finely else "") if minimal else UNSETTLED
    words = "; ".join(part for part in (lever.words, least) if part)
    conflict = advice(lever.limit, lever.shown(lever.value), shown, words, minimal)
    along = lever.along(needed)
    if not along:
        return conflict
    return conflict.model_copy(update={"together": (Needed(limit=lever.limit, needed=shown), *along)})


def _joint(levers: Sequence[Lever], values: Mapping[Lever, Number], minimal: bool) -> Conflict:
    """Changes that are needed at once, as one."""
    first = levers[0]
    conflict = _conflict(first, values[first], minimal)
    changes = tuple(Needed(limit=lever.limit, needed=lever.shown(values[lever])) for lever in levers)
    return conflict.model_copy(update={"together": changes if len(changes) > 1 else conflict.together})
