"""Files for OpenSM: read by the real one on a simulated fabric, which then is routed as planned, without a loop."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.operate.infiniband import Subnet, subnets_of
from fabopt.output.export.formats import Options, export
from fabopt.output.export.opensm import subnet_files
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.wiring.build import wiring_of
from tests.paths import ROOT
from tests.samples.designs_of_families import designed
from tests.samples.discoveries import discovery_text, planned_links
from tests.samples.export_samples import solved
from tests.samples.operate import export_of, planned
from tests.samples.shipped import shipped
from tests.samples.system_parts import require

PATIENCE_S = 600
SERVERS, LEAVES, UPLINKS = 32, 8, 32


@contextlib.contextmanager
def simulated(folder: Path) -> Iterator[dict[str, str]]:
    """The fabric of ``net.txt``; yields the environment of programs that are to see it."""
    require(["ibsim", "opensm", "ibnetdiscover", "ibdmchk"])
    library = next(iter(sorted(Path("/usr/lib").rglob("libumad2sim.so*"))))
    own = {**os.environ, "IBSIM_SOCKNAME": f"fabopt-sm-{os.getpid()}"}
    with (folder / "sim.log").open("wb") as log:
        words = ["ibsim", "-s", "-n", "-N", "9000", "-S", "900", "-P", "90000", "net.txt"]
        process = subprocess.Popen(words, cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            until = time.monotonic() + PATIENCE_S
            while "ready" not in (folder / "sim.log").read_text() and time.monotonic() < until:
                time.sleep(0.05)
            yield {**own, "LD_PRELOAD": str(library), "OSM_TMP_DIR": str(folder), "OSM_CACHE_DIR": str(folder)}
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def routed(folder: Path) -> tuple[str, str, str]:
    """What OpenSM logs of the files of a folder, what ibdmchk says of its routes, what ibnetdiscover sees."""
    log = folder / "osm.log"
    with simulated(folder) as environment:
        words = ["opensm", "-o", "--config", "opensm.conf", "-f", str(log), "-D", "0x43",
                 "--dump_files_dir", str(folder)]  # fmt: skip
        subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=PATIENCE_S, check=True)  # fmt: skip
        seen = subprocess.run(["ibnetdiscover"], env=environment, capture_output=True, text=True, timeout=PATIENCE_S,
                              check=True).stdout  # fmt: skip
    # Its exit code is that of a crash after its last line, even where all is well.
    words = ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"]
    checked = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout
    return log.read_text(), checked, seen


def histogram(text: str, title: str) -> dict[int, int]:
    """The last table of ibdmchk with a title, as numbers."""
    rows = re.findall(r"^\s*(\d+)\s+(\d+)\s*$", text.rpartition(title)[2].partition("---")[0], re.MULTILINE)
    return {int(key): int(count) for key, count in rows}


def written(design: Design, folder: Path, discovery: str | None = None) -> Path:
    export(design, wiring_of(design), ["opensm"], folder, Options(discovery=discovery))
    return folder / "opensm"


def test_a_fat_tree_comes_up_as_planned(tmp_path: Path) -> None:
    """256 GPUs. By hand: eight leaves of 32 servers' ports and 32 uplinks. Pairs at one switch: 256 x 31; at three:
    256 x 224. Of 256 destinations 224 are beyond a leaf, 7 on each of its uplinks, and one on each port of a spine.
    """
    folder = written(shipped("dgx-superpod-32"), tmp_path)
    log, checked, seen = routed(folder)
    assert "ftree tables configured on all switches" in log and "SUBNET UP" in log
    assert "4 switches at rank 0 (roots)" in log
    assert not re.search(r"PARSE ERROR|falling back|Fatal|unable to", log)
    ends = SERVERS * LEAVES
    assert histogram(checked, "HOPS NUM-CA-CA-PAIRS") == {2: ends * (SERVERS - 1), 4: ends * (ends - SERVERS)}
    assert histogram(checked, "NUM-DLIDS NUM-SWITCH-PORTS") == {1: ends, (ends - SERVERS) // UPLINKS: ends}
    assert "no credit loops found" in checked
    again = written(shipped("dgx-superpod-32"), tmp_path / "again", seen)
    assert (again / "root_guids.txt").read_text() == (folder / "root_guids.txt").read_text()
    assert "as ibnetdiscover saw them" in (again / "opensm.conf").read_text()


def on_three_tiers() -> Design:
    """The scalable units of a SuperPOD of 64 servers, joined by cores as those of a large one are."""
    content = yaml.safe_load((ROOT / "cases" / "dgx-superpod-512.yaml").read_text()) | {"servers": 64}
    content["fabrics"][0]["tiers"] = 3
    return solve(inputs_from_objects(content), alternatives_s=0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("made", "roots", "hops", "destinations"),
    [
        # 127 servers on eight rails, and four hosts of a subnet manager on ports of the group that is not full: 32 ends
        # a leaf, but 31 servers and the manager there. Its leaves have 32 links to 16 spines.
        (partial(shipped, "dgx-superpod-127"), 16, {2: 31_496, 4: 1_007_884},
         {0: 4, 1: 1020, 27: 28, 28: 4, 31: 992}),
        # 512 ends, 32 a leaf, 256 a pod of eight leaves and eight spines: 512 x 31, x 224 and x 256 pairs. Of the 480
        # destinations beyond a leaf 15 are on each uplink; of the 256 beyond a pod one on each of 256.
        (on_three_tiers, 8, {2: 15_872, 4: 114_688, 6: 131_072}, {1: 1536, 15: 512}),
        # 4,096 ends, 32 a leaf, 256 a pod of eight leaves and eight spines: 4096 x 31, x 224 and x 3840 pairs. Of the
        # 4,064 destinations beyond a leaf 127 are on each uplink; of the 3,840 beyond a pod 15 on each of 256.
        (partial(shipped, "dgx-superpod-512"), 64, {2: 126_976, 4: 917_504, 6: 15_728_640},
         {1: 8192, 15: 4096, 127: 4096}),
    ],
    ids=["127", "64 on three tiers", "512"],
)  # fmt: skip
def test_large_fat_trees_come_up_as_planned(
    made: Callable[[], Design], roots: int, hops: dict[int, int], destinations: dict[int, int], tmp_path: Path
) -> None:
    log, checked, _ = routed(written(made(), tmp_path))
    assert "ftree tables configured on all switches" in log and "SUBNET UP" in log
    assert f"{roots} switches at rank 0 (roots)" in log
    assert not re.search(r"PARSE ERROR|falling back|Fatal|unable to", log)
    assert histogram(checked, "HOPS NUM-CA-CA-PAIRS") == hops
    assert histogram(checked, "NUM-DLIDS NUM-SWITCH-PORTS") == destinations
    assert "no credit loops found" in checked


def infiniband(name: str) -> Design:
    """A design of a family, as if its fabric were InfiniBand."""
    design = designed(name)
    fabrics = tuple(fabric.model_copy(update={"protocol": "infiniband"}) for fabric in design.fabrics)
    return design.model_copy(update={"fabrics": fabrics})


def subnets(name: str) -> list[Subnet]:
    design = infiniband(name)
    return subnets_of(design, planned(design), None)


@pytest.mark.parametrize(
    ("name", "engine", "top"),
    [
        ("clos, one tier", "minhop", ""), ("clos, two tiers", "ftree", "spine"), ("clos, three tiers", "ftree", "core"),
        ("dragonfly", "dfsssp", ""), ("dragonfly+", "dfsssp", ""), ("hyperx", "dfsssp", ""),
    ],
)  # fmt: skip
def test_engine_and_roots_are_the_topologys(name: str, engine: str, top: str) -> None:
    """Paths of least hops are for one switch alone; the roots of a tree are all of its highest tier."""
    for subnet in subnets(name):
        assert subnet.engine == engine and (engine == "minhop") == (len(subnet.switches) == 1)
        if top:
            assert subnet.roots == [device for device in subnet.switches if device.role == top]


@pytest.mark.long(but=("torus-Built 3 x 3 x 1 torus w/ 39 links, 9 switches, 3 CA ports",))
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("torus", "Built 3 x 3 x 1 torus w/ 39 links, 9 switches, 3 CA ports"),
        ("dragonfly", "dfsssp_remove_deadlocks: Virtual Lanes needed: 1"),
    ],
)
def test_networks_without_roots_come_up_without_loops(name: str, said: str, tmp_path: Path) -> None:
    """Grids by their seed, dragonflies by lanes; paths of least hops alone have loops of credits there."""
    log, checked, _ = routed(written(infiniband(name), tmp_path))
    assert said in log and "SUBNET UP" in log and not re.search(r"PARSE ERROR|falling back|Fatal|unable to", log)
    assert "no credit loops found" in checked


def test_planes_are_subnets_of_their_own(tmp_path: Path) -> None:
    design = infiniband("planes")
    planes = design.fabrics[0].planes
    assert planes > 1 and len(subnets("planes")) == planes
    names = {str(path.relative_to(tmp_path)) for path in written(design, tmp_path).rglob("*") if path.is_file()}
    assert {f"opensm/compute-{number + 1}/net.txt" for number in range(planes)} <= names


def test_a_torus_is_told_from_a_seed() -> None:
    """The seed's neighbours are joined to it; sides of two are open, as a ring of two is no ring."""
    design = infiniband("torus")
    plan = planned(design)
    (subnet,) = subnets_of(design, plan, None)
    lines = list(subnet_files(design, plan, subnet)["torus-2QoS.conf"])
    links = {
        frozenset((subnet.guids[link.a.device], subnet.guids[link.b.device]))
        for link in subnet.links if link.kind.startswith("dim-")
    }  # fmt: skip
    seeds = [line.split() for line in lines if "_link" in line]
    assert subnet.engine == "torus-2QoS" and seeds
    assert all(frozenset((a[2:], b[2:])) in links for _, a, b in seeds)
    sides = design.fabrics[0].structure.sides
    assert lines[1].split()[1:] == [*(f"{side}{'m' * (side == 2)}" for side in sides), *["1"] * (3 - len(sides))]


