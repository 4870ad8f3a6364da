"""``fabopt.wiring``: what is bought is what is wired, numbers that an operator would guess, cables that stay."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS, NOTHING, Wiring, frame
from tests.paths import ROOT
from tests.samples.shipped import shipped as solved_case
from tests.samples.verify_fixtures import Json, read, two_tiers
from tests.samples.wiring_samples import Sizes, a_design, cables, random_design
from tests.verify.test_verify import ATTACHED, JOININGS

CASES = ROOT / "cases"
SHIPPED = (
    "single-switch-64-gpus",
    "two-tier-example",
    "cluster-256-infiniband",
    "dgx-superpod-32",
    "dgx-superpod-127",
    "dgx-h200-two-fabrics",
    "gb200-nvl72-576",
    "twin-plane-1024-gpus",
)
# Seeds 17 and 58 of "attached" have twin copper to attachments; in 72 and 208 these share a server's breakout.
RANDOM = [
    *((family, seed) for family in ("linear", "three_tier", "attached") for seed in range(24)),
    *(("limited", seed) for seed in range(2)),
    *(("attached", seed) for seed in (58, 72, 208)),
]


@cache
def shipped(name: str) -> tuple[Design, Wiring]:
    """The design of a shipped case, and its wiring."""
    design = solved_case(name)
    return design, wiring_of(design)


def assert_bill_is_cabled(design: Design, wiring: Wiring) -> None:
    """Wires by part and length, modules by part, and links are as many as the file says; no port is used twice."""
    bill: Counter[tuple[str, str, float]] = Counter()
    for line in design.bom:
        if line.kind in ("transceiver", "cable", "fibre"):
            bill[line.fabric, line.id, float(line.length_m or 0)] += line.in_use
    links, cables, modules = wiring.links, wiring.cables, wiring.modules
    found = Counter(
        (wiring.fabrics[fabric], part, length)
        for fabric, part, length in zip(cables.fabric.tolist(), cables.part, cables.length_m.tolist(), strict=True)
    )
    found.update(
        (wiring.fabrics[fabric], part, 0.0) for fabric, part in zip(modules.fabric.tolist(), modules.part, strict=True)
    )
    assert found == bill
    assert len(links) == sum(row.count for fabric in design.fabrics for row in fabric.links)
    ends = [(links.a, links.a_cage, links.a_lane), (links.b, links.b_cage, links.b_lane)]
    ports = [port for end in ends for port in zip(*(column.tolist() for column in end), strict=True)]
    assert len(set(ports)) == 2 * len(links)
    names = [*zip(links.a.tolist(), wiring.a_port, strict=True), *zip(links.b.tolist(), wiring.b_port, strict=True)]
    assert len(set(names)) == 2 * len(links)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_shipped_case_buys_is_cabled(name: str) -> None:
    assert_bill_is_cabled(*shipped(name))


@pytest.mark.long(but=("attached-208", "limited-0", "linear-0", "three_tier-8"))
@pytest.mark.parametrize(("family", "seed"), RANDOM)
def test_what_a_random_case_buys_is_cabled(family: str, seed: int) -> None:
    design = random_design(family, seed)
    if design is not None:
        assert_bill_is_cabled(design, wiring_of(design))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_same_file_gives_the_same_wiring(name: str) -> None:
    design, wiring = shipped(name)
    again = wiring_of(Design.model_validate_json(design.model_dump_json(by_alias=True)))
    for table in ("devices", "links", "cables", "modules"):
        assert frame(getattr(again, table)).equals(frame(getattr(wiring, table)))


@pytest.mark.parametrize("name", SHIPPED)
def test_names_are_unique(name: str) -> None:
    _, wiring = shipped(name)
    for names in (wiring.devices.name, wiring.cables.name):
        assert len(set(names)) == len(names)
    assert len(set(cables(wiring))) == len(wiring.links)


@pytest.mark.long
def test_sixteen_thousand_gpus_are_cabled() -> None:
    design, wiring = shipped("pretraining-16384-gpus")
    assert_bill_is_cabled(design, wiring)
    assert len(wiring.links) > 30_000


# -- numbers ------------------------------------------------------------------------------------------------------


def links_by_pair(wiring: Wiring, kind: str) -> dict[tuple[int, int], list[int]]:
    """Links of a kind by the two boxes that they join."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in np.flatnonzero(wiring.links.kind == KINDS.index(kind)).tolist():
        found[int(wiring.links.a[row]), int(wiring.links.b[row])].append(row)
    return found


