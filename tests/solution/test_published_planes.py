"""Published networks of several planes, and others of 2025 and 2026, come out of parts that are made for the trial.

Figures and citations are in ``tests/published/multi-plane.yaml``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import yaml

from fabopt.parts.port_types import PortType, parse_split
from fabopt.parts.switches import CageUse
from fabopt.schema.design import Design
from fabopt.topology.direct.networks import Rates
from fabopt.topology.dragonfly_plus.networks import GroupLoad, SpinePorts, frames, networks
from tests.paths import PUBLISHED
from tests.samples.once import once
from tests.samples.small import bought, counts, usd
from tests.solution.test_published import designed

Json = dict[str, Any]
ROWS = {row["name"]: row for row in yaml.safe_load((PUBLISHED / "multi-plane.yaml").read_text())["cases"]}
PARTS = str(PUBLISHED / "multi-plane-parts.yaml")


def made(name: str, server: str, servers: int = 0, **fabric: Any) -> Design:
    """A published network, solved once; ``only``: the switch of all tiers."""
    only = fabric.pop("only", None)
    if only is not None:
        fabric["switches"] = {role: [only] for role in ("leaf", "spine", "core")}
    servers = servers or ROWS[name]["servers"]
    return once(lambda: designed(PARTS, server, servers, **fabric), name, server, servers, str(fabric))


def switches(design: Design) -> int:
    return sum(tier.count for tier in design.fabrics[0].tiers)


def transceivers(design: Design) -> int:
    kinds = {row.id: row.kind for row in design.bom}
    return sum(number for id_, number in bought(design).items() if kinds[id_] == "transceiver")


def eight_planes() -> Design:
    return made("eight-planes", "eight-800", min_gbps_per_gpu=800, planes="any", only="ports-512")


def three_tiers() -> Design:
    """The same NICs as 2 x 400G: 128 ports of a box are too few for two tiers."""
    return made("eight-planes", "eight-800", min_gbps_per_gpu=800, planes=2, only="ports-128")


@pytest.mark.usefixtures("unadvised")
def test_131072_nics_in_eight_planes() -> None:
    """Of all numbers of planes eight are the cheapest, and each path has three switches at most."""
    design, expected = eight_planes(), ROWS["eight-planes"]["expect"]
    fabric = design.fabrics[0]
    assert (fabric.planes, fabric.nic.split) == (8, "8x100")
    assert {role: counts(design)[role] for role in ("leaf", "spine")} == {
        role: expected[role] for role in ("leaf", "spine")
    }
    assert transceivers(design) == expected["transceivers"]
    assert fabric.metrics.max_switch_hops == expected["max_switch_hops"]


@pytest.mark.long
@pytest.mark.usefixtures("unadvised")
def test_planes_take_three_fifths_of_the_switches_and_two_thirds_of_the_optics() -> None:
    row, planes, tiers = ROWS["eight-planes"], eight_planes(), three_tiers()
    assert len(tiers.fabrics[0].tiers) == 3
    assert {"switches": switches(tiers), "transceivers": transceivers(tiers)} == row["beside"]
    assert Fraction(switches(planes), switches(tiers)) == Fraction(*row["ratio"]["switches"])
    assert Fraction(transceivers(planes), transceivers(tiers)) == Fraction(*row["ratio"]["transceivers"])


@pytest.mark.long
def test_16384_nics_in_four_planes() -> None:
    design = made("four-planes", "eight-800", min_gbps_per_gpu=800, planes=4, only="box-102t")
    assert {role: counts(design)[role] for role in ("leaf", "spine")} == ROWS["four-planes"]["expect"]


@pytest.mark.parametrize("name", ["amd-tree", "amd-rail"])
def test_amd_reference(name: str) -> None:
    """Leaves that give more above than below; the tree deals a server's ports over leaves as they come."""
    row = ROWS[name]
    rails = {"rails": "any"} if name == "amd-tree" else {}
    keys: Json = {"max_oversubscription": row["ratio"], "tiers": 2, "only": "ports-128", **rails}
    design = made(name, "eight-400", **keys)
    assert switches(design) <= row["expect"]["switches_at_most"]
    if name == "amd-tree":
        assert counts(design)["leaf"] == row["expect"]["leaf"]


@pytest.mark.parametrize(("name", "server"), [("rubin-nvl8", "eight-xdr"), ("gb300-unit", "four-xdr")])
def test_boxes_of_144_ports(name: str, server: str) -> None:
    design = made(name, server, min_gbps_per_gpu=800, tiers=2, only="ports-144")
    assert {role: counts(design)[role] for role in ("leaf", "spine")} == ROWS[name]["expect"]


def test_jupiter_group_is_a_candidate() -> None:
    """15 leaves with 64 ports of 200 Gb/s down and two links of 400 to each of 16 spines, in 25 groups.

    A spine has 30 ports down and 33 of its 34 others up: 528 global links, 22 to each other group, whose cut carries
    22 x 400 x 375 / (2 x 64 x 15^2) = 114.6 Gb/s a port.
    """
    row = ROWS["jupiter"]
    size, spines, groups, ports = row["expect"]["leaf"], row["expect"]["spine"], 25, 64
    assert size * ports == row["nodes"] * 4
    use = CageUse(0, "1x400", 64, PortType(frozenset(), parse_split("1x400"), None, None, frozenset()), 64)
    spine, room = SpinePorts(64, use, use), 32
    for mbps, is_found in ((114_500, True), (114_600, False)):
        rates = Rates(Fraction(mbps), Fraction(100_000))
        wanted = GroupLoad(ports, size * groups * ports, rates, 400_000, 400_000)
        found = networks(frames(size * groups, wanted, room, spine), wanted, room, spine).numbers.tolist()
        assert ([size, spines, groups, 2, 528] in found) is is_found


@pytest.mark.usefixtures("unadvised")
def test_no_dragonfly_like_perlmutter_is_dearer() -> None:
    """Twelve cabinets of 32 switches, each with 16 endpoints: 128 nodes of four cards; 32 links between two of them."""
    size, groups, endpoints, links = ROWS["perlmutter"]["expect"]["switches_per_group"], 12, 16, 32
    nodes = size * endpoints // 4 * groups
    ratio = round(nodes * 4 // 2 / (groups // 2) ** 2 / links + 0.005, 2)
    site = {"servers_per_rack": endpoints, "distances_m": {"leaf-spine": 3, "spine-core": 50}}
    design = made(
        "perlmutter", "four-slingshot", nodes, topologies=["dragonfly"], group_by="rack", tiers="any", site=site,
        min_gbps_per_gpu=200, max_oversubscription=ratio, only="slingshot-64",
    )  # fmt: skip
    local, far = groups * size * (size - 1) // 2, groups * (groups - 1) // 2 * links
    assert usd(design) <= size * groups * 15000 + (nodes * 4 + local) * 100 + far * 800
