"""What a catalog leaves out of planes: splits of NICs, numbers that none has, and parts that would save a tier.

Boxes of 64 cages of 800G, as 2 x 400 or 8 x 100: 128 or 512 ports. 1,100 servers of eight ports of 400G are too many
for leaves and spines of 128 ports, and not for leaves whose uplinks are broken out as 8 x 100.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.first_screen import first_rows
from fabopt.parts.nic_planes import unsplit_words
from fabopt.schema.catalog import Nic
from fabopt.schema.design import Design
from fabopt.solution import optimize
from tests.paths import PUBLISHED

Json = dict[str, Any]
PARTS = yaml.safe_load((PUBLISHED / "multi-plane-parts.yaml").read_text())
OF_100G = ("eight-lanes", "eight-lanes-nic")


def without(*ids: str) -> Json:
    """The parts without some products."""
    kinds = {kind: products for kind, products in PARTS.items() if isinstance(products, list)}
    kept = {kind: [product for product in products if product["id"] not in ids] for kind, products in kinds.items()}
    return copy.deepcopy(kept)


def made(parts: Json, servers: int, server: str = "eight-400", **fabric: Any) -> Design:
    switches = {role: ["ports-512"] for role in ("leaf", "spine", "core")}
    wanted = {"name": "compute", "min_gbps_per_gpu": 400, "max_oversubscription": 1, "switches": switches, **fabric}
    case = {"name": "planes", "server": server, "servers": servers, "fabrics": [wanted]}
    rules = {"rules": {"subnet-manager": False, "lengths": False}}
    return optimize.solve(inputs_from_objects({**case, **rules}, parts), alternatives_s=0)


def told(design: Design, words: str) -> list[str]:
    return [note for note in design.notes if words in note]


@pytest.mark.long(but=("fits",))
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize(
    ("servers", "missing", "tiers"),
    [(1100, OF_100G, 3), (1100, (), 2), (900, OF_100G, 2)],
    ids=["saved", "joined", "fits"],
)
def test_a_tier_that_split_uplinks_would_save_is_told(servers: int, missing: tuple[str, ...], tiers: int) -> None:
    design = made(without(*missing), servers)
    assert len(design.fabrics[0].tiers) == tiers
    line = "compute: two tiers could do with uplinks as 8x100, which no parts of the catalog join"
    assert told(design, "two tiers could do") == [line] * (tiers == 3)
    assert any("two tiers could do" in row.words for row in first_rows(design)) is (tiers == 3)


NIC = {"id": "twin", "protocols": ["ethernet"], "power_w": 50, "price_usd": 1800}


@pytest.mark.parametrize(
    ("cage", "ports"),
    [
        ({"form_factor": "OSFP-RHS", "splits": ["2x400", "1x800"]}, 8),
        ({"form_factor": "OSFP-RHS", "splits": ["2x400", "1x800"], "lane_gbps": 200}, 4),
        ({"form_factor": "QSFP112", "splits": ["1x400", "2x200"]}, 4),
        ({"form_factor": "OSFP-RHS", "splits": ["2x400", "8x100"]}, 0),
        ({"form_factor": "QSFP112", "splits": ["1x400", "4x100"]}, 0),
        ({"form_factor": "SFP28", "splits": ["1x25"]}, 0),
    ],
)
def test_lanes_that_no_split_makes_ports_of(cage: Json, ports: int) -> None:
    words = unsplit_words(Nic.model_validate_json(json.dumps({**NIC, "cages": [{"count": 1, **cage}]})))
    assert bool(words) is bool(ports) and f"the {ports} lanes of twin could be {ports}x" * bool(ports) in words


def test_the_answer_says_that_its_nic_could_have_more_planes() -> None:
    parts = without()
    next(nic for nic in parts["nics"] if nic["id"] == "nic-800")["cages"][0]["splits"] = ["2x400"]
    wide = {"server": "eight-800", "min_gbps_per_gpu": 800}
    lanes = (
        "compute: the 8 lanes of nic-800 could be 8x100, and the catalog lists 2x400: more planes were not looked at"
    )
    assert told(made(parts, 16, **wide, planes="any"), "lanes") == [lanes]
    assert told(made(parts, 16, **wide), "lanes") == []
    assert told(made(without(), 16, **wide, planes=2), "lanes") == []


def test_more_planes_than_any_nic_is_made_for_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        made(without(), 16, "eight-800", planes=[16, 32])
    (fault,) = refused.value.faults
    assert fault.path == "fabrics[0].planes"
    assert fault.problem == "no NIC for 16 or 32 planes; nic-800 has ports for 1, 2, 4 or 8 planes"


def test_planes_that_its_nics_have_no_ports_for_are_a_conflict_that_says_so() -> None:
    """A number that other NICs have is no mistake, and no design."""
    design = made(without(), 16, planes=2)
    assert design.status == "infeasible" and [one.limit for one in design.conflicts] == ["fabrics.compute.planes"]
    assert "no NIC for 2 planes; nic-400 has ports for 1 plane" in (design.conflicts[0].detail or "")


def test_ports_that_are_finer_than_planes_are_told() -> None:
    """Four planes of 8 x 100, as nothing joins 4 x 200 to a box of 8 x 100; where 200G leaves do, nothing is said."""
    wide = {"server": "eight-800", "min_gbps_per_gpu": 800, "planes": 4}
    finer = "nic-800 as 8x100 is split finer than its planes, 4: 2 ports in each; as 4x200 one would do"
    assert told(made(without(), 16, **wide), "finer") == [
        f"compute: {finer}, which no parts of the catalog join to a leaf"
    ]
    boxes = {role: ["box-102t"] for role in ("leaf", "spine", "core")}
    assert told(made(without(), 16, **wide, switches=boxes), "finer") == []
    both = {role: ["box-102t", "ports-512"] for role in ("leaf", "spine", "core")}
    assert told(made(without(), 16, **wide, switches=both), "finer") == [
        f"compute: {finer}, which costs more here, if it can be built"
    ]
