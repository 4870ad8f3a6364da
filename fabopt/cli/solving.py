"""Commands that solve a case or judge a design; each returns its exit code."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from fabopt.cli.advice import Advice
from fabopt.cli.ends import NO_MEMORY, is_of_memory
from fabopt.cli.output import Heard, check_targets, deliver, engines_silenced, say, tell
from fabopt.cli.progress import progress_shown
from fabopt.cli.signals import ATTENDANT
from fabopt.errors import (
    EXIT_CHECK_FAILED,
    EXIT_DONE,
    EXIT_INFEASIBLE,
    EXIT_NO_ANSWER,
    NoAnswerError,
    refusal,
)
from fabopt.io.case import Inputs, read_inputs
from fabopt.io.library import STANDARD_STREAM, ending_of
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.answer import headline

if TYPE_CHECKING:
    from fabopt.cli.outages import Draws
    from fabopt.program.settings import Clock
    from fabopt.schema.design import Alternative, Design

FORMULATION_ENDINGS: dict[str, Literal["lp", "mps"]] = {".lp": "lp", ".mps": "mps"}
EXIT_OF_STATUS = {
    "optimal": EXIT_DONE,
    "feasible": EXIT_DONE,
    "infeasible": EXIT_INFEASIBLE,
    "unknown": EXIT_NO_ANSWER,
}
WITHOUT_DESIGN = ("infeasible", "unknown")


@dataclass(frozen=True)
class SolveRequest:
    """A case to solve, and options: the words of the command line."""

    case: str
    engine: str = "cp-sat"
    time_limit_s: float | None = None
    catalogs: Sequence[str] | None = None
    price_changes: Sequence[str] | None = None
    alternatives_s: float | None = None
    full: bool = False

    def inputs(self) -> Inputs:
        """Read everything the case names; ``InputError`` lists all faults."""
        limit = self.time_limit_s
        if limit is not None and not (limit > 0 and math.isfinite(limit)):
            raise refusal("--time-limit", "", "not a time", limit, allowed="more than 0 seconds")
        looks = self.alternatives_s
        if looks is not None and not 0 <= looks < math.inf:
            raise refusal("--alternatives", "", "not a time", looks, allowed="0 seconds or more")
        return read_inputs(self.case, self.catalogs, self.price_changes or ())

    def design(self) -> Design:
        """Solve, and prove the answer again.

        Stopped before there is any: a design of status ``unknown``. Conflicts are told as they are found.
        """
        return self.solved(self.inputs())

    def solved(
        self, inputs: Inputs, target: str | None = None, reached: Callable[[Design], None] | None = None
    ) -> Design:
        """Solve inputs, as ``design``.

        ``target``: the file for the answer if this process is cut off meanwhile; ``reached``: takes the answer before
        others are compared with it.
        """
        advice = Advice(inputs.case.name, self.full)
        design = self._solved(inputs, advice, target, reached)
        if not design.fabrics and design.status in WITHOUT_DESIGN:
            advice.finish(design)
        return design

    def _solved(
        self, inputs: Inputs, advice: Advice, target: str | None, reached: Callable[[Design], None] | None
    ) -> Design:
        clock = self.clock()
        from fabopt.solution import optimize
        from fabopt.solution.designs import stopped_design
        from fabopt.solution.question import ALTERNATIVES_S

        kept = None if target is None else partial(_leave_at, target)
        if kept is not None:
            kept(stopped_design(inputs, self.engine, "it was cut off"))
        looks = ALTERNATIVES_S if self.alternatives_s is None else self.alternatives_s
        try:
            shown = progress_shown(inputs.case.objective, self.time_limit_s)
            with shown as progress, engines_silenced() as heard:
                return optimize.solve(
                    inputs,
                    engine=self.engine,
                    progress=progress.say,
                    clock=clock,
                    alternatives_s=looks,
                    told=advice.take,
                    reached=reached and shown_between(reached, progress.hidden, heard),
                    compared=_tell_alternative if reached is None else None,
                    bracket=progress.bracket,
                    share=progress.share,
                    still=progress.still,
                    kept=kept,
                )
        except NoAnswerError as error:
            return stopped_design(inputs, self.engine, str(error))
        except KeyboardInterrupt:
            return stopped_design(inputs, self.engine, "interrupted")
        except Exception as error:
            if not is_of_memory(error):
                raise
            return stopped_design(inputs, self.engine, NO_MEMORY)

    def clock(self) -> Clock:
        """The clock of the command: its limit counts from its start, and the first signal stops it."""
        from fabopt.program.settings import Clock

        clock = Clock(self.time_limit_s, ATTENDANT.started)
        ATTENDANT.attend(clock)
        return clock


def _leave_at(target: str, design: Design) -> None:
    """Write a design to a file if the command is ended before it has a better one."""
    ATTENDANT.leave(target, design_bytes(design), EXIT_OF_STATUS[design.status])


def _tell_alternative(alternative: Alternative) -> None:
    """Tell of an alternative as it is found, if standard error is a terminal: the answer lists all of them."""
    if sys.stderr.isatty():
        from fabopt.output.terminal.answer import alternative_line

        tell(alternative_line(alternative))


def solve_case(request: SolveRequest, json: str | None, bom: str | None) -> int:
    """Solve a case, write the files asked for, print the first screen where standard output is free, or everything.

    The first screen begins before other designs are compared with the answer.
    """
    write_bill = None if bom is None else _bill_to(bom)
    check_targets([json, bom])
    screen = None if request.full or STANDARD_STREAM in (json, bom) else Screen()
    design = request.solved(request.inputs(), json, None if screen is None else screen.begin)
    if json is not None:
        deliver(json, design_bytes(design))
        ATTENDANT.leave("")
    if not design.fabrics:
        return EXIT_OF_STATUS[design.status]
    if write_bill is not None:
        write_bill(design)
    if STANDARD_STREAM in (json, bom):
        tell(headline(design))
    elif screen is not None:
        screen.finish(design)
    else:
        show_whole(design)
    return _exit_code(design)


def shown_between(take: Callable[[Design], None], *breaks: Heard) -> Callable[[Design], None]:
    """A function that shows a design while a command goes on, within ``breaks`` of what else it does to the screen."""

    def show(design: Design) -> None:
        with ExitStack() as stack:
            for pause in breaks:
                stack.enter_context(pause())
            take(design)

    return show


class Screen:
    """The first screen of a design, in two parts."""

    def __init__(self) -> None:
        self._begun = False

    def begin(self, design: Design) -> None:
        """Print what is known with the answer."""
        from fabopt.output.terminal.first_screen import first_rows, grid

        self._begun = True
        say(grid(first_rows(design)))

    def finish(self, design: Design) -> None:
        """Print what was compared with it, and what is known with the answer if that was not yet printed."""
        from fabopt.output.terminal.first_screen import compared_rows, grid

        if not self._begun:
            self.begin(design)
        rows = compared_rows(design)
        if rows:
            say(grid(rows))


def show_whole(design: Design) -> None:
    """Print everything about a design."""
    from fabopt.output.terminal.summary import summary

    say(summary(design))


def show_design(path: str, point: int | None, full: bool) -> int:
    """Print the first screen of a saved design, or everything; or why a case has none."""
    from fabopt.cli.evidence import check_whole, saved_design, told_of

    design = saved_design(path, point)
    check_whole(design, path)
    with told_of(path):
        if not design.fabrics:
            Advice(design.case.name, full).finish(design)
        elif full:
            show_whole(design)
        else:
            Screen().finish(design)
    return EXIT_DONE


def _bill_to(target: str) -> Callable[[Design], None]:
    """A function that writes the bill of a design to ``target``; ``InputError`` at once for an unknown ending."""
    from fabopt.output.export.bill import bill_bytes, bill_format

    ending = bill_format(target)
    return lambda design: deliver(target, bill_bytes(design, ending))


def _exit_code(design: Design) -> int:
    for check in design.failed:
        tell(f"check {check.name} FAILED: {check.detail}")
    return EXIT_CHECK_FAILED if design.failed else EXIT_OF_STATUS[design.status]


def check_design(
    path: str, draws: Draws | None = None, point: int | None = None, again: SolveRequest | None = None
) -> int:
    """Prove a saved design again and print each check; if all hold, the bandwidth after random failures.

    ``point``: of a sweep or front, from 1; ``again``: how its case is solved again, if it is.
    """
    from fabopt.cli.evidence import nearest_hint, require_found, saved_design
    from fabopt.cli.outages import what_is_left
    from fabopt.output.terminal.checks import check_report
    from fabopt.verify import not_asked, verify

    design = saved_design(path, point)
    if design.status in WITHOUT_DESIGN:
        require_found(design, path, " to check", nearest_hint(design))
    checks = tuple(verify(design))
    say(check_report(design, checks, again is not None, len(not_asked(design))))
    holds = bool(checks) and all(check.ok for check in checks)
    if again is not None and holds:
        holds = _is_proven_again(design, again)
    if draws is not None and holds:
        with progress_shown() as progress:
            left = what_is_left(path, design, draws, progress.say)
        say(left)
    elif draws is not None:
        tell("what failures leave is not drawn, as the design does not hold")
    return EXIT_DONE if holds else EXIT_CHECK_FAILED


def _is_proven_again(design: Design, request: SolveRequest) -> bool:
    """Solve the case of a design again, and tell its proof, or its contradictions."""
    from fabopt.cli.quotes import catalog_of_design
    from fabopt.inspect.quote_optimum import inputs_again
    from fabopt.output.terminal.checks import differences, proven_again

    catalog, found_whole = catalog_of_design(design, request.catalogs)
    if not found_whole:
        raise refusal(
            request.case, "case.catalog", "not all catalogs of the case are found", hint="name them with --catalog"
        )
    again = request.solved(inputs_again(design, catalog, request.case))
    wrong = list(differences(design, again))
    for text in wrong:
        tell(f"FAILED: {text}")
    if not wrong:
        say(proven_again(again))
    return not wrong


def write_formulation(request: SolveRequest, output: str) -> None:
    """Write the integer program; standard output gets it as .lp."""
    ending = ".lp" if output == STANDARD_STREAM else ending_of(output, "a formulation", FORMULATION_ENDINGS)
    check_targets([output])
    inputs = request.inputs()
    from fabopt.solution.formulation_text import formulation_text

    with engines_silenced():
        text = formulation_text(inputs, FORMULATION_ENDINGS[ending])
    deliver(output, text.encode())
