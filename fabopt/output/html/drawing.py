"""The topology of one fabric as SVG: tiers from top to bottom, equal devices as one box, links as lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from fabopt.output.export.topology import Edge, Graph, GraphNode, topology
from fabopt.output.words import count, plain, printable
from fabopt.schema.design import Design, FabricDesign
from fabopt.units import plural, some
from fabopt.wiring.model import Wiring

# Finest first: drawn is the finest whose tiers all fit the width of the drawing.
_MOST_NODES = (60, 24, 12, 6, 1)
_WIDEST = 8
_WIDTH, _GUTTER, _GAP, _PAD = 1000.0, 270.0, 12.0, 14.0
# How high links between switches of one tier rise above them.
_ARC = 46.0
_HEIGHT, _BETWEEN, _TOP = 56.0, 96.0, 10.0
_TITLE, _SMALL, _LETTER = 13, 11, 0.53
_THINNEST, _THICKEST = 1.5, 7.0
# How far the edge of a box that is for several devices looks out behind it.
_BEHIND = 5.0
# Attachments are beside the servers: both hang on leaves.
_BOTTOM = ("server", "attachment")


@dataclass(frozen=True)
class Drawing:
    """A fabric's picture, and whether its boxes are classes of several devices."""

    svg: str
    aggregated: bool


@dataclass(frozen=True)
class _Place:
    """A node where it is drawn: the left upper corner."""

    index: int
    node: GraphNode
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def drawings(design: Design, wiring: Wiring) -> dict[str, Drawing]:
    """Return the picture of each fabric, by its name."""
    graph = _graph(design, wiring)
    return {
        fabric.name: Drawing(_Picture(graph, fabric).svg(), any(node.boxes > 1 for node in graph.nodes))
        for fabric in design.fabrics
    }


def _graph(design: Design, wiring: Wiring) -> Graph:
    for most in _MOST_NODES:
        graph = topology(design, wiring, most)
        if max(len(row) for fabric in design.fabrics for row in _rows(graph, fabric.name)) <= _WIDEST:
            break
    return graph


def _rows(graph: Graph, fabric: str) -> list[list[GraphNode]]:
    """Return the nodes of a fabric, tier by tier from the top."""
    joined = {end for edge in graph.edges if edge.fabric == fabric for end in (edge.a, edge.b)}
    rows: dict[str, list[GraphNode]] = {}
    for role, nodes in graph.layers().items():
        own = [node for node in nodes if node.id in joined or node.fabric == fabric]
        rows.setdefault("server" if role in _BOTTOM else role, []).extend(own)
    return [row for row in rows.values() if row]


