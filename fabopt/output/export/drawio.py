"""draw.io (diagrams.net): the topology as an uncompressed drawing, one layer a tier."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from fabopt.output.export.formats import Options
from fabopt.output.export.topology import Graph, GraphNode, topology
from fabopt.output.words import printable
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

FILE = "topology.drawio"
# Pixels, and the most devices of a tier side by side.
_WIDTH, _HEIGHT, _GAP, _TIER_GAP, _PER_ROW = 170, 60, 20, 160, 32
_COLOURS = {
    "core": ("#f8cecc", "#b85450"),
    "spine": ("#e1d5e7", "#9673a6"),
    "leaf": ("#dae8fc", "#6c8ebf"),
    "server": ("#d5e8d4", "#82b366"),
    "attachment": ("#f5f5f5", "#666666"),
}
_LINKS = "links"


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``topology.drawio``: a box of the drawing is a device, or a class of equal devices where there are many."""
    path = folder / FILE
    path.write_bytes(drawio_bytes(topology(design, wiring)))
    return [path]


def drawio_bytes(graph: Graph) -> bytes:
    """Return a graph as an mxfile. Links are the lowest layer, so that boxes hide their ends."""
    file = Element("mxfile", host="fabopt")
    diagram = SubElement(file, "diagram", id="topology", name=printable(graph.name))
    root = SubElement(SubElement(diagram, "mxGraphModel", grid="1", page="0", connect="1"), "root")
    SubElement(root, "mxCell", id="0")
    layers = graph.layers()
    for name in (_LINKS, *layers):
        SubElement(root, "mxCell", {"id": f"layer-{name}", "value": name, "parent": "0"})
    _draw_edges(root, graph)
    top = 0
    for nodes in layers.values():
        for index, node in enumerate(nodes):
            _draw_node(root, node, *_corner(index, len(nodes), top))
        top += -(-len(nodes) // _PER_ROW) * (_HEIGHT + _GAP) + _TIER_GAP
    indent(file)
    stream = io.BytesIO()
    ElementTree(file).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue() + b"\n"


def _corner(index: int, of: int, top: int) -> tuple[int, int]:
    """Return the upper left corner of a box: rows of boxes, each in the middle of the drawing."""
    row, column = divmod(index, _PER_ROW)
    in_row = min(_PER_ROW, of - row * _PER_ROW)
    return round((column - in_row / 2) * (_WIDTH + _GAP)), top + row * (_HEIGHT + _GAP)


def _draw_node(root: Element, node: GraphNode, x: int, y: int) -> None:
    fill, stroke = _COLOURS[node.role]
    lines = [f"<b>{_html(node.title)}</b>", _html(node.product), _html(node.place)]
    style = f"rounded=1;whiteSpace=wrap;html=1;fillColor={fill};strokeColor={stroke};fontSize=10;"
    cell = {"id": _cell_id(node.id), "value": "<br>".join(line for line in lines if line), "style": style}
    cell |= {"vertex": "1", "parent": f"layer-{node.role}"}
    size = {"x": str(x), "y": str(y), "width": str(_WIDTH), "height": str(_HEIGHT), "as": "geometry"}
    SubElement(SubElement(root, "mxCell", cell), "mxGeometry", size)


def _draw_edges(root: Element, graph: Graph) -> None:
    for number, edge in enumerate(graph.edges, start=1):
        style = "endArrow=none;html=1;strokeColor=#999999;fontSize=9;"
        cell = {"id": f"edge-{number}", "value": _html(edge.label), "style": style, "edge": "1"}
        cell |= {"parent": f"layer-{_LINKS}", "source": _cell_id(edge.b), "target": _cell_id(edge.a)}
        SubElement(SubElement(root, "mxCell", cell), "mxGeometry", {"relative": "1", "as": "geometry"})


def _cell_id(node: str) -> str:
    return f"box-{printable(node)}"


def _html(text: str) -> str:
    """Return text for a label, which draw.io reads as HTML."""
    return escape(printable(text))
