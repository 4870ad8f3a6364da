"""A case whose links may run through trunks: room for panels in the racks, and leads where they are cheaper.

Trunks and panels are part of the search, and room for the panels of each fabric alone: racks of its candidates have it.
If the racks of an answer have none for those of all fabrics, or those of no candidate, units for panels are kept in
every rack, and the answer then is not proven. Where links are leads or trunks, whichever is cheaper, the answer with
leads alone is looked at too: it has switches in places that no search with trunks looks at. Where panels are in racks
or in rows, whichever is cheaper, so are both. Points of a study are found the same way, problem by problem
(``TrunkedWays``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from fabopt.floor.row_ends import against_rows
from fabopt.io.case import Inputs
from fabopt.parts.offering import what_decides
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.problem.trunk_parts import with_panels_anywhere
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, sums_of
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict, Design
from fabopt.schema.site import Site
from fabopt.schema.structured import CablingWord
from fabopt.search.answer import Answer, bounded_by
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, Question
from fabopt.topology.clos.trunked import is_proven
from fabopt.units import some
from fabopt.wiring.panel_places import panel_units, panels_of

Settle = Callable[[Question], tuple[Question, Answers]]
Found = TypeVar("Found")
# The most solves with other values of a rule of racks.
MOST_ROUNDS = 3
IN_ROWS, LEADS = "panels at the ends of rows", "leads where trunks are not asked for"


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
    for told, keys in _other_sites(case):
        asked.settings.progress(f"the same with {told}")
        try:
            ways.append(_with_room(replace(alone, inputs=_with_site(alone.inputs, keys)), settle))
        except StoppedError:
            ways.append(_TrunkedAnswers(alone, Answers(ways[0].answers.tried, complete=False), is_bounded=False))
    best = min(ways, key=lambda way: (way.value is None, way.value or 0))
    answers, bounds = best.answers, [way.bound for way in ways if not way.has_none]
    if bounds and (len(ways) > 1 or not best.is_bounded):
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
    def has_none(self) -> bool:
        """Whether this way is proven to have no design."""
        return self.is_bounded and self.answers.is_decided and self.value is None

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

    @property
    def conflict(self) -> Conflict:
        """Why it is no design."""
        case = self.answer.problem.case
        assert case.site.floor
        units = case.site.floor.rack_units
        return Conflict(
            limit="site.floor.rack_units", value=units, needed=units + self.units, direction="up", minimal=False,
            detail=f"the racks of the best design found have no room for {some(self.lacking, 'panel')}",
        )  # fmt: skip

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
    if answers.best is None and asked.inputs.case.site.has_floor:
        # what the racks lack room for is told of the best design without it
        asked = replace(asked, panels_anywhere=True)
        question, answers = settle(asked)
    proven, case = all(is_proven(one.problem) for one in answers.tried), asked.inputs.case
    if answers.best is None or not (first := _PanelledAnswer(answers.best)).lacking:
        return _TrunkedAnswers(question, answers, proven)
    bound = answers.optimum.bound if proven else None

    def again(key: str, value: int) -> tuple[tuple[Question, Answers], Answer | None]:
        settled = settle(replace(asked, inputs=_with_site(asked.inputs, _rack_rule(case.site, key, value))))
        return settled, settled[1].best

    if (met := _in_racks_with_room(first, again, asked.settings.progress)) is not None:
        (other, others), key, value = met
        tried = tuple(_without_rule(one, key, value, case) for one in others.tried)
        told = replace(other, notes=(*other.notes, _note_of_room(key, value)))
        return _TrunkedAnswers(told, _bounded(replace(others, tried=tried), bound), bound is not None)
    none = Answers(tuple(replace(one, optimum=_unknown(one)) for one in answers.tried), complete=False, bound=bound)
    return _TrunkedAnswers(replace(question, conflicts=(first.conflict,)), none, bound is not None)


def _in_racks_with_room(
    first: _PanelledAnswer, again: Callable[[str, int], tuple[Found, Answer | None]], told: Callable[[str], None]
) -> tuple[Found, str, int] | None:
    """What is found with more room for panels in every rack, and by which rule of racks; None if nothing has room.

    ``again``: what is found with another value of a rule, and the answer of it.
    """
    for key in ("patch_panel_units", "switches") if is_kept(first.answer.problem.case.rules, RACK_RULES) else ():
        step = first
        for _ in range(MOST_ROUNDS):
            more = step.more_room(key)
            if more is None:
                break
            told(f"no room for panels: looking again, with `{key}: {more}` in every rack")
            way, answer = again(key, more)
            if answer is None:
                break
            step = _PanelledAnswer(answer)
            if not step.lacking:
                return way, key, more
    return None


def _note_of_room(key: str, value: int) -> str:
    note = f"some racks had no room for panels: with `rack_rules.{key}: {value}` they have"
    return f"{note}; another way may cost less"


def _rack_rule(site: Site, key: str, value: int) -> dict[str, object]:
    """The key of a site with another value of a rule of racks."""
    return {"rack_rules": site.rack_rules.model_copy(update={key: value})}


def _other_sites(case: Case) -> Iterator[tuple[str, dict[str, object]]]:
    """What else a case with trunks may be, as a key of its site, with words for it: panels in rows in place of racks,
    and leads where links may be leads. What is `any` of zones is racks, until it is rows.
    """
    site, words = case.site, case.site.trunked
    in_rows = case.model_copy(update={"site": site.model_copy(update={"cabling": site.kinds_cabled(zones="rows")})})
    has_ends = site.zones == "any" and not any(against_rows(in_rows))
    if has_ends:
        yield IN_ROWS, {"cabling": in_rows.site.cabling}
    if "any" in words.values():
        said: dict[str, CablingWord] = {kind: word for kind, word in words.items() if word == "structured"}
        yield LEADS, {"cabling": site.kinds_cabled(said)}
        if said and has_ends:
            yield f"{LEADS}, and {IN_ROWS}", {"cabling": site.kinds_cabled(said, "rows")}


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


def proven_with_trunks(problem: Problem, optimum: Optimum) -> Optimum:
    """An outcome of a search as what it proves, where trunks and panels that are not the cheapest may be better."""
    if is_proven(problem) or optimum.verdict not in ("optimal", "infeasible"):
        return optimum
    return replace(optimum, verdict="unknown" if optimum.value is None else "feasible", bound=None)


def as_best(optimum: Optimum, is_best: bool) -> Optimum:
    """The optimum of one of several problems as that of all."""
    return optimum if is_best else replace(optimum, verdict="feasible", bound=None)


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


# -- points of studies ------------------------------------------------------------------------------------------------


class NoRoomError(StoppedError):
    """No design was found whose racks have room for its panels; ``conflict`` says what would make some."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(conflict.detail)
        self.conflict = conflict


