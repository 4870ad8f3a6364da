"""Files for FRR, Slurm, hosts, Ansible and containerlab: counts are the wiring's, and real programs read them."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.operate.hostlists import compressed
from fabopt.output.export import FORMATS, PLANNED, WORK
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Options, export
from fabopt.output.export.slurm import block_lines, tree_lines
from fabopt.parts.headroom import headroom
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import LAST_OF_ENDPOINTS
from tests.samples import small
from tests.samples.cli_samples import Run
from tests.samples.designs_of_families import designed
from tests.samples.export_samples import CASES, exported, solved
from tests.samples.operate import export_of, grown, planned, with_operate
from tests.samples.shipped import shipped
from tests.samples.system_parts import require, without

# Of a design without a floor and so without trunks, of Ethernet switches of which it is not known what runs there, and
# leaves that differ; and what is for all stages at once.
REFUSED = {"racks", "trays", "air", "weight", "power", "sonic", "eos", "opensm", "htsim", "simai", "acceptance",
           "trunks", "panels"}  # fmt: skip
NUMBERED: dict[str, Any] = {"links": "10.2.0.0/16", "host_addresses": "rails"}


def written(design: Design, folder: Path, name: str, stage: int | None = None) -> dict[str, Path]:
    paths = export(design, wiring_of(design), [name], folder, Options(stage=stage))
    return {str(path.relative_to(folder)): path for path in paths}


def expanded(text: str) -> list[str]:
    """Names of a list of hosts, with one pair of brackets each."""
    names = []
    for prefix, numbers, name in re.findall(r"([^,\[]+)\[([^\]]*)\]|([^,\[\]]+)", text):
        if name:
            names.append(name)
        for part in filter(None, numbers.split(",")):
            first, _, last = part.partition("-")
            names += [f"{prefix}{number:0{len(first)}d}" for number in range(int(first), int(last or first) + 1)]
    return names


def test_refusal_names_the_formats_that_could_be_written(tmp_path: Path) -> None:
    """All are written or none, so whoever asks for many is told which of them to ask for again."""
    with pytest.raises(InputError) as refused:
        exported(solved("plain"), tmp_path, "dot", "opensm", "hosts")
    assert refused.value.faults[-1].hint == "`--to dot,hosts` can be, as with `--skip`" and not any(tmp_path.iterdir())
    with pytest.raises(InputError) as refused:
        exported(solved("plain"), tmp_path, "opensm")
    assert "`--to" not in refused.value.faults[-1].hint


# -- FRR ------------------------------------------------------------------------------------------------------------


@pytest.mark.long("one tier-numbered", "plain-unnumbered")
@pytest.mark.long("splitters-unnumbered", "two fabrics-unnumbered")
@pytest.mark.parametrize("operate", [{}, NUMBERED], ids=["unnumbered", "numbered"])
@pytest.mark.parametrize("name", ["plain", "splitters", "two fabrics", "one tier"])
def test_frr_accepts_every_switch(name: str, operate: dict[str, Any], tmp_path: Path) -> None:
    """Each is accepted whole; there are as many sessions as links between switches have ends."""
    design = with_operate(name, **operate)
    files = written(design, tmp_path, "frr")
    wiring = wiring_of(design)
    sessions = sum(len(re.findall(r"^ neighbor \S+ (?:interface )?peer-group fabric$", path.read_text(), re.MULTILINE))
                   for path in files.values())  # fmt: skip
    assert sessions == 2 * int((wiring.links.kind > LAST_OF_ENDPOINTS).sum())
    assert len(files) == sum(role in ("leaf", "spine", "core") for role in wiring.devices.role)
    require(["vtysh"])
    for path in files.values():
        done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_cumulus_is_told_of_ports_that_are_split_or_slower(tmp_path: Path) -> None:
    """Leaves with two ports of 200 in cages of 400: split once, each port with its speed; vtysh takes it."""
    products = {tier.id: "cumulus" for fabric in solved("splitters").fabrics for tier in fabric.tiers}
    design = with_operate("splitters", systems=products)
    files, plan = written(design, tmp_path, "frr"), planned(design)
    parted = 0
    for device in plan.devices:
        if device.asn:
            path = files[f"frr/{device.name}.conf"]
            told = re.findall(r"^! nv set interface (\S+) link (.*)$", path.read_text(), re.MULTILINE)
            split = [(port, link) for port, link in plan.ports_at[device.row] if port.lanes > 1]
            cages = {(f"swp{port.cage}", f"breakout {port.lanes}x lanes-per-port 4") for port, _ in split}
            assert set(told) == cages | {(port.name, f"speed {link.gbps:g}G") for port, link in split}
            parted += len(cages)
            require(["vtysh"])
            assert subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, check=False).returncode == 0
    assert parted


def test_vtysh_is_no_blind_judge(tmp_path: Path) -> None:
    require(["vtysh"])
    (path, *_) = written(solved("plain"), tmp_path, "frr").values()
    path.write_text(path.read_text().replace("maximum-paths", "maximum-pathz"))
    done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_sessions_are_told_what_hosts_and_loopbacks_have(tmp_path: Path) -> None:
    text = written(solved("plain"), tmp_path, "frr")["frr/compute-leaf-001.conf"].read_text()
    assert "redistribute connected route-map fabric" in text
    assert re.findall(r"permit (\S+) le 32", text) == ["10.1.0.0/16", "10.128.0.0/9"]


def test_every_numbered_port_has_its_address(tmp_path: Path) -> None:
    """Of a leaf whose hosts share a subnet: the address of the subnet once, and one for each of its uplinks."""
    design = with_operate("plain", **NUMBERED)
    files, plan = written(design, tmp_path, "frr"), planned(design)
    for device in plan.devices:
        if device.asn:
            text = files[f"frr/{device.name}.conf"].read_text()
            addresses = {port.address for port, _ in plan.ports_at[device.row]} | {f"{device.loopback}/32"}
            assert sorted(re.findall(r"^ ip address (\S+)$", text, re.MULTILINE)) == sorted(addresses)


def test_frr_is_for_switches_that_route(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no switch of this design routes"):
        written(shipped("dgx-superpod-32"), tmp_path, "frr")


# -- RoCE -----------------------------------------------------------------------------------------------------------


def test_headroom_is_of_the_cable_that_was_bought(tmp_path: Path) -> None:
    """Every port in use of an ASIC with a table has a row, and a switch's sum is theirs; others are counted."""
    parts = small.catalog()
    for switch in parts["switches"]:
        switch["asic"] = "Tomahawk 4"
    design = small.solved(small.case(servers=4), parts)
    (path,) = written(design, tmp_path, "roce").values()
    rows = yaml.safe_load(path.read_text())
    wiring = wiring_of(design)
    kinds = wiring.links.kind > LAST_OF_ENDPOINTS
    assert len(rows["ports"]) == int((1 + kinds).sum()) and rows["ports_without_a_table"] == {}
    for row in rows["ports"]:
        room = headroom("Tomahawk 4", row["gbps"], row["length_m"], 8)
        assert room is not None and (row["xoff"], row["size"]) == (room.xoff, room.size)
    assert sum(rows["xoff_of_all_ports"].values()) == sum(row["xoff"] for row in rows["ports"])
    (path,) = written(solved("plain"), tmp_path, "roce").values()
    assert sum(yaml.safe_load(path.read_text())["ports_without_a_table"].values()) == len(rows["ports"])


