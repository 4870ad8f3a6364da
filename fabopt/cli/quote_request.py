"""`fabopt quote request`: the purchases of a design, as files that ask its makers or other vendors for quotes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rich.text import Text

from fabopt.cli.evidence import proven
from fabopt.cli.output import make_folder, say
from fabopt.cli.saved import saved_design
from fabopt.cli.solving import WITHOUT_DESIGN
from fabopt.errors import EXIT_DONE, InputError, fault
from fabopt.io.faults import refuse
from fabopt.io.files import STANDARD_STREAM, write_whole
from fabopt.output.export.requests import RequestTerms, requests_of
from fabopt.output.words import printable
from fabopt.units import some


def request_quotes(path: str, folder: str, vendors: Sequence[str], terms: RequestTerms, point: int | None) -> int:
    """Write the requests for quotes of a proven design into a folder."""
    _check_request(folder, vendors, terms)
    design = proven(saved_design(path, point), path, unchecked=False).design
    if design.status in WITHOUT_DESIGN or not design.bom:
        raise InputError([fault(path, "status", "there is no bill here to ask for", design.status)])
    target = make_folder(folder)
    requests = requests_of(design, vendors, terms)
    for request in requests:
        write_whole(target / request.name, request.data)
    asked = (f"  {request.name}: {request.vendor}, {some(request.lines, 'line')}" for request in requests)
    say(
        Text(printable("\n".join((f"{some(len(requests), 'request')} in {folder}, revision {terms.revision}", *asked))))
    )
    return EXIT_DONE


def _check_request(folder: str, vendors: Sequence[str], terms: RequestTerms) -> None:
    faults = []
    if folder == STANDARD_STREAM:
        faults.append(fault("-o", "", "requests are several files; name a folder", folder))
    faults += [fault("--vendor", "", "a vendor has a name", name) for name in vendors if not name.strip()]
    if len(set(vendors)) < len(vendors):
        faults.append(fault("--vendor", "", "a vendor is asked once", ", ".join(vendors)))
    if terms.due is not None:
        try:
            date.fromisoformat(terms.due)
        except ValueError:
            faults.append(fault("--due", "", "not a day", terms.due, allowed="a day such as 2026-12-31"))
    if faults:
        raise refuse(faults)
