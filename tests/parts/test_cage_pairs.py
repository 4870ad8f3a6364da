"""Switches whose neighbouring cages drive only so many ports together, as two cages of Tomahawk 5 drive ten."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fabopt.parts.port_types import PortType
from fabopt.parts.switches import cage_use, cages_beside
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, PortUse
from fabopt.verify import verify
from fabopt.verify.cage_pairs import pairs_fit
from fabopt.verify.proof import Proof
from fabopt.wiring.build import wiring_of
from tests.samples.small import counts, solved

Json = dict[str, Any]
CAGES, MOST = 8, 10
SPLITS = ("8x100", "4x200", "2x400", "1x800")


def _catalog(pair: int | None, apart: Sequence[str] = ()) -> Json:
    """Switches of eight cages; servers with a 100G NIC; cables that break out eight ports, or join 2x400."""
    switch = {
        "id": "t5", "protocol": "ethernet", "power_w": 500, "price_usd": 10000,
        "cages": [{"count": CAGES, "form_factor": "OSFP", "splits": list(SPLITS), "every_second": list(apart)}],
        **({} if pair is None else {"ports_per_cage_pair": pair}),
    }  # fmt: skip
    breakout = [{"form_factor": "OSFP", "split": "8x100"}, {"form_factor": "QSFP28", "split": "1x100", "count": 8}]
    straight = [{"form_factor": "OSFP", "split": "2x400"}, {"form_factor": "OSFP", "split": "2x400"}]
    return {
        "switches": [switch],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "power_w": 10, "price_usd": 100,
                  "cages": [{"count": 1, "form_factor": "QSFP28", "splits": ["1x100"]}]}],
        "servers": [{"id": "gpu-1", "gpus": 1, "nic_slots": 1, "power_w": 700}],
        "cables": [
            {"id": name, "medium": "DAC", "power_w": 0, "ends": ends, "lengths": [{"m": 50, "price_usd": 80}]}
            for name, ends in (("breakout", breakout), ("straight", straight))
        ],
    }  # fmt: skip


def _solved(servers: int, pair: int | None, tiers: int, apart: Sequence[str] = ()) -> Design:
    case = {
        "name": "pairs", "server": "gpu-1", "servers": servers,
        "fabrics": [{"name": "compute", "tiers": tiers, "min_gbps_per_gpu": 100}],
    }  # fmt: skip
    return solved(case, _catalog(pair, apart))


def test_one_switch_has_eight_ports_in_every_second_cage() -> None:
    """Eight cages in four pairs: four cages of 8x100, 32 ports; without the limit 64."""
    assert _solved(32, MOST, 1).status == "optimal"
    assert _solved(33, MOST, 1).status == "infeasible"
    assert _solved(64, None, 1).status == "optimal"


def test_neighbours_share_a_pair_where_two_ports_are_left() -> None:
    """Two tiers: a leaf has 32 servers in four cages, and their neighbours are 2x400 uplinks of the same speed."""
    design = _solved(64, MOST, 2)
    assert design.status == "optimal" and counts(design)["leaf"] == 2
    links = wiring_of(design).links
    down = set(links.b_cage[links.kind == 0].tolist())
    up = set(links.a_cage[links.kind != 0].tolist())
    assert down == {1, 3, 5, 7} and up == {2, 4, 6, 8}
    assert all(check.ok for check in design.checks)


def test_a_design_that_overdrives_pairs_is_refused() -> None:
    design = _solved(64, None, 1)
    switch = {**design.parts["t5"], "ports_per_cage_pair": MOST}
    broken = design.model_copy(update={"parts": {**design.parts, "t5": switch}})
    failed = {check.name for check in verify(broken) if not check.ok}
    assert {"ports_fit_radix", "ports_are_used_once"} <= failed


@pytest.mark.long(
    but=(
        "10-apart0-8x100-8x100",
        "10-apart1-4x200-4x200",
        "8-apart3-8x100-8x100",
        "None-apart2-4x200-1x800",
        "None-apart2-4x200-2x400",
    )
)
@pytest.mark.parametrize("below", SPLITS)
@pytest.mark.parametrize("above", SPLITS)
@pytest.mark.parametrize(
    ("most", "apart"), [(MOST, []), (MOST, ["4x200", "8x100"]), (None, ["4x200", "1x800"]), (8, ["2x400"])]
)
def test_search_and_verifier_count_the_same(below: str, above: str, most: int | None, apart: list[str]) -> None:
    """``cages_beside`` and pairs counted one by one agree on every number of cages of every two splits."""
    group = {"count": CAGES, "form_factor": "OSFP", "splits": list(SPLITS), "every_second": apart}
    content = {"id": "t5", "protocol": "ethernet", "cages": [group], "ports_per_cage_pair": most}
    switch = Switch.model_validate_json(json.dumps(content))
    down, up = (cage_use(switch, 0, split, _port(split)) for split in (below, above))
    for taken in range(up.cages + 1):
        left = int(cages_beside(down, up, np.array([taken]))[0])
        for cages in range(down.cages + 1):
            proof = Proof()
            uses = (PortUse(cage_group=0, split=below), cages), (PortUse(cage_group=0, split=above), taken)
            pairs_fit(proof, switch, "leaf", *uses)
            assert (not proof.broken) == (cages <= left) == _fits_by_hand(below, cages, above, taken, most, apart)


def _fits_by_hand(below: str, cages: int, above: str, taken: int, most: int | None, apart: list[str]) -> bool:
    """Whether some way to deal four pairs of cages, each idle or one of two uses, has so many of each."""
    ports = {"": 0, **{split: parse_split(split).ports for split in SPLITS}}
    uses = {"": (0, 0), "down": (1, 0), "up": (0, 1)}
    split_of = {"": "", "down": below, "up": above}
    pairs = set()
    for one, other in itertools.product(uses, repeat=2):
        splits = split_of[one], split_of[other]
        driven = most is None or sum(ports[split] for split in splits) <= most
        if driven and sum(split in apart for split in splits) < 2:
            pairs.add((uses[one][0] + uses[other][0], uses[one][1] + uses[other][1]))
    sums = {(0, 0)}
    for _ in range(CAGES // 2):
        sums = {(a + c, b + d) for a, b in sums for c, d in pairs}
    return (cages, taken) in sums


def _port(split: str) -> PortType:
    return PortType(frozenset(), parse_split(split), None, None, frozenset())


def test_every_second_cage_of_a_split_that_its_neighbour_cannot_have() -> None:
    """Four of eight cages take 8x100, as of a pair that drives ten ports; the neighbours take uplinks all the same."""
    assert _solved(32, None, 1, ["8x100"]).status == "optimal"
    assert _solved(33, None, 1, ["8x100"]).status == "infeasible"
    design = _solved(64, None, 2, ["8x100"])
    links = wiring_of(design).links
    assert set(links.b_cage[links.kind == 0].tolist()) == {1, 3, 5, 7}
    assert set(links.a_cage[links.kind != 0].tolist()) == {2, 4, 6, 8}
    assert all(check.ok for check in design.checks)


def test_a_design_with_neighbours_that_are_never_both_so_is_refused() -> None:
    design = _solved(64, None, 1)
    switch = {**design.parts["t5"], "cages": [{**design.parts["t5"]["cages"][0], "every_second": ["8x100"]}]}
    broken = design.model_copy(update={"parts": {**design.parts, "t5": switch}})
    assert {"ports_fit_radix", "ports_are_used_once"} <= {check.name for check in verify(broken) if not check.ok}


@pytest.mark.parametrize(("apart", "expected"), [([], 2), (["1x100"], 1)])
def test_a_nic_of_which_one_cage_runs_leaves_the_other_dark(apart: list[str], expected: int) -> None:
    """Servers are to have 200G: two ports of one NIC, or two NICs with a port each."""
    catalog = _catalog(None)
    catalog["nics"][0]["cages"][0].update(count=2, every_second=apart)
    catalog["servers"][0]["nic_slots"] = 2
    fabric = {"name": "compute", "tiers": 1, "min_gbps_per_gpu": 200}
    design = solved({"name": "dark", "server": "gpu-1", "servers": 8, "fabrics": [fabric]}, catalog)
    assert (design.status, design.fabrics[0].nic.ports_per_nic) == ("optimal", expected)
    nic = {**design.parts["nic"], "cages": [{**design.parts["nic"]["cages"][0], "every_second": ["1x100"]}]}
    broken = design.model_copy(update={"parts": {**design.parts, "nic": nic}})
    assert ("ports_fit_nics" in {check.name for check in verify(broken) if not check.ok}) == (not apart)
