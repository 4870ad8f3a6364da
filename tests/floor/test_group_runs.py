"""Runs that follow from groups: by hand, against the floor's own measure, and against a hall laid out rack by rack."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fabopt.floor.group_runs import (
    HALL,
    GroupRuns,
    ServersPerRack,
    Sizes,
    end_to_end_m,
    from_middle_m,
    given_m,
    group_runs,
    server_heights,
    shorter_parts,
    usual_servers_per_rack,
)
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import NO_LIMITS
from fabopt.schema.case import Site
from fabopt.schema.rack_rules import RackRules
from fabopt.schema.server import Server
from fabopt.schema.site import Distances
from fabopt.schema.structure import Structure
from tests.oracles.brute_lengths import GroupLengths
from tests.paths import ROOT

KINDS = ("server-leaf", "attachment-leaf", "leaf-spine", "spine-core", "leaf-leaf")


def server(**keys: Any) -> Server:
    return Server.model_validate({"id": "box", "gpus": 8, **keys})


def runs(servers: int, per_rack: int = 4, units: float = 8) -> GroupRuns:
    return GroupRuns(ServersPerRack(per_rack, "said"), servers, server_heights(server(rack_units=units)), {})


def test_runs_by_hand() -> None:
    """Servers of 8 units at the bottom end 0.2778 m high, switches at 1.1891 to 2.2114 m; the tray is at 2.6 m.

    One rack: 2.2114 - 0.2778 + 0.5 = 2.44. Two racks: 1.4109 + 2.3222 + 0.6 of drops + 0.6 of pitch + 0.5 = 5.44. Two
    rows: 16 x 0.6 = 9.6 over a row and 2.4 across: 1.4109 + 2.3222 + 0.6 + 12 = 16.333, and 5 % of that.
    """
    found = runs(2048).runs_m("clos", Sizes(np.array([4, 8, 64, 128]), np.array([4, 8, 64, 128])))
    assert found["server-leaf"].tolist() == [2.5, 5.5, 9.7, 17.2]
    assert found["leaf-spine"].tolist() == [1.6, 4.6, 8.8, 16.2]
    # the two leaves of a pair are in one rack, or in two side by side, however large their group is
    assert found["leaf-leaf"].tolist() == [1.6, 4.6, 4.6, 4.6]


@pytest.mark.parametrize("racks", [1, 2, 3, 7, 16, 32, 48, 80])
def test_ways_are_those_of_a_floor_plan(racks: int) -> None:
    length = min(racks, HALL.racks_per_row)
    rows = racks // length
    plan = FloorPlan(HALL.model_copy(update={"rows": rows, "racks_per_row": length}))
    ways = plan.tray_m(np.arange(racks)[:, None], np.arange(racks)[None, :])
    assert from_middle_m(racks) == pytest.approx(ways[rows // 2 * length + length // 2].max())
    assert end_to_end_m(racks) == pytest.approx(ways.max())


@pytest.mark.long(but=("8",))
@pytest.mark.parametrize("units", [1, 2.67, 8, 48])
def test_runs_are_those_of_a_hall_laid_out(units: float) -> None:
    case = {"site": {"servers_per_rack": 2}, "rules": {}}
    brute = GroupLengths(case, {"gpus": 8, "rack_units": units}, 150)
    ours = runs(150, 2, units)
    for servers in (1, 2, 3, 10, 31, 32, 33, 64, 65, 150, 400):
        found = ours.runs_m("clos", Sizes(servers, servers))
        wanted = {kind: brute.run(kind, servers) for kind in ("server-leaf", "leaf-spine", "leaf-leaf")}
        wanted |= {kind: brute.run(kind, 150) for kind in ("attachment-leaf", "spine-core")}
        assert {kind: float(found[kind]) for kind in KINDS} == {kind: float(wanted[kind]) for kind in KINDS}


def test_every_cable_has_some_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 0.3 m and 5 % more than its way, as rule ``rack-rules`` has it on floors."""
    sizes = Sizes(np.array([1, 4, 8, 64, 128, 2048]), np.array([1, 4, 8, 64, 128, 2048]))
    bought = runs(2048).runs_m("clos", sizes)
    monkeypatch.setattr(f"{group_runs.__module__}.HALL", HALL.model_copy(update={"slack_m": 0.0}))
    monkeypatch.setattr(f"{group_runs.__module__}.TO_SPARE", NO_LIMITS)
    ways = runs(2048).runs_m("clos", sizes)
    assert all((bought[kind] - ways[kind] >= RackRules().spare_m).all() for kind in KINDS)
    # both are in whole decimetres
    assert all((bought[kind] >= (ways[kind] - 0.1) * 1.05).all() for kind in KINDS)
    assert (bought["server-leaf"] >= 20).any()


