"""Files of simulators, read back: the design's nodes, links, speeds and lengths; what they cannot say is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.operate.model import SWITCHES
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.export_samples import solved, text_table
from tests.samples.operate import planned
from tests.samples.shipped import shipped

NS_PER_METRE = 5


def written(design: Design, folder: Path, name: str, stage: int | None = None) -> dict[str, Path]:
    paths = export(design, wiring_of(design), [name], folder, Options(stage=stage))
    return {path.name: path for path in paths}


def read_ns3(path: Path) -> tuple[list[str], list[int], Counter[tuple[frozenset[int], float, float]]]:
    """The head, the numbers of switches, and links as both nodes, Gb/s and metres."""
    head, switches, *lines = path.read_text().splitlines()
    links: Counter[tuple[frozenset[int], float, float]] = Counter()
    for line in lines:
        a, b, speed, delay, lost = line.split()
        assert speed.endswith("Gbps") and delay.endswith("ms") and lost == "0"
        metres = round(float(delay[:-2]) * 1e6 / NS_PER_METRE, 3)
        links[frozenset((int(a), int(b))), float(speed[:-4]), metres] += 1
    return head.split(), [int(number) for number in switches.split()], links


def links_of(design: Design, number: dict[str, int], stage: int | None) -> Counter[Any]:
    """The design's links as ``read_ns3`` has them."""
    plan = planned(design, stage)
    compute = {fabric.name for fabric in design.fabrics[:1]}
    return Counter(
        (frozenset(number[plan.device_at[end.device].name] for end in (link.a, link.b)), link.gbps, link.length_m)
        for link in plan.links if link.fabric in compute
    )  # fmt: skip


@pytest.mark.long(
    but=(
        "clos, one tier-None",
        "clos, three tiers-None",
        "dragonfly+-None",
        "dragonfly-None",
        "growth-0",
        "planes-None",
        "rail-only-None",
    )
)
@pytest.mark.parametrize(("name", "stage"), [*((name, None) for name in MAKERS), ("growth", 0)])
def test_astra_sim_has_every_device_and_link(name: str, stage: int | None, tmp_path: Path) -> None:
    design = designed(name)
    files = written(design, tmp_path, "astra-sim", stage)
    fabric = design.fabrics[0].name
    rows = text_table(files[f"{fabric}-nodes.csv"])
    number = {device: int(node) for node, device in zip(rows["node"], rows["device"], strict=True)}
    head, switches, links = read_ns3(files[f"{fabric}.topo"])
    wanted = links_of(design, number, stage)
    assert head == [str(len(rows)), str(len(switches)), str(sum(links.values()))] and links == wanted
    assert [number[device] for device in rows["device"]] == list(range(len(rows)))
    assert set(switches) == {number[device] for device in rows["device"][rows["role"].isin(SWITCHES)]}
    ranks = json.loads(files[f"{fabric}.json"].read_text())["logical-dims"]
    assert ranks == [str(len(planned(design, stage).servers))] and not set(switches) & set(range(int(ranks[0])))


def scale_up(domain: int, servers: int, gpus: int = 4) -> Design:
    parts = small.catalog()
    small.product(parts, "gpu-4").update(scale_up={"domain_gpus": domain, "gbps_per_gpu": 3600}, gpus=gpus)
    return small.solved(small.case({"min_gbps_per_gpu": 100}, servers=servers), parts)


