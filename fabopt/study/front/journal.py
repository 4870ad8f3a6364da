"""The journal of a sweep or front: every point is on disk as soon as it is done, beside the file of all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fabopt.design.points import Said, gathered, spread
from fabopt.errors import Fault, InputError, LostOutputError, NoAnswerError, OutputError, fault, refusal
from fabopt.io.design import parse_json, read_front
from fabopt.io.faults import Model, document_of, refuse_any
from fabopt.io.journal import SUFFIX, Journal, journal_path, whole_lines
from fabopt.io.library import MAX_FRONT_BYTES, STANDARD_STREAM, read_bytes, shown
from fabopt.io.text import FRONT
from fabopt.schema.design import Front, FrontAnswer, FrontPoint
from fabopt.units import beats, some

Entry = FrontPoint | FrontAnswer
Heard = Callable[[Sequence[Entry]], None]


class PointJournal:
    """Points that are kept as they come.

    ``known``: those of an earlier run, None for a new run. ``heard``: is told of each point once, of these first.
    """

    def __init__(self, journal: Journal | None, header: Front, known: Front | None, heard: Heard) -> None:
        self.known = known
        self._journal = journal
        self._heard = heard
        self._said = Said(header)
        self._kept = 0
        if journal is not None:
            before = of_journal(journal)
            self._said = Said(before or header.model_copy(update={"points": (), "answers": ()}))
            self._kept = len(entries(before)) if before else 0
            if before is None:
                journal.append([_line(header.model_copy(update={"points": (), "answers": ()}))])
            there = {_line(entry) for entry in entries(spread(before))} if before else set()
            self._write([entry for entry in (entries(known) if known else ()) if _line(entry) not in there])
        heard(entries(known) if known else ())

    def keep(self, new: Sequence[Entry]) -> None:
        """Write points of a sweep, or answers of a front, to the journal; ``LostOutputError`` if that fails."""
        self._write(new)
        self._heard(new)

    def _write(self, new: Sequence[Entry]) -> None:
        if self._journal is None:
            return
        try:
            self._journal.append([_line(self._fresh(entry)) for entry in new])
        except LostOutputError as error:
            raise LostOutputError(f"{error}{self.text}") from None
        self._kept += len(new)

    def _fresh(self, entry: Entry) -> Entry:
        """The fields of a point, or of an answer with its point, that earlier lines lack."""
        if isinstance(entry, FrontPoint):
            return self._said.without(entry)
        if entry.point is None:
            return entry
        return entry.model_copy(update={"point": self._said.without(entry.point)})

    @property
    def text(self) -> str:
        """The count of points kept and their file, to follow the reason why a run ends; empty if none is kept."""
        if self._journal is None or not self._kept:
            return ""
        file = shown(self._journal.path)
        return f"; {some(self._kept, 'point')} kept in {file}; --resume {file} goes on from there"

    @contextmanager
    def until_written(self) -> Iterator[None]:
        """Remove the journal once the whole file is written; if that fails, name the points kept."""
        try:
            yield
        except OutputError as error:
            if self.text:
                raise LostOutputError(f"{error}{self.text}") from None
            raise
        self._remove()

    def _remove(self) -> None:
        if self._journal is not None:
            self._journal.remove()
            self._journal = None

    def leave(self) -> None:
        """Close the journal; it stays if it has a point."""
        if self.text and self._journal is not None:
            self._journal.close()
        else:
            self._remove()


def _line(model: Front | Entry) -> bytes:
    return model.model_dump_json(by_alias=True).encode()


@contextmanager
def journaled(
    target: Path | None, resume: str | None, header: Front, heard: Heard = lambda new: None
) -> Iterator[PointJournal]:
    """The journal beside a target, None for a run that writes none; it stays if the run does not finish.

    ``resume``: a file or journal to go on from. Points of a run that was cut short are not overwritten.
    """
    journal = None if target is None else Journal(journal_path(target))
    try:
        if journal is not None and not (resume is not None and is_beside(journal, resume)):
            _clear(journal)
        known = None if resume is None else resumed(resume, header, journal)
        points = PointJournal(journal, header, known, heard)
    except BaseException:
        if journal is not None:
            journal.close()
        raise
    try:
        yield points
    except NoAnswerError as error:
        raise NoAnswerError(f"{error}{points.text}") from None
    finally:
        points.leave()


def _clear(journal: Journal) -> None:
    """Begin a journal anew; ``InputError`` if it has points."""
    before = of_journal(journal)
    if before is not None and entries(before):
        file = shown(journal.path)
        raise refusal(
            file,
            "",
            f"{some(len(entries(before)), 'point')} of a run that was cut short",
            hint=f"go on from there with --resume {file}, or remove the file",
        )
    journal.forget_after(0)


# -- going on with a sweep or front that was stopped ------------------------------------------------------------------
# Going on with a sweep or front that was stopped: points of its file and its journal are kept.
#
# The first line of a journal is the file to come, without its points; every further one is a point of a sweep, or
# an answer that a front was given.


def resumed(path: str, wanted: Front, own: Journal | None = None) -> Front:
    """``wanted`` with the points of a file and of its journal, whichever is there; ``InputError`` lists the
    differences. All must have the same case, catalog, prices, keys and metrics. ``own``: the journal that is written
    now, which need not have anything yet.
    """
    known = {file: spread(part) for file, part in _parts(path, own).items() if part is not None}
    for file, part in known.items():
        _check_same(file, part, wanted)
    points = tuple(point for part in known.values() for point in part.points)
    answers = tuple(answer for part in known.values() for answer in part.answers)
    return wanted.model_copy(update={"points": points, "answers": answers})


def entries(front: Front) -> Sequence[Entry]:
    """The entries of a journal's lines, from which another run goes on."""
    return front.points if front.kind == "sweep" else front.answers


