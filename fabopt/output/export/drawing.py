"""Drawings for design documents: a page of A3 for each fabric, as SVG and as one PDF."""

from __future__ import annotations

import re
from pathlib import Path

from fabopt.output.export.formats import Options
from fabopt.output.sheet.pages import TitleBlock, sheets
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

_PAGE = re.compile(r"drawing(-\d{1,9})?\.svg")


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``drawing.pdf`` with all pages, ``drawing.svg`` with the first, ``drawing-2.svg`` and so on."""
    pages = sheets(design, wiring, TitleBlock(options.date, options.revision, options.mark))
    paper = folder / "drawing.pdf"
    paper.write_bytes(pdf_bytes(pages))
    written = [paper]
    for number, sheet in enumerate(pages, start=1):
        written.append(folder / ("drawing.svg" if number == 1 else f"drawing-{number}.svg"))
        written[-1].write_text(svg(sheet), encoding="utf-8")
    return written


def own_files(folder: Path) -> list[Path]:
    """Return the pages in a folder."""
    return [path for path in sorted(folder.iterdir()) if _PAGE.fullmatch(path.name) and path.is_file()]
