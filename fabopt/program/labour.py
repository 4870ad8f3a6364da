"""The part of the integer program that pays labour: on each unit in use, and for visits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from fabopt.parts.items import Item
from fabopt.problem.labour import StageLabour
from fabopt.program.libraries import pulp
from fabopt.program.naming import Variables, rule
from fabopt.program.purchases import PROCUREMENT, Terms
from fabopt.topology.candidate import Candidate

VISIT = Variables("visit", ("stage",), "", "1 if the stage, which adds no servers, installs anything")
Weight = Callable[[int, Item], int]


def with_work(weight: Weight) -> Weight:
    """The weight of a unit in use with that of the labour on it."""
    return lambda stage, item: weight(stage, item) + (0 if item.work is None else weight(stage, item.work))


@dataclass
class Visits:
    """The visits of stages that add no servers. ``candidates``: with the variables that pick them."""

    labour: StageLabour
    lp: pulp.LpProblem
    candidates: Iterable[tuple[pulp.LpVariable, Candidate]]
    visit: dict[int, pulp.LpVariable] = field(init=False)

    def __post_init__(self) -> None:
        self.visit = {stage: VISIT.binary(stage) for stage in self.labour.open_visits}

    def terms(self, weight: Weight) -> Terms:
        """The visits, weighed."""
        weighed = [(var, weight(stage, self.labour.open_visits[stage])) for stage, var in self.visit.items()]
        return [term for term in weighed if term[1]]

    @rule(PROCUREMENT)
    def visits_are_paid(self) -> None:
        """A stage that adds no servers is visited where a picked candidate installs anything at it: visit >= pick."""
        for number, (pick, candidate) in enumerate(self.candidates if self.visit else ()):
            options = (option.uses for choice in candidate.choices for option in choice.options)
            busy = {stage for uses in (candidate.devices, *options) for (stage, _), count in uses.items() if count}
            for stage in sorted(busy & self.visit.keys()):
                self.lp += self.visit[stage] - pick >= 0, f"visits_are_paid_{stage}_{number}"
