"""``fabopt audit``: a design made by hand against the rules, against its case, and against the best design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fabopt.cli.as_built import Outputs
from fabopt.cli.output import check_targets, deliver_all, page_faults
from fabopt.cli.quotes import quoted_catalog
from fabopt.cli.solving import SolveRequest
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, Fault, fault, refusal
from fabopt.inspect.audit.audit import audited
from fabopt.inspect.audit.reading import KINDS, ratio_of, read_hand_made
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM
from fabopt.output.export.audit import audit_csv, audit_json
from fabopt.output.html.audit import audit_page
from fabopt.output.terminal.audit import audit_of_hand_made_report, headline_of_hand_made
from fabopt.schema.design import Design


@dataclass(frozen=True)
class HandMadeRequest:
    """An audit. ``case``: how its case is solved; None: no case is given. ``claimed``: words for a ratio."""

    file: str
    kind: str
    case: SolveRequest | None
    catalogs: Sequence[str] | None
    claimed: str | None


def audit_hand_made(request: HandMadeRequest, outputs: Outputs) -> int:
    """Audit a design made by hand, write the files asked for, print the rest; 1 where there is a fault."""
    claimed = _checked(request, outputs)
    check_targets(outputs.given)
    hand = read_hand_made(request.file, request.kind)
    inputs = None if request.case is None else request.case.inputs()
    best = _best(request.case, inputs)
    catalog = inputs.catalog if inputs is not None else quoted_catalog(request.catalogs)
    audit = audited(hand, catalog, None if inputs is None else inputs.case, best, claimed)
    files = (
        (outputs.json, partial(audit_json, audit, best)),
        (outputs.findings, partial(audit_csv, audit)),
        (outputs.html, partial(audit_page, audit)),
    )
    deliver_all(files, partial(audit_of_hand_made_report, audit), headline_of_hand_made(audit))
    return EXIT_DONE if audit.ok else EXIT_CHECK_FAILED


def _checked(request: HandMadeRequest, outputs: Outputs) -> float | None:
    """The ratio claimed; ``InputError`` with all faults of the options."""
    faults: list[Fault] = []
    if request.kind not in KINDS:
        faults.append(fault("--as", "", "no such kind of file", request.kind, allowed=", ".join(KINDS)))
    claimed = None if request.claimed is None else ratio_of(request.claimed)
    if request.claimed is not None and claimed is None:
        faults.append(fault("--claimed", "", "not a ratio", request.claimed, allowed="such as 1:1, 2:1 or 1.5"))
    if request.case is not None and [request.file, request.case.case].count(STANDARD_STREAM) > 1:
        faults.append(fault("-", "", "only one input can come from standard input"))
    faults += page_faults(outputs.html)
    refuse_any(faults)
    return claimed


def _best(request: SolveRequest | None, inputs: Inputs | None) -> Design | None:
    """The cheapest design of the case, for its purchase price; None where there is none, or none in time."""
    if request is None or inputs is None:
        return None
    best = request.design()
    if best.totals is None:
        raise refusal(
            request.case,
            "",
            "the case has no design to hold the file against",
            best.status,
            hint="`fabopt solve` says why; leave --case out for the rules alone",
        )
    return best
