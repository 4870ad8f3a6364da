"""``fabopt compare``: designs, points, stages, cases and quotes side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

from fabopt.cli.evidence import proven, require_found, required, saved_design, wired
from fabopt.cli.output import check_targets, deliver, deliver_all, page_faults
from fabopt.cli.quotes import catalog_of_design
from fabopt.cli.signals import ATTENDANT
from fabopt.cli.solving import EXIT_OF_STATUS, SolveRequest
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, InputError, refusal
from fabopt.inspect.differences.compare import Contrast, contrast
from fabopt.inspect.differences.sides import Compared, offered, whole
from fabopt.inspect.quote_audit import compared
from fabopt.io.faults import refuse, refuse_any
from fabopt.io.library import STANDARD_STREAM
from fabopt.io.quote.reading import ENDINGS as QUOTE_ENDINGS, quote_options, read_quote
from fabopt.output.differences import verdict
from fabopt.output.export.differences import differences_json, no_differences_json
from fabopt.output.html.differences import differences_page
from fabopt.output.terminal.differences import differences_report
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

MOST_SIDES = 4


@dataclass(frozen=True)
class CompareRequest:
    """Sides as they were named, and how cases among them are solved."""

    names: Sequence[str]
    solve: SolveRequest
    unchecked: bool = False


@dataclass(frozen=True)
class _NamedSide:
    """A side as it was named: ``FILE``, ``FILE#3``, ``FILE@stage`` or ``FILE#3@stage``."""

    text: str
    path: str
    point: int | None = None
    stage: str | None = None

    @property
    def ending(self) -> str:
        return PurePath(self.path).suffix.lower()


class _NoDesignError(Exception):
    """A case has no design, or none was found; it was said why."""

    def __init__(self, design: Design) -> None:
        super().__init__(design.status)
        self.design = design


def compare_sides(request: CompareRequest, json: str | None, html: str | None, exit_code: bool) -> int:
    """Compare sides with the first, write the files asked for, print the rest."""
    if not 2 <= len(request.names) <= MOST_SIDES:
        raise refusal(
            "compare",
            "",
            "a comparison is of two designs or more",
            len(request.names),
            allowed=f"2 to {MOST_SIDES} names",
        )
    refuse_any(page_faults(html))
    named = [_named(text) for text in request.names]
    check_targets([json, html])
    sides: list[Compared] = []
    marks: list[str] = []
    try:
        for name in named:
            side, mark = _quoted(request, name, sides) if name.ending in QUOTE_ENDINGS else _designed(request, name)
            sides.append(side)
            marks += [f"{name.text}: {mark}"] if mark else []
    except _NoDesignError as error:
        if json is not None:
            deliver(json, no_differences_json(error.design))
        return EXIT_OF_STATUS[error.design.status]
    result, mark = contrast(sides, partial(_wired, is_proven=not marks)), "; ".join(marks)
    files = ((json, partial(differences_json, result, mark)), (html, partial(_page, result, mark)))
    deliver_all(files, partial(differences_report, result), verdict(result))
    return EXIT_CHECK_FAILED if exit_code and not result.is_equal else EXIT_DONE


def _page(result: Contrast, mark: str) -> bytes:
    ATTENDANT.draw()
    return differences_page(result, mark)


def _wired(side: Compared, is_proven: bool) -> Wiring | None:
    """The wiring of a side; None where a file that was not proven has none."""
    try:
        return wired(side.design, side.name)
    except InputError:
        if is_proven:
            raise
        return None


def _named(text: str) -> _NamedSide:
    """Part a name into file, point and stage; a file of just that name goes first."""
    path, stage, number = text, None, None
    if not os.path.exists(path) and "@" in PurePath(path).name:
        path, _, stage = path.rpartition("@")
    if not os.path.exists(path) and "#" in PurePath(path).name:
        path, _, number = path.rpartition("#")
    if number is not None and not (number.isascii() and number.isdigit()):
        raise refusal(text, "", "not the number of a point", number, allowed="as in FRONT.json#3")
    return _NamedSide(text, path, None if number is None else int(number), stage)


def _designed(request: CompareRequest, named: _NamedSide) -> tuple[Compared, str]:
    """A saved design, proven again, or the answer to a case; with the mark of what is not proven."""
    is_saved = named.ending == ".json" or named.path == STANDARD_STREAM
    if is_saved:
        design = saved_design(named.path, named.point, named.text)
    elif named.point is not None:
        raise refusal(
            named.text, "", "this is a case", named.point, hint="a point is of a sweep or front, FRONT.json#3"
        )
    else:
        design = replace(request.solve, case=named.path).design()
    if is_saved:
        require_found(design, named.text)
    elif not design.fabrics:
        raise _NoDesignError(design)
    evidence = (proven if is_saved else required)(design, named.text, request.unchecked)
    side = whole(named.text, evidence.design)
    return side if named.stage is None else replace(side, stage=_stage(named, design)), evidence.mark


def _stage(named: _NamedSide, design: Design) -> int:
    names = [stage.name for stage in design.stages]
    if named.stage not in names:
        raise refusal(named.text, "", "the design has no such stage", named.stage, allowed=", ".join(names))
    return names.index(named.stage)


def _quoted(request: CompareRequest, named: _NamedSide, sides: Sequence[Compared]) -> tuple[Compared, str]:
    """What a quote offers for the bill of the first side."""
    if not sides or named.stage is not None or named.point is not None:
        raise refusal(
            named.text,
            "",
            "a quote is held against the bill of the first design",
            hint="name a design first: `fabopt compare DESIGN.json QUOTE.xlsx`",
        )
    first = sides[0]
    catalog, _ = catalog_of_design(first.design, request.solve.catalogs)
    quote, faults = read_quote(named.path, catalog, quote_options((), None, 1))
    if faults and not quote.with_status("matched"):
        raise refuse(faults)
    comparison = compared(quote, first.design.model_copy(update={"bom": first.rows}), catalog)
    side = offered(first, named.text, comparison, catalog)
    return replace(side, notes=tuple(row.text for row in comparison.findings if row.severity == "fault")), ""
