"""The rules of the wiring: they accept every wiring that is made, and each rejects what it is there for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fabopt.schema.design import Design
from fabopt.verify import verified_in_turn, verify, verify_wiring, wiring_verified_in_turn
from fabopt.verify.proof import BROUGHT, QUESTIONS, combined
from fabopt.verify.rules import WIRING_RULES
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS, NOTHING, Wiring
from tests.paths import few_or_many
from tests.samples import export_samples, growth_samples, small
from tests.samples.verify_fixtures import DESIGNS, Json, read
from tests.samples.wiring_samples import Sizes, a_design, changed, picked, random_design, swapped, without
from tests.solution import test_brute_force as tiny
from tests.verify.test_verify import ATTACHED, JOININGS

BILL = "schedule_matches_bill"
# Rules of every wiring.
OF_ALL = [rule.__name__ for rule in WIRING_RULES if rule not in QUESTIONS]
SIZED = {
    # two planes, pods of one rail, two groups of two cores, a ragged last group, 3 uplinks to 2 spines
    "large": Sizes(groups=3, last=1, planes=2, cards=2, uplinks=3, sets=2, t=2, rail_pods=True, m2=2, cores=2),
    "two ports": Sizes(planes=2, ports=2, k=2, uplinks=4, sets=2),
    # each group is a pod, and all that leaves it goes through two cores
    "pods": Sizes(sets=2, cores=1),
}

# Clusters that grow: cables are moved; a pod opens, with cores.
GROWN = ("moved", "opened")


@cache
def design(name: str) -> Design:
    """A design by name: worked out by hand, a way to join cages or to attach, or one of ``SIZED`` or ``GROWN``."""
    if name in SIZED:
        return a_design(SIZED[name])
    if name in GROWN:
        return growth_samples.sample(name)
    hand: dict[str, Json] = {key: build() for key, build in DESIGNS.items()} | JOININGS | ATTACHED
    return read(hand[name])


@cache
def wiring(name: str) -> Wiring:
    """The wiring of ``design``."""
    return wiring_of(design(name))


def broken(name: str, made: Wiring) -> dict[str, str]:
    """Names and details of the rules that a wiring breaks. Bills of ``JOININGS`` and ``ATTACHED`` are not theirs."""
    checks = verify_wiring(design(name), made)
    assert [check.name for check in checks] == OF_ALL
    skipped = (BILL,) if name in JOININGS or name in ATTACHED else ()
    return {check.name: check.detail for check in checks if not check.ok and check.name not in skipped}


def is_broken(name: str, made: Wiring) -> bool:
    """Whether a wiring breaks any rule; those after the first that it breaks are not asked."""
    skipped = (BILL,) if name in JOININGS or name in ATTACHED else ()
    checks = wiring_verified_in_turn(design(name), made)
    return any(not check.ok and check.name not in skipped for check in checks)


@pytest.mark.parametrize("name", [*DESIGNS, *JOININGS, *ATTACHED, *SIZED, *GROWN])
def test_accepts_the_wiring_of_a_design(name: str) -> None:
    assert broken(name, wiring(name)) == {}


@pytest.mark.long
@given(st.data())
def test_accepts_the_wiring_of_any_clos(data: st.DataObject) -> None:
    """Whole or ragged groups, planes, rails, uneven stripes, pods of groups or of a rail, core groups."""

    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    tiers, cards, ports, g = number(1, 3), number(1, 2), number(1, 2), number(1, 4)
    groups, q, sets = number(2, 6) if tiers > 1 else 1, number(1, 2), number(1, 3)
    ks = [k for k in (1, 2, 4) if cards * ports % k == 0]
    sizes = Sizes(
        *(groups, g, number(1, g), number(1, 2), cards, ports),
        k=data.draw(st.sampled_from(ks)) if tiers > 1 else cards * ports,
        uplinks=q * sets + number(0, 3) if tiers > 1 else 0,
        q=q,
        sets=sets,
        t=number(1, groups - 1) if tiers > 2 else 1,
        rail_pods=data.draw(st.booleans()),
        m2=number(1, 2),
        cores=number(1, 2) if tiers > 2 else 0,
    )
    made = a_design(sizes)
    assert [check for check in verify_wiring(made, wiring_of(made)) if not check.ok] == []


# -- one thing broken -------------------------------------------------------------------------------------------------

Change = Callable[[Wiring], Wiring]


def kind_rows(made: Wiring, kind: int) -> list[int]:
    """Rows of the links of a kind."""
    return np.flatnonzero(made.links.kind == kind).tolist()


def boxes(made: Wiring, role: str) -> list[int]:
    """Rows of the boxes of a role."""
    return [row for row, one in enumerate(made.devices.role) if one == role]


def with_link(made: Wiring, of: int, place: int = 0, **columns: Any) -> Wiring:
    """A wiring with other values in one link of a kind."""
    row = kind_rows(made, of)[place]
    return changed(made, "links", **{name: {row: value} for name, value in columns.items()})


def crossed(made: Wiring, kind: int, one: int, other: int, end: str = "b") -> Wiring:
    """A wiring in which two cables of a kind have been plugged in at each other's place at one end."""
    rows = kind_rows(made, kind)
    return swapped(made, rows[one], rows[other], end, *(f"{end}_{name}" for name in ("cage", "lane", "lanes")))


