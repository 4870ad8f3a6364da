"""From a specification to a picture, by vl-convert: no browser, no network, the same bytes for the same chart."""

from __future__ import annotations

from fabopt.output.charts.style import Palette, Spec, config

# The release of Vega-Lite that specifications are written for; vl-convert carries several.
_VEGA_LITE = "6.4"
_SCALE = 2.0


def svg(spec: Spec, palette: Palette) -> str:
    """Return a chart as SVG; texts in it are escaped."""
    import vl_convert

    return vl_convert.vegalite_to_svg(_whole(spec, palette), vl_version=_VEGA_LITE)


def png(spec: Spec, palette: Palette) -> bytes:
    """Return a chart as PNG, two pixels for each of the SVG."""
    import vl_convert

    return vl_convert.vegalite_to_png(_whole(spec, palette), vl_version=_VEGA_LITE, scale=_SCALE)


def _whole(spec: Spec, palette: Palette) -> Spec:
    return {**spec, "config": config(palette)}