def test_a_switch_is_weighed_against_its_pool(tmp_path: Path) -> None:
    """By hand: 400G on Tomahawk 4, four ports at 3 m (371,348 bytes, as at 5 m) and four at 50 m (439,547)."""
    parts = small.catalog()
    for switch in parts["switches"]:
        switch |= {"asic": "Tomahawk 4", "buffer_pool": {"size": 10**8, "shared_headroom": 800_000}}
    design = small.solved(small.case(servers=4), parts)
    (path,) = written(design, tmp_path, "roce").values()
    rows = yaml.safe_load(path.read_text())
    leaf = rows["switches"][0]
    assert leaf["demand"] == 4 * (371_348 + 439_547) and not leaf["fits"]
    assert leaf["says"].endswith("on one priority: 0.0 MB short of 4 times its shared headroom")
    for marks in rows["marking"]:
        least, most = marks["range"]
        assert least <= marks["least"] < marks["most"] < most and "is met before" in marks["reason"]
    assert rows["hosts"] == {"mtu": 9216, "trust": "dscp", "pfc": [0, 0, 0, 1, 0, 0, 0, 0], "traffic_class": 106}
    unknown = yaml.safe_load(next(iter(written(solved("plain"), tmp_path, "roce").values())).read_text())
    assert all("fits" not in row and "nothing is proven" in row["says"] for row in unknown["switches"])


def test_a_cable_of_others_has_no_length(tmp_path: Path) -> None:
    """The one port of `firewall`, for which nothing is bought: no length is no short cable."""
    (path,) = written(solved("attachments"), tmp_path, "roce").values()
    assert sum(yaml.safe_load(path.read_text())["ports_without_a_length"].values()) == 1


