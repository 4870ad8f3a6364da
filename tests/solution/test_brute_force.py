"""Tiny instances in which one rule decides, derived by hand, for the brute force and for fabopt; then random ones.

Unless a test says otherwise: a server has 1 GPU, 2 card slots and needs 100 Gb/s; the card has one 1x100 cage (100 USD,
10 W), the switch four 1x100 cages (1000 USD, 100 W), the cable is 10, 20 and 30 USD at 3, 30 and 50 m, which are the
runs of the three kinds of links. So 4 servers on one switch are 1000 + 4 x 100 + 4 x 10 = 1440 USD.
"""

from __future__ import annotations

import copy
import json
import os
from fractions import Fraction
from typing import Any

import pytest

from tests.oracles.brute_endpoints import leaf_loads
from tests.oracles.brute_force import Best, solve
from tests.oracles.brute_parts import ItemTable, bundles, cage_classes, split_of, whole
from tests.samples.adapter import assert_agrees, differences, outline, outline_of_best, run
from tests.samples.random_cases import generate

Json = dict[str, Any]
Q = "QSFP56"
SEEDS = {
    "linear": 12,
    "limited": 5,
    "procurement": 5,
    "ruled": 8,
    "attached": 12,
    "three_tier": 8,
    "rails": 10,
    "planes": 8,
    "hosted": 10,
}
# A rule is named and all lengths are said, so that no rack is known which a group could cut.
ALL_SAID = ("procurement", 910_000)
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def cage(count: int, *splits: str, **keys: Any) -> Json:
    return {"count": count, "form_factor": Q, "splits": list(splits)} | keys


def switch(name: str, *cages: Json, usd: float = 1000, watts: float = 100, **keys: Any) -> Json:
    return {"id": name, "protocol": "ethernet", "cages": list(cages), "price_usd": usd, "power_w": watts} | keys


def card(name: str, cages: Json, usd: float = 100, watts: float = 10, **keys: Any) -> Json:
    return {"id": name, "protocols": ["ethernet"], "cages": [cages], "price_usd": usd, "power_w": watts} | keys


def cable(name: str, near: str, far: str, usd: tuple[Any, ...] = (10, 20, 30), heads: int = 1, **keys: Any) -> Json:
    ends = [{"form_factor": Q, "split": near}, {"form_factor": Q, "split": far, "count": heads}]
    lengths = [{"m": m, "price_usd": price} for m, price in zip((3, 30, 50), usd, strict=False)]
    return {"id": name, "medium": "DAC", "ends": ends, "lengths": lengths, "power_w": 0} | keys


def optic(name: str, split: str, usd: float, connector: str = "LC", connectors: int = 1, **keys: Any) -> Json:
    part = {"id": name, "form_factor": Q, "split": split, "standard": "100G-DR", "fibre": "smf", "connector": connector}
    return part | {"connectors": connectors, "reach_m": 100, "power_w": 1, "price_usd": usd} | keys


def fibre(name: str, a: str, b: str, usd: float, heads: int = 1) -> Json:
    ends = [{"connector": a, "count": 1}, {"connector": b, "count": heads}]
    return {"id": name, "fibre": "smf", "ends": ends, "lengths": [{"m": 50, "price_usd": usd}]}


def catalog(**kinds: Any) -> Json:
    found: Json = {
        "switches": [switch("switch", cage(4, "1x100"))],
        "nics": [card("card", cage(1, "1x100"))],
        "transceivers": [],
        "cables": [cable("cable", "1x100", "1x100")],
        "fibres": [],
        "servers": [{"id": "box", "gpus": 1, "nic_slots": 2, "price_usd": 5000, "power_w": 700}],
    }
    return found | kinds


def server(**keys: Any) -> list[Json]:
    return [{"id": "box", "gpus": 1, "nic_slots": 2, "price_usd": 5000, "power_w": 700} | keys]


def case(servers: int, fabric: Json | None = None, **keys: Any) -> Json:
    wanted = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 1} | (fabric or {})
    found = {"name": "tiny", "catalog": ["./catalog.yaml"], "server": "box", "servers": servers, "fabrics": [wanted]}
    return found | keys


