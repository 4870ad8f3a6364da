"""How charts look: colours, fonts and axes, for files and for pages that have a dark side.

From a specification to a picture, by vl-convert: no browser, no network, the same bytes for the same chart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]

WIDTH = 720
# Sans that vl-convert brings along: texts are measured alike on every machine.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
KINDS = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server", "other")


@dataclass(frozen=True)
class Palette:
    """Colours by purpose.

    ``halo``: around letters that are over lines. ``kinds``: of the parts on a bill, in the order of ``KINDS``.
    """

    ink: str
    faded: str
    grid: str
    ground: str
    halo: str
    accent: str
    alarm: str
    on_accent: str
    kinds: tuple[str, ...]

    def kind(self, kind: str) -> str:
        """Return the colour of a kind of part."""
        return self.kinds[KINDS.index(kind)]


# Each colour of a kind stands out from white by 3:1 and more (WCAG 2.2, 1.4.11).
FILE_PALETTE = Palette(
    ink="#1b2430",
    faded="#56616e",
    grid="#e2e6eb",
    ground="#ffffff",
    halo="#ffffff",
    accent="#1d5a9e",
    alarm="#b3261e",
    on_accent="#ffffff",
    kinds=("#1d4e89", "#2a7f62", "#b76e00", "#7b5e9e", "#a8436b", "#00788a", "#8a5a2b", "#56616e", "#7d8894"),
)
# The same names in ``page.css``, where they change with the reader's light.
PAGE_PALETTE = Palette(
    ink="var(--ink)",
    faded="var(--faded)",
    grid="var(--grid)",
    ground="none",
    halo="var(--ground)",
    accent="var(--accent)",
    alarm="var(--alarm)",
    on_accent="var(--on-accent)",
    kinds=tuple(f"var(--{kind})" for kind in KINDS),
)


def config(palette: Palette) -> Spec:
    """Return the looks that all marks, axes and legends share."""
    axis = {
        "labelColor": palette.faded,
        "titleColor": palette.faded,
        "gridColor": palette.grid,
        "domainColor": palette.faded,
        "tickColor": palette.faded,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelLimit": 220,
        "labelFlush": False,
        "titleLimit": WIDTH,
    }
    legend = {"labelColor": palette.ink, "titleColor": palette.faded, "labelFontSize": 12, "titleFontSize": 12}
    title = {"color": palette.ink, "subtitleColor": palette.faded, "fontSize": 16, "subtitleFontSize": 12}
    return {
        "font": FONT,
        "background": palette.ground,
        "axis": axis,
        "legend": {**legend, "titleFontWeight": "normal", "labelLimit": 220},
        "title": {**title, "anchor": "start", "offset": 14, "subtitlePadding": 6},
        "view": {"stroke": None},
        "text": {"color": palette.ink, "fontSize": 11},
    }


def heading(title: str, subtitle: str = "") -> Spec:
    """Return the title of a chart."""
    return {"text": title, "subtitle": subtitle} if subtitle else {"text": title}


# The release of Vega-Lite that specifications are written for; vl-convert carries several.
_VEGA_LITE = "6.4"
_SCALE = 2.0


# A mark with words, of a kind named at its end; points of a front are circles, those without a design crosses.
_MARK = re.compile(r'<path aria-label="([^"]*)"([^>]* aria-roledescription="(\w+)"[^>]*)/>')
_REACHED_BY_KEYS = ("circle", "point")


def svg(spec: Spec, palette: Palette) -> str:
    """Return a chart as SVG; texts in it are escaped. Points are reached by keyboard; a file tells the words of marks
    on hover, which a page does by its script.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(_whole(spec, palette), vl_version=_VEGA_LITE)
    return _MARK.sub(lambda mark: _told(mark, palette is not PAGE_PALETTE), drawn)


def _told(mark: re.Match[str], is_titled: bool) -> str:
    """Vega escapes what is in attributes such that it can stand between tags."""
    words, rest, kind = mark.groups()
    reached = ' tabindex="0"' if kind in _REACHED_BY_KEYS else ""
    title = f"<title>{words}</title>" if is_titled else ""
    return f'<path aria-label="{words}"{rest}{reached}>{title}</path>'


def png(spec: Spec, palette: Palette) -> bytes:
    """Return a chart as PNG, two pixels for each of the SVG."""
    import vl_convert

    return vl_convert.vegalite_to_png(_whole(spec, palette), vl_version=_VEGA_LITE, scale=_SCALE)


def _whole(spec: Spec, palette: Palette) -> Spec:
    return {**spec, "config": config(palette)}
