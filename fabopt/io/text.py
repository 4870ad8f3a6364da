"""YAML text to plain objects, strictly: the only place that parses YAML.

Scalars follow YAML 1.2: ``no`` is text, ``405e9`` is a number, ``2026-01`` is text, ``010`` is text (not eight).
Refused: keys given twice, tags, several documents, numbers that are not finite, and anything large or deep enough to
be an attack.

Kinds of files, and refusals of files of another kind without showing their content.

A case may name any file of this machine, a password file or a key. So a file is first recognized by its top-level keys;
only a mapping of its kind gets faults key by key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from fabopt.errors import Fault, InputError, fault, misspelt, refusal
from fabopt.io.faults import MAX_FAULTS, key_path, refuse_any
from fabopt.io.schema_types import keys_at
from fabopt.schema.case import Case
from fabopt.schema.catalog import KIND_MODELS, Catalog
from fabopt.schema.design import Design, Front
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
               "`fabopt report` shows it; commands with --point N take a design of it"),
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

    ``signs``: keys that each identify this kind, whatever else is in the file. ``instead``: what to do with a file of
    another kind, by that kind, where it is not what ``RECOGNIZED`` says.
    """

    name: str
    keys: tuple[str, ...]
    hint: str = ""
    signs: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, content: object, file: str) -> InputError | None:
        """Return the error for content that is no mapping of this kind, by its type and length alone; else None."""
        other = recognized(content)
        if other is not None and other.kind != self.name:
            return refusal(
                file, "", f"this is not a {self.name} but {other.named}", hint=self.instead.get(other.kind, other.taken)
            )
        if isinstance(content, dict) and (are_mostly(content, self.keys) or not content.keys().isdisjoint(self.signs)):
            return None
        return InputError([unlike(file, self.name, _described(content), f"keys with values ({', '.join(self.keys)})",
                                  self.hint)])  # fmt: skip

    def refuse_others(self, content: object, file: str) -> None:
        """Raise the ``refusal`` of content, if there is one."""
        if refused := self.refusal(content, file):
            raise refused


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


MAX_DEPTH = 50
MAX_NODES = 1_000_000
MAX_ALIASED_NODES = 10_000
MAX_DIGITS = 40
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_HANDLE = re.compile(r"tag handle '.*")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER_STARTS = frozenset("+-.0123456789")

Path = tuple[str | int, ...]


