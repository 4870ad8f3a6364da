"""Wiring diagrams of Hedgehog: the reader of audits finds the design's devices and links in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.inspect.audit.reading import read_hand_made
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.designs_of_families import designed
from tests.samples.export_samples import CASES, solved
from tests.samples.operate import grown, planned, with_operate
from tests.samples.shipped import shipped


def written(design: Design, folder: Path, stage: int | None = None) -> list[Path]:
    return export(design, wiring_of(design), ["hedgehog"], folder, Options(stage=stage))


def read(design: Design, folder: Path, stage: int | None = None) -> tuple[Counter[Any], dict[str, str]]:
    """Links between devices, and roles of devices, over all files; a port has one link."""
    links: Counter[Any] = Counter()
    roles: dict[str, str] = {}
    for path in written(design, folder, stage):
        found = read_hand_made(str(path), "hedgehog")
        ends = [end for link in found.links for end in ((link.a, link.a_port), (link.b, link.b_port))]
        assert len(set(ends)) == len(ends)
        links.update(frozenset((link.a, link.b)) for link in found.links)
        roles |= {name: device.role for name, device in found.devices.items()}
    return links, roles


def assert_is_the_design(design: Design, folder: Path, stage: int | None = None) -> None:
    plan = planned(design, stage)
    links, roles = read(design, folder, stage)
    names = {device.row: device.name for device in plan.devices}
    assert links == Counter(frozenset((names[link.a.device], names[link.b.device])) for link in plan.links)
    known = {device.name: "server" if device.role == "attachment" else device.role for device in plan.devices}
    assert roles == known


@pytest.mark.parametrize("name", CASES)
def test_the_audit_reads_the_design_back(name: str, tmp_path: Path) -> None:
    assert_is_the_design(solved(name), tmp_path)


@pytest.mark.parametrize("stage", [0, 1])
def test_a_stage_has_its_links(stage: int, tmp_path: Path) -> None:
    assert_is_the_design(grown(), tmp_path, stage)


def test_leaves_that_are_joined_to_each_other_are_a_mesh(tmp_path: Path) -> None:
    design = designed("dragonfly")
    assert_is_the_design(design, tmp_path)
    (path,) = written(design, tmp_path)
    meshes = [one["spec"]["mesh"]["links"] for one in yaml.safe_load_all(path.read_text()) if "mesh" in one["spec"]]
    assert sum(map(len, meshes)) == sum(link.kind != "server-leaf" for link in planned(design).links)


def test_split_cages_are_breakouts(tmp_path: Path) -> None:
    """Ports of a split cage count from 1; names of objects are once in a file."""
    design = solved("splitters")
    (path,) = written(design, tmp_path)
    objects = list(yaml.safe_load_all(path.read_text()))
    names = Counter((one["kind"], one["metadata"]["name"]) for one in objects)
    assert max(names.values()) == 1
    for one in objects:
        if one["kind"] == "Switch":
            row = next(device.row for device in planned(design).devices if device.name == one["metadata"]["name"])
            split = {f"E1/{port.cage}": f"{port.lanes}x{link.gbps:g}G"
                     for port, link in planned(design).ports_at[row] if port.lanes > 1}  # fmt: skip
            assert one["spec"].get("portBreakouts", {}) == split
    links = [one["spec"]["unbundled"]["link"] for one in objects if "unbundled" in one["spec"]]
    assert links[0]["switch"]["port"].endswith("/1") and "/E1/" in links[0]["switch"]["port"]


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (lambda: shipped("dgx-superpod-32"), "Hedgehog runs Ethernet, and no switch of this design routes"),
        (lambda: designed("clos, three tiers"), "has a third tier of switches, and Hedgehog knows leaves and spines"),
        (lambda: designed("torus of servers"), "are joined to each other, and Hedgehog knows none so"),
        (
            lambda: with_operate("plain", names={"leaf": "LEAF-{number}"}),
            "are none of Kubernetes, which takes small letters; found 'LEAF-1'",
        ),
    ],
)
def test_what_a_diagram_cannot_say_is_refused(design: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        written(design(), tmp_path)
    assert message in str(refused.value)