def best(parts: Json, wanted: Json) -> Best | None:
    """The oracle's answer, after fabopt was seen to give the same."""
    found = solve(parts, wanted)
    theirs = run(copy.deepcopy(parts), copy.deepcopy(wanted))
    assert differences(None if found is None else outline_of_best(found), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    return found


def usd(parts: Json, wanted: Json) -> float:
    found = best(parts, wanted)
    assert found is not None
    return found.capex_cents / 100


# -- the pieces of the oracle ---------------------------------------------------------------------------------------


def test_money_is_rounded_half_up_from_its_text() -> None:
    assert whole(0.005, 100) == 1 and whole(1.115, 100) == 112 and whole(2.675, 100) == 268


def test_a_split_is_ports_and_speed() -> None:
    assert split_of("4x100") == (4, 100_000) and split_of("1x2.5") == (1, 2_500)


def test_cages_are_filled_one_after_the_other() -> None:
    # Two boxes with 5 ports in cages of 2: four full cages and two with one port.
    assert cage_classes([(2, 5, ())], 2) == [(2, 1), (4, 2)]


def test_bundles_are_never_shared_by_two_pairs() -> None:
    assert bundles(((3, 1), (1, 4)), 2) == 3 * 1 + 2


def test_attachments_go_to_the_emptiest_leaves_first() -> None:
    # 5 servers in groups of 2 are leaves with 1, 2, 2; four ports go to them in that order and then again to the first.
    loads = leaf_loads(5, 2, 1, 1, 1, [{"ports": 4}])
    assert [(load.count, load.servers, load.attached) for load in loads] == [(1, 1, (2,)), (2, 2, (1,))]


def item_table(**sold: Any) -> ItemTable:
    return ItemTable({"nics": [{"id": "x", "power_w": 1} | sold]})


def test_a_break_is_taken_early_where_it_is_cheaper() -> None:
    steps = [{"from": 1, "usd": 10}, {"from": 5, "usd": 7}]
    assert item_table(price_usd=steps).order(("x", None), 4) == (5, 3500)  # 5 x 7 = 35 is less than 4 x 10
    assert item_table(price_usd=steps).order(("x", None), 3) == (3, 3000)
    assert item_table(price_usd=steps, supply=4).order(("x", None), 4) == (4, 4000)


def test_stock_is_used_first_and_supply_caps_the_rest() -> None:
    assert item_table(price_usd=10, stock=3).order(("x", None), 4) == (1, 1000)
    assert item_table(price_usd=10, stock=3).order(("x", None), 2) == (0, 0)
    assert item_table(price_usd=10, stock=3, supply=1).order(("x", None), 5) is None


# -- structure ------------------------------------------------------------------------------------------------------


def test_one_switch_holds_what_fits() -> None:
    assert usd(catalog(), case(4)) == 1440


def test_two_tiers_where_one_switch_is_too_small() -> None:
    # 1:1 on 4 ports is 2 down, 2 up: 3 leaves for 5 servers. One spine with 2 links a leaf would need 6 ports, so 2
    # spines with 1 each: 5 switches, 5 cards, 5 cables of 10, 6 of 20.
    assert usd(catalog(), case(5)) == 5000 + 500 + 50 + 6 * 20


def test_oversubscription_saves_leaves() -> None:
    # 3:1 is 3 down, 1 up: 2 leaves, 1 spine, 2 links.
    assert usd(catalog(), case(5, {"max_oversubscription": 3})) == 3000 + 500 + 50 + 2 * 20


@pytest.mark.parametrize(("striping", "spines"), [("even", 3), ("any", 2), ("rail", 2)])
def test_even_striping_costs_spines(striping: str, spines: int) -> None:
    # 2 leaves with 3 down, 3 up. Spines have 4 ports: even striping over 1 needs 6 ports of it, 2 does not divide 3,
    # 3 works; uneven over 2 the busier one has ceil(6 / 2) = 3.
    parts = catalog(switches=[switch("big", cage(6, "1x100")), switch("small", cage(4, "1x100"))])
    wanted = case(6, {"striping": striping, "tiers": 2, "switches": {"leaf": ["big"], "spine": ["small"]}})
    assert usd(parts, wanted) == (2 + spines) * 1000 + 600 + 60 + 6 * 20


def test_three_tiers() -> None:
    # 4 leaves of 2 servers, 2 pods of 2 leaves and 2 spines (2 down, 2 up), 2 cores of 4: 10 switches, 8 links a tier.
    # Pods of one leaf cost the same; fewer pods go first, then q = 1 before q = 2.
    found = best(catalog(), case(8, {"tiers": 3}))
    assert found is not None
    assert found.capex_cents == (10_000 + 800 + 80 + 8 * 20 + 8 * 30) * 100
    structure = found.structure
    assert (structure.pods, structure.g, structure.m, structure.q, structure.m2) == (2, 2, 1, 1, 2)


def test_spine_oversubscription_saves_cores() -> None:
    # 2:1 between spine and core: 1 uplink a spine, 4 in all, so one core.
    wanted = case(8, {"tiers": 3, "max_oversubscription": {"leaf": 1, "spine": 2}})
    assert usd(catalog(), wanted) == 9_000 + 800 + 80 + 8 * 20 + 4 * 30


def test_every_plane_has_its_own_switches() -> None:
    # Cards of 2 ports in 2 planes: 2 switches of 4 servers each instead of a Clos of 8 ports.
    parts = catalog(nics=[card("card", cage(2, "1x100"))])
    assert usd(parts, case(4, {"planes": 2, "min_gbps_per_gpu": 200})) == 2000 + 400 + 80


@pytest.mark.parametrize(("rails", "feasible"), [("any", True), ("aligned", False)])
def test_a_twin_cable_needs_both_links_on_one_leaf(rails: str, feasible: bool) -> None:
    # 5 servers with one cage of 2x100 and only straight twin cables. k = 1 would send the two ports of a cage to two
    # leaves. k = 2: 3 leaves of 4 down, 4 up (2 cages each side); 2 spines with m = 2, 3 cages of theirs each.
    parts = catalog(
        switches=[switch("switch", cage(4, "2x100"))],
        nics=[card("card", cage(1, "2x100"))],
        cables=[cable("twin", "2x100", "2x100")],
    )
    found = best(parts, case(5, {"rails": rails, "min_gbps_per_gpu": 200, "nics_per_server": 1}))
    assert (found is not None) == feasible
    if found is not None:
        assert found.capex_cents == (5000 + 500 + 50 + 6 * 20) * 100


def test_a_twin_cable_never_joins_two_cards() -> None:
    # Two cards of one used port each, both on one leaf: the ports are in two cages, so a server takes two twin cables,
    # four leaf cages in all, and splitters from the leaf (one for two ports) are cheaper than the 4 x 10.
    parts = catalog(
        switches=[switch("switch", cage(4, "2x100"))],
        nics=[card("card", cage(1, "2x100", "1x100"))],
        cables=[cable("twin", "2x100", "2x100"), cable("fan", "2x100", "1x100", usd=(15,), heads=2)],
    )
    wanted = case(2, {"min_gbps_per_gpu": 200, "nics_per_server": 2, "tiers": 1})
    assert usd(parts, wanted) == 1000 + 400 + 2 * 15
    parts["cables"].pop()
    assert usd(parts, wanted) == 1000 + 400 + 4 * 10


def test_unused_heads_of_a_twin_cable_are_paid() -> None:
    # 3 servers on 2 leaves at 2:1: one uplink each to one spine through a twin cable of which one head is idle.
    parts = catalog(
        switches=[switch("leaf", cage(2, "1x100"), cage(1, "2x100")), switch("spine", cage(2, "2x100"))],
        cables=[cable("single", "1x100", "1x100"), cable("twin", "2x100", "2x100")],
    )
    wanted = case(3, {"tiers": 2, "max_oversubscription": 2, "switches": {"leaf": ["leaf"], "spine": ["spine"]}})
    assert usd(parts, wanted) == 3000 + 300 + 30 + 2 * 20


def test_idle_heads_are_no_ports() -> None:
    # 8 servers on switches of 4 cages that drive 5 ports; only twin cables go up. 3 servers a leaf at 2:1 need two
    # uplinks: a spine of 3 leaves has 6 ports, and two spines take a leaf's fifth cage. So 2 a leaf, 4 leaves with one
    # uplink each, in 4 cages of one spine: 8 ports with the idle heads, of which 4 are driven.
    parts = catalog(
        switches=[switch("switch", cage(4, "1x100", "2x100"), max_ports=5)],
        cables=[cable("single", "1x100", "1x100", usd=(10,)), cable("twin", "2x100", "2x100")],
    )
    assert usd(parts, case(8, {"tiers": 2, "max_oversubscription": 2})) == 5000 + 800 + 8 * 10 + 4 * 20


def test_a_group_is_a_rack() -> None:
    # Racks of 1 make 4 leaves of one server; at 1:1 with one uplink each to one spine.
    assert usd(catalog(), case(4, {"group_by": "rack"}, site={"servers_per_rack": 1})) == 5000 + 400 + 40 + 80


def test_the_asic_drives_only_so_many_ports() -> None:
    parts = catalog(switches=[switch("switch", cage(4, "1x100"), max_ports=3)])
    assert usd(parts, case(3, {"tiers": 1})) == 1000 + 300 + 30
    assert best(parts, case(4, {"tiers": 1})) is None


def test_down_and_up_never_share_a_cage() -> None:
    # 3 cages of 2x100: 3 down and 3 up ports would be 2 + 2 cages. 2 down, 2 up: 2 leaves and a spine for 4 servers.
    parts = catalog(
        switches=[switch("switch", cage(3, "2x100"))],
        transceivers=[optic("one", "1x100", 0), optic("two", "2x100", 0, connectors=2)],
        fibres=[fibre("line", "LC", "LC", 1)],
        cables=[],
    )
    assert usd(parts, case(6, {"tiers": 1})) == 1000 + 600 + 6
    assert usd(parts, case(6, {"tiers": 2})) == (3 + 1) * 1000 + 600 + 6 + 6


def test_a_card_gives_no_more_than_its_slot() -> None:
    # A 400G card in a Gen3 x16 slot gives 126 Gb/s, so 200 take two cards; without a figure one is enough.
    parts = catalog(
        switches=[switch("switch", cage(4, "1x400"))],
        nics=[card("card", cage(1, "1x400"), pcie={"generation": 5, "lanes": 16})],
        cables=[cable("cable", "1x400", "1x400")],
    )
    wanted = case(2, {"min_gbps_per_gpu": 200})
    assert usd(parts, wanted) == 1000 + 200 + 20
    parts["servers"] = server(pcie={"generation": 3, "lanes": 16})
    assert usd(parts, wanted) == 1000 + 400 + 40
    parts["facts"] = {"pcie_x16_gbps": {3: 200}}
    assert usd(parts, wanted) == 1000 + 200 + 20


def test_built_in_cards_are_all_cabled_and_not_bought() -> None:
    # 2 cards share one cage of 2x100: two ports a server, two servers fill the switch.
    entry = {"id": "card", "count": 2, "cages": [cage(1, "2x100")]}
    parts = catalog(
        servers=server(nics=[entry]),
        transceivers=[optic("one", "1x100", 7), optic("two", "2x100", 11, connectors=2)],
        fibres=[fibre("line", "LC", "LC", 1)],
        cables=[],
    )
    assert usd(parts, case(2)) == 1000 + 2 * 11 + 4 * 7 + 4 * 1


def test_reserved_ports_stay_free() -> None:
    assert usd(catalog(), case(2, {"tiers": 1, "reserve_ports": 0.5})) == 1000 + 200 + 20
    assert best(catalog(), case(3, {"tiers": 1, "reserve_ports": 0.5})) is None


# -- attachments ----------------------------------------------------------------------------------------------------


def attachment(ports: int, **keys: Any) -> Json:
    return {"name": "manager", "ports": ports, "form_factor": Q, "split": "1x100"} | keys


def test_an_attachment_takes_leaf_ports() -> None:
    assert usd(catalog(), case(3, {"tiers": 1, "attachments": [attachment(1, buys="none")]})) == 1000 + 300 + 30
    assert usd(catalog(), case(3, {"tiers": 1, "attachments": [attachment(1)]})) == 1000 + 300 + 40
    assert best(catalog(), case(3, {"tiers": 1, "attachments": [attachment(2)]})) is None


@pytest.mark.parametrize(("buys", "more"), [("both", 50 + 5), ("near", 5), ("none", 0)])
def test_an_attachment_shares_a_twin_module(buys: str, more: int) -> None:
    # 3 servers and 1 attachment in cages of 2x100: two modules at the leaf whatever the attachment buys.
    parts = catalog(
        switches=[switch("switch", cage(2, "2x100"))],
        transceivers=[optic("one", "1x100", 50), optic("two", "2x100", 80, connectors=2)],
        fibres=[fibre("line", "LC", "LC", 5)],
        cables=[],
    )
    wanted = case(3, {"attachments": [attachment(1, buys=buys)]})
    assert usd(parts, wanted) == 1000 + 300 + 2 * 80 + 3 * 50 + 3 * 5 + more


def spoken(name: str, split: str, standard: str, usd: float, form_factor: str = Q, ports: int = 1) -> Json:
    """A module of a standard with its connector: MPO for SR, LC for DR."""
    connector = "MPO" if standard == "100G-SR" else "LC"
    part = optic(name, split, usd, connector, ports) | {"form_factor": form_factor}
    return part | {"standard": standard}


@pytest.mark.parametrize("servers", [2, 3])
def test_an_attachment_shares_the_module_that_speaks_as_it_does(servers: int) -> None:
    """Servers are joined by SR; the second of two attachments by DR is in the first one's twin module, and not in a
    servers' one, whether or not that has a free port.
    """
    parts = catalog(
        switches=[switch("leaf", cage(4, "2x100"))],
        cables=[],
        nics=[card("card", cage(1, "1x100", form_factor="OSFP"))],
        transceivers=[
            spoken("near-sr", "1x100", "100G-SR", 10, "OSFP"),
            spoken("near-dr", "1x100", "100G-DR", 10, "QSFP28"),
            spoken("twin-sr", "2x100", "100G-SR", 50, ports=2),
            spoken("twin-dr", "2x100", "100G-DR", 60, ports=2),
        ],
        fibres=[fibre("mpo", "MPO", "MPO", 5), fibre("lc", "LC", "LC", 5)],
    )
    boxes = [attachment(1, name=name, form_factor="QSFP28") for name in ("first", "second")]
    of_servers = servers * (100 + 10 + 5) + -(-servers // 2) * 50
    assert usd(parts, case(servers, {"attachments": boxes})) == 1000 + of_servers + 2 * (10 + 5) + 60


def test_a_breakout_serves_servers_and_attachments() -> None:
    # One connector of two ports takes one fibre with two ends: 3 servers and 1 attachment are two fibres.
    parts = catalog(
        switches=[switch("switch", cage(2, "2x100"))],
        transceivers=[optic("one", "1x100", 50), optic("two", "2x100", 80, connector="MPO")],
        fibres=[fibre("fan", "MPO", "LC", 5, heads=2)],
        cables=[],
    )
    assert usd(parts, case(3, {"attachments": [attachment(1)]})) == 1000 + 300 + 2 * 80 + 4 * 50 + 2 * 5


def test_a_breakout_at_the_server_leaves_leaf_cages_to_share() -> None:
    # The fan is at the card; at the leaf every port has a connector of its own, so all share its modules:
    # 2 + 1 ports are 2 modules, 2 + 4 are 3. Three servers that use one port of their card each: 3 + 1 are 2.
    parts = catalog(
        switches=[switch("switch", cage(3, "2x100"))],
        nics=[card("card", cage(1, "2x100"))],
        transceivers=[
            optic("one", "1x100", 50),
            optic("two", "2x100", 80, connectors=2, form_factor="QSFP-DD"),
            optic("fanned", "2x100", 20, connector="MPO", form_factor="OSFP"),
        ],
        fibres=[fibre("fan", "MPO", "LC", 5, heads=2), fibre("line", "LC", "LC", 5)],
        cables=[],
    )
    parts["switches"][0]["cages"][0]["form_factor"] = "QSFP-DD"
    parts["nics"][0]["cages"][0]["form_factor"] = "OSFP"
    wanted = case(1, {"min_gbps_per_gpu": 200, "nics_per_server": 1, "tiers": 1, "attachments": [attachment(1)]})
    assert usd(parts, wanted) == 1000 + 100 + 20 + 5 + 2 * 80 + 50 + 5
    wanted["fabrics"][0]["attachments"] = [attachment(1), attachment(3) | {"name": "other"}]
    assert usd(parts, wanted) == 1000 + 100 + 20 + 5 + 3 * 80 + 4 * (50 + 5)
    wanted = case(3, {"nics_per_server": 1, "tiers": 1, "attachments": [attachment(1)]})
    assert usd(parts, wanted) == 1000 + 300 + 3 * (20 + 5) + 2 * 80 + 50 + 5


def test_two_ports_of_an_attachment_share_a_twin_cable() -> None:
    # Both ports of an attachment with one cage of 2x100 go to one leaf: one twin cable, one leaf cage.
    parts = catalog(
        switches=[switch("switch", cage(2, "2x100"))],
        nics=[card("card", cage(1, "2x100"))],
        cables=[cable("twin", "2x100", "2x100")],
    )
    wanted = case(1, {"min_gbps_per_gpu": 200, "tiers": 1, "attachments": [attachment(2, split="2x100")]})
    assert usd(parts, wanted) == 1000 + 100 + 2 * 10


# -- parts ----------------------------------------------------------------------------------------------------------


def twin_leaf(**kinds: Any) -> Json:
    return catalog(switches=[switch("switch", cage(2, "2x100"))], cables=[]) | kinds


def test_modules_are_counted_by_occupied_cage() -> None:
    # 3 servers in cages of two ports: 2 modules at the leaf.
    parts = twin_leaf(
        transceivers=[optic("one", "1x100", 50), optic("two", "2x100", 80, connectors=2)],
        fibres=[fibre("line", "LC", "LC", 5)],
    )
    assert usd(parts, case(3)) == 1000 + 300 + 3 * 50 + 2 * 80 + 3 * 5


def test_a_breakout_fibre_is_one_for_each_connector() -> None:
    parts = twin_leaf(
        transceivers=[optic("one", "1x100", 50), optic("two", "2x100", 80, connector="MPO")],
        fibres=[fibre("fan", "MPO", "LC", 5, heads=2)],
    )
    assert usd(parts, case(3)) == 1000 + 300 + 3 * 50 + 2 * 80 + 2 * 5


def test_a_splitter_cable_is_one_for_each_cage() -> None:
    parts = twin_leaf(cables=[cable("fan", "2x100", "1x100", usd=(30,), heads=2)])
    assert usd(parts, case(3)) == 1000 + 300 + 2 * 30


def test_a_cheap_splitter_that_does_not_fit_leaves_the_optics() -> None:
    # A card uses one of the two ports of its cage. A splitter at the server would need both on one leaf, so the cheaper
    # splitter is no choice, and breakouts with one idle end it is.
    parts = catalog(
        nics=[card("card", cage(1, "2x100"))],
        transceivers=[optic("one", "1x100", 50), optic("two", "2x100", 80, connector="MPO")],
        fibres=[fibre("fan", "MPO", "LC", 5, heads=2)],
        cables=[cable("fan-out", "2x100", "1x100", usd=(1,), heads=2)],
    )
    assert usd(parts, case(4, {"tiers": 1})) == 1000 + 400 + 4 * (50 + 80 + 5)


def test_cages_of_one_switch_may_take_different_parts() -> None:
    # 3 servers, leaf cages of two ports. A full cage: splitter 100, or module 80 + 2 x (10 + 5) = 110. A cage with one
    # port: splitter 100, or 80 + 15 = 95. So one of each.
    parts = twin_leaf(
        transceivers=[optic("one", "1x100", 10), optic("two", "2x100", 80, connectors=2)],
        fibres=[fibre("line", "LC", "LC", 5)],
        cables=[cable("fan", "2x100", "1x100", usd=(100,), heads=2)],
    )
    assert usd(parts, case(3)) == 1000 + 300 + 100 + 95


@pytest.mark.parametrize(
    ("change", "feasible"),
    [
        ({}, True),
        ({"reach_m": 2}, False),
        ({"protocols": ["infiniband"]}, False),
        ({"protocols": ["ethernet"]}, True),
        ({"lane_gbps": 50}, False),
        ({"lane_gbps": 100}, True),
        ({"works_with": ["bolt"]}, False),
        ({"works_with": ["acme"]}, True),
        ({"vendor": "bolt"}, True),
        ({"power_w": None}, False),
        ({"end_of_life": True}, False),
    ],
)
def test_a_cable_must_fit_both_boxes(change: Json, feasible: bool) -> None:
    parts = catalog(
        switches=[switch("switch", cage(4, "1x100", lane_gbps=100), vendor="acme")],
        cables=[cable("cable", "1x100", "1x100") | change],
    )
    assert (best(parts, case(2)) is not None) == feasible


@pytest.mark.parametrize(
    ("cage_form", "accepts", "part_form", "fits"),
    [
        ("OSFP-IHS", [], "OSFP", True),
        ("OSFP", [], "OSFP-RHS", True),
        ("OSFP-IHS", [], "OSFP-RHS", False),
        ("QSFP-DD", [], "QSFP56", False),
        ("QSFP-DD", ["QSFP56"], "QSFP56", True),
        ("QSFP56", ["QSFP-DD"], "QSFP56", True),
        ("QSFP112-DD", [], "QSFP-DD", True),
        ("QSFP112-DD", [], "QSFP-DD800", True),
        ("QSFP-DD800", [], "QSFP112-DD", True),
        ("QSFP-DD800", [], "QSFP-DD", False),
        ("QSFP-DD", [], "QSFP112-DD", False),
        ("QSFP112-DD", [], "QSFP112", False),
    ],
)
def test_form_factors(cage_form: str, accepts: list[str], part_form: str, fits: bool) -> None:
    box = {"form_factor": cage_form, "accepts": accepts}
    cord = cable("cable", "1x100", "1x100")
    cord["ends"][0]["form_factor"] = part_form
    parts = catalog(switches=[switch("switch", cage(4, "1x100") | box)], cables=[cord])
    assert (best(parts, case(2)) is not None) == fits


@pytest.mark.parametrize(
    ("cage_lanes", "cable_lanes", "fits"),
    [(None, None, True), (None, 50, True), (50, None, True), (100, None, False), (100, 50, False)],
)
def test_lanes_of_qsfp_dd_in_a_qsfp112_dd_cage(cage_lanes: int | None, cable_lanes: int | None, fits: bool) -> None:
    faster = cage(1, "1x100", form_factor="QSFP112-DD") | ({} if cage_lanes is None else {"lane_gbps": cage_lanes})
    cord = cable("cable", "1x100", "1x100") | ({} if cable_lanes is None else {"lane_gbps": cable_lanes})
    cord["ends"][0]["form_factor"] = "QSFP-DD"
    parts = catalog(nics=[card("card", faster)], cables=[cord])
    assert (best(parts, case(2)) is not None) == fits


def test_lane_rates_of_cages_count_where_a_cable_has_none() -> None:
    parts = catalog(nics=[card("card", cage(1, "1x100", lane_gbps=50))])
    assert best(parts, case(2)) is not None
    parts["switches"] = [switch("switch", cage(4, "1x100", lane_gbps=100))]
    assert best(parts, case(2)) is None


def test_the_shortest_priced_length_is_bought() -> None:
    assert usd(catalog(cables=[cable("cable", "1x100", "1x100", usd=(None, 20, 30))]), case(2)) == 1000 + 200 + 40
    assert usd(catalog(), case(2, site={"distances_m": {"server-leaf": 4}})) == 1000 + 200 + 40


# -- purchases and limits -------------------------------------------------------------------------------------------


def cool_and_cheap(**cheap: Any) -> Json:
    """A cable of 10 USD and 1 W, and one of 20 USD and 0.1 W."""
    cords = [cable("cheap", "1x100", "1x100", power_w=1), cable("cool", "1x100", "1x100", usd=(20, 30), power_w=0.1)]
    cords[0]["lengths"][0] |= cheap
    return catalog(cables=cords)


def test_a_power_limit_mixes_cables() -> None:
    # Switch and cards draw 140 W. With 142.5 W two cheap cables fit: 2 x 1 + 2 x 0.1 = 2.2 W; three would draw 3.1 W.
    assert usd(cool_and_cheap(), case(4, limits={"power_w": 142.5})) == 1400 + 2 * 10 + 2 * 20


def test_a_budget_mixes_cables() -> None:
    # Least power within 1465 USD: 65 USD for cables buy two cool ones.
    found = best(cool_and_cheap(), case(4, limits={"budget_usd": 1465}, objective="power_w"))
    assert found is not None and found.power_mw == 140_000 + 2 * 1000 + 2 * 100


def test_rack_units_limit_switches() -> None:
    parts = catalog(switches=[*catalog()["switches"], switch("flat", cage(4, "1x100"), usd=1500, rack_units=0.5)])
    assert usd(parts, case(4, limits={"rack_units": 0.5})) == 1500 + 440
    assert best(parts, case(4, limits={"rack_units": 0.4})) is None


def test_a_price_break_is_reached_with_a_spare() -> None:
    # 4 cables at 10 are 40; 5 at 7 are 35.
    found = best(cool_and_cheap(price_usd=[{"from": 1, "usd": 10}, {"from": 5, "usd": 7}]), case(4))
    assert found is not None
    assert found.capex_cents == 143_500 and found.bom["cheap", 3] == 5 and found.cables == 4


def test_stock_is_free() -> None:
    assert usd(cool_and_cheap(stock=3), case(4)) == 1400 + 10


def test_supply_runs_out() -> None:
    assert usd(cool_and_cheap(supply=3), case(4)) == 1400 + 3 * 10 + 20
    assert usd(cool_and_cheap(supply=1, stock=1), case(4)) == 1400 + 10 + 2 * 20


def test_incremental_breaks_lower_the_price_of_what_comes_after_them() -> None:
    # 2 cables at 10 and 2 at 7; with all-units breaks all 4 would cost 7.
    steps: Json = {"price_usd": [{"from": 1, "usd": 10}, {"from": 3, "usd": 7}]}
    assert usd(cool_and_cheap(**steps), case(4)) == 1400 + 4 * 7
    assert usd(cool_and_cheap(**steps, price_breaks="incremental"), case(4)) == 1400 + 2 * 10 + 2 * 7


def test_a_smallest_order_is_bought_whole_or_not_at_all() -> None:
    # 4 cables are needed: 6 at 10 are 60, 9 at 10 would be 90 and lose to 4 cool ones at 20.
    found = best(cool_and_cheap(minimum_order=6), case(4))
    assert found is not None and found.bom["cheap", 3] == 6 and found.capex_cents == 146_000
    found = best(cool_and_cheap(minimum_order=9), case(4))
    assert found is not None and ("cheap", 3) not in found.bom and found.capex_cents == 148_000


def test_packs_are_not_expanded() -> None:
    # A pack of 3 at 10 and a cool cable at 20 are 50, two packs are 60; with 2 in stock one pack of 2 is enough.
    assert usd(cool_and_cheap(pack_size=3), case(4)) == 1400 + 3 * 10 + 20
    assert usd(cool_and_cheap(pack_size=3), case(4, procurement={"max_part_numbers": {"cable": 1}})) == 1400 + 60
    assert usd(cool_and_cheap(pack_size=2, stock=2), case(4)) == 1400 + 2 * 10


def test_spares_are_a_share_and_a_minimum_of_each_part_number() -> None:
    # ceil(0.3 x 4) = 2 spare cables; 3 with that minimum; none of what is not in use.
    for rule, cables in (({"fraction": 0.3}, 6), ({"fraction": 0.3, "minimum": 3}, 7), ({"minimum": 1}, 5)):
        kept = case(4, procurement={"spares": {"cable": rule}})
        assert usd(cool_and_cheap(), kept) == 1400 + cables * 10


def test_few_part_numbers_give_up_a_mix() -> None:
    # Supply of 3 cheap cables mixes in a cool one at 20; if all are to be the same, all four are cool.
    assert usd(cool_and_cheap(supply=3), case(4)) == 1400 + 3 * 10 + 20
    assert usd(cool_and_cheap(supply=3), case(4, procurement={"max_part_numbers": {"cable": 1}})) == 1400 + 4 * 20


def test_few_part_numbers_make_a_dominated_part_win() -> None:
    # Five servers: 15-USD cables of 3 and 30 m in one part number are not on sale, so 3 m and 30 m count as two.
    assert usd(catalog(), case(5, procurement={"max_part_numbers": {"cable": 2}})) == 5000 + 500 + 50 + 6 * 20
    # one length for all: five of 3 m are of 30 m, too
    assert usd(catalog(), case(5, procurement={"max_part_numbers": {"cable": 1}})) == 5000 + 500 + 11 * 20


def test_vendors_and_parts_are_approved_or_forbidden() -> None:
    parts = cool_and_cheap()
    for one in parts["cables"]:
        one["vendor"] = one["id"].title()
    for rules, price in (
        ({}, 10),
        ({"forbidden_vendors": ["Cheap"]}, 20),
        ({"forbidden_parts": ["cheap"]}, 20),
        ({"approved_parts": ["cool"]}, 20),
        ({"approved_parts": ["cool", "cheap"]}, 10),
        ({"approved_vendors": ["Cool"], "approved_parts": ["switch", "card"]}, 20),
        ({"approved_vendors": ["Cool"], "approved_parts": ["switch", "card", "cheap"]}, 10),
    ):
        assert usd(parts, case(4, procurement=rules)) == 1400 + 4 * price
    assert best(parts, case(4, procurement={"approved_vendors": ["Cool"]})) is None


def test_stock_can_make_a_dear_switch_win() -> None:
    dear = switch("dear", cage(4, "1x100"), usd=9000, stock=1)
    assert usd(catalog(switches=[*catalog()["switches"], dear]), case(4)) == 440


def test_energy_can_make_a_dear_switch_win() -> None:
    # 10 W over 5 years at 0.10 USD and a PUE of 1.4 are 61.32 USD, more than the 40 that the cool switch costs above.
    parts = catalog(switches=[*catalog()["switches"], switch("cool", cage(4, "1x100"), usd=1040, watts=90)])
    assert usd(parts, case(4)) == 1440
    found = best(parts, case(4, objective="tco_usd"))
    assert found is not None
    assert found.capex_cents == 148_000 and found.objective == 148_000 + Fraction(79_716)


def test_servers_count_if_asked() -> None:
    assert usd(catalog(), case(4, include_servers=True)) == 1440 + 4 * 5000


def test_power_of_servers_counts_if_asked() -> None:
    # 142.5 W of network are feasible with the cool cords alone; 4 servers draw 2,800 W more.
    counted = case(4, include_servers=True, limits={"power_w": 2942.5})
    assert usd(cool_and_cheap(), counted) == 1400 + 2 * 10 + 2 * 20 + 4 * 5000
    assert best(cool_and_cheap(), case(4, include_servers=True, limits={"power_w": 2900})) is None
    found = best(catalog(), case(4, include_servers=True, objective="tco_usd"))
    alone = best(catalog(), case(4, objective="tco_usd"))
    assert found is not None and alone is not None
    # 2.8 kW x 6132 USD and 4 servers of 5000 USD
    assert found.objective - alone.objective == 1_716_960 + 2_000_000


# -- NICs that GPUs share ---------------------------------------------------------------------------------------------


def test_the_gpu_with_the_smallest_share_of_nics_counts() -> None:
    # 3 GPUs with 2 cards of 100 Gb/s: two of them share one.
    wide = [switch("switch", cage(8, "1x100"))]
    parts = catalog(servers=server(gpus=3), switches=wide)
    assert usd(parts, case(2, {"min_gbps_per_gpu": 50})) == 1000 + 4 * 100 + 4 * 10
    assert best(parts, case(2, {"min_gbps_per_gpu": 51})) is None
    # With a third slot a card each; 4 GPUs of 3 cards have no more than of 2, 8 GPUs of 3 a third.
    assert usd(catalog(servers=server(gpus=3, nic_slots=3), switches=wide), case(2, {"min_gbps_per_gpu": 51})) == 1660
    assert best(catalog(servers=server(gpus=4, nic_slots=3), switches=wide), case(2, {"min_gbps_per_gpu": 51})) is None
    thirds = catalog(servers=server(gpus=8, nic_slots=3), switches=wide)
    assert usd(thirds, case(2, {"min_gbps_per_gpu": 33})) == 1660
    assert best(thirds, case(2, {"min_gbps_per_gpu": 34})) is None
    told = run(thirds, case(2, {"min_gbps_per_gpu": 34, "nics_per_server": 3}))["conflicts"]
    assert "3 x card in box: a NIC serves 3 GPUs of 8, 33.3333 Gb/s per GPU of 34 needed" in json.dumps(told)


@pytest.mark.long(but=("5", "6"))
@pytest.mark.parametrize("seed", range(12))
def test_random_cases_of_shared_nics_agree(seed: int) -> None:
    """Three GPUs and two slots, or five GPUs and three."""
    parts, wanted = generate("linear", seed)
    parts["servers"][0] |= {"gpus": 3, "nic_slots": 2} if seed % 2 else {"gpus": 5, "nic_slots": 3}
    wanted["fabrics"][0]["min_gbps_per_gpu"] = 12.5 * (1 + seed % 4)
    best(parts, wanted)


@pytest.mark.long("1-rails")
@pytest.mark.long("0-linear", "3-planes")
@pytest.mark.long(but_every=3)
@pytest.mark.long("1-planes", "2-three_tier", "5-three_tier")
@pytest.mark.parametrize("family", ["linear", "three_tier", "rails", "planes"])
@pytest.mark.parametrize("seed", range(6))
def test_random_cases_of_stripes_by_rail_agree(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    wanted["fabrics"][0]["striping"] = "rail"
    best(parts, wanted)


# -- ties -----------------------------------------------------------------------------------------------------------


def test_equal_cost_goes_to_less_power_then_to_the_smaller_id() -> None:
    parts = catalog(switches=[switch("b", cage(4, "1x100")), switch("a", cage(4, "1x100"), watts=101)])
    found = best(parts, case(4))
    assert found is not None and found.structure.ids()[1] == "b"
    parts["switches"][1]["power_w"] = 100
    found = best(parts, case(4))
    assert found is not None and found.structure.ids()[1] == "a"


def test_equal_cost_goes_to_the_smaller_cable_id() -> None:
    cords = [cable("b", "1x100", "1x100"), cable("a", "1x100", "1x100")]
    found = best(catalog(cables=cords), case(4))
    assert found is not None and ("a", 3) in found.bom and ("b", 3) not in found.bom


# -- random ---------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("attached-2", "hosted-3", "linear-5", "planes-5", "rails-0", "ruled-7"))
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize(
    ("family", "seed"),
    [ALL_SAID, *((family, seed) for family, number in SEEDS.items() for seed in range(number * MORE_SEEDS))],
)
def test_random_cases_agree(family: str, seed: int) -> None:
    """Cost, power, units, structure and bill; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    parts, wanted = generate(family, seed)
    text = json.dumps({"catalog": parts, "case": wanted})
    assert_agrees(solve(parts, wanted), run(parts, wanted), text)