def parse_yaml(data: bytes, file: str, kind: Kind | None = None) -> Any:
    """Return the one document of a YAML file as dicts (text keys), lists and scalars; ``InputError`` otherwise.

    ``kind``: what the file must be, before any message quotes it.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refusal(file, "", f"not UTF-8 text (line {line})") from None
    if not text.strip():
        raise refusal(file, "", "the file is empty")
    try:
        builder = _Builder(yaml.parse(text, Loader=_Loader), file)
        document = builder.document()
    except yaml.YAMLError as error:
        raise InputError([_syntax_fault(error, text, file)]) from None
    if kind:
        kind.refuse_others(document, file)
    refuse_any(builder.faults)
    return document


def _syntax_fault(error: yaml.YAMLError, text: str, file: str) -> Fault:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
    # One of the parsers quotes the handle of a tag.
    reason = _HANDLE.sub("tag handle", reason)
    context = getattr(error, "context", None)
    if context:
        reason = f"{reason}, {context}"
    if mark is None:
        return fault(file, "", f"not YAML: {reason}")
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    hint = "indent with spaces, not tabs" if line[: len(line) - len(line.lstrip())].count("\t") else ""
    return fault(file, f"line {mark.line + 1}, column {mark.column + 1}", f"not YAML: {reason}", hint=hint)


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


class _Builder:
    """Builds objects from parser events, so that depth and size are known before anything is built."""

    def __init__(self, events: Iterator[Event], file: str) -> None:
        self.events = events
        self.file = file
        self.faults: list[Fault] = []
        self.nodes = 0
        self.aliased_nodes = 0
        self.anchors: dict[str, tuple[Any, int]] = {}

    def document(self) -> Any:
        next(self.events)
        if not isinstance(next(self.events), DocumentStartEvent):
            raise refusal(self.file, "", "the file has no content")
        content = self.node(next(self.events), ())
        next(self.events)
        if isinstance(next(self.events), DocumentStartEvent):
            raise refusal(self.file, "", "the file has several YAML documents", allowed="one")
        return content

    def report(self, path: Path, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        if len(self.faults) > MAX_FAULTS:
            return
        self.faults.append(fault(self.file, key_path(path), problem, *value, allowed=allowed, hint=hint))

    def node(self, event: Event, path: Path) -> Any:
        if isinstance(event, AliasEvent):
            return self.alias(event, path)
        assert isinstance(event, NodeEvent)
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise refusal(self.file, "", "the file has too many values", allowed=f"up to {MAX_NODES:,}")
        start = self.nodes
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.report(path, "a YAML tag is not allowed", _short(tag))
        value = self.content(event, path)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, self.nodes - start + 1
        return value

    def content(self, event: Event, path: Path) -> Any:
        if isinstance(event, ScalarEvent):
            return self.scalar(event, path)
        if len(path) >= MAX_DEPTH:
            raise refusal(self.file, "", "nested too deeply", allowed=f"{MAX_DEPTH} levels")
        return self.mapping(path) if isinstance(event, MappingStartEvent) else self.sequence(path)

    def alias(self, event: AliasEvent, path: Path) -> Any:
        if event.anchor not in self.anchors:
            self.report(path, "this alias has no anchor above it", f"*{event.anchor}")
            return None
        value, size = self.anchors[event.anchor]
        self.aliased_nodes += size
        self.nodes += size
        if self.aliased_nodes > MAX_ALIASED_NODES:
            raise refusal(
                self.file,
                key_path(path),
                "the aliases repeat too much",
                allowed=f"{MAX_ALIASED_NODES:,} repeated values in all",
            )
        return value

    def sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        for event in self.events:
            if isinstance(event, CollectionEndEvent):
                break
            items.append(self.node(event, (*path, len(items))))
        return items

    def mapping(self, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = {}
        seen: set[str | float] = set()
        for event in self.events:
            if isinstance(event, CollectionEndEvent):
                break
            key = self.key(event, path)
            value = self.node(next(self.events), (*path, key))
            same = float(key) if _FLOAT.fullmatch(key) else key
            if same in seen:
                self.report((*path, key), "the key is given twice")
            seen.add(same)
            content[key] = value
        return content

    def key(self, event: Event, path: Path) -> str:
        if isinstance(event, ScalarEvent):
            if event.tag is not None:
                self.report((*path, event.value), "a YAML tag is not allowed", _short(event.tag))
            if event.value == "<<" and event.implicit[0]:
                self.report((*path, "<<"), "merge keys are not supported", hint="repeat the keys")
            return str(event.value)
        self.report(path, "a key must be a word, not a list, a mapping or an alias")
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            self.content(event, (*path, "?"))
        return f"? {self.nodes}"

    def scalar(self, event: ScalarEvent, path: Path) -> Any:
        text: str = event.value
        if not event.implicit[0]:
            if _UNPRINTABLE.search(text):
                self.report(path, "the text has a control character", text)
                return ""
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text[0] in _NUMBER_STARTS:
            return self.number(text, path)
        return text

    def number(self, text: str, path: Path) -> int | float | str:
        """Return the number a plain scalar denotes; the text itself if it is none."""
        if _INTEGER.fullmatch(text):
            if len(text) <= MAX_DIGITS:
                return int(text)
            self.report(path, "the number has too many digits", text, allowed=f"up to {MAX_DIGITS}")
            return 0
        value = float(text) if _FLOAT.fullmatch(text) else None
        if _NOT_FINITE.fullmatch(text) or (value is not None and not math.isfinite(value)):
            self.report(path, "the number is not finite", text)
            return 0
        return text if value is None else value
