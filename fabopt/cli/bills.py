"""The command that writes a bill of materials; it returns its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabopt.cli.advice import Advice
from fabopt.cli.evidence import Proven, proven, required, saved_design
from fabopt.cli.output import check_targets, deliver
from fabopt.cli.solving import EXIT_OF_STATUS, WITHOUT_DESIGN, SolveRequest
from fabopt.errors import fault
from fabopt.io.case import find_book
from fabopt.io.catalog import named_catalogs
from fabopt.io.faults import refuse
from fabopt.output.export.bill import bill_bytes, bill_format


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
    if faults:
        raise refuse(faults)


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