class _Picture:
    """One fabric, laid out."""

    def __init__(self, graph: Graph, fabric: FabricDesign) -> None:
        self.fabric = fabric
        self.rows = _rows(graph, fabric.name)
        self.edges = [edge for edge in graph.edges if edge.fabric == fabric.name]
        top = {node.id for node in self.rows[0]}
        self._arches = any(edge.a in top and edge.b in top for edge in self.edges)
        self.places: dict[str, _Place] = {}
        for row, nodes in enumerate(self.rows):
            width = min(230.0, (_WIDTH - _GUTTER + _GAP) / len(nodes) - _GAP)
            step = (_WIDTH - _GUTTER) / len(nodes)
            for column, node in enumerate(nodes):
                x = _GUTTER + step * (column + 0.5) - width / 2
                self.places[node.id] = _Place(len(self.places), node, x, self._top(row), width)

    def _top(self, row: int) -> float:
        return _TOP + (_ARC if self._arches else 0) + row * (_HEIGHT + _BETWEEN)

    def svg(self) -> str:
        height = self._top(len(self.rows) - 1) + _HEIGHT + _PAD
        top = f", from {self._tier_name(0)} down to servers" if len(self.rows) > 1 else ": servers joined to each other"
        label = _text(f"Topology of fabric {self.fabric.name}{top}")
        head = f'<svg class="topology" viewBox="0 0 {_WIDTH:g} {height:g}" role="group" aria-label="{label}">'
        gutter = (line for row in range(len(self.rows)) for line in self._gutter(row))
        boxes = (self._box(place) for place in self.places.values())
        return "\n".join([head, *self._lines(), *gutter, *boxes, "</svg>"])

    # -- words beside the drawing -----------------------------------------------------------------------------------

    def _tier_name(self, row: int) -> str:
        roles = dict.fromkeys(node.role for node in self.rows[row])
        return " and ".join(map(plural, roles))

    def _gutter(self, row: int) -> Iterator[str]:
        nodes, top = self.rows[row], self._top(row)
        devices = sum(node.boxes for node in nodes if node.role != "attachment")
        name = self._tier_name(row)
        yield _words(
            0, top + 22, f"1 {nodes[0].role}" if devices == len(nodes) == 1 else f"{count(devices)} {name}", "tier"
        )
        products = dict.fromkeys(node.product for node in nodes if node.role != "attachment")
        yield _words(0, top + 41, _fitting(", ".join(products), _GUTTER - 20, _SMALL), "note")
        if row + 1 < len(self.rows):
            y = top + _HEIGHT + _BETWEEN / 2 - 2
            for line, words in enumerate(self._between(row)):
                yield _words(0, y + 16 * line, words, "note")

    def _between(self, row: int) -> Iterator[str]:
        """Yield the lines on links between a tier and the tier below: count by speed, Tb/s, oversubscription."""
        upper = {node.id for node in self.rows[row]}
        lower = {node.id for node in self.rows[row + 1]}
        links: dict[float, int] = defaultdict(int)
        for edge in self.edges:
            if edge.b in upper and edge.a in lower:
                links[edge.gbps] += edge.links
        yield " + ".join(f"{count(number)} × {plain(gbps)}G" for gbps, number in links.items()) + " links"
        carried = sum(number * gbps for gbps, number in links.items()) / 1000
        role = self.rows[row + 1][0].role
        ratio = self.fabric.oversubscription.get(role)
        yield f"{plain(carried)} Tb/s" + ("" if ratio is None else f", oversubscription {plain(ratio)}:1")

    # -- boxes and lines ----------------------------------------------------------------------------------------------

    def _box(self, place: _Place) -> str:
        node, details = place.node, _text(self._details(place.node))
        shape = f'width="{place.width:.1f}" height="{_HEIGHT:g}" rx="5"'
        behind = f'<rect class="behind" x="{_BEHIND:g}" y="{_BEHIND:g}" {shape}/>' if node.boxes > 1 else ""
        amount = some(node.boxes, node.role)
        title = node.product if node.role == "attachment" else amount
        texts = [(24, title, "title", _TITLE), (42, self._range(node, place.width - 12), "range", _SMALL)]
        lines = (_words(8, y, _fitting(words, place.width - 12, size), look) for y, words, look, size in texts)
        place_ = f'transform="translate({place.x:.1f} {place.y:g})" data-node="{place.index}"'
        return (
            f'<g class="box {node.role}" tabindex="0" role="img" aria-label="{details}" {place_}>'
            f"{behind}<rect {shape}/>{''.join(lines)}</g>"
        )

    def _range(self, node: GraphNode, width: float) -> str:
        """``leaf-001–008``: the first name without its fabric, and the last one's number; numbers alone if space is
        short.
        """
        first, _, last = node.id.partition(" ... ")
        first = first.removeprefix(f"{self.fabric.name}-")
        whole = f"{first}–{last.rpartition('-')[2]}" if last else first
        return whole if _fitting(whole, width, _SMALL) == whole else whole.rpartition("-")[2]

    def _details(self, node: GraphNode) -> str:
        name = node.id.replace(" ... ", " to ")
        parts = [f"{some(node.boxes, node.role)}: {name}, {node.product}"]
        for edge in self.edges:
            if node.id in (edge.a, edge.b):
                other = edge.b if node.id == edge.a else edge.a
                parts.append(f"{edge.label}{_lengths(edge)} to {other.replace(' ... ', ' to ')}")
        return "; ".join(parts)

    def _lines(self) -> Iterator[str]:
        """Yield a line for each two nodes with links, its thickness in proportion to their Gb/s."""
        carried: dict[tuple[str, str], float] = defaultdict(float)
        for edge in self.edges:
            carried[edge.a, edge.b] += edge.links * edge.gbps
        most = max(carried.values(), default=1.0)
        for (a, b), gbps in carried.items():
            low, high = self.places[a], self.places[b]
            thick = _THINNEST + (_THICKEST - _THINNEST) * gbps / most
            if low.y == high.y:
                yield _arch(low, high, thick)
                continue
            foot = high.y + _HEIGHT + (_BEHIND if high.node.boxes > 1 else 0)
            ends = f'x1="{low.middle:.1f}" y1="{low.y:g}" x2="{high.middle:.1f}" y2="{foot:g}"'
            yield f'<line {ends} stroke-width="{thick:.1f}" data-a="{low.index}" data-b="{high.index}"/>'


def _arch(place: _Place, other: _Place, thick: float) -> str:
    """A line above two nodes of one row, or from a node round to itself."""
    spread = place.width / 4 if place is other else 0.0
    left, right = place.middle - spread, other.middle + spread
    path = f"M{left:.1f} {place.y:g} Q{(left + right) / 2:.1f} {place.y - 2 * _ARC + 10:g} {right:.1f} {place.y:g}"
    return (
        f'<path class="arch" d="{path}" fill="none" stroke-width="{thick:.1f}" '
        f'data-a="{place.index}" data-b="{other.index}"/>'
    )


def _lengths(edge: Edge) -> str:
    if not edge.length_m:
        return ""
    if edge.shortest_m == edge.length_m:
        return f" {plain(edge.length_m)} m"
    return f" {plain(edge.shortest_m)} to {plain(edge.length_m)} m"


def _words(x: float, y: float, words: str, look: str) -> str:
    return f'<text class="{look}" x="{x:g}" y="{y:g}">{_text(words)}</text>'


def _fitting(words: str, width: float, size: int) -> str:
    most = max(1, int(width / (size * _LETTER)))
    return words if len(words) <= most else words[: most - 1] + "…"


def _text(words: str) -> str:
    return escape(printable(words))
