"""A pod of other servers beside what is in service: joined to all spines there, on ports that are free."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.inspect.to_do import WantedCables
from fabopt.io.case import inputs_from_objects
from fabopt.operate.build import plan_of
from fabopt.output.bought import beside
from fabopt.output.export.as_built import Shown, as_built_json, findings_csv
from fabopt.output.export.formats import Options, export
from fabopt.output.space import space_line
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.units import some
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from tests.oracles.brute_force import solve, structures
from tests.samples.bare import bare
from tests.samples.bases import assert_joins_for, designed, in_use, saved, seen_of, whole_of
from tests.samples.discoveries import planned_links
from tests.samples.growth_samples import grown
from tests.samples.once import once
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, card, catalog, switch

Json = dict[str, Any]


def parts(leaves: dict[str, int], spine: int, price: int = 1000) -> Json:
    """Servers of one port of 100 Gb/s in service, and of one of 200 that come; leaves of either speed, by cages."""
    return catalog(
        switches=[
            switch("live-leaf", cage(4, "1x100")),
            switch("live-spine", cage(spine, "1x100")),
            *(switch(id_, cage(cages, "1x200", "1x100"), usd=price + 37 * cages) for id_, cages in leaves.items()),
        ],
        nics=[card("card", cage(1, "1x100")), card("fast", cage(1, "1x200"), usd=250)],
        cables=[cable("cable", "1x100", "1x100"), cable("fast-cable", "1x200", "1x200", usd=(40, 50, 60))],
        servers=[
            {"id": "box", "gpus": 1, "nic_slots": 2, "price_usd": 5000, "power_w": 700},
            {"id": "big", "gpus": 1, "nic_slots": 2, "price_usd": 9000, "power_w": 900},
        ],
    )


def in_service(servers: int, **fabric: Any) -> Json:
    """The case of what is in service: two tiers."""
    switches = {"leaf": ["live-leaf"], "spine": ["live-spine"]}
    wanted = {"tiers": 2, "switches": switches, "groups": "equal", **fabric}
    content = {key: value for key, value in grown(servers, fabric=wanted).items() if key != "stages"}
    return bare({**content, "servers": servers})


def pod(servers: int, leaves: list[str], **fabric: Any) -> Json:
    """The case of a pod of other servers at 200 Gb/s."""
    wanted = {"name": "compute", "min_gbps_per_gpu": 200, "switches": {"leaf": leaves}, **fabric}
    said = {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}
    return bare(
        {"name": "pod", "server": "big", "servers": servers, "fabrics": [wanted], "site": {"distances_m": said}}
    )


def joined(given: Json, content: Json, live: Design, folder: Path, stage: str = "") -> Design:
    """The design of a pod that joins a design, or a stage of it."""
    path = saved(live, folder)

    def work() -> Design:
        file = f"{path}@{stage}" if stage else str(path)
        return optimize.solve(inputs_from_objects({**content, "joins": {"file": file}}, given), alternatives_s=0)

    return once(work, given, content, stage, path.read_text(), "joins")


def free_of(given: Json, live: Design, tier: str = "spine") -> int:
    """Cages that are free on every spine of a design, or core, counted in its wiring."""
    used = Counter(name for name, _ in set(in_use(whole_of(live))) if tier in name)
    cages: int = next(one for one in given["switches"] if one["id"] == f"live-{tier}")["cages"][0]["count"]
    return cages - max(used.values())


def least(given: Json, content: Json, live: Design, spine: Json | None = None) -> int | None:
    """The least cents of a pod by brute force: as many spines as there are, at no price, with their free cages.

    ``spine``: what else is said of these.
    """
    free = free_of(given, live)
    if not free:
        return None
    spines = [{**switch("free-spine", cage(free, "1x100"), usd=0), **(spine or {})}]
    fabric = content["fabrics"][0] | {"tiers": 2}
    fabric["switches"] = {**fabric["switches"], "spine": ["free-spine"]}
    wanted = {**content, "fabrics": [fabric], "catalog": ["./catalog.yaml"]}
    number = live.fabrics[0].clos.spines_per_pod
    best = solve(
        {**given, "switches": [*given["switches"], *spines]}, wanted,
        walk=lambda space: (one for one in structures(space) if one[0].spines_per_pod == number),
    )  # fmt: skip
    return None if best is None else best.capex_cents


def sample(seed: int) -> tuple[Json, Json, Json]:
    """A catalog with two leaf models, a case of up to three groups in service, and one of a pod."""
    dice = Dice(f"pod-{seed}")
    given = parts({"small": dice.number(4, 6), "large": dice.number(7, 10)}, dice.number(6, 12), dice.number(500, 1500))
    before = in_service(dice.number(3, 6), max_oversubscription=dice.one([1, 1.5, 2, 3]))
    ratio = dice.one([1, 1.5, 2, 3, 4])
    return given, before, pod(dice.number(2, 9), ["small", "large"], max_oversubscription=ratio)


@pytest.mark.long(but=("4-8",))
@pytest.mark.parametrize(("first", "last"), [(4, 8), (0, 12), (12, 24), (24, 36), (36, 48)])
def test_no_pod_is_cheaper_by_brute_force(first: int, last: int, tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(first, last):
        given, before, content = sample(seed)
        live = designed(given, before)
        if live.status != "optimal":
            continue
        free, expected = free_of(given, live), least(given, content, live)
        try:
            design = joined(given, content, live, tmp_path)
        except InputError as refusal:
            assert not free and "no cage is free" in str(refusal), seed
            told["full"] += 1
            continue
        told[design.status] += 1
        assert free, seed
        assert_joins_for(expected, design, live, seed)
    assert told["optimal"] >= 2, told


# -- what is there beside it ------------------------------------------------------------------------------------------


def of_two_planes() -> tuple[Json, Json, Json]:
    """Servers with a port in each of two planes, in service and coming."""
    given = parts({"small": 6}, 8)
    given["nics"] = [card("card", cage(2, "1x100")), card("fast", cage(2, "1x200"), usd=250)]
    planes = {"planes": 2, "nics_per_server": 1}
    before = in_service(4, min_gbps_per_gpu=200, nics=["card"], **planes)
    return given, before, pod(3, ["small"], max_oversubscription=2, nics=["fast"], **planes)


def test_each_plane_of_a_pod_joins_its_own(tmp_path: Path) -> None:
    given, before, content = of_two_planes()
    live = designed(given, before)
    assert live.fabrics[0].planes == 2
    for key in ("planes", "nics_per_server"):  # which follow from what is in service
        content["fabrics"][0].pop(key)
    design = joined(given, content, live, tmp_path)
    wiring = wiring_of(design)
    links = wiring.links
    above = np.flatnonzero(links.kind == KINDS.index("leaf-spine"))
    planes = wiring.devices.plane
    assert len(above) and (planes[links.a[above]] == planes[links.b[above]]).all()
    assert design.fabrics[0].planes == 2
    for leaf in np.unique(links.a[above]).tolist():
        assert len(set(links.b[above][links.a[above] == leaf].tolist())) == live.fabrics[0].clos.spines_per_pod


def test_ports_that_were_found_in_use_are_not_free(tmp_path: Path) -> None:
    """A cable that stands in another cage of its spine than planned: the pod takes the one that is really free."""
    given = parts({"small": 6}, 8)
    live = designed(given, in_service(4, max_oversubscription=2))
    wiring = wiring_of(live)
    names, links = wiring.devices.name, wiring.links
    rows = [[names[a], port, names[b], far] for a, port, b, far in zip(
        links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, strict=True)]  # fmt: skip
    moved = next(row for row in rows if "spine" in row[2])
    first, moved[3] = moved[3], "swp8"
    table = "\n".join(",".join(row) for row in [["A-Node Name", "A-Port", "Z-Node Name", "Z-Port"], *rows])
    (tmp_path / "found.csv").write_text(table)
    said = {"file": str(saved(live, tmp_path)), "found": str(tmp_path / "found.csv")}
    content = pod(2, ["small"], max_oversubscription=2)
    design = optimize.solve(inputs_from_objects({**content, "joins": said}, given), alternatives_s=0)
    assert [check for check in design.checks if not check.ok] == []
    taken = set(in_use(wiring_of(design)))
    assert (moved[2], "swp8") not in taken and (moved[2], first) in taken


def test_a_pod_is_run_beside_what_it_joins(tmp_path: Path) -> None:
    """Names and addresses of both together are given once; spines have theirs."""
    given, content = parts({"small": 6}, 8), pod(3, ["small"], max_oversubscription=2)
    live = designed(given, in_service(4, max_oversubscription=2))
    design = joined(given, content, live, tmp_path)
    before, after = (plan_of(one, wiring_of(one)) for one in (live, design))
    spines = {device.device: device for device in before.devices if device.role == "spine"}
    same = [device for device in after.devices if device.device in spines]
    assert [(one.management, one.loopback, one.asn) for one in same] == [
        (one.management, one.loopback, one.asn) for one in spines.values()
    ]
    new = [device for device in after.devices if device.device not in spines]
    for key in ("name", "management", "loopback"):
        values = [getattr(device, key) for device in (*before.devices, *new) if getattr(device, key)]
        assert len(set(values)) == len(values)
    subnets = [link.subnet for link in (*before.links, *after.links) if link.subnet]
    assert len(set(subnets)) == len(subnets) > 0


def test_the_answer_says_what_it_joins_and_lists_what_is_new(tmp_path: Path) -> None:
    given, content = parts({"small": 6}, 8), pod(3, ["small"], max_oversubscription=2)
    live = designed(given, in_service(4, max_oversubscription=2))
    design = joined(given, content, live, tmp_path)
    there, spines = live.fabrics[0].tiers, live.fabrics[0].clos.spines_per_pod
    links = sum(row.count for row in design.fabrics[0].links if row.to == "spine")
    told = beside(design)
    assert told is not None
    line = str(told.said[0])
    assert line.startswith(f"4 servers and {there[0].count + there[1].count} switches before; ")
    assert f"joins all {some(spines, 'spine')} of compute with {links} links of 100G" in line
    assert "on free ports of all spines in service" in space_line(design)
    export(design, wiring_of(design), ["changes"], tmp_path, Options())
    rows = list(csv.DictReader((tmp_path / "changes.csv").read_text().splitlines()))
    assert {row["change"] for row in rows} == {"new"}
    new = {row["name"] for row in rows if row["what"] == "device"}
    assert new == set(wiring_of(design).devices.name) - set(wiring_of(live).devices.name)
    bought = {row.id: row.quantity for row in design.bom if row.quantity}
    assert "live-spine" not in bought and bought["small"] == design.fabrics[0].tiers[0].count


def test_too_few_free_ports_are_said_with_what_would_do(tmp_path: Path) -> None:
    given, content = parts({"small": 6}, 8), pod(9, ["small"], max_oversubscription=1)
    live = designed(given, in_service(6, max_oversubscription=1))
    design = joined(given, content, live, tmp_path)
    assert design.status == "infeasible"
    said = {conflict.limit: conflict for conflict in design.conflicts}
    assert "free on each; with spines of its own, apart from those, there is a design" in said["joins"].detail


def test_a_spine_of_the_verifier_is_not_taken_at_its_word(tmp_path: Path) -> None:
    """Free cages that are counted on and are not there, and spines that are not those in service."""
    given, content = parts({"small": 6}, 8), pod(3, ["small"], max_oversubscription=2)
    live = designed(given, in_service(4, max_oversubscription=2))
    design = joined(given, content, live, tmp_path)
    for key, value, words in (
        ("cages", [8], "free cages counted on"),
        ("id", "live-leaf", "switches that cost nothing"),
        ("planes", 2, "switches that cost nothing"),
    ):
        document = json.loads(design.model_dump_json(by_alias=True))
        document["case"]["content"]["joins"]["switches"][0][key] = value
        broken = {check.name: check for check in verify(Design.model_validate_json(json.dumps(document)))}
        assert not broken["pod_joins_spines"].ok, key
        assert words in broken["pod_joins_spines"].detail


def test_one_list_of_cables_is_of_both(tmp_path: Path) -> None:
    """Cables in service are known, new ones are to be done; one of either that is missing or exchanged is a fault."""
    given, content = parts({"small": 6}, 8), pod(3, ["small"], max_oversubscription=2)
    live = designed(given, in_service(4, max_oversubscription=2))
    design = joined(given, content, live, tmp_path)
    old, new = planned_links(wiring_of(live)), planned_links(wiring_of(design))
    wanted = WantedCables(design, wiring_of(design), 0)
    before, after = seen_of(wanted, old), seen_of(wanted, [*old, *new])
    assert before.ok and before.cables_to_do == {"new": len(new)} and before.right == len(old)
    names = set(wiring_of(design).devices.name) - set(wiring_of(live).devices.name)
    assert {device.name for device in before.devices_to_do} == names
    assert after.ok and after.right == after.planned == len(old) + len(new)
    assert not after.to_do and not after.devices_to_do and not after.notes
    lost = seen_of(wanted, [*old[1:], *new])
    assert [(finding.kind, finding.a) for finding in lost.findings] == [("missing", old[0][0])]
    (mine, spine), (theirs, other) = (next(link for link in links if "leaf" in link[0].device) for links in (new, old))
    rest = [link for link in (*old, *new) if link not in ((mine, spine), (theirs, other))]
    swapped = seen_of(wanted, [*rest, (mine, other), (theirs, spine)])
    assert [finding.kind for finding in swapped.findings] == ["swapped"] and len(swapped.repairs) == 2
    shown = Shown(design, wanted.whole, swapped, beside=wanted.joined)
    labels = {shown.label(move.cable, move.target) for move in swapped.repairs}
    assert len(labels) == 2 and all(labels)
    assert findings_csv(shown).count(b"\n") == 2 and json.loads(as_built_json(shown))["cables"]["right"] == len(rest)
