"""``fabopt decide``: the choices that a case leaves open, with the best design of both sides."""

from __future__ import annotations

from functools import partial

from fabopt.cli.output import check_targets, deliver_all, engines_silenced, page_faults, tell
from fabopt.cli.progress import progress_shown
from fabopt.cli.solving import SolveRequest
from fabopt.errors import EXIT_DONE, EXIT_NO_ANSWER, Fault, NoAnswerError, fault
from fabopt.inspect.decisions.decide import Wanted, decided
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.output.export.decide import decisions_json
from fabopt.output.html.decide import decisions_page
from fabopt.output.terminal.decide import decisions_report
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.solution.designs import stopped_design

MOST_SIZES = 5


def decide_case(request: SolveRequest, wanted: Wanted, json: str | None, html: str | None) -> int:
    """Solve both sides of each question, write the files asked for, print the rest."""
    _check(wanted, html)
    targets = [path for path in (json, html) if path is not None]
    check_targets(targets)
    inputs = request.inputs()
    clock = request.clock()
    with progress_shown(limit_s=request.time_limit_s) as progress, engines_silenced():

        def solve(asked: Inputs) -> Design:
            try:
                return optimize.solve(
                    asked, engine=request.engine, clock=clock, progress=progress.say, alternatives_s=0
                )
            except NoAnswerError as error:
                return stopped_design(asked, request.engine, str(error))

        decisions = decided(inputs, solve, wanted)
    files = ((json, partial(decisions_json, decisions)), (html, partial(decisions_page, decisions)))
    deliver_all(files, partial(decisions_report, decisions))
    if not decisions.complete:
        tell("decide: stopped before all questions were answered with proof; a longer --time-limit answers more")
    return EXIT_NO_ANSWER if clock.is_stopped or decisions.best.status == "unknown" else EXIT_DONE


def _check(wanted: Wanted, html: str | None) -> None:
    faults: list[Fault] = []
    for option, value in (("--rent", wanted.rent_usd), ("--server-price", wanted.server_usd)):
        if value is not None and not 0 < value < 1e9:
            faults.append(fault(option, "", "not a price", value, allowed="dollars, more than 0"))
    if len(wanted.sizes) > MOST_SIZES or any(not 0 < size <= 100 for size in wanted.sizes):
        faults.append(fault("--size", "", "not factors of the servers", list(wanted.sizes), allowed="such as 0.5 or 2"))
    faults += page_faults(html)
    refuse_any(faults)