def onto_another(made: Wiring, kind: int, column: str) -> Wiring:
    """A wiring whose first link of a kind has the second one's value."""
    rows = kind_rows(made, kind)
    return with_link(made, kind, **{column: int(getattr(made.links, column)[rows[1]])})


def relabelled(made: Wiring, role: str, **numbers: int) -> Wiring:
    """A wiring whose first box of a role has another group, rail, pod or plane."""
    first = boxes(made, role)[0]
    return changed(made, "devices", **{name: {first: number} for name, number in numbers.items()})


def cut(made: Wiring, kind: int, box: int) -> Wiring:
    """A wiring without the links of a kind to a far box."""
    gone = (made.links.kind == kind) & (made.links.b == box)
    return picked(made, "links", np.flatnonzero(~gone).tolist())


SERVERS, ATTACHMENTS, SPINES, CORES = map(KINDS.index, ("server-leaf", "attachment-leaf", "leaf-spine", "spine-core"))
MUTANTS: dict[str, tuple[str, str, Change]] = {
    # boxes
    "another fabric": ("one_tier", "boxes_are_listed", lambda w: replace(w, fabrics=("storage",))),
    "a name twice": ("two_tiers", "boxes_are_listed", lambda w: changed(w, "devices", name={1: "server-0001"})),
    "another product": ("two_tiers", "boxes_are_listed", lambda w: changed(w, "devices", product={0: "box2"})),
    "another role": ("two_tiers", "boxes_are_listed", lambda w: changed(w, "devices", role={-1: "leaf"})),
    "a box of no role": ("one_tier", "boxes_are_listed", lambda w: changed(w, "devices", role={-1: "spine"})),
    "a module of no fabric": ("two_tiers", "boxes_are_listed", lambda w: changed(w, "modules", fabric={3: 1})),
    "a wire of no fabric": ("two_tiers", "boxes_are_listed", lambda w: changed(w, "cables", fabric={3: NOTHING})),
    "leaves swapped": (
        "large",
        "rails_reach_leaves",
        lambda w: swapped(w, *boxes(w, "leaf")[:2], "rail", table="devices"),
    ),
    "a leaf's group": ("large", "boxes_are_numbered", lambda w: relabelled(w, "leaf", group=2)),
    "a group too many": ("large", "boxes_are_numbered", lambda w: relabelled(w, "leaf", group=4)),
    "a leaf's rail": ("large", "boxes_are_numbered", lambda w: relabelled(w, "leaf", rail=2)),
    "a leaf's plane": ("large", "boxes_are_numbered", lambda w: relabelled(w, "leaf", plane=2)),
    "a leaf's pod": ("large", "boxes_are_numbered", lambda w: relabelled(w, "leaf", pod=2)),
    "a pod of two tiers": ("two_tiers", "boxes_are_numbered", lambda w: relabelled(w, "leaf", pod=1)),
    "a spine's pod": ("large", "boxes_are_numbered", lambda w: relabelled(w, "spine", pod=2)),
    "a spine's plane": ("large", "boxes_are_numbered", lambda w: relabelled(w, "spine", plane=2)),
    "a core's plane": ("large", "boxes_are_numbered", lambda w: relabelled(w, "core", plane=2)),
    # links
    "a link less": ("two_tiers", "links_join_tiers", lambda w: without(w, "links", 5)),
    "a link twice": ("two_tiers", "links_join_tiers", lambda w: picked(w, "links", [*range(len(w.links)), 5])),
    "another kind": ("two_tiers", "links_join_tiers", lambda w: with_link(w, SPINES, kind=CORES)),
    "no kind": ("two_tiers", "links_join_tiers", lambda w: with_link(w, SPINES, kind=len(KINDS))),
    "no box": ("two_tiers", "links_join_tiers", lambda w: with_link(w, SPINES, b=len(w.devices))),
    "a box before the first": ("two_tiers", "links_join_tiers", lambda w: with_link(w, SPINES, b=-1)),
    "turned round": ("two_tiers", "links_join_tiers", lambda w: with_link(w, SPINES, a=int(w.links.b[-1]))),
    "another fabric's leaf": (
        "two_tiers",
        "links_join_tiers",
        lambda w: changed(w, "devices", fabric={boxes(w, "leaf")[0]: "storage"}),
    ),
    # ports
    "a port twice": ("two_tiers", "ports_are_used_once", lambda w: onto_another(w, SPINES, "a_lane")),
    "a port of a server twice": ("two_tiers", "ports_are_used_once", lambda w: onto_another(w, SERVERS, "a_lane")),
    "a lane too many": ("two_tiers", "ports_are_used_once", lambda w: with_link(w, SPINES, b_lane=2)),
    "a lane below": ("two_tiers", "ports_are_used_once", lambda w: with_link(w, SPINES, b_lane=-1)),
    "a cage too many": ("two_tiers", "cages_keep_one_use", lambda w: with_link(w, SERVERS, b_cage=9)),
    "a cage below": ("two_tiers", "cages_keep_one_use", lambda w: with_link(w, SPINES, a_cage=0)),
    "a server cage too many": ("two_tiers", "cages_keep_one_use", lambda w: with_link(w, SERVERS, a_cage=3)),
    "an attachment cage too many": ("two_tiers", "cages_keep_one_use", lambda w: with_link(w, ATTACHMENTS, a_cage=3)),
    "down in an uplink's cage": (
        "two_tiers",
        "cages_keep_one_use",
        lambda w: with_link(w, SERVERS, b_cage=int(w.links.a_cage[kind_rows(w, SPINES)[0]])),
    ),
    "another split": ("two_tiers", "cages_keep_one_use", lambda w: with_link(w, SPINES, b_lanes=4)),
    "more cages than a card": ("large", "bundles_join_boxes", lambda w: with_link(w, SERVERS, a_nic=2)),
    "two cards in a cage": ("twin copper", "cages_keep_one_use", lambda w: with_link(w, SERVERS, a_nic=2)),
    "another speed": ("two_tiers", "ends_run_at_one_speed", lambda w: with_link(w, SPINES, gbps=200.0)),
    # endpoints
    "another server": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, SERVERS, a=1)),
    "another card": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, SERVERS, a_nic=2)),
    "a card too many": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, SERVERS, a_nic=5)),
    "a card port too many": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, SERVERS, a_nic_port=2)),
    "an attachment's port": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, ATTACHMENTS, a_nic_port=2)),
    "a card on a spine": ("two_tiers", "endpoints_are_cabled", lambda w: with_link(w, SPINES, a_nic=1)),
    "attachments on one leaf": ("two_tiers", "endpoints_are_cabled", lambda w: onto_another(w, ATTACHMENTS, "b")),
    "a link across planes": ("large", "planes_stay_apart", lambda w: crossed(w, SPINES, 0, -1)),
    "a core of another plane": ("large", "planes_stay_apart", lambda w: crossed(w, CORES, 0, -1)),
    "a card in one plane": (
        "two ports",
        "planes_stay_apart",
        lambda w: with_link(w, SERVERS, 2, b=int(w.links.b[kind_rows(w, SERVERS)[0]])),
    ),
    # ways
    "rails crossed": ("two_tiers", "rails_reach_leaves", lambda w: crossed(w, SERVERS, 0, 1)),
    "ports crossed": ("two_tiers", "rails_use_same_ports", lambda w: crossed(w, SERVERS, 0, 4)),
    "groups crossed": ("two_tiers", "rails_reach_leaves", lambda w: crossed(w, SERVERS, 0, 16)),
    "planes crossed": ("large", "rails_reach_leaves", lambda w: crossed(w, SERVERS, 0, 1)),
    "stripes crossed": ("two_tiers", "leaves_reach_spines", lambda w: crossed(w, SPINES, 0, 6)),
    "pods crossed": ("large", "leaves_reach_spines", lambda w: crossed(w, SPINES, 0, 3)),
    "an uplink less": ("large", "leaves_reach_spines", lambda w: without(w, "links", kind_rows(w, SPINES)[0])),
    "one spine more than its share": (
        "large",
        "leaves_reach_spines",
        lambda w: with_link(w, SPINES, b=int(w.links.b[kind_rows(w, SPINES)[2]])),
    ),
    "an uplink of one tier": ("one_tier", "leaves_reach_spines", lambda w: with_link(w, SERVERS, kind=SPINES)),
    "a core of two tiers": ("two_tiers", "spines_reach_cores", lambda w: with_link(w, SPINES, kind=CORES)),
    "core groups crossed": ("large", "spines_reach_cores", lambda w: crossed(w, CORES, 0, 4)),
    "cores of a group crossed": ("large", "spines_reach_cores", lambda w: with_link(w, CORES, b=boxes(w, "core")[1])),
    "a plane cut": ("three_tiers", "planes_are_connected", lambda w: without(w, "links", kind_rows(w, CORES)[0])),
    "a leaf cut off": ("three_tiers", "planes_are_connected", lambda w: without(w, "links", kind_rows(w, SPINES)[0])),
    "planes joined": ("large", "planes_are_connected", lambda w: crossed(w, CORES, 0, -1)),
    "a server without a plane": (
        "two ports",
        "planes_are_connected",
        lambda w: changed(w, "links", b={row: int(w.links.b[0]) for row in kind_rows(w, SERVERS)[:4]}),
    ),
    "no way between halves": (
        "three_tiers",
        "bisection_carries_claim",
        lambda w: without(w, "links", len(w.links) - 1),
    ),
    "a core less": ("pods", "bisection_carries_claim", lambda w: cut(w, CORES, boxes(w, "core")[0])),
    "slower uplinks": (
        "two_tiers",
        "bisection_carries_claim",
        lambda w: changed(w, "links", gbps=dict.fromkeys(kind_rows(w, SPINES), 200.0)),
    ),
    # wires
    "a label twice": ("two_tiers", "wires_are_listed", lambda w: changed(w, "cables", name={1: "C00001"})),
    "no wire": ("two_tiers", "wires_are_listed", lambda w: with_link(w, SERVERS, cable=NOTHING)),
    "a wire that is not there": ("two_tiers", "wires_are_listed", lambda w: with_link(w, SERVERS, cable=999)),
    "a wire without a link": ("two_tiers", "wires_are_listed", lambda w: onto_another(w, SERVERS, "cable")),
    "a wire of another fabric": ("two_tiers", "wires_are_listed", lambda w: changed(w, "cables", fabric={0: 1})),
    "another wire": ("three_tiers", "wires_are_listed", lambda w: changed(w, "cables", part={0: "aoc"})),
    "a wire of no part": ("three_tiers", "wires_are_listed", lambda w: changed(w, "cables", part={0: "aoc2"})),
    "a wire of a switch": ("three_tiers", "wires_are_listed", lambda w: changed(w, "cables", part={0: "t8"})),
    "another module at the wire": (
        "two_tiers",
        "wires_are_listed",
        lambda w: changed(w, "cables", b_module={0: "twin-flat"}),
    ),
    "a wire where nothing is bought": (
        "nothing bought",
        "wires_are_listed",
        lambda w: with_link(w, ATTACHMENTS, cable=0),
    ),
    "a module that does not fit": (
        "two_tiers",
        "wires_fit_cages",
        lambda w: changed(w, "cables", a_module={0: "twin-fin"}),
    ),
    "no module": ("two_tiers", "wires_fit_cages", lambda w: changed(w, "cables", b_module={0: ""})),
    "modules at a cable": ("three_tiers", "wires_fit_cages", lambda w: changed(w, "cables", b_module={0: "dr4"})),
    "another medium": ("two_tiers", "wires_fit_cages", lambda w: changed(w, "cables", medium={0: "mmf"})),
    "a straight cable for a splitter": (
        "cages mixed",
        "wires_fit_cages",
        lambda w: changed(w, "cables", part={0: "dac"}),
    ),
    "heads in two cages": ("splitter at the leaf", "wires_join_cages", lambda w: swapped(w, 0, 3, "cable")),
    "two cages at a straight end": ("twin copper", "wires_join_cages", lambda w: swapped(w, 1, 3, "cable")),
    "two wires in a cage": ("twin copper", "wires_join_cages", lambda w: crossed(w, SERVERS, 1, 3)),
    "two wires in a connector": ("two connectors", "wires_join_cages", lambda w: swapped(w, 0, 2, "cable")),
    "two wires in one trunk": ("two ports in a trunk", "wires_join_cages", lambda w: swapped(w, 0, 2, "cable")),
    "two links in a fibre": ("two_tiers", "wires_join_cages", lambda w: onto_another(w, SERVERS, "cable")),
    "a head more": ("two_tiers", "wires_join_cages", lambda w: changed(w, "cables", a_connectors={0: 2})),
    "a head less": ("splitter at the leaf", "wires_join_cages", lambda w: changed(w, "cables", a_connectors={0: 1})),
    "heads at the other end": (
        "splitter at the server",
        "wires_join_cages",
        lambda w: changed(w, "cables", a_connectors={0: 2}, b_connectors={0: 1}),
    ),
    "two links in a head": (
        "splitter at the leaf",
        "wires_join_cages",
        lambda w: with_link(w, SERVERS, 1, a=int(w.links.a[0])),
    ),
    "too short": ("two_tiers", "wires_cover_runs", lambda w: changed(w, "cables", length_m={-1: 5.0})),
    "a run that is not true": ("two_tiers", "wires_cover_runs", lambda w: changed(w, "cables", run_m={-1: 29.0})),
    "a run that is too long": ("two_tiers", "wires_cover_runs", lambda w: changed(w, "cables", run_m={0: 5.0})),
    "a length that is not sold": ("two_tiers", "wires_cover_runs", lambda w: changed(w, "cables", length_m={0: 6.0})),
    "a length without a price": ("one_tier", "wires_cover_runs", lambda w: changed(w, "cables", length_m={0: 2.5})),
    # figures
    "every uplink at half its speed": (
        "two_tiers",
        "figures_hold_on_graph",
        lambda w: changed(w, "links", gbps=dict.fromkeys(kind_rows(w, SPINES), 100.0)),
    ),
    "all servers on one leaf": (
        "two_tiers",
        "figures_hold_on_graph",
        lambda w: changed(w, "links", b=dict.fromkeys(kind_rows(w, SERVERS), boxes(w, "leaf")[0])),
    ),
    # modules
    "a module twice": ("two_tiers", "modules_fill_cages", lambda w: picked(w, "modules", [*range(len(w.modules)), 0])),
    "a module less": ("two_tiers", "modules_fill_cages", lambda w: without(w, "modules", 0)),
    "another module": ("two_tiers", "modules_fill_cages", lambda w: changed(w, "modules", part={0: "twin-fin"})),
    "a module of no part": ("two_tiers", "modules_fill_cages", lambda w: changed(w, "modules", part={0: "other"})),
    "a module elsewhere": ("two_tiers", "modules_fill_cages", lambda w: changed(w, "modules", cage={0: 7})),
    "a module of another box": ("two_tiers", "modules_fill_cages", lambda w: changed(w, "modules", device={0: 5})),
    "wires that disagree": (
        "two_tiers",
        "modules_fill_cages",
        lambda w: changed(w, "cables", a_module={0: "single-flat"}),
    ),
    # cages and parts of links
    "a port more on a spine": (
        "two_tiers",
        "ports_fit_radix",
        lambda w: with_link(w, SPINES, b=boxes(w, "spine")[-1]),
    ),
    "a link in an empty cage": ("two_tiers", "cages_close", lambda w: with_link(w, SPINES, a_cage=6)),
    "copper to two spines": ("copper to spines", "bundles_join_boxes", lambda w: crossed(w, SPINES, 0, -1)),
    "a wire of another length": ("two_tiers", "parts_cover_links", lambda w: changed(w, "cables", length_m={-1: 5.0})),
    # quantities
    "a longer wire": ("two_tiers", BILL, lambda w: changed(w, "cables", length_m={0: 30.0})),
    "another fibre": ("three_tiers", BILL, lambda w: changed(w, "cables", part={-1: "aoc"})),
    "a wire more": ("one_tier", BILL, lambda w: picked(w, "cables", [*range(len(w.cables)), 0])),
    "a wire less": ("one_tier", BILL, lambda w: without(w, "cables", 7)),
    "a module more": ("two_tiers", BILL, lambda w: picked(w, "modules", [*range(len(w.modules)), 0])),
    # stages
    "a server cabled late": ("opened", "stages_are_fabrics", lambda w: with_link(w, SERVERS, stage=1)),
    "a server that comes late": ("opened", "stages_are_fabrics", lambda w: changed(w, "devices", stage={0: 1})),
    "an uplink late": ("moved", "stages_are_fabrics", lambda w: with_link(w, SPINES, stage=1)),
    "lent to the other spine": (
        "moved",
        "stages_are_fabrics",
        lambda w: changed(w, "lent", b={0: boxes(w, "spine")[1]}),
    ),
    "lent to a cage that is not there": ("moved", "stages_are_fabrics", lambda w: changed(w, "lent", b_cage={0: 9})),
    "a box of no stage": ("moved", "stages_only_add", lambda w: changed(w, "devices", stage={0: 2})),
    "a link before its leaf": ("opened", "stages_only_add", lambda w: with_link(w, SPINES, -1, stage=0)),
    "a wire after its link": ("moved", "stages_only_add", lambda w: changed(w, "cables", stage={0: 1})),
    "a wire before its link": ("moved", "stages_only_add", lambda w: changed(w, "cables", stage={-1: 0})),
    "a module after its link": ("two_tiers", "stages_only_add", lambda w: changed(w, "modules", stage={0: 1})),
    "a link not lent": ("moved", "stages_only_add", lambda w: without(w, "lent", 0)),
    "a link lent twice": ("moved", "stages_only_add", lambda w: picked(w, "lent", [*range(len(w.lent)), 0])),
    "another link lent": ("moved", "stages_only_add", lambda w: changed(w, "lent", link={0: kind_rows(w, SPINES)[0]})),
    "lent before the first stage": ("moved", "stages_only_add", lambda w: changed(w, "lent", first={0: -1})),
    "lent at the last stage": ("moved", "stages_only_add", lambda w: changed(w, "lent", last={0: 1})),
    "lent for no time": ("moved", "stages_only_add", lambda w: changed(w, "lent", first={0: 1})),
    "lent to a port in use": ("moved", "stages_only_add", lambda w: changed(w, "lent", b_cage={0: 1})),
    "lent to a lane too many": ("moved", "stages_only_add", lambda w: changed(w, "lent", b_lane={0: 1})),
    "a spine early": (
        "moved",
        "stage_counts_close",
        lambda w: changed(w, "devices", stage={boxes(w, "spine")[1]: 0}),
    ),
    "a core early": ("opened", "stage_counts_close", lambda w: changed(w, "devices", stage={boxes(w, "core")[0]: 0})),
    "a wire early": ("moved", "stage_counts_close", lambda w: changed(w, "cables", stage={-1: 0})),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_rejects_what_breaks_a_rule(what: str) -> None:
    name, rule, change = MUTANTS[what]
    found = verify_wiring(design(name), change(wiring(name)))
    details = {check.name: check.detail for check in found if not check.ok}
    assert rule in details
    assert details[rule].startswith("compute: ")


