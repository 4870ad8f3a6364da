"""A comparison for a terminal: the verdict, what differs, why the money does, bills and cables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult, group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fabopt.inspect.differences.compare import Against, Contrast
from fabopt.inspect.differences.figures import Difference
from fabopt.output.differences import (
    BETTER,
    CABLE_TITLES,
    LETTERS,
    about,
    bill_cells,
    cable_rows,
    grouped,
    marked,
    moves_any,
    name_of,
    names_of,
    paragraphs,
    waterfall_rows,
)
from fabopt.output.words import money, printable
from fabopt.units import usd

# Letters between two columns.
_BETWEEN = 3
# Notes on a side that are shown; its file has all.
_MOST_NOTES = 8


@dataclass(frozen=True)
class Cells:
    """A table that no word is cut in: rows that do not fit are blocks of lines.

    ``right``: columns of numbers; ``best``: cells of the better sides, by row and column.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the cells out in the width there is: the rows with the longest words below the others, as blocks."""
        by_words = sorted(range(len(self.rows)), key=lambda row: max(map(_longest_word, self.rows[row])))
        most = options.max_width - _BETWEEN * len(self.titles) + 1
        for kept in range(len(self.rows), 0, -1):
            if widths := self._widths(sorted(by_words[:kept]), most):
                yield self._table(sorted(by_words[:kept]), widths)
                break
        else:
            kept = 0
        yield from self._blocks(sorted(by_words[kept:]))

    def _widths(self, rows: Sequence[int], most: int) -> list[int]:
        """Widths of the columns with some rows, at most so wide together, the widest ones wrapped; none where a word
        is too long.
        """
        columns = list(zip(self.titles, *(self.rows[row] for row in rows), strict=True))
        words = [max(map(_longest_word, column)) for column in columns]
        whole = [max(map(len, column)) for column in columns]
        caps = (
            [max(least, min(width, cap)) for least, width in zip(words, whole, strict=True)]
            for cap in range(max(whole), 0, -1)
        )
        return next((widths for widths in caps if sum(widths) <= most), [])

    def _text(self, row: int, column: int) -> Text:
        text = printable(self.rows[row][column])
        return Text(text, style="green") if (row, column) in self.best else Text(text)

    def _table(self, rows: Sequence[int], widths: Sequence[int]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=True, header_style="dim", show_edge=False)
        for number, (title, width) in enumerate(zip(self.titles, widths, strict=True)):
            table.add_column(title, justify="right" if number in self.right else "left", width=width)
        for row in rows:
            table.add_row(*(self._text(row, column) for column in range(len(self.titles))))
        return table

    def _blocks(self, rows: Sequence[int]) -> Iterator[RenderableType]:
        for row in rows:
            yield Padding(self._text(row, 0), (0, 0, 0, 1))
            for column, title in list(enumerate(self.titles))[1:]:
                yield Padding(Text.assemble(f"{title}  ", self._text(row, column)), (0, 0, 0, 4))


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


@group()
def differences_report(contrast: Contrast) -> Iterator[RenderableType]:
    """The whole comparison."""
    yield from (Text(printable(text), style="bold") for text in paragraphs(contrast))
    for letter, name, side in zip(LETTERS, names_of(contrast), contrast.sides, strict=False):
        yield Padding(Text(printable(f"{letter}  {about(name, side)}")), (0, 0, 0, 2))
        yield from (Padding(Text(printable(note)), (0, 0, 0, 5)) for note in side.notes[:_MOST_NOTES])
        if len(side.notes) > _MOST_NOTES:
            yield Text(f"     and {len(side.notes) - _MOST_NOTES} more, which `fabopt quote audit` lists")
    letters = tuple(LETTERS[: len(contrast.sides)])
    for title, rows in grouped(contrast):
        yield _heading(title)
        yield _rows(letters, rows)
    if any(row.better for row in contrast.rows):
        yield Text(f"  {BETTER} the better side", style="dim")
    for letter, against in zip(LETTERS[1:], contrast.against, strict=False):
        yield from _against(contrast, letter, against)


def _heading(title: str) -> Text:
    return Text(f"\n{printable(title[:1].upper() + title[1:])}", style="bold cyan")


def _rows(letters: Sequence[str], rows: Sequence[Difference]) -> Cells:
    cells = tuple((name_of(row.name), *(marked(row, number) for number in range(len(letters)))) for row in rows)
    best = frozenset((place, number + 1) for place, row in enumerate(rows) for number in row.better)
    return Cells(("", *letters), cells, (), best)


def _against(contrast: Contrast, letter: str, against: Against) -> Iterator[RenderableType]:
    """What separates a side from the first: causes, lines of the bill, cables."""
    if against.steps:
        yield _heading(f"why {letter} costs what it costs")
        rows = (*waterfall_rows(contrast.sides[0], against), (letter, money(usd(against.side.cents))))
        yield Cells(("", "USD"), rows, (1,))
    if against.bill:
        yield _heading(f"the bill, A and {letter}")
        yield Cells(("", "part", "A", letter, "cost"), tuple(bill_cells(change) for change in against.bill), (2, 3, 4))
    if moves_any(against):
        yield _heading(f"the cables, from A to {letter}")
        yield Cells(CABLE_TITLES, tuple(cable_rows(against)), (1, 2, 3, 4))
