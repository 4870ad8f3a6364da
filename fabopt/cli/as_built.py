"""The command that compares a fabric as cabled with its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from fabopt.cli.evidence import numbered_stage, proven, require_found, saved_design, wired
from fabopt.cli.output import check_targets, deliver, deliver_all, page_faults
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, Fault, fault, refusal
from fabopt.inspect.acceptance.results import measured
from fabopt.inspect.acceptance.verdicts import accepted
from fabopt.inspect.as_built import as_built, require_planned
from fabopt.inspect.cabling import Names, proposed_names
from fabopt.inspect.cabling_csv import guids_of, mapped
from fabopt.inspect.planned import PortName
from fabopt.inspect.reading import read
from fabopt.inspect.to_do import WantedCables
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, read_bytes
from fabopt.io.tables import COLUMNS
from fabopt.operate.ports import templated_names
from fabopt.output.export.acceptance import acceptance_csv, acceptance_json
from fabopt.output.export.as_built import Shown, as_built_json, findings_csv
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.html.as_built import as_built_page
from fabopt.output.terminal.acceptance import acceptance_report, headline_of_acceptance
from fabopt.output.terminal.as_built import as_built_report
from fabopt.schema.design import Design
from fabopt.wiring.migration import migration_of
from fabopt.wiring.model import wiring_at

_INPUTS = "--ibnetdiscover FILE, --lldp FILE or DIR, --csv FILE"


@dataclass(frozen=True)
class Request:
    """A comparison: a design file, or ``point`` of a sweep or front, with files; tables of names; a stage.

    ``proposals``: target for a table of names derived from the cables; ``window``: the last one done of a migration;
    ``cables``: target for a table of the cables by planned names.
    """

    design: str
    point: int | None
    files: Sequence[str]
    names: str | None
    guids: str | None
    stage: str | None
    unchecked: bool
    proposals: str | None = None
    window: int | None = None
    cables: str | None = None


@dataclass(frozen=True)
class Outputs:
    """Files to write; None: not asked for."""

    json: str | None
    findings: str | None
    html: str | None

    @property
    def given(self) -> list[str]:
        """Outputs that are asked for."""
        return [path for path in (self.json, self.findings, self.html) if path is not None]


def compare(request: Request, outputs: Outputs) -> int:
    """Compare a fabric with its plan, write the files asked for, print the rest; 1 where there are findings."""
    _require_options(request, outputs)
    check_targets([*outputs.given, *filter(None, [request.proposals, request.cables])])
    design = saved_design(request.design, request.point)
    number = _stage(design, request)
    evidence = proven(design, request.design, request.unchecked)
    wiring = wired(design, request.design)
    wanted = WantedCables(design, wiring, number)
    if request.window is not None:
        wanted = replace(wanted, done=_done(wanted, request.window))
    names, reports = _names(request, wanted), list(read(request.files))
    shown = Shown(design, wanted.whole, as_built(wanted, reports, names), evidence.mark, wanted.joined)
    if request.proposals is not None:
        told = proposed_names(wanted.plan, wanted.systems, reports, names)
        deliver(request.proposals, csv_bytes(("found", "planned"), told))
    if request.cables is not None:
        deliver(request.cables, csv_bytes(COLUMNS, [(*a, *b) for a, b in shown.result.cables]))
    files = (
        (outputs.json, partial(as_built_json, shown)),
        (outputs.findings, partial(findings_csv, shown)),
        (outputs.html, partial(as_built_page, shown)),
    )
    deliver_all(files, partial(as_built_report, shown))
    return EXIT_DONE if shown.result.ok else EXIT_CHECK_FAILED


def _require_options(request: Request, outputs: Outputs) -> None:
    faults: list[Fault] = []
    if not request.files:
        faults.append(fault("as-built", "", "no file says what is cabled", allowed=_INPUTS))
    if [request.design, *request.files].count(STANDARD_STREAM) > 1:
        faults.append(fault("-", "", "only one input can come from standard input"))
    for path in filter(None, (request.names, request.guids)):
        if path == STANDARD_STREAM:
            faults.append(fault("-", "", "a table of names is a file of its own"))
    faults += page_faults(outputs.html)
    refuse_any(faults)


def _stage(design: Design, request: Request) -> int:
    """The number of the stage built, from 0."""
    require_found(design, request.design)
    number = numbered_stage(design, request.stage)
    return max(0, len(design.stages) - 1) if number is None else number


def _done(wanted: WantedCables, window: int) -> frozenset[frozenset[PortName]]:
    """Ends of the links that are there once a window of the migration is done."""
    states = dict(migration_of(wanted.design, wiring_at(wanted.wiring, wanted.stage)).states())
    if window not in states:
        raise refusal("--window", "", "no such window of the migration", window, allowed=f"0 to {len(states) - 1}")
    links = (link for cable in states[window].values() for link in cable.links)
    return frozenset(frozenset((PortName(*link[:2]), PortName(*link[2:]))) for link in links)


def _names(request: Request, wanted: WantedCables) -> Names:
    """The tables of names and GUIDs, whose planned names must be the design's, and the case's names of devices."""
    tables = []
    for path, reader in ((request.names, mapped), (request.guids, guids_of)):
        table = reader(read_bytes(Path(path)), path) if path is not None else {}
        if path is not None:
            require_planned(table, wanted.plan, path)
        tables.append(table)
    names, guids = tables
    called = {name: own for one in wanted.wirings for name, own in templated_names(*one).items()}
    return Names(called | names, guids)


# -- ``fabopt accept`` ------------------------------------------------------------------------------------------------
# ``fabopt accept``: measured bandwidths against those that a design predicts.


def accept_results(
    path: str, point: int | None, results: Sequence[str], unchecked: bool, json: str | None, findings: str | None
) -> int:
    """Compare results with a design file, or ``point`` of a sweep or front, write the files asked for, print the rest;
    1 where a test fails.
    """
    check_targets([json, findings])
    if [path, *results].count(STANDARD_STREAM) > 1:
        raise refusal("-", "", "only one input can come from standard input")
    design = saved_design(path, point)
    require_found(design, path)
    design = proven(design, path, unchecked).design
    acceptance = accepted(design, measured(results))
    files = ((json, partial(acceptance_json, acceptance)), (findings, partial(acceptance_csv, acceptance)))
    deliver_all(files, partial(acceptance_report, acceptance), headline_of_acceptance(acceptance))
    return EXIT_DONE if acceptance.ok else EXIT_CHECK_FAILED
