"""Kinds of files, and refusals of files of another kind without showing their content.

A case may name any file of this machine, a password file or a key. So a file is first recognized by its top-level keys;
only a mapping of its kind gets faults key by key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel

from fabopt.errors import Fault, InputError, fault, misspelt
from fabopt.io.schema_types import keys_at
from fabopt.schema.case import Case
from fabopt.schema.catalog import KIND_MODELS, Catalog
from fabopt.schema.design import Design
from fabopt.schema.front import Front
from fabopt.schema.model import Model
from fabopt.schema.price_book import PriceBook
from fabopt.units import some


class Recognized(NamedTuple):
    """A kind of file that is told by ``keys`` that are all there: its name with an article, and what takes it."""

    kind: str
    named: str
    keys: tuple[str, ...]
    taken: str


# The first that fits is meant.
RECOGNIZED = (
    Recognized("sweep or front", "the file of a sweep or front", ("case", "points"),
               "`fabopt report` shows it; check, bom, export and report take a design of it with --point N"),
    Recognized("sensitivity", "a file of price ranges", ("case", "ranges"),
               "`fabopt sensitivity CASE` shows them; no command reads them"),
    Recognized("decisions", "a file of decisions", ("case", "decisions"),
               "`fabopt decide CASE` shows them; no command reads them"),
    Recognized("bill", "a bill of materials", ("case", "rows"),
               "`fabopt solve CASE --json FILE` writes a design, which has its bill in it"),
    Recognized("plan", "a plan", ("plan", "devices"), "`fabopt check PLAN.yaml --design DESIGN.json` takes it"),
    Recognized("design", "a design", ("fabopt", "case", "status"),
               "`fabopt show`, `check`, `report`, `bom` and `export` take it; its case is under `case.content`"),
    Recognized("model", "an AI model", ("architecture", "plan"),
               "`fabopt models PATH` shows it; a case names it as `workload: {model: PATH}`"),
    Recognized("case", "a case", ("name", "server"), "`fabopt solve CASE --json design.json` makes a design of it"),
    Recognized("case", "a case", ("server", "fabrics"), "`fabopt solve CASE --json design.json` makes a design of it"),
)  # fmt: skip


def recognized(content: object) -> Recognized | None:
    """The kind of file that content is of, if its keys tell."""
    keys = content.keys() if isinstance(content, dict) else ()
    return next((kind for kind in RECOGNIZED if keys and all(key in keys for key in kind.keys)), None)


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, its possible top-level keys, and the source of such files.

    ``signs``: keys that each identify this kind, whatever else is in the file.
    """

    name: str
    keys: tuple[str, ...]
    hint: str = ""
    signs: tuple[str, ...] = ()

    def refusal(self, content: object, file: str) -> InputError | None:
        """Return the error for content that is no mapping of this kind, by its type and length alone; else None."""
        other = recognized(content)
        if other is not None and other.kind != self.name:
            return InputError([fault(file, "", f"this is not a {self.name} but {other.named}", hint=other.taken)])
        if isinstance(content, dict) and (are_mostly(content, self.keys) or not content.keys().isdisjoint(self.signs)):
            return None
        return InputError([unlike(file, self.name, _described(content), f"keys with values ({', '.join(self.keys)})",
                                  self.hint)])  # fmt: skip


def are_mostly(words: Iterable[str], known: Iterable[str]) -> bool:
    """Whether more than half of the words are known ones, or nearly; True without words."""
    words, known = list(words), list(known)
    if len(words) > 2 * len(known):
        return False
    strange = sum(word not in known and not misspelt(word, known) for word in words)
    return 2 * strange < len(words) or not words


def unlike(file: str, kind: str, actual: str, allowed: str, hint: str = "") -> Fault:
    """Return the fault of a file or folder of another kind than expected."""
    return fault(file, "", f"this is not a {kind} but {actual}", allowed=allowed, hint=hint)


def _described(content: object) -> str:
    if isinstance(content, dict):
        return f"a mapping of {some(len(content), 'key')}"
    if isinstance(content, list):
        return f"a list of {some(len(content), 'entry')}"
    if isinstance(content, str):
        return f"a text of {some(len(content), 'character')}"
    return "nothing" if content is None else "a single value"


def _of(model: type[BaseModel], name: str, hint: str = "") -> Kind:
    return Kind(name, tuple(keys_at(model, ())), hint)


# By the folder of a catalog that holds them.
PRODUCTS = ("switch", "NIC", "transceiver", "cable", "fibre", "trunk", "panel", "server")
CASE = _of(Case, "case")
CATALOG = _of(Catalog, "catalog")
PRICE_BOOK = _of(PriceBook, "price book")
MODEL = _of(Model, "model")
DESIGN = _of(Design, "design", "a design is what `fabopt solve --json` writes")
FRONT = _of(Front, "sweep or front", "such a file is what `fabopt sweep --json` writes")
# One product or price book, by its folder.
ENTRIES = {kind: _of(model, name) for (kind, model), name in zip(KIND_MODELS.items(), PRODUCTS, strict=True)}
ENTRIES["prices"] = PRICE_BOOK
