"""Rule ``two-ducts``: what runs between two halls that several ducts join is dealt over them, pair of racks by pair.

The answer without the rule is dealt first: its pairs of racks change ducts one by one as long as fewer devices, planes
and pods hang on one duct, or, as few hanging, their links are shared out more evenly. Then the case is solved again
with these pairs listed at routes and switches in the same racks, as the other ducts may be longer, until nothing is
left to deal. The answer without the rule is what no answer with it is below.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fabopt.rules.defaults import DEFAULT_RULES, TWO_DUCTS
from fabopt.schema.design import Conflict, Design
from fabopt.schema.site import Site
from fabopt.solution.bounds import bounded, without_design
from fabopt.solution.designs import design_of
from fabopt.solution.other_routes import at_routes, in_racks_as, room_of, with_racks_of
from fabopt.solution.question import Answers, Question
from fabopt.units import exact, some
from fabopt.verify.ducts import FABRIC, Pair, Unit, links_between, pairs_of_units
from fabopt.verify.evidence import Evidence
from fabopt.verify.halls import HallGraph, fibres_between
from fabopt.wiring.build import wiring_of

Settle = Callable[[Question], tuple[Question, Answers]]
_Way = tuple[int, ...]
# How often an answer is dealt and solved again.
MOST_ROUNDS = 4
# A fraction of a link that no move wins.
ROUNDING = 1e-9


def with_both_ducts(asked: Question, settle: Settle) -> tuple[Question, Answers]:
    """The question and its answers with the cables between halls dealt over ducts; the same where there is one duct.

    Rule ``ducts_share_links``. Without such answers the question has the conflict of the rule. A point of a study is
    taken as it is.
    """
    if not asked.inputs.case.deals_ducts or asked.problem is not None or asked.answer is not None:
        return settle(asked)
    # nothing that was met before knows of racks that are listed at routes
    alone = replace(asked, known=None, lower_than=None, tried=())
    question, answers = first = settle(alone)
    if answers.best is None:
        return first
    bound, free = answers.optimum.bound, design_of(answers.best, "", 0.0)
    deal = _Deal(free)
    site = deal.dealt(deal.is_better)
    for _ in range(MOST_ROUNDS):
        if site is None or answers.best is None:
            break
        asked.settings.progress("cables between halls are dealt over ducts")
        question, answers = _with_pairs(alone, site, deal.design, settle)
        if answers.best is not None:
            deal = _Deal(design_of(answers.best, "", 0.0))
            site = deal.dealt(deal.hangs_less)
    if answers.best is None or site is not None:
        return replace(first[0], conflicts=(_conflict(free),)), without_design(first[1], bound)
    question = replace(question, notes=(*question.notes, *deal.notes(free)))
    return in_racks_as(question, answers if deal.design is free else bounded(answers, bound), asked.inputs.case)


def _with_pairs(alone: Question, site: Site, design: Design, settle: Settle) -> tuple[Question, Answers]:
    """The answers with pairs of racks listed at routes, and switches in the racks of a design, else in any."""
    case = alone.inputs.case.model_copy(update={"site": site})
    for of_site in (with_racks_of(case, design), case):
        question, answers = settle(replace(alone, inputs=replace(alone.inputs, case=of_site)))
        if answers.best is not None:
            break
    return question, answers


def _conflict(free: Design) -> Conflict:
    return Conflict(
        limit=f"rules.{TWO_DUCTS}", value="true", needed="false",
        capex_usd=None if free.totals is None else free.totals.capex_usd,
        detail="with all cables between halls on the shortest ways that have fibres there is a design; dealt over "
        "ducts none was found within reach of parts and limits",
    )  # fmt: skip


@dataclass(frozen=True)
class _Score:
    """How many units hang on one duct, and how unevenly the links of each are shared: the lower, the better."""

    hanging: int
    uneven: float

    def __add__(self, other: _Score) -> _Score:
        return _Score(self.hanging + other.hanging, self.uneven + other.uneven)

    def is_below(self, other: _Score) -> bool:
        """Whether it is better, by more than floating point is off."""
        return (self.hanging, self.uneven + ROUNDING) < (other.hanging, other.uneven)


class _Deal:
    """The cables of a design between halls, and over which ducts they may run."""

    _ways: dict[Pair, _Way]
    _left: Counter[int]

    def __init__(self, design: Design) -> None:
        self.design, wiring = design, wiring_of(design)
        self._evidence = Evidence(design)
        self._links = links_between(wiring)
        self._pairs_of = pairs_of_units(self._links)
        self._fibres = {pair: parts.total() for pair, parts in fibres_between(self._evidence, wiring).items()}
        graph = HallGraph(self._evidence)
        self._choices = {pair: graph.choices(*pair) for pair in sorted(self._links)}
        self._duct_of = {number: key[1] for key, numbers in graph.lost_together.items() for number in numbers}
        self._lay({pair: graph.routes_between(*pair) for pair in self._links})
        self._before = self._score(self._pairs_of)

    def dealt(self, is_worth: Callable[[], bool]) -> Site | None:
        """The site with pairs of racks at other routes than now; None where that is not worth it."""
        start = dict(self._ways)
        ends = []
        for changes in ({}, self._in_turn()):
            self._lay(start)
            for pair, way in changes.items():
                if self._has_room(pair, way):
                    self._take(pair, way)
            while sum(map(self._is_moved, self._choices)):
                pass
            ends.append((self._score(self._pairs_of), dict(self._ways)))
        moved, turned = ends
        self._after, ways = turned if turned[0].is_below(moved[0]) else moved
        self._lay(ways if (worth := is_worth()) else start)
        if not worth:
            return None
        listed = {pair: way[0] for pair, way in self._ways.items() if way != self._choices[pair][0]}
        return at_routes(self._evidence.case.site, listed)

    def is_better(self) -> bool:
        """Whether what was dealt is better than what was before."""
        return self._after.is_below(self._before)

    def hangs_less(self) -> bool:
        """Whether fewer hang on one duct."""
        return self._after.hanging < self._before.hanging

    def _in_turn(self) -> dict[Pair, _Way]:
        """Pairs of racks at the shortest way through each duct in turn, like the fields of a chess board."""
        numbers = [{rack: at for at, rack in enumerate(sorted({pair[end] for pair in self._links}))} for end in (0, 1)]
        ways = {}
        for (near, far), choices in self._choices.items():
            apart = list({self._ducts(way): way for way in reversed(choices)}.values())[::-1]
            ways[near, far] = apart[(numbers[0][near] + numbers[1][far]) % len(apart)]
        return ways

    def _is_moved(self, pair: Pair) -> bool:
        """Move the cables of a pair to the way that is best, if any is better than its own."""
        units, own = self._links[pair], self._ways[pair]
        best, best_way = self._score(units), own
        for way in self._choices[pair]:
            if way != own and self._has_room(pair, way):
                self._take(pair, way)
                if (score := self._score(units)).is_below(best):
                    best, best_way = score, way
                self._take(pair, own)
        self._take(pair, best_way)
        return best_way != own

    def _has_room(self, pair: Pair, way: _Way) -> bool:
        """Whether a way has fibres left for the cables of a pair."""
        own = self._ways[pair]
        return all(self._left[number] >= self._fibres.get(pair, 0) for number in way if number not in own)

    def _lay(self, ways: Mapping[Pair, _Way]) -> None:
        """Lay the cables of all pairs over these ways."""
        self._ways, self._left = dict.fromkeys(ways, ()), room_of(self._evidence.case.site.routes)
        for pair, way in ways.items():
            self._take(pair, way)

    def _take(self, pair: Pair, way: _Way) -> None:
        for numbers, sign in ((self._ways[pair], 1), (way, -1)):
            for number in numbers:
                self._left[number] += sign * self._fibres.get(pair, 0)
        self._ways[pair] = way

    def _score(self, units: Collection[Unit]) -> _Score:
        scores = (self._score_of(unit, self._pairs_of[unit]) for unit in units if unit in self._pairs_of)
        return sum(scores, _Score(0, 0.0))

    def _score_of(self, unit: Unit, pairs: Sequence[Pair]) -> _Score:
        over, total, hanging = Counter[str](), 0, Counter[str]()
        for pair in pairs:
            ducts, number = self._ducts(self._ways[pair]), self._links[pair][unit]
            total += number
            over.update(dict.fromkeys(ducts, number))
            hanging.update(ducts)
        is_hanging = len(pairs) in hanging.values()
        return _Score(int(is_hanging), sum((number / total) ** 2 for number in over.values()))

    def _ducts(self, way: _Way) -> frozenset[str]:
        return frozenset(self._duct_of[number] for number in way)

    def notes(self, free: Design) -> Iterator[str]:
        """The note on the rule: links of each fabric in each duct, and what that costs."""
        if not self._links:
            return
        over: dict[str, Counter[str]] = defaultdict(Counter)
        for pair, units in self._links.items():
            for unit, number in units.items():
                if unit[0] == FABRIC:
                    over[unit[1]].update(dict.fromkeys(self._ducts(self._ways[pair]), number))
        told = [
            f"{fabric} has " + ", ".join(f"{some(number, 'link')} in {duct}" for duct, number in sorted(ducts.items()))
            for fabric, ducts in over.items()
        ]
        hanging = self._score(self._pairs_of).hanging
        if hanging:
            told.append(f"{hanging} of {len(self._pairs_of)} devices, fabrics, planes and pods hang on one duct")
        if len(self._links) == 1:
            told.append("all is between two racks: switches in a second one there would let it be shared")
        more = _usd(self.design) - _usd(free)
        told.append(f"that costs ${float(more):,.2f} more than the shortest ways" if more > 0 else "at no more cost")
        yield DEFAULT_RULES[TWO_DUCTS].note("; ".join(told))


def _usd(design: Design) -> Fraction:
    return exact(0 if design.totals is None else design.totals.capex_usd)
