"""The command for the price ranges within which an answer stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabopt.cli.fronts import at_work
from fabopt.cli.output import check_targets, deliver, say, tell
from fabopt.cli.solving import SolveRequest
from fabopt.errors import EXIT_DONE, EXIT_INFEASIBLE, EXIT_NO_ANSWER
from fabopt.io.files import STANDARD_STREAM
from fabopt.output.export.sensitivity import sensitivity_bytes, sensitivity_csv
from fabopt.output.terminal.answer import infeasible_lines
from fabopt.output.terminal.sensitivity import sensitivity_headline, sensitivity_summary

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
