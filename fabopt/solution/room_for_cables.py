"""A case that limits how full trays, vertical managers of racks or routes between halls are: thinner cables, or such
with fewer fibres, where they are too full, or other routes for what runs between some racks.

The answer without the limits is the best with them if it keeps them. If not, the thickest leads of an answer are left
out, or its thickest trunks, step by step, until the cheapest of all answers so keeps the limits. With the parts of each
step switches stand in other places too, the cheapest first, so that no other limit is what parts them. Others may be
cheaper, as with thick cables in some places alone, so that its bound is the answer without the limits. No such step
looks at the limits themselves, so that wider ones are never dearer. What does not fit a route between halls takes other
routes first, where there are any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from heapq import heappop, heappush
from math import ceil, inf

from fabopt.design.bill import bill
from fabopt.floor.fill import bend_room_mm, strands_of
from fabopt.io.case import Inputs
from fabopt.problem.rules_kept import RulePart, left_out_of_fabrics, rack_parts_left_out
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import DEFAULT_RULES, FILL_RULES
from fabopt.schema.case import Case
from fabopt.schema.catalog import Cable, Fibre
from fabopt.schema.design import Conflict
from fabopt.schema.floor import Floor
from fabopt.schema.passive import Trunk
from fabopt.schema.site import Site
from fabopt.search.answer import Answer
from fabopt.solution.bounds import bounded, without_design
from fabopt.solution.designs import design_of
from fabopt.solution.other_places import elsewhere, most_designs
from fabopt.solution.other_routes import in_racks_as, with_other_routes, with_racks_of
from fabopt.solution.question import Answers, Question
from fabopt.solution.too_few_fibres import with_too_few_fibres
from fabopt.units import exact, some
from fabopt.verify.halls import fibres_on_routes
from fabopt.verify.trays import Fullest, fullest
from fabopt.wiring.build import wiring_of

Settle = Callable[[Question], tuple[Question, Answers]]
_Laid = Cable | Fibre | Trunk
# Kinds of products of which thicker ones are left out together.
LEADS = ("cables", "fibres")
TRUNKS = ("trunks",)
# The most sets of parts that are looked at.
MOST_STEPS = 60
DIGITS = 10_000


def with_room_for_cables(asked: Question, settle: Settle) -> tuple[Question, Answers]:
    """The question and its answers with cables that trays and managers hold; the same ones where nothing is limited.

    Rules ``trays_hold_cables`` and ``managers_hold_cables``; rule ``routes_hold_fibres``. Without such answers the
    question has the conflicts of the limits. A point of a study is taken as it is.
    """
    if not asked.inputs.case.fill_limits or asked.problem is not None or asked.answer is not None:
        return settle(asked)
    if (refused := with_too_few_fibres(asked, partial(with_room_for_cables, settle=settle))) is not None:
        return refused
    # nothing that was met before knows of parts that are left out
    alone = replace(asked, known=None, lower_than=None, tried=())
    first = _CabledAnswer(*settle(alone))
    if first.answers.best is None or not first.over:
        return first.told(), first.answers
    bound, steps, kept = first.answers.optimum.bound, [first], list[_CabledAnswer]()

    def look(inputs: Inputs) -> _CabledAnswer | None:
        asked.clock.look()
        asked.settings.progress("trays, managers or routes are too full: looking at thinner cables, other routes")
        step = _CabledAnswer(*settle(replace(alone, inputs=inputs)))
        if step.answers.best is None or step.left_out - first.left_out:
            return None
        steps.append(step)
        if not step.over:
            kept.append(step)
        return step

    site = asked.inputs.case.site
    try:
        if any(first.parted(site)):
            _empty(first, site, look)
        if not any(step.answers.optimum.value == bound for step in kept):
            _empty(first, None, look)
        _move(steps, kept, bound)
    except StoppedError:
        pass
    if kept:
        return _least(first, kept, asked.inputs.case)
    conflicts = tuple(_conflicts(steps))
    return replace(first.question, conflicts=conflicts), without_design(first.answers, bound)


def _least(first: _CabledAnswer, kept: list[_CabledAnswer], asked: Case) -> tuple[Question, Answers]:
    """The cheapest of answers that keep the limits, with switches in racks that the case does not name."""
    least, bound = min(kept, key=lambda step: step.answers.optimum.value or 0), first.answers.optimum.bound
    question, answers = in_racks_as(least.told(*_notes(first, least, bound)), least.answers, asked)
    return question, bounded(answers, bound)


def _empty(first: _CabledAnswer, site: Site | None, look: Callable[[Inputs], _CabledAnswer | None]) -> None:
    """Look at thinner cables, below the cheapest answer first, until one keeps the limits; with a ``site`` as it was
    asked, before each step at other routes for what does not fit.
    """
    waiting, met = [(0, 0, first)], {_laid_ids(first.question.inputs)}
    while waiting:
        _, _, step = heappop(waiting)
        # with fewer parts than those of a decided answer none is cheaper
        if not step.over and step.answers.is_decided:
            return
        if any(parted is not None and not parted.over for parted in map(look, step.parted(site))):
            return
        for inputs in step.thinner():
            if (laid := _laid_ids(inputs)) not in met and len(met) < MOST_STEPS:
                met.add(laid)
                if (thinner := look(inputs)) is not None:
                    heappush(waiting, (thinner.answers.optimum.value or 0, len(met), thinner))


def _move(steps: list[_CabledAnswer], kept: list[_CabledAnswer], bound: int | None) -> None:
    """Add the cheapest designs in other places, with the parts of each step that is too full and without trunks."""
    numbers = most_designs(steps[0].best.problem)
    for step in steps:
        below, asked = min((one.answers.optimum.value or 0 for one in kept), default=None), step.question
        if not step.over or step.stiff or step.case.site.trunked or below == bound is not None:
            continue

        def keeps(optimum: Optimum, step: _CabledAnswer = step) -> bool:
            return not step.with_best(optimum).over

        moved = elsewhere(step.best.problem, below, asked.settings, asked.clock, keeps, numbers)
        kept += [] if moved is None else [step.with_best(moved)]


def _laid_ids(inputs: Inputs) -> tuple[str, ...]:
    """Products on sale that lie in trays."""
    return tuple(one.id for kind in (*LEADS, *TRUNKS) for one in getattr(inputs.catalog, kind))


def _notes(first: _CabledAnswer, least: _CabledAnswer, bound: int | None) -> Iterator[str]:
    """Notes on what an answer that keeps the limits has otherwise than the ``first`` one."""
    over, more = " and ".join(f"{what}s" for what in first.over), least.answers.optimum.value != bound
    before, after = first.question.inputs, least.question.inputs
    if after.catalog != before.catalog:
        note = f"with the cheapest parts {over} would be too full: thicker cables are left out of all places"
        yield f"{note}; a cheaper mix may exist" if more else note
    if least.is_moved:
        yield f"in the cheapest places of switches {over} would be too full: they stand in others"
    for was, route in zip(before.case.site.routes, after.case.site.routes, strict=True):
        if new := set(route.pairs) - set(was.pairs):
            yield (
                f"`site.routes`: a shorter way has no room for all fibres: cables between {some(len(new), 'pair')} of "
                f"racks take {route.name}" + ("; other pairs may cost less" if more else "")
            )


@dataclass(frozen=True)
class _CabledAnswer:
    """The answers with some parts, and how full they make trays and managers."""

    question: Question
    answers: Answers
    is_moved: bool = False

    def with_best(self, optimum: Optimum) -> _CabledAnswer:
        """These answers with another design of the problem of the best one."""
        best = replace(self.best, optimum=optimum)
        tried = tuple(best if one.problem is best.problem else one for one in self.answers.tried)
        return replace(self, answers=replace(self.answers, tried=tried), is_moved=True)

    @property
    def best(self) -> Answer:
        """The best answer, where there is one."""
        assert self.answers.best is not None
        return self.answers.best

    @property
    def case(self) -> Case:
        """The case that is asked."""
        return self.question.inputs.case

    @property
    def floor(self) -> Floor:
        """The floor that has the limits."""
        floor = self.case.site.floor
        assert floor
        return floor

    @cached_property
    def full(self) -> dict[str, Fullest]:
        """The fullest tray and managers."""
        design = design_of(self.best, "", 0.0)
        wiring = wiring_of(design)
        full = fullest(design, wiring)
        if "route" in self.case.fill_limits:
            full["route"] = Fullest(max(share for _, share in self._routes.values()), 0.0, 0)
        return full

    @cached_property
    def _laid_on_routes(self) -> dict[int, Counter[str]]:
        """Fibres in use of every route by part, by its number."""
        design = design_of(self.best, "", 0.0)
        return fibres_on_routes(design, wiring_of(design))

    @property
    def _on_routes(self) -> set[str]:
        """Parts on any route."""
        return {part for parts in self._laid_on_routes.values() for part in parts}

    @property
    def _routes(self) -> dict[int, tuple[int, Fraction]]:
        """Fibres in use of every route that has a number of them, and their share of it."""
        used = {number: parts.total() for number, parts in self._laid_on_routes.items()}
        return {
            number: (used.get(number, 0), Fraction(used.get(number, 0), route.fibres))
            for number, route in enumerate(self.case.site.routes) if route.fibres
        }  # fmt: skip

    @cached_property
    def over(self) -> dict[str, Fullest]:
        """What is fuller than its limit, or holds a cable that cannot bend."""
        return {
            what: self.full[what] for what, most in self.case.fill_limits.items()
            if self.full[what].share > exact(most) or what in self.stiff
        }  # fmt: skip

    @property
    def stiff(self) -> dict[str, float]:
        """The room in mm of what holds a cable that cannot bend there."""
        rooms = {what: bend_room_mm(self.floor, what) for what in self.case.fill_limits if what in FILL_RULES}
        return {what: room for what, room in rooms.items() if self.full[what].bend_mm > room}

    @property
    def excess(self) -> Fraction:
        """The most that anything is fuller than its limit, as a ratio."""
        return max(self.full[what].share / exact(most) for what, most in self.case.fill_limits.items())

    @property
    def left_out(self) -> set[RulePart]:
        """Default rules that the answer leaves out."""
        problem = self.best.problem
        return {*left_out_of_fabrics(problem), *rack_parts_left_out(problem, self.case)}

    def told(self, *more: str) -> Question:
        """The question with a note on each rule that is kept, and more."""
        if self.answers.best is None:
            return self.question
        notes = (self._note(what, most) for what, most in self.case.fill_limits.items())
        return replace(self.question, notes=(*self.question.notes, *notes, *more))

    def _note(self, what: str, most: float) -> str:
        full = self.full[what]
        if what == "route":
            return f"`site.routes`: the fullest route has {float(full.share):.1%} of its fibres in use"
        unknown = f"; {some(full.unknown, 'cable')} of no known diameter counted as nothing" if full.unknown else ""
        return DEFAULT_RULES[FILL_RULES[what]].note(f"{float(full.share):.1%} of {most:.1%}{unknown}")

    def parted(self, asked: Site | None) -> Iterator[Inputs]:
        """The inputs with other routes for what does not fit the shortest ways, and the same with all switches in the
        racks that they are in; none without an ``asked`` site, and where that changes nothing.
        """
        if asked is None or "route" not in self.over:
            return
        design = design_of(self.best, "", 0.0)
        if (site := with_other_routes(design, wiring_of(design), asked)) is not None:
            parted = self.case.model_copy(update={"site": site})
            for case in (parted, with_racks_of(parted, design)):
                yield replace(self.question.inputs, case=case)

    def thinner(self) -> Iterator[Inputs]:
        """The inputs without what is as thick as the thickest lead of the answer, or of no known diameter; without
        what is as stiff as the stiffest one where that cannot bend, or has as many fibres as the one with most where
        routes alone are too full. The same without such trunks, and without those that are as thick for each leg;
        without any, where links may be leads.
        """
        catalog = self.question.inputs.catalog
        used = {row.id for row in bill(self.best.problem, self.best.picked) if row.in_use or row.quantity}
        for kinds in (LEADS, TRUNKS):
            parts: list[_Laid] = [part for kind in kinds for part in getattr(self.best.problem.catalog, kind)]
            for stays in self._of_thinner([part for part in parts if part.id in used]):
                left = {kind: tuple(part for part in getattr(catalog, kind) if stays(part)) for kind in kinds}
                if any(left.values()) or (kinds is TRUNKS and "any" in self.case.site.trunked.values()):
                    yield replace(self.question.inputs, catalog=catalog.model_copy(update=left))

    def _of_thinner(self, used: Sequence[_Laid]) -> Iterator[Callable[[_Laid], bool]]:
        """Which parts stay where the thickest of some in use go."""
        if set(self.over) == {"route"}:
            over_routes = [part for part in used if isinstance(part, Fibre) and part.id in self._on_routes]
            most, kinds = max(map(_strands, over_routes), default=0), {part.fibre for part in over_routes}
            yield lambda part: not isinstance(part, Fibre) or part.fibre not in kinds or _strands(part) < most
        elif self.stiff:
            stiffest = max((part.bend_radius_mm or 0.0 for part in used), default=0.0)
            if any(stiffest > room for room in self.stiff.values()):
                yield lambda part: (part.bend_radius_mm or 0.0) < stiffest
        else:
            # the leanest trunk has few legs where links are few, and many where they fill it
            for by_leg in sorted({False, *(isinstance(part, Trunk) for part in used)}):
                thickest = max((_size(part, by_leg) for part in used if part.diameter_mm is not None), default=0.0)
                yield partial(_is_thinner, by_leg=by_leg, thickest=thickest)

    def conflicts(self) -> Iterator[Conflict]:
        """What each limit would have to be for this answer."""
        site = self.case.site.floor_key
        for what, room in self.stiff.items():
            side, bend_mm = "width" if what == "tray" else "depth", self.full[what].bend_mm
            detail = f"the stiffest cable needs {bend_mm:g} mm"
            yield _conflict(site, what, f"{side}_mm", room, bend_mm, detail)
        for number, (fibres, share) in self._routes.items() if "route" in self.over else ():
            route = self.case.site.routes[number]
            if share > 1:
                detail = f"cables between {route.halls} have {fibres} fibres in the leanest design found, and there "
                yield Conflict(
                    limit=f"site.routes[{number}].fibres", value=route.fibres or 0, needed=fibres, direction="up",
                    minimal=False, detail=f"{detail}are {route.fibres}; other places of switches may do with fewer",
                )  # fmt: skip
        for what, full in self.over.items():
            if what == "route":
                continue
            most, (width, _, _) = self.case.fill_limits[what], self.floor.sections[what]
            assert width is not None
            detail = f"the fullest {what} is {float(full.share):.1%} full"
            if full.share > 1:
                needed = ceil(full.share * exact(width) / exact(most) * 10) / 10
                yield _conflict(site, what, "width_mm", width, needed, detail)
            elif full.share > exact(most):
                yield _conflict(site, what, "fill", most, ceil(full.share * DIGITS) / DIGITS, detail)


def _conflict(site: str, what: str, key: str, value: float, needed: float, detail: str) -> Conflict:
    return Conflict(
        limit=f"{site}.{what}_{key}", value=value, needed=needed, direction="up", minimal=False,
        detail=f"rule `{FILL_RULES[what]}`: {detail} in the leanest design found; other places of switches, or "
        "thick cables in some places alone, may do with less",
    )  # fmt: skip


def _size(part: _Laid, by_leg: bool) -> float:
    """Diameter of a cable as a square, of a trunk for each leg; infinite where it is not known."""
    legs = part.legs if by_leg and isinstance(part, Trunk) else 1
    return inf if part.diameter_mm is None else part.diameter_mm**2 / legs


def _is_thinner(part: _Laid, by_leg: bool, thickest: float) -> bool:
    return _size(part, by_leg) < thickest


def _strands(part: Fibre) -> int:
    """Fibres of a leg of a part."""
    return min(strands_of(end.connector) for end in part.both_ends)


def _conflicts(steps: list[_CabledAnswer]) -> Iterator[Conflict]:
    """What limits would have to be for the answer that comes nearest to all."""
    return min(steps, key=lambda step: (len(step.stiff), step.excess)).conflicts()
