"""Messages between the server and its workers: one JSON value a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fabopt.errors import Fault, as_written

Message = dict[str, Any]
# The longest line that is read, as of a case of 10 MB in JSON.
LONGEST_LINE = 64_000_000


def line_of(message: Message) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def fault_rows(faults: Sequence[Fault]) -> list[Message]:
    """Return faults as the page shows them: key, value, words, what is allowed and what to do."""
    return [
        {
            "file": fault.file,
            "key": fault.path,
            "value": as_written(fault.value) if fault.has_value else None,
            "words": fault.problem,
            "allowed": fault.allowed,
            "todo": fault.hint,
            "line": str(fault),
        }
        for fault in faults
    ]
