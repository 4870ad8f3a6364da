"""Single changes of design files, with their hashes worked out again: which of them ``check`` does not notice."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from fabopt.output.export.design import design_bytes
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.samples.verify_fixtures import digest

Json = dict[str, Any]
Place = tuple[str | int, ...]
DELETED = object()


@dataclass(frozen=True)
class Change:
    """One value of a file changed: where, how, and to what (``DELETED``: the key is gone)."""

    place: Place
    how: str
    value: Any

    def applied(self, document: Json) -> Json:
        """A copy of the file with the change, its hashes worked out again."""
        document = copy.deepcopy(document)
        node: Any = document
        for key in self.place[:-1]:
            node = node[key]
        if self.value is DELETED:
            del node[self.place[-1]]
        else:
            node[self.place[-1]] = self.value
        return document


def document_of(design: Design) -> Json:
    content: Json = json.loads(design_bytes(design))
    return content


def leaves(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value that holds no other, with its place."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, dict | list) and node:
        for key, value in items:
            yield from leaves(value, (*place, key))
    else:
        yield place, node


def siblings(document: Json, place: Place) -> list[Any]:
    """Other values of the same type in the mapping or list of a value."""
    node: Any = document
    for key in place[:-1]:
        node = node[key]
    values = node.values() if isinstance(node, dict) else node
    own = node[place[-1]]
    return [value for value in values if type(value) is type(own) and value != own]


def changes(document: Json) -> Iterator[Change]:
    for place, value in leaves(document):
        if isinstance(value, bool):
            yield Change(place, "other", not value)
        elif isinstance(value, int | float):
            yield Change(place, "+1", value + 1)
            yield Change(place, "-1", value - 1)
            yield Change(place, "x2", value * 2)
        elif isinstance(value, str):
            yield Change(place, "longer", value + "x")
        for other in siblings(document, place)[:1]:
            yield Change(place, "swap", other)
        if isinstance(place[-1], str):
            yield Change(place, "delete", DELETED)
        yield Change(place, "type", [value] if not isinstance(value, str) else 7)
        yield Change(place, "null", None)


def rehashed(document: Json) -> Json:
    case = document.get("case")
    if isinstance(case, dict) and "content" in case:
        case["sha256"] = digest(case["content"])
    return document


def outcome(document: Json, before: Design) -> str:
    """``same``: means what it meant; ``refused``; ``caught``; ``passes``."""
    try:
        after = Design.model_validate_json(json.dumps(document))
        if after == before:
            return "same"
        Case.model_validate_json(json.dumps(after.case.content))
    except ValidationError:
        return "refused"
    return "passes" if all(check.ok for check in verify(after)) else "caught"