@pytest.mark.parametrize("name", ["dgx-superpod-32", "cluster-256-infiniband", "four-fabrics-1024-gpus"])
def test_parallel_links_are_on_adjacent_ports(name: str) -> None:
    _, wiring = shipped(name)
    links, pairs = wiring.links, links_by_pair(wiring, "leaf-spine")
    assert max(map(len, pairs.values())) > 1
    near = links.a_cage * links.a_lanes + links.a_lane
    far = links.b_cage * links.b_lanes + links.b_lane
    for rows in pairs.values():
        for ports in (near[rows], far[rows]):
            assert np.ptp(ports) == len(rows) - 1


def test_rails_are_leaves_by_number() -> None:
    """Card j of the i-th server of group g is on leaf 8 (g - 1) + j, at port i."""
    _, wiring = shipped("dgx-superpod-127")
    group = 32
    cabled = {(a, a_port): (b, b_port) for a, a_port, b, b_port in cables(wiring) if a.startswith("server")}
    for server in (1, 2, 31, 32, 33, 127):
        for card in range(1, 9):
            leaf, port = cabled[f"server-{server:04d}", f"nic{card}p1"]
            assert leaf == f"compute-leaf-{(server - 1) // group * 8 + card:03d}"
            place = (server - 1) % group
            assert port == f"{place // 2 + 1}/{place % 2 + 1}"
    leaves = [row for row, role in enumerate(wiring.devices.role) if role == "leaf"]
    assert wiring.devices.group[leaves].tolist() == [group for group in range(1, 5) for _ in range(8)]
    assert wiring.devices.rail[leaves].tolist() == [*range(1, 9)] * 4


def test_down_ports_come_first_and_uplinks_last() -> None:
    wiring = wiring_of(read(two_tiers()))
    leaf = wiring.devices.name.index("compute-leaf-001")
    links = wiring.links
    assert sorted(set(links.b_cage[links.b == leaf].tolist())) == [1, 2]
    assert sorted(set(links.a_cage[(links.a == leaf) & (links.kind > 0)].tolist())) == [7, 8]


def test_planes_have_names_of_their_own() -> None:
    _, wiring = shipped("twin-plane-1024-gpus")
    switches = [name for name, role in zip(wiring.devices.name, wiring.devices.role, strict=True) if role == "leaf"]
    assert switches[0] == "compute-p1-leaf-001"
    assert {name.split("-")[1] for name in switches} == {"p1", "p2"}
    assert len(switches) == 2 * sum(name.startswith("compute-p1-") for name in switches)


def test_a_switch_port_is_called_what_its_maker_prints() -> None:
    """``swp``, and ``s`` for a lane from 0, on Ethernet; cage and lane from 1 on InfiniBand; no lane, no suffix."""
    names = {
        protocol: set(cables(wiring_of(read(protocol_of(document, protocol)))))
        for protocol, document in (("ethernet", two_tiers()), ("infiniband", two_tiers()))
    }
    assert ("compute-leaf-001", "swp7s0", "compute-spine-001", "swp1s0") in names["ethernet"]
    assert ("compute-leaf-001", "7/1", "compute-spine-001", "1/1") in names["infiniband"]
    assert ("server-0001", "nic2p1", "compute-leaf-002", "swp1s0") in names["ethernet"]
    assert ("compute-manager", "port1", "compute-leaf-005", "2/2") in names["infiniband"]
    single = cables(wiring_of(a_design(Sizes())))
    assert ("server-0001", "nic1p1", "compute-leaf-001", "swp1") in single


