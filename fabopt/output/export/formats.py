"""The formats that a design is exported to: each is a module beside this one, with a function ``files_of``.

``files_of(asked)`` gives the files of a format, by name: below ``FOLDER`` of the module where it has one. ``export``
writes them, either all files of all formats or none.

A format whose files have names that depend on the design also has ``OWN_FILES``, a pattern of the names of all files
that it may have written, or, where that takes a look into them, a function ``own_files(folder)``. Those that it does
not write again are removed, so that a folder holds one design.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from fabopt.errors import Fault, InputError, OutputError, did_you_mean, fault, refusal
from fabopt.io.faults import refuse_any
from fabopt.io.library import TEMPORARY_PREFIX
from fabopt.operate.build import plan_of
from fabopt.operate.model import OperationPlan
from fabopt.output.export import ALL, FORMATS, LABEL_SHEETS, PLANNED, WHOLE, WORK
from fabopt.output.export.marks import beside, marked
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring, wiring_at


@dataclass(frozen=True)
class Options:
    """Options of formats. ``netbox``: the NetBox release of its files, 4.4, 4.6 or 4.7.

    ``mark``: the sentence that marks every file of a design that was not proven; empty for a proven one. ``stage``: its
    number, from 0, None being the last. ``discovery``: the output of ``ibnetdiscover`` for the fabric. ``date``,
    ``revision``: of title blocks, as text; empty ones are left for the hand. ``skip``: takes a sentence about each
    format that does not apply to the design, which is then left out; None: no format is left out.
    ``sheets``: codes of the sheets of labels. ``source``: path of the design file from the folder; empty: none.
    """

    netbox: str = "4.7"
    mark: str = ""
    stage: int | None = None
    discovery: str | None = None
    date: str = ""
    revision: str = "1"
    skip: Callable[[str], None] | None = None
    sheets: Sequence[str] = LABEL_SHEETS[:2]
    source: str = ""


@dataclass(frozen=True)
class Exported:
    """A design to export, its wiring (for formats that show how things are then, that of the stage), and options."""

    design: Design
    wiring: Wiring
    options: Options

    @cached_property
    def plan(self) -> OperationPlan:
        """Names, ports and addresses at the stage."""
        return plan_of(self.design, self.wiring, self.options.stage)


# What a file holds: lines, or bytes, or what writes it.
Content: TypeAlias = Iterable[str] | bytes | Callable[[Path], object]
Files: TypeAlias = Mapping[str, Content]


def format_names(words: Sequence[str]) -> list[str]:
    """Return the formats that words (each one name, several with commas, or ``all``) ask for, in order, each once.

    ``InputError`` lists all that are unknown.
    """
    asked = (name.strip() for word in words for name in word.split(","))
    names = list(dict.fromkeys(name for one in asked for name in (FORMATS if one == ALL else (one,))))
    faults = [_unknown(name) for name in names if name not in FORMATS]
    refuse_any(faults)
    return names


def export(design: Design, wiring: Wiring, formats: Sequence[str], folder: Path, options: Options) -> list[Path]:
    """Write formats into a folder, which is made if need be: all files, or none. Returns the files, in order.

    Files of the same name are replaced, and those that these formats wrote for another design are removed.
    ``OutputError`` if the folder cannot be written to; what a format refuses is an ``InputError``.
    """
    _require_options(formats, options)
    try:
        missing = [name_missing for name_missing in (folder, *folder.parents) if not name_missing.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return _through_temporary(design, wiring, formats, folder, options)
        except BaseException:
            with contextlib.suppress(OSError):
                for name_missing in missing:
                    name_missing.rmdir()
            raise
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from None


def _require_options(formats: Sequence[str], options: Options) -> None:
    """Refuse options that none of the formats asked for takes."""
    faults = []
    if options.discovery is not None and "opensm" not in formats:
        faults.append(fault("--guids", "", "only `--to opensm` takes GUIDs"))
    if options.sheets != LABEL_SHEETS[:2] and "labels" not in formats:
        faults.append(fault("--sheet", "", "only `--to labels` has sheets"))
    for code in (code for code in options.sheets if code not in LABEL_SHEETS):
        faults.append(fault("--sheet", "", "no such sheet of labels", code, allowed=", ".join(LABEL_SHEETS)))
    refuse_any(faults)


def _through_temporary(
    design: Design, wiring: Wiring, formats: Sequence[str], folder: Path, options: Options
) -> list[Path]:
    """Write beside the target, on the same disk, so that moving a file in is one step."""
    temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX, dir=folder))
    try:
        written = _written(design, wiring, formats, temporary, options)
        if options.mark:
            written = [path for file in written for path in marked(file, options.mark)]
        targets = [folder / path.relative_to(temporary) for path in written]
        _make_room(targets)
        stale = [path for name in formats for path in _own_files(name, folder) if path not in targets]
        stale += [path for path in map(beside, targets) if path.is_file() and path not in targets]
        with _set_aside(stale, temporary):
            for path, target in zip(written, targets, strict=True):
                os.replace(path, target)
        return targets
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _written(design: Design, wiring: Wiring, formats: Sequence[str], folder: Path, options: Options) -> list[Path]:
    """Write every format; an ``InputError`` has the faults of all formats, each once."""
    whole = Exported(design, wiring, options)
    then = Exported(design, _cut(design, wiring, options.stage), options)
    written: list[Path] = []
    refused: dict[str, InputError] = {}
    for name in formats:
        try:
            if name == WHOLE and options.stage is not None:
                raise refusal(
                    "--stage", "", f"{WHOLE} is what to run when all is there; other formats are for one stage"
                )
            files: Files = _module(name).files_of(whole if name in (*PLANNED, *WORK) else then)
            written += [_file(_within(name, folder) / path, content) for path, content in files.items()]
        except InputError as error:
            refused[name] = error
    if refused and options.skip is not None and written:
        for name, why in refused.items():
            options.skip(f"{name} is left out: {why.faults[0].problem}")
    elif refused:
        faults = [problem for error in refused.values() for problem in error.faults]
        if rest := [name for name in formats if name not in refused]:
            hint = f"`--to {','.join(rest)}` can be, as with `--skip`"
            faults.append(fault("--to", "", "nothing was written, for not all can be", ",".join(formats), hint=hint))
        raise InputError([problem for place, problem in enumerate(faults) if problem not in faults[:place]])
    return written


def _cut(design: Design, wiring: Wiring, stage: int | None) -> Wiring:
    """The wiring of a stage for formats that show a whole wiring; the last one has the moves of cables too."""
    return wiring if stage is None or stage >= len(design.stages) - 1 else wiring_at(wiring, stage)


@contextlib.contextmanager
def _set_aside(paths: Sequence[Path], temporary: Path) -> Iterator[None]:
    """Move files into the temporary folder, which will be removed; put them back if something goes wrong."""
    moved: list[tuple[Path, Path]] = []
    try:
        for number, path in enumerate(paths):
            aside = temporary / f"{TEMPORARY_PREFIX}{number}"
            os.replace(path, aside)
            moved.append((path, aside))
        yield
    except BaseException:
        for path, aside in moved:
            os.replace(aside, path)
        raise


def _make_room(targets: Sequence[Path]) -> None:
    """Make the folders of files; ``OutputError`` for a folder in a file's place, before the first file is moved."""
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise OutputError(f"{target}: is a folder, and a file would be written there")


def _module(name: str) -> ModuleType:
    """Import the module of a format, only now, because of all that it imports."""
    return importlib.import_module(f"fabopt.output.export.{name.replace('-', '_')}")


def _within(name: str, folder: Path) -> Path:
    """The folder of a format's files."""
    return folder / getattr(_module(name), "FOLDER", "")


def _file(path: Path, content: Content) -> Path:
    """Write a file, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif callable(content):
        content(path)
    else:
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in content)
    return path


def _own_files(name: str, folder: Path) -> list[Path]:
    """Files of a format in a folder, of whichever design."""
    module, within = _module(name), _within(name, folder)
    if hasattr(module, "own_files"):
        return list(module.own_files(folder))
    pattern = re.compile(getattr(module, "OWN_FILES", r"(?!)"))
    known = sorted([*within.glob("*"), *(within.glob("*/*") if within != folder else ())])
    return [path for path in known if pattern.fullmatch(path.relative_to(within).as_posix()) and path.is_file()]


def _unknown(name: str) -> Fault:
    hint = did_you_mean(name, FORMATS)
    return fault("--to", "", "unknown format", name, allowed=f"{', '.join(FORMATS)}, or {ALL}", hint=hint)
