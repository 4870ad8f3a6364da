"""Attachments of what is in service: their ports stay on their switches, and new ones come beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.growth_samples import eight
from tests.solution.test_brute_force import cable, cage, catalog, switch
from tests.solution.test_in_service import in_stages
from tests.solution.test_mixed_bases import capex

Json = dict[str, Any]
HOST: Json = {"name": "manager", "kind": "management", "ports": 1, "buys": "none"}
STORE: Json = {"name": "store", "ports": 3, "form_factor": "QSFP56", "split": "1x100"}


TWOS = [cable("split", "2x100", "1x100", heads=2), cable("both", "2x100", "2x100"), cable("one", "1x100", "1x100")]


def with_attachments(content: Json, *attachments: Json) -> Json:
    (fabric,) = content["fabrics"]
    return {**content, "fabrics": [{**fabric, "attachments": list(attachments)}]}


def of_one_stage(servers: int, *attachments: Json, **fabric: Any) -> Json:
    """A case of one stage of eight-port switches, up to 3:1."""
    content = in_stages(servers, max_oversubscription=3, **fabric)
    del content["stages"]
    return with_attachments({**content, "servers": servers}, *attachments)


def ports_of(design: Design, name: str) -> set[tuple[str, str]]:
    """Switch and port of every link of an attachment."""
    wiring = wiring_of(design)
    names = wiring.devices.name
    ends = zip(wiring.links.a.tolist(), wiring.links.b.tolist(), wiring.b_port, strict=True)
    return {(names[b], port) for a, b, port in ends if name in names[a]}


@pytest.mark.long(but=("5-attachment0",))
@pytest.mark.parametrize("attachment", [HOST, STORE])
@pytest.mark.parametrize("servers", [5, 6, 8])
def test_ports_of_attachments_stay(attachment: Json, servers: int, tmp_path: Path) -> None:
    """Of a base of one stage, whose ports are dealt to the emptiest leaves, and by a case that does not name them."""
    base = designed(eight(), of_one_stage(5, attachment, tiers=2))
    assert base.status == "optimal"
    design = gone_on(eight(), of_one_stage(servers, tiers=2), base, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    assert ports_of(design, attachment["name"]) == ports_of(base, attachment["name"])
    if servers == 5:
        assert design.totals is not None and design.totals.capex_usd == 0
        assert live(wiring_of(design)) == live(wiring_of(base))


@pytest.mark.long(but=("new0",))
@pytest.mark.parametrize("new", [HOST, STORE])
def test_new_attachments_come_with_the_first_stage_and_cost(new: Json, tmp_path: Path) -> None:
    base = designed(eight(), of_one_stage(5, HOST, tiers=2))
    second = {**new, "name": "second"}
    design = gone_on(eight(), of_one_stage(7, second, tiers=2), base, tmp_path)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    plain = gone_on(eight(), of_one_stage(7, tiers=2), base, tmp_path)
    assert design.totals is not None and plain.totals is not None
    cables = {"manager": 0, "store": 3}[new["name"]]
    assert design.totals.capex_usd >= plain.totals.capex_usd + 10 * cables
    own = ports_of(design, "second")
    assert len(own) == new["ports"] and not own & ports_of(base, "manager")


@pytest.mark.parametrize("most", [3, 2.5])
def test_new_ports_count_beside_those_in_service(most: float, tmp_path: Path) -> None:
    """Of two leaves with two uplinks one has three servers and a port, the other two and two. Two more ports come to
    the first one, unless that is more than its uplinks carry.
    """
    base = designed(eight(), of_one_stage(5, STORE, tiers=2))
    after = of_one_stage(5, {**STORE, "name": "second", "ports": 2}, tiers=2)
    after["fabrics"][0]["max_oversubscription"] = most
    design = gone_on(eight(), after, base, tmp_path)
    assert_stays(design, base, 0)
    assert design.fabrics[0].free_ports["second"] == (("leaf", 0), ("leaf", 0 if most == 3 else 1))
    assert design.fabrics[0].oversubscription["leaf"] == most
    assert capex(design) == 20


@pytest.mark.long
def test_one_goes_on_again_from_attachments(tmp_path: Path) -> None:
    first = designed(eight(), of_one_stage(5, STORE, tiers=2))
    second = gone_on(eight(), of_one_stage(7, {**HOST, "name": "second"}, tiers=2), first, tmp_path)
    third = gone_on(eight(), of_one_stage(9, tiers=2), second, tmp_path)
    assert_stays(third, second, 1)
    before = gone_on(eight(), of_one_stage(9, tiers=2), second, tmp_path, "in-service")
    assert_stays(before, second, 0)
    assert not ports_of(before, "second")


@pytest.mark.long("2-None")
@pytest.mark.parametrize(("spine", "ratio"), [(3, 3.0), (2, None)])
def test_ports_on_spines_count_in_the_ratio_of_spines_that_get_uplinks(
    spine: int, ratio: float | None, tmp_path: Path
) -> None:
    """Switches of four ports: two leaves of three servers below a spine, with one port of an attachment there; then
    two pods of them, whose spines have one uplink each.
    """
    store = {**STORE, "ports": 1, "tier": "spine"}
    base = designed(catalog(), of_one_stage(6, store, tiers=2))
    after = of_one_stage(12, tiers=3)
    after["fabrics"][0]["max_oversubscription"] = {"leaf": 3, "spine": spine}
    design = gone_on(catalog(), after, base, tmp_path)
    assert (design.status == "optimal") == (ratio is not None)
    if ratio is not None:
        assert_stays(design, base, 0)
        assert design.fabrics[0].growth[-1].oversubscription["spine"] == ratio
        same = gone_on(catalog(), after, design, tmp_path)
        assert_stays(same, design, 1)
        assert capex(same) == 0 and same.fabrics[0].growth[0].oversubscription["spine"] == ratio


@pytest.mark.parametrize(("servers", "status"), [(5, "infeasible"), (4, "optimal")])
def test_a_leaf_in_service_has_cages_for_its_first_uplinks(servers: int, status: str, tmp_path: Path) -> None:
    """Servers, a manager and ports kept free have all eight cages of the only leaf, or all but two; others are of no
    use.
    """
    parts = catalog(switches=[switch("eight", cage(8, "1x100"), cage(8, "1x10"))])
    base = designed(parts, of_one_stage(servers, HOST, tiers=1, reserve_ports=0.2))
    after = of_one_stage(servers + 4, tiers=[1, 2], reserve_ports=0.2)
    after["fabrics"][0]["max_oversubscription"] = 5
    design = gone_on(parts, after, base, tmp_path)
    assert design.status == status
    if status == "optimal":
        assert_stays(design, base, 0)


def test_new_ports_that_find_no_room_do_where_all_is_put_together_anew(tmp_path: Path) -> None:
    """The only leaf has no cage for an uplink, and a port more than it has: two leaves below a spine have all of it."""
    base = designed(eight(), of_one_stage(6, {**STORE, "ports": 2}, tiers=1))
    after = of_one_stage(6, {**STORE, "name": "more", "ports": 1}, tiers=[1, 2])
    design = gone_on(eight(), after, base, tmp_path)
    assert design.status == "infeasible"
    assert {conflict.limit for conflict in design.conflicts} & {"base", "base.move"}


def test_a_port_of_an_attachment_that_moves_is_refused(tmp_path: Path) -> None:
    base = designed(eight(), of_one_stage(5, STORE, tiers=2))
    design = gone_on(eight(), of_one_stage(7, tiers=2), base, tmp_path)
    content = json.loads(design.model_dump_json(by_alias=True))
    places = content["fabrics"][0]["free_ports"]["store"]
    places[0], places[1] = places[1], places[0]
    moved = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert places[0] == places[1] or "base_stays" in moved


def test_new_ports_of_leaf_cages_of_several_are_refused_at_once_with_what_would_do(tmp_path: Path) -> None:
    """No network has them beside what is in service; on spines, or where cables may move, they come."""
    parts = catalog(switches=[switch("twos", cage(8, "2x100"))], cables=TWOS)
    base, filer = designed(parts, in_stages(4)), {"name": "filer", "ports": 2, "buys": "none"}
    with pytest.raises(InputError, match=r"filer would come to leaf cages of several ports in service \(2x100\)"):
        gone_on(parts, with_attachments(in_stages(8), filer), base, tmp_path)
    above = with_attachments(in_stages(8), {**filer, "tier": "spine", "counts_in_ratio": False})
    assert gone_on(parts, above, base, tmp_path).status == "optimal"
    moving = {"base": {"file": str(saved(base, tmp_path)), "move": {"cable": 0, "device": 0}}}
    assert designed(parts, {**with_attachments(in_stages(8), filer), **moving}).status == "optimal"


def test_without_a_base_ports_of_leaves_are_dealt_and_not_listed() -> None:
    design = designed(eight(), of_one_stage(5, STORE, tiers=2))
    content = json.loads(design.model_dump_json(by_alias=True))
    content["fabrics"][0]["free_ports"] = {"store": [["leaf", 1], ["leaf", 0], ["leaf", 1]]}
    checks = verify(Design.model_validate_json(json.dumps(content)))
    assert "attachments_take_free_ports" in {check.name for check in checks if not check.ok}


@pytest.mark.parametrize(
    ("attachment", "key", "words"),
    [
        ({**STORE, "ports": 4}, "fabrics[0].attachments[0]", "store is in service otherwise"),
        ({**HOST, "name": "new", "adds": [0, 1]}, "fabrics[0].attachments[0].adds", "is filled in by fabopt"),
    ],
)
def test_an_attachment_that_is_in_service_otherwise(attachment: Json, key: str, words: str, tmp_path: Path) -> None:
    base = saved(designed(eight(), of_one_stage(5, STORE, tiers=2)), tmp_path)
    content = {**of_one_stage(7, attachment, tiers=2), "base": {"file": str(base)}}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects(content, eight())
    assert words in {fault.path: str(fault) for fault in refusal.value.faults}[key]
