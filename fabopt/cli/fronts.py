"""Commands that solve a case at many points or prices; each returns its exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabopt.cli.output import check_targets, deliver, engines_silenced, say, tell
from fabopt.cli.progress import progress_shown
from fabopt.cli.signals import ATTENDANT
from fabopt.cli.solving import SolveRequest
from fabopt.errors import EXIT_DONE, EXIT_INFEASIBLE, EXIT_NO_ANSWER, Fault, fault
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, ending_of, is_device
from fabopt.output.export.front import front_csv, readable
from fabopt.output.export.sensitivity import sensitivity_bytes, sensitivity_csv
from fabopt.output.terminal.answer import infeasible_lines
from fabopt.output.terminal.front import front_headline, front_summary
from fabopt.output.terminal.sensitivity import sensitivity_headline, sensitivity_summary
from fabopt.output.words import value_text
from fabopt.units import some

if TYPE_CHECKING:
    from fabopt.program.settings import Clock
    from fabopt.schema.design import Front, FrontPoint
    from fabopt.study.front.journal import PointJournal

PLOT_ENDINGS = (".html", ".png", ".svg")


@dataclass(frozen=True)
class Targets:
    """Files to write: the words of the command line."""

    json: str | None = None
    csv: str | None = None
    plot: str | None = None

    def check(self) -> None:
        """Raise, before any work, if one of the files cannot be written."""
        if self.plot is not None:
            ending_of(self.plot, "a plot", PLOT_ENDINGS)
        check_targets([self.json, self.csv, self.plot])

    @property
    def file(self) -> Path | None:
        """The file for all points, if it is a regular file."""
        if self.json is None or self.json == STANDARD_STREAM or is_device(Path(self.json)):
            return None
        return Path(self.json)

    def write(self, front: Front, journal: PointJournal) -> None:
        """Write the files asked for; a front without any design is not plotted."""
        if self.json is not None:
            shown, data = readable(front)
            with journal.until_written():
                deliver(self.json, data)
            ATTENDANT.leave("")
            if shown is not front:
                tell(shown.notes[-1])
        if self.csv is not None:
            deliver(self.csv, front_csv(front))
        if self.plot is not None and any(point.totals is not None for point in front.points):
            from fabopt.output.plot import write_plot

            ATTENDANT.draw()
            write_plot(front, Path(self.plot))

    @property
    def take_output(self) -> bool:
        """Whether an answer goes to standard output."""
        return STANDARD_STREAM in (self.json, self.csv)


@dataclass
class Watched:
    """Progress while points are solved: points done, the best so far, the time left."""

    tell: Callable[[str], None]
    metric: str
    maximizes: bool
    wanted: int | None = None
    started: float = field(default_factory=time.monotonic)
    best: int | float | None = None

    def note(self, values: Sequence[int | float], done: int, new: int) -> None:
        """Take the metric of new points; ``new``: points solved in this run."""
        values_met = [*values, *([] if self.best is None else [self.best])]
        if values_met:
            self.best = max(values_met) if self.maximizes else min(values_met)
        of = f" of {self.wanted:,}" if self.wanted else ""
        parts = [f"{done:,}{of} points" if of else some(done, "point")]
        if self.best is not None:
            parts.append(f"best so far {self.metric} {value_text(self.metric, self.best)}")
        if self.wanted and new:
            left = (time.monotonic() - self.started) / new * (self.wanted - done)
            parts.append(f"about {left:,.0f} s left")
        self.tell(", ".join(parts))


@contextmanager
def at_work(request: SolveRequest, jobs: int = 1) -> Iterator[tuple[Clock, Callable[[str], None]]]:
    """A clock that time and signals stop, and a function for words of progress."""
    clock = request.clock()
    with progress_shown(limit_s=request.time_limit_s, turns=jobs == 1) as progress, engines_silenced():
        yield clock, progress.say


def sweep_case(
    request: SolveRequest,
    budget: str | None,
    over: Sequence[str],
    jobs: int,
    dask: str | None,
    resume: str | None,
    targets: Targets,
) -> int:
    """Solve a case at every point of a grid."""
    _check_workers(jobs, dask)
    targets.check()
    inputs = request.inputs()
    from fabopt.program.settings import Settings
    from fabopt.study.sweep import sweep as sweeps

    grid = sweeps.grid_of(inputs, budget, over)
    empty = sweeps.empty_front(inputs, grid)
    metric = empty.objectives[-1]
    reason = ""
    with taken_up(targets, resume, empty) as journal:
        with at_work(request, jobs) as (clock, show):
            watched = Watched(show, metric.metric, metric.sense == "maximize", grid.size)

            def report(points: Sequence[FrontPoint], done: int, new: int) -> None:
                journal.keep(points)
                values = [point.values[metric.metric] for point in points if metric.metric in point.values]
                watched.note(values, done, new)

            settings = Settings(request.engine)
            execution = sweeps.Execution(jobs, dask)
            try:
                front = sweeps.sweep(inputs, grid, execution, journal.known, settings, clock, report)
            except sweeps.CutShortError as error:
                front, reason = error.front, str(error)
        if reason:
            tell(reason)
        code = _answered(front, targets, journal, clock)
    return EXIT_NO_ANSWER if reason else code


@contextmanager
def taken_up(targets: Targets, resume: str | None, empty: Front) -> Iterator[PointJournal]:
    """The journal beside the output, with the points of an earlier run."""
    from fabopt.study.front.journal import journaled

    with journaled(targets.file, resume, empty) as journal:
        if journal.known is not None and not (journal.known.points or journal.known.answers):
            tell(f"{resume}: no point is there yet; starting with the first")
        if targets.file is not None:
            ATTENDANT.leave(str(targets.file))
        yield journal


def _check_workers(jobs: int, dask: str | None) -> None:
    faults: list[Fault] = []
    if jobs < 1:
        faults.append(fault("--jobs", "", "not a number of processes", jobs, allowed="1 or more"))
    if dask is not None and jobs > 1:
        faults.append(fault("--jobs", "", "the Dask cluster has workers of its own", jobs, hint="leave --jobs out"))
    refuse_any(faults)


def pareto_case(
    request: SolveRequest,
    minimize: Sequence[str],
    maximize: Sequence[str],
    points: int | None,
    jobs: int,
    resume: str | None,
    targets: Targets,
) -> int:
    """Find the front of a case."""
    _check_workers(jobs, None)
    from fabopt.study.front.fronts import empty_front, objectives_of, pareto_front
    from fabopt.study.front.measures import others

    objectives = objectives_of(minimize, maximize, points)
    if not minimize and not maximize:
        names = " against ".join(objective.name for objective in objectives)
        tell(f"trading {names}; other metrics: {others(objectives)}")
    targets.check()
    inputs = request.inputs()
    from fabopt.program.settings import Settings

    with taken_up(targets, resume, empty_front(inputs, objectives)) as journal:
        with at_work(request, jobs) as (clock, show):
            first = objectives[0]
            watched = Watched(show, first.name, first.sense == "maximize")
            front = pareto_front(
                inputs,
                objectives,
                points,
                Settings(request.engine, progress=show),
                clock,
                lambda designs: watched.note([first.shown(designs[-1].grades[first.name])], len(designs), len(designs)),
                journal,
                jobs,
            )
        return _answered(front, targets, journal, clock)


def _answered(front: Front, targets: Targets, journal: PointJournal, clock: Clock) -> int:
    """Write and show a front; its exit code."""
    targets.write(front, journal)
    if targets.take_output:
        tell(front_headline(front))
    else:
        say(front_summary(front))
    if not front.complete:
        tell(_stopped(front, targets))
        if clock.is_stopped:
            return EXIT_NO_ANSWER
    statuses = {point.status for point in front.points}
    if statuses <= {"unknown", "infeasible"} and statuses != {"infeasible"}:
        return EXIT_NO_ANSWER
    return EXIT_INFEASIBLE if statuses == {"infeasible"} and front.complete else EXIT_DONE


def _stopped(front: Front, targets: Targets) -> str:
    """Why points are missing, and where the others have been written."""
    if front.size is not None:
        return front.notes[-1]
    kept = f", kept in {targets.json}" if targets.json not in (None, STANDARD_STREAM) else ""
    goes_on = "; --resume goes on from there" if kept and (front.kind == "sweep" or front.answers) else ""
    return f"stopped after {some(len(front.points), 'point')}{kept}{goes_on}"


# -- how far prices may go --------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    from fabopt.schema.sensitivity import Sensitivity


def sensitivity_of_case(
    request: SolveRequest, kinds: Sequence[str], parts: Sequence[str], json: str | None, csv: str | None
) -> int:
    """Find the price ranges of a case's answer, write the files asked for, print the table; its exit code."""
    check_targets([json, csv])
    inputs = request.inputs()
    from fabopt.program.settings import Settings
    from fabopt.study.sensitivity.ranges import Asked, check_asked, sensitivity

    asked = Asked(kinds, parts)
    check_asked(asked, inputs)
    with at_work(request) as (clock, show):
        ranges = sensitivity(inputs, asked, Settings(request.engine, request.time_limit_s, progress=show), clock)
    if json is not None:
        deliver(json, sensitivity_bytes(ranges))
    if ranges.status in ("infeasible", "unknown"):
        return _without_answer(ranges)
    if csv is not None:
        deliver(csv, sensitivity_csv(ranges))
    if STANDARD_STREAM in (json, csv):
        tell(sensitivity_headline(ranges))
    else:
        say(sensitivity_summary(ranges))
    return EXIT_DONE


def _without_answer(ranges: Sensitivity) -> int:
    """Say why there is no answer."""
    from fabopt.schema.design import Design

    design = Design(
        fabopt=ranges.fabopt,
        case=ranges.case,
        status=ranges.status,
        objective=ranges.objective,
        conflicts=ranges.conflicts,
    )
    tell("\n".join([*infeasible_lines(design), *ranges.notes]))
    return EXIT_INFEASIBLE if ranges.status == "infeasible" else EXIT_NO_ANSWER