@dataclass(frozen=True)
class MetWay(Generic[Found]):
    """The best that a study found of a problem: the answer, how it ranks (less is better), and what it has of it."""

    answer: Answer
    rank: tuple[Any, ...]
    of_study: Found

    @classmethod
    def of(
        cls, problem: Problem, picked: Sequence[Picked], proven: bool, rank: object, of_study: Found
    ) -> MetWay[Found]:
        """A design of a problem, found for whatever metric; ``of_study``: what a study has of it."""
        chosen = [(candidate, list(units)) for candidate, units in picked]
        value = sums_of(problem, chosen).objective + problem.fixed_energy
        return cls(Answer(problem, Optimum("optimal" if proven else "feasible", chosen, value)), (rank,), of_study)

    @property
    def is_proven(self) -> bool:
        """Whether none ranks before it."""
        return self.answer.optimum.verdict == "optimal"


@dataclass(eq=False)
class TrunkedWays:
    """The problems whose designs together are those of a problem whose links may run through trunks."""

    problem: Problem
    prune: bool = True
    _known: dict[tuple[Problem, object], Problem] = field(default_factory=dict)

    def best(
        self,
        run: Callable[[Problem], MetWay[Found] | None],
        told: Callable[[str], None],
        known: MetWay[Found] | None = None,
    ) -> tuple[MetWay[Found], bool, tuple[str, ...]] | None:
        """The best with room for its panels, as an answer to the problem itself; whether none is better; and notes.

        ``run``: the best of one of the problems; ``known``: a design that has room. None where none has a design.
        Raises ``NoRoomError``.
        """
        site, conflict = self.problem.case.site, None
        others = [self._other(self.problem, told, keys) for told, keys in _other_sites(self.problem.case)]
        ways = [self.problem, *others]
        met_ways = (run(way) or run(with_panels_anywhere(way)) for way in ways)
        first = [met for met in met_ways if met is not None]
        roomy: list[tuple[MetWay[Found], tuple[str, ...]]] = [] if known is None else [(known, ())]
        for met in first:
            panelled = _PanelledAnswer(met.answer)
            if not panelled.lacking:
                roomy.append((met, ()))
            elif (other := self._with_room(panelled, run, told)) is not None:
                roomy.append(other)
            else:
                conflict = panelled.conflict
        if not roomy:
            if conflict is not None:
                raise NoRoomError(conflict)
            return None
        best, notes = min(roomy, key=lambda pair: pair[0].rank)
        own = _with_keys(best.answer.problem, {"cabling": site.cabling, "rack_rules": site.rack_rules})
        is_best = all(met.is_proven and met.rank >= best.rank for met in first)
        return replace(best, answer=replace(best.answer, problem=own)), is_best, notes

    def _with_room(
        self, panelled: _PanelledAnswer, run: Callable[[Problem], MetWay[Found] | None], told: Callable[[str], None]
    ) -> tuple[MetWay[Found], tuple[str, ...]] | None:
        """A design with more room for panels in every rack, and a note; None if nothing has room."""
        way = panelled.answer.problem

        def again(key: str, value: int) -> tuple[MetWay[Found] | None, Answer | None]:
            other = run(self._other(way, (key, value), _rack_rule(way.case.site, key, value)))
            return other, None if other is None else other.answer

        looked_at = _in_racks_with_room(panelled, again, told)
        if looked_at is None or looked_at[0] is None:
            return None
        return looked_at[0], (_note_of_room(looked_at[1], looked_at[2]),)

    def _other(self, way: Problem, key: object, keys: dict[str, object]) -> Problem:
        """A problem that differs in keys of its site."""
        if (way, key) not in self._known:
            case = way.case.model_copy(update={"site": way.case.site.model_copy(update=keys)})
            # the same items: prices of a study are those of its offering
            offering = replace(way.offering, decided_by=what_decides(case, way.catalog))
            other = problem_of(case, way.catalog, self.prune, offering)
            own = replace(other, asked=way.asked, limits=way.limits, weights=way.weights, then=way.then)
            self._known[way, key] = bound_alike(own, way)
        return self._known[way, key]
