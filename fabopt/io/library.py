"""The library of catalogs, AI models and example cases, and the lookup of names in case files.

The data folders ship inside the wheel as ``fabopt/_data``; in a checkout they are at its root.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from fabopt.errors import Fault, InputError, did_you_mean, fault
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
    """Return the case file that ``text`` means: a path, or else the name of an example case.

    ``InputError`` for a name, with what is meant, if there is neither.
    """
    path = Path(text)
    if is_there(text) or "/" in text or "\\" in text:
        return path
    case = by_name("cases", text)
    if case is not None:
        return case
    beside = next((text + ending for ending in YAML_ENDINGS if os.path.isfile(text + ending)), None)
    hint = f"did you mean `{beside}`?" if beside else did_you_mean(path.stem, names("cases"))
    hint = hint or ("" if is_path(text) else "`fabopt cases` lists the example cases")
    raise InputError([fault(shown(path), "", "no such file", hint=hint)])


def is_there(text: str) -> bool:
    """Whether there is a file, or what cannot be looked at."""
    try:
        os.lstat(text)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        pass
    return True


def check_is_file(text: str) -> None:
    """Raise ``InputError`` if a design is wanted and a file is not there, but is the name of an example case."""
    if not is_there(text) and by_name("cases", text) is not None:
        hint = f"it is an example case; `fabopt solve {text} --json design.json` makes a design of it"
        raise InputError([fault(text, "", "no such file", hint=hint)])


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
    hint = did_you_mean(text, known) or "a path has a / or ends in .yaml"
    if _NAME.fullmatch(text) and os.path.isdir(base / text):
        hint = f"for the folder beside the case write `./{text}`"
    return fault(file, where, "unknown catalog", text, allowed=", ".join(known) or "a path", hint=hint)
