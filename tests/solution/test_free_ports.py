"""Attachments on ports that are free: derived by hand, against the brute force, and on a machine that is sold.

The parts are those of ``tests.solution.test_brute_force``: a leaf has 4 ports and costs 1000 USD, a spine 6 and 1500, a
card 100, a cable over 3 m 10 and over 30 m 20. Four servers at 1:1 are on two leaves of 2 ports down and 2 up, and on a
spine with 4 links, which leaves 2 of its ports free.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fabopt
from fabopt.io.case import inputs_from_objects
from fabopt.network import attached_ports
from fabopt.network.free_ports import Guest, Hosts, dealt_to_free_ports, spread_over_racks
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.attachment import HostPort
from fabopt.schema.design import Design
from fabopt.search.expansion import Expansion
from fabopt.verify import verify
from fabopt.wiring import attachment_links
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from tests.samples.adapter import run
from tests.samples.growth_samples import cheaper_later
from tests.samples.lengths import USUAL
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven, solved
from tests.solution.test_brute_force import attachment, best, cable, cage, case, catalog, switch, usd

Json = dict[str, Any]
PARTS = catalog(switches=[switch("leaf", cage(4, "1x100")), switch("spine", cage(6, "1x100"), usd=1500)])
TWO_TIERS: Json = {"tiers": 2, "switches": {"leaf": ["leaf"], "spine": ["spine"]}}
WITHOUT = 2 * 1000 + 1500 + 4 * 100 + 4 * 10 + 4 * 20


def wanted(*attachments: Json, servers: int = 4, **keys: Any) -> Json:
    return case(servers, TWO_TIERS | {"attachments": list(attachments)} | keys)


def manager(ports: int, **keys: Any) -> Json:
    return attachment(ports, kind="management") | keys


def hosts(free: list[int], lanes: int = 1, room: int = 0) -> Hosts:
    ports = np.array(free)
    return Hosts(-(-ports // lanes), ports, lanes, (room,) * len(free))


# -- which port is next ---------------------------------------------------------------------------------------------


def test_ports_go_one_a_switch_and_round_the_most_free_first() -> None:
    both = {"leaf": hosts([1, 3]), "spine": hosts([3, 2])}
    (places,) = dealt_to_free_ports([Guest(6, {"leaf": 0, "spine": 0})], both) or [()]
    assert places == (("leaf", 1), ("spine", 0), ("spine", 1), ("leaf", 0), ("leaf", 1), ("spine", 0))


def test_later_attachments_go_on_where_earlier_ones_ended() -> None:
    guests = [Guest(1, {"spine": 0}), Guest(2, {"leaf": 0, "spine": 0})]
    assert dealt_to_free_ports(guests, {"leaf": hosts([1]), "spine": hosts([2, 2])}) == [
        (("spine", 0),),
        (("spine", 1), ("leaf", 0)),
    ]


def test_two_attachments_share_no_cage() -> None:
    one_cage = {"spine": hosts([2], lanes=2)}
    assert dealt_to_free_ports([Guest(2, {"spine": 0})], one_cage) == [(("spine", 0), ("spine", 0))]
    assert dealt_to_free_ports([Guest(1, {"spine": 0})] * 2, one_cage) is None


def test_what_counts_goes_where_uplinks_carry_it() -> None:
    tiers = {"leaf": hosts([3], room=1), "spine": hosts([1])}
    assert dealt_to_free_ports([Guest(2, {"leaf": 1, "spine": 0})], tiers) == [(("leaf", 0), ("spine", 0))]
    assert dealt_to_free_ports([Guest(3, {"leaf": 1, "spine": 0})], tiers) is None
    assert dealt_to_free_ports([Guest(3, {"leaf": 0, "spine": 0})], tiers) is not None


# -- what they cost -------------------------------------------------------------------------------------------------


def test_management_takes_the_ports_that_spines_have_left() -> None:
    # two cables over 30 m, and no switch
    assert usd(PARTS, wanted()) == WITHOUT
    assert usd(PARTS, wanted(manager(2))) == WITHOUT + 2 * 20
    assert usd(PARTS, wanted(attachment(2, tier="spine"))) == WITHOUT + 2 * 20


def test_outside_the_ratio_leaves_need_no_uplinks_for_them() -> None:
    # on leaves there is room on four of them with a server each; two that carry their port too need two uplinks
    below = 4 * 1000 + 4 * 100 + 6 * 10
    assert usd(PARTS, wanted(attachment(2, counts_in_ratio=False))) == below + 1500 + 4 * 20
    assert usd(PARTS, wanted(attachment(2))) == below + 2 * 1500 + 8 * 20


def test_too_few_free_ports_take_another_switch() -> None:
    found = best(PARTS, wanted(manager(3)))
    assert found is not None and found.capex_cents > (WITHOUT + 3 * 20) * 100


def test_a_spine_of_another_speed_takes_none() -> None:
    fast = catalog(
        switches=[switch("leaf", cage(4, "1x100"), cage(2, "1x200")), switch("spine", cage(6, "1x200"), usd=1500)],
        cables=[*PARTS["cables"], cable("fast", "1x200", "1x200")],
    )
    assert best(fast, wanted(attachment(1, tier="spine"))) is None
    assert best(fast, wanted(manager(1))) is not None


def test_the_run_to_a_spine_can_be_said() -> None:
    said = wanted(manager(1)) | {"site": {"distances_m": {"attachment-spine": 3}}}
    assert usd(PARTS, said) == WITHOUT + 10


@pytest.mark.long
def test_leaves_that_nothing_joins_to_a_host_are_not_sized() -> None:
    """The cage of the host meets that of the dear leaf alone; no size of the cheap one is worked out."""
    own = {"count": 8, "form_factor": "own", "splits": ["1x100"]}
    parts = catalog(
        switches=[switch("cheap", cage(8, "1x100")), switch("dear", own, usd=9000)],
        cables=[*PARTS["cables"], *(cable(name, "1x100", "1x100") for name in ("to-dear", "to-host"))],
    )
    parts["cables"][-1]["ends"][0]["form_factor"] = "host"
    for joined in parts["cables"][-2:]:
        joined["ends"][1]["form_factor"] = "own"
    content = case(12, {"switches": {"spine": ["cheap"]}, "attachments": [manager(1, form_factor="host")]})
    assert best(parts, content) is not None
    given = inputs_from_objects(content, parts)
    problem = problem_of(given.case, given.catalog)
    (fabric,) = problem.fabrics
    bounds = Expansion(problem, Settings(), Clock(None), {}).costs_of(0).bounds(problem, fabric, True)
    lowers = bounds.lowers(fabric.nics["ethernet"][0].port, "ethernet")
    assert [lower.leaf.id for lower in lowers] == ["dear"]


@pytest.mark.long(but=("1", "11"))
@pytest.mark.parametrize("seed", range(12))
def test_attachments_never_lower_the_cost(seed: int) -> None:
    parts, hosted = generate("hosted", seed)
    plain = copy.deepcopy(hosted)
    plain["fabrics"][0]["attachments"] = []
    with_them, without = (run(copy.deepcopy(parts), one) for one in (hosted, plain))
    if with_them["status"] == "optimal":
        speeds = {one.get("split", one.get("gbps")) for one in hosted["fabrics"][0]["attachments"]}
        assert without["objective"]["value"] <= with_them["objective"]["value"], speeds


@pytest.mark.long(but=("4-tiers0",))
@pytest.mark.parametrize(("seed", "tiers"), [(4, {"leaf", "spine"}), (12, {"leaf"}), (11, {"spine"})])
def test_three_tiers_and_their_like_host_attachments(seed: int, tiers: set[str]) -> None:
    parts, hosted = generate("hosted_high", seed)
    assert best(parts, hosted) is not None
    fabric = run(copy.deepcopy(parts), copy.deepcopy(hosted))["fabrics"][0]
    assert {tier for tier, _ in fabric["free_ports"]["extra-0"]} == tiers


@pytest.mark.long
def test_what_is_on_any_tier_may_be_dealt_over_the_leaves() -> None:
    """On free ports it asks for uplinks on other cages, as those of the servers' group leave leaves too few; dealt over
    the leaves it costs the same beside uplinks on the first cages.
    """
    parts, hosted = generate("hosted", 934)
    design = solved(hosted, parts)
    assert_proven(design)
    fabric = design.fabrics[0]
    assert fabric.tiers[0].up is not None and fabric.tiers[0].up.cage_group == 0
    assert list(fabric.free_ports) == ["extra-0"]
    elsewhere = copy.deepcopy(hosted)
    elsewhere["fabrics"][0]["attachments"][1]["tier"] = "leaf"
    assert solved(elsewhere, parts).totals.capex_usd == design.totals.capex_usd


# -- where they are -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def design() -> Design:
    made = solved(wanted(manager(2)), PARTS)
    assert_proven(made)
    return made


def test_the_file_says_where_every_port_is(design: Design) -> None:
    fabric = design.fabrics[0]
    assert fabric.free_ports == {"manager": (("spine", 0), ("spine", 0))}
    assert [(row.from_, row.to, row.count) for row in fabric.links if row.attachment] == [("attachment", "spine", 2)]
    assert [tier.down_ports for tier in fabric.tiers] == [2, 4]
    assert fabric.oversubscription == {"leaf": 1}


def test_they_are_in_the_last_cages_of_a_spine(design: Design) -> None:
    wiring = wiring_of(design)
    rows = np.flatnonzero(wiring.links.kind == KINDS.index("attachment-spine"))
    assert wiring.links.b_cage[rows].tolist() == [6, 5] and wiring.links.a_nic_port[rows].tolist() == [1, 2]
    assert {wiring.devices.name[row] for row in wiring.links.b[rows].tolist()} == {"compute-spine-001"}


def failures(design: Design, places: tuple[HostPort, ...]) -> set[str]:
    """Checks that fail where the ports of the manager are elsewhere."""
    fabric = design.fabrics[0].model_copy(update={"free_ports": {"manager": places}})
    return {check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


@pytest.mark.parametrize(
    "places", [(("spine", 0),), (("spine", 0), ("leaf", 0)), (("spine", 0), ("spine", 1)), (("core", 0), ("spine", 0))]
)
def test_another_place_is_refused(design: Design, places: tuple[HostPort, ...]) -> None:
    assert "attachments_take_free_ports" in failures(design, places)


def test_the_next_switch_is_the_one_with_the_most_free_ports() -> None:
    # two planes of one spine each would do; here two spines share the uplinks, and take one port each
    made = solved(wanted(manager(2), servers=6, switches={"leaf": ["leaf"], "spine": ["spine"]}), PARTS)
    assert_proven(made)
    places = made.fabrics[0].free_ports["manager"]
    assert len(set(places)) == 2 and "attachments_take_free_ports" in failures(made, places[::-1])


@pytest.mark.parametrize("keys", [{"buys": "none"}, {}])
def test_a_tier_that_the_file_does_not_use_is_compared_too(keys: Json) -> None:
    # the leaf of the third server alone has a free port, and the spine two; the links to both are as long
    far = {"site": {"distances_m": USUAL | {"attachment-leaf": 30}}}
    on_spine = solved(wanted(manager(1, tier="any", **keys), servers=3) | far, PARTS)
    assert_proven(on_spine)
    assert on_spine.fabrics[0].free_ports == {"manager": (("spine", 0),)}
    fabric = on_spine.fabrics[0]
    links = tuple(row.model_copy(update={"to": "leaf"}) if row.attachment else row for row in fabric.links)
    moved = on_spine.model_copy(update={"fabrics": (fabric.model_copy(update={"links": links}),)})
    assert "attachments_take_free_ports" in failures(moved, (("leaf", 1),))


# -- on a floor -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_ports_are_in_as_many_racks_as_switches_that_are_alike_allow(seed: int) -> None:
    """The same ports on switches of each kind, in the order that is the first among all orders of the switches."""
    rng = random.Random(seed)
    racks = {"leaf": [rng.randrange(3) for _ in range(4)], "spine": [rng.randrange(3) for _ in range(3)]}
    kinds = {tier: [rng.randrange(2) for _ in numbers] for tier, numbers in racks.items()}
    tiers = {tier: hosts([2 + kind for kind in kinds[tier]]) for tier in racks}
    guests = [Guest(rng.randrange(1, 4), {"leaf": 0, "spine": 0}) for _ in range(2)]
    dealt = dealt_to_free_ports(guests, tiers)
    assert dealt is not None
    assert spread_over_racks(dealt, racks, kinds) == min(
        orders_of(dealt, kinds), key=lambda places: loads_in_turn(places, racks)
    )


def orders_of(places: list[tuple[HostPort, ...]], kinds: dict[str, list[int]]) -> Iterator[list[tuple[HostPort, ...]]]:
    """The places with all switches of each kind in every order."""
    for orders in itertools.product(*(itertools.permutations(range(len(kinds[tier]))) for tier in kinds)):
        other = dict(zip(kinds, orders, strict=True))
        if all(kinds[tier][number] == kinds[tier][at] for tier in kinds for at, number in enumerate(other[tier])):
            yield [tuple((tier, other[tier][number]) for tier, number in guest) for guest in places]


def loads_in_turn(places: list[tuple[HostPort, ...]], racks: dict[str, list[int]]) -> list[tuple[int, int, int]]:
    """Of each port the ports in its rack before it, of its attachment and of all, and its switch."""
    order, of_all = [], Counter[int]()
    for guest in places:
        own = Counter[int]()
        for tier, number in guest:
            rack = racks[tier][number]
            order.append((own[rack], of_all[rack], number))
            own[rack] += 1
            of_all[rack] += 1
    return order


@pytest.mark.parametrize(("spreads", "racks"), [(True, 2), (False, 1)])
def test_ports_of_managers_are_in_two_racks(spreads: bool, racks: int) -> None:
    """Of three spines two are in a rack, and the manager's two ports are in both racks, unless the case turns that off;
    where the file has them the other way, the check fails.
    """
    parts = catalog(switches=[switch("leaf", cage(8, "1x100")), switch("spine", cage(4, "1x100"), usd=1500)])
    for device in (*parts["switches"], *parts["servers"]):
        device["rack_units"] = 1
    floor = {"rows": 1, "racks_per_row": 6, "rack_units": 12, "slack_m": 0.2}
    site = {"floor": floor, "servers_per_rack": 4, "rack_rules": {"spread_attachments": spreads}}
    design = solved(wanted(manager(2, tier="spine"), servers=8) | {"site": site, "rules": {"rack-rules": False}}, parts)
    assert_proven(design)
    fabric = design.fabrics[0]
    spines = fabric.places.spine
    assert len(spines) > len({rack for rack, _ in spines}) == 2
    places = fabric.free_ports["manager"]
    assert len({spines[number][0] for _, number in places}) == racks
    first, second = (number for _, number in places)
    other = next(number for number in range(len(spines)) if number not in (first, second))
    assert "attachments_take_free_ports" in failures(design, (("spine", first), ("spine", other)))


SIX_PORTS = catalog(switches=[switch("leaf", cage(6, "1x100")), switch("spine", cage(6, "1x100"), usd=1500)])
BOX_FLOOR: Json = {"rows": 1, "racks_per_row": 8, "rack_units": 12, "slack_m": 0.2}
BOX: Json = {"boxes": 2, "rack_units": 1}


def boxes_on_leaves(spreads: bool, **keys: Any) -> Json:
    """Two boxes with a port each on leaves of 2 servers, which are in the racks of their servers."""
    site = {"floor": BOX_FLOOR, "servers_per_rack": 4, "rack_rules": {"spread_attachments": spreads}}
    return wanted(attachment(2, **BOX), servers=8) | {"site": site, "rules": {"rack-rules": False}} | keys


def with_rack_units(parts: Json) -> Json:
    parts = copy.deepcopy(parts)
    for device in (*parts["switches"], *parts["servers"]):
        device["rack_units"] = 1
    return parts


@pytest.mark.parametrize(("spreads", "racks"), [(True, 2), (False, 1)])
def test_ports_that_are_dealt_over_leaves_are_in_two_racks(spreads: bool, racks: int) -> None:
    """Leaves that are alike change places, in the wiring as in the check; what they cost is the same."""
    design = solved(boxes_on_leaves(spreads), with_rack_units(SIX_PORTS))
    assert_proven(design)
    wiring = wiring_of(design)
    rows = np.flatnonzero(wiring.links.kind == KINDS.index("attachment-leaf"))
    leaves = wiring.links.b[rows].tolist()
    assert len(set(leaves)) == 2 and len({wiring.devices.rack[leaf] for leaf in leaves}) == racks


def test_ports_on_other_leaves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the wiring has them on leaves in turn, in one rack, the check fails."""
    design = solved(boxes_on_leaves(True), with_rack_units(SIX_PORTS))
    in_turn = attached_ports.dealt_over_leaves
    monkeypatch.setattr(attachment_links, "dealt_over_leaves", lambda numbers, adds, *_: in_turn(numbers, adds))
    assert "endpoints_are_cabled" in {check.name for check in verify(design) if not check.ok}