# -- Slurm ----------------------------------------------------------------------------------------------------------


def test_lists_of_hosts_by_hand() -> None:
    assert compressed(["n-01", "n-02", "n-04", "m-1", "x"]) == "n-[01-02,04],m-1,x"
    assert compressed(["n-9", "n-10"]) == "n-9,n-10"


@pytest.mark.long(but=("clos, three tiers", "dragonfly"))
@pytest.mark.parametrize("kind", ["clos, two tiers", "clos, three tiers", "planes", "dragonfly", "torus", "rail-only"])
def test_every_server_is_once_in_the_tree(kind: str) -> None:
    """Every switch is below one other, but for one root."""
    design = designed(kind)
    plan = planned(design)
    lines = [line for line in tree_lines(plan, design.fabrics[0]) if not line.startswith("#")]
    own = [line.split()[0].removeprefix("SwitchName=") for line in lines]
    below = [name for line in lines if " Switches=" in line for name in expanded(line.partition(" Switches=")[2])]
    nodes = [name for line in lines if " Nodes=" in line for name in expanded(line.partition(" Nodes=")[2])]
    assert sorted(nodes) == sorted(server.name for server in plan.servers)
    assert Counter(below) == Counter(own[:-1] if len(own) > 1 else []) and len(set(own)) == len(own)


def test_blocks_are_whole_domains() -> None:
    """Nine servers in domains of four: two blocks; the ninth would stop Slurm, so it is named and left out."""
    lines = list(block_lines(planned(grown()), 4))
    assert lines[1] == "# Left out, as they are fewer than a block: server-0009"
    assert lines[2:] == [
        "BlockName=domain-001 Nodes=server-[0001-0004]",
        "BlockName=domain-002 Nodes=server-[0005-0008]",
        "BlockSizes=4,8",
    ]


def test_each_fabric_has_a_tree_of_its_own(tmp_path: Path) -> None:
    files = written(solved("two fabrics"), tmp_path, "slurm")
    assert list(files) == ["slurm/topology.conf", "slurm/topology-storage.conf", "slurm/topology.yaml"]
    for name, path in zip(("compute", "storage"), files.values(), strict=False):
        assert all(line.startswith(("#", f"SwitchName={name}")) for line in path.read_text().splitlines())


def test_topologies_as_yaml_are_those_of_the_other_files(tmp_path: Path) -> None:
    files = written(solved("two fabrics"), tmp_path, "slurm")
    topologies = yaml.safe_load(files["slurm/topology.yaml"].read_text())
    assert [(own["topology"], own["cluster_default"]) for own in topologies] == [("compute", True), ("storage", False)]
    for own, name in zip(topologies, ("topology.conf", "topology-storage.conf"), strict=True):
        lines = [line for line in files[f"slurm/{name}"].read_text().splitlines() if line[0] != "#"]
        assert [
            f"SwitchName={switch['switch']} {'Nodes' if 'nodes' in switch else 'Switches'}="
            f"{switch.get('nodes') or switch['children']}"
            for switch in own["tree"]["switches"]
        ] == lines


def test_formats_that_do_not_apply_are_left_out_on_demand(tmp_path: Path, run: Run) -> None:
    design = tmp_path / "design.json"
    design.write_bytes(design_bytes(shipped("dgx-superpod-32")))
    words = ("export", str(design), "--to", "opensm,frr,hosts,sonic", "-o", str(tmp_path / "out"))
    assert run(*words).code == 2
    assert not (tmp_path / "out").exists()
    ran = run(*words, "--skip")
    assert ran.code == 0
    told = ran.out + ran.err
    assert "frr is left out: no switch of this design routes" in told
    assert "sonic is left out: no switch of this design runs SONiC" in told
    assert (tmp_path / "out" / "opensm" / "opensm.conf").exists() and not (tmp_path / "out" / "frr").exists()
    assert run("export", str(design), "--to", "frr", "--skip", "-o", str(tmp_path / "none")).code == 2


# -- hosts ----------------------------------------------------------------------------------------------------------


