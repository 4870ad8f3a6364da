"""Design files as an earlier version wrote them."""

from __future__ import annotations

from typing import Any

from fabopt.schema.hashes import sha256_of
from fabopt.verify.editions import NEW_KEYS, new_keys
from fabopt.verify.proof import number_of

Json = dict[str, Any]


def without_key(value: Any, steps: list[str]) -> None:
    """Take a dotted key out of a document, of all entries of lists on the way."""
    if isinstance(value, list):
        for entry in value:
            without_key(entry, steps)
    elif isinstance(value, dict) and steps[0] in value:
        if len(steps) == 1:
            del value[steps[0]]
        else:
            without_key(value[steps[0]], steps[1:])


def as_written_by(version: str, document: Json) -> None:
    """Without the keys that came later, and with the hash of the case that is then left."""
    document["fabopt"] = version
    document["rules"] = version
    # what switches later rules off is no key that a file is refused for
    for key in ("fabrics.groups", "resilience", "rules") if version == "0.1.0" else ():
        without_key(document["case"]["content"], key.split("."))
    for later in NEW_KEYS:
        for key in sorted(new_keys(later)) if number_of(later) > number_of(version) else ():
            without_key(document, key.split("."))
    document["case"]["sha256"] = sha256_of(document["case"]["content"])
