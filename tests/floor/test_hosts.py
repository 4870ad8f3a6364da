"""Hosts of managers on a floor: they stand in racks of switches, or there is no design; what is broken is found.

Four servers of two units, two or four in a rack; switches and hosts are of one unit each.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import fabopt
from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.floor import floor_lines
from fabopt.schema.design import Design
from fabopt.schema.hashes import sha256_of
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_force import Json
from tests.output.test_export_racks import sums_are_totals
from tests.samples import random_sites, small
from tests.samples.bare import bare
from tests.samples.export_samples import exported, text_table
from tests.solution.test_brute_force import cable, cage, card, case as brute_case, catalog, switch

UNITS_OF_SERVER, SERVERS = 2, 4
HOST: Json = {"name": "ufm", "kind": "management", "ports": 2, "boxes": 2, "buys": "none"}
NO_RULES: Json = {"rack-rules": False, "subnet-manager": False}


def parts(ports: int = 8) -> Json:
    """A switch that nobody manages, of a unit and 100 W; servers of two units and 700 W."""
    box = {"id": "box", "gpus": 1, "nic_slots": 2, "price_usd": 5000, "power_w": 700, "rack_units": UNITS_OF_SERVER}
    return catalog(
        switches=[switch("plain", cage(ports, "1x100"), protocol="infiniband", managed=False, rack_units=1)],
        nics=[card("card", cage(1, "1x100"), protocols=["infiniband"])],
        cables=[cable("cable", "1x100", "1x100", usd=(10, 20, 30))],
        servers=[box],
    )


def case(hosts: Json | None = HOST, tiers: int = 1, **keys: Any) -> Json:
    """Servers on a floor of a row, with hosts that the case attaches."""
    fabric: Json = {"protocol": "infiniband", "tiers": tiers}
    if hosts is not None:
        fabric["attachments"] = [hosts]
    site = {"floor": {"rows": 1, "racks_per_row": 3, "rack_units": 12}, "servers_per_rack": 2}
    return brute_case(SERVERS, fabric) | {"rules": NO_RULES, "resilience": "none", "site": site} | keys


def places(design: Design, name: str = "ufm") -> tuple[tuple[str, int], ...]:
    return tuple(design.fabrics[0].places.attachments[name])


def racks_of_switches(design: Design) -> set[str]:
    stands = design.fabrics[0].places
    return {rack for rack, _ in (*stands.leaf, *stands.spine)}


# -- where there is room, and where there is none -----------------------------------------------------------------


def fits(servers: Counter[int], stands: tuple[int, ...], spines: int, hosts: tuple[int, ...], room: Json) -> bool:
    """Whether racks have the units and watts of their servers, switches and hosts, and hosts stand as they should.

    ``stands``: racks of leaves, then of so many ``spines``.
    """
    switches, there = Counter(stands), Counter(hosts)
    if not set(hosts) <= set(stands) or (room["spreads"] and len(hosts) > 1 and len(switches) > 1 and len(there) < 2):
        return False
    if room["spreads"] and spines > 1 and len(set(stands[-spines:])) < 2:
        return False
    for rack in {*servers, *switches}:
        managers = ceil(switches[rack] * room["managers"])
        units = UNITS_OF_SERVER * servers[rack] + switches[rack] + managers + there[rack] + room["kept"]
        watts = 710 * servers[rack] + 100 * switches[rack] + 600 * there[rack]
        if units > room["units"] or watts > room["watts"]:
            return False
    return True


def has_place(racks: int, per_rack: int, leaves: int, spines: int, hosts: int, room: Json) -> bool:
    """Whether there is a place for everything, of all racks for servers, for each switch, and for each host."""
    needed = ceil(SERVERS / per_rack)
    for chosen in combinations(range(racks), needed):
        servers = Counter({rack: min(per_rack, SERVERS - per_rack * at) for at, rack in enumerate(chosen)})
        for stands in product(range(racks), repeat=leaves + spines):
            if any(fits(servers, stands, spines, own, room) for own in product(sorted(set(stands)), repeat=hosts)):
                return True
    return False


def small_floors() -> Iterator[tuple[int, int, int, int, bool, bool]]:
    """Racks, servers in each, tiers, hosts, whether racks keep units, whether they are spread."""
    for racks, tiers, hosts in product((1, 2, 3), (1, 2), (1, 2)):
        yield racks, 4 if racks == 1 else 2, tiers, hosts, bool((racks + hosts) % 2), racks > 1


@pytest.mark.long
@pytest.mark.parametrize("floor", [*small_floors()], ids=str)
def test_hosts_find_a_place_or_there_is_no_design(
    unadvised: None, floor: tuple[int, int, int, int, bool, bool]
) -> None:
    """Racks with just enough units or watts and with one too few, held against all places by brute force."""
    racks, per_rack, tiers, hosts, keeps, spreads = floor
    # four servers and two hosts: a leaf of eight ports; two leaves of four under two spines, or four under one
    networks, ports = ([(1, 0)], 8) if tiers == 1 else ([(2, 2), (4, 1)], 4)
    room = {"spreads": spreads, "kept": int(keeps), "managers": 0.5 if keeps else 0, "watts": 10**9}
    rules = {"subnet-manager": False, "rack-spread": spreads} | ({} if keeps else {"rack-rules": False})
    seen = set()
    for units, watts in [
        *((units, None) for units in range(5, 17)),
        *((40, watts) for watts in range(1200, 4800, 220)),
    ]:
        wanted = room | {"units": units} | ({} if watts is None else {"watts": watts})
        content = case(HOST | {"ports": hosts, "boxes": hosts}, tiers, rules=rules)
        plan = {"rows": 1, "racks_per_row": racks, "rack_units": units}
        content["site"] = {
            "floor": plan | ({} if watts is None else {"rack_power_w": watts}),
            "servers_per_rack": per_rack,
        }
        if UNITS_OF_SERVER * per_rack > units or (watts is not None and 700 * per_rack > watts):
            continue
        design = small.solved(content, parts(ports))
        expected = {network for network in networks if has_place(racks, per_rack, *network, hosts, wanted)}
        assert design.status == ("optimal" if expected else "infeasible"), (units, watts)
        seen.add(bool(expected))
        if expected:
            small.assert_proven(design)
            assert (*(tier.count for tier in design.fabrics[0].tiers), 0)[:2] == min(expected, key=sum)
            assert {rack for rack, _ in places(design)} <= racks_of_switches(design)
    assert True in seen and (False in seen or racks == 3)


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("hosts", (1, 2))
def test_hosts_that_the_rule_adds_stand_there_too(hosts: int) -> None:
    """Beside their switch; two of them are two devices, each in a rack, with its units in the totals."""
    rules = {"rack-rules": False, "rack-spread": hosts == 2}
    design = small.solved(case(None, 2, rules=rules, resilience="none" if hosts == 1 else "default"), parts(4))
    small.assert_proven(design)
    stands = places(design, "subnet-manager")
    assert len({rack for rack, _ in stands}) == len(stands) == hosts
    assert {rack for rack, _ in stands} <= racks_of_switches(design)
    assert design.totals is not None
    assert design.totals.cluster_rack_units == UNITS_OF_SERVER * SERVERS + design.totals.rack_units + hosts
    assert design.totals.racks == len(racks_of_switches(design) | set(design.racks.server_racks))
    assert any("compute subnet-manager: 1 unit and 600 W each" in note for note in design.notes)
    assert "of attachments" not in floor_lines(design)[0]
    sums_are_totals(design)


@pytest.mark.long
def test_no_room_for_hosts_is_no_reason_to_leave_the_rule_out(unadvised: None) -> None:
    """Two racks of servers and a leaf: five units; a host needs a sixth."""
    content = case(None, rules={"rack-rules": False})
    content["site"]["floor"] |= {"racks_per_row": 2, "rack_units": 5}
    assert small.solved(content, parts()).status == "infeasible"
    content["site"]["floor"]["rack_units"] = 6
    small.assert_proven(small.solved(content, parts()))
    content["site"]["floor"]["rack_units"] = 5
    small.assert_proven(small.solved(content | {"rules": NO_RULES}, parts()))


@pytest.mark.long
def test_a_full_rack_names_the_key_that_lets_them_share_one() -> None:
    """Two racks of switches, one of which is full: both hosts are in the other, or a unit more is needed."""
    content = case(HOST, 2, rules=NO_RULES)
    content["site"] = {"floor": {"rows": 1, "racks_per_row": 2, "rack_units": 7}, "servers_per_rack": 2}
    content["fabrics"][0]["racks"] = {"leaf": ["A01"], "spine": ["A01", "A02"]}
    design = small.solved(content, parts(4))
    assert design.status == "infeasible"
    (key,) = (one for one in design.conflicts if one.limit == "site.rack_rules.spread_attachments")
    assert key.needed == "false"
    content["site"]["rack_rules"] = {"spread_attachments": False}
    together = small.solved(content, parts(4))
    small.assert_proven(together)
    assert {rack for rack, _ in places(together)} == {"A02"}


# -- what the case says -------------------------------------------------------------------------------------------


def test_a_case_says_where_they_stand_and_how_high_they_are() -> None:
    tall = small.solved(case(HOST | {"rack_units": 2.5, "power_w": 90}), parts())
    (rack, first), (_, second) = places(tall)
    assert first - second == 3 and rack in racks_of_switches(tall)
    assert not any("an estimate" in note for note in tall.notes)
    named = small.solved(case(HOST | {"rack_units": 1, "racks": ["A03"]}), parts())
    assert places(named) == (("A03", 1), ("A03", 2))
    wider = case(HOST | {"rack_units": 1, "stands": "apart"})
    wider["site"]["floor"]["racks_per_row"] = 4
    apart = small.solved(wider, parts())
    assert places(apart) == (("A04", 1), ("A03", 1)) and not {"A03", "A04"} & racks_of_switches(apart)
    nowhere = small.solved(case(HOST | {"stands": "apart"}), parts())
    assert nowhere.fabrics[0].places.attachments == {}
    # ports that devices do not have alike are on no device of their own
    odd = small.solved(case(HOST | {"ports": 3}), parts())
    assert odd.fabrics[0].places.attachments == {}
    gateways = HOST | {"kind": "endpoint", "rack_units": 1, "stands": "with-switches"}
    assert {rack for rack, _ in places(small.solved(case(gateways), parts()))} == racks_of_switches(tall)
    for design in (tall, named, apart, nowhere, odd):
        small.assert_proven(design)


@pytest.mark.parametrize("key", ({}, {"rack_units": 1, "racks": ["A03"]}))
def test_what_cannot_stand_with_switches_is_refused(key: Json) -> None:
    with pytest.raises(InputError, match="`stands: with-switches` goes with `rack_units`, and not with `racks`"):
        small.inputs(case(HOST | {"stands": "with-switches"} | key), parts())


def test_a_growing_cluster_has_them_where_the_first_stage_has_switches() -> None:
    """With all that their ports are on; a rack that is filled later is none."""
    content = case(HOST, 2)
    content["site"]["floor"]["racks_per_row"] = 8
    del content["servers"]
    content["stages"] = [{"name": "one", "month": 0, "servers": 2}, {"name": "two", "month": 12, "servers": 12}]
    design = small.solved(content, parts(8))
    small.assert_proven(design)
    devices = wiring_of(design).devices
    columns = zip(devices.role, devices.stage.tolist(), devices.rack, strict=True)
    first = {rack for role, stage, rack in columns if role in ("leaf", "spine") and stage == 0}
    assert {rack for rack, _ in places(design)} == first < racks_of_switches(design)


def test_without_a_floor_nothing_is_assumed() -> None:
    design = small.solved(case(site={}), parts())
    (attachment,) = design.case.content["fabrics"][0]["attachments"]
    assert attachment["rack_units"] is None and "stands" not in attachment
    assert not any("an estimate" in note for note in design.notes)


def test_their_cables_run_within_the_rack() -> None:
    """3 m do where the whole floor is farther; bought as the servers' are."""
    bought = HOST | {"buys": "both", "form_factor": "QSFP56", "split": "1x100"}
    content = case(bought)
    content["site"]["floor"]["rack_pitch_m"] = 5
    near, far = (small.solved(case(bought | own, site=content["site"]), parts()) for own in ({}, {"stands": "apart"}))
    rows = [row for design in (near, far) for row in design.fabrics[0].links if row.attachment == "ufm"]
    assert rows[0].length_m < 3 < 14 < rows[1].length_m
    assert small.usd(near) == small.usd(far) - 2 * 10