def test_guids_of_a_stage_stay() -> None:
    design = shipped("h100-growth-128")
    early, late = (subnets_of(design, planned(design, stage), None)[0] for stage in (0, 3))
    known = {adapter.description: adapter.guid for adapter in late.adapters}
    assert len(early.adapters) == 256 and len(late.adapters) == 1024
    assert all(known[adapter.description] == adapter.guid for adapter in early.adapters)


def test_guids_that_were_not_seen_are_counted(tmp_path: Path) -> None:
    """A discovery without a leaf, and with a host where another is to be."""
    design = shipped("dgx-superpod-32")
    links = planned_links(wiring_of(design))
    whole = discovery_text(links, style="HCA-{}")
    assert (written(design, tmp_path, whole) / "root_guids.txt").is_file()
    with pytest.raises(InputError, match="33 devices without a GUID there: server-0001, compute-leaf-001"):
        written(design, tmp_path, discovery_text([one for one in links if one[1].device != "compute-leaf-001"
                                                  and one[0].device != "compute-leaf-001"]))  # fmt: skip
    with pytest.raises(InputError, match="server-0002 is where server-0001 is to be, at compute-leaf-001 1"):
        written(design, tmp_path, discovery_text([(links[8][0], links[0][1]), (links[0][0], links[8][1]), *links[1:8],
                                                  *links[9:]]))  # fmt: skip


def test_ethernet_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_of(solved("plain"), tmp_path, "--to", "opensm") == (2, {})
    assert "OpenSM manages InfiniBand, and no fabric of this design is (compute: ethernet)" in capsys.readouterr().err
