"""A case whose links may run through trunks: room for panels in the racks, and leads where they are cheaper.

Trunks and panels are part of the search, the units of panels are not: an answer whose racks have room for its panels is
as good as any. If one has none, units for panels are kept in every rack, and the answer then is not proven. Where links
are leads or trunks, whichever is cheaper, the answer with leads alone is looked at too: it has switches in places that
no search with trunks looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict, Design
from fabopt.schema.structured import TRUNKED, CablingOfKinds, CablingWord
from fabopt.search.answer import Answer, bounded_by
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, Question
from fabopt.topology.clos.trunked import is_proven
from fabopt.units import some
from fabopt.wiring.panel_places import panel_units, panels_of

Settle = Callable[[Question], tuple[Question, Answers]]
# The most solves with other values of a rule of racks.
MOST_ROUNDS = 3


def with_trunks(asked: Question, settle: Settle) -> tuple[Question, Answers]:
    """The question and its answers, with room for all panels; the same ones where the case has leads alone.

    Rule ``panels_fit_racks``. A point of a study is taken as it is.
    """
    case = asked.inputs.case
    if not case.site.trunked or asked.problem is not None or asked.answer is not None:
        return settle(asked)
    # nothing that was met before knows of trunks
    alone = replace(asked, known=None, lower_than=None, tried=())
    ways = [_with_room(alone, settle)]
    if "any" in case.site.trunked.values():
        asked.settings.progress("the same with leads where trunks are not asked for")
        try:
            ways.append(_with_room(replace(alone, inputs=_with_leads(alone.inputs)), settle))
        except StoppedError:
            ways.append(_TrunkedAnswers(alone, Answers(ways[0].answers.tried, complete=False), is_bounded=False))
    best = min(ways, key=lambda way: (way.value is None, way.value or 0))
    answers = best.answers
    if len(ways) > 1 or not best.is_bounded:
        bounds = [way.bound for way in ways]
        known = [bound for bound in bounds if bound is not None]
        answers = _bounded(answers, min(known) if len(known) == len(bounds) else None)
    tried = tuple(replace(one, problem=_of_case(one, case)) for one in answers.tried)
    inputs = replace(best.question.inputs, case=case)
    return replace(best.question, inputs=inputs), replace(answers, tried=tried)


@dataclass(frozen=True)
class _TrunkedAnswers:
    """Answers with room for their panels. ``is_bounded``: whether the bound of the search holds for all trunks."""

    question: Question
    answers: Answers
    is_bounded: bool

    @property
    def value(self) -> int | None:
        """The objective of the best answer."""
        return self.answers.optimum.value

    @property
    def bound(self) -> int | None:
        """What no answer of this way is below; None where that is not known."""
        if not self.is_bounded:
            return None
        optimum = self.answers.optimum
        return optimum.value if optimum.bound is None and self.answers.is_decided else optimum.bound


@dataclass(frozen=True)
class _PanelledAnswer:
    """An answer with the panels that its racks have no room for."""

    answer: Answer

    @cached_property
    def lacking(self) -> int:
        """Panels without a place."""
        return sum(place.unit == 0 for place in panels_of(self._design.fabrics))

    @cached_property
    def _design(self) -> Design:
        return design_of(self.answer, "", 0.0)

    @property
    def units(self) -> int:
        """The most units of panels in a rack."""
        return max(panel_units(self._design).values(), default=0)

    def more_room(self, key: str) -> int | None:
        """A value of a rule of racks that leaves more room for panels; None where there is none."""
        rules = self.answer.problem.case.site.rack_rules
        if key == "patch_panel_units":
            return max(rules.patch_panel_units + 1, self.units)
        places = (one.places for one in self._design.fabrics)
        racks = Counter(rack for one in places for rack, _ in (*one.leaf, *one.spine, *one.core))
        most = max(racks.values(), default=1)
        return most // 2 if most > 1 else None


def _with_room(asked: Question, settle: Settle) -> _TrunkedAnswers:
    question, answers = settle(asked)
    proven = all(is_proven(one.problem) for one in answers.tried)
    if answers.best is None or not (first := _PanelledAnswer(answers.best)).lacking:
        return _TrunkedAnswers(question, answers, proven)
    bound, step, case = answers.optimum.bound if proven else None, first, asked.inputs.case
    for key in ("patch_panel_units", "switches") if is_kept(case.rules, RACK_RULES) else ():
        for _ in range(MOST_ROUNDS):
            more = step.more_room(key)
            if more is None:
                break
            asked.settings.progress(f"no room for panels: looking again, with `{key}: {more}` in every rack")
            again, others = settle(replace(asked, inputs=_with_rack_rule(asked.inputs, key, more)))
            if others.best is None:
                break
            step = _PanelledAnswer(others.best)
            if not step.lacking:
                tried = tuple(_without_rule(one, key, more, case) for one in others.tried)
                note = f"some racks had no room for panels: with `rack_rules.{key}: {more}` they have; another way may"
                told = replace(again, notes=(*again.notes, f"{note} cost less"))
                return _TrunkedAnswers(told, _bounded(replace(others, tried=tried), bound), bound is not None)
        step = first
    conflict = Conflict(
        limit="site.floor.rack_units", value=_rack_units(case), needed=_rack_units(case) + first.units, direction="up",
        minimal=False, detail=f"the racks of the best design found have no room for {some(first.lacking, 'panel')}",
    )  # fmt: skip
    none = Answers(tuple(replace(one, optimum=_unknown(one)) for one in answers.tried), complete=False, bound=bound)
    return _TrunkedAnswers(replace(question, conflicts=(conflict,)), none, bound is not None)


def _rack_units(case: Case) -> int:
    assert case.site.floor
    return case.site.floor.rack_units


def _with_rack_rule(inputs: Inputs, key: str, value: int) -> Inputs:
    """The inputs with another value of a rule of racks."""
    rules = inputs.case.site.rack_rules.model_copy(update={key: value})
    return _with_site(inputs, {"rack_rules": rules})


def _with_leads(inputs: Inputs) -> Inputs:
    """The inputs with leads where links may be leads."""
    site, words = inputs.case.site, inputs.case.site.trunked
    said: dict[str, CablingWord] = {kind: "structured" for kind in TRUNKED if words.get(kind) == "structured"}
    cabling = CablingOfKinds.model_validate({**said, "spare_legs": site.spare_legs})
    return _with_site(inputs, {"cabling": cabling})


def _with_site(inputs: Inputs, keys: dict[str, object]) -> Inputs:
    site = inputs.case.site.model_copy(update=keys)
    return replace(inputs, case=inputs.case.model_copy(update={"site": site}))


def _of_case(answer: Answer, asked: Case) -> Problem:
    """The problem of an answer as one of the case that was asked."""
    return _with_keys(answer.problem, {"cabling": asked.site.cabling})


def _with_keys(problem: Problem, keys: dict[str, object]) -> Problem:
    """A problem whose case has other keys of its site."""
    cases = (one.model_copy(update={"site": one.site.model_copy(update=keys)}) for one in (problem.asked, problem.case))
    return replace(problem, asked=next(cases), case=next(cases))


def _without_rule(answer: Answer, key: str, value: int, asked: Case) -> Answer:
    """An answer found with another value of a rule of racks, of the case as it was asked."""
    rules = answer.problem.case.site.rack_rules
    if getattr(rules, key) != value:
        return answer  # rule `rack-rules` has yielded
    own = rules.model_copy(update={key: getattr(asked.site.rack_rules, key)})
    return replace(answer, problem=_with_keys(answer.problem, {"rack_rules": own}))


def _bounded(answers: Answers, bound: int | None) -> Answers:
    """Answers as those to a wider question: proven where they reach its bound."""
    tried = (
        one if one.optimum.value is None else replace(one, optimum=bounded_by(one.optimum, bound))
        for one in answers.tried
    )
    is_reached = bound is not None and answers.optimum.value is not None and bound >= answers.optimum.value
    return Answers(tuple(tried), complete=is_reached, bound=bound)


def _unknown(answer: Answer) -> Optimum:
    return Optimum("unknown", sized=answer.optimum.sized)
