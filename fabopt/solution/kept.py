"""The best design met so far, kept in case native code ends the process before the answer."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from fabopt.io.case import Inputs
from fabopt.io.servers import cases_of_servers
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, StoppedError
from fabopt.schema.design import Design
from fabopt.search.answer import Answer
from fabopt.solution.designs import design_of
from fabopt.solution.single_points import with_single_points
from fabopt.verify import verify

# Keeping designs takes at most one in ``ONE_SECOND_IN`` seconds; searches that end before ``FIRST_S`` keep none.
ONE_SECOND_IN = 20
FIRST_S = 2.0
# Keys of the case that side searches may change.
_ASKED = attrgetter("limits", "server", "servers", "stages", "procurement", "site", "objective")
_NOTE = "the search was cut off: this is the best design that it had met by then"


class Keeping:
    """Passes on improving designs as they are met, each proven without the solver."""

    def __init__(self, take: Callable[[Design], None], inputs: Inputs, engine: str, clock: Clock) -> None:
        self._take, self._engine, self._clock = take, engine, clock
        cases = cases_of_servers(inputs.case, inputs.catalog)
        self._asked = [_ASKED(case) for case in cases]
        self._fabrics = {fabric.name for fabric in inputs.case.fabrics}
        self._best: int | None = None
        self._next_s = clock.spent_s() + FIRST_S

    def met(self, problem: Problem, optimum: Optimum) -> None:
        """Pass on a design if it improves on the last one and building it is worth the time.

        A failure to build it is ignored: the search goes on.
        """
        begun_s = self._clock.spent_s()
        is_better = optimum.value is not None and (self._best is None or optimum.value < self._best)
        is_asked = _ASKED(problem.case) in self._asked
        if begun_s < self._next_s or not is_better or not is_asked or self._clock.is_over():
            return
        try:
            if self._keep(Answer(problem, optimum)):
                self._best = optimum.value
        except StoppedError:
            raise
        except Exception:  # whatever is wrong with it, the answer is what counts
            self._best = None
        finally:
            self._next_s = self._clock.spent_s() + ONE_SECOND_IN * (self._clock.spent_s() - begun_s)

    def _keep(self, answer: Answer) -> bool:
        """Pass on the design of an answer, if it is one of the case that keeps every rule; return whether it is."""
        design, wiring = with_single_points(design_of(answer, self._engine, self._clock.spent_s()))
        checks = verify(design, wiring)
        is_kept = {fabric.name for fabric in design.fabrics} == self._fabrics and all(check.ok for check in checks)
        if is_kept:
            objective = design.objective.model_copy(update={"bound": None, "gap": None})
            update = {"checks": checks, "notes": (_NOTE,), "status": "feasible", "objective": objective}
            self._take(design.model_copy(update={**update, "alternatives_complete": False}))
        return is_kept