def test_every_rule_is_broken_by_something() -> None:
    # whether an earlier group of cages would do is no matter of the wiring
    assert {rule for _, rule, _ in MUTANTS.values()} == {*OF_ALL} - {"cage_groups_come_first"}


def test_servers_at_other_ports_are_counted() -> None:
    """The first two servers have changed places on the first leaf of their group, and on no other."""
    made = crossed(wiring("two_tiers"), SERVERS, 0, 4)
    assert broken("two_tiers", made)["rails_use_same_ports"] == (
        "compute: servers at another port on some leaf is 2, recomputed 0"
    )


def test_the_detail_says_what_is_wrong() -> None:
    made = changed(wiring("two_tiers"), "cables", length_m={-1: 5.0})
    assert broken("two_tiers", made) == {
        "wires_cover_runs": "compute: cables shorter than their run is 1, recomputed 0",
        "parts_cover_links": "compute: leaf-spine: mpo of 5 m is 0, recomputed 1; leaf-spine: mpo of 30 m is 32, "
        "recomputed 31",
        BILL: "compute: mpo of 5 m in use on the bill is 30, recomputed 31; mpo of 30 m in use on the bill is 32, "
        "recomputed 31",
    }


# Of the first link of a server in the second fabric, where a server has one card of one cage in each.
OF_THE_FIRST = {
    "the card of the first fabric": ("endpoints_are_cabled", {"a_nic": 1}),
    "a card that no fabric has": ("endpoints_are_cabled", {"a_nic": 3}),
    "the cage of the first fabric": ("cages_keep_one_use", {"a_cage": 1}),
    "the port of the first fabric": ("ports_are_used_once", {"a_cage": 1}),
    "a cage that no fabric has": ("cages_keep_one_use", {"a_cage": 3}),
}


