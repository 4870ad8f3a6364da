"""The library of catalogs, AI models and example cases, and the lookup of names in case files.

The data folders ship inside the wheel as ``fabopt/_data``; in a checkout they are at its root.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from fabopt.errors import Fault, fault, nearest
from fabopt.io.files import DEVICE, is_device, shown

_PACKAGE = Path(__file__).parent.parent
YAML_ENDINGS = (".yaml", ".yml")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+_-]*(?:\.[A-Za-z0-9+_-]+)*")


def data_folder(kind: str) -> Path:
    """Return the folder of ``catalogs``, ``models`` or ``cases``: the packaged one if there, else the checkout's."""
    return checkout_or_package(kind, kind)


def checkout_or_package(in_checkout: str, in_package: str) -> Path:
    """Return a data folder by its two names; the packaged one goes first."""
    packaged = _PACKAGE / "_data"
    return packaged / in_package if packaged.is_dir() else checkout() / in_checkout


def checkout() -> Path:
    """Return the folder that holds the package: in a checkout, its root."""
    return _PACKAGE.parent


def is_path(text: str) -> bool:
    """Tell a path (it has a separator or ends in .yaml or .yml) from a name in the library."""
    return "/" in text or "\\" in text or text.lower().endswith(YAML_ENDINGS)


def names(kind: str) -> tuple[str, ...]:
    """Return the names in a data folder, sorted: folders, and YAML files without their ending."""
    folder = data_folder(kind)
    if not folder.is_dir():
        return ()
    entries = {
        entry.stem if entry.is_file() else entry.name
        for entry in folder.iterdir()
        if not entry.name.startswith((".", "_")) and (entry.is_dir() or entry.suffix in YAML_ENDINGS)
    }
    return tuple(sorted(entries))


def by_name(kind: str, name: str) -> Path | None:
    """Return the folder or file that a name stands for; None if there is none. A name never leaves its folder."""
    if _NAME.fullmatch(name) is None:
        return None
    folder = data_folder(kind) / name
    if os.path.isdir(folder):
        return folder
    files = (folder.with_name(name + ending) for ending in YAML_ENDINGS)
    return next((file for file in files if os.path.isfile(file)), None)


def find_case(text: str) -> Path:
    """Return the case file that ``text`` means: a path, or else the name of an example case."""
    path = Path(text)
    if is_path(text) or os.path.exists(path):
        return path
    return by_name("cases", text) or path


def find_catalog(text: str, base: Path, file: str, where: str) -> Path | Fault:
    """Return the path of the catalog ``text``: a name in the library, or a path relative to ``base``.

    ``where``: the key that says so, empty for an option, which may name a pipe.
    """
    if is_path(text):
        path = base / text
        if os.path.exists(path):
            return fault(file, where, DEVICE, text) if where and is_device(path) else path
        return fault(file, where, "there is no such catalog file or folder", text, hint=f"looked for {shown(path)}")
    folder = by_name("catalogs", text)
    if folder is not None:
        return folder
    known = names("catalogs")
    close = nearest(text, known)
    hint = f"did you mean `{close}`?" if close else "a path has a / or ends in .yaml"
    if _NAME.fullmatch(text) and os.path.isdir(base / text):
        hint = f"for the folder beside the case write `./{text}`"
    return fault(file, where, "unknown catalog", text, allowed=", ".join(known) or "a path", hint=hint)