def test_nccl_is_told_what_follows_from_the_design(tmp_path: Path) -> None:
    """DSCP 26, and the bit that lets it be marked: 26 x 4 + 2. On rails that never meet no ring changes rails."""
    design = with_operate("plain", hcas={"compute": ["mlx5_3", "mlx5_0"]})
    files = written(design, tmp_path, "hosts")
    text = files["hosts/nccl.conf"].read_text()
    assert "NCCL_IB_HCA==mlx5_3,mlx5_0\n" in text and "NCCL_IB_TC=106\n" in text and "NCCL_CROSS_NIC" not in text
    roce = files["hosts/roce.sh"].read_text()
    assert "--pfc 0,0,0,1,0,0,0,0" in roce and "cma_roce_tos -d mlx5_0 -t 106" in roce
    rails = written(designed("rail-only"), tmp_path, "hosts")["hosts/nccl.conf"].read_text()
    assert "NCCL_CROSS_NIC=0\n" in rails and "names of the RDMA devices are not known" in rails


def test_queue_pairs_follow_the_spreading(tmp_path: Path) -> None:
    """What the case says of it, else what the catalog says of the switches; nothing where there are no uplinks."""
    parts = small.catalog()
    parts["servers"][0] |= {"gpu_peak_tflops": {"bf16": 100}, "gpu_memory_gb": 1000}
    plain = copy.deepcopy(parts)
    for switch in parts["switches"]:
        switch["features"] = ["roce", "adaptive-routing"]
    spread = "NCCL_IB_ADAPTIVE_ROUTING=1"
    cases = [
        (small.solved(small.case(servers=4)), "NCCL_IB_QPS_PER_CONNECTION=4"),
        (small.solved(small.case(servers=4), parts), spread),
        (small.solved(small.case(servers=4, workload={"model": "llama3-8b", "spreading": {"queue_pairs": 3}}), parts),
         "NCCL_IB_QPS_PER_CONNECTION=3"),
        (small.solved(small.case(servers=4, workload={"model": "llama3-8b", "spreading": "adaptive"}), plain), spread),
        (solved("one tier"), ""),
    ]  # fmt: skip
    for number, (design, line) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        text = written(design, tmp_path / str(number), "hosts")["hosts/nccl.conf"].read_text()
        own = [row for row in text.splitlines() if row.startswith(("NCCL_IB_QPS", "NCCL_IB_ADAPTIVE"))]
        assert own == ([line] if line else []), number


def test_ranks_follow_the_groups(tmp_path: Path) -> None:
    """128 servers in groups of 32: a ring leaves each group once."""
    text = written(shipped("h100-growth-128"), tmp_path, "hosts", 1)["hosts/hostfile"].read_text().splitlines()
    assert text[0] == "# 64 servers in the order of ranks; a ring goes 2 times to another group"
    assert text[1:] == [f"server-{number:04d} slots=8" for number in range(1, 65)]


# -- inventories and laboratories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_device_is_in_the_inventory(name: str, tmp_path: Path) -> None:
    (path,) = written(solved(name), tmp_path, "ansible").values()
    groups = yaml.safe_load(path.read_text())["all"]["children"]
    roles = Counter(wiring_of(solved(name)).devices.role)
    counts = {group: len(content["hosts"]) for group, content in groups.items()}
    assert counts == {"gpu" if role == "server" else role: number for role, number in roles.items()}
    addresses = [host["ansible_host"] for content in groups.values() for host in content["hosts"].values()]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.long
def test_ansible_counts_right(tmp_path: Path) -> None:
    """What its own program reads: every device once, with what the plan gave it."""
    program = shutil.which("ansible-inventory", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        without("there is no ansible-inventory")
    design = shipped("h100-growth-128")
    (path,) = written(design, tmp_path, "ansible").values()
    own = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "ANSIBLE_LOCALHOST_WARNING": "false"}
    done = subprocess.run([program, "-i", str(path), "--list"], env=own, capture_output=True, text=True, check=True)
    groups = json.loads(done.stdout)
    variables = groups.pop("_meta")["hostvars"]
    devices = {device.name: device for device in planned(design).devices}
    assert variables.keys() == devices.keys()
    assert {name: host["ansible_host"] for name, host in variables.items()} == {
        name: device.management for name, device in devices.items()
    }
    for role, group in {"server": "gpu", "leaf": "leaf", "spine": "spine"}.items():
        assert sorted(groups[group]["hosts"]) == sorted(name for name, one in devices.items() if one.role == role)
    assert all(variables[name]["group"] == devices[name].group for name in groups["gpu"]["hosts"])


