"""The library of catalogs, AI models and example cases, and the lookup of names in case files.

The data folders ship inside the wheel as ``fabopt/_data``; in a checkout they are at its root.

Reading and writing files whole: a bounded read, and a write that happens entirely or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path, PurePath

from fabopt.errors import Fault, InputError, OutputError, did_you_mean, fault, file_name, refusal

STANDARD_STREAM = "-"
MAX_INPUT_BYTES = 20_000_000
# Some 4,000 points, of 7,000 bytes each: what is read of so many fills 450 MB.
MAX_FRONT_BYTES = 30_000_000
# Of what others' tools write: the cables of some 30,000 GPUs as ibnetdiscover lists them.
MAX_LIST_BYTES = 32_000_000
# A line of such a list takes up to 0.6 kB once it is read, one of a table or a log up to 2 kB.
MAX_LIST_LINES, MAX_LINES = 700_000, 200_000
# Values of JSON are counted by what stands before each.
MAX_VALUES = 1_500_000
_BEFORE_VALUES = (b"[", b"{", b",")
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
DEVICE = "this is a device or a pipe, not a file"
# How the names of files begin that are there only while another is written.
TEMPORARY_PREFIX = ".fabopt-"


def shown(path: Path) -> str:
    """Return how a path is named in messages: relative where that is shorter and stays below the working directory."""
    if not path.is_absolute():
        return file_name(str(path))
    try:
        return file_name(str(path.relative_to(Path.cwd())))
    except (ValueError, OSError):
        return file_name(str(path))


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a file of at most ``most`` bytes (None: ``MAX_INPUT_BYTES``); ``InputError`` otherwise.

    Of a device or a pipe, which may never end, or never begin, none are read.
    """
    most = MAX_INPUT_BYTES if most is None else most
    if is_device(path):
        raise refusal(shown(path), "", DEVICE)
    try:
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise refusal(shown(path), "", "no such file") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise refusal(shown(path), "", f"cannot be read: {reason}") from None
    if len(data) > most:
        raise too_large(shown(path), most)
    return data


def read_standard_input() -> bytes:
    """Return all of standard input, with the same bound as a file."""
    data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    if len(data) > MAX_INPUT_BYTES:
        raise too_large("<standard input>", MAX_INPUT_BYTES)
    return data


def too_large(file: str, most: int) -> InputError:
    """Return how a file that is longer than it may be is refused."""
    return refusal(file, "", "the file is too large", allowed=f"up to {most:,} bytes")


def check_values(data: bytes, file: str) -> None:
    """Raise ``InputError`` if JSON has too many values, which would fill memory."""
    if _number_of_values(data) > MAX_VALUES:
        raise refusal(file, "", "the file has too many values", allowed=f"up to {MAX_VALUES:,}")


def share_read(front: bytes) -> float:
    """The share of a front that fits a file of the largest size that is read: 1 if all."""
    return min(1, MAX_FRONT_BYTES / len(front), MAX_VALUES / max(1, _number_of_values(front)))


def _number_of_values(data: bytes) -> int:
    return sum(map(data.count, _BEFORE_VALUES))


def check_lines(text: str, file: str, most: int) -> None:
    """Raise ``InputError`` if a text has too many lines."""
    if sum(map(text.count, _LINE_ENDS)) > most:
        raise refusal(file, "", "the file has too many lines", allowed=f"up to {most:,}")


def is_device(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a device, a pipe, a socket."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def make_folder(path: Path) -> Path:
    """Make a folder if there is none; ``OutputError`` if that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{shown(path)}: the folder cannot be made: {error.strerror or error}") from None
    return path


def ending_of(target: str, what: str, endings: Collection[str]) -> str:
    """The ending of a file's name, in small letters; ``InputError`` for one as which ``what`` is not written."""
    ending = PurePath(target).suffix.lower()
    if ending not in endings:
        raise refusal(target, "", f"{what} is not written like this", allowed=", ".join(endings))
    return ending


def check_writable(path: Path) -> None:
    """Raise ``OutputError`` if ``write_whole(path, ...)`` could not work, before any work is spent on its content."""
    if os.path.isdir(path):
        raise OutputError(f"{shown(path)}: is a folder; name a file")
    if is_device(path):
        return
    folder = Path(os.path.realpath(path)).parent
    if not os.path.isdir(folder):
        raise OutputError(f"{shown(path)}: there is no folder {shown(folder)}")
    try:
        handle, probe = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=folder)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        raise _not_written(path, error) from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old file or the new one, never half; else ``OutputError``.

    A link stays a link, to the new content; a device or pipe is written to, not replaced.
    """
    try:
        if is_device(path):
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise _not_written(path, error) from None


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _not_written(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{shown(path)}: cannot be written: {error.strerror or error}")


def _mode(path: Path) -> int:
    """The permissions of an ordinary write: those of the replaced file, else of the umask."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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
    raise refusal(
        shown(path),
        "",
        "no such file",
        hint=hint or ("" if is_path(text) else "`fabopt cases` lists the example cases"),
    )


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
        raise refusal(
            text,
            "",
            "no such file",
            hint=f"it is an example case; `fabopt solve {text} --json design.json` makes a design of it",
        )


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
