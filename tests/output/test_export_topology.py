"""Drawings of the topology, opened by their readers: networkx, graphviz and an XML parser."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from fabopt.output.export.dot import cable_lines, topology_lines
from fabopt.output.export.drawio import drawio_bytes
from fabopt.output.export.formats import Options, export
from fabopt.output.export.graphml import graphml_bytes
from fabopt.output.export.topology import MOST_NODES, Graph, topology
from fabopt.output.sheet.model import DrawnSheet
from fabopt.output.sheet.pages import TitleBlock, sheets
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.samples import export_samples, verify_fixtures
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.shipped import shipped

NAMES = ("plain", "splitters", "attachments", "two fabrics", "one tier", "three_tiers")
# What XML, HTML and Graphviz each read in their own way.
HOSTILE = 'a "b" \\ <b>&c; \\n'
LINK = re.compile(r'  "([^"]*)":"([^"]*)" -- "([^"]*)":"([^"]*)";')
needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")


def made(name: str) -> tuple[Design, Wiring]:
    if name in verify_fixtures.DESIGNS:
        design = verify_fixtures.read(verify_fixtures.DESIGNS[name]())
    else:
        design = export_samples.solved(name)
    return design, wiring_of(design)


def hostile() -> tuple[Design, Wiring]:
    design, wiring = made("plain")
    names = [HOSTILE, *wiring.devices.name[1:]]
    return design, replace(wiring, devices=replace(wiring.devices, name=names))


def hostile_switch() -> tuple[Design, Wiring]:
    """The same name at the first switch, which the drawing names."""
    design, wiring = made("plain")
    first = wiring.devices.role.index("leaf")
    names = [HOSTILE if row == first else name for row, name in enumerate(wiring.devices.name)]
    return design, replace(wiring, devices=replace(wiring.devices, name=names))


def read_graphml(graph: Graph, folder: Path) -> nx.MultiGraph:
    path = folder / "graph.graphml"
    path.write_bytes(graphml_bytes(graph))
    return nx.MultiGraph(nx.read_graphml(path))


def graphviz(lines: list[str]) -> str:
    """A drawing as graphviz understands it, node by node; fails where it does not, or where it is too wide."""
    done = subprocess.run(["dot", "-Tplain"], input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    width, height = map(float, done.stdout.split(maxsplit=4)[2:4])
    assert width <= 3 * height
    return done.stdout


def cells(drawn: list[DrawnSheet]) -> list[dict[str, ElementTree.Element]]:
    """The cells of each page of a drawing, by id."""
    root = ElementTree.fromstring(drawio_bytes(drawn))
    assert (root.tag, {page.tag for page in root}) == ("mxfile", {"diagram"})
    found = [page.findall("./mxGraphModel/root/mxCell") for page in root]
    assert all(len({cell.attrib["id"] for cell in own}) == len(own) for own in found)
    return [{cell.attrib["id"]: cell for cell in own} for own in found]


# -- the graph ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [MOST_NODES, 10, 1])
@pytest.mark.parametrize("name", NAMES)
def test_no_box_and_no_link_is_lost(name: str, most: int) -> None:
    design, wiring = made(name)
    graph = topology(design, wiring, most)
    assert graph.aggregated == (len(wiring.devices) > most)
    assert sum(node.boxes for node in graph.nodes) == len(wiring.devices)
    assert sum(edge.links for edge in graph.edges) == len(wiring.links)
    assert Counter(wiring.devices.role) == {
        role: sum(node.boxes for node in nodes) for role, nodes in graph.layers().items()
    }
    ids = [node.id for node in graph.nodes]
    assert len(set(ids)) == len(ids)
    assert {end for edge in graph.edges for end in (edge.a, edge.b)} <= set(ids)


def test_classes_of_three_tiers() -> None:
    # 7 servers in 4 groups of 2, each with its leaves; groups 1 and 2, 3 and 4 share a pod.
    design, wiring = made("three_tiers")
    by_group = topology(design, wiring, most=len(wiring.devices) - 1)
    assert [node.boxes for node in by_group.layers()["server"]] == [2, 2, 2, 1]
    assert len(by_group.layers()["leaf"]) == 4
    by_pod = topology(design, wiring, most=len(by_group.nodes) - 1)
    assert [node.boxes for node in by_pod.layers()["server"]] == [4, 3]
    assert len(by_pod.layers()["leaf"]) == len(by_pod.layers()["spine"]) == 2
    whole = topology(design, wiring, most=4)
    assert {role: len(nodes) for role, nodes in whole.layers().items()} == {
        "core": 1,
        "spine": 1,
        "leaf": 1,
        "server": 1,
    }
    assert whole.layers()["server"][0].title == "7 x server-0001 ... server-0007"


@pytest.mark.long
def test_large_designs_are_aggregated() -> None:
    design = shipped("pretraining-16384-gpus")
    wiring = wiring_of(design)
    graph = topology(design, wiring)
    assert graph.aggregated
    assert len(graph.nodes) <= MOST_NODES < len(wiring.devices)
    assert sum(edge.links for edge in graph.edges) == len(wiring.links)


def test_places_are_of_single_boxes() -> None:
    design, wiring = export_samples.on_floor()
    assert {node.place for node in topology(design, wiring).layers()["server"]} == {"A01 U1", "A01 U5", "A02 U1"}
    assert {node.place for node in topology(design, wiring, 1).nodes} == {""}


@pytest.mark.parametrize("name", NAMES)
def test_ports_of_a_box_have_names_of_their_own(name: str) -> None:
    _, wiring = made(name)
    ports = [*zip(wiring.links.a.tolist(), wiring.a_port, strict=True)]
    ports += zip(wiring.links.b.tolist(), wiring.b_port, strict=True)
    assert len(set(ports)) == len(ports)


# -- GraphML --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [MOST_NODES, 1])
@pytest.mark.parametrize("name", NAMES)
def test_graphml_in_networkx(name: str, most: int, tmp_path: Path) -> None:
    design, wiring = made(name)
    graph = topology(design, wiring, most)
    read = read_graphml(graph, tmp_path)
    assert nx.is_connected(read)
    assert {name: data["role"] for name, data in read.nodes(data=True)} == {node.id: node.role for node in graph.nodes}
    assert sum(data["links"] for *_, data in read.edges(data=True)) == len(wiring.links)


def test_graphml_attributes(tmp_path: Path) -> None:
    read = read_graphml(topology(*export_samples.on_floor()), tmp_path)
    assert read.nodes["server-0002"] == {
        "role": "server",
        "product": "gpu-4",
        "fabric": "",
        "boxes": 1,
        "rack": "A01",
        "unit": 5,
    }
    (edge,) = read.get_edge_data("server-0001", "compute-leaf-001").values()
    attributes = {"fabric": "compute", "gbps": 200.0, "medium": "DAC", "length_m": 3.0, "shortest_m": 3.0}
    assert attributes.items() <= edge.items()


# -- Graphviz -------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("attachments-200", "one tier-200", "plain-1", "splitters-1", "three_tiers-1", "two fabrics-1"))
@needs_graphviz
@pytest.mark.parametrize("most", [MOST_NODES, 1])
@pytest.mark.parametrize("name", NAMES)
def test_topology_in_graphviz(name: str, most: int) -> None:
    graph = topology(*made(name), most)
    drawn = [line.split(" ", 1)[0] for line in graphviz(list(topology_lines(graph))).splitlines()]
    assert (drawn.count("node"), drawn.count("edge")) == (len(graph.nodes), len(graph.edges))


@needs_graphviz
def test_cables_in_graphviz() -> None:
    _, wiring = made("splitters")
    drawn = [line.split(" ", 1)[0] for line in graphviz(list(cable_lines(wiring))).splitlines()]
    assert (drawn.count("node"), drawn.count("edge")) == (len(wiring.devices), len(wiring.links))


@pytest.mark.long("four-fabrics-1024-gpus", "hall-1024-gpus")
@needs_graphviz
@pytest.mark.parametrize("kind", [*MAKERS, "hall-1024-gpus", "four-fabrics-1024-gpus"])
def test_graphviz_files_can_be_looked_at(kind: str, tmp_path: Path) -> None:
    """Neither warnings nor drawings that are much wider than high, of every family."""
    design = designed(kind) if kind in MAKERS else shipped(kind)
    for path in export_samples.exported(design, tmp_path, "dot").values():
        graphviz(path.read_text().splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_every_link_is_in_cables_dot(name: str) -> None:
    _, wiring = made(name)
    names, links = wiring.devices.name, wiring.links
    expected = [
        (names[b], far, names[a], near)
        for a, near, b, far in zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, strict=True)
    ]
    assert [match.groups() for match in map(LINK.fullmatch, cable_lines(wiring)) if match] == expected


def test_form_of_cables_dot() -> None:
    lines = list(cable_lines(made("splitters")[1]))
    label = 'shape=record, label="server-0001|<nic1p1> nic1p1|<nic2p1> nic2p1|<nic3p1> nic3p1|<nic4p1> nic4p1"'
    assert lines[0] == "graph network {"
    assert lines[2] == f'  "server-0001" [role="server", type=host, product="gpu-4", {label}];'
    assert '  "compute-leaf-001":"swp1s0" -- "server-0001":"nic1p1";' in lines
    assert lines[-1] == "}"


# -- draw.io --------------------------------------------------------------------------------------------------------


def pages(name: str) -> list[DrawnSheet]:
    return sheets(*made(name), TitleBlock())


@pytest.mark.parametrize("name", NAMES)
def test_drawio(name: str) -> None:
    """Every box, bundle and word of the drawing is a cell, each link between the boxes that it joins."""
    drawn = pages(name)
    for sheet, found in zip(drawn, cells(drawn), strict=True):
        assert found["0"].attrib == {"id": "0"}
        layers = {id_ for id_, cell in found.items() if cell.get("parent") == "0"}
        roles = {f"layer-{box.layer}" for box in sheet.boxes}
        assert layers == {"layer-holders", "layer-links", "layer-words", *roles}
        boxes = {id_ for id_ in found if id_.startswith("box-")}
        lines = [cell for cell in found.values() if cell.get("edge") == "1"]
        assert (len(boxes), len(lines)) == (len(sheet.boxes), len(sheet.lines))
        assert all({line.attrib[end] for end in ("source", "target") if end in line.attrib} <= boxes for line in lines)
        assert all(cell.get("parent") in layers for id_, cell in found.items() if id_ != "0" and id_ not in layers)


def test_drawio_labels() -> None:
    [found] = cells(sheets(*export_samples.on_floor(), TitleBlock()))
    values = [cell.attrib.get("value") for cell in found.values()]
    assert "<b>leaf-001</b><br>large<br>B01 U12" in values or "<b>leaf-001</b><br>small<br>B01 U12" in values
    assert "6 × 200G" in values


# -- names and files ------------------------------------------------------------------------------------------------


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    design, wiring = hostile()
    graph = topology(design, wiring)
    assert HOSTILE in read_graphml(graph, tmp_path)
    drawn = sheets(*hostile_switch(), TitleBlock())
    assert "a &quot;b&quot; \\ &lt;b&gt;&amp;c; \\n" in "".join(
        cell.get("value", "") for cell in cells(drawn)[0].values()
    )


@needs_graphviz
def test_hostile_names_in_graphviz() -> None:
    _, wiring = hostile()
    plain = graphviz(list(topology_lines(topology(*hostile()))))
    assert plain.count("\nnode ") == len(wiring.devices)
    assert graphviz(list(cable_lines(wiring))).count("\nnode ") == len(wiring.devices)


def test_files(tmp_path: Path) -> None:
    design, wiring = made("plain")
    for folder in ("one", "two"):
        export(design, wiring, ["dot", "graphml", "drawio"], tmp_path / folder, Options())
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["cables.dot", "topology.dot", "topology.drawio", "topology.graphml"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
