"""The command that writes a design for other people and programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from fabopt.cli.advice import Advice
from fabopt.cli.evidence import (
    Proven,
    nearest_hint,
    numbered_stage,
    proven,
    require_found,
    required,
    saved_design,
    wired,
)
from fabopt.cli.output import check_targets, deliver, tell
from fabopt.cli.solving import EXIT_OF_STATUS, WITHOUT_DESIGN, SolveRequest
from fabopt.errors import OutputError, fault
from fabopt.io.case import find_book
from fabopt.io.catalog import named_catalogs
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, read_bytes, shown
from fabopt.output.export.bill import bill_bytes, bill_format
from fabopt.output.export.formats import Options, export, format_names


@dataclass(frozen=True)
class ExportRequest:
    """A design file, or ``point`` of a sweep or front, from 1; formats (names, or several with commas); a folder.

    ``stage``: by name; ``guids``: a discovery file. ``unchecked``: a design that fails its checks is written too, with
    a mark. ``skip``: formats that do not apply are left out, and told. ``sheets``: codes of sheets of labels. ``date``
    (None: today), ``revision``: of title blocks.
    """

    design: str
    point: int | None
    to: Sequence[str]
    output: str
    netbox: str = "4.7"
    stage: str | None = None
    guids: str | None = None
    unchecked: bool = False
    skip: bool = False
    sheets: Sequence[str] | None = None
    date: str | None = None
    revision: str = "1"


def export_design(request: ExportRequest) -> None:
    """Write a saved design in formats into a folder. It is proven again first."""
    formats, path = format_names(request.to), request.design
    if request.output == STANDARD_STREAM:
        raise OutputError("-: an export is several files; name a folder")
    design = saved_design(path, request.point)
    require_found(design, path, " to export", nearest_hint(design))
    options = Options(
        request.netbox,
        stage=numbered_stage(design, request.stage),
        discovery=(
            None if request.guids is None else read_bytes(Path(request.guids)).decode("utf-8", errors="replace")
        ),
    )
    options = replace(options, skip=tell if request.skip else None)
    options = replace(options, sheets=tuple(request.sheets)) if request.sheets else options
    options = replace(options, date=request.date or str(date.today()), revision=request.revision)
    if request.point is None and path != STANDARD_STREAM:
        options = replace(options, source=Path(os.path.relpath(path, request.output)).as_posix())
    evidence = proven(design, path, request.unchecked)
    with evidence.written(path):
        options = replace(options, mark=evidence.mark)
        files = export(design, wired(design, path), formats, Path(request.output), options)
    for file in files:
        tell(f"wrote {shown(file)}")


# -- the command that writes a bill of materials ----------------------------------------------------------------------


def write_bill(
    request: SolveRequest,
    output: str,
    prices: Sequence[str],
    unchecked: bool,
    point: int | None = None,
    *,
    date: str = "",
    revision: str = "",
) -> int:
    """Write the bill of a saved design, which is proven again first, or of a case that is solved for it.

    ``prices``: price books, by name or path, in place of the design's prices. ``point``: of a sweep or front, from 1.
    ``date``, ``revision``: of the bill, as text.
    """
    ending = bill_format(output)
    check_targets([output])
    saved = point is not None or request.case.lower().endswith(".json")
    if saved:
        _check_as_saved(request)
    # a bill shows no alternatives
    design = saved_design(request.case, point) if saved else replace(request, alternatives_s=0).design()
    if not design.fabrics and design.status in WITHOUT_DESIGN:
        if saved:
            Advice(design.case.name).finish(design)
        return EXIT_OF_STATUS[design.status]
    evidence = (proven if saved else required)(design, request.case, unchecked)
    with evidence.written(request.case):
        data = _bill_bytes(evidence, ending, prices, date, revision)
    deliver(output, data)
    return EXIT_OF_STATUS[design.status]


def _check_as_saved(request: SolveRequest) -> None:
    """Refuse options for solving a case: a saved design has its parts at their prices."""
    hint = "--prices BOOK prices its bill again; or solve its case with this option"
    given = {"--catalog": request.catalogs, "--price-change": request.price_changes}
    faults = [
        fault(option, "", f"{request.case} is a saved design, which is not solved again", words[0], hint=hint)
        for option, words in given.items()
        if words
    ]
    refuse_any(faults)


def _bill_bytes(evidence: Proven, ending: str, prices: Sequence[str], date: str, revision: str) -> bytes:
    """The bill with its marks, at the prices of the books if there are any."""
    from fabopt.output.export.bill import NamedBook, mark_of, repriced
    from fabopt.output.export.marks import MARK, REPRICED

    design, marks = evidence.design, {MARK: evidence.mark} if evidence.mark else {}
    if prices:
        catalog = named_catalogs(design.case.content.get("catalog", ()))
        books = [NamedBook(name, find_book(name, "", catalog, Path(), "--prices")[0]) for name in prices]
        design, marks = repriced(design, books), marks | {REPRICED: mark_of(books, design)}
    return bill_bytes(design, ending, marks, date=date, revision=revision)
