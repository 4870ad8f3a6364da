"""Shuffles: counts and dark legs against an exhaustive search, each lane traced from port to port, bad input."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.cables import schedule
from fabopt.output.export.labels import labels_of
from fabopt.output.export.pulls import visits
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.verify.checks import verify_wiring
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.oracles import brute_force, brute_last_group
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.random_cases import Dice
from tests.samples.small import Json, assert_proven, bought, solved

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
RUNS = {"server-leaf": 5, "leaf-spine": 20, "spine-core": 40}


def parts(n: int, cages: int = 8, lead_usd: float | None = None, **shuffle: Any) -> Json:
    """A catalog in which every cage has a connector of ``n`` ports; ``lead_usd``: of straight fibre, if it is sold."""
    split, ends = f"{n}x100", [{"connector": "MPO", "count": n}] * 2
    lengths = [{"m": 10, "price_usd": 500}, {"m": 50, "price_usd": 900}]
    fibres = [{"id": "shuffle", "fibre": "smf", "ends": ends, "lengths": lengths, **shuffle}]
    if lead_usd is not None:
        leads = [{"m": 10, "price_usd": lead_usd}, {"m": 50, "price_usd": 2 * lead_usd}]
        fibres.append({"id": "lead", "fibre": "smf", "connectors": ["MPO", "MPO"], "lengths": leads})
    cage = {"form_factor": "OSFP", "splits": [split]}
    return {
        "switches": [{"id": "switch", "protocol": "ethernet", "power_w": 300, "price_usd": 10000,
                      "cages": [{"count": cages, **cage}]}],
        "nics": [{"id": "nic", "protocols": ["ethernet"], "power_w": 20, "price_usd": 1000,
                  "cages": [{"count": 1, **cage}]}],
        "servers": [{"id": "gpu", "gpus": 1, "nic_slots": 1, "power_w": 1000, "price_usd": 1}],
        "transceivers": [{"id": "module", "form_factor": "OSFP", "split": split, "standard": "100G-DR", "fibre": "smf",
                          "connector": "MPO", "reach_m": 500, "power_w": 10, "price_usd": 700}],
        "cables": [], "fibres": fibres,
    }  # fmt: skip


def wanted(servers: int, tiers: int, planes: Any, **fabric: Any) -> Json:
    own = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 1, "tiers": tiers, "planes": planes}
    case = {"name": "shuffled", "server": "gpu", "servers": servers, "fabrics": [{**own, **fabric}]}
    return {**case, "site": {"distances_m": RUNS}}


def random_case(seed: int) -> tuple[Json, Json]:
    """Random prices, sizes and planes: with straight fibre and without, on one to three tiers."""
    dice = Dice(f"shuffles-{seed}")
    n, tiers = dice.one(((2, 1), (2, 2), (2, 2), (2, 3), (4, 1), (4, 2), (4, 3), (8, 1), (8, 2)))
    catalog = parts(n, dice.number(3, 16 // n + (n > 4)), dice.price(20, 300) if dice.chance(0.6) else None)
    for kind in ("switches", "nics", "transceivers"):
        for one in catalog[kind]:
            one["price_usd"] = dice.price(one["price_usd"] // 2, one["price_usd"] * 2)
    for length in catalog["fibres"][0]["lengths"]:
        length["price_usd"] = dice.price(50, 900)
    module, server, nic = catalog["transceivers"][0], catalog["servers"][0], catalog["nics"][0]
    if n > 2 and dice.chance(0.3):  # two connectors of half the ports
        module["connectors"] = 2
        for end in catalog["fibres"][0]["ends"]:
            end["count"] = n // 2
    if dice.chance(0.3):
        module["loss_budget_db"], catalog["fibres"][0]["loss_db"] = 3.0, dice.one((0.7, 2.99, 3.5))
    server["nic_slots"] = server["gpus"] = dice.one((1, 1, 2))
    if dice.chance(0.2):
        nic["cages"][0]["count"] = 2
    case = wanted(
        dice.number(2, 9), tiers, "any" if dice.chance(0.3) else dice.one([p for p in (1, 2, 4, 8) if p <= n])
    )
    fabric = case["fabrics"][0]
    fabric["max_oversubscription"] = dice.one((1, 1, 2, 4))
    fabric |= {"rails": dice.one(("aligned", "any")), "striping": dice.one(("even", "even", "any"))}
    if tiers == 2 and dice.chance(0.5):
        fabric["groups"] = "any"
    else:
        fabric["groups"] = "equal"
    return catalog, {**case, "rules": "none", "resilience": "none"}


@pytest.mark.long(but=("4",))
@pytest.mark.parametrize("seed", range(12))
def test_counts_are_those_of_an_exhaustive_search(seed: int) -> None:
    """Every structure, mode and count of random small catalogs, odd groups too; ties included."""
    for number in range(seed, seed + 1000 * MORE_SEEDS, 1000):
        catalog, case = random_case(number)
        oracle = brute_last_group if case["fabrics"][0]["groups"] == "any" else brute_force
        best = oracle.solve(copy.deepcopy(catalog), copy.deepcopy(case))
        theirs = run(copy.deepcopy(catalog), copy.deepcopy(case))
        assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}, number
        assert [check for check in theirs["checks"] if not check["ok"]] == [], number


KINDS_ABOVE = ("", "leaf-spine", "spine-core")
SIZES = [(2, 5, 1, 2), (4, 9, 1, 4), (2, 7, 2, 2), (4, 30, 2, 4), (8, 9, 1, 8), (2, 9, 3, 2)]


def shuffled(n: int, servers: int, tiers: int, planes: int) -> Design:
    design = solved(wanted(servers, tiers, planes), parts(n, 4 if n * tiers < 6 else 8))
    assert_proven(design)
    return design


@pytest.mark.parametrize("size", SIZES)
def test_each_lane_is_traced(size: tuple[int, int, int, int]) -> None:
    """Port i of leg j at one end of a shuffle is port j of leg i at the other, in the schedule that installers read."""
    n, _, tiers, _ = size
    design = shuffled(*size)
    rows = schedule(design, wiring_of(design))
    plugs: dict[tuple[str, str, int], set[tuple[str, int, str]]] = {}
    lanes = set()
    for row in rows.itertuples():
        near, far = (int(leg) for leg in row.leg.removesuffix(f" of {n} x {n}").split("-"))
        ends = [(row.from_device, row.from_port), (row.to_device, row.to_port)]
        (cage, port), (far_cage, far_port) = (cage_and_lane(port, n) for _, port in ends)
        assert (port + 1, far_port + 1) == (far, near)
        assert (row.cable, near, far) not in lanes
        lanes.add((row.cable, near, far))
        plugs.setdefault((row.cable, "near", near), set()).add((ends[0][0], cage, row.from_label))
        plugs.setdefault((row.cable, "far", far), set()).add((ends[1][0], far_cage, row.to_label))
    assert all(len(plug) == 1 for plug in plugs.values())
    assert len({(device, cage) for plug in plugs.values() for device, cage, _ in plug}) == len(plugs)
    assert len(set(rows["cable"])) == bought(design)["shuffle"]
    assert set(rows["kind"]) == {"server-leaf", "leaf-spine", "spine-core"} - set(KINDS_ABOVE[tiers:])


def cage_and_lane(port: str, n: int) -> tuple[int, int]:
    """Cage of a port and its lane there, from its name: ``swp3s1``; a NIC has one cage."""
    if port.startswith("nic"):
        return 1, int(port.split("p")[1]) - 1
    cage, lane = port.removeprefix("swp").split("s")
    return int(cage), int(lane) % n


@pytest.mark.parametrize(("n", "servers", "dark"), [(2, 5, (1, 0)), (4, 9, (3, 0)), (8, 9, (7, 0)), (8, 16, (0, 0))])
def test_dark_legs_are_counted_and_paid(n: int, servers: int, dark: tuple[int, int]) -> None:
    """ceil(servers / n) shuffles for n planes: legs of the servers' end stay dark, those of leaves are all in use."""
    design = shuffled(n, servers, 1, n)
    shuffles = -(-servers // n)
    assert bought(design) == {"switch": n, "nic": servers, "module": servers + n * shuffles, "shuffle": shuffles}
    [check] = [check for check in design.checks if check.name == "shuffles_cross_lanes"]
    assert check.detail.endswith(f"dark legs: {dark[0]} at the near end, {dark[1]} at the far end")


@pytest.mark.parametrize(
    ("counts", "planes", "passives", "modules"),
    [((1, 1), 1, 4, 8), ((1, 4), 1, 4, 20), ((4, 4), 4, 1, 8)],
    ids=["trunk", "cassette", "shuffle"],
)
def test_trunks_and_cassettes_are_the_same_kind(
    counts: tuple[int, int], planes: int, passives: int, modules: int
) -> None:
    """Four servers of 4 x 100G: by the counts of one key alone four straight trunks of four lanes to one switch, four
    cassettes to cages of one lane, or one shuffle to four planes; each is searched, bought, wired and checked.
    """
    catalog = parts(4, 16)
    ends = [{"connector": "MPO", "count": counts[0]}, {"connector": "MPO", "count": counts[1]}]
    if counts == (1, 4):
        ends[1]["connector"] = "LC"
        catalog["switches"][0]["cages"][0] |= {"form_factor": "SFP", "splits": ["1x100"]}
        lc = {"id": "lane", "form_factor": "SFP", "split": "1x100", "connector": "LC"}
        catalog["transceivers"].append(catalog["transceivers"][0] | lc)
    catalog["fibres"] = [{**catalog["fibres"][0], "id": "passive", "ends": ends}]
    design = solved(wanted(4, 1, planes, min_gbps_per_gpu=400), catalog)
    assert_proven(design)
    found = bought(design)
    assert (found["passive"], found["module"] + found.get("lane", 0)) == (passives, modules)
    wiring = wiring_of(design)
    joined = {(row.cable, row.from_device) for row in schedule(design, wiring).itertuples()}
    assert len(joined) == (4 if counts != (4, 4) else passives * 4) and len(wiring.links) == 16


def rewired(wiring: Wiring, **columns: Any) -> Wiring:
    return replace(wiring, links=replace(wiring.links, **columns))


def test_lanes_that_do_not_cross_are_found() -> None:
    """Two links of a shuffle with each other's far port, or two servers' links on each other's shuffles."""
    design = shuffled(2, 7, 2, 2)
    wiring = wiring_of(design)
    links = wiring.links
    first, second = np.flatnonzero((links.cable == 0) & (links.a == 0)), np.flatnonzero(links.cable == 0)[2:]
    swapped = {name: getattr(links, name).copy() for name in ("b", "b_cage", "b_lane")}
    for name in swapped:
        swapped[name][[first[0], second[0]]] = getattr(links, name)[[second[0], first[0]]]
    assert "shuffles_cross_lanes" in failed(design, rewired(wiring, **swapped))
    cable = links.cable.copy()
    cable[np.flatnonzero(links.a == 0)], cable[np.flatnonzero(links.a == 2)] = 1, 0
    found = failed(design, rewired(wiring, cable=cable))
    assert "shuffles_cross_lanes" in found
    assert not failed(design, wiring)


def failed(design: Design, wiring: Wiring) -> set[str]:
    return {check.name for check in verify_wiring(design, wiring) if not check.ok}


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_with_another_number_of_shuffles_is_found(change: int) -> None:
    design = shuffled(2, 7, 2, 2)
    fabric = design.fabrics[0]
    for place, row in enumerate(fabric.links):
        own = [part.model_copy(update={"quantity": part.quantity + change * (part.end is None)}) for part in row.parts]
        links = list(fabric.links)
        links[place] = row.model_copy(update={"parts": tuple(own)})
        other = design.model_copy(update={"fabrics": (fabric.model_copy(update={"links": tuple(links)}),)})
        assert "parts_cover_links" in {check.name for check in verify(other) if not check.ok}


def test_loss_shortens_reach_where_both_are_known() -> None:
    """0.7 dB inside the shuffle leave 2.3 of 3.0 dB for glass of 0.4 dB/km; 2.99 leave 25 m, so 50 m are too long."""
    lossy, case = parts(2, 8, loss_db=2.99), wanted(5, 1, 2)
    assert bought(solved(case, lossy))["shuffle"] == 3
    lossy["transceivers"][0]["loss_budget_db"] = 3.0
    assert bought(solved(case, lossy))["shuffle"] == 3
    far = {**case, "site": {"distances_m": {**RUNS, "server-leaf": 20}}}
    assert solved(far, lossy).status == "infeasible"
    lossy["fibres"][0]["loss_db"] = 0.7
    design = solved(far, lossy)
    assert_proven(design)
    parts_of = copy.deepcopy(design.parts)
    parts_of["module"]["loss_budget_db"] = 0.71
    broken = {check.name for check in verify(design.model_copy(update={"parts": parts_of})) if not check.ok}
    assert {"cables_fit_reach", "wires_cover_runs"} <= broken


BESIDE = ("stages", "floor", "attached", "rails", "dual", "shared", "hyperx")


@pytest.mark.long("floor")
@pytest.mark.parametrize("name", BESIDE)
def test_shuffles_beside_other_features_are_proven(name: str) -> None:
    """In stages, on a floor, beside attachments, over rails, on pairs of leaves, in shared cages, below a HyperX."""
    catalog, case = parts(2, 8, 60.0 if name == "hyperx" else None), wanted(9, 2, 2)
    server, fabric = catalog["servers"][0], case["fabrics"][0]
    if name == "stages":
        del case["servers"]
        case["stages"] = [{"name": "a", "month": 0, "servers": 5}, {"name": "b", "month": 12, "servers": 14}]
    if name == "floor":
        server["rack_units"] = 4
        case["site"] = {"floor": {"rows": 2, "racks_per_row": 6}, "servers_per_rack": 3}
    if name == "attached":
        own = {"form_factor": "SFP", "split": "1x100", "standard": "100G-DR", "connector": "LC", "power_w": 3}
        catalog["transceivers"].append({"id": "one", "fibre": "smf", "reach_m": 500, "price_usd": 70, **own})
        ends, lengths = [{"connector": "MPO"}, {"connector": "LC", "count": 2}], [{"m": 10, "price_usd": 50}]
        catalog["fibres"].append({"id": "breakout", "fibre": "smf", "ends": ends, "lengths": lengths})
        fabric["attachments"] = [{"name": "store", "ports": 3, "gbps": 100, "form_factor": "SFP", "split": "1x100"}]
    if name in ("rails", "shared"):
        server |= {"gpus": 2, "nic_slots": 2, "scale_up": {"domain_gpus": 2, "gbps_per_gpu": 3600}}
    if name == "rails":
        fabric |= {"planes": "rails", "nics_per_server": 2}
    if name == "shared":
        cages = [{"count": 1, "form_factor": "OSFP", "splits": ["2x100"]}]
        server["nics"], fabric["planes"] = [{"id": "nic", "count": 2, "role": "compute", "cages": cages}], 1
    if name == "dual":
        fabric |= {"planes": 1, "homing": "dual"}
    if name == "hyperx":
        fabric |= {"topologies": ["hyperx"], "tiers": "any"}
    design = solved(case, catalog)
    assert_proven(design)
    assert bought(design)["shuffle"]
    assert "shuffles_cross_lanes" in {check.name for check in design.checks}


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (
            (2, 4),
            "fibres[0]: `ends` with 2 and 4 connectors: a shuffle has the same `count`",
        ),
        ((0, 2), "fibres[0].ends[0].count"),
    ],
)
def test_shuffles_with_unequal_counts_are_refused(counts: tuple[int, int], words: str) -> None:
    catalog = parts(2)
    catalog["fibres"][0]["ends"] = [{"connector": "MPO", "count": count} for count in counts]
    with pytest.raises(InputError) as told:
        inputs_from_objects(wanted(5, 1, 2), catalog)
    assert words in str(told.value)


