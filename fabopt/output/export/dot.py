"""Graphviz: the topology as a drawing, and every link with its ports as programs that validate cabling read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabopt.output.export.ends import HOSTS, natural
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.topology import Edge, Graph, GraphNode, topology
from fabopt.output.words import printable
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

TOPOLOGY, CABLES = "topology.dot", "cables.dot"
# From fine to coarse: drawn is the finest that has so few in each tier.
_MOST_NODES, _WIDEST = (200, 60, 24, 12), 12
# Fewer devices than this with all their ports are not high.
_FEW = 20
_FILLS = {
    "core": "#f8cecc",
    "spine": "#e1d5e7",
    "leaf": "#dae8fc",
    "server": "#d5e8d4",
    "attachment": "#f5f5f5",
}


def files_of(asked: Exported) -> Files:
    """Return ``topology.dot`` (classes of devices where there are many) and ``cables.dot`` (every link)."""
    return {TOPOLOGY: topology_lines(_narrow(asked.design, asked.wiring)), CABLES: cable_lines(asked.wiring)}


def _narrow(design: Design, wiring: Wiring) -> Graph:
    """The finest topology whose tiers are narrow enough to be looked at."""
    graphs = (topology(design, wiring, most) for most in (*_MOST_NODES, 1))
    return next(graph for graph in graphs if len(graph.nodes) <= _MOST_NODES[-1] or _widest(graph) <= _WIDEST)


def _widest(graph: Graph) -> int:
    """Nodes of the widest tier, those left out that are joined to each other and so not held beside each other."""
    among = _among(graph)
    return max((len(nodes) for name, nodes in graph.layers().items() if name not in among), default=0)


def _among(graph: Graph) -> set[str]:
    """Tiers with links between their own nodes."""
    role = {node.id: node.role for node in graph.nodes}
    return {role[edge.a] for edge in graph.edges if role[edge.a] == role[edge.b] and edge.a != edge.b}


def topology_lines(graph: Graph) -> Iterator[str]:
    """Yield the drawing, tier by tier from the top, at most two and a half times as wide as high.

    Devices of a tier that are joined to each other are not held beside each other.
    """
    among = _among(graph)
    ratio = ", ratio=0.45" if among or _widest(graph) > len(graph.layers()) else ""
    yield f"graph {quoted(graph.name)} {{"
    yield f"  graph [rankdir=TB, ranksep=2, nodesep=0.2{ratio}];"
    yield '  node [shape=box, style=filled, fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=8];'
    for name, nodes in graph.layers().items():
        yield f"  subgraph {quoted(f'tier {name}')} {{"
        if name not in among:
            yield "    rank=same;"
        yield from (f"    {_node(node)};" for node in nodes)
        yield "  }"
    yield from (f"  {_edge(edge)};" for edge in graph.edges)
    yield "}"


def _node(node: GraphNode) -> str:
    about = [node.title, node.product, node.place]
    label = "\\n".join(_escaped(line) for line in about if line)
    return (
        f'{quoted(node.id)} [label="{label}", role={quoted(node.role)}, boxes={node.boxes}, '
        f"fillcolor={quoted(_FILLS[node.role])}]"
    )


def _edge(edge: Edge) -> str:
    # Graphviz hangs the first node above the second.
    return f"{quoted(edge.b)} -- {quoted(edge.a)} [label={quoted(edge.label)}, links={edge.links}]"


def cable_lines(wiring: Wiring) -> Iterator[str]:
    """Yield every device and every link, ``"leaf":"port" -- "host":"port"``."""
    devices, links = wiring.devices, wiring.links
    names = [quoted(name) for name in devices.name]
    ports: list[dict[str, None]] = [{} for _ in names]
    for end, own in ((links.a, wiring.a_port), (links.b, wiring.b_port)):
        for row, port in zip(end.tolist(), own, strict=True):
            ports[row][port] = None
    yield "graph network {"
    roles = devices.role
    is_flat = len(devices) < _FEW or any(
        roles[a] == roles[b] for a, b in zip(links.a.tolist(), links.b.tolist(), strict=True)
    )
    yield f"  graph [rankdir=LR, ranksep=1.5, splines=line{', ratio=0.5' if is_flat else ''}];"
    for row, (name, role, product) in enumerate(zip(names, devices.role, devices.product, strict=True)):
        kind = "host" if role in HOSTS else "switch"
        fields = "|".join(
            [_field(devices.name[row]), *(f"<{port}> {port}" for port in sorted(ports[row], key=natural))]
        )
        label = f"shape=record, label={quoted(fields)}"
        yield f"  {name} [role={quoted(role)}, type={kind}, product={quoted(product)}, {label}];"
    ends = links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port
    for a, near, b, far in zip(*ends, strict=True):
        yield f"  {names[b]}:{quoted(far)} -- {names[a]}:{quoted(near)};"
    yield "}"


def _field(text: str) -> str:
    """Return text as a field of a record."""
    return re.sub(r"[\\{}|<>]", "?", printable(text))


def quoted(text: str) -> str:
    """Return text as DOT has it, between quotation marks."""
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Return text as it is between quotation marks; a backslash would begin an escape of labels."""
    return " ".join(printable(text).split()).replace("\\", "\\\\").replace('"', '\\"')
