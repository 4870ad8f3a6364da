"""Designs that may move what is in service, attachments among it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.changes import changes_from
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.migration import Migration
from tests.oracles.brute_attached_moves import Live, least_of_site, least_with_moves
from tests.samples.bases import designed, saved
from tests.samples.growth_samples import eight
from tests.samples.lengths import USUAL
from tests.samples.moves import (
    FREE,
    anew_with_what_is_owned,
    assert_costs_the_same,
    assert_no_less_where_nothing_moves,
    dearer_moves,
    given,
    moved,
    usd,
)
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import case
from tests.solution.test_in_service import a_base
from tests.solution.test_live_attachments import HOST, STORE, of_one_stage, ports_of, with_attachments
from tests.solution.test_live_out_of_band import a_site
from tests.solution.test_moves import bases, prices, staged, with_stock
from tests.solution.test_subnet_manager import too_small

Json = dict[str, Any]


def live_of(base: Design, at: int = 0) -> Live:
    """What a fabric of one plane, two tiers at most and one server port has in service, by its wiring."""
    fabric, wiring = base.fabrics[at], wiring_of(base)
    devices, links = wiring.devices, wiring.links
    number: dict[int, int] = {}
    for role in ("leaf", "spine"):
        own = zip(devices.role, devices.fabric, strict=True)
        rows = [row for row, (of, name) in enumerate(own) if (of, name) == (role, fabric.name)]
        number |= {row: place for place, row in enumerate(rows)}
    ports: list[tuple[str, int, str, int]] = []
    servers: Counter[int] = Counter()
    for a, b, port in zip(links.a.tolist(), links.b.tolist(), links.a_nic_port.tolist(), strict=True):
        if devices.role[a] == "attachment" and b in number:
            ports.append((devices.product[a], port, devices.role[b], number[b]))
        elif devices.role[a] == "server" and b in number:
            servers[number[b]] += 1
    tiers = {tier.role: (tier.id, tier.count) for tier in fabric.tiers}
    of_leaves = [servers[leaf] for leaf in range(tiers["leaf"][1])]
    places = [(name, role, place) for name, _, role, place in sorted(ports)]
    return Live(tiers, of_leaves, fabric.clos.links_per_pair, places, in_order=len(base.fabrics) > 1)


def some_attachment(dice: Dice, name: str) -> Json:
    kind = dice.one([HOST, {**STORE, "buys": "none"}, STORE])
    return {**kind, "name": name, "ports": dice.number(1, 4), "tier": dice.one(["leaf", "leaf", "any", "spine"])}


def a_base_with_attachments(dice: Dice) -> tuple[Json, Json, Json, Json]:
    """A catalog, a case with an attachment or two, one that goes on from it, at times with a new one, and the whole."""
    parts, before, after = a_base(dice)
    for content in (before, after):
        content["fabrics"][0]["nics_per_server"] = 1
    there = [some_attachment(dice, f"old-{at}") for at in range(dice.number(1, 2))]
    new = [some_attachment(dice, "new")] * dice.number(0, 1)
    return (
        parts, with_attachments(before, *there), with_attachments(after, *new), with_attachments(after, *there, *new)
    )  # fmt: skip


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(30))
def test_no_design_that_moves_attachments_of_a_small_base_is_cheaper(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"moves-attached-{seed}")
    parts, before, after, whole = a_base_with_attachments(dice)
    base = designed(parts, before)
    if base.status != "optimal":
        return
    move = prices(dice)
    keep = tuple(dice.one([(), (), ("attachment-leaf",), ("attachment-leaf", "attachment-spine")]))
    case = {**whole, "servers": whole["stages"][-1]["servers"]}
    del case["stages"]
    least = least_with_moves(with_stock(parts, base), case, live_of(base), move, keep)
    design = moved(parts, after, base, tmp_path, move, *keep)
    if least is None:
        assert design.status == "infeasible"
        return
    assert usd(design) == least
    moves = design.fabrics[0].moves
    assert moves is not None and not set(keep) & set(moves.cables)


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", bases(20))
def test_moves_at_no_cost_are_the_green_field_less_what_is_owned(seed: int, tmp_path: Path) -> None:
    parts, before, after, whole = a_base_with_attachments(Dice(f"free-attached-{seed}"))
    base = designed(parts, before)
    if base.status != "optimal":
        return
    anew = anew_with_what_is_owned(parts, after, base, tmp_path, FREE, whole)
    assert_costs_the_same(moved(parts, after, base, tmp_path, FREE), anew)


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("seed", bases(20))
def test_dearer_moves_of_attachments_never_lower_the_cost(seed: int, tmp_path: Path) -> None:
    """Nor is a design in which nothing moves below one in which all may, where it may have those attachments."""
    parts, before, after, _ = a_base_with_attachments(Dice(f"dearer-attached-{seed}"))
    base = designed(parts, before)
    paid = [usd_ for _, usd_ in dearer_moves(parts, after, base, tmp_path, (0, 1, 10, 100))]
    try:
        assert_no_less_where_nothing_moves(parts, after, base, tmp_path, paid)
    except InputError as refused:
        assert "are designed for one stage, and new ones come after what is in service" in str(refused)


@pytest.mark.long(but=("0-staged_attached",))
@pytest.mark.parametrize("family", ["staged_attached", "staged_hosted"])
@pytest.mark.parametrize("seed", bases(16))
def test_moves_beside_attachments_of_any_base_are_found_in_the_wiring(family: str, seed: int, tmp_path: Path) -> None:
    """Random catalogs with cages of several ports, splitters and cards of several ports: every check holds."""
    parts, content = staged(family, seed)
    first, last = ({**content, "stages": [{**content["stages"][at], "month": 0}]} for at in (0, -1))
    base = designed(parts, first)
    if base.status != "optimal":
        return
    designs = [moved(parts, last, base, tmp_path, move) for move in (FREE, {"cable": 30, "device": 200})]
    assert len({design.status for design in designs}) == 1
    if designs[0].status != "infeasible":
        assert usd(designs[0]) <= usd(designs[1])


# -- by hand ----------------------------------------------------------------------------------------------------------


def moves_of(design: Design) -> tuple[dict[str, int], dict[str, int]]:
    (fabric,) = design.fabrics
    assert fabric.moves is not None
    return dict(fabric.moves.cables), dict(fabric.moves.devices)


@pytest.mark.long(but=("attachment0-6-0", "attachment1-7-1"))
@pytest.mark.parametrize(("servers", "ports"), [(6, 0), (7, 1)])
@pytest.mark.parametrize("attachment", [STORE, {**HOST, "ports": 3, "tier": "leaf", "counts_in_ratio": True}])
def test_a_port_moves_where_its_leaf_has_no_room_for_servers(
    attachment: Json, servers: int, ports: int, tmp_path: Path
) -> None:
    """Two leaves of eight ports with four uplinks to a spine, two servers each, and three ports, of which one has two.

    Six servers are in groups of two, so that all ports stay, though a network without a base would have one on each of
    three leaves. Seven are in groups of three: a leaf with four uplinks has one more port. Half of the uplinks go to
    a second spine.
    """
    base = designed(eight(), at_one_to_one(4, attachment))
    design = moved(eight(), at_one_to_one(servers), base, tmp_path, {"cable": 1})
    cables = {"leaf-spine": 4, "attachment-leaf": ports} if ports else {"leaf-spine": 4}
    assert moves_of(design) == (cables, {})
    new = servers - 4
    assert usd(design) == 2 * 1000 + new * (100 + 10) + 4 * 20 + 4 + ports
    name = attachment["name"]
    assert len(ports_of(design, name) & ports_of(base, name)) == 3 - ports
    steps = Migration(wiring_of(base), wiring_of(design)).steps
    of_ports = [step.act for step in steps if step.cable.links[0][0] == f"compute-{name}"]
    assert of_ports == ["unplug", "plug"] * ports
    assert {step.lost for step in steps} == {0}
    rows = [row for row in changes_from(wiring_of(base), wiring_of(design)) if row["what"] == "link"]
    assert sum(row["change"] == "moved" and row["from_device"] == f"compute-{name}" for row in rows) == ports


def at_one_to_one(servers: int, *attachments: Json) -> Json:
    content = of_one_stage(servers, *attachments, tiers=2, nics_per_server=1)
    content["fabrics"][0]["max_oversubscription"] = 1
    return content


def test_of_a_kind_that_is_kept_nothing_moves(tmp_path: Path) -> None:
    """Seven servers in groups of two are on four leaves; with all on their ports, none is free for an uplink less."""
    base = designed(eight(), at_one_to_one(4, STORE))
    design = moved(eight(), at_one_to_one(7), base, tmp_path, {"cable": 1}, "attachment-leaf")
    cheaper = moved(eight(), at_one_to_one(7), base, tmp_path, {"cable": 1})
    assert usd(design) > usd(cheaper)
    assert "attachment-leaf" not in moves_of(design)[0]
    assert ports_of(base, "store") == ports_of(design, "store")


def test_a_file_that_moves_other_ports_than_it_says_is_refused(tmp_path: Path) -> None:
    base = designed(eight(), at_one_to_one(4, STORE))
    content = moved(eight(), at_one_to_one(7), base, tmp_path, {"cable": 1}).model_dump(mode="json", by_alias=True)
    for change in ({"attachment-leaf": 2}, {"attachment-leaf": 0}):
        wrong = json.loads(json.dumps(content))
        wrong["fabrics"][0]["moves"]["cables"] |= change
        failed = {check.name for check in verify(Design.model_validate_json(json.dumps(wrong))) if not check.ok}
        assert {"base_stays", "bom_covers_parts"} <= failed
    wrong = json.loads(json.dumps(content))
    (fabric,) = wrong["case"]["content"]["fabrics"]
    fabric["attachments"][0]["ports"] = 2
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(wrong))) if not check.ok}
    assert "base_stays" in failed


def test_attachments_with_a_ratio_of_their_own_are_refused(tmp_path: Path) -> None:
    base = designed(eight(), at_one_to_one(4, {**STORE, "max_oversubscription": 2}))
    with pytest.raises(InputError, match="attachments with a ratio of their own cannot be gone on from"):
        moved(eight(), at_one_to_one(7), base, tmp_path, {"cable": 1})


def test_hosts_of_managers_come_beside_what_may_move(tmp_path: Path) -> None:
    """One switch of eight ports, in service without a manager: a fifth server and a host of one come to its free ports,
    each at the one stage that there is where things may move, and of as many ports where none does.
    """
    catalog = too_small(8)
    content = {**case(4, {"tiers": 1}), "resilience": "none", "site": {"distances_m": USUAL}}
    base = designed(catalog, {**content, "rules": "none"})
    for move in ({"cable": 1, "device": 1}, None):
        inputs = given(catalog, {**content, "servers": 5, "rules": {}}, base, tmp_path, move)
        design = optimize.solve(inputs, alternatives_s=0)
        # a card of 100 USD, and two cables of 10
        assert usd(design) == 100 + 10 + 10
        assert [row.count for row in design.fabrics[0].links if row.attachment == "subnet-manager"] == [1]


@pytest.mark.long
def test_storage_of_dgx_stays_where_they_grow(tmp_path: Path) -> None:
    """28 DGX H100 on 8 leaves of 64 ports, with two ports of storage each and 32 uplinks to 4 spines, whose 64 ports
    are all in use. For 56 there are 16 leaves and 8 spines: half of the uplinks move, no port of the storage, at
    whatever price.
    """
    store = {"name": "storage", "kind": "storage", "ports": 16, "form_factor": "QSFP112", "split": "1x400"}
    fabric: Json = {"name": "compute", "protocol": "infiniband", "tiers": 2, "groups": "equal"}
    runs = {"server-leaf": 10, "leaf-spine": 30, "spine-core": 50, "attachment-leaf": 20}
    content: Json = {
        "name": "live", "server": "nvidia-dgx-h100", "rules": "none", "resilience": "none", "fabrics": [fabric],
        "site": {"distances_m": runs},
    }  # fmt: skip
    first = {**content, "servers": 28, "fabrics": [fabric | {"attachments": [store]}]}
    base = optimize.solve(inputs_from_objects(first), alternatives_s=0)
    assert [(tier.role, tier.count) for tier in base.fabrics[0].tiers] == [("leaf", 8), ("spine", 4)]
    costs = []
    for price in (0, 60):
        said = {"file": str(saved(base, tmp_path)), "move": {"cable": price}}
        design = optimize.solve(inputs_from_objects({**content, "servers": 56, "base": said}), alternatives_s=0)
        assert [(tier.role, tier.count) for tier in design.fabrics[0].tiers] == [("leaf", 16), ("spine", 8)]
        assert moves_of(design) == ({"leaf-spine": 128}, {})
        assert ports_of(design, "storage") == ports_of(base, "storage")
        costs.append(usd(design))
    assert costs[1] - costs[0] == 60 * 128
    assert {step.lost for step in Migration(wiring_of(base), wiring_of(design)).steps} == {0}


# -- out-of-band fabrics beside it ------------------------------------------------------------------------------------


def with_a_ratio(dice: Dice, catalog: Json, *contents: Json) -> tuple[Json, ...]:
    """A site whose management says its ratio."""
    for content in contents:
        content["fabrics"] = [
            content["fabrics"][0],
            {**content["fabrics"][1], "max_oversubscription": dice.one([2, 4])},
        ]
    return catalog, *contents


@pytest.mark.long(but=("23",))
@pytest.mark.parametrize("seed", range(24))
def test_no_design_that_moves_a_small_site_is_cheaper(seed: int, tmp_path: Path) -> None:
    """Compute and management, which has ports for the switches of both, more or fewer than in service."""
    dice = Dice(f"moves-site-{seed}")
    catalog, before, after = with_a_ratio(dice, *a_site(dice))
    base = designed(catalog, before)
    if base.status != "optimal":
        return
    move = prices(dice)
    least = least_of_site(with_stock(catalog, base), after, (live_of(base, 0), live_of(base, 1)), move)
    design = moved(catalog, after, base, tmp_path, move)
    if least is None:
        assert design.status == "infeasible"
    else:
        assert usd(design) == least
