"""Reading catalogs: folders with one product a file, or single YAML files; several are merged."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from fabopt.errors import Fault, InputError, OutputError, did_you_mean, fault, refusal
from fabopt.io.faults import document_of, key_path, refuse_any, validated
from fabopt.io.library import YAML_ENDINGS, find_catalog, read_bytes, shown, write_whole
from fabopt.io.text import CATALOG, ENTRIES, are_mostly, parse_yaml, unlike
from fabopt.parts.chassis import with_fills
from fabopt.parts.price_books import products
from fabopt.problem.names import alike
from fabopt.schema.base import Strict
from fabopt.schema.catalog import KIND_MODELS, KINDS, Catalog
from fabopt.schema.design import MOVED_DESCRIPTION
from fabopt.schema.facts import Facts, Optics
from fabopt.schema.labour import LABOUR
from fabopt.schema.price_book import PriceBook
from fabopt.units import some

# -- parsed catalogs, kept between runs by the content they were parsed from ------------------------------------------


_FORMAT = b"fabopt-catalog-1\n"
_MAX_ENTRIES = 30


def content_key(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the digest of named file contents, in order."""
    digest = hashlib.sha256(_FORMAT)
    for name, data in files:
        digest.update(f"{len(name)} {name} {len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()


def cached(key: str) -> Catalog | None:
    """Return the catalog stored under ``key``, if there is a sound one."""
    folder = _folder()
    if folder is None:
        return None
    try:
        checksum, _, content = (folder / f"{key}.json").read_bytes().partition(b"\n")
        if checksum != _checksum(content):
            return None
        return Catalog.model_validate_json(content, by_alias=True, by_name=False)
    except (OSError, ValidationError):
        return None


def store(key: str, catalog: Catalog) -> None:
    """Keep a catalog under ``key``, and only the newest entries besides; a failure is of no consequence."""
    folder = _folder()
    if folder is None:
        return
    content = catalog.model_dump_json(by_alias=True, exclude_unset=True).encode()
    with contextlib.suppress(OSError, OutputError):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{key}.json", _checksum(content) + b"\n" + content)
        entries = sorted(folder.glob("*.json"), key=lambda entry: entry.stat().st_mtime, reverse=True)
        for entry in entries[_MAX_ENTRIES:]:
            entry.unlink()


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(_FORMAT + content).hexdigest().encode()


def _folder() -> Path | None:
    if os.environ.get("FABOPT_CACHE", "").lower() == "off":
        return None
    with contextlib.suppress(RuntimeError):
        given = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return (given if given.is_absolute() else Path.home() / ".cache") / "fabopt"
    return None


# -- reading catalogs -------------------------------------------------------------------------------------------------


_HEAD_FILE = "catalog"
_PRICES = "prices"
_TOP_KEYS = ("name", "description", "facts")
MAX_FILES = 20_000
Result = TypeVar("Result")


class Origin(NamedTuple):
    """A catalog that was read: its path, whether it is a folder, and its content."""

    path: Path
    is_folder: bool
    catalog: Catalog

    def file_of(self, kind: str, name: str) -> str:
        """Return the file that holds a product or price book, for messages."""
        return shown(self.path / kind / f"{name}.yaml") if self.is_folder else shown(self.path)


def read_catalog(names: Sequence[str], base: Path, file: str = "catalog", where: str = "catalog") -> Catalog:
    """Return the named catalogs merged; an id twice, or no product at all, is an ``InputError``.

    A name is looked up in the library, a path is relative to ``base``; ``file`` and ``where`` say in messages which
    input named them. Numbers of ``facts`` given twice are the later catalog's, rents are all of theirs.
    """
    located = [find_catalog(name, base, file, where and f"{where}[{index}]") for index, name in enumerate(names)]
    faults = [one for one in located if isinstance(one, Fault)]
    paths = [one for one in located if isinstance(one, Path)]
    for index, path in enumerate(paths):
        if any(path.resolve() == other.resolve() for other in paths[:index]):
            faults.append(fault(file, where, "a catalog is named twice", names[index]))
    origins = [origin for path in paths if (origin := gathered(partial(_read_one, path), faults)) is not None]
    if not faults:
        faults = _twice(origins) or _empty(origins)
    refuse_any(faults)
    return merged([origin.catalog for origin in origins])


def named_catalogs(names: Sequence[str]) -> Catalog:
    """Return the catalogs found from the working directory, merged; others are left out."""
    located = [find_catalog(name, Path(), "", "") for name in names]
    paths = dict.fromkeys(one for one in located if isinstance(one, Path))
    return merged([_read_one(path).catalog for path in paths]) if paths else Catalog()


def merged(catalogs: Sequence[Catalog]) -> Catalog:
    """Return all products and price books in one catalog; later facts go before earlier ones."""
    if len(catalogs) == 1:
        return catalogs[0]
    content: dict[str, Any] = {
        kind: tuple(one for catalog in catalogs for one in getattr(catalog, kind)) for kind in (*KINDS, _PRICES)
    }
    pcie = {generation: gbps for catalog in catalogs for generation, gbps in catalog.facts.pcie_x16_gbps.items()}
    rents = tuple(rent for catalog in catalogs for rent in catalog.facts.rents)
    delays = {(row.part, row.of): row for catalog in catalogs for row in catalog.facts.latency}
    told: dict[str, Any] = {"optics": _optics(catalogs), "latency": tuple(delays.values())}
    return Catalog(facts=Facts(pcie_x16_gbps=pcie, rents=rents, **told), **content)


def _optics(catalogs: Sequence[Catalog]) -> Optics | None:
    """Losses of all catalogs, of rows about the same thing the later one; None where none says any."""
    told = [catalog.facts.optics for catalog in catalogs if catalog.facts.optics is not None]
    if not told:
        return None
    budgets = {(row.standard, row.fibre): row for optics in told for row in optics.budgets}
    pairs = {(row.connector, row.fibre, row.grade): row for optics in told for row in optics.pairs}
    glass = {row.fibre: row for optics in told for row in optics.glass}
    splice = next((optics.splice for optics in reversed(told) if optics.splice is not None), None)
    return Optics(
        budgets=tuple(budgets.values()), pairs=tuple(pairs.values()), glass=tuple(glass.values()), splice=splice
    )


def check_whole(catalog: Catalog, file: str) -> list[Fault]:
    """Return the faults of a catalog in memory: an id twice, or no product at all."""
    origins = [Origin(Path(file), False, catalog)]
    return _twice(origins) or _empty(origins)


def _empty(origins: Sequence[Origin]) -> list[Fault]:
    if any(products(origin.catalog) for origin in origins):
        return []
    return [
        fault(shown(origins[0].path), "", "the catalog has no product", allowed=f"one at least of {', '.join(KINDS)}")
    ]


def _twice(origins: Sequence[Origin]) -> list[Fault]:
    """Find ids that two products share (of any kinds: a bill names parts by id alone) or that a bill has for something
    else, and price books that cannot be told apart.
    """
    faults: list[Fault] = []
    seen: dict[tuple[str, str], tuple[Origin, str, str]] = {}
    for origin in origins:
        filled = with_fills(origin.catalog)
        entries = [("product id", kind, one.id) for kind in KINDS for one in getattr(filled, kind)]
        entries += [("price book", _PRICES, book.name) for book in origin.catalog.prices if book.name]
        for noun, kind, name in entries:
            key = noun, alike(name) if kind == _PRICES else name
            if key in seen:
                file = origin.file_of(kind, name)
                earlier, earlier_kind, first = seen[key]
                also = earlier.file_of(earlier_kind, first)
                there = "in the same file" if also == file else f"also in {also}"
                problem = "is given twice" if first == name else f"cannot be told from `{first}`"
                faults.append(fault(file, "", f"the {noun} `{name}` {problem}", hint=there))
            if name in MOVED_DESCRIPTION and kind != _PRICES:
                file = origin.file_of(kind, name)
                faults.append(fault(file, "", f"the {noun} `{name}` is what a bill calls the moving of {name[6:]}s"))
            if name.startswith(LABOUR) and kind != _PRICES:
                file = origin.file_of(kind, name)
                faults.append(fault(file, "", f"the {noun} `{name}` begins as a bill's lines of labour do"))
            seen[key] = origin, kind, name
    return faults


def gathered(read: Callable[[], Result], faults: list[Fault]) -> Result | None:
    """Return what ``read`` returns; if it refuses, keep its faults and return None, so that reading goes on."""
    try:
        return read()
    except InputError as error:
        faults += error.faults
        return None


def _read_one(path: Path) -> Origin:
    """Read one catalog, from the cache where its files are unchanged since they were last read and found right."""
    is_folder = os.path.isdir(path)
    files = _files(path) if is_folder else [("", path)]
    contents = [(name, read_bytes(file)) for name, file in files]
    key = content_key(contents)
    catalog = cached(key)
    if catalog is None:
        catalog = _parse_folder(path, contents) if is_folder else _parse_file(path, contents[0][1])
        store(key, catalog)
    return Origin(path, is_folder, catalog)


def _files(folder: Path) -> list[tuple[str, Path]]:
    """List a catalog folder's YAML files as (``kind/stem``, path), sorted; unknown entries are faults."""
    faults: list[Fault] = []
    files: list[tuple[str, Path]] = []
    entries = _entries(folder)
    _check_folder(folder, entries)
    for entry in entries:
        if os.path.isdir(entry) and entry.name in (*KINDS, _PRICES):
            for inner in _entries(entry):
                if inner.suffix in YAML_ENDINGS and os.path.isfile(inner):
                    files.append((f"{entry.name}/{inner.stem}", inner))
                elif os.path.isdir(inner):
                    faults.append(fault(shown(inner), "", "a folder here is not read", hint="one product a file"))
        elif os.path.isdir(entry):
            faults.append(_misplaced(entry, (*KINDS, _PRICES), "a folder"))
        elif entry.suffix in YAML_ENDINGS:
            if entry.stem == _HEAD_FILE:
                files.append((_HEAD_FILE, entry))
            else:
                faults.append(_misplaced(entry, (f"{_HEAD_FILE}.yaml",), "a file"))
    if len(files) > MAX_FILES:
        faults.append(fault(shown(folder), "", "too many files", len(files), allowed=f"{MAX_FILES:,}"))
    names = [name for name, _ in files]
    if len(set(names)) != len(names):
        double = next(path for index, (name, path) in enumerate(files) if name in names[:index])
        faults.append(fault(shown(double), "", "there is a .yaml and a .yml file of this name"))
    refuse_any(faults)
    return sorted(files)


def _check_folder(folder: Path, entries: Sequence[Path]) -> None:
    """Refuse a folder that is no catalog, before any message names its content."""
    words = [entry.name if os.path.isdir(entry) else entry.stem for entry in entries
             if os.path.isdir(entry) or entry.suffix in YAML_ENDINGS]  # fmt: skip
    if not are_mostly(words, (*KINDS, _PRICES, _HEAD_FILE)):
        allowed = f"folders {', '.join((*KINDS, _PRICES))}, and {_HEAD_FILE}.yaml"
        raise InputError([unlike(shown(folder), "catalog", f"a folder of {some(len(entries), 'entry')}", allowed)])


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise refusal(shown(folder), "", f"cannot be read: {error.strerror}") from None


def _misplaced(entry: Path, words: Sequence[str], noun: str) -> Fault:
    hint = did_you_mean(entry.name, words)
    return fault(
        shown(entry), "", f"{noun} of this name means nothing in a catalog", allowed=", ".join(words), hint=hint
    )


def _parse_file(path: Path, data: bytes) -> Catalog:
    file = shown(path)
    return document_of(Catalog, with_empty_kinds(parse_yaml(data, file, CATALOG)), file)


def with_empty_kinds(content: Any) -> Any:
    """Return a catalog file's content with a kind that is written without any product as an empty list."""
    if not isinstance(content, dict):
        return content
    return {key: [] if value is None and key in (*KINDS, _PRICES) else value for key, value in content.items()}


def _parse_folder(folder: Path, contents: Sequence[tuple[str, bytes]]) -> Catalog:
    faults: list[Fault] = []
    head: dict[str, Any] = {}
    entries_of_kind: dict[str, list[Strict]] = {kind: [] for kind in (*KINDS, _PRICES)}
    for name, data in contents:
        kind, _, stem = name.partition("/")
        file = shown(folder / f"{name}.yaml")
        content = gathered(partial(parse_yaml, data, file, CATALOG if name == _HEAD_FILE else ENTRIES[kind]), faults)
        if content is None:
            continue
        if name == _HEAD_FILE:
            head = _head(content, file, faults)
            continue
        entry = _entry(kind, stem, content, file, faults)
        if entry is not None:
            entries_of_kind[kind].append(entry)
    refuse_any(faults)
    fields: dict[str, Any] = {**head, **{kind: tuple(entries) for kind, entries in entries_of_kind.items()}}
    return Catalog(**fields)


def _head(content: object, file: str, faults: list[Fault]) -> dict[str, Any]:
    """Check ``catalog.yaml``: name, description and facts; products have files of their own."""
    if isinstance(content, dict) and (extra := [key for key in content if key not in _TOP_KEYS]):
        allowed = ", ".join(_TOP_KEYS)
        hint = "products have a file each"
        faults += [fault(file, key_path((key,)), "unknown key", allowed=allowed, hint=hint) for key in extra]
        return {}
    head = validated(Catalog, content, file, faults)
    return {} if head is None else {key: getattr(head, key) for key in head.model_fields_set}


def _entry(kind: str, stem: str, content: object, file: str, faults: list[Fault]) -> Strict | None:
    """Check one product or price book; its id, or name, is the file's."""
    key = "name" if kind == _PRICES else "id"
    if isinstance(content, dict):
        if content.get(key, stem) != stem:
            faults.append(fault(file, key, f"the {key} differs from the file name", content[key], allowed=stem))
            return None
        content = {key: stem, **content}
    model: type[Strict] = PriceBook if kind == _PRICES else KIND_MODELS[kind]
    return validated(model, content, file, faults)