@pytest.mark.long
@pytest.mark.parametrize("servers", [8, 128])
def test_four_planes_of_the_reference_catalog_go_through_shuffles(servers: int) -> None:
    """800G NICs as 4 x 200G on leaf cages of 4 x 200G: two NICs and two planes a shuffle, no port broken finer."""
    case = {"name": "four-planes", "server": "nvidia-dgx-b300", "servers": servers,
            "fabrics": [{"name": "compute", "protocol": "ethernet", "planes": 4}]}  # fmt: skip
    design = optimize.solve(inputs_from_objects(case), alternatives_s=0)
    assert_proven(design)
    fabric = design.fabrics[0]
    assert (fabric.nic.split, fabric.tiers[0].down.split) == ("4x200", "4x200")
    assert len(fabric.tiers) == 1 + (servers > 64)
    assert bought(design)["generic-shuffle-mpo12-2x2-os2"] == servers * 8


def test_labels_have_the_numbers_of_legs() -> None:
    """Each leg in use of a shuffle over four planes has one label, with the number that the schedule gives it."""
    design = shuffled(4, 30, 2, 4)
    wiring = wiring_of(design)
    rows = schedule(design, wiring)
    labels = list(labels_of(design, visits(design, wiring)))
    told = [label.title for label in labels]
    assert len(told) == len(set(told))
    ends = [leg.partition(" ")[0].split("-") for leg in rows["leg"]]
    wanted_ends = {
        f"{cable} {letter}{end[side]}"
        for cable, end in zip(rows["cable"], ends, strict=True)
        for side, letter in enumerate("AB")
    }
    assert set(told) == wanted_ends
