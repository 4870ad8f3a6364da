"""Reading a saved front or sweep: JSON, as strict as a design."""

from __future__ import annotations

from pathlib import Path

from fabopt.errors import Fault
from fabopt.files import STANDARD_STREAM, read_bytes, read_standard_input, shown
from fabopt.read.design import parse_json
from fabopt.read.faults import refuse, validated
from fabopt.schema.front import Front

_HINT = "a front is what `fabopt sweep --json` and `fabopt pareto --json` write"


def read_front(path: Path | str) -> Front:
    """Return the front in a JSON file (``-``: standard input); ``InputError`` lists all faults."""
    standard = str(path) == STANDARD_STREAM
    file = "<standard input>" if standard else shown(Path(path))
    data = read_standard_input() if standard else read_bytes(Path(path))
    faults: list[Fault] = []
    front = validated(Front, parse_json(data, file, _HINT), file, faults)
    if front is None:
        raise refuse(faults)
    return front
