"""The journal of a sweep or front: every point is on disk as soon as it is done, beside the file of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fabopt.design.points import Said, spread
from fabopt.errors import InputError, LostOutputError, NoAnswerError, OutputError, fault
from fabopt.io.files import shown
from fabopt.io.journal import Journal, journal_path
from fabopt.schema.front import Front, FrontAnswer, FrontPoint
from fabopt.study.front.resume import entries, is_beside, of_journal, resumed
from fabopt.units import some


class PointJournal:
    """Points that are kept as they come. ``known``: those of an earlier run, None for a new run."""

    def __init__(self, journal: Journal | None, header: Front, known: Front | None) -> None:
        self.known = known
        self._journal = journal
        self._said = Said(header)
        self._kept = 0
        if journal is not None:
            before = of_journal(journal)
            self._said = Said(before or header.model_copy(update={"points": (), "answers": ()}))
            self._kept = len(entries(before)) if before else 0
            if before is None:
                journal.append([_line(header.model_copy(update={"points": (), "answers": ()}))])
            there = {_line(entry) for entry in entries(spread(before))} if before else set()
            self.keep([entry for entry in (entries(known) if known else ()) if _line(entry) not in there])

    def keep(self, new: Sequence[FrontPoint | FrontAnswer]) -> None:
        """Write points of a sweep, or answers of a front, to the journal; ``LostOutputError`` if that fails."""
        if self._journal is None:
            return
        try:
            self._journal.append([_line(self._fresh(entry)) for entry in new])
        except LostOutputError as error:
            raise LostOutputError(f"{error}{self.text}") from None
        self._kept += len(new)

    def _fresh(self, entry: FrontPoint | FrontAnswer) -> FrontPoint | FrontAnswer:
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


def _line(model: Front | FrontPoint | FrontAnswer) -> bytes:
    return model.model_dump_json(by_alias=True).encode()


@contextmanager
def journaled(target: Path | None, resume: str | None, header: Front) -> Iterator[PointJournal]:
    """The journal beside a target, None for a run that writes none; it stays if the run does not finish.

    ``resume``: a file or journal to go on from. Points of a run that was cut short are not overwritten.
    """
    journal = None if target is None else Journal(journal_path(target))
    try:
        if journal is not None and not (resume is not None and is_beside(journal, resume)):
            _clear(journal)
        known = None if resume is None else resumed(resume, header, journal)
        points = PointJournal(journal, header, known)
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
        what = f"{some(len(entries(before)), 'point')} of a run that was cut short"
        hint = f"go on from there with --resume {file}, or remove the file"
        raise InputError([fault(file, "", what, hint=hint)])
    journal.forget_after(0)
