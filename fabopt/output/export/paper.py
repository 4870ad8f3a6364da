"""Pages for paper, laid out in millimetres: tables whose cells wrap and whose headings stand on every page.

All pages of a document are one PDF, and one HTML file that fetches nothing, which a browser shows and prints at the
size that is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import accumulate
from pathlib import Path
from textwrap import wrap

from fabopt.output.export.formats import Content
from fabopt.output.html.rendering import policy
from fabopt.output.sheet.model import PAPER, WIDEST_MONO, Box, Code, DrawnSheet, Stroke, Text
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg
from fabopt.output.words import printable
from fabopt.schema.version import VERSION

POINT = 25.4 / 72
TEXT, SMALL, MIDDLE, LARGE = 9.0, 7.0, 12.0, 16.0
INK, FADED, LINE, ALARM = "#1b2430", "#56616e", "#a9b4c0", "#b3261e"
# Pages of a file; a browser takes long to open more.
MOST_PAGES = 400
_MARGIN, _HEAD, _FOOT, _GAP, _STEP = 12.0, 19.0, 10.0, 3.0, 4.4
# Between tables on a page; how much wider gaps may be; rows below a heading; millimetres of a letter.
_BETWEEN, _MOST_SPARE, _LEAST_ROWS = 4.0, 5.0, 3
_ADVANCE = WIDEST_MONO * TEXT * POINT
_STYLE = (
    "@page{size:%gmm %gmm;margin:0}body{margin:0;background:#fff}svg{display:block;width:%gmm;height:%gmm;"
    "break-after:page;break-inside:avoid}svg:last-of-type{break-after:auto}"
    "h1{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%%)}"
    "@media screen{body{background:#dfe4ea}svg{margin:6mm auto;background:#fff;max-width:100%%;height:auto}}"
)


@dataclass(frozen=True)
class Paper:
    """A sheet of paper: its name, width and height in millimetres."""

    name: str
    width: float
    height: float

    @property
    def turned(self) -> Paper:
        """This paper in landscape."""
        return Paper(self.name, self.height, self.width)


# ISO 216 and ANSI Y14.1.
PAPERS = (Paper("a4", 210.0, 297.0), Paper("letter", 215.9, 279.4))


@dataclass(frozen=True)
class Table:
    """Rows of text under titles of columns. ``ticks``: titles of empty boxes at the end of each row.

    ``title``, ``about``: above the titles on each page; ``foot``: below the rows, such as lines to be signed.
    ``right``: columns of numbers. ``begins_page``: else it stands below the table before it, where there is room.
    """

    title: str
    about: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    ticks: tuple[str, ...] = ()
    foot: str = ""
    right: tuple[int, ...] = ()
    begins_page: bool = True


@dataclass(frozen=True)
class TablePart:
    """The rows of a table that a page has, from ``top`` on: their cells as lines. ``begins``: at the first row."""

    table: Table
    widths: tuple[int, ...]
    rows: tuple[tuple[list[str], ...], ...]
    top: float
    begins: bool


def text(
    x: float, y: float, words: str, points: float = TEXT, fill: str = INK, anchor: str = "start", bold: bool = False
) -> Text:
    """Return a line of text, its base line at ``y``."""
    return Text(x, y, printable(words), points * POINT, fill, anchor, bold)


def page(paper: Paper, title: str, parts: Iterable[Text | Stroke | Box | Code]) -> DrawnSheet:
    """Return a page of parts."""
    kept = list(parts)
    texts = tuple(part for part in kept if isinstance(part, Text))
    lines = tuple(part for part in kept if isinstance(part, Stroke))
    boxes = tuple(part for part in kept if isinstance(part, Box))
    codes = tuple(part for part in kept if isinstance(part, Code))
    return DrawnSheet(title, paper.width, paper.height, boxes, lines, (), texts, codes, mono=True)


def paged_files(name: str, title: str, pages: Sequence[DrawnSheet]) -> dict[str, Content]:
    """Pages as ``NAME.html`` and ``NAME.pdf``, or, if there are many, as ``NAME-1.html`` and so on."""
    files: dict[str, Content] = {}
    for first in range(0, len(pages), MOST_PAGES):
        number = f"-{first // MOST_PAGES + 1}" if len(pages) > MOST_PAGES else ""
        some_pages = pages[first : first + MOST_PAGES]
        files[f"{name}{number}.html"] = _html_lines(title, some_pages)
        files[f"{name}{number}.pdf"] = partial(_write_pdf, some_pages)
    return files


def _write_pdf(pages: Sequence[DrawnSheet], path: Path) -> None:
    path.write_bytes(pdf_bytes(pages))


def _html_lines(title: str, pages: Sequence[DrawnSheet]) -> Iterator[str]:
    width, height = pages[0].width, pages[0].height
    style, heading = _STYLE % (width, height, width, height - 0.1), escape(printable(title))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style, ""))}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta name="generator" content="fabopt {VERSION}">\n<link rel="icon" href="data:,">'
    yield f"<title>{heading}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>"
    yield from (svg(page).removesuffix("\n") for page in pages)
    yield "</main>\n</body>\n</html>"


# -- tables ---------------------------------------------------------------------------------------------------------


def fits(paper: Paper, tables: Iterable[Table]) -> bool:
    """Whether no cell of any table has to be folded."""
    return all(sum(_natural_widths(table)) <= _letters(paper, table) for table in tables)


def lay_out(paper: Paper, tables: Iterable[Table]) -> list[list[TablePart]]:
    """Divide tables into pages."""
    bottom = paper.height - _MARGIN - _FOOT
    pages: list[list[TablePart]] = []
    y = bottom
    for table in tables:
        widths = _widths(paper, table)
        cells = [tuple(map(_folded, row, widths)) for row in table.rows]
        y += _BETWEEN
        if table.begins_page or y + _HEAD + _LEAST_ROWS * _STEP > bottom:
            pages.append([])
            y = _MARGIN
        first, top, y = 0, y, y + _HEAD
        for index, row in enumerate(cells):
            if y + _height(row) > bottom and index > first:
                pages[-1].append(TablePart(table, widths, tuple(cells[first:index]), top, first == 0))
                pages.append([])
                first, top, y = index, _MARGIN, _MARGIN + _HEAD
            y += _height(row)
        pages[-1].append(TablePart(table, widths, tuple(cells[first:]), top, first == 0))
    return pages


def drawn(paper: Paper, pages: Sequence[Sequence[TablePart]], document: str, mark: str) -> Iterator[DrawnSheet]:
    """Yield the pages of a document; ``document``: what stands at the foot of each, ``mark``: what warns on each."""
    bottom, right = paper.height - _MARGIN, paper.width - _MARGIN
    for number, parts in enumerate(pages, start=1):
        marks = [mark for part in parts for mark in _part(part, right)]
        marks += [text(_MARGIN, bottom - 4.5, parts[-1].table.foot), _rule(_MARGIN, bottom - 2.6, right)]
        marks.append(text(_MARGIN, bottom, document, SMALL, FADED))
        marks.append(text(right, bottom, f"page {number} of {len(pages)}", SMALL, FADED, "end"))
        yield page(paper, f"{parts[0].table.title}, page {number}", [*marks, *warning(paper, mark)])


def warning(paper: Paper, mark: str) -> Iterator[Text]:
    """Yield the lines of a mark, at the head of a page; none for an empty one."""
    letters = int((paper.width - 2 * _MARGIN) / (WIDEST_MONO * SMALL * POINT))
    for number, line in enumerate(wrap(mark, letters)):
        yield text(_MARGIN, 4 + 3 * number, line, SMALL, ALARM, bold=True)


def _part(part: TablePart, right: float) -> Iterator[Text | Stroke | Box]:
    table, y = part.table, part.top + _HEAD - 3
    yield text(_MARGIN, part.top + 5, table.title, LARGE if part.top == _MARGIN else MIDDLE, bold=True)
    yield text(_MARGIN, part.top + 10.5, table.about + ("" if part.begins else " (continued)"), TEXT, FADED)
    tick = _tick_width(table)
    spare = right - _MARGIN - sum(part.widths) * _ADVANCE - len(part.widths) * _GAP - len(table.ticks) * tick
    gap = _GAP + max(0.0, min(_MOST_SPARE, spare / len(part.widths)))
    places = [_MARGIN, *(_MARGIN + end for end in accumulate(width * _ADVANCE + gap for width in part.widths))]
    boxes = [places[-1] + index * tick for index in range(len(table.ticks))]
    end = places[-1] + len(boxes) * tick - (0 if boxes else gap)
    columns = list(zip(places, [place - gap for place in places[1:]], range(len(part.widths)), strict=False))
    for title, (x, last, index) in zip(table.columns, columns, strict=True):
        yield _cell(title, x, last, y, index in table.right, bold=True)
    for title, x in zip(table.ticks, boxes, strict=True):
        yield text(x, y, title, bold=True)
    yield _rule(_MARGIN, y + 1.5, end, INK)
    for row in part.rows:
        for cell, (x, last, index) in zip(row, columns, strict=True):
            for line, words in enumerate(cell):
                yield _cell(words, x, last, y + _STEP * (line + 1) + 0.6, index in table.right)
        for x in boxes:
            yield Box(x, y + 1.9, 3.2, 3.2, PAPER, INK, "tick")
        y += _height(row)
        yield _rule(_MARGIN, y + 1.5, end)


def _cell(words: str, x: float, end: float, y: float, right: bool, bold: bool = False) -> Text:
    return text(end if right else x, y, words, anchor="end" if right else "start", bold=bold)


def _rule(x: float, y: float, right: float, colour: str = LINE) -> Stroke:
    return Stroke(((x, y), (right, y)), colour, 0.2)


def _height(row: Sequence[Sequence[str]]) -> float:
    """Millimetres of a row, by the lines of its longest cell."""
    return _STEP * max(map(len, row)) + 0.4


def _folded(words: str, width: int) -> list[str]:
    return [words] if len(words) <= width else wrap(words, width)


def _tick_width(table: Table) -> float:
    return max(map(len, table.ticks), default=0) * _ADVANCE + _GAP


def _letters(paper: Paper, table: Table) -> int:
    """Letters in a row of a table for which a paper has room, in all columns."""
    ticks = len(table.ticks) * _tick_width(table)
    return int((paper.width - 2 * _MARGIN - ticks - len(table.columns) * _GAP) / _ADVANCE)


def _natural_widths(table: Table) -> list[int]:
    """Letters of each column: those of its longest cell."""
    columns = zip(*table.rows, strict=True) if table.rows else ((title,) for title in table.columns)
    return [max(len(title), *map(len, cells)) for title, cells in zip(table.columns, columns, strict=True)]


def _widths(paper: Paper, table: Table) -> tuple[int, ...]:
    """Letters of each column: those of its longest cell; of the widest fewer, until all have room."""
    letters, widths = _letters(paper, table), _natural_widths(table)
    while sum(widths) > letters and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return tuple(widths)