@pytest.mark.parametrize("name", CASES)
def test_every_link_is_in_the_laboratory(name: str, tmp_path: Path) -> None:
    """An interface has one link, which the schema of containerlab does not ask, and both ends are nodes."""
    (path,) = written(solved(name), tmp_path, "containerlab").values()
    lab = yaml.safe_load(path.read_text())
    ends = [end for link in lab["topology"]["links"] for end in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 2 * len(wiring_of(solved(name)).links)
    assert {end.partition(":")[0] for end in ends} <= lab["topology"]["nodes"].keys()
    assert all(len(end.partition(":")[2]) <= 15 for end in ends)


@pytest.mark.parametrize("name", ["plain", "attachments"])
def test_a_laboratory_has_the_words_of_containerlab(name: str, tmp_path: Path) -> None:
    """Of its JSON schema: a name and a topology; nodes of a kind that it knows; links that are two ends each."""
    (path,) = written(solved(name), tmp_path, "containerlab").values()
    lab = yaml.safe_load(path.read_text())
    assert set(lab) == {"name", "topology"} and set(lab["topology"]) == {"nodes", "links"} and lab["name"]
    for node in lab["topology"]["nodes"].values():
        assert set(node) == {"kind", "group"} and node["kind"] in ("linux", "sonic-vs", "arista_ceos")
    for link in lab["topology"]["links"]:
        assert set(link) == {"endpoints"} and len(set(link["endpoints"])) == 2
        assert all(re.fullmatch(r"[^:]+:eth[1-9]\d*", end) for end in link["endpoints"])


def test_a_laboratory_of_cumulus_has_the_ports_of_its_routers(tmp_path: Path) -> None:
    """Nodes of plain Linux whose interfaces are those that the files for FRR configure."""
    parts = small.catalog()
    for switch in parts["switches"]:
        switch["nos"] = ["cumulus"]
    design = small.solved(CASES["splitters"], parts)
    files = written(design, tmp_path, "frr") | written(design, tmp_path, "containerlab")
    lab = yaml.safe_load(files["containerlab/clab.yml"].read_text())
    ends = {tuple(end.split(":")) for link in lab["topology"]["links"] for end in link["endpoints"]}
    for device in planned(design).devices:
        own = {port for name, port in ends if name == device.name}
        if device.asn:
            configured = re.findall(r"^interface (swp\S+)", files[f"frr/{device.name}.conf"].read_text(), re.MULTILINE)
            assert own == set(configured) and lab["topology"]["nodes"][device.name]["kind"] == "linux"
        else:
            assert all(re.fullmatch(r"eth[1-9]\d*", port) for port in own)


# -- what all have in common ----------------------------------------------------------------------------------------


@pytest.mark.long(but=("operate0-it has 2 numbers for",))
@pytest.mark.parametrize(
    ("operate", "count"),
    [
        ({"asns": "64512-64513"}, "it has 2 numbers for"),
        ({"names": {"server": "host"}}, "1 name of 4 devices collide"),
        ({"management": "10.0.0.0/30"}, "it has 1 place for"),
    ],
)
def test_every_format_of_the_plan_refuses_what_cannot_be_given(
    operate: dict[str, Any], count: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design = small.solved(small.case(servers=4, operate=operate))
    for number, name in enumerate(PLANNED):
        (tmp_path / str(number)).mkdir()
        assert export_of(design, tmp_path / str(number), "--to", name) == (2, {})
        assert count in capsys.readouterr().err, name


def test_all_formats_that_do_not_apply_are_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what they have in common once; nothing is written of those that do apply."""
    assert export_of(shipped("dgx-superpod-32"), tmp_path, "--to", "slurm,frr,roce,eos") == (2, {})
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("--to")] == [
        "--to frr",
        "--to roce",
        "--to eos",
        "--to",
    ]
    assert "`--to slurm` can be" in lines[-1]
    (tmp_path / "own").mkdir()
    design = small.solved(small.case(servers=4, operate={"asns": "64512-64513"}))
    assert export_of(design, tmp_path / "own", "--to", "plan,frr,slurm") == (2, {})
    assert capsys.readouterr().err.count("operate.asns: too small") == 1


@pytest.mark.long
def test_every_format_takes_a_stage(tmp_path: Path) -> None:
    """What is written of the first stage has less in it than of the last one."""
    sizes: dict[str, dict[str, int]] = {}
    for stage in ("day-1", "day-2"):
        for name in FORMATS:
            if name not in (*REFUSED, *WORK):
                (tmp_path / stage / name).mkdir(parents=True)
                code, files = export_of(grown(), tmp_path / stage / name, "--to", name, "--stage", stage)
                assert code == 0, name
                sizes.setdefault(name, {})[stage] = sum(path.stat().st_size for path in files.values())
    assert sizes.pop("latency")["day-1"] > 0  # paths are of the structure, which all stages have
    assert set(sizes) == set(FORMATS) - REFUSED - set(WORK) - {"latency"} and all(
        size["day-1"] < size["day-2"] for size in sizes.values()
    )
