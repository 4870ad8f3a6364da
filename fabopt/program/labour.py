"""The part of the integer program that pays labour: on each unit in use, and for visits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, rule
from fabopt.program.part_bounds import most_used
from fabopt.program.purchases import PROCUREMENT, Terms
from fabopt.topology.candidate import Candidate, Uses

VISIT = Variables("visit", ("stage",), "", "1 if the stage, which adds no servers, installs anything")
BEYOND = Variables("beyond", ("part",), "", "units of a part beyond those that its fabric has in service")
Weight = Callable[[int, Item], int]


def with_work(weight: Weight) -> Weight:
    """The weight of a unit in use with that of the labour on it; of parts that may move, from the second stage on."""

    def weighed(stage: int, item: Item) -> int:
        work = item.labour.unit or (item.labour.beyond if stage else None)
        return weight(stage, item) + (0 if work is None else weight(stage, work))

    return weighed


# What a variable makes a fabric use: name of the fabric, variable, uses of one.
UseOf = tuple[str, pulp.LpVariable, Uses]


@dataclass
class BeyondService:
    """Units of parts beyond those that a fabric has in service, where these may move.

    ``picks``: candidates with the variables that pick them; ``links``: what links use.
    """

    problem: Problem
    lp: pulp.LpProblem
    picks: Sequence[tuple[pulp.LpVariable, Candidate]]
    links: Sequence[UseOf]
    beyond: dict[tuple[str, Item], pulp.LpVariable] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        there = self.problem.labour.in_service
        most = most_used(self.problem, [candidate for _, candidate in self.picks]) if there else {}
        used = ((fabric, item) for fabric, _, uses in self.uses for stage, item in uses if not stage) if there else ()
        # what is in service in another fabric alone is new in this one
        counted = (key for key in dict.fromkeys(used) if key in there or key[1].labour.beyond is not None)
        for number, key in enumerate(counted):
            self.beyond[key] = BEYOND.integer(0, most[key[1]], number)

    @property
    def uses(self) -> list[UseOf]:
        """What each variable makes its fabric use."""
        return [*((candidate.fabric, var, candidate.devices) for var, candidate in self.picks), *self.links]

    def terms(self, weight: Weight) -> Terms:
        """The labour on them, weighed."""
        works = ((var, item.labour.beyond) for (_, item), var in self.beyond.items())
        return [(var, weighed) for var, work in works if work is not None and (weighed := weight(0, work))]

    @rule(PROCUREMENT)
    def labour_is_on_what_is_new(self) -> None:
        """Of a part in service that may move, units beyond those of its fabric: beyond >= sum of uses - in service."""
        all_uses = self.uses if self.beyond else ()
        for (fabric, item), var in self.beyond.items():
            terms = [(own, -uses[0, item]) for name, own, uses in all_uses if name == fabric and uses.get((0, item))]
            least = -self.problem.labour.in_service.get((fabric, item), 0)
            self.lp += pulp.LpAffineExpression([(var, 1), *terms]) >= least, f"labour_is_on_what_is_new_{var.name}"


@dataclass
class Visits:
    """The visits of stages that add no servers."""

    installed: BeyondService
    visit: dict[int, pulp.LpVariable] = field(init=False)

    def __post_init__(self) -> None:
        self.labour, self.lp = self.installed.problem.labour, self.installed.lp
        self.visit = {stage: VISIT.binary(stage) for stage in self.labour.open_visits}

    def terms(self, weight: Weight) -> Terms:
        """The visits, weighed."""
        weighed = [(var, weight(stage, self.labour.open_visits[stage])) for stage, var in self.visit.items()]
        return [term for term in weighed if term[1]]

    @rule(PROCUREMENT)
    def visits_are_paid(self) -> None:
        """A stage that adds no servers is visited where a picked candidate installs anything at it: visit >= pick.

        Of what may move: most units beyond those in service x visit >= such units.
        """
        moves = bool(self.labour.in_service)
        if moves and 0 in self.visit:
            self._paid_beyond()
        visited = self.visit.keys() - {0} if moves else self.visit.keys()
        for number, (pick, candidate) in enumerate(self.installed.picks if visited else ()):
            options = (option.uses for choice in candidate.choices for option in choice.options)
            busy = {stage for uses in (candidate.devices, *options) for (stage, _), count in uses.items() if count}
            for stage in sorted(busy & visited):
                self.lp += self.visit[stage] - pick >= 0, f"visits_are_paid_{stage}_{number}"

    def _paid_beyond(self) -> None:
        counted, visit = self.installed.beyond, self.visit[0]
        new = [
            (var, sum(count for (stage, item), count in uses.items() if not stage and (fabric, item) not in counted))
            for fabric, var, uses in self.installed.uses
        ]
        for number, var in enumerate((*(var for var, count in new if count), *self.installed.beyond.values())):
            self.lp += var.upBound * visit - var >= 0, f"visits_are_paid_{number}"
