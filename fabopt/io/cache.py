"""Parsed catalogs, kept between runs by the content they were parsed from.

An entry is JSON of the validated catalog behind its own checksum, and is validated again when read; so a damaged or
foreign entry is only ever a miss. ``FABOPT_CACHE=off`` turns it off; the place is ``$XDG_CACHE_HOME/fabopt``, else
``~/.cache/fabopt``. A cache that cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from fabopt.errors import OutputError
from fabopt.io.files import write_whole
from fabopt.schema.catalog import Catalog

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
