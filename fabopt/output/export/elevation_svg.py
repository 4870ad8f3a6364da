"""Rack elevations as SVG, to scale: a rack unit and the 19 inches between the rails have their true proportion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from fabopt.floor.rack_rules import KeptUnits
from fabopt.output.export.elevation import (
    Elevation,
    Rack,
    RackDevice,
    RackRow,
    is_over_power,
    power_text,
    units_text,
    watts_text,
)
from fabopt.output.words import printable

# Pixels of a rack unit of 44.45 mm; with it the 482.6 mm of a front panel (IEC 60297) and a frame of 600 mm.
UNIT = 14.0
PANEL = round(UNIT * 482.6 / 44.45, 1)
FRAME = round(UNIT * 600 / 44.45, 1)
POST = (FRAME - PANEL) / 2
_MARGIN, _GAP = 24.0, 12.0
_TITLE, _ROW_TITLE, _RACK_TITLE = 64.0, 30.0, 40.0
_LETTER = 0.6
_SMALL, _MIDDLE, _NORMAL, _LARGE = 8, 9, 11, 16
_INK, _FADED, _EDGE, _FREE, _ALARM = "#1f2933", "#52606d", "#9fb3c8", "#f7f9fb", "#c00000"
# Look of what a later stage installs.
_LATER = 'stroke-width="1" stroke-dasharray="4 2"'
_COLOURS = {"server": "#7b5e9e", "leaf": "#2a7f62", "spine": "#1d4e89", "core": "#9c4221", "attachment": "#52606d"}
_FONT = "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\""


def drawing(elevation: Elevation, rows: Sequence[RackRow], name: str, rear: bool = False) -> str:
    """Return rows of racks as one SVG, the racks of a row side by side, rows below each other.

    ``rear``: as who stands behind a row sees it, its last rack on the left.
    """
    view = "rear view" if rear else "front view"
    row_height = _ROW_TITLE + _RACK_TITLE + elevation.rack_units * UNIT + _MARGIN
    width = 2 * _MARGIN + max(len(row.racks) for row in rows) * (FRAME + _GAP) - _GAP
    width, height = max(width, 640.0), _TITLE + len(rows) * row_height
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT}>']
    lines += [f"<title>{_words(name)}: rack elevations, {view}</title>", _frame(elevation.rack_units, rear)]
    lines += [f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>']
    lines += [_text(_MARGIN, 30, f"{name}: {view}", _LARGE, bold=True), *_legend(rows)]
    for index, row in enumerate(rows):
        top = _TITLE + index * row_height
        lines.append(_text(_MARGIN, top + 18, f"Row {row.name}", _LARGE, bold=True))
        for place, rack in enumerate(reversed(row.racks) if rear else row.racks):
            lines += _rack(rack, elevation, _MARGIN + place * (FRAME + _GAP), top + _ROW_TITLE)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _frame(rack_units: int, rear: bool) -> str:
    """Return an empty rack, drawn once and shown in every place: its frame, units and their numbers.

    The numbers are on the left post from the front, which is the right one from behind.
    """
    height = rack_units * UNIT
    panel = f'x="{POST:g}" width="{PANEL:g}" height="{height:g}" fill="{_FREE}" stroke="{_EDGE}"'
    lines = "".join(f"M{POST:g} {unit * UNIT:g}h{PANEL:g}" for unit in range(1, rack_units))
    x, anchor = (FRAME - POST + 3, "start") if rear else (POST - 3, "end")
    numbers = (
        _text(x, (rack_units - unit) * UNIT + 10, str(unit), _SMALL, _FADED, anchor)
        for unit in range(1, rack_units + 1)
    )
    frame = f'<rect width="{FRAME:g}" height="{height:g}" fill="none" stroke="{_EDGE}"/>'
    return (
        f'<defs><g id="rack">{frame}<rect {panel}/>'
        f'<path d="{lines}" stroke="{_EDGE}" stroke-width="0.3"/>{"".join(numbers)}</g></defs>'
    )


def _legend(rows: Sequence[RackRow]) -> Iterator[str]:
    devices = [device for row in rows for rack in row.racks for device in rack.devices]
    kept = dict.fromkeys(kept.what for row in rows for rack in row.racks for kept in rack.kept)
    roles = {device.role for device in devices}
    entries = [(role, f'fill="{colour}"') for role, colour in _COLOURS.items() if role in roles]
    entries += [(what, f'fill="{_EDGE}"') for what in kept]
    later = dict.fromkeys(device.later for device in devices if device.later)
    entries += [(f"later: {name}", f'fill="#ffffff" stroke="{_INK}" {_LATER}') for name in later]
    x = _MARGIN
    for words, look in entries:
        yield f'<rect x="{x:g}" y="42" width="12" height="12" {look}/>'
        yield _text(x + 17, 52, words, _NORMAL, _FADED)
        x += max(90, 30 + len(words) * _NORMAL * _LETTER)


def _rack(rack: Rack, elevation: Elevation, x: float, y: float) -> Iterator[str]:
    yield f'<g transform="translate({x:g} {y:g})">'
    yield _text(0, 12, rack.id, _NORMAL, bold=True)
    if rack.devices:
        yield _text(FRAME, 12, units_text(rack, elevation), _NORMAL, _FADED, "end")
        colour = _ALARM if is_over_power(rack, elevation) else _FADED
        yield _text(FRAME, 27, power_text(rack, elevation), _MIDDLE, colour, "end")
    else:
        yield _text(FRAME, 12, rack.state or "empty", _NORMAL, _FADED, "end")
    yield f'<g transform="translate(0 {_RACK_TITLE - 5:g})">'
    if rack.state != "blocked":
        yield '<use href="#rack"/>'
    yield from (_kept(kept, elevation.rack_units) for kept in rack.kept)
    yield from (_device(device, elevation.rack_units) for device in rack.devices)
    yield "</g></g>"


def _device(device: RackDevice, rack_units: int) -> str:
    """Return a device at its units, with its name, and its product and power where there is room for a second line.

    One of a later stage is an outline.
    """
    height = device.height_u * UNIT
    y = (rack_units - device.unit + 1) * UNIT - height
    power = watts_text(device.power_w)
    tip, second = f"U{device.unit} {device.name}: {device.product}, {power}", f"{device.product}  {power}"
    fill, edge, ink = _COLOURS[device.role], 'stroke="#ffffff" stroke-width="0.5"', "#ffffff"
    if device.later:
        tip, second = f"{tip}, of stage {device.later}", f"{second}  {device.later}"
        fill, edge, ink = "#ffffff", f'stroke="{fill}" {_LATER}', _INK
    shape = f'x="{POST:g}" y="{y:g}" width="{PANEL:g}" height="{height:g}" fill={quoteattr(fill)}'
    lines = [device.name, second][: max(1, int(device.height_u))]
    first = y + height / 2 - (len(lines) - 1) * UNIT / 2 + _SMALL * 0.36
    texts = (_text(POST + 4, first + index * UNIT, line, _size(line), ink) for index, line in enumerate(lines))
    return f"<g><title>{_words(tip)}</title><rect {shape} {edge}/>{''.join(texts)}</g>"


def _kept(kept: KeptUnits, rack_units: int) -> str:
    """Return units kept for something else, with its name."""
    y, height = (rack_units - kept.unit - kept.units + 1) * UNIT, kept.units * UNIT
    shape = f'x="{POST:g}" y="{y:g}" width="{PANEL:g}" height="{height:g}" fill="{_EDGE}"'
    text = _text(POST + 4, y + height / 2 + _SMALL * 0.36, kept.what, _SMALL, _INK)
    return f"<g><title>{_words(f'U{kept.unit} {kept.what}')}</title><rect {shape}/>{text}</g>"


def _size(words: str) -> float:
    """The size at which a text stands whole on a front panel, as names may differ in any letter."""
    return min(_SMALL, int((PANEL - 8) / (max(1, len(words)) * _LETTER) * 10) / 10)


def _text(
    x: float, y: float, words: str, size: float, fill: str = _INK, anchor: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    style = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}'
    return f'<text x="{x:g}" y="{y:g}" {style}>{_words(words)}</text>'


def _words(text: str) -> str:
    """Return text as XML may hold it, which has no control characters."""
    return escape(printable(text))
