"""Out-of-band fabrics in service: ports of management stay on their leaves, and what is new is counted beside them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.fabric_design import FabricDesign
from fabopt.search.choice import search_of
from fabopt.search.out_of_band import Counted
from fabopt.solution.optimize import solve
from fabopt.units import ceil_div
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_cable_runs import Laying
from tests.oracles.brute_force import structures
from tests.oracles.brute_growth import NEVER, GrowthSpace, Pricer, plus
from tests.samples.bare import bare
from tests.samples.bases import assert_just_what_changes, assert_stays, designed, gone_on, live, saved
from tests.samples.random_cases import Dice
from tests.search.test_out_of_band import CATALOG, OOB, case
from tests.solution.test_in_service import gone_on_plan, rest
from tests.solution.test_mixed_bases import capex

Json = dict[str, Any]
COMPUTE: Json = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 3, "tiers": 2}
TALL: Json = OOB | {"tiers": 2}
LOW: Json = OOB | {"tiers": 1}


def parts(*sizes: int, **prices: int) -> Json:
    """The catalog with switches of so many ports: two for compute, two for management."""
    made = copy.deepcopy(CATALOG)
    for switch, size in zip(made["switches"], sizes or (12, 8, 8, 16), strict=True):
        switch["cages"][0]["count"] = size
        switch["price_usd"] = prices.get(switch["id"].replace("-", "_"), switch["price_usd"])
    return made


def sites(servers: int, oob: Json = TALL, compute: Json = COMPUTE, **keys: Any) -> Json:
    return case(compute, oob, servers=servers, **keys)


def in_two(first: int, last: int, oob: Json = TALL) -> Json:
    """A site in two stages at one month."""
    stages = [{"name": "first", "month": 0, "servers": first}, {"name": "second", "month": 0, "servers": last}]
    return {key: value for key, value in sites(1, oob, stages=stages).items() if key != "servers"}


def leaves_of(design: Design, attachment: str) -> list[str]:
    """The leaf of every port of an attachment, in their order."""
    wiring = wiring_of(design)
    names = wiring.devices.name
    ends = zip(wiring.links.a.tolist(), wiring.links.a_nic_port.tolist(), wiring.links.b.tolist(), strict=True)
    return [names[b] for a, _, b in sorted(ends, key=lambda end: end[1]) if wiring.devices.product[a] == attachment]


@pytest.mark.long(but=("oob1",))
@pytest.mark.parametrize("oob", [TALL, OOB | {"tiers": [1, 2], "oob": {"pdus_per_rack": 1}}])
def test_with_nothing_new_the_answer_is_the_base_at_no_cost(oob: Json, tmp_path: Path) -> None:
    content = sites(6, oob, site={"servers_per_rack": 2})
    base = designed(parts(), content)
    design = gone_on(parts(), content, base, tmp_path)
    assert design.status == "optimal" and capex(design) == 0
    assert_stays(design, base, 0)
    assert live(wiring_of(design)) == live(wiring_of(base))


def test_new_devices_take_free_ports_of_live_leaves_and_of_new_ones(tmp_path: Path) -> None:
    """Six servers, three leaves of eight ports: groups of two. One group more brings a leaf of compute as well."""
    base = designed(parts(), sites(6))
    design = gone_on(parts(), sites(9), base, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    assert_just_what_changes(design, wiring_of(base))
    there, now = leaves_of(base, "switches"), leaves_of(design, "switches")
    assert design.totals is not None and len(there) < len(now) == design.totals.switches
    assert now[: len(there)] == there
    again = gone_on(parts(), sites(9), design, tmp_path)
    assert_stays(again, design, 1)
    assert capex(again) == 0 and live(wiring_of(again)) == live(wiring_of(design))


def test_full_leaves_are_passed_over(tmp_path: Path) -> None:
    """Three leaves of eight ports, two of them uplinks: six servers, nine switches and three strips fill them."""
    base = designed(parts(), sites(6, TALL | {"oob": {"pdus": 3}}))
    assert [tier.count for tier in base.fabrics[1].tiers] == [3, 2] and len(leaves_of(base, "switches")) == 9
    design = gone_on(parts(), sites(7, TALL | {"oob": {"pdus": 5}}), base, tmp_path)
    assert_stays(design, base, 0)
    new = [*leaves_of(design, "pdus")[3:], *leaves_of(design, "switches")[9:]]
    assert len(new) > 2 and {*new} == {"management-leaf-004"}


@pytest.mark.long(but=("4-5-oob1",))
@pytest.mark.parametrize(("first", "last", "oob"), [(6, 8, TALL), (4, 5, OOB | {"tiers": [1, 2]})])
def test_what_a_plan_begins_with_is_gone_on_from_as_planned(first: int, last: int, oob: Json, tmp_path: Path) -> None:
    planned = designed(parts(), in_two(first, last, oob))
    design = gone_on(parts(), sites(last, oob), planned, tmp_path, "first")
    assert design.status == planned.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, planned.stages[1].capex_usd]
    assert_stays(design, planned, 0)
    assert live(wiring_of(design)) == live(wiring_of(planned))


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(24))
def test_every_later_stage_of_a_plan_costs_what_was_planned(seed: int, tmp_path: Path) -> None:
    """Three stages of a small site, where the ratio of management binds or not; the first one is in service."""
    dice = Dice(f"plan-oob-{seed}")
    catalog, before, after = a_site(dice)
    sizes = before["servers"], after["servers"], after["servers"] + dice.number(0, 4)
    compute, oob = after["fabrics"]
    oob = {**oob, "max_oversubscription": dice.one([2, 3, 10]), "oob": {"pdus_per_rack": dice.one([0, 1])}}
    stages = [{"name": f"stage-{at}", "month": 0, "servers": size} for at, size in enumerate(sizes)]
    content = {key: value for key, value in after.items() if key != "servers"}
    content |= {"fabrics": [compute, oob], "site": {**content["site"], "servers_per_rack": 2}, "stages": stages}
    planned = designed(catalog, content)
    assert planned.status == "optimal"
    design = gone_on(catalog, rest(content), planned, tmp_path, "stage-0")
    assert design.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, *(stage.capex_usd for stage in planned.stages[1:])]
    assert_stays(design, planned, 0)


# -- on a floor -------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("2-3",))
@pytest.mark.parametrize(("before", "servers"), [(2, 3), (3, 3), (3, 4), (6, 9)])
def test_on_a_floor_no_rack_unit_changes(before: int, servers: int, tmp_path: Path) -> None:
    """Servers, strips and switches come to free racks and units; strips of racks of switches have ports, too."""
    catalog, floor = parts(), {"rows": 2, "racks_per_row": before, "rack_units": 20}
    catalog["servers"][0]["rack_units"] = 4
    for cable in catalog["cables"]:
        cable["lengths"] = [{"m": m, "price_usd": 2 + m} for m in (3, 10, 30)]
    site, compute = {"servers_per_rack": 2, "floor": floor}, COMPUTE | {"tiers": [1, 2]}
    oob = OOB | {"tiers": [1, 2], "oob": {"pdus_per_rack": 1}}
    base, after = (sites(number, oob, compute, site=site) for number in (before, servers))
    standing = designed(catalog, base)
    design = gone_on(catalog, after, standing, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, standing, 0)
    assert_just_what_changes(design, wiring_of(standing))
    racks = {rack for rack in wiring_of(design).devices.rack if rack}
    assert len(leaves_of(design, "pdus")) == len(racks)
    if servers == before:
        assert capex(design) == 0 and live(wiring_of(design)) == live(wiring_of(standing))


# -- every design of small bases --------------------------------------------------------------------------------------


def least_by_switches(catalog: Json, content: Json, base: Design, servers: int) -> dict[int, int]:
    """Cents that the cheapest compute fabric with each number of switches spends that goes on from the base's."""
    stages = [
        {"name": "in-service", "servers": servers, "fabrics": {"compute": {"max_oversubscription": 1000}}},
        {"name": "all", "servers": content["servers"]},
    ]
    alone = {key: value for key, value in content.items() if key != "servers"}
    space = GrowthSpace(catalog, {**alone, "fabrics": content["fabrics"][:1], "stages": stages})
    pricer, least = Pricer(space), dict[int, int]()
    for _, same in groupby(structures(space), key=lambda one: id(one[0])):
        found = list(same)
        plan = gone_on_plan(space, found[0][0], base, servers)
        if plan is None:
            continue
        laying = Laying(found[0][0], plan)
        for _, choice in found:
            total = plus(pricer.boxes(laying, laying.moves()), *pricer.links(laying, choice))
            if total[0] < NEVER[0]:
                spent, switches = sum(total[-len(plan) :][1:]), found[0][0].switches
                least[switches] = min(spent, least.get(switches, spent))
    return least