@pytest.mark.parametrize("family", ["clos", "hyperx", "dragonfly", "dragonfly+", "server-torus"])
def test_runs_rise_with_the_groups(family: str) -> None:
    sizes = np.arange(1, 3000)
    for run in runs(2999).runs_m(family, Sizes(sizes, sizes)).values():
        assert (np.diff(np.broadcast_to(run, sizes.shape)) >= 0).all()
    least = runs(2999).least_m
    assert all((runs(2999).runs_m(family, Sizes(sizes, sizes))[kind] >= least[kind]).all() for kind in KINDS)


@pytest.mark.parametrize(
    ("site", "figures", "number"),
    [
        ({"servers_per_rack": 3}, {"rack_units": 8, "power_w": 10_200}, 3),
        ({}, {"rack_units": 8, "power_w": 10_200}, 4),
        ({}, {"rack_units": 10, "power_w": 14_300}, 2),
        ({}, {"rack_units": 8, "power_w": 50_000}, 1),
        ({}, {"rack_units": 8}, 6),
        ({}, {"power_w": 10_200}, 4),
        ({}, {}, 4),
        ({}, {"gpus": 4, "rack_units": 2.67, "scale_up": {"domain_gpus": 72, "gbps_per_gpu": 7200}}, 18),
    ],
)  # fmt: skip
def test_servers_of_a_rack(site: dict[str, int], figures: dict[str, Any], number: int) -> None:
    assert usual_servers_per_rack(Site(**site), server(**figures)).number == number


def test_given_lengths_stay() -> None:
    whole = Distances.model_validate({"server-leaf": 2, "leaf-spine": 5, "spine-core": 7})
    assert group_runs(Site(distances_m=whole), server(), 8) is None
    some = group_runs(Site(distances_m=whole.model_copy(update={"leaf_spine": None})), server(), 8)
    assert some is not None
    found = {kind: float(run) for kind, run in some.runs_m("clos", Sizes(8, 8)).items()}
    # attachments are anywhere in their racks, leaves in the upper half
    given = {"server-leaf": 2, "leaf-leaf": 2, "attachment-leaf": 2, "spine-core": 7}
    assert found == given | {"leaf-spine": 4.6, "attachment-spine": 5.6}


@pytest.mark.parametrize(("server_leaf", "peers"), [(3, 3), (20, 4.6)])
def test_a_peer_link_is_never_longer_than_between_neighbouring_racks(server_leaf: float, peers: float) -> None:
    """Whether all distances are given or some follow from groups."""
    said = {"server-leaf": server_leaf, "leaf-spine": 30, "spine-core": 50}
    assert given_m(Site(distances_m=Distances.model_validate(said)))["leaf-leaf"] == peers
    some = group_runs(Site(distances_m=Distances.model_validate({"server-leaf": server_leaf})), server(), 128)
    assert some is not None and some.runs_m("clos", Sizes(128, 128))["leaf-leaf"] == peers


def test_links_that_could_be_shorter() -> None:
    """64 servers in 16 racks, two groups of 32 in 8 racks each; cables of 3, 5, 6, 7 and 10 m.

    Of a group, the leaf's rack is the fifth. Servers there: 2.44 m; next to it 5.44 m; two racks away 6.04 m, three
    6.64 m, four 7.24 m, as the longest: 4 servers of 32 are there.
    """
    structure = Structure(
        tiers=2, servers_per_group=32, groups=2, ports_per_server=1, ports_per_server_per_leaf=1, links_per_pair=1,
        pods=1, leaves_per_pod=2, spines_per_pod=1, pod_of="groups", groups_per_pod=2, links_per_core_pair=0,
        spines_per_core_group=0, cores_per_group=0,
    )  # fmt: skip
    found = shorter_parts(runs(64), structure, np.array([3.0, 5.0, 6.0, 7.0, 10.0]))
    assert found["server-leaf"] == (56, 64)
    # leaves stand four racks from the spines, of up to eight: 6.33 m where 8.73 m are bought
    assert found["leaf-spine"] == (2, 2)


def test_table_of_the_sites_page_is_true() -> None:
    text = (ROOT / "docs" / "sites.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\d+) \| ([\d.]+) m \| ([\d.]+) m \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for servers, racks, to_leaf, to_spine in rows:
        found = runs(2048).runs_m("clos", Sizes(int(servers), int(servers)))
        assert (runs(2048).racks(int(servers)), float(found["server-leaf"])) == (int(racks), float(to_leaf))
        assert float(found["leaf-spine"]) == float(to_spine)
