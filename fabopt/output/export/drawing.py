"""Drawings for design documents: a page of A3 for each fabric, as SVG and as one PDF."""

from __future__ import annotations

from fabopt.output.export.formats import Exported, Files
from fabopt.output.sheet.pages import TitleBlock, sheets
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg

OWN_FILES = r"drawing(-\d{1,9})?\.svg"


def files_of(asked: Exported) -> Files:
    """Return ``drawing.pdf`` with all pages, ``drawing.svg`` with the first, ``drawing-2.svg`` and so on."""
    options = asked.options
    pages = sheets(asked.design, asked.wiring, TitleBlock(options.date, options.revision, options.mark))
    drawings = {f"drawing{f'-{number}' * (number > 1)}.svg": svg(page).encode() for number, page in enumerate(pages, 1)}
    return {"drawing.pdf": pdf_bytes(pages), **drawings}