def test_cards_and_cages_of_a_server_are_counted_over_all_fabrics() -> None:
    """Eight compute cards share four cages of the server, two ports each; two storage cards have a cage in use each."""
    wiring = shipped("dgx-h200-two-fabrics")[1]
    links, mine = wiring.links, np.flatnonzero(wiring.links.a == 0).tolist()
    found = {wiring.a_port[row]: (int(links.a_cage[row]), int(links.a_lane[row])) for row in mine}
    shared = {f"nic{card}p1": ((card + 1) // 2, (card + 1) % 2) for card in range(1, 9)}
    own = {"nic9p1": (5, 0), "nic10p1": (6, 0)}
    assert found == shared | own
    assert {wiring.a_port[row] for row in mine if links.fabric[row] == 1} == set(own)


def protocol_of(document: Json, protocol: str) -> Json:
    """The same design, said to speak another protocol."""
    document["fabrics"][0]["protocol"] = protocol
    return document


# -- wires -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", JOININGS)
def test_a_cable_has_one_head_at_one_side(how: str) -> None:
    """The single head of a splitter or a breakout is in one cage; so are all links of a straight wire, at both ends."""
    wiring = wiring_of(read(JOININGS[how]))
    links, cables = wiring.links, wiring.cables
    for cable in range(len(cables)):
        mine = links.cable == cable
        near = set(zip(links.a[mine].tolist(), links.a_cage[mine].tolist(), strict=True))
        far = set(zip(links.b[mine].tolist(), links.b_cage[mine].tolist(), strict=True))
        assert min(int(cables.a_connectors[cable]), int(cables.b_connectors[cable])) == 1
        assert 1 <= len(near) <= cables.a_connectors[cable]
        assert 1 <= len(far) <= cables.b_connectors[cable]


def test_a_splitter_fills_a_leaf_cage() -> None:
    """7 servers on twin cages: three splitters with both heads in use, one with a head to spare."""
    wiring = wiring_of(read(JOININGS["splitter at the leaf"]))
    links = wiring.links
    assert links.cable.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert links.b_cage.tolist() == [1, 1, 2, 2, 3, 3, 4]
    assert links.b_lane.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert (wiring.cables.a_connectors.tolist(), wiring.cables.b_connectors.tolist()) == ([2] * 4, [1] * 4)


def test_a_breakout_takes_a_connector() -> None:
    """Two ports a connector, two connectors a cage: 7 links take 2 + 2 fibres in two cages."""
    wiring = wiring_of(read(JOININGS["two connectors"]))
    assert wiring.links.cable.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert wiring.links.b_cage.tolist() == [1, 1, 1, 1, 2, 2, 2]


def test_links_in_one_jacket_do_not_share_it_with_another_pair() -> None:
    """4 uplinks to 3 spines by twin copper, 2 + 1 + 1: a cable for each pair, the spare port in no other cable."""
    wiring = wiring_of(read(JOININGS["heads unused"]))
    for rows in links_by_pair(wiring, "leaf-spine").values():
        assert len(set(wiring.links.cable[rows].tolist())) == 1
    assert int((wiring.cables.kind == KINDS.index("leaf-spine")).sum()) == 24


def test_rows_are_dealt_out_in_whole_cages() -> None:
    """Two cages by splitters, then two by optics, as the file lists them."""
    wiring = wiring_of(read(JOININGS["cages mixed"]))
    links, cables = wiring.links, wiring.cables
    assert [cables.part[cable] for cable in links.cable.tolist()] == ["splitter"] * 4 + ["lc"] * 3
    assert list(cables.part) == ["splitter"] * 2 + ["lc"] * 3
    assert sorted(wiring.modules.part) == ["single"] * 3 + ["twin"] * 2


def test_nothing_bought_is_no_cable() -> None:
    wiring = wiring_of(read(ATTACHED["nothing bought"]))
    attached = wiring.links.kind == KINDS.index("attachment-leaf")
    assert wiring.links.cable[attached].tolist() == [NOTHING, NOTHING]
    assert wiring.links.a_nic_port[attached].tolist() == [1, 2]


def test_twin_copper_joins_an_attachment_cage_to_one_leaf() -> None:
    """Ports are dealt over the leaves one by one; those of one cable are side by side in the attachment's cage."""
    design = random_design("attached", 58)
    assert design is not None
    wiring = wiring_of(design)
    rows = np.flatnonzero(wiring.links.kind == KINDS.index("attachment-leaf"))
    links = wiring.links
    assert links.a_nic_port[rows].tolist() == [1, 2, 3, 4, 5]
    assert links.a_cage[rows].tolist() == [1, 1, 2, 2, 3]
    for cable in set(links.cable[rows].tolist()):
        mine = rows[links.cable[rows] == cable]
        assert len(set(zip(links.b[mine].tolist(), links.b_cage[mine].tolist(), strict=True))) == 1
        assert len(set(links.a_cage[mine].tolist())) == 1


def test_a_leg_of_a_breakout_reaches() -> None:
    """The attachment's run is longer than the servers' breakouts: it takes a leg of the other attachment's."""
    design = random_design("attached", 208)
    assert design is not None
    cables = wiring_of(design).cables
    assert (cables.length_m >= cables.run_m).all()


# -- growth ----------------------------------------------------------------------------------------------------


def assert_cables_stay(before: Sizes, more_groups: int) -> None:
    """Every cable of a design is in the design with more groups, from the same port to the same port."""
    after = replace(before, groups=before.groups + more_groups)
    old, new = (cables(wiring_of(a_design(sizes))) for sizes in (before, after))
    assert len(new) > len(old)
    assert set(old) <= set(new)


@pytest.mark.long
@given(st.data())
def test_a_cluster_that_grows_by_whole_groups_keeps_its_cables(data: st.DataObject) -> None:
    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    tiers, cards, ports, g, t = number(2, 3), number(1, 2), number(1, 2), number(1, 3), number(1, 3)
    q, sets = number(1, 2), number(1, 3)
    before = Sizes(
        *(t * number(1, 2) + (1 if tiers == 2 else t), g, g, number(1, 2), cards, ports),
        k=data.draw(st.sampled_from([k for k in (1, 2, 4) if cards * ports % k == 0])),
        uplinks=q * sets + number(0, 3),
        q=q,
        sets=sets,
        t=t,
        rail_pods=data.draw(st.booleans()),
        m2=number(1, 2),
        cores=number(1, 2) if tiers > 2 else 0,
    )
    assert_cables_stay(before, number(1, 4))


def test_a_last_group_that_fills_up_keeps_its_cables() -> None:
    before = Sizes(groups=3, g=4, last=1, cards=2, uplinks=4, sets=2)
    old, new = (cables(wiring_of(a_design(sizes))) for sizes in (before, replace(before, last=3)))
    assert set(old) < set(new)


def test_a_pod_that_fills_up_keeps_its_cables() -> None:
    """3 groups in pods of 2, then 4: the last pod gets its second group."""
    assert_cables_stay(Sizes(groups=3, cards=2, uplinks=3, sets=2, t=2, cores=2), 1)


# -- files that do not hold together ---------------------------------------------------------------------------


def test_links_that_are_not_listed_are_named() -> None:
    document = two_tiers()
    del document["fabrics"][0]["links"][2]
    with pytest.raises(LookupError, match="compute has no links from leaf to spine"):
        wiring_of(read(document))


def test_a_fabric_that_the_case_does_not_have_is_named() -> None:
    document = two_tiers()
    document["fabrics"][0]["name"] = "storage"
    with pytest.raises(LookupError, match="the case has no fabric 'storage'"):
        wiring_of(read(document))


def test_ports_that_planes_cannot_share_are_refused() -> None:
    document = two_tiers()
    document["fabrics"][0]["planes"] = 2
    with pytest.raises(ValueError, match="planes share a NIC's ports evenly: 2 does not divide 1"):
        wiring_of(read(document))


def test_rows_that_do_not_fill_the_cages_are_refused() -> None:
    document = read(JOININGS["cages mixed"]).model_dump(mode="json", by_alias=True)
    rows = document["fabrics"][0]["links"]
    rows[1].update(count=2, to_cages=1)
    rows[1]["parts"] = [dict(part, quantity=1) for part in rows[1]["parts"]]
    with pytest.raises(ValueError, match="cages"):
        wiring_of(read(document))