def least_of_management(
    catalog: Json, there: FabricDesign, attached: list[int], sizes: tuple[int, int], others: int
) -> int | None:
    """Cents of the cheapest out-of-band fabric that goes on from one, over all numbers of leaves and spines.

    ``attached``: ports of attachments on each live leaf; ``sizes``: servers before and after; ``others``: switches of
    compute. Up to ten ports of a leaf share a port up.
    """
    switches = {switch["id"]: (switch["cages"][0]["count"], switch["price_usd"]) for switch in catalog["switches"]}
    before, servers = sizes
    leaf, *above = there.tiers
    tops = [switches[tier.id] for tier in above] or [switches["quiet-6"], switches["quiet-12"]]
    most, found = switches[leaf.id][0], list[int]()
    for g in range(before, servers + 1) if there.clos.groups == 1 else [there.clos.servers_per_group]:
        leaves = ceil_div(servers, g)
        on_leaf = [min(g, servers - g * number) for number in range(leaves)]
        held = [*attached, *[0] * (leaves - len(attached))]
        ways = [(0, 0, tops[0])] if leaves == 1 and not above else []
        for top in tops if leaves > 1 or above else ():
            pairs = [there.clos.links_per_pair] if above else range(1, most)
            ways += [(spines, pair, top) for pair in pairs for spines in range(1, most // pair + 1)]
        for spines, pair, (size, usd) in ways:
            up = spines * pair
            room = [most - up - own if not up else min(most - up, 10 * up) - own for own in on_leaf]
            ports, live_spines = others + leaves + spines, sum(tier.count for tier in above)
            fits = sum(room) >= ports and all(free >= own for free, own in zip(room, held, strict=True))
            if fits and spines >= live_spines and size >= leaves * pair * bool(up):
                cables = servers - before + ports - sum(attached) + leaves * up - leaf.count * leaf.up_ports
                dollars = (leaves - leaf.count) * switches[leaf.id][1] + (spines - live_spines) * usd + 2 * cables
                found.append(100 * dollars)
    return min(found, default=None)


def a_site(dice: Dice) -> tuple[Json, Json, Json]:
    """A catalog, a site of two fabrics, and one with as many servers or more."""
    sizes = dice.number(10, 16), dice.number(6, 10), dice.number(6, 10), dice.number(11, 18)
    prices = {"wide": dice.number(300, 1500), "narrow": dice.number(100, 500)}
    prices |= {"quiet_6": dice.number(50, 200), "quiet_12": dice.number(50, 600)}
    servers = dice.number(2, 9)
    compute = COMPUTE | {"tiers": [1, 2], "groups": "equal", "max_oversubscription": dice.one([2, 3])}
    oob = OOB | {"tiers": dice.one([[1, 2], 2]), "groups": "equal"}
    before, after = (bare(sites(one, oob, compute)) for one in (servers, servers + dice.number(0, 6)))
    return parts(*sizes, **prices), before, after


@pytest.mark.long(but=("0", "18"))
@pytest.mark.parametrize("seed", range(24))
def test_nothing_that_goes_on_from_a_small_site_is_cheaper(seed: int, tmp_path: Path) -> None:
    catalog, before, after = a_site(Dice(f"live-oob-{seed}"))
    base = designed(catalog, before)
    if base.status != "optimal":
        return
    leaves = [name for name in wiring_of(base).devices.name if name.startswith("management-leaf")]
    attached = [leaves_of(base, "switches").count(name) for name in leaves]
    management, sizes = base.fabrics[1], (before["servers"], after["servers"])
    cheapest = [
        cents + own
        for switches, cents in least_by_switches(catalog, after, base, before["servers"]).items()
        if (own := least_of_management(catalog, management, attached, sizes, switches)) is not None
    ]
    given = inputs_from_objects({**after, "base": {"file": str(saved(base, tmp_path))}}, catalog)
    if not cheapest:
        found = search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run(ties=False)
        assert found.verdict == "infeasible"
        return
    design = gone_on(catalog, after, base, tmp_path)
    assert design.status == "optimal" and round(100 * capex(design)) == min(cheapest)
    assert_stays(design, base, 0)


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(24))
def test_a_first_guess_decides_nothing(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer switches of its own than in service hold all ports, at times: the count goes on from those in service."""
    catalog, before, after = a_site(Dice(f"live-oob-{seed}"))
    base = designed(catalog, before)
    if base.status != "optimal":
        return
    guessed = gone_on(catalog, after, base, tmp_path)
    monkeypatch.setattr(Counted, "_add_guessed", lambda *_: None)
    given = inputs_from_objects({**after, "base": {"file": str(saved(base, tmp_path))}}, catalog)
    design = solve(given, alternatives_s=0)
    assert design.status == guessed.status
    assert guessed.status == "infeasible" or capex(design) == capex(guessed)


# -- what is not so ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"oob": {"ports_per_switch": 2}}, "fabrics[1].oob.ports_per_switch", "found 2; allowed: 1"),
        ({"oob": {"pdus_per_rack": 1}}, "fabrics[1].oob.pdus_per_rack", "found 1; allowed: 2"),
        ({"oob": {"pdus": 3}}, "fabrics[1].oob.pdus", "found 3; allowed: 6 or more"),
        ({"role": "in-band"}, "fabrics[1].role", "allowed: oob"),
        ({"site": {"servers_per_rack": 3}}, "site.servers_per_rack", "allowed: 2"),
    ],
)
def test_what_would_count_other_ports_is_refused(changes: Json, key: str, words: str, tmp_path: Path) -> None:
    content = sites(6, site={"servers_per_rack": 2})
    file = str(saved(designed(parts(), content), tmp_path))
    compute, oob = content["fabrics"]
    ours = {name: value for name, value in changes.items() if name in ("oob", "role")}
    changed = {**content, "fabrics": [compute, oob | ours], "site": changes.get("site", content["site"])}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({**changed, "base": {"file": file, **changes.get("base", {})}}, parts())
    assert words in {fault.path: str(fault) for fault in refusal.value.faults}[key]


def failing(design: Design, change: Callable[[Json], None]) -> set[str]:
    """Names of the checks that fail after a change to the file's content."""
    content = design.model_dump(mode="json", by_alias=True)
    change(content)
    return {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}


def test_a_port_that_moves_and_a_new_one_out_of_turn_are_refused(tmp_path: Path) -> None:
    base = designed(parts(), sites(6))
    design = gone_on(parts(), sites(9), base, tmp_path)
    there = len(leaves_of(base, "switches"))

    def exchange(a: int, b: int) -> Callable[[Json], None]:
        def change(content: Json) -> None:
            places = content["fabrics"][1]["free_ports"]["switches"]
            assert places[a] != places[b]
            places[a], places[b] = places[b], places[a]

        return change

    assert "base_stays" in failing(design, exchange(0, 1))
    assert "attachments_take_free_ports" in failing(design, exchange(there, there + 1))