@pytest.mark.parametrize("what", OF_THE_FIRST)
def test_ports_of_a_server_are_counted_over_all_fabrics(what: str) -> None:
    made = export_samples.solved("two fabrics")
    cabled = wiring_of(made)
    assert [check for check in verify_wiring(made, cabled) if not check.ok] == []
    row = np.flatnonzero((cabled.links.fabric == 1) & (cabled.links.kind == SERVERS)).tolist()[0]
    assert (cabled.links.a_nic[row], cabled.links.a_cage[row]) == (2, 2)
    rule, values = OF_THE_FIRST[what]
    altered = changed(cabled, "links", **{name: {row: value} for name, value in values.items()})
    details = {check.name: check.detail for check in verify_wiring(made, altered) if not check.ok}
    assert "storage: " in details[rule]


# Columns in which any other value is wrong. A link may lie in another free port; names and places are free.
STRICT = {
    "devices": ("role", "product", "fabric"),
    "links": ("fabric", "kind", "a", "a_nic", "a_nic_port", "a_lanes", "b", "b_lanes", "cable", "gbps"),
    "cables": ("fabric", "kind", "part", "length_m", "run_m", "medium", "a_connectors", "b_connectors",
               "a_module", "b_module"),
    "modules": ("device", "cage", "part", "fabric"),
}  # fmt: skip


