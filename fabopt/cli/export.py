"""The command that writes a design for other people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabopt.cli.output import tell
from fabopt.errors import InputError, OutputError, fault
from fabopt.io.design import read_design
from fabopt.io.files import STANDARD_STREAM, shown
from fabopt.output.export.formats import Options, export, format_names
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring


def export_design(path: str, to: Sequence[str], output: str, options: Options) -> None:
    """Write a saved design in formats (names, or several with commas) into a folder."""
    formats = format_names(to)
    if output == STANDARD_STREAM:
        raise OutputError("-: an export is several files; name a folder")
    design = read_design(path)
    if not design.fabrics:
        allowed = "a design that was found (status optimal or feasible)"
        raise InputError([fault(path, "fabrics", "there is no design here to export", design.status, allowed=allowed)])
    for file in export(design, _cabled(design, path), formats, Path(output), options):
        tell(f"wrote {shown(file)}")


def _cabled(design: Design, path: str) -> Wiring:
    try:
        return wiring_of(design)
    except (LookupError, ValueError) as error:
        # Such errors hold text, but a KeyError shows it quoted.
        reason = " ".join(str(error.args[0] if error.args else error).split())
        hint = "`fabopt check` says what does not hold"
        raise InputError([fault(path, "", f"the design does not hold together: {reason}", hint=hint)]) from None
