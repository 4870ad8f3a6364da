"""From a specification to a picture, by vl-convert: no browser, no network, the same bytes for the same chart."""

from __future__ import annotations

import re

from fabopt.output.charts.style import PAGE_PALETTE, Palette, Spec, config

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
