"""Links of servers and attachments that share the cages of leaves, worked out once for equal leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from fabopt.io.case import read_inputs
from fabopt.solution import optimize
from fabopt.topology.clos import joint_links
from tests.paths import ROOT
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, inputs


class _WorkedOutAnew:
    """In place of what is kept: works every value out anew, and holds it against those of the same key before."""

    def __init__(self) -> None:
        self.known: dict[tuple[Hashable, Hashable], Any] = {}
        self.met_again = 0

    def of(self, owner: Hashable, key: Hashable, work_out: Callable[..., Any], *args: Any) -> Any:
        value = work_out(*args)
        if (owner, key) in self.known:
            assert value == self.known[owner, key]
            self.met_again += 1
        self.known[owner, key] = value
        return value


@pytest.mark.long
def test_equal_leaves_have_equal_choices_in_a_shipped_case(monkeypatch: pytest.MonkeyPatch) -> None:
    anew = _WorkedOutAnew()
    monkeypatch.setattr(joint_links, "_JOINT_CHOICES", anew)
    optimize.solve(read_inputs(ROOT / "cases" / "four-fabrics-1024-gpus.yaml"), alternatives_s=0)
    assert anew.met_again > 0


@pytest.mark.long
def test_equal_leaves_have_equal_choices_in_random_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    anew = _WorkedOutAnew()
    monkeypatch.setattr(joint_links, "_JOINT_CHOICES", anew)
    for seed in range(30):
        run(*generate("attached", seed))
    assert anew.met_again > 0


def test_attachments_and_uplinks_do_not_take_the_same_cage() -> None:
    """Leaves of four cages with 3 or 4 servers on two splitters: the box has parts of its own in a third one.

    Uplinks to two spines, each one link of a cable that carries two, would take two more.
    """
    cage = {"count": 4, "form_factor": "OSFP", "splits": ["2x100"]}
    osfp, qsfp = ({"form_factor": form, "split": split} for form, split in (("OSFP", "2x100"), ("QSFP56", "1x100")))
    lengths = [{"m": 5, "price_usd": 55}, {"m": 30, "price_usd": 80}]
    parts: Json = {
        "switches": [{"id": "switch", "protocol": "ethernet", "cages": [cage], "price_usd": 900, "power_w": 100}],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "price_usd": 190, "power_w": 8,
                  "cages": [{"count": 1, "form_factor": "QSFP56", "splits": ["1x100"]}]}],
        "transceivers": [{"id": "optic", "form_factor": "OSFP", "split": "2x100", "standard": "100G-DR", "fibre": "smf",
                          "connector": "LC", "connectors": 2, "reach_m": 100, "power_w": 3, "price_usd": 80}],
        "cables": [{"id": "pair", "medium": "DAC", "ends": [osfp, osfp], "lengths": lengths, "power_w": 0},
                   {"id": "splitter", "medium": "DAC", "ends": [osfp, {**qsfp, "count": 2}], "lengths": lengths,
                    "power_w": 0}],
        "fibres": [{"id": "fibre", "fibre": "smf", "connectors": ["LC", "MPO"],
                    "lengths": [{"m": 3, "price_usd": 23}]}],
        "servers": [{"id": "box", "gpus": 4, "nic_slots": 6, "price_usd": 1000, "power_w": 700,
                     "pcie": {"generation": 4, "lanes": 16}}],
    }  # fmt: skip
    attachment = {"name": "storage", "ports": 1, "buys": "near", "gbps": 100}
    fabric = {"name": "compute", "min_gbps_per_gpu": 50, "max_oversubscription": 50, "striping": "any", "tiers": 2,
              "attachments": [attachment]}  # fmt: skip
    content = {"server": "box", "servers": 7, "fabrics": [fabric], "rules": "none", "resilience": "default",
               "site": {"distances_m": {"server-leaf": 3, "leaf-spine": 30}}}  # fmt: skip
    design = optimize.solve(
        inputs({"name": "small", "catalog": ["./catalog.yaml"], **content}, parts), alternatives_s=0
    )
    assert_proven(design)
