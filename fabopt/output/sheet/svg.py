"""Sheets as SVG in millimetres, texts as text."""

from __future__ import annotations

from html import escape

from fabopt.output.sheet.model import BEHIND, PAPER, Box, Code, DrawnSheet, Stroke, Text
from fabopt.output.words import printable

_FONT = "font-family=\"'Liberation Sans', Arial, Helvetica, sans-serif\""
_MONO = (
    "font-family=\"'Liberation Mono', 'DejaVu Sans Mono', Menlo, Consolas, 'Courier New', monospace\""
    ' xml:space="preserve"'
)
_DASHES = ' stroke-dasharray="1.6 1.1"'


def svg(sheet: DrawnSheet, is_inline: bool = False) -> str:
    """Return a sheet as SVG: a file of its own, or a part of a page whose boxes can be reached and pointed at."""
    size = f'viewBox="0 0 {sheet.width:g} {sheet.height:.4g}"'
    if is_inline:
        head = f'<svg class="topology" {size} role="group" aria-label="{_words(sheet.title)}" {_FONT}>'
    else:
        name = f"<title>{_words(sheet.title)}</title>"
        measures = f'width="{sheet.width:g}mm" height="{sheet.height:.4g}mm"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {measures} {size} {_MONO if sheet.mono else _FONT}>\n{name}'
    ground = f'<rect width="{sheet.width:g}" height="{sheet.height:.4g}" fill="{PAPER}"/>'
    parts = [_rect(box) for box in sheet.holders]
    parts += [_line(line) for line in sheet.lines]
    parts += [_box(box, is_inline) for box in sheet.boxes]
    parts += [_text(text) for text in sheet.texts]
    parts += [_code(code) for code in sheet.codes]
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _box(box: Box, is_inline: bool) -> str:
    behind = ""
    if box.stacked:
        behind = _rect(box, BEHIND)
    parts = behind + _rect(box) + "".join(map(_text, box.texts))
    if box.rail:
        place = f'x="{box.x:.2f}" y="{box.y + box.height - 1.4:.2f}" width="{box.width:.2f}"'
        parts += f'<rect {place} height="1.4" fill="{box.rail}"/>'
    if not is_inline:
        return f"<g><title>{_words(box.name)}</title>{parts}</g>"
    about = f'tabindex="0" role="img" aria-label="{_words(box.about)}" data-node="{box.node}"'
    return f'<g class="box {box.layer}" {about}>{parts}</g>'


def _rect(box: Box, off: float = 0.0) -> str:
    place = f'x="{box.x + off:.2f}" y="{box.y + off:.2f}" width="{box.width:.2f}" height="{box.height:.2f}"'
    dashes = _DASHES if box.dashed else ""
    return f'<rect {place} rx="0.8" fill="{box.fill}" stroke="{box.edge}" stroke-width="0.3"{dashes}/>'


def _line(line: Stroke) -> str:
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in line.points)
    look = f'stroke="{line.colour}" stroke-width="{line.width:.2f}"{_DASHES if line.dashed else ""}'
    return f'<polyline points="{points}" fill="none" {look} data-a="{line.a}" data-b="{line.b}"/>'


def _text(text: Text) -> str:
    ground = ""
    if text.ground:
        place = f'x="{text.left:.2f}" y="{text.y - text.size * 0.85:.2f}" width="{text.width:.2f}"'
        ground = f'<rect {place} height="{text.size * 1.1:.2f}" fill="{text.ground}"/>'
    weight = ' font-weight="bold"' if text.bold else ""
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    look = f'font-size="{text.size:g}" fill="{text.fill}"{anchor}{weight}'
    return f'{ground}<text x="{text.x:.2f}" y="{text.y:.2f}" {look}>{_words(text.words)}</text>'


def _code(code: Code) -> str:
    """A code as lines, a little wider than a module, so that no light line shows between two rows."""
    place = f'transform="translate({code.x:.2f} {code.y:.2f}) scale({code.side / code.path.size:.4f})"'
    return f'<path {place} d="{code.path.lines}" stroke="#000" stroke-width="1.03"/>'


def _words(words: str) -> str:
    return escape(printable(words))
