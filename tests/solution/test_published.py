"""Published designs come out of the optimizer when it may use just their parts.

Figures and citations are in ``tests/published``. Where a figure of ours would differ, the test would say why.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.paths import PUBLISHED
from tests.samples.small import assert_proven, bought, counts

FOLDER = PUBLISHED
SUPERPOD = yaml.safe_load((FOLDER / "dgx-superpod-h100.yaml").read_text())
DEEPSEEK, JUNIPER, DEUCALION, EXAMPLE = yaml.safe_load((FOLDER / "fat-trees.yaml").read_text())
SUPERPOD_PARTS, FAT_TREE_PARTS = str(FOLDER / "superpod-parts.yaml"), str(FOLDER / "fat-tree-parts.yaml")
RAILS = 8


def designed(parts: str, server: str, servers: int, site: dict[str, Any] | None = None, **fabric: Any) -> Design:
    demand = {"name": "compute", "min_gbps_per_gpu": 400, "max_oversubscription": 1, "groups": "equal", **fabric}
    case = {"name": "published", "server": server, "servers": servers, "fabrics": [demand], "site": site or {}}
    # the parts say nothing of managers, hosts for which would take ports that the published counts do not have, and
    # their cables are of one length
    case["rules"] = {"subnet-manager": False, "lengths": False}
    design = optimize.solve(inputs_from_objects(case, catalogs=[parts]), alternatives_s=0)
    assert_proven(design)
    return design


def superpod(row: dict[str, int]) -> Design:
    ufm = {"name": "ufm", "ports": row.get("ufm_ports", 0), "gbps": 400, "form_factor": "OSFP-RHS", "split": "1x400"}
    attachments = [ufm] if "ufm_ports" in row else []
    return designed(SUPERPOD_PARTS, "dgx-h100", row["servers"], attachments=attachments)


@pytest.mark.long(but=("128-servers", "96-servers"))
@pytest.mark.parametrize("row", SUPERPOD["cases"], ids=lambda row: f"{row['servers']}-servers")
def test_superpod(row: dict[str, int]) -> None:
    """NVIDIA DGX SuperPOD H100 Reference Architecture RA-11333-001 V11 (2023-09-22), tables 3 and 7."""
    expected = {key: value for key, value in row.items() if key not in ("servers", "ufm_ports")}
    assert counts(superpod(row)) == expected


def test_superpod_bill() -> None:
    """The same, tables 4 and 8: the bill of 127 servers with four links to the subnet managers.

    The published counts are the fabric's: four more cables and four transceivers lead to the managers.
    """
    row = next(row for row in SUPERPOD["cases"] if "ufm_ports" in row)
    bill = SUPERPOD["bill_of_127_servers"]
    design = superpod(row)
    assert bought(design) == {
        "qm9700": bill["switches"],
        "ndr-cable": bill["ndr_cables"] + row["ufm_ports"],
        "switch-twin": bill["switch_twin_transceivers"],
        "server-twin": bill["server_twin_transceivers"],
        "ufm-single": row["ufm_ports"],
    }
    assert design.totals is not None
    assert design.totals.switches == bill["switches"]


@pytest.mark.long("three-tier")
@pytest.mark.parametrize("row", DEEPSEEK["cases"][:2], ids=lambda row: row["name"])
def test_full_fat_trees(row: dict[str, Any]) -> None:
    """Insights into DeepSeek-V3 (ISCA 2025), table 3: full trees of 64-port switches."""
    tiers = 2 if row["name"] == "two-tier" else 3
    only = {role: ["ports-64"] for role in ("leaf", "spine", "core")}
    found = counts(designed(FAT_TREE_PARTS, "eight-ports", row["servers"], tiers=tiers, switches=only))
    assert found["server_leaf"] == row["endpoints"]
    assert found["leaf"] + found["spine"] + found.get("core", 0) == row["switches"]
    assert found["leaf_spine"] + found.get("spine_core", 0) == row["switch_links"]


@pytest.mark.long(but=("planes",))
@pytest.mark.parametrize("fabric", [{"planes": "rails"}, {"topologies": ["rail-only"]}], ids=["planes", "rail-only"])
def test_multi_plane_fat_tree(fabric: dict[str, Any]) -> None:
    """The same table: eight planes of two tiers, each GPU and NIC in one, traffic between planes inside servers."""
    row = DEEPSEEK["cases"][2]
    only = {role: ["ports-64"] for role in ("leaf", "spine")}
    design = designed(FAT_TREE_PARTS, "eight-rails", row["servers"], tiers=2, switches=only, **fabric)
    assert design.fabrics[0].planes * design.fabrics[0].rails == row["planes"]
    found = counts(design)
    assert found["server_leaf"] == row["endpoints"]
    assert found["leaf"] + found["spine"] == row["switches"]
    assert found["leaf_spine"] == row["switch_links"]


@pytest.mark.long(but=("128-ports",))
@pytest.mark.parametrize("row", JUNIPER["cases"][:3], ids=lambda row: f"{row['leaf_ports_400g']}-ports")
def test_juniper_stripes(row: dict[str, int]) -> None:
    """Juniper Validated Design, AI data center multitenancy, table 5: a stripe is full, one server more opens another.

    Spines are not published; any switch of the parts may be one.
    """
    leaf = {"leaf": [f"ports-{row['leaf_ports_400g']}"]}
    servers = row["servers_per_stripe"]
    full = designed(FAT_TREE_PARTS, "eight-ports", servers, tiers=2, switches=leaf)
    assert full.fabrics[0].structure.servers_per_group == servers
    assert full.fabrics[0].tiers[0].down_ports * RAILS == row["gpus_per_stripe"]
    assert counts(full)["leaf"] == RAILS
    above = designed(FAT_TREE_PARTS, "eight-ports", servers + 1, tiers=2, switches=leaf)
    assert counts(above)["leaf"] == 2 * RAILS


@pytest.mark.parametrize(("servers", "equal_usd", "any_usd"), [(17, 593_000, 465_600), (33, 1_071_200, 845_400)])
def test_a_last_group_of_its_own_saves(servers: int, equal_usd: int, any_usd: int) -> None:
    """What docs/benchmarks.md says of ``groups: any``, one server above a full stripe."""
    leaf = {"leaf": [f"ports-{2 * servers - 2}"]}
    for groups, usd in (("equal", equal_usd), ("any", any_usd)):
        design = designed(FAT_TREE_PARTS, "eight-ports", servers, tiers=2, switches=leaf, groups=groups)
        assert design.totals is not None
        assert design.totals.capex_usd == usd


def test_juniper_16000_gpus() -> None:
    """Juniper Validated Design, AI data center multitenancy, table 6: 16,000 GPUs on 128-port leaves.

    Spines are not published; here they are a chassis of 256 ports.
    """
    row = JUNIPER["cases"][3]
    switches = {"leaf": [f"ports-{row['leaf_ports_400g']}"], "spine": ["chassis-256"]}
    design = designed(FAT_TREE_PARTS, "eight-ports", row["gpus"] // 8, tiers=2, switches=switches)
    assert design.fabrics[0].structure.groups == row["stripes"]
    assert counts(design)["leaf"] == row["leaf"]


def test_deucalion() -> None:
    """Deucalion x86 partition, HDR InfiniBand on 40-port QM8790 switches: ten spines, as even striping asks."""
    (row,) = DEUCALION["cases"]
    design = designed(FAT_TREE_PARTS, "one-port", row["servers"], min_gbps_per_gpu=200)
    leaf = design.fabrics[0].tiers[0]
    assert (leaf.down_ports, leaf.up_ports) == (row["down_per_leaf"], row["up_per_leaf"])
    found = counts(design)
    assert (found["leaf"], found["spine"]) == (row["leaf"], row["spine"])


def test_deucalion_by_port_counting() -> None:
    """The same with free striping: nine spines, as port counting gives."""
    (row,) = DEUCALION["cases"]
    design = designed(FAT_TREE_PARTS, "one-port", row["servers"], min_gbps_per_gpu=200, striping="any")
    assert counts(design)["spine"] == 9


def test_worked_example() -> None:
    """Worked example of the two-tier sizing in a public AI cluster network design guide."""
    (row,) = EXAMPLE["cases"]
    design = designed(
        FAT_TREE_PARTS,
        "open-slots",
        row["servers"],
        tiers=2,
        nics_per_server=row["nics_per_server"],
        min_gbps_per_gpu=row["min_gbps_per_gpu"],
        switches={"leaf": ["ports-64"], "spine": ["ports-32"]},
    )
    fabric = design.fabrics[0]
    assert (fabric.tiers[0].down_ports, fabric.tiers[0].up_ports) == (row["down"], row["up"])
    assert (fabric.tiers[0].count, fabric.tiers[1].count) == (row["leaf"], row["spine"])
    assert fabric.structure.links_per_pair == row["links_per_leaf_spine_pair"]
