"""Switches whose neighbouring cages drive only so many ports together, as two cages of Tomahawk 5 drive ten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, cages_beside
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


def _catalog(pair: int | None) -> Json:
    """Switches of eight cages; servers with a 100G NIC; cables that break out eight ports, or join 2x400."""
    switch = {
        "id": "t5", "protocol": "ethernet", "power_w": 500, "price_usd": 10000,
        "cages": [{"count": CAGES, "form_factor": "OSFP", "splits": list(SPLITS)}],
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


def _solved(servers: int, pair: int | None, tiers: int) -> Design:
    case = {
        "name": "pairs", "server": "gpu-1", "servers": servers,
        "fabrics": [{"name": "compute", "tiers": tiers, "min_gbps_per_gpu": 100}],
    }  # fmt: skip
    return solved(case, _catalog(pair))


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


@pytest.mark.parametrize("below", SPLITS)
@pytest.mark.parametrize("above", SPLITS)
def test_search_and_verifier_count_the_same(below: str, above: str) -> None:
    """``cages_beside`` and pairs counted one by one agree on every number of cages of every two splits."""
    down, up = _use(below), _use(above)
    switch = Switch.model_validate_json(
        '{"id": "t5", "protocol": "ethernet", "cages": [{"count": 8, "form_factor": "OSFP", "splits": '
        '["8x100", "4x200", "2x400", "1x800"]}], "ports_per_cage_pair": 10}'
    )
    for taken in range(up.cages + 1):
        left = int(cages_beside(down, up, np.array([taken]))[0])
        for cages in range(down.cages + 1):
            proof = Proof()
            uses = (PortUse(cage_group=0, split=below), cages), (PortUse(cage_group=0, split=above), taken)
            pairs_fit(proof, switch, "leaf", *uses)
            assert (not proof.broken) == (cages <= left), (below, cages, above, taken)


def _use(split: str) -> CageUse:
    port = PortType(frozenset(), parse_split(split), None, None, frozenset())
    use = CageUse(0, split, CAGES, port, CAGES, MOST)
    return CageUse(0, split, CAGES // 2, port, CAGES, MOST) if use.halves else use