# -- clusters that grow ---------------------------------------------------------------------------------------------


def growing(*sizes: int, **keys: Any) -> Json:
    content = wanted(manager(2)) | keys
    del content["servers"]
    return content | {"stages": [{"name": f"s{size}", "month": at, "servers": size} for at, size in enumerate(sizes)]}


def test_switches_of_the_first_stage_take_them_beside_all_that_comes() -> None:
    # two leaves and the spine are there for the third server, and the spine keeps two ports when the fourth comes
    made = solved(growing(3, 4), PARTS)
    assert_proven(made)
    assert made.totals is not None and made.totals.capex_usd == WITHOUT + 2 * 20
    assert made.fabrics[0].free_ports == {"manager": (("spine", 0), ("spine", 0))}
    assert [stage.free_spine_ports for stage in made.fabrics[0].growth] == [0, 0]


def test_a_spine_that_comes_later_takes_none() -> None:
    # of two leaves the first is alone at first, and full at last; so servers are on four leaves
    made = solved(growing(1, 4), PARTS)
    assert_proven(made)
    assert made.totals is not None and made.totals.capex_usd > WITHOUT + 2 * 20
    assert made.fabrics[0].free_ports["manager"] == (("leaf", 0), ("leaf", 0))
    late = made.model_copy(
        update={"fabrics": (made.fabrics[0].model_copy(update={"free_ports": {"manager": (("spine", 0),) * 2}}),)}
    )
    assert "attachments_take_free_ports" in {check.name for check in verify(late) if not check.ok}