def test_of_places_alike_for_servers_the_nearest_to_attachments_is_taken() -> None:
    """Servers and their leaf in one rack, anywhere: only the cables to devices in a rack that the case names differ."""
    port = {"form_factor": "QSFP56", "split": "1x100", "buys": "both"}
    stores = {"name": "stores", "ports": 2, "rack_units": 1, "racks": ["A05"]} | port
    content = case(stores)
    content["site"] = {
        "floor": {"rows": 1, "racks_per_row": 5, "rack_units": 24, "rack_pitch_m": 10},
        "servers_per_rack": SERVERS,
    }
    design = small.solved(content, parts())
    small.assert_proven(design)
    # a switch, four cards, four cables of 3 m, and two of 30 m from A02 or nearer; from A01 they would be of 50 m
    assert small.usd(design) == 1000 + 4 * 100 + 4 * 10 + 2 * 20
    assert "A01" not in racks_of_switches(design)


# -- files --------------------------------------------------------------------------------------------------------


def two_tiers() -> Design:
    return small.solved(case(HOST, 2, rules={"subnet-manager": False}), parts(4))


def test_they_are_in_every_export(tmp_path: Path) -> None:
    design = two_tiers()
    small.assert_proven(design)
    files = exported(design, tmp_path, "racks", "cables", "netbox")
    table = text_table(files["racks.csv"])
    listed = table[table["role"] == "attachment"]
    expected = [(f"compute-ufm-{at:02d}", rack, str(unit)) for at, (rack, unit) in enumerate(places(design), 1)]
    assert sorted(zip(listed["device"], listed["rack"], listed["unit"], strict=True)) == expected
    cables = text_table(files["cables.csv"])
    own = cables[cables["from_device"].str.startswith("compute-ufm")]
    assert set(zip(own["from_device"], own["from_rack"], strict=True)) == {row[:2] for row in expected}
    assert (
        f"compute-ufm-01,Attachment,generic,ufm,planned,tiny,{places(design)[0][0]}"
        in files["06-devices.csv"].read_text()
    )


