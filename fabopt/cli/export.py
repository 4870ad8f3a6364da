"""The command that writes a design for other people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from fabopt.cli.evidence import nearest_hint, proven, saved_design, wired
from fabopt.cli.output import tell
from fabopt.errors import InputError, OutputError, did_you_mean, fault
from fabopt.io.files import STANDARD_STREAM, read_bytes, shown
from fabopt.output.export.formats import Options, export, format_names
from fabopt.schema.design import Design


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
    if not design.fabrics:
        allowed = "a design that was found (status optimal or feasible)"
        what, hint = "there is no design here to export", nearest_hint(design)
        raise InputError([fault(path, "fabrics", what, design.status, allowed=allowed, hint=hint)])
    options = Options(request.netbox, stage=_stage(design, request.stage), discovery=_discovery(request.guids))
    options = replace(options, skip=tell if request.skip else None)
    options = replace(options, sheets=tuple(request.sheets)) if request.sheets else options
    options = replace(options, date=request.date or str(date.today()), revision=request.revision)
    evidence = proven(design, path, request.unchecked)
    with evidence.written(path):
        options = replace(options, mark=evidence.mark)
        files = export(design, wired(design, path), formats, Path(request.output), options)
    for file in files:
        tell(f"wrote {shown(file)}")


def _stage(design: Design, name: str | None) -> int | None:
    """The number of a stage, from 0."""
    if name is None:
        return None
    names = [stage.name for stage in design.stages]
    if name not in names:
        hint = did_you_mean(name, names)
        raise InputError([fault("--stage", "", "no such stage", name, allowed=", ".join(names), hint=hint)])
    return names.index(name)


def _discovery(path: str | None) -> str | None:
    return None if path is None else read_bytes(Path(path)).decode("utf-8", errors="replace")