def test_links_that_are_lent_leave_the_cages_of_attachments_alone() -> None:
    # 8 servers on two leaves and one spine, then 16 on four leaves and two spines: four uplinks are lent at first
    case_ = cheaper_later("allow")
    case_["fabrics"][0]["attachments"] = [manager(2, tier="spine", buys="none")]
    twelve = catalog(switches=[switch("leaf", cage(8, "1x100")), switch("spine", cage(10, "1x100"))])
    case_["fabrics"][0]["switches"] = {"leaf": ["leaf"], "spine": ["spine"]}
    made = solved(case_, twelve)
    assert_proven(made)
    assert sum(stage.moved_cables for stage in made.fabrics[0].growth) > 0
    assert [check for check in made.checks if not check.ok] == []


# -- a machine that is sold -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_four_ufm_ports_cost_no_switch_of_96_dgx_b200() -> None:
    ndr = ["nvidia-qm9700"]
    fabric: Json = {"name": "compute", "protocol": "infiniband", "switches": {"leaf": ndr, "spine": ndr, "core": ndr}}
    machine: Json = {"name": "dgx-b200-96", "server": "nvidia-dgx-b200", "servers": 96, "fabrics": [fabric]}
    ufm = {"name": "ufm", "kind": "management", "ports": 4, "gbps": 400, "form_factor": "OSFP-RHS", "split": "1x400"}
    with_ufm = machine | {"fabrics": [fabric | {"attachments": [ufm]}]}
    plain, managed = (fabopt.solve(one).design for one in (machine, with_ufm))
    for made in (plain, managed):
        assert all(check.ok for check in made.checks)
        assert {tier.role: tier.count for tier in made.fabrics[0].tiers} == {"leaf": 24, "spine": 16}
    assert managed.totals is not None and plain.totals is not None
    assert 0 < managed.totals.capex_usd - plain.totals.capex_usd < 10_000