def test_a_file_from_before_has_them_in_no_rack(tmp_path: Path) -> None:
    """It says nothing of where they stand: it is proven, and its racks are drawn without them."""
    content = small.solved(case(HOST | {"stands": "apart"}), parts()).model_dump(mode="json", by_alias=True)
    for part in (content["case"]["content"], content["case"]["asked"]):
        del part["fabrics"][0]["attachments"][0]["stands"]
    content["case"]["sha256"] = sha256_of(content["case"]["content"])
    path = tmp_path / "design.json"
    path.write_text(json.dumps(content))
    assert main(["check", str(path)]) == 0
    before = Design.model_validate_json(path.read_text())
    devices = wiring_of(before).devices
    assert [rack for role, rack in zip(devices.role, devices.rack, strict=True) if role == "attachment"] == [""]
    assert main(["export", str(path), "--to", "racks", "-o", str(tmp_path / "out")]) == 0
    assert "ufm" not in (tmp_path / "out" / "racks.csv").read_text()


def at(*stands: tuple[str, int]) -> Callable[[Json], None]:
    def change(content: Json) -> None:
        content["fabrics"][0]["placement"]["attachments"]["ufm"] = [list(place) for place in stands]

    return change


def hungrier(content: Json) -> None:
    content["case"]["content"]["fabrics"][0]["attachments"][0]["power_w"] = 10**6
    content["case"]["content"]["site"]["floor"]["rack_power_w"] = 5000


