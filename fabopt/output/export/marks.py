"""Marks for files of a design that was not proven: each format's own way, or else a file beside it.

A table has a last column ``UNCHECKED``, a workbook a first sheet, a page a banner (one for paper on each sheet), JSON a
key; a drawing shows it, text begins with it. ``NAME.UNCHECKED.txt`` is written beside a file whose format has room for
none of these.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

MARK, REPRICED = "UNCHECKED", "REPRICED"
# Sentences about a table as a whole, by the title of their column.
Marks = Mapping[str, str]
NO_MARKS: Marks = MappingProxyType({})


def beside(path: Path) -> Path:
    """Path of the file that marks another file whose format has no room for a mark."""
    return path.with_name(f"{path.name}.{MARK}.txt")


def marked(path: Path, mark: str) -> list[Path]:
    """Mark a file just written, and return it with the file written beside it.

    ``mark`` is a sentence without characters that any format gives a meaning. Workbooks, pages and PDF files are
    marked as they are made.
    """
    ending = path.suffix.lower()
    if ending in (".xlsx", ".html", ".pdf"):
        return [path]
    text = _MARKERS[ending](path.read_bytes().decode(), mark) if ending in _MARKERS else None
    if text is not None:
        path.write_bytes(text.encode())
        return [path]
    beside(path).write_text(f"{mark}\n", encoding="utf-8")
    return [path, beside(path)]


def marked_csv(text: str, mark: str, title: str = MARK) -> str:
    """Return a CSV file with one more column, which has the mark in every row."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    stream = io.StringIO()
    quotes_all = text.startswith('"')
    writer = csv.writer(stream, lineterminator="\r\n", quoting=csv.QUOTE_ALL if quotes_all else csv.QUOTE_MINIMAL)
    writer.writerows([[*head, title], *([*row, mark] for row in rows)])
    return stream.getvalue()


def _after(lines: int, text: str, line: str) -> str:
    """Return a text with a line put in after the first ones."""
    all_lines = text.splitlines(keepends=True)
    return "".join([*all_lines[:lines], f"{line}\n", *all_lines[lines:]])


def _svg(text: str, mark: str) -> str:
    if mark in text:
        return text
    drawing, end, rest = text.rpartition("</svg>")
    return f'{drawing}<text x="24" y="12" font-size="11" font-weight="bold" fill="#c00000">{mark}</text>\n{end}{rest}'


def _drawio(text: str, mark: str) -> str:
    return _after(1, text.replace(' name="', f' name="{MARK} ', 1), f"<!-- {mark} -->")


def _json(text: str, mark: str) -> str | None:
    """Return an object with one more key; None for a list, as its readers take each item for data."""
    content = json.loads(text)
    if not isinstance(content, dict):
        return None
    return json.dumps({MARK: mark, **content}, indent=2, ensure_ascii=False) + "\n"


# By the ending of the file. YAML of ours begins with ``---`` and a line that says who wrote it.
_MARKERS: dict[str, Callable[[str, str], str | None]] = {
    ".csv": marked_csv,
    ".txt": lambda text, mark: _after(0, text, f"# {mark}" if text.startswith("#") else mark),
    ".conf": lambda text, mark: _after(0, text, f"# {mark}"),
    ".yaml": lambda text, mark: _after(2, text, f"# {mark}"),
    ".json": _json,
    ".yml": lambda text, mark: _after(2, text, f"# {mark}"),
    ".dot": lambda text, mark: _after(1, text, f'  label="{mark}";'),
    ".graphml": lambda text, mark: _after(1, text, f"<!-- {mark} -->"),
    ".drawio": _drawio,
    ".svg": _svg,
}
