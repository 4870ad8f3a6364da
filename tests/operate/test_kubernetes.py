"""Kueue's topology and the labels of nodes: the rules of its definition, and the design's groups."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.paths import ROOT
from tests.samples import small
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.export_samples import CASES, solved
from tests.samples.operate import planned, with_operate
from tests.samples.shipped import shipped

# Of Kueue's definition of `Topology`, v1beta1 and v1beta2; of labels, Kubernetes' own rules.
LEVEL = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
)
VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
MOST_LEVELS, LONGEST = 16, 316
HOST = "kubernetes.io/hostname"
# In the place of the program, as a process for each node takes longer than all else here.
KUBECTL = 'kubectl() { printf "%s\\n" "$*" >> "$CALLS"; }; . "$0"'


def written(design: Design, folder: Path, stage: int | None = None) -> tuple[list[Any], dict[str, dict[str, str]]]:
    """The objects, and the labels of every node, as a shell hands them to ``kubectl``."""
    objects, script = export(design, wiring_of(design), ["kubernetes"], folder, Options(stage=stage))
    own = {**os.environ, "CALLS": str(folder / "calls")}
    subprocess.run(["sh", "-c", KUBECTL, str(script)], env=own, check=True)
    labels = {}
    for line in (folder / "calls").read_text().splitlines():
        verb, overwrite, kind, node, *pairs = line.split(" ")
        assert (verb, overwrite, kind) == ("label", "--overwrite", "node") and node not in labels
        labels[node] = dict(pair.split("=") for pair in pairs)
    return list(yaml.safe_load_all(objects.read_text())), labels


def levels_of(topology: Any) -> list[str]:
    """The levels of an object that keeps the rules of its definition."""
    assert topology["apiVersion"] == "kueue.x-k8s.io/v1beta1" and topology["kind"] == "Topology"
    assert set(topology) == {"apiVersion", "kind", "metadata", "spec"} and set(topology["spec"]) == {"levels"}
    assert all(set(level) == {"nodeLabel"} for level in topology["spec"]["levels"])
    levels = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert 1 <= len(levels) <= MOST_LEVELS and len(set(levels)) == len(levels)
    assert all(LEVEL.fullmatch(level) and len(level) <= LONGEST for level in levels)
    assert HOST not in levels[:-1]
    return levels


@pytest.mark.parametrize("name", [*CASES, *MAKERS])
def test_levels_keep_the_rules_and_every_node_has_them(name: str, tmp_path: Path) -> None:
    """A value of a level is below one value of the level above."""
    design = solved(name) if name in CASES else designed(name)
    objects, labels = written(design, tmp_path)
    assert set(labels) == {server.name for server in planned(design).servers}
    for topology in objects:
        *levels, host = levels_of(topology)
        assert host == HOST
        above: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for own in labels.values():
            path = tuple(own[level] for level in levels)
            assert all(VALUE.fullmatch(value) for value in path)
            for depth, value in enumerate(path):
                above[levels[depth] + value].add(path[:depth])
        assert all(len(paths) == 1 for paths in above.values())


def test_groups_are_the_designs(tmp_path: Path) -> None:
    """128 servers in four groups of 32; two of them at the second stage."""
    design = shipped("h100-growth-128")
    for stage, groups in ((None, 4), (1, 2)):
        (topology,), labels = written(design, tmp_path / str(stage), stage)
        assert levels_of(topology) == ["fabric.topograph.run/tier-0", HOST]
        sizes = Counter(own["fabric.topograph.run/tier-0"] for own in labels.values())
        assert sizes == {f"compute-g{number:03d}": 32 for number in range(1, groups + 1)}


def test_each_fabric_has_a_tree_of_its_own(tmp_path: Path) -> None:
    """Both are compute fabrics of the small sample: the second has labels apart from the first's."""
    (compute, storage), labels = written(solved("two fabrics"), tmp_path)
    assert levels_of(compute) == ["fabric.topograph.run/tier-0", HOST]
    assert levels_of(storage) == ["storage.fabric/tier-0", HOST]
    assert labels["server-0001"]["storage.fabric/tier-0"] == "storage-g001"


def test_domains_of_nvlink_are_a_level_where_they_are_in_one_group(tmp_path: Path) -> None:
    parts = small.catalog()
    small.product(parts, "gpu-4")["scale_up"] = {"domain_gpus": 8, "gbps_per_gpu": 3600}
    (topology,), labels = written(small.solved(small.case(servers=4), parts), tmp_path)
    assert levels_of(topology)[-2:] == ["accelerator.topograph.run/domain", HOST]
    domains = [labels[f"server-{number:04d}"]["accelerator.topograph.run/domain"] for number in range(1, 5)]
    assert domains == ["domain-001", "domain-001", "domain-002", "domain-002"]


def test_nodes_are_called_as_the_kubelet_does(tmp_path: Path) -> None:
    _, labels = written(with_operate("plain", names={"server": "GPU-{number:02d}"}), tmp_path)
    assert list(labels) == ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]


@pytest.mark.parametrize("name", ["kubernetes", "slurm"])
def test_a_design_without_fabrics_of_jobs_is_refused(name: str, tmp_path: Path) -> None:
    design = solved("plain")
    wiring = wiring_of(design)
    fabrics = tuple(fabric.model_copy(update={"role": "in-band"}) for fabric in design.fabrics)
    with pytest.raises(InputError, match=r"compute and storage, and this design has none \(compute: in-band\)"):
        export(design.model_copy(update={"fabrics": fabrics}), wiring, [name], tmp_path, Options())


def test_the_page_shows_the_file(tmp_path: Path) -> None:
    (path, _) = export(
        shipped("dgx-superpod-32"), wiring_of(shipped("dgx-superpod-32")), ["kubernetes"], tmp_path, Options()
    )
    assert f"```yaml\n{path.read_text()}```" in (ROOT / "docs" / "running.md").read_text()