def test_simai_has_every_gpu_and_link(tmp_path: Path) -> None:
    """32 servers: 256 GPUs, as many links to 32 NVSwitches and to leaves, 256 more to spines; NIC k is GPU k's."""
    design = shipped("dgx-superpod-32")
    files = written(design, tmp_path, "simai")
    head, switches, links = read_ns3(files["compute.topo"])
    assert head == [str(256 + 32 + 12), "8", "32", "12", "768", "H100"] and sum(links.values()) == 768
    assert switches == list(range(256, 300))
    rows = text_table(files["compute-nodes.csv"])
    called = dict(zip(rows["node"], zip(rows["device"], rows["part"], strict=True), strict=True))
    assert called["9"] == ("server-0002", "gpu 1") and called["288"] == ("compute-leaf-001", "leaf")
    leaves = {node: leaf for ends, _, _ in links if min(ends) < 256 < 288 <= max(ends) for node, leaf in [sorted(ends)]}
    assert leaves == {gpu: 288 + gpu % 8 for gpu in range(256)}
    nvlinks = [ends for ends, gbps, _ in links if gbps == 3600]
    assert sorted(map(sorted, nvlinks)) == [[gpu, 256 + gpu // 8] for gpu in range(256)]


def test_simai_joins_servers_of_one_domain_of_nvlink(tmp_path: Path) -> None:
    """Four GPUs with two NICs: two of them for a GPU of a server with one."""
    with pytest.raises(InputError, match="SimAI gives each GPU NICs of its own, and 4 GPUs share 1 NIC"):
        written(scale_up(4, 4), tmp_path, "simai")
    design = scale_up(2, 4, gpus=1)
    head, _, links = read_ns3(written(design, tmp_path, "simai")["compute.topo"])
    assert head[:3] == [str(4 + 2 + len(planned(design).switches("compute"))), "2", "2"]
    assert {tuple(sorted(ends)) for ends, gbps, _ in links if gbps == 3600} == {(0, 4), (1, 4), (2, 5), (3, 5)}


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (lambda: solved("plain"), "SimAI joins the GPUs of a server by NVLink, and the catalog knows none of gpu-4"),
        (lambda: scale_up(8, 3), "whole domains of NVLink (8 GPUs), and 3 servers do not fill them"),
    ],
)
def test_what_simai_cannot_say_is_refused(design: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        written(design(), tmp_path, "simai")
    assert message in str(refused.value)


def twin() -> Design:
    """Two planes of two tiers."""
    parts = small.catalog()
    small.product(parts, "nic-200")["cages"][0]["count"] = 2
    return small.solved(small.case({"planes": 2, "tiers": 2, "min_gbps_per_gpu": 100}, servers=4), parts)


def read_htsim(path: Path) -> tuple[dict[str, int], list[dict[str, int]]]:
    """The head and the tiers."""
    parts: list[dict[str, int]] = [{}]
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            key, value = line.split()
            if key == "Tier":
                assert int(value) == len(parts) - 1
                parts.append({})
            else:
                parts[-1][key] = int(value)
    return parts[0], parts[1:]


def switches_of(head: dict[str, int], tiers: list[dict[str, int]]) -> list[int]:
    """How many switches htsim makes of a file, tier by tier, as its own arithmetic goes; what it asserts holds."""
    pods = head["Nodes"] // head["Podsize"]
    leaves = head["Podsize"] // tiers[0]["Radix_Down"]
    uplinks = head["Nodes"] * tiers[0]["Downlink_speed_Gbps"]
    uplinks, rest = divmod(uplinks, tiers[1]["Downlink_speed_Gbps"] * tiers[0]["Oversubscribed"])
    assert rest == 0 and tiers[0]["Radix_Down"] // tiers[0]["Radix_Up"] == tiers[0]["Oversubscribed"]
    spines, rest = divmod(uplinks, pods * tiers[1]["Radix_Down"])
    assert rest == 0 and spines * tiers[1]["Bundle"] == tiers[0]["Radix_Up"]
    if head["Tiers"] == 2:
        return [leaves * pods, spines * pods]
    uplinks = uplinks * tiers[1]["Downlink_speed_Gbps"]
    uplinks, rest = divmod(uplinks, tiers[2]["Downlink_speed_Gbps"] * tiers[1]["Oversubscribed"])
    cores, more = divmod(uplinks, tiers[2]["Radix_Down"])
    assert rest == more == 0 and cores * tiers[2]["Bundle"] == tiers[1]["Radix_Up"] * spines
    return [leaves * pods, spines * pods, cores]


@pytest.mark.long(but=("dgx-superpod-32",))
@pytest.mark.parametrize("name", ["dgx-superpod-32", "dgx-superpod-512"])
def test_htsim_makes_the_design_of_its_file(name: str, tmp_path: Path) -> None:
    """Two and three tiers: as many ports of servers and switches, links at the lengths that were bought."""
    design = shipped(name)
    head, tiers = read_htsim(written(design, tmp_path, "htsim")["compute.topo"])
    plan = planned(design)
    roles = Counter(device.role for device in plan.switches("compute"))
    counts = [roles[role] for role in ("leaf", "spine", "core") if roles[role]]
    assert head["Tiers"] == len(counts) and switches_of(head, tiers) == counts
    servers = [link for link in plan.links if plan.device_at[link.a.device].role == "server"]
    assert head["Nodes"] == len(servers)
    assert tiers[0]["Downlink_Latency_ns"] == round(max(link.length_m for link in servers) * NS_PER_METRE)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (lambda: solved("one tier"), "it has one tier of switches"),
        (lambda: designed("torus"), "links from leaf to leaf"),
        (lambda: designed("torus of servers"), "links from server to server"),
        (lambda: designed("floor"), "4 links of 400 Gb/s below a switch and 5 of 400 Gb/s above it"),
        (lambda: designed("dragonfly+"), "links from spine to spine"),
        (lambda: designed("clos, three tiers"), "numbers of links below a leaf differ"),
        (twin, "it is 2 networks that share no switch, and htsim knows one"),
    ],
)
def test_what_htsim_cannot_say_is_refused(design: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        written(design(), tmp_path, "htsim")
    assert "cannot be said in htsim's words" in str(refused.value) and message in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["astra-sim", "htsim", "simai"])
def test_a_design_without_compute_fabrics_is_refused(name: str, tmp_path: Path) -> None:
    design = solved("plain")
    wiring = wiring_of(design)
    fabrics = tuple(fabric.model_copy(update={"role": "storage"}) for fabric in design.fabrics)
    with pytest.raises(InputError, match=r"simulators are told compute fabrics.*\(compute: storage\)"):
        export(design.model_copy(update={"fabrics": fabrics}), wiring, [name], tmp_path, Options())
