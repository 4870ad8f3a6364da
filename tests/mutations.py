"""Single changes of design files with all hashes worked out again, and what ``check`` says of each."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, get_args

from pydantic import ValidationError

from fabopt.output.export.design import design_bytes
from fabopt.schema.case import Case
from fabopt.schema.design import Design, Status
from fabopt.schema.hashes import facts_of, prices_of, sha256_of
from fabopt.verify import verified_in_turn
from tests.samples.designs_of_families import designed

Json = dict[str, Any]
Place = tuple[str | int, ...]
DELETED = object()
# Made anew by whatever shows them.
NOT_READ = re.compile(r"checks\b.*")
# What only the search that wrote a file knows: no check proves it, outputs show it as stated. Of a key of the embedded
# case, which has all keys set, only the search knew whether the case or its workload set it.
OF_THE_SEARCH = re.compile(
    r"notes\b.*|status|objective\.(engine|solve_s|candidates|candidates_in_program)"
    r"|objective\.decision(\.(designs|leaf_oversubscription|spine_oversubscription)\b.*)?"
    r"|rules_left_out\.#\.why|alternatives(\.#(\.(value|summary|in_names|what|status|ttft_s|tpot_s|change\..*|rules_left_out\b.*))?)?|alternatives_complete"
    r"|(workload|serving)\.needs\.sets\.#|servers_compared\.#\.(servers|status|objective|bound)"
)
# Facts of parts, and what a case asks for, which a design may keep with room to spare.
OF_PARTS, OF_THE_CASE = re.compile(r"parts\b.*"), re.compile(r"case\.(content|asked)\b.*")
# What has a hash in the file.
OF_WHAT_IS_GIVEN = re.compile(rf"{OF_PARTS.pattern}|case\.content\b.*")
# Classes of changes that may pass, as docs/trust.md names them; of all others at most one in a hundred.
CLASSES = {
    "facts of parts": OF_PARTS,
    "room that the case leaves": OF_THE_CASE,
    "stated by the search": OF_THE_SEARCH,
    "stored checks": NOT_READ,
}
OTHER = "other"


@dataclass(frozen=True)
class Change:
    """One value of a file changed: where, how, and to what (``DELETED``: it is gone)."""

    place: Place
    how: str
    value: Any

    def applied(self, document: Json, again: bool = True) -> Json:
        """A copy of the file with the change, its hashes worked out ``again`` or as they were."""
        document = copy.deepcopy(document)
        holder = held(document, self.place[:-1])
        if self.value is DELETED:
            del holder[self.place[-1]]
        else:
            holder[self.place[-1]] = copy.deepcopy(self.value)
        return rehashed(document) if again else document


def document_of(design: Design) -> Json:
    """A design as its file."""
    content: Json = json.loads(design_bytes(design))
    return content


def held(document: Json, place: Place) -> Any:
    """What stands at a place."""
    node: Any = document
    for key in place:
        node = node[key]
    return node


def places(node: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every value, but for those of the whole file."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*place, key)
        yield from places(value, (*place, key))


def changes(document: Json) -> Iterator[Change]:
    """Every single change: one more, one less, twice; another word, a neighbour's value; gone, null, another type."""
    for place in places(document):
        value = held(document, place)
        yield from (Change(place, how, new) for how, new in _others(value))
        yield from (Change(place, "swap", other) for other in _neighbours(document, place))
        yield Change(place, "delete", DELETED)
        yield Change(place, "null", None)
        yield Change(place, "type", 7 if isinstance(value, str) else [value])


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "not", not value
    elif isinstance(value, int | float):
        yield from (("+1", value + 1), ("-1", value - 1), ("x2", value * 2))
    elif value in get_args(Status):
        yield from ((f"to {other}", other) for other in get_args(Status) if other != value)
    elif isinstance(value, str):
        yield "longer", value + "x"


def _neighbours(document: Json, place: Place) -> list[Any]:
    """Another value of the same type in the mapping or list of a value."""
    holder, own = held(document, place[:-1]), held(document, place)
    values = holder.values() if isinstance(holder, dict) else holder
    return [value for value in values if type(value) is type(own) and value != own][:1]


def rehashed(document: Json) -> Json:
    """The file with all hashes worked out again, as far as it has any."""
    case, parts = document.get("case"), document.get("parts")
    if isinstance(case, dict) and "content" in case:
        case["sha256"] = sha256_of(case["content"])
    if isinstance(document.get("parts_sha256"), dict) and isinstance(parts, dict):
        bodies = {part: body for part, body in parts.items() if isinstance(body, dict)}
        document["parts_sha256"] = {"facts": sha256_of(facts_of(bodies)), "prices": sha256_of(prices_of(bodies))}
    return document


def outcome(document: Json, before: Design) -> str:
    """``same``: it means what it meant; ``refused`` when it is read; ``caught`` by a check; or it ``passes``."""
    try:
        after = Design.model_validate_json(json.dumps(document))
        if after.model_dump_json() == before.model_dump_json():
            return "same"
        Case.model_validate_json(json.dumps(after.case.content))
    except ValidationError:
        return "refused"
    return "passes" if all(check.ok for check in verified_in_turn(after)) else "caught"


def name_of(place: Place) -> str:
    """A place with ``#`` for every number in a list: ``bom.#.quantity``."""
    return ".".join("#" if isinstance(key, int) else key for key in place)


def class_of(name: str) -> str:
    """The class that a change at a place is of."""
    return next((words for words, places in CLASSES.items() if places.fullmatch(name)), OTHER)


@dataclass
class Survey:
    """What ``check`` said of single changes, by outcome; of those that pass, how many are of each class.

    ``unnoticed``: those of no class, with the kind of case, the place and how it was changed.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    passing: Counter[str] = field(default_factory=Counter)
    unnoticed: list[tuple[str, str, str]] = field(default_factory=list)

    def note(self, kind: str, change: Change, told: str) -> None:
        """Take note of what was said of a change."""
        name = name_of(change.place)
        self.outcomes[told] += 1
        if told == "passes":
            self.passing[class_of(name)] += 1
        if told == "passes" and class_of(name) == OTHER:
            self.unnoticed.append((kind, name, change.how))

    @property
    def share(self) -> Fraction:
        """Of changes that mean something, which pass and are of no class that may."""
        told = sum(self.outcomes.values()) - self.outcomes["same"]
        return Fraction(len(self.unnoticed), max(1, told))


def survey(kinds: Iterable[str], count: int, seed: int, whole: bool = False) -> Survey:
    """Try so many single changes of the design of every kind of ``MAKERS``, drawn by a seed.

    Without ``whole`` facts of parts and of the case, and what only the search knows, are left out: they pass where
    there is room.
    """
    found = Survey()
    for kind in kinds:
        document = document_of(designed(kind))
        before = Design.model_validate_json(json.dumps(document))
        for change in drawn(document, count, f"{kind}-{seed}", whole):
            found.note(kind, change, outcome(change.applied(document), before))
    return found


def drawn(document: Json, count: int, seed: str, whole: bool = False) -> list[Change]:
    """So many changes of the design itself, or of the whole file."""
    everything = [change for change in changes(document) if whole or class_of(name_of(change.place)) == OTHER]
    return Random(seed).sample(everything, min(count, len(everything)))
