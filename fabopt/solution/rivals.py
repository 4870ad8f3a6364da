"""Rivals of an answer: the best design of a part of the space, and what a row says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Self

from fabopt.problem.problem import Problem, estimating
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.default_rules import ROBUST_DESIGNS, is_kept
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import RatioSearch, cents_per_effective_gpu
from fabopt.solution.compared import BEST_FOUND, NONE_FOUND, beside, carries, difference_of
from fabopt.solution.rival_kinds import policy_of
from fabopt.solution.row_searches import SHARE, RowSearches
from fabopt.solution.summaries import summaries_of, summary_of
from fabopt.topology.family import ANYTHING, Restriction
from fabopt.units import rounded, some, usd

# What looks for rows of some kinds, those of one place in the table together.
Looks = Sequence[Sequence[Callable[[], Iterator[Alternative]]]]


class Rivals(ABC):
    """An answer beside other designs for the same case; on a floor, beside estimates of them."""

    def __init__(
        self, answer: Answer, settings: Settings, clock: Clock, rows: RowSearches, context: Context | None = None
    ) -> None:
        """``context``: what other comparisons have worked out."""
        self.answer = answer
        # what is expected is compared, by whatever the answer was picked
        problem = replace(answer.problem, best_alone=())
        self.problem = estimating(problem)
        self.context = context or (answer.context if self.problem is problem else answer.context.beside())
        self.sums = sums_of(answer.problem, answer.picked)
        self.settings = replace(settings, bracket=settings.quiet.bracket)
        self.quiet = settings.quiet
        self.clock = clock
        self.rows = rows
        # settings of fabrics, by their places, that have a row below a cliff
        self.told: set[tuple[int, str]] = set()

    @abstractmethod
    def looks(self) -> Looks:
        """All that is looked for, what matters most first: time may be over before the end."""

    def rival(self, restrictions: Mapping[str, Restriction], share: Fraction = SHARE) -> Optimum:
        """The best design of a part of the space, by what the answer was picked by.

        Without rule ``robust-designs`` of a ratio the best among designs about as fast as the answer, as it once was.
        """
        near = self.answer.optimum.value
        if self.answer.ratio is not None:
            ratio = RatioSearch(
                self.problem, self.quiet, self.clock, restrictions, self.context, self.answer.ratio.pace
            )
            if not is_kept(self.problem.case.rules, ROBUST_DESIGNS):
                return ratio.near(self.answer.optimum)
            return ratio.run(ties=False).optimum
        return self.rows.best(self.problem, restrictions, self.context, near, share=share)

    def cheaper_rival(self, restrictions: Mapping[str, Restriction], share: Fraction = SHARE) -> Optimum:
        """The best design of a part of the space that has a lower objective than the answer; there may be none.

        Of one fabric on a floor, where that is an estimate, switches are placed by the rule of the answer. Of several
        no layout may have the rules of all, and that would say nothing of the others.
        """
        value = self.answer.optimum.value
        if value is None or self.answer.ratio is not None:
            return self.rival(restrictions)
        parts, fabric = restrictions, self.problem.fabrics[0]
        if not self.problem.site.runs_are_alike and len(self.problem.fabrics) == 1:
            policy = policy_of(self.problem, self.answer.picked[0][0])
            parts = {fabric.name: replace(restrictions.get(fabric.name, ANYTHING), policy=policy)}
        return self.rows.best(self.problem, parts, self.context, value, value, share)

    def is_cheaper(self, rival: Optimum) -> bool:
        """Whether a design has a lower objective than the answer; of a ratio every one is looked at."""
        value = self.answer.optimum.value
        return self.answer.ratio is not None or value is None or (rival.value is not None and rival.value < value)

    def none_met(self, what: str, value: str, rivals: Sequence[Optimum]) -> Iterator[Alternative]:
        """That nothing was met in the share of a row, where that does not say that there is nothing; on a floor, and of
        a ratio, it is not told.
        """
        self.clock.look()
        if self.problem.site.settles and self.answer.ratio is None and any(one.verdict == "unknown" for one in rivals):
            yield beside(self.problem, self.sums, self.sums, what, value, NONE_FOUND)

    def named(self, index: int, what: str) -> str:
        """What is another, with the fabric that has it where there are several."""
        fabrics = self.problem.fabrics
        return f"{fabrics[index].name} {what}" if len(fabrics) > 1 else what

    def with_problem(self, problem: Problem) -> Self:
        """The answer beside designs of a problem that is bound to less of the rules."""
        return type(self)(replace(self.answer, problem=problem), self.settings, self.clock, self.rows, self.context)

    def other_fabrics(self, rival: Optimum) -> str:
        """The fabrics of a design that differ from the answer's; all where only their parts do."""
        picked = list(rival.picked)
        pairs = zip(self.problem.fabrics, self.answer.picked, picked, strict=True)
        told = [
            (fabric.name, summary_of(other.design.file_part()))
            for fabric, (own, _), (other, _) in pairs
            if summary_of(own.design.file_part()) != summary_of(other.design.file_part())
        ]
        mark = "" if rival.verdict == "optimal" else BEST_FOUND
        if not told or len(picked) == 1:
            return summaries_of(self.problem, picked) + mark
        return "; ".join(f"{name}: {text}" for name, text in told) + mark

    def alternative(self, rival: Optimum, index: int, what: str, value: str) -> Alternative:
        """The row of a design, and of one of its fabrics."""
        picked: list[Picked] = list(rival.picked)
        sums, design = sums_of(self.problem, picked), picked[index][0].design
        summary = summary_of(design.file_part())
        if what.endswith("leaf switch") and design.leaf is not None:
            value = design.leaf.id
        if what.endswith(("topology", "torus of", "family")):
            summary += f"; {some(sums.cables, 'cable')}; {carries(design, self.problem.gpus)}"
        if rival.verdict != "optimal":
            summary += BEST_FOUND
        alternative = beside(self.problem, self.sums, sums, what, value, summary)
        if self.answer.ratio is None:
            return alternative
        ratio, best = (
            usd(rounded(cents_per_effective_gpu(self.problem, choice))) for choice in (picked, self.answer.picked)
        )
        return alternative.model_copy(update={"objective": ratio, "objective_delta": difference_of(ratio, best)})