def test_what_is_broken_is_found() -> None:
    design = two_tiers()
    (one, first), (other, second) = places(design)
    assert one != other
    empty = next(rack for rack in ("A01", "A02", "A03", "A04") if rack not in racks_of_switches(design))
    stands = design.fabrics[0].places
    switch = max(unit for rack, unit in (*stands.leaf, *stands.spine) if rack == one)
    faults: list[tuple[Callable[[Json], None], str]] = [
        (at((one, first)), "hosts_stand_with_switches"),
        (at((one, first), (one, first - 1)), "hosts_stand_with_switches"),
        (at((one, first), (empty, 1)), "hosts_stand_with_switches"),
        (at((one, switch), (other, second)), "boxes_fit_racks"),
        (at((one, 12), (other, second)), "racks_keep_rules"),
        (at((one, switch - 1), (other, second)), "racks_keep_rules"),
        (at((one, 13), (other, second)), "boxes_fit_racks"),
        (hungrier, "boxes_fit_racks"),
    ]
    for change, check in faults:
        content = design.model_dump(mode="json", by_alias=True)
        change(content)
        failed = {one.name for one in verify(Design.model_validate_json(json.dumps(content))) if not one.ok}
        assert check in failed, (check, failed)


@pytest.mark.long
def test_strips_of_their_racks_count_once() -> None:
    """Four fabrics on a floor: the racks that they share with switches have no other power strips."""
    content: Json = {
        "name": "several", "server": "nvidia-dgx-h100", "servers": 16,
        "fabrics": [
            {"name": "compute", "protocol": "infiniband", "attachments": [HOST]},
            {"name": "storage", "role": "storage", "protocol": "ethernet", "min_gbps_per_server": 200},
            {"name": "in-band", "role": "in-band", "min_gbps_per_server": 100, "protocol": "ethernet"},
            {"name": "management", "role": "oob", "oob": {"ports_per_switch": 1, "pdus_per_rack": 2}},
        ],
        "site": {"floor": {"rows": 2, "racks_per_row": 8, "rack_power_w": 45000}},
    }  # fmt: skip
    design = optimize.solve(inputs_from_objects(content, None), alternatives_s=0)
    small.assert_proven(design)
    assert len({rack for rack, _ in places(design)} & racks_of_switches(design)) == 2
    sums_are_totals(design)


# -- random floors ------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("35",))
@pytest.mark.parametrize("seed", range(40), ids=str)
def test_random_hosts_are_proven_and_add_up(seed: int) -> None:
    """Attachments of random sites as hosts of managers, some with a height: every check, and the sums of the racks."""
    dice = random.Random(f"hosts {seed}")
    parts_of_seed, content = copy.deepcopy(random_sites.generate(seed))
    content["site"]["floor"] = {"rows": dice.choice([1, 2]), "racks_per_row": dice.randint(3, 6)}
    content["site"].pop("distances_m", None)
    for fabric in content["fabrics"]:
        fabric.pop("topologies", None)
        boxes = dice.choice([1, 2])
        hosts = {"name": "hosts", "kind": "management", "ports": 2, "boxes": boxes, "buys": "none"}
        fabric["attachments"] = [hosts | dice.choice([{}, {"rack_units": 1.5, "power_w": 250}])]
    design = fabopt.solve(bare(content), catalog=parts_of_seed, alternatives_s=0).design
    if design.floor is not None:
        small.assert_proven(design)
        sums_are_totals(design)
        assert sum(len(own) for fabric in design.fabrics for own in fabric.places.attachments.values()) > 0
