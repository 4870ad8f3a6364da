"""Routes between halls that have room for fewer fibres than run over them: what does not fit takes other routes.

All cables between two racks take one way. Of the pairs of racks with the same routes to choose from, as many fibres as
fit stay on the shortest way, and of the others as many as fit take the next one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from fabopt.problem.problem import Problem
from fabopt.schema.case import Case, Fabric
from fabopt.schema.design import Design
from fabopt.schema.floor import Campus, Route
from fabopt.schema.rack_rules import PinnedRacks
from fabopt.schema.site import Site
from fabopt.solution.question import Answers, Question
from fabopt.verify.evidence import Evidence
from fabopt.verify.halls import HallGraph, fibres_between
from fabopt.wiring.model import Wiring

_Pair = tuple[str, str]


def with_other_routes(design: Design, wiring: Wiring, asked: Site) -> Site | None:
    """The site with pairs of racks listed at other routes, so that no route has more fibres than it has room for, as
    far as that goes; None where that changes nothing. Rule ``routes_hold_fibres``.

    ``asked``: the site as the user has it, whose own pairs stay where they are.
    """
    evidence = Evidence(design)
    site, graph = evidence.case.site, HallGraph(evidence)
    listed = {pair: number for number, route in enumerate(asked.routes) for pair in map(_sorted, route.full_pairs)}
    used = {pair: parts.total() for pair, parts in fibres_between(evidence, wiring).items()}
    left, alike = room_of(asked.routes), defaultdict[tuple[tuple[int, ...], ...], dict[_Pair, int]](dict)
    for pair, fibres in used.items():
        choices = graph.choices(*pair)
        if pair in listed or len(choices) == 1:
            for number in graph.routes_between(*pair):
                left[number] -= fibres
        else:
            alike[choices][pair] = fibres
    for choices, waiting in alike.items():
        for routes in choices if waiting else ():
            is_last = routes == choices[-1]
            taken = [*waiting] if is_last or not waiting else fitting(waiting, min(left[number] for number in routes))
            for pair in taken:
                fibres = waiting.pop(pair)
                for number in routes:
                    left[number] -= fibres
                if routes != choices[0]:
                    listed[pair] = routes[0]
    return at_routes(site, listed)


def at_routes(site: Site, listed: Mapping[_Pair, int]) -> Site | None:
    """The site with pairs of racks, in the order of their ids, listed at the routes of these numbers, and no others;
    None where that changes nothing.
    """
    parted = tuple(_listing(route, number, listed) for number, route in enumerate(site.routes))
    return None if parted == site.routes else site.on(Campus.of(site.halls, parted))


def with_racks_of(case: Case, design: Design) -> Case:
    """The case with the switches of every tier in the racks that a design has them in."""
    places = {fabric.name: fabric.places for fabric in design.fabrics}

    def racks(fabric: Fabric) -> PinnedRacks | None:
        if (own := places.get(fabric.name)) is None:
            return fabric.racks
        leaf, spine, core = (tuple(dict.fromkeys(rack for rack, _ in its)) for its in (own.leaf, own.spine, own.core))
        return PinnedRacks(leaf=leaf or None, spine=spine or None, core=core or None)

    fabrics = (fabric.model_copy(update={"racks": racks(fabric)}) for fabric in case.fabrics)
    return case.model_copy(update={"fabrics": tuple(fabrics)})


def with_racks_as(case: Case, asked: Case) -> Case:
    """The case with the racks of switches that another one names."""
    pairs = zip(case.fabrics, asked.fabrics, strict=True)
    fabrics = (fabric.model_copy(update={"racks": own.racks}) for fabric, own in pairs)
    return case.model_copy(update={"fabrics": tuple(fabrics)})


def in_racks_as(question: Question, answers: Answers, asked: Case) -> tuple[Question, Answers]:
    """A question and its answers with switches in the racks that another case names."""

    def problem_in(problem: Problem) -> Problem:
        return replace(problem, asked=with_racks_as(problem.asked, asked), case=with_racks_as(problem.case, asked))

    tried = tuple(replace(one, problem=problem_in(one.problem)) for one in answers.tried)
    inputs = replace(question.inputs, case=with_racks_as(question.inputs.case, asked))
    return replace(question, inputs=inputs), replace(answers, tried=tried)


def fitting(fibres: Mapping[_Pair, int], room: int) -> list[_Pair]:
    """Pairs of racks that together have as many fibres as there is room for."""
    unit, room = gcd(*fibres.values()), max(0, min(room, sum(fibres.values())))
    sums, before = 1, list[int]()  # bit n: some of the pairs so far have n units
    for number in fibres.values():
        before.append(sums)
        sums |= sums << number // unit
    whole = (sums & ((1 << room // unit + 1) - 1)).bit_length() - 1
    taken: list[_Pair] = []
    for (pair, number), so_far in zip([*fibres.items()][::-1], before[::-1], strict=True):
        if not so_far >> whole & 1:
            taken.append(pair)
            whole -= number // unit
    return taken[::-1]


def room_of(routes: Sequence[Route]) -> Counter[int]:
    """Room for fibres of every route; of one of any number more than any fabric has."""
    return Counter({number: 10**12 if route.fibres is None else route.fibres for number, route in enumerate(routes)})


def _listing(route: Route, number: int, listed: Mapping[_Pair, int]) -> Route:
    first = route.between[0]
    ours = (pair if pair[0].startswith(f"{first}-") else pair[::-1] for pair, its in listed.items() if its == number)
    racks = sorted((near.rpartition("-")[2], far.rpartition("-")[2]) for near, far in ours)
    return route.model_copy(update={"pairs": tuple(racks)})


def _sorted(pair: _Pair) -> _Pair:
    near, far = sorted(pair)
    return near, far
