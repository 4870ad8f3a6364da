"""Rows of *what else*: the outcome of a changed case, compared with the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.planes import planes_of, planes_words
from fabopt.program.orders import Sums, sums_of
from fabopt.program.settings import StoppedError
from fabopt.schema.alternative import JobStep
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Alternative
from fabopt.schema.prediction import JobUse, ServingUse, WorkloadUse
from fabopt.schema.servers import BESIDE, SERVER
from fabopt.search.answer import Answer
from fabopt.search.step_time import service_on, use_on
from fabopt.solution.changed import ChangedCases, Keys, Outcome
from fabopt.solution.server_notes import beside_server
from fabopt.solution.service import carries, last_group_words, service_beside
from fabopt.solution.summaries import named_beside, summaries_beside, summary_of
from fabopt.topology.design import NetworkDesign
from fabopt.units import some, usd, watts

# Words of rows: a design that is not proven best, a case without a better one, and a case not solved to its end.
BEST_FOUND = " (the best found)"
NOTHING_CHEAPER = "nothing cheaper"
NOTHING_LESS = "nothing less"
THE_SAME = "the same design"
NOT_FINISHED = "not finished"
FAILED = "failed"


# Rows of little effort come first, so that most of them are finished.
QUICK, USUAL, LONG = range(3)


class RowsShown(Enum):
    """Outcomes shown as rows: all designs, the same one too; other ones; better ones; better ones, or that there is
    none better.
    """

    ALWAYS = auto()
    ANY = auto()
    CHEAPER = auto()
    SAID = auto()


@dataclass(frozen=True)
class CaseChange:
    """Changed keys of a case. ``what``, ``value``: the change in words; ``index``: of the changed fabric.

    ``wider``: the changed case has all designs of the answered one. ``added``: function of a fabric of the changed
    case: the part of its space that the answered one excludes; None: no such part can be formed. ``effort``: usual
    relative work of its solve: ``QUICK``, ``USUAL`` or ``LONG``. ``own_work``: work of its own, so that it takes none
    from other rows.
    """

    what: str
    value: str
    keys: Keys
    shown: RowsShown = RowsShown.ANY
    index: int | None = None
    wider: bool = False
    added: Callable[[FabricProblem], FabricProblem] | None = None
    effort: int = USUAL
    own_work: int = 0


class DesignFigures:
    """Figures of a design, in the units of a design file."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    @cached_property
    def sums(self) -> Sums:
        """Money, power and counts."""
        return sums_of(self.answer.problem, self.answer.picked)

    @cached_property
    def use(self) -> WorkloadUse | None:
        """The use of the design by the case's model; None without a model."""
        least = self.answer.ratio.least if self.answer.ratio is not None else ()
        return use_on(self.answer.problem, self.answer.picked, self.sums.cents, least)

    @cached_property
    def served(self) -> ServingUse | None:
        """The served model on the design; None without one."""
        return service_on(self.answer.problem, self.answer.picked)

    @property
    def objective(self) -> int | float:
        """The objective."""
        problem, value = self.answer.problem, self.answer.optimum.value
        if problem.case.objective == EFFECTIVE:
            assert self.use is not None and self.use.usd_per_effective_gpu is not None
            return self.use.usd_per_effective_gpu
        assert value is not None
        return problem.weights.in_metric(value)


def _step_of(job: JobUse) -> JobStep:
    return JobStep(step_s=job.step_s, tokens_per_s=job.tokens_per_s, gpu_utilization=job.gpu_utilization)


