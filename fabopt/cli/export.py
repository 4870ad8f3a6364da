"""The command that writes a design for other people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabopt.cli.evidence import apart, proven
from fabopt.cli.output import tell
from fabopt.cli.saved import saved_design
from fabopt.errors import InputError, OutputError, fault
from fabopt.io.files import STANDARD_STREAM, shown
from fabopt.output.export.formats import Options, export, format_names
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring


def export_design(
    path: str, to: Sequence[str], output: str, options: Options, unchecked: bool, point: int | None = None
) -> None:
    """Write a saved design in formats (names, or several with commas) into a folder.

    It is proven again first; ``unchecked``: what does not hold is written too, with a mark in every file. ``point``: of
    a sweep or front, from 1.
    """
    formats = format_names(to)
    if output == STANDARD_STREAM:
        raise OutputError("-: an export is several files; name a folder")
    design = saved_design(path, point)
    if not design.fabrics:
        allowed = "a design that was found (status optimal or feasible)"
        raise InputError([fault(path, "fabrics", "there is no design here to export", design.status, allowed=allowed)])
    evidence = proven(design, path, unchecked)
    with evidence.written(path):
        files = export(design, _cabled(design, path), formats, Path(output), replace(options, mark=evidence.mark))
    for file in files:
        tell(f"wrote {shown(file)}")


def _cabled(design: Design, path: str) -> Wiring:
    try:
        return wiring_of(design)
    except (LookupError, ValueError) as error:
        raise InputError([apart(path, error)]) from None