def _parts(path: str, own: Journal | None) -> dict[str, Front | None]:
    """Contents of the file and its journal, by their names in messages."""
    if path == STANDARD_STREAM:
        return {path: read_front(path)}
    file = Path(path.removesuffix(SUFFIX))
    beside = journal_path(file)
    parts: dict[str, Front | None] = {}
    if own is not None and is_beside(own, path):
        parts = {shown(beside): of_journal(own)}
    elif beside.is_file():
        lines = whole_lines(read_bytes(beside, MAX_FRONT_BYTES))
        parts = {shown(beside): _of_lines(lines, beside) if lines else None}
    if parts and (path.endswith(SUFFIX) or not file.exists()):
        return parts
    return {path: read_front(path), **parts}


def is_beside(journal: Journal, path: str) -> bool:
    """Whether a journal is the file named, or that file's journal."""
    named = os.path.abspath(journal_path(Path(path.removesuffix(SUFFIX))))
    return named == os.path.abspath(journal.path)


def of_journal(journal: Journal) -> Front | None:
    """The content of a journal, None if it is empty; an incomplete last line is dropped."""
    if not journal.lines:
        return None
    known = _of_lines(journal.lines, journal.path)
    journal.forget_after(1 + len(entries(known)))
    return known


def _of_lines(lines: Sequence[bytes], path: Path) -> Front:
    header = _parsed(Front, lines[0], shown(path))
    if header.kind == "sweep":
        return header.model_copy(update={"points": tuple(_entries(FrontPoint, lines[1:], path))})
    return header.model_copy(update={"answers": tuple(_entries(FrontAnswer, lines[1:], path))})


def cut_off(lines: Sequence[bytes], path: Path) -> Front:
    """The file of a run that was cut off: of a sweep the points that its journal has, in their order there; of a front
    those of its answers that no other one beats.
    """
    front = spread(_of_lines(lines, path))
    signs = [(traded.metric, 1 if traded.sense == "minimize" else -1) for traded in front.objectives]
    met = {
        tuple(sign * answer.point.values[metric] for metric, sign in signs): answer.point
        for answer in front.answers
        if answer.point is not None
    }
    best = (met[own] for own in sorted(met) if not any(beats(other, own) for other in met))
    return gathered(front.model_copy(update={"points": (*front.points, *best)}))


def _entries(model: type[Model], lines: Sequence[bytes], path: Path) -> Iterator[Model]:
    for number, line in enumerate(lines, 1):
        try:
            yield _parsed(model, line, f"{shown(path)}: line {number + 1}")
        except InputError:
            # a crash of the machine can leave the last one with its end and without its middle
            if number < len(lines):
                raise


def _parsed(model: type[Model], line: bytes, file: str) -> Model:
    return document_of(model, parse_json(line, file, FRONT if model is Front else None), file)


def _check_same(path: str, before: Front, wanted: Front) -> None:
    """Raise ``InputError`` if one file does not go on with another."""
    faults: list[Fault] = []
    if before.kind != wanted.kind:
        what = "this is not a sweep" if wanted.kind == "sweep" else "this is not a front"
        faults.append(fault(path, "kind", what, before.kind, allowed=wanted.kind))
    for key, had, needed, what in (
        ("case.sha256", before.case.sha256, wanted.case.sha256, "another case, or the case has changed"),
        ("catalog_sha256", before.catalog_sha256, wanted.catalog_sha256, "other products or prices"),
        ("keys", list(before.keys), list(wanted.keys), "other keys were swept"),
        ("objectives", _traded(before), _traded(wanted), "other metrics were traded"),
        ("fabopt", before.fabopt, wanted.fabopt, "another version of fabopt wrote it"),
    ):
        if had != needed:
            faults.append(fault(path, key, what, had, allowed=str(needed), hint="start again without --resume"))
    refuse_any(faults)


def _traded(front: Front) -> str:
    return ", ".join(f"{objective.sense} {objective.metric}" for objective in front.objectives)
