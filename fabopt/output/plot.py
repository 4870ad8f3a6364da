"""Pictures of a front or a sweep: the trade, and cost by kind of part, as .html, .png or .svg."""

from __future__ import annotations

from pathlib import Path

from fabopt.io.library import ending_of, write_whole
from fabopt.output.charts.compose import together
from fabopt.output.charts.style import FILE_PALETTE, png, svg
from fabopt.output.html.front_page import plot_page
from fabopt.schema.design import Front

ENDINGS = (".html", ".png", ".svg")


def write_plot(front: Front, path: Path) -> None:
    """Write the picture of a front, whole or not at all: ``InputError`` for an unknown ending, ``OutputError`` for a
    path that cannot be written.
    """
    write_whole(path, plot_bytes(front, ending_of(str(path), "a plot", ENDINGS)))


def plot_bytes(front: Front, ending: str) -> bytes:
    """Return the picture of a front in the format of ``ending``, the same bytes for the same front."""
    if ending == ".html":
        return plot_page(front)
    spec = together(front)
    return svg(spec, FILE_PALETTE).encode() if ending == ".svg" else png(spec, FILE_PALETTE)
