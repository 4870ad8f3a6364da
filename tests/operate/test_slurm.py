"""Slurm's own controller reads the tree, and shows the levels and the servers of the design."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from tests.operate.test_renderings import expanded
from tests.samples.designs_of_families import designed
from tests.samples.operate import planned
from tests.samples.shipped import shipped
from tests.samples.system_parts import require

PATIENCE_S = 60
CONFIG = """\
ClusterName=fabopt
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/pid
ProctrackType=proctrack/linuxproc
SelectType=select/linear
MpiDefault=none
TopologyPlugin=topology/tree
NodeName={nodes} NodeAddr=127.0.0.1
PartitionName=all Nodes=ALL Default=YES State=UP
"""
Servers = frozenset[str]


@contextlib.contextmanager
def controller(design: Design, folder: Path) -> Iterator[Path]:
    """A controller that has the servers of a design, and its tree; yields the folder of its configuration."""
    require(["slurmctld", "scontrol"])
    (folder / "state").mkdir()
    if not (folder / "topology.conf").exists():
        (path, *_) = export(design, wiring_of(design), ["slurm"], folder, Options())
        path.rename(folder / "topology.conf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nodes = ",".join(server.name for server in planned(design).servers)
    words = {"host": socket.gethostname().partition(".")[0], "user": getpass.getuser(), "port": port}
    (folder / "slurm.conf").write_text(CONFIG.format(folder=folder, nodes=nodes, **words))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["slurmctld", "-D", "-c", "-f", str(folder / "slurm.conf")], stdout=log, stderr=log)
        try:
            yield folder
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def shown(folder: Path) -> str:
    """What the controller says of its tree, once it is up; nothing where it does not come up."""
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and "fatal" not in (folder / "log").read_text():
        asked = subprocess.run(["scontrol", "show", "topology"], env=environment, capture_output=True, text=True,
                               timeout=PATIENCE_S, check=False)  # fmt: skip
        if asked.returncode == 0:
            return asked.stdout
        time.sleep(0.2)
    return ""


def levels(text: str) -> dict[int, set[Servers]]:
    """The servers below each switch, by its level."""
    rows = re.findall(r"^SwitchName=\S+ Level=(\d+) .*?Nodes=(\S+)", text, re.MULTILINE)
    below: dict[int, set[Servers]] = defaultdict(set)
    for level, names in rows:
        below[int(level)].add(frozenset(expanded(names)))
    return dict(below)


def wanted(design: Design) -> dict[int, set[Servers]]:
    """Servers that have the same leaves, those of a pod where there are several, and all; from the wiring alone."""
    wiring = wiring_of(design)
    devices, links = wiring.devices, wiring.links
    leaves: dict[str, set[int]] = defaultdict(set)
    for a, b, kind in zip(links.a.tolist(), links.b.tolist(), links.kind.tolist(), strict=True):
        if KINDS[kind] == "server-leaf":
            leaves[devices.name[a]].add(b)
    groups: dict[tuple[int, ...], set[str]] = defaultdict(set)
    pods: dict[int, set[str]] = defaultdict(set)
    for server, own in leaves.items():
        groups[tuple(sorted(own))].add(server)
        pods[int(devices.pod[min(own)])].add(server)
    steps = [set(map(frozenset, groups.values())), set(map(frozenset, pods.values())), {frozenset(leaves)}]
    return dict(enumerate(step for number, step in enumerate(steps) if number != 1 or len(step) > 1))


@pytest.mark.long("dgx-superpod-127")
@pytest.mark.parametrize("kind", ["dgx-superpod-127", "clos, three tiers"])
def test_slurm_shows_the_levels_and_nodes_of_the_design(kind: str, tmp_path: Path) -> None:
    design = shipped(kind) if kind.startswith("dgx") else designed(kind)
    with controller(design, tmp_path) as folder:
        found = levels(shown(folder))
    assert found == wanted(design) and len(found) == (2 if kind.startswith("dgx") else 3)


@pytest.mark.long
def test_slurm_is_no_blind_judge(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text("SwitchName=a Nodes=server-0001\nSwitchName=b\n")
    with controller(designed("clos, two tiers"), tmp_path) as folder:
        assert shown(folder) == "" and "neither" in (folder / "log").read_text()
