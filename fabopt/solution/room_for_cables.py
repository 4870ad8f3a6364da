"""A case that limits how full trays, or the vertical managers of racks, are: thinner cables where they are too full.

The answer without the limits is the best with them if it keeps them. If not, thicker parts are left out, step by step,
and the cheapest answer that keeps the limits is taken. Others may be cheaper, as with thick cables in some places
alone, so it is not proven: its bound is the answer without the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from fabopt.io.case import Inputs
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import DEFAULT_RULES, RACK_MANAGERS, TRAY_FILL, is_kept
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict
from fabopt.search.answer import Answer
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, Question
from fabopt.units import exact
from fabopt.verify.trays import fullest
from fabopt.wiring.build import wiring_of

Settle = Callable[[Question], tuple[Question, Answers]]
Settled = tuple[Question, Answers]
RULES = {"tray": TRAY_FILL, "manager": RACK_MANAGERS}
DIGITS = 10_000


def with_room_for_cables(asked: Question, settle: Settle) -> Settled:
    """The question and its answers with cables that trays and managers hold; the same ones where nothing is limited.

    Rules ``trays_hold_cables`` and ``managers_hold_cables``. Without such answers the question has the conflicts of
    the limits. A point of a study is taken as it is.
    """
    limits = dict(_limits(asked.inputs.case))
    if not limits or asked.problem is not None or asked.answer is not None:
        return settle(asked)
    first = settle(asked)
    if first[1].best is None:
        return first
    over = _over(full := _full(first[1].best), limits)
    if not over:
        return _told(first, full, limits)
    bound, kept, least = first[1].optimum.bound, list[Settled](), [over]
    try:
        for inputs in _thinner(asked.inputs):
            asked.clock.look()
            asked.settings.progress("trays or managers are too full: looking at thinner cables")
            alone = replace(asked, inputs=inputs, known=None, lower_than=None, tried=())
            node = settle(alone)
            if node[1].best is None:
                break
            full = _full(node[1].best)
            least.append(_over(full, limits))
            if not least[-1]:
                kept.append(_told(node, full, limits))
    except StoppedError:
        pass
    if kept:
        question, answers = min(kept, key=lambda node: node[1].optimum.value or 0)
        told = f"with the cheapest parts {' and '.join(f'{what}s' for what in over)} would be too full: thicker cables "
        told += "are left out of all places, so that a dearer design than need be may have been found"
        question = replace(question, notes=(*question.notes, told))
        return question, replace(answers, complete=False, bound=bound)
    answers = first[1]
    none = tuple(replace(one, optimum=Optimum("unknown", sized=one.optimum.sized)) for one in answers.tried)
    return replace(first[0], conflicts=tuple(_conflicts(limits, least))), Answers(none, complete=False, bound=bound)


def _limits(case: Case) -> Iterator[tuple[str, Fraction]]:
    floor = case.site.floor
    for what, rule in RULES.items():
        fill = None if floor is None else floor.sections[what][2]
        if fill is not None and is_kept(case.rules, rule):
            yield what, exact(fill)


def _full(answer: Answer) -> dict[str, Fraction]:
    """How full the fullest tray and the fullest managers of an answer are."""
    design = design_of(answer, "", 0.0)
    return fullest(design, wiring_of(design))


def _told(node: Settled, full: dict[str, Fraction], limits: dict[str, Fraction]) -> Settled:
    """With a note on each rule that is kept."""
    notes = (DEFAULT_RULES[RULES[what]].note(f"{float(full[what]):.1%} of {float(most):.1%}")
             for what, most in limits.items())  # fmt: skip
    return replace(node[0], notes=(*node[0].notes, *notes)), node[1]


def _over(full: dict[str, Fraction], limits: dict[str, Fraction]) -> dict[str, Fraction]:
    """The fullest share of what is fuller than its limit."""
    return {what: full[what] for what, most in limits.items() if full[what] > most}


def _thinner(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs without the thickest cables and fibres, then without the next ones too; the thinnest stay."""
    catalog = inputs.catalog
    sizes = sorted({one.diameter_mm for one in (*catalog.cables, *catalog.fibres) if one.diameter_mm is not None})
    for most in reversed(sizes[:-1]):
        left = {
            kind: tuple(one for one in getattr(catalog, kind) if (one.diameter_mm or 0) <= most)
            for kind in ("cables", "fibres")
        }
        yield replace(inputs, catalog=catalog.model_copy(update=left))


def _conflicts(limits: dict[str, Fraction], met: list[dict[str, Fraction]]) -> Iterator[Conflict]:
    """What each limit would have to be for the design that comes nearest to all."""
    nearest = min(met, key=lambda over: max(over[what] / limits[what] for what in over))
    for what, share in nearest.items():
        needed = ceil(share * DIGITS) / DIGITS
        yield Conflict(
            limit=f"site.floor.{what}_fill", value=float(limits[what]), needed=needed, direction="up", minimal=False,
            detail=f"rule `{RULES[what]}`: the fullest {what} of the leanest design that was found; wider ones, "
            "other places of switches or thinner cables may do with less",
        )  # fmt: skip
