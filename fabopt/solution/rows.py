"""Rows of *what else*: what a changed case comes to, beside the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from fabopt.problem.rules_kept import without_rules
from fabopt.program.orders import Sums, sums_of
from fabopt.program.settings import StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Alternative
from fabopt.schema.prediction import WorkloadUse
from fabopt.search.answer import Answer
from fabopt.search.step_time import use_on
from fabopt.solution.changed import ChangedCases, Keys, Outcome
from fabopt.solution.service import carries, last_group_words, service_beside
from fabopt.solution.summaries import summaries_beside, summary_of
from fabopt.units import some, usd, watts

# What a row says of a design that is not proven to be the best of its case, of a case that has none better, and of one
# that was not solved to its end.
BEST_FOUND = " (the best found)"
NOTHING_CHEAPER = "nothing cheaper"
NOT_FINISHED = "not finished"
FAILED = "failed"


class RowsShown(Enum):
    """Which outcomes become rows: all designs; those that are better; those, and that there is none better."""

    ANY = auto()
    CHEAPER = auto()
    SAID = auto()


@dataclass(frozen=True)
class CaseChange:
    """Keys of a case with other values. ``what`` is another then, and ``value`` which; ``index``: of which fabric;
    ``rules``: what of the default rules it turns off and nothing else.
    """

    what: str
    value: str
    keys: Keys
    shown: RowsShown = RowsShown.ANY
    index: int | None = None
    rules: frozenset[str] = frozenset()


class DesignFigures:
    """What a design comes to, in the units of a design file."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    @cached_property
    def sums(self) -> Sums:
        """Money, power and counts."""
        return sums_of(self.answer.problem, self.answer.picked)

    @cached_property
    def use(self) -> WorkloadUse | None:
        """A step of the case's model; None without one."""
        least = self.answer.ratio.least if self.answer.ratio is not None else ()
        return use_on(self.answer.problem, self.answer.picked, self.sums.cents, least)

    @property
    def objective(self) -> int | float:
        """What is minimized."""
        problem, value = self.answer.problem, self.answer.optimum.value
        if problem.case.objective == EFFECTIVE:
            assert self.use is not None and self.use.usd_per_effective_gpu is not None
            return self.use.usd_per_effective_gpu
        assert value is not None
        return problem.weights.in_metric(value)


