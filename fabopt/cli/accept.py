"""``fabopt accept``: measured bandwidths against those that a design predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabopt.cli.evidence import proven
from fabopt.cli.output import check_targets, deliver, say, tell
from fabopt.cli.saved import saved_design
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, InputError, fault
from fabopt.inspect.acceptance.results import measured
from fabopt.inspect.acceptance.verdicts import accepted
from fabopt.io.files import STANDARD_STREAM
from fabopt.output.export.acceptance import acceptance_csv, acceptance_json
from fabopt.output.terminal.acceptance import acceptance_report, headline_of_acceptance


@dataclass(frozen=True)
class AcceptRequest:
    """A design file, or ``point`` of a sweep or front, and the files of results."""

    design: str
    point: int | None
    files: Sequence[str]
    unchecked: bool


def accept_results(request: AcceptRequest, json: str | None, findings: str | None) -> int:
    """Compare results with a design, write the files asked for, print the rest; 1 where a test fails."""
    targets = [path for path in (json, findings) if path is not None]
    check_targets(targets)
    if [request.design, *request.files].count(STANDARD_STREAM) > 1:
        raise InputError([fault("-", "", "only one input can come from standard input")])
    design = saved_design(request.design, request.point)
    if not design.fabrics:
        allowed = "a design that was found (status optimal or feasible)"
        raise InputError([fault(request.design, "fabrics", "there is no design here", design.status, allowed=allowed)])
    design = proven(design, request.design, request.unchecked).design
    acceptance = accepted(design, measured(request.files))
    for path, content in ((json, acceptance_json), (findings, acceptance_csv)):
        if path is not None:
            deliver(path, content(acceptance))
    if STANDARD_STREAM in targets:
        tell(headline_of_acceptance(acceptance))
    else:
        say(acceptance_report(acceptance))
    return EXIT_DONE if acceptance.ok else EXIT_CHECK_FAILED
