"""The one folder that a studio reads and writes in, links resolved; and that of its answers while it runs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from fabopt.errors import OutputError, refusal
from fabopt.io.library import DEVICE, YAML_ENDINGS, is_device, make_folder

if sys.platform != "win32":
    import fcntl

# What a folder of cases holds at most that is listed, and how deep it is looked at.
MOST_LISTED, DEEPEST = 2_000, 4
KEPT_IN = ".fabopt-studio"
# How the name of a folder of answers begins, and the file in it that its server locks.
ANSWERS, LOCK = "fabopt-studio-", "lock"


def below(folder: Path, name: str, endings: Sequence[str]) -> Path:
    """Return the path of a file in the folder; ``InputError`` for one outside of it, through links too, of another
    kind, or hidden.
    """
    refused = None
    if not name or not name.isprintable() or Path(name).is_absolute() or "\\" in name:
        refused = "a path is relative to the folder of the studio"
    elif Path(name).suffix.lower() not in endings:
        refused = "the studio has no files of this kind"
    elif any(part.startswith(".") for part in Path(name).parts):
        refused = "hidden files and folders above are not the studio's"
    if refused is None:
        path = Path(os.path.realpath(folder / name))
        if not path.is_relative_to(os.path.realpath(folder)):
            refused = "this is outside of the folder that the studio was started in"
        elif is_device(path):
            refused = DEVICE
        else:
            return path
    raise refusal(
        name,
        "",
        refused,
        allowed=f"files ending in {', '.join(endings)}",
        hint=f"start it there: `fabopt studio {os.path.dirname(name) or '.'}`"
        if refused.startswith("this is out")
        else "",
    )


def kept_in(folder: Path, kind: str) -> Path:
    """Return where the studio keeps things of a kind, made if need be; ``OutputError`` if a link leads out of there."""
    path = Path(os.path.realpath(folder / KEPT_IN / kind))
    if not path.is_relative_to(os.path.realpath(folder)):
        raise OutputError(f"{KEPT_IN}: a link leads out of the folder of the studio")
    return make_folder(path)


def files(folder: Path, endings: Sequence[str]) -> list[str]:
    """Return files of a kind in the folder, as paths relative to it, those of links outside left out."""
    named = (name for name in _walk(folder, "") if name.isprintable() and Path(name).suffix.lower() in endings)
    inside = [name for name, _ in zip(named, range(MOST_LISTED), strict=False)]
    real = os.path.realpath(folder)
    return sorted(name for name in inside if Path(os.path.realpath(folder / name)).is_relative_to(real))


def _walk(folder: Path, where: str, depth: int = 0) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder / where), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{where}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield name
        elif entry.is_dir(follow_symlinks=False) and depth < DEEPEST:
            yield from _walk(folder, f"{name}/", depth + 1)


@contextmanager
def folder_of_answers() -> Iterator[Path]:
    """A folder for the answers of this server; those of servers that were killed, which nobody locks, are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{ANSWERS}*/{LOCK}") if sys.platform != "win32" else ():
        with suppress(OSError), open(left) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=ANSWERS) as name, open(Path(name, LOCK), "w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


CASES = YAML_ENDINGS
DESIGNS = (".json",)
PAGES = (".html",)
