"""QR codes as paths of dark modules (ISO/IEC 18004, level M), a module a unit, the first in the upper left corner."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

# The mask of a code. To weigh all eight takes five times as long, and readers take any.
_MASK = 2


class QrPath(NamedTuple):
    """A code of ``size`` modules a side: its dark runs as lines of SVG, and as rectangles of PDF."""

    size: int
    lines: str
    rectangles: str


def qr_path(words: str) -> QrPath:
    """Return the code of words."""
    import segno

    lines, rectangles = [], []
    rows = segno.make(words, error="m", micro=False, boost_error=False, mask=_MASK).matrix
    for y, row in enumerate(rows):
        lines.append(f"M0 {y + 0.5:g}")
        x = 0
        for dark, modules in groupby(row):
            run = len(list(modules))
            if dark:
                lines.append(f"h{run}")
                rectangles.append(f"{x} {y} {run} 1 re")
            else:
                lines.append(f"m{run} 0")
            x += run
    return QrPath(len(rows), "".join(lines), " ".join(rectangles))