GROWING = {
    "devices": ("stage",), "links": ("stage",), "cables": ("stage",), "modules": ("stage",),
    "lent": ("link", "first", "last", "b", "b_cage", "b_lane"),
}  # fmt: skip


def others(value: Any) -> Iterator[Any]:
    """Other values of the same type."""
    if isinstance(value, str):
        yield from (f"{value}x", "" if value else "dac")
    else:
        yield from (value + 1, value - 1)


@pytest.mark.long(but=("twin copper",))
@pytest.mark.parametrize("name", [*DESIGNS, *JOININGS, *SIZED, *GROWN])
def test_rejects_any_entry_that_is_changed(name: str) -> None:
    for table, columns in STRICT.items():
        for column in columns:
            values = getattr(getattr(wiring(name), table), column)
            for row in sorted({0, len(values) // 2, len(values) - 1} & set(range(len(values)))):
                for value in others(values[row]):
                    made = changed(wiring(name), table, **{column: {row: value}})
                    assert is_broken(name, made), (table, column, row, value)


@pytest.mark.long("moved")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("name", [*GROWN, "two_tiers"])
def test_rejects_any_stage_that_is_changed(name: str) -> None:
    for table, columns in GROWING.items():
        for column in columns:
            values = getattr(getattr(wiring(name), table), column)
            for row in range(0, len(values), max(1, len(values) // 6)):
                for value in others(values[row]):
                    made = changed(wiring(name), table, **{column: {row: value}})
                    assert is_broken(name, made), (table, column, row, value)


@pytest.mark.parametrize(
    ("name", "every"), [("moved", 4), *(pytest.param(name, 1, marks=pytest.mark.long) for name in GROWN)]
)
def test_rejects_any_number_of_a_stage_that_is_changed(name: str, every: int) -> None:
    """Every number that the file claims of a stage is found again, in its own numbers or in the wiring; or one of so
    many.
    """
    document = design(name).model_dump(mode="json", by_alias=True)
    for stage, claimed in enumerate(document["fabrics"][0]["growth"]):
        for path in list(numbers_in(claimed))[::every]:
            for step in (1, -1):
                changed_file = copy.deepcopy(document)
                *parents, last = path
                inside = changed_file["fabrics"][0]["growth"][stage]
                for key in parents:
                    inside = inside[key]
                inside[last] += step
                checks = verified_in_turn(read(changed_file))
                assert any(not check.ok and check.name in STAGE_RULES for check in checks), (stage, path, step)


STAGE_RULES = {"stages_are_fabrics", "stages_only_add", "stage_counts_close"}


def numbers_in(content: Json) -> Iterator[tuple[str, ...]]:
    """Paths of all numbers in a nested object."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from ((key, *path) for path in numbers_in(value))
        elif isinstance(value, int | float):
            yield (key,)


@pytest.mark.long(but_every=4)
@pytest.mark.drawn_longer
@pytest.mark.parametrize("name", [*DESIGNS, *JOININGS, *SIZED])
@pytest.mark.parametrize("table", ["links", "cables", "modules"])
def test_rejects_any_row_that_is_missing_or_twice(name: str, table: str) -> None:
    rows = range(len(getattr(wiring(name), table)))
    for row in rows[:: max(1, len(rows) // few_or_many(4, 12))]:
        kept = [one for one in rows if one != row]
        if table != "cables":  # links name wires by their rows
            assert is_broken(name, picked(wiring(name), table, kept))
        assert is_broken(name, picked(wiring(name), table, [*rows, row]))


@pytest.mark.long("opened", "large")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("name", ["two_tiers", "cages mixed", "large", *GROWN])
def test_never_raises_on_garbage(name: str) -> None:
    for table in ("devices", "links", "cables", "modules", "lent"):
        for column in fields(getattr(wiring(name), table)):
            values = getattr(getattr(wiring(name), table), column.name)
            junk: tuple[Any, ...] = ("", "junk")
            if isinstance(values, np.ndarray):
                junk = (-(10**15), 10**15) if values.dtype.kind == "i" else (np.nan, np.inf, -1.0)
            for value in junk if len(values) else ():
                verify_wiring(design(name), changed(wiring(name), table, **{column.name: {0: value}}))


def test_a_product_that_does_less_breaks_the_rules_of_the_wiring() -> None:
    """The tables are compared with the embedded products, not only with each other."""
    edits: dict[str, Callable[[Json], Any]] = {
        "cages_keep_one_use": lambda parts: parts["twin8"]["cages"][0].update(count=7),
        "ports_are_used_once": lambda parts: parts["twin8"].update(max_ports=15),
        "wires_cover_runs": lambda parts: parts["twin-fin"].update(reach_m=29),
        "wires_fit_cages": lambda parts: parts["mpo"].update(fibre="om4"),
        "wires_join_cages": lambda parts: parts["twin-fin"].update(connectors=1),
    }
    for rule, edit in edits.items():
        document = DESIGNS["two_tiers"]()
        edit(document["parts"])
        found = verify_wiring(read(document), wiring("two_tiers"))
        assert rule in {check.name for check in found if not check.ok}


def test_a_claim_above_the_flow_is_refused() -> None:
    document = DESIGNS["three_tiers"]()
    document["fabrics"][0]["metrics"]["bisection_gbps_per_gpu"] = 134
    checks = {check.name: check for check in verify(read(document))}
    assert checks["bisection_carries_claim"].detail == ("compute: 400 Gb/s between 4 servers and 3, 402 claimed")


@pytest.mark.parametrize("key", ["permutation_gbps_per_gpu", "alltoall_gbps_per_gpu", "allreduce_gbps_per_gpu",
                                 "bisection_gbps_per_gpu", "mean_switch_hops", "max_switch_hops"])  # fmt: skip
def test_a_figure_that_the_graph_does_not_have_is_refused(key: str) -> None:
    """Each figure one higher than it is, on three tiers."""
    made = design("pods")
    fabric = made.fabrics[0]
    wrong = fabric.metrics.model_copy(update={key: getattr(fabric.metrics, key) + 1})
    changed_file = made.model_copy(update={"fabrics": (fabric.model_copy(update={"metrics": wrong}),)})
    checks = {check.name: check for check in verify_wiring(changed_file, wiring("pods"))}
    assert not checks["figures_hold_on_graph"].ok
    assert key in checks["figures_hold_on_graph"].detail or "longest path" in checks["figures_hold_on_graph"].detail


def test_a_graph_that_is_too_large_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabopt.verify.graph.MOST_WORK", 10)
    checks = {check.name: check for check in verify_wiring(design("pods"), wiring("pods"))}
    assert "more than 10: the graph is left to the classes" in checks["figures_hold_on_graph"].detail


def test_a_file_that_makes_no_wiring_breaks_every_rule() -> None:
    document = DESIGNS["two_tiers"]()
    document["fabrics"][0]["tiers"][1]["count"] = 3
    found = {check.name: check for check in verify(read(document))}
    for name in {*OF_ALL} - set().union(*BROUGHT.values()):
        assert not found[name].ok
        assert "there is no wiring: compute has [8, 3] switches" in found[name].detail


def test_no_size_in_a_damaged_file_fills_the_memory() -> None:
    huge = 10**15
    for path in (("nic", "ports_per_nic"), ("structure", "groups_per_pod"), ("structure", "spines_per_pod")):
        document = DESIGNS["two_tiers"]()
        document["fabrics"][0][path[0]][path[1]] = huge
        document["fabrics"][0]["links"][0]["count"] = MOST_LINKS - 40
        assert [check for check in verify(read(document)) if not check.ok]


def test_too_many_links_for_a_list_are_not_listed() -> None:
    document = DESIGNS["two_tiers"]()
    document["fabrics"][0]["links"][0]["count"] = MOST_LINKS + 1
    names = {check.name for check in verify(read(document))}
    assert not names & {rule.__name__ for rule in WIRING_RULES}


@pytest.mark.parametrize(("family", "seed"), [("attached", 17), ("attached", 58), ("attached", 72), ("attached", 208)])
def test_attachments_share_cages_and_cables(family: str, seed: int) -> None:
    """Twin copper to attachments; legs of a server's breakout, in reach and out of it."""
    made = random_design(family, seed)
    assert made is not None
    assert [check for check in made.checks if not check.ok] == []


def test_a_breakout_leads_to_a_module_of_somebody_else() -> None:
    """Two single ports of a leaf, and one fibre with its single head in the attachment's cage."""
    one, trunk = tiny.optic("one", "1x100", 30), tiny.optic("trunk", "2x100", 50, "MPO")
    breakout = tiny.fibre("breakout", "MPO", "LC", 5, heads=2)
    store = {"name": "store", "ports": 2, "buys": "near", "form_factor": tiny.Q, "split": "2x100"}
    wanted = tiny.case(4, {"tiers": 1, "attachments": [store]})
    del wanted["catalog"]
    made = growth_samples.solved(growth_samples.eight() | {"transceivers": [one, trunk], "fibres": [breakout]}, wanted)
    assert small.bought(made) == {"eight": 1, "card": 4, "cable": 4, "one": 2, "breakout": 1}
    small.assert_proven(made)
    cables = wiring_of(made).cables
    at = list(cables.part).index("breakout")
    assert (cables.a_connectors[at], cables.b_connectors[at]) == (1, 2)


@given(st.lists(st.tuples(*[st.integers(-(2**62), 2**62)] * 3), max_size=12))
def test_rows_have_equal_numbers_if_they_are_equal(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    code = combined(*columns).tolist()
    assert [one == other for one in code for other in code] == [one == other for one in rows for other in rows]


@cache
def on_a_floor() -> Design:
    """Four servers, two to a rack, on a floor of 2 x 4 racks."""
    parts = small.catalog()
    small.product(parts, "gpu-4")["rack_units"] = 8
    floor = {"rows": 2, "racks_per_row": 4, "rack_units": 24}
    return small.solved(small.case(servers=4, site={"floor": floor, "servers_per_rack": 2}), parts)


def test_runs_are_measured_on_the_floor() -> None:
    """A leaf that is moved to the far corner leaves its cables too short; the lengths listed do not know it."""
    made = wiring_of(on_a_floor())
    assert [check for check in verify_wiring(on_a_floor(), made) if not check.ok] == []
    assert len(np.unique(made.cables.run_m)) > 2
    leaf = boxes(made, "leaf")[0]
    moved = changed(made, "devices", rack={leaf: "B04"}, unit={leaf: 1})
    found = {check.name for check in verify_wiring(on_a_floor(), moved) if not check.ok}
    assert found == {"wires_cover_runs"}
