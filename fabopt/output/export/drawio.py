"""draw.io (diagrams.net): the drawing as an uncompressed diagram, a page a fabric, one layer a tier."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from xml.etree.ElementTree import Element, SubElement

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import xml_bytes
from fabopt.output.sheet.model import Box, DrawnSheet, Stroke
from fabopt.output.sheet.pages import TitleBlock, sheets
from fabopt.output.words import printable

FILE = "topology.drawio"
# draw.io has 100 pixels to the inch.
_PIXELS = 100 / 25.4
_HOLDERS, _LINKS, _WORDS = "holders", "links", "words"


def files_of(asked: Exported) -> Files:
    """Return ``topology.drawio``: what ``--to drawing`` draws, each box and bundle of links as a thing to move."""
    titles = TitleBlock(asked.options.date, asked.options.revision)
    return {FILE: drawio_bytes(sheets(asked.design, asked.wiring, titles))}


def drawio_bytes(pages: Sequence[DrawnSheet]) -> bytes:
    """Return sheets as an mxfile. Boxes hide the ends of links, which are in a layer below them."""
    file = Element("mxfile", host="fabopt")
    for number, sheet in enumerate(pages, start=1):
        diagram = SubElement(file, "diagram", id=f"page-{number}", name=printable(sheet.title))
        size = {"pageWidth": _pixels(sheet.width), "pageHeight": _pixels(sheet.height)}
        model = SubElement(diagram, "mxGraphModel", {"grid": "1", "page": "1", "connect": "1", **size})
        _draw(SubElement(model, "root"), sheet)
    return xml_bytes(file)


def _draw(root: Element, sheet: DrawnSheet) -> None:
    SubElement(root, "mxCell", id="0")
    for name in (_HOLDERS, _LINKS, *dict.fromkeys(box.layer for box in sheet.boxes), _WORDS):
        SubElement(root, "mxCell", {"id": f"layer-{name}", "value": name, "parent": "0"})
    for number, box in enumerate(sheet.holders):
        _vertex(root, f"holder-{number}", _HOLDERS, "", _look(box), (box.x, box.y, box.width, box.height))
    for number, line in enumerate(sheet.lines):
        _edge(root, number, line, sheet.boxes)
    for box in sheet.boxes:
        lines = (f"<b>{_html(text.words)}</b>" if text.bold else _html(text.words) for text in box.texts)
        size = f"fontSize={_pixels(box.texts[-1].size) if box.texts else 10};fontColor={box.edge};"
        place = box.x, box.y, box.width, box.height
        _vertex(root, f"box-{box.node}", box.layer, "<br>".join(lines), _look(box) + size, place)
    for number, text in enumerate(sheet.texts):
        bold = f"fontStyle={int(text.bold)};align={'center' if text.anchor == 'middle' else 'left'};"
        ground = f"strokeColor=none;fillColor={text.ground or 'none'};"
        style = f"text;html=1;spacing=0;fontSize={_pixels(text.size)};fontColor={text.fill};{bold}{ground}"
        place = text.left, text.y - text.size, text.width, text.size * 1.2
        _vertex(root, f"words-{number}", _WORDS, _html(text.words), style, place)


def _look(box: Box) -> str:
    dashed = f"dashed={int(box.dashed)};shadow={int(box.stacked)};"
    return f"rounded=0;whiteSpace=wrap;html=1;fillColor={box.fill};strokeColor={box.edge};{dashed}"


def _vertex(
    root: Element, name: str, layer: str, value: str, style: str, place: tuple[float, float, float, float]
) -> None:
    cell = {"id": name, "value": value, "style": style, "vertex": "1", "parent": f"layer-{layer}"}
    sizes = dict(zip(("x", "y", "width", "height"), map(_pixels, place), strict=True))
    SubElement(SubElement(root, "mxCell", cell), "mxGeometry", {**sizes, "as": "geometry"})


def _edge(root: Element, number: int, line: Stroke, boxes: Sequence[Box]) -> None:
    style = f"endArrow=none;html=1;strokeColor={line.colour};strokeWidth={line.width * _PIXELS:.1f};"
    cell = {"id": f"edge-{number}", "edge": "1", "parent": f"layer-{_LINKS}"}
    ends = zip(
        (line.a, line.b), (line.points[0], line.points[-1]), ("source", "target"), ("exit", "entry"), strict=True
    )
    for node, (x, y), end, way in ends:
        if node >= 0:
            box = boxes[node]
            cell[end] = f"box-{node}"
            style += f"{way}X={(x - box.x) / box.width:.3f};{way}Y={(y - box.y) / box.height:.3f};{way}Dx=0;{way}Dy=0;"
    cell["style"] = f"{style}dashed={int(line.dashed)};"
    geometry = SubElement(SubElement(root, "mxCell", cell), "mxGeometry", {"relative": "1", "as": "geometry"})
    for (x, y), end in ((line.points[0], "sourcePoint"), (line.points[-1], "targetPoint")):
        SubElement(geometry, "mxPoint", {"x": _pixels(x), "y": _pixels(y), "as": end})
    if line.points[1:-1]:
        between = SubElement(geometry, "Array", {"as": "points"})
        for x, y in line.points[1:-1]:
            SubElement(between, "mxPoint", x=_pixels(x), y=_pixels(y))


def _pixels(millimetres: float) -> str:
    return f"{millimetres * _PIXELS:.1f}"


def _html(text: str) -> str:
    """Return text for a label, which draw.io reads as HTML."""
    return escape(printable(text))
