"""Topology files: read by the programs that they are for, which find the design's links, and a fault where one is."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.inspect.audit.reading import read_hand_made
from fabopt.output.export.formats import Options, export
from fabopt.output.export.topo import topo_lines
from fabopt.schema.design import Design
from fabopt.schema.expected import ExpectedTopology
from fabopt.wiring.build import wiring_of
from tests.operate.test_opensm import histogram, infiniband, routed, subnets
from tests.samples.designs_of_families import MAKERS
from tests.samples.export_samples import CASES, solved
from tests.samples.ibtopodiff import compared
from tests.samples.operate import grown, planned, with_operate
from tests.samples.shipped import shipped
from tests.samples.system_parts import require


def written(design: Design, folder: Path, stage: int | None = None) -> dict[str, Path]:
    paths = export(design, wiring_of(design), ["topo"], folder, Options(stage=stage))
    return {str(path.relative_to(folder / "topo")): path for path in paths}


@pytest.mark.long
def test_ibtopodiff_finds_the_design_and_a_swap(tmp_path: Path) -> None:
    """256 GPUs: 512 links have 1,024 ports. Two servers that change places at a leaf are four ports at wrong nodes."""
    design = shipped("dgx-superpod-32")
    files = written(design, tmp_path)
    export(design, wiring_of(design), ["opensm"], tmp_path, Options())
    routed(tmp_path / "opensm")
    subnet, topo = tmp_path / "opensm" / "opensm-subnet.lst", files["compute.topo"]
    said = compared(tmp_path, topo, subnet)
    assert "Matched 8 leaf switches" in said and "Total of 1024 ports match the provided topology" in said
    assert "should be connected to" not in said and "Missing cable" not in said
    at_first, at_second = "P1 -> DGXH100 server-{} P1", "P2 -> DGXH100 server-{} P1"
    text = topo.read_text()
    assert at_first.format("0001") in text and at_second.format("0002") in text
    text = text.replace(at_first.format("0001"), at_first.format("0002"))
    topo.write_text(text.replace(at_second.format("0002"), at_second.format("0001")))
    assert "Total of 4 connections from matched nodes to the wrong nodes" in compared(tmp_path, topo, subnet)


def test_ibdmchk_routes_the_design_before_it_is_built(tmp_path: Path) -> None:
    """The same pairs at one and at three switches as OpenSM then has; see ``test_opensm``."""
    files = written(shipped("dgx-superpod-32"), tmp_path)
    require(["ibdmchk"])
    own = {**os.environ, "IBDM_IBNL_PATH": str(files["compute.topo"].parent / "ibnl")}
    words = ["ibdmchk", "-t", str(files["compute.topo"]), "-n", "server-0001/U1", "-p", "1"]
    said = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False).stdout
    assert histogram(said, "HOPS NUM-CA-CA-PAIRS") == {2: 7936, 4: 57344}
    assert "no credit loops found" in said


def links_of(path: Path) -> Counter[frozenset[tuple[str, str]]]:
    """Links of an expected topology, each as often as it is listed."""
    file = ExpectedTopology.model_validate_json(path.read_text())
    return Counter(
        frozenset(((row.device, row.interface), (row.peer.device, row.peer.interface))) for row in file.interfaces
    )


@pytest.mark.parametrize("name", CASES)
def test_every_link_is_expected_from_both_ends(name: str, tmp_path: Path) -> None:
    design = solved(name)
    found = links_of(written(design, tmp_path)["expected-topology.json"])
    plan = planned(design)
    names = {device.row: device.name for device in plan.devices}
    links = [frozenset((names[end.device], end.name) for end in (link.a, link.b)) for link in plan.links]
    assert found == dict.fromkeys(links, 2) and len(found) == len(wiring_of(design).links)


def test_a_row_says_what_the_plan_does(tmp_path: Path) -> None:
    design = with_operate("plain", site="ams1", names={"server": "{site}-h{number:03d}"})
    rows = json.loads(written(design, tmp_path)["expected-topology.json"].read_text())["interfaces"]
    row = next(row for row in rows if row["device"] == "ams1-h002")
    link = next(link for link in planned(design).links if link.a.device == 1)
    assert row["cable"] == {"label": link.cable, "medium": link.medium, "length_m": link.length_m}
    assert row["speed_gbps"] == link.gbps and row["role"] == "server" and row["rail"] == 1
    assert row["peer"] == {"device": "compute-leaf-001", "interface": link.b.name}


def test_a_stage_expects_what_is_there_then(tmp_path: Path) -> None:
    early, late = (links_of(written(grown(), tmp_path, stage)["expected-topology.json"]) for stage in (0, 1))
    assert len(early) == len(planned(grown(), 0).links) < len(late)


@pytest.mark.long("attachments", "hyperx", "logical", "model", "uncertain growth")
@pytest.mark.parametrize("kind", MAKERS)
def test_every_link_of_infiniband_is_in_one_section(kind: str) -> None:
    """Of every family, as if it were InfiniBand; servers that are joined to each other have no subnet."""
    design = infiniband(kind)
    try:
        parts = subnets(kind)
    except InputError:
        assert not any(fabric.structure.has_switches for fabric in design.fabrics)
        return
    plan = planned(design)
    lines = [line for subnet in parts for line in topo_lines(design, plan, subnet)]
    names = {fabric.name for fabric in design.fabrics if fabric.protocol == "infiniband"}
    assert sum("->" in line for line in lines) == sum(link.fabric in names for link in plan.links)


def test_ptm_reads_the_links_of_ethernet(tmp_path: Path) -> None:
    """The reader of audits takes the file for what it is: as many links, between the plan's names."""
    design = solved("plain")
    drawn = read_hand_made(str(written(design, tmp_path)["topology.dot"]), "dot")
    ends = {(link.a, link.a_port, link.b, link.b_port) for link in drawn.links}
    plan = planned(design)
    at = plan.device_at
    assert ends == {(at[link.b.device].name, link.b.name, at[link.a.device].name, link.a.name) for link in plan.links}


def test_ufm_is_told_names_of_adapters_that_are_known(tmp_path: Path) -> None:
    design = infiniband("clos, one tier")
    files = written(design, tmp_path)
    assert "hca-mapping.csv" not in files
    assert files["point-to-point.csv"].read_text().splitlines()[1].split(",")[:3] == ["server-0001", "Host", "1"]
    ports = len([link for link in planned(design).links if link.a.device == 0])
    content = {**design.case.content, "operate": {"hcas": {"compute": [f"mlx5_{n}" for n in range(ports)]}}}
    named = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    text = written(named, tmp_path / "named")["hca-mapping.csv"].read_text().splitlines()
    assert text == ["port,hca-name", *(f"{n + 1},mlx5_{n}" for n in range(ports))]
