"""What roles mean: demands left out, storage traffic, sharing, cards, and published networks beside compute."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import named_catalogs
from fabopt.output.terminal.networks import SHARE_COLUMNS, network_shares
from fabopt.output.terminal.summary import summary
from fabopt.problem.problem import problem_of
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from tests.samples.bare import with_equal_groups
from tests.samples.bases import designed
from tests.samples.resilience import without_redundancy
from tests.samples.small import Json, assert_proven, counts
from tests.solution.test_published import SUPERPOD

STORAGE, MANAGEMENT = SUPERPOD["storage"], SUPERPOD["management"]


def case(*fabrics: Json, server: str = "nvidia-dgx-h200", servers: int = 16, **changes: Any) -> Json:
    content = {"name": "roles", "server": server, "servers": servers, "fabrics": list(fabrics), **changes}
    return with_equal_groups(without_redundancy(content))


def solved(content: Json) -> Design:
    return designed(None, content)


def demand(fabric: Json, **changes: Any) -> tuple[int, float, float]:
    """Mb/s per GPU and the ratios at leaves and spines that a fabric comes to."""
    inputs = inputs_from_objects(case(fabric, **changes))
    meant = problem_of(inputs.case, inputs.catalog).fabrics[0]
    return meant.gpu_mbps, float(meant.ratios.leaf), float(meant.ratios.spine)


def refused(content: Json, catalog: Catalog | None = None) -> str:
    with pytest.raises(InputError) as raised:
        inputs_from_objects(content, catalog)
    return str(raised.value)


# -- demand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("compute", (400_000, 1, 1)),
        # 200 Gb/s of a server of eight GPUs
        ("storage", (25_000, 1, 1)),
        # 25 Gb/s of a server of eight GPUs
        ("in-band", (3_125, 3, 3)),
        # 0.1 Gb/s of a server of eight GPUs, in whole Mb/s
        ("oob", (12, 10, 10)),
    ],
)
def test_every_role_has_its_defaults(role: str, expected: tuple[int, float, float]) -> None:
    assert demand({"name": "one", "role": role}) == expected


def test_a_bandwidth_per_server_is_shared_by_its_gpus() -> None:
    assert demand({"name": "one", "role": "storage", "min_gbps_per_server": 200})[0] == 25_000


def test_what_a_fabric_says_itself_goes_first() -> None:
    fabric = {"name": "one", "role": "in-band", "min_gbps_per_gpu": 10, "max_oversubscription": {"leaf": 2}}
    assert demand(fabric) == (10_000, 2, 3)


def test_storage_is_sized_by_checkpoint_and_loading() -> None:
    # 14,000 GB in 60 s are 8 * 14,000 / 60 = 1,866.7 Gb/s, of 16 servers 116.7 each, of 8 GPUs 14.583; and 2 of loading
    storage = {"checkpoint_gb": 14_000, "checkpoint_window_s": 60, "loading_gbps_per_gpu": 2}
    assert demand({"name": "one", "role": "storage", "storage": storage})[0] == 16_584


def test_the_smallest_stage_writes_the_largest_shares() -> None:
    storage = {"checkpoint_gb": 800, "checkpoint_window_s": 100}
    stages = [{"name": "a", "servers": 4}, {"name": "b", "month": 6, "servers": 8}]
    content = case({"name": "one", "role": "storage", "storage": storage}, stages=stages)
    del content["servers"]
    inputs = inputs_from_objects(content)
    # 64 Gb/s over 4 servers of 8 GPUs
    assert problem_of(inputs.case, inputs.catalog).fabrics[0].gpu_mbps == 2_000


def test_a_settled_case_is_settled_again_as_it_is() -> None:
    fabrics = [{"name": "a"}, {"name": "b", "role": "storage", "separation": "shared"}, {"name": "c", "role": "oob"}]
    inputs = inputs_from_objects(case(*fabrics, site={"servers_per_rack": 4}))
    once = problem_of(inputs.case, inputs.catalog).case
    assert problem_of(once, inputs.catalog).case == once


def test_strips_that_are_not_counted_are_told() -> None:
    oob = {"name": "b", "role": "oob", "tiers": 2}
    assert any("power strips are not counted" in note for note in solved(case(oob)).notes)
    assert not any("power strips" in note for note in solved(case(oob, site={"servers_per_rack": 4})).notes)


# -- attachments with a ratio of their own ----------------------------------------------------------------------


def test_attachments_are_carried_at_their_own_ratio() -> None:
    # Two planes of leaves each take 16 servers at 4:1 and 8 attachment ports at 1:1: (16/4 + 4/1) * 100 = 800 Gb/s up,
    # where all at 4:1 would need 500.
    fabric = {
        "name": "storage", "role": "storage", "protocol": "ethernet", "tiers": 2, "max_oversubscription": 4,
        "min_gbps_per_gpu": 25, "switches": {"leaf": ["nvidia-sn4600c"], "spine": ["nvidia-sn4600c"]},
        "attachments": [{"name": "nodes", "ports": 8, "gbps": 100, "buys": "none"}],
    }  # fmt: skip
    plain = solved(case(fabric))
    fabric["attachments"] = [{"name": "nodes", "ports": 8, "gbps": 100, "buys": "none", "max_oversubscription": 1}]
    strict = solved(case(fabric))
    for design, least in ((plain, 5), (strict, 8)):
        assert_proven(design)
        leaf = design.fabrics[0].tiers[0]
        assert (leaf.count, leaf.down_ports) == (2, 20)
        assert leaf.up_ports == least


# -- sharing ----------------------------------------------------------------------------------------------------


def test_a_shared_fabric_adds_to_the_one_that_carries_it() -> None:
    compute = {"name": "compute", "protocol": "ethernet", "min_gbps_per_gpu": 100, "max_oversubscription": 2}
    storage = {
        "name": "storage", "role": "storage", "separation": "shared", "shared_port": "added", "min_gbps_per_gpu": 50,
        "max_oversubscription": 1, "attachments": [{"name": "nodes", "ports": 4, "buys": "none"}],
    }  # fmt: skip
    design = solved(case(compute, storage, server="generic-hgx-h100"))
    assert_proven(design)
    assert [fabric.name for fabric in design.fabrics] == ["compute"]
    made = design.case.content["fabrics"][0]
    # 100 + 50 Gb/s; 150 / (100/2 + 50/1) = 1.5
    assert (made["min_gbps_per_gpu"], made["max_oversubscription"]) == (150, {"leaf": 1.5, "spine": 1.5})
    assert design.fabrics[0].metrics.injection_gbps_per_gpu >= 150
    assert any("QoS class" in note for note in design.notes)
    assert any(row.attachment == "nodes" for row in design.fabrics[0].links)


def test_only_what_can_be_designed_is_taken() -> None:
    assert "sharing needs one fabric of role compute, there are 0" in refused(
        case({"name": "b", "role": "storage", "separation": "shared"})
    )
    assert "role oob cannot be shared" in refused(
        case({"name": "a"}, {"name": "b", "role": "oob", "separation": "shared"})
    )


# -- cards ------------------------------------------------------------------------------------------------------


def test_two_fabrics_cannot_have_the_same_built_in_cards() -> None:
    text = refused(case({"name": "a", "role": "storage"}, {"name": "b", "role": "storage"}))
    assert "fabrics[1].role: nvidia-dgx-h200 has 2 built-in NICs for storage" in text
    assert "`a` cables all of them: 2 + 2 = 4 of 2" in text


def test_no_slot_is_no_fabric() -> None:
    # every server of the reference catalog has a card or a slot for storage
    catalog = named_catalogs(["reference"])
    full = next(server for server in catalog.servers if server.id == "nvidia-gb300-nvl72-tray")
    alone = full.model_copy(update={"nics": [nic for nic in full.nics if nic.role == "compute"]})
    wanted = case({"name": "a"}, {"name": "b", "role": "storage"}, server=full.id)
    text = refused(wanted, catalog.model_copy(update={"servers": [alone]}))
    assert "no built-in NICs for storage and no free slot (nic_slots is 0)" in text


@pytest.mark.long("True-4")
@pytest.mark.parametrize(("pairing", "number"), [(False, 3), (True, 4)])
def test_too_few_slots_are_added_up(pairing: bool, number: int) -> None:
    # a B3140H has one port of 400 Gb/s: 8 cards for 400 Gb/s per GPU, and three for 125, or four, which divide 8 GPUs
    cards = {"nics": ["nvidia-b3140h"]}
    storage = {"name": "b", "role": "storage", "min_gbps_per_gpu": 125, **cards}
    rules = {"nic-pairing": pairing}
    design = solved(case({"name": "a", **cards}, storage, server="generic-hgx-h100", rules=rules))
    assert design.status == "infeasible"
    (conflict,) = design.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("servers.generic-hgx-h100.nic_slots", 10, 8 + number)
    assert f"a 8 + b {number} = {8 + number} NICs at least, of 10 slots" in conflict.detail


# -- published --------------------------------------------------------------------------------------------------


def test_superpod_management() -> None:
    """8 in-band and 8 out-of-band switches for 317 ports of 1G, and a spine that is not counted there.

    The reference architecture prints counts, not how they come about. Its in-band switches have 64 ports of 100G: six
    leaves of 48 endpoints at 3:1 and two spines. Its out-of-band switches have 48 of 1G: eight leaves, whose uplinks go
    to the in-band network; here an out-of-band fabric stands alone, so a spine joins them. Of 317 ports 127 are of
    servers and 80 of switches (48 compute, 16 storage, 8 + 8 of management). It does not name the others: 2 strips in
    each of its 38 racks would be 76 of them, which leaves 34. With the spine's port we have 318.
    """
    switches = {"leaf": ["nvidia-sn4600c"], "spine": ["nvidia-sn4600c"]}
    in_band = {"name": "in-band", "role": "in-band", "tiers": 2, "min_gbps_per_server": 200, "switches": switches}
    small = {"leaf": ["nvidia-sn2201"], "spine": ["nvidia-sn2201"]}
    others = {"form_factor": "RJ45", "split": "1x1"}
    elsewhere = [{"name": "other-switches", "ports": 64, **others}, {"name": "unnamed", "ports": 34, **others}]
    oob = {
        "name": "oob", "role": "oob", "tiers": 2, "switches": small, "attachments": elsewhere,
        "oob": {"pdus": 2 * MANAGEMENT["racks"]},
    }  # fmt: skip
    design = solved(case(in_band, oob, server="nvidia-dgx-h100", servers=STORAGE["servers"]))
    assert_proven(design)
    assert sum(tier.count for tier in design.fabrics[0].tiers) == MANAGEMENT["in_band_switches"]
    leaf, spine = design.fabrics[1].tiers
    assert (leaf.count, spine.count) == (MANAGEMENT["oob_switches"], 1)
    ports = sum(row.count for row in design.fabrics[1].links if row.to == "leaf")
    assert ports == MANAGEMENT["oob_ports_1g"] + spine.count


def test_superpod_storage() -> None:
    """254 server and 48 storage links as published; 15 switches for 16, and 250 links between them for 240.

    Published: 494 = 254 + 240 links and 48 to storage, on 16 switches. Line by line:

    - 254 server links: 127 x 2. The same.
    - 48 links to storage. The same.
    - 240 between switches: 254 x 3/4 = 190.5 for servers and 48 for storage, 238.5. That is 192 + 48 if storage has
      leaves of its own. Here all leaves of a fabric are alike: on 10 leaves, of 26 servers and 5 storage ports, each
      needs 26 x 3/4 + 5 = 24.5 uplinks, so 25, and 250 in all.
    - 16 switches: 10 leaves and 5 spines are enough.
    """
    qm9700 = {"leaf": ["nvidia-qm9700"], "spine": ["nvidia-qm9700"]}
    nodes = {"name": "nodes", "ports": STORAGE["bill"]["ndr_2x200_to_storage"], "gbps": 400, "buys": "none"}
    fabric = {
        "name": "storage", "role": "storage", "protocol": "infiniband", "tiers": 2, "min_gbps_per_gpu": 100,
        "max_oversubscription": 1.3334, "switches": qm9700, "attachments": [nodes | {"max_oversubscription": 1}],
    }  # fmt: skip
    design = solved(case(fabric, server="nvidia-dgx-h100", servers=STORAGE["servers"]))
    assert_proven(design)
    found = counts(design)
    assert found["server_leaf"] == STORAGE["servers"] * STORAGE["ports_per_server"]
    assert found["attachment_leaf"] == 48
    assert (found["leaf"], found["spine"], found["leaf_spine"]) == (10, 5, 250)
    published = STORAGE["bill"]["ndr_cables_400"] - found["server_leaf"]
    assert (STORAGE["switches"], published) == (16, 240)
    assert 254 * 3 / 4 + 48 <= published <= found["leaf_spine"]


# -- one bill ---------------------------------------------------------------------------------------------------


def test_every_fabric_has_its_share_of_the_bill() -> None:
    storage = {"name": "storage", "role": "storage", "protocol": "ethernet", "min_gbps_per_gpu": 25}
    design = solved(case({"name": "compute", "protocol": "infiniband"}, storage, {"name": "oob", "role": "oob"}))
    shares = network_shares(design)
    assert design.totals is not None
    assert [one.name for one in shares] == ["compute", "storage", "oob"]
    assert round(sum(one.usd for one in shares), 2) == design.totals.capex_usd
    assert round(sum(one.power_w for one in shares), 3) == design.totals.power_w
    assert sum(one.switches for one in shares) == design.totals.switches
    assert sum(one.rack_units for one in shares) == design.totals.rack_units
    page = StringIO()
    Console(width=120, file=page).print(summary(design))
    for one in shares:
        cells = (column.cell(one) for column in SHARE_COLUMNS)
        assert " ".join(cells) in " ".join(page.getvalue().split())


def test_one_fabric_has_no_shares() -> None:
    assert network_shares(solved(case({"name": "compute", "protocol": "infiniband"}))) == []
