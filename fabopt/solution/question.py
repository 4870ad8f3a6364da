"""Questions to the solver, and the answers of its search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Final, Protocol

from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict
from fabopt.schema.losses import SinglePoint, WorstRack
from fabopt.schema.servers import SERVER, ServerCompared
from fabopt.search.answer import PROVEN, Answer, bounded_by, cheapest, without_design

# Default seconds for alternatives: a count of work ends them, and no clock.
ALTERNATIVES_S: Final = inf


class DearerError(Exception):
    """No design is as cheap as is wanted (``Question.lower_than``)."""


# Estimated seconds after the search, its own end included, those of each server and fabric, and those of each server
# and kind of links that may run through trunks and panels, each of which may be lost.
FINISHING_S = 0.8
FINISHING_S_PER_SERVER = 0.0006
FINISHING_S_PER_TRUNKED_SERVER = 0.0045


class SameHardware(Protocol):
    """A design with the same devices and links as another one."""

    @property
    def single_points_of_failure(self) -> tuple[SinglePoint, ...] | None:
        """Single points of failure; None where not computed."""

    @property
    def worst_rack(self) -> WorstRack | None:
        """The rack whose loss affects the most servers."""


@dataclass(frozen=True)
class Question:
    """The best design of a case: of all its separations, or of the one ``problem`` that a study has prepared.

    ``answer``: found by a study; None: to be searched for. ``alternatives_s``: seconds for alternatives; 0: none.
    ``twin``: a proven design of the same hardware with other figures, whose checks and single points of failure hold
    for this one. ``known``: the answer to a case that differs in a few keys, whose context is reused; ``lower_than``:
    only designs with a lower objective, in the weights of the known answer, are wanted.
    """

    inputs: Inputs
    settings: Settings
    clock: Clock
    alternatives_s: float = 0
    twin: SameHardware | None = None
    # fabrics whose own switches manage their subnets, or hosts that are attached to them, whatever that costs
    managed: frozenset[str] = frozenset()
    # whether racks need no room for the panels of trunks
    panels_anywhere: bool = False
    # whether default rules yield where no design keeps them; else there is none
    rules_yield: bool = True
    problem: Problem | None = None
    answer: Answer | None = None
    known: Answer | None = None
    lower_than: int | None = None
    # what was found before the answer: notes on it, and why there is none
    notes: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    # answers to other questions about the same inputs or some of their separations, taken where they answer this one
    tried: tuple[Answer, ...] = ()
    # where the case lists several servers: itself, the inputs of each alone, and what came of each
    listed: Case | None = None
    servers: tuple[Inputs, ...] = ()
    compared: tuple[ServerCompared, ...] = ()

    def own_inputs(self, answer: Answer) -> Inputs:
        """The inputs of the case as it was written, with the server of an answer to it."""
        own = answer.problem.server.id
        return next((inputs for inputs in self.servers if inputs.case.server == own), self.inputs)

    def inputs_changed_to(self, change: Mapping[str, Any]) -> Inputs | None:
        """The inputs of the server that a change names and nothing else; None for any other change."""
        return next((inputs for inputs in self.servers if keys_of_server(inputs.case) == change), None)


@dataclass(frozen=True)
class Answers:
    """The answers of every combination of separations, in their order."""

    tried: tuple[Answer, ...]
    # whether every combination was tried before the clock was over; if not, what no design is below, where it is known
    complete: bool = True
    bound: int | None = None

    @cached_property
    def best(self) -> Answer | None:
        """The cheapest of all; None if no combination has a design."""
        best = cheapest(self.tried)
        if best is None or self.complete:
            return best
        return replace(best, optimum=bounded_by(best.optimum, self.bound))

    def cut_short(self) -> Answers:
        """These answers where an added demand, which only raises cost, was not solved in time.

        They lack it, so they are not proven: the bound is at most one unit below the value.
        """
        optimum = self.optimum
        if optimum.bound is None or optimum.value is None:
            return replace(self, complete=False, bound=optimum.bound)
        return replace(self, complete=False, bound=min(optimum.bound, optimum.value - 1))

    @property
    def is_decided(self) -> bool:
        """Whether the best of every combination is proven, or that it has none."""
        return self.complete and all(one.optimum.verdict in PROVEN for one in self.tried)

    @property
    def shown(self) -> Problem:
        """The problem of the case in the design file."""
        return (self.best or self.tried[0]).problem

    @property
    def optimum(self) -> Optimum:
        """The best optimum; without one, the verdict and bound of all combinations together."""
        if self.best is not None:
            return self.best.optimum
        known = without_design(self.tried)
        return known if self.complete else replace(known, verdict="unknown", bound=None)


def keys_of_server(case: Case) -> dict[str, Any]:
    """The keys that make a case that lists servers one of this server alone, with as many of its GPUs."""
    if case.stages is None:
        return {SERVER: case.server, "gpus": case.gpus, "servers": None, "stages": None}
    stages = (stage.model_dump(mode="json", by_alias=True, exclude_defaults=True) for stage in case.stages)
    return {SERVER: case.server, "stages": [*stages]}


def finishing_s(problem: Problem) -> float:
    """Estimated seconds to build a design from an answer, prove it and write it."""
    trunked = len(problem.case.site.trunked) * sum(fabric.role != "oob" for fabric in problem.case.fabrics)
    of_server = FINISHING_S_PER_SERVER * len(problem.fabrics) + FINISHING_S_PER_TRUNKED_SERVER * trunked
    return FINISHING_S + of_server * problem.servers
