"""GraphML: the topology for programs that compute with graphs."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import xml_bytes
from fabopt.output.export.topology import Graph, topology
from fabopt.output.words import printable

FILE = "topology.graphml"
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
# Attributes and their GraphML types; of edges ``length_m`` is the longest cable, ``shortest_m`` the shortest.
NODE_KEYS = {"role": "string", "product": "string", "fabric": "string", "boxes": "int", "rack": "string", "unit": "int"}
EDGE_KEYS = {
    "fabric": "string",
    "links": "int",
    "gbps": "double",
    "medium": "string",
    "length_m": "double",
    "shortest_m": "double",
}


def files_of(asked: Exported) -> Files:
    """Return ``topology.graphml``: a node is a device, or a class of equal devices where there are many."""
    return {FILE: graphml_bytes(topology(asked.design, asked.wiring))}


def graphml_bytes(graph: Graph) -> bytes:
    """Return a graph as GraphML. Edges are undirected; those of one pair that are not alike are side by side."""
    root = Element("graphml", xmlns=_NAMESPACE)
    for kind, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for name, type_ in keys.items():
            SubElement(root, "key", {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type_})
    body = SubElement(root, "graph", id=printable(graph.name), edgedefault="undirected")
    for node in graph.nodes:
        _data(SubElement(body, "node", id=printable(node.id)), "node", NODE_KEYS, node)
    for edge in graph.edges:
        ends = {"source": printable(edge.a), "target": printable(edge.b)}
        _data(SubElement(body, "edge", ends), "edge", EDGE_KEYS, edge)
    return xml_bytes(root)


def _data(element: Element, kind: str, keys: dict[str, str], source: object) -> None:
    for name in keys:
        SubElement(element, "data", key=f"{kind}-{name}").text = printable(str(getattr(source, name)))