class Rows:
    """Rows beside an answer. ``tell``: takes what is being done, in words."""

    def __init__(self, cases: ChangedCases, tell: Callable[[str], None]) -> None:
        self.cases = cases
        self.tell = tell
        self.answer = cases.answer
        self.own = DesignFigures(cases.answer)
        self._may_save_any: bool | None = None

    def of(self, change: CaseChange) -> Iterator[Alternative]:
        """The row of a change, if it is shown."""
        if change.rules and not self._may_save(change.rules):
            return
        outcome = self.solved(change)
        if not outcome.finished:
            yield self.unfinished(change)
        elif outcome.answer is not None:
            yield from self._shown(change, outcome.answer)

    def _may_save(self, rules: frozenset[str]) -> bool:
        """Whether a design without some default rules may be cheaper, by bounds alone."""
        if self._may_save_any is None:
            self._may_save_any = self.cases.may_be_lower(without_rules(self.answer.problem))
        return self._may_save_any and self.cases.may_be_lower(without_rules(self.answer.problem, rules))

    def solved(self, change: CaseChange) -> Outcome:
        """What a changed case comes to; not finished where its search fails, which is no fault of the answer's."""
        self.tell(f"looking at the best design with {change.what} {change.value}")
        try:
            return self.cases.solve(change.keys, self._wanted(change))
        except StoppedError:
            raise
        except Exception as error:
            self.tell(f"{change.what} {change.value}: {FAILED} ({type(error).__name__}: {error})")
            return Outcome(None, finished=False)

    def _wanted(self, change: CaseChange) -> int | None:
        """No row is shown of a design whose objective is not lower than this; None: of any."""
        value = self.answer.optimum.value
        if value is None or change.shown is RowsShown.ANY:
            return None
        return value + (change.shown is RowsShown.SAID)

    def _shown(self, change: CaseChange, other: Answer) -> Iterator[Alternative]:
        difference = DesignFigures(other).objective - self.own.objective
        if change.shown is RowsShown.ANY or difference < 0:
            if difference or self._looks_otherwise(other):
                yield self.row(change, other)
        elif change.shown is RowsShown.SAID and not difference:
            yield self.row(change, other, NOTHING_CHEAPER)

    def _looks_otherwise(self, other: Answer) -> bool:
        """Whether a design of the same objective is another one."""
        pairs = zip(self.answer.picked, other.picked, strict=False)
        return len(self.answer.picked) != len(other.picked) or any(
            own.design.file_part().structure != one.design.file_part().structure
            or summary_of(own.design.file_part()) != summary_of(one.design.file_part())
            for (own, _), (one, _) in pairs
        )

    def row(self, change: CaseChange, other: Answer, summary: str | None = None) -> Alternative:
        """The row of a design."""
        figures, own = DesignFigures(other), self.own
        use = figures.use
        return Alternative(
            what=self.named(change),
            value=change.value,
            summary=self._summary(change, other) if summary is None else summary,
            change=dict(change.keys),
            status="optimal" if other.optimum.verdict == "optimal" else "feasible",
            objective=figures.objective,
            objective_delta=difference_of(figures.objective, own.objective),
            capex_usd=usd(figures.sums.cents),
            capex_delta_usd=usd(figures.sums.cents - own.sums.cents),
            power_w=watts(figures.sums.power_mw),
            power_delta_w=watts(figures.sums.power_mw - own.sums.power_mw),
            step_s=None if use is None else use.step_s,
            gpu_utilization=None if use is None else use.gpu_utilization,
            usd_per_effective_gpu=None if use is None else use.usd_per_effective_gpu,
        )

    def unfinished(self, change: CaseChange) -> Alternative:
        """The row of a case that was not solved to its end: without figures."""
        return Alternative(
            what=self.named(change),
            value=change.value,
            summary=NOT_FINISHED,
            change=dict(change.keys),
            finished=False,
        )

    def named(self, change: CaseChange) -> str:
        """What is another, with the fabric that has it where there are several."""
        fabrics = self.answer.problem.fabrics
        if change.index is None or len(fabrics) == 1:
            return change.what
        return f"{fabrics[change.index].name} {change.what}"

    def _summary(self, change: CaseChange, other: Answer) -> str:
        text = self._differing(other) + ("" if other.optimum.verdict == "optimal" else BEST_FOUND)
        if change.index is None or change.index >= len(other.picked):
            return text
        design, own = other.picked[change.index][0].design, self.answer.picked[change.index][0].design
        if change.what in ("topology", "torus of"):
            text += f"; {some(DesignFigures(other).sums.cables, 'cable')}; {carries(design, other.problem.gpus)}"
        if change.shown is RowsShown.SAID or change.what == "groups":
            text += service_beside(design, own, self.answer.problem)
        if change.what == "groups":
            here = last_group_words(own.file_part().structure).removeprefix(";")
            text += f" (here{here})" if here else last_group_words(design.file_part().structure)
        return text

    def _differing(self, other: Answer) -> str:
        """The fabrics of a design that differ from the answer's; all where only their parts do."""
        names = [fabric.name for fabric in other.problem.fabrics]
        if len(names) == 1 or names != [fabric.name for fabric in self.answer.problem.fabrics]:
            return summaries_beside(other.problem, other.picked, self.answer.picked)
        pairs = zip(names, self.answer.picked, other.picked, strict=True)
        told = [
            (name, summary_of(one.design.file_part()))
            for name, (own, _), (one, _) in pairs
            if summary_of(own.design.file_part()) != summary_of(one.design.file_part())
        ]
        if told:
            return "; ".join(f"{name}: {text}" for name, text in told)
        return summaries_beside(other.problem, other.picked, self.answer.picked)


def difference_of(objective: float, best: float) -> int | float:
    """What one objective is above another, to three digits."""
    rest = round(objective - best, 3)
    return int(rest) if rest == int(rest) else rest
