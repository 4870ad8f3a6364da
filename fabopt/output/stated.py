"""Tables and statements as every output shows them: columns by what they say of an entry, sentences, titles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

# Titles of columns, and whether each holds numbers.
Columns = Sequence[tuple[str, bool]]
Entry = TypeVar("Entry")


class Column(NamedTuple, Generic[Entry]):
    """A column of a table: its title, whether it holds numbers, and its cell for an entry."""

    title: str
    is_number: bool
    cell: Callable[[Entry], str]


class StatedTable(NamedTuple):
    """A table: its columns, the cells of its rows, and a title where a statement has several."""

    columns: Columns
    rows: Sequence[Sequence[str]]
    title: str = ""

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """Titles that begin large, and whether each column holds numbers."""
        return [(title[:1].upper() + title[1:], right) for title, right in self.columns]


def table_of(columns: Sequence[Column[Entry]], entries: Iterable[Entry], title: str = "") -> StatedTable:
    """A table with a row for each entry."""
    rows = [[column.cell(entry) for column in columns] for entry in entries]
    return StatedTable([(column.title, column.is_number) for column in columns], rows, title)


class Statement(NamedTuple):
    """A part of a design: its name in a page, its title, a line beside that, and sentences and tables in order."""

    name: str
    title: str
    about: str
    said: Sequence[str | StatedTable]

    @property
    def blocks(self) -> list[tuple[bool, list[str | StatedTable]]]:
        """Sentences that follow each other, or tables; whether they are sentences."""
        return [(is_text, list(parts)) for is_text, parts in groupby(self.said, key=lambda part: isinstance(part, str))]


def statement_of(name: str, title: str, about: str, *said: str | StatedTable | None) -> Statement:
    """A statement without sentences that are empty and tables without rows."""
    return Statement(name, title, about, [part for part in said if part and (isinstance(part, str) or part.rows)])