class Rows:
    """Rows beside an answer. ``tell``: takes words of progress."""

    def __init__(self, cases: ChangedCases, tell: Callable[[str], None]) -> None:
        self.cases = cases
        self.tell = tell
        self.answer = cases.answer
        self.own = DesignFigures(cases.answer)

    def of(self, change: CaseChange) -> Iterator[Alternative]:
        """The row of a change, if it is shown; a failure becomes an unfinished row."""
        try:
            may_differ, wanted = self._wanted_of(change)
            outcome = self.solved(change, wanted) if may_differ else Outcome(self.answer)
            rows = list(self._shown(change, outcome))
        except StoppedError:
            raise
        except Exception as error:
            self._say_failed(change, error)
            rows = [self.unfinished(change)]
        yield from rows

    def _say_failed(self, change: CaseChange, error: Exception) -> None:
        self.tell(f"{change.what} {change.value}: {FAILED} ({type(error).__name__}: {error})")

    def _wanted_of(self, change: CaseChange) -> tuple[bool, int | None]:
        """Whether a wider case may have a wanted design that the answered one lacks, and the cutoff of its objective;
        False only where little work proves that the added part has none, so that the answer stands.
        """
        wanted = self._wanted(change)
        problem = self.cases.problem_of(change.keys) if change.wider and wanted is not None else None
        if problem is None or wanted is None:
            return True, wanted
        if change.added is None:
            return self.cases.may_be_lower(problem, wanted), wanted
        self.tell(f"looking at what {change.what} {change.value} adds")
        for index, fabric in enumerate(problem.fabrics):
            if fabric.logical_fabrics:
                return True, wanted
            added = change.added(fabric) if change.index in (None, index) else fabric
            if added is not fabric and any(added.nics.values()):
                part = replace(problem, fabrics=(*problem.fabrics[:index], added, *problem.fabrics[index + 1 :]))
                met = self.cases.sketched(part, wanted) if self.cases.may_be_lower(part, wanted) else None
                if met is not None and not met.has_none_below(wanted):
                    # the best of all is no dearer than what was met
                    return True, wanted if met.value is None else min(wanted, met.value + 1)
        return False, wanted

    def solved(self, change: CaseChange, wanted: int | None = None) -> Outcome:
        """The outcome of a changed case; unfinished where its search fails.

        ``wanted``: cutoff, only lower objectives are wanted; None: by the change.
        """
        self.tell(f"looking at the best design with {change.what} {change.value}")
        try:
            wanted = self._wanted(change) if wanted is None else wanted
            return self.cases.solve(change.keys, wanted, change.own_work)
        except StoppedError:
            raise
        except Exception as error:
            self._say_failed(change, error)
            return Outcome(None, finished=False)

    def _wanted(self, change: CaseChange) -> int | None:
        """The cutoff of a change: only designs with a lower objective become rows; None: any."""
        value = self.answer.optimum.value
        if value is None or change.shown in (RowsShown.ALWAYS, RowsShown.ANY):
            return None
        return value + (change.shown is RowsShown.SAID)

    def _shown(self, change: CaseChange, outcome: Outcome) -> Iterator[Alternative]:
        if not outcome.finished:
            yield self.unfinished(change)
        if not outcome.finished or outcome.answer is None:
            return
        difference = DesignFigures(outcome.answer).objective - self.own.objective
        if change.shown in (RowsShown.ALWAYS, RowsShown.ANY) or difference < 0:
            if difference or self._looks_otherwise(outcome.answer):
                yield self.row(change, outcome)
            elif change.shown is RowsShown.ALWAYS:
                yield self.row(change, outcome, THE_SAME)
        elif change.shown is RowsShown.SAID and not difference:
            yield self.row(change, outcome, self._at_equal_cost(change, outcome.answer))

    def _at_equal_cost(self, change: CaseChange, other: Answer) -> str:
        """Words: nothing is cheaper; for another number of planes, its service at the same cost."""
        design, own = self._designs(change, other)
        if design is None or own is None or planes_of(design.nic) == planes_of(own.nic):
            sums, own_sums = DesignFigures(other).sums, self.own.sums
            is_alike = (sums.cents, sums.power_mw) == (own_sums.cents, own_sums.power_mw)
            nothing = NOTHING_CHEAPER if is_alike else NOTHING_LESS
            return nothing if other.optimum.verdict == "optimal" else f"{nothing} was found"
        planes = planes_words({planes_of(design.nic)})
        return f"the same cost in {planes}{service_beside(design, own, self.answer.problem)}"

    def _looks_otherwise(self, other: Answer) -> bool:
        """Whether a design of the same objective differs in structure or devices."""
        pairs = zip(self.answer.picked, other.picked, strict=False)
        return len(self.answer.picked) != len(other.picked) or any(
            own.design.file_part().structure != one.design.file_part().structure
            or summary_of(own.design.file_part()) != summary_of(one.design.file_part())
            for (own, _), (one, _) in pairs
        )

    def row(self, change: CaseChange, outcome: Outcome, summary: str | None = None) -> Alternative:
        """The row of a case that has a design."""
        assert outcome.answer is not None
        other, own = outcome.answer, self.own
        figures = DesignFigures(other)
        use, served = figures.use, figures.served
        only = None if use is None or use.jobs else use
        return Alternative(
            what=self.named(change),
            value=change.value,
            summary=(self._summary(change, other) if summary is None else summary) + _without(outcome),
            in_names=named_beside(other.problem, other.picked, self.answer.picked),
            change=dict(change.keys),
            status="optimal" if other.optimum.verdict == "optimal" else "feasible",
            objective=figures.objective,
            objective_delta=difference_of(figures.objective, own.objective),
            capex_usd=usd(figures.sums.cents),
            capex_delta_usd=usd(figures.sums.cents - own.sums.cents),
            power_w=watts(figures.sums.power_mw),
            power_delta_w=watts(figures.sums.power_mw - own.sums.power_mw),
            step_s=None if only is None else only.step_s,
            tokens_per_s=getattr(served or only, "tokens_per_s", None),
            ttft_s=None if served is None else served.ttft_s,
            tpot_s=None if served is None else served.tpot_s,
            gpu_utilization=None if use is None else use.gpu_utilization,
            jobs={} if use is None else {job.name: _step_of(job) for job in use.jobs},
            usd_per_effective_gpu=None if use is None else use.usd_per_effective_gpu,
            rules_left_out=outcome.rules_left_out,
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
        """The words of a change, with its fabric where there are several."""
        fabrics = self.answer.problem.fabrics
        if change.index is None or len(fabrics) == 1:
            return change.what
        return f"{fabrics[change.index].name} {change.what}"

    def _designs(self, change: CaseChange, other: Answer) -> Sequence[NetworkDesign | None]:
        """The networks of the changed fabric in a design and in the answer; None where missing."""
        if change.index is None:
            return None, None
        name = self.answer.problem.fabrics[change.index].name
        return [
            next((built.design for built, _ in answer.picked if built.fabric == name), None)
            for answer in (other, self.answer)
        ]

    def _summary(self, change: CaseChange, other: Answer) -> str:
        text = summaries_beside(other.problem, other.picked, self.answer.picked) + (
            "" if other.optimum.verdict == "optimal" else BEST_FOUND
        )
        moved, unmoved = (figures.sums.moved_cables for figures in (DesignFigures(other), self.own))
        if moved != unmoved:
            text += f"; {some(moved, 'cable')} in place moved (here {unmoved:,})"
        if change.what == SERVER:
            return f"{text}{BESIDE}{beside_server(other, self.answer)}"
        design, own = self._designs(change, other)
        if design is None or own is None:
            return text
        if change.what in ("topology", "torus of"):
            text += f"; {some(DesignFigures(other).sums.cables, 'cable')}; {carries(design, other.problem.gpus)}"
        if change.shown is RowsShown.SAID or change.what == "groups":
            text += service_beside(design, own, self.answer.problem)
        if change.what == "groups":
            here = last_group_words(own.file_part().structure).removeprefix(";")
            text += f" (here{here})" if here else last_group_words(design.file_part().structure)
        return text


def _without(outcome: Outcome) -> str:
    """The rules that a design leaves out, in words; empty where it keeps all."""
    parts = [row.name for row in outcome.rules_left_out]
    return f"; without {' and '.join(parts)}" if parts else ""


def difference_of(objective: float, best: float) -> int | float:
    """The difference of two objectives, to three decimals."""
    rest = round(objective - best, 3)
    return int(rest) if rest == int(rest) else rest
