"""Graphviz: the topology as a drawing, and every link with its ports as programs that validate cabling read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fabopt.output.export.ends import HOSTS
from fabopt.output.export.formats import Options
from fabopt.output.export.topology import Edge, Graph, GraphNode, topology
from fabopt.output.words import printable
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

TOPOLOGY, CABLES = "topology.dot", "cables.dot"
_FILLS = {
    "core": "#f8cecc",
    "spine": "#e1d5e7",
    "leaf": "#dae8fc",
    "server": "#d5e8d4",
    "attachment": "#f5f5f5",
}


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``topology.dot`` (classes of devices where there are many) and ``cables.dot`` (every link)."""
    written = []
    for name, lines in ((TOPOLOGY, topology_lines(topology(design, wiring))), (CABLES, cable_lines(wiring))):
        path = folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        written.append(path)
    return written


def topology_lines(graph: Graph) -> Iterator[str]:
    """Yield the drawing, tier by tier from the top."""
    yield f"graph {quoted(graph.name)} {{"
    yield "  graph [rankdir=TB, ranksep=2, nodesep=0.2];"
    yield '  node [shape=box, style=filled, fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=8];'
    for role, nodes in graph.layers().items():
        yield f"  subgraph {quoted(f'tier {role}')} {{"
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
    yield "graph network {"
    for name, role, product in zip(names, devices.role, devices.product, strict=True):
        kind = "host" if role in HOSTS else "switch"
        yield f"  {name} [role={quoted(role)}, type={kind}, product={quoted(product)}];"
    ends = links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port
    for a, near, b, far in zip(*ends, strict=True):
        yield f"  {names[b]}:{quoted(far)} -- {names[a]}:{quoted(near)};"
    yield "}"


def quoted(text: str) -> str:
    """Return text as DOT has it, between quotation marks."""
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Return text as it is between quotation marks; a backslash would begin an escape of labels."""
    return " ".join(printable(text).split()).replace("\\", "\\\\").replace('"', '\\"')
