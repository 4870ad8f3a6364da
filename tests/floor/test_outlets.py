"""Outlets of power strips: a limit that places keep, that is proven again, told and named if in the way."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.floor.test_appliances import case as floor_case, parts as bare_parts
from tests.samples.export_samples import exported, text_table
from tests.samples.small import Json, assert_proven, product, solved, usd

CHECK = "loads_fit_racks"


def parts() -> Json:
    """Servers with four cords C19, switches with two cords C13; those of ``large`` are not known."""
    content = bare_parts()
    product(content, "gpu-4")["inlets"] = {"C20": 4}
    for switch in ("small", "lean"):
        product(content, switch)["inlets"] = {"C14": 2}
    return content


def case(**floor: Any) -> Json:
    content = floor_case(floor={"rack_units": 16, **floor}, rules={"subnet-manager": False})
    content["fabrics"][0]["switches"] = {"leaf": ["small", "lean"], "spine": ["small", "lean"]}
    return content


def cords(design: Design) -> dict[str, Counter[str]]:
    """Outlets that each rack needs, by hand."""
    needed: dict[str, Counter[str]] = {}
    stands = design.fabrics[0].places
    for rack, _ in (*stands.leaf, *stands.spine):
        needed.setdefault(rack, Counter())["C13"] += 2
    for number in range(4):
        needed.setdefault(design.racks.server_racks[number // 2], Counter())["C19"] += 4
    return needed


def test_fewer_outlets_are_never_cheaper_and_are_kept() -> None:
    """Eight C19 hold two servers; with room for one switch's cords each switch stands in a rack of its own."""
    designs = [solved(case(**keys), parts()) for keys in ({}, {"outlets_c13": 4}, {"outlets_c13": 2})]
    for design, most in zip(designs, (99, 4, 2), strict=True):
        assert_proven(design)
        assert max(needed["C13"] for needed in cords(design).values()) <= most
    assert all(usd(wider) <= usd(narrower) for wider, narrower in pairwise(designs))


def test_too_few_for_a_server_are_refused_with_both_figures() -> None:
    with pytest.raises(InputError, match=r"outlets_c19.*it needs 4 C19 outlets.*found 3.*at least 4"):
        solved(case(outlets_c19=3), parts())
    with pytest.raises(InputError, match=r"it has .*4 C19 outlets, each takes .*4 C19 outlets"):
        solved(case(outlets_c19=4), parts())


def test_what_leaves_no_design_is_named_with_the_least_that_does() -> None:
    design = solved(case(outlets_c13=0), parts())
    assert design.status == "infeasible"
    told = next(one for one in design.conflicts if one.limit == "site.floor.outlets_c13")
    assert (told.value, told.needed) == (0, 2)
    assert_proven(solved(case(outlets_c13=2), parts()))


def test_sums_of_the_table_are_those_of_the_devices(tmp_path: Path) -> None:
    design = solved(case(outlets_c13=4, outlets_c19=18, power_strip="PX3"), parts())
    table = text_table(exported(design, tmp_path, "power")["power.csv"])
    found = {row.rack: (int(row.outlets_c13), int(row.outlets_c19)) for row in table.itertuples()}
    assert found == {rack: (needed["C13"], needed["C19"]) for rack, needed in cords(design).items()}
    assert sum(c13 for c13, _ in found.values()) == 2 * sum(tier.count for tier in design.fabrics[0].tiers)
    assert set(table["outlets_there"]) == {"4 C13, 18 C19"} and set(table["pdu"]) == {"PX3"}
    unsaid = text_table(exported(solved(case(), parts()), tmp_path / "unsaid", "power")["power.csv"])
    assert set(unsaid["outlets_there"]) == set(unsaid["pdu"]) == {"unknown"}


def test_strips_of_racks_without_servers_limit_those_alone(tmp_path: Path) -> None:
    """Wider strips are never dearer; strips that are alike are as those of all racks; eight C19 of servers stay."""
    asked: tuple[Json, ...] = (
        {}, {"network_outlets_c13": 2}, {"outlets_c13": 2, "network_outlets_c13": 4}, {"outlets_c13": 2},
        {"outlets_c13": 2, "network_outlets_c13": 2, "network_outlets_c19": 0, "outlets_c19": 8},
    )  # fmt: skip
    free, network, wider, narrow, alike = (solved(case(**keys), parts()) for keys in asked)
    assert usd(free) <= usd(network) <= usd(narrow) and usd(wider) <= usd(narrow) == usd(alike)
    for design, with_servers, without in ((network, 99, 2), (wider, 2, 4), (alike, 2, 2)):
        assert_proven(design)
        servers = set(design.racks.server_racks)
        for rack, needed in cords(design).items():
            assert needed["C13"] <= (with_servers if rack in servers else without)
    told = {"outlets_c13": 4, "power_strip": "PX3", "network_outlets_c13": 36, "network_power_strip": "PX4"}
    design = solved(case(network_racks="row", **told), parts())
    table = text_table(exported(design, tmp_path, "power")["power.csv"])
    strips = {row.rack in design.racks.server_racks: (row.outlets_there, row.pdu) for row in table.itertuples()}
    assert strips == {True: ("4 C13", "PX3"), False: ("36 C13", "PX4")}


def test_a_file_with_too_few_outlets_without_servers_is_refused() -> None:
    design = solved(case(network_racks="row"), parts())
    for most, is_kept in ((99, True), (1, False)):
        content = copy.deepcopy(design.case.content)
        content["site"]["floor"]["network_outlets_c13"] = most
        said = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
        assert next(one.ok for one in verify(said) if one.name == CHECK) is is_kept


@pytest.mark.long
def test_the_strips_that_leave_no_design_are_named() -> None:
    design = solved(case(outlets_c13=0, network_outlets_c13=0), parts())
    assert design.status == "infeasible"
    assert {one.limit for one in design.conflicts} & {"site.floor.outlets_c13", "site.floor.network_outlets_c13"}
    told = {one.limit: one.needed for one in design.conflicts}
    for limit, needed in told.items():
        key = limit.removeprefix("site.floor.")
        if "outlets" in key and isinstance(needed, int):
            assert_proven(solved(case(**{"outlets_c13": 0, "network_outlets_c13": 0, key: needed}), parts()))


def test_cords_that_are_not_known_are_told() -> None:
    content = case(outlets_c13=4)
    content["fabrics"][0]["switches"] = {"leaf": ["large"], "spine": ["large"]}
    design = solved(content, parts())
    assert_proven(design)
    assert any("no inlets of large" in note for note in design.notes)


def test_a_file_with_too_many_cords_is_refused() -> None:
    design = solved(case(outlets_c13=2), parts())
    (leaf, *_), stands = design.fabrics[0].places.leaf, design.fabrics[0].places
    crowded = stands.model_copy(update={"spine": tuple((leaf[0], unit) for _, unit in stands.spine)})
    fabric = design.fabrics[0].model_copy(update={"placement": crowded})
    broken = design.model_copy(update={"fabrics": (fabric,)})
    assert CHECK in {check.name for check in verify(broken) if not check.ok}
