"""Racks that a case names: for servers, and for the switches of a tier of a fabric."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from fabopt.verify import verify
from tests.floor.test_placement import on_floor, parts
from tests.oracles.brute_floor import cheapest, toy, toy_with_pins
from tests.samples.small import Json, assert_proven, inputs, solved_as, value_of

# Servers, leaves and spines named, alone and together; some leave no design, and some that are dearer.
SEEDS = (3, 5, 6, 16, 24, 27, 28, 31, 33, 35)
HALL: Json = {"rows": 3, "racks_per_row": 6, "rack_units": 32}


@pytest.mark.long("3")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("seed", SEEDS)
def test_small_floors_equal_brute_force(seed: int) -> None:
    design, bare = solved_as(cheapest(*toy_with_pins(seed)), *toy_with_pins(seed)), cheapest(*toy(seed))
    assert bare is not None and (design is None or bare <= round(value_of(design) * 100))


def two_tiers(racks: Json | None = None, floor: Json | None = None, **changes: Any) -> Design:
    """Twelve servers, three a rack, in a hall that is too large for all places to be looked at."""
    content = on_floor(HALL | (floor or {}), {"racks": racks} if racks else None, **({"servers": 12} | changes))
    design = solve(inputs(content, parts()), alternatives_s=0)
    if design.fabrics:
        assert_proven(design)
    return design


def racks_of(design: Design, tier: str, fabric: int = 0) -> set[str]:
    placement = design.fabrics[fabric].placement
    assert placement is not None
    return {rack for rack, _ in getattr(placement, tier)}


@pytest.mark.long(but=("racks0",))
@pytest.mark.parametrize(
    "racks", ({"leaf": ["C06"]}, {"spine": ["A01", "B03"]}, {"leaf": ["B01", "A01"], "spine": ["B06"]})
)
def test_switches_are_in_their_racks(racks: Json) -> None:
    design, free = two_tiers(racks), two_tiers()
    for tier, named in racks.items():
        assert racks_of(design, tier) <= set(named) and not racks_of(free, tier) <= set(named)
    assert design.floor is not None and not {rack for named in racks.values() for rack in named} & set(
        design.floor.server_racks
    )
    assert design.objective.value is not None and free.objective.value is not None
    assert design.objective.value >= free.objective.value


@pytest.mark.parametrize("network_racks", ("any", "middle", "end", "row", ["A03"]))
def test_servers_fill_their_racks_in_order(network_racks: str | list[str]) -> None:
    named = ["B05", "B02", "C01", "C02", "C03"]
    design = two_tiers(floor={"server_racks": named, "network_racks": network_racks})
    assert (
        design.floor is not None
        and design.floor.server_racks == ("B05", "B02", "C01")[: len(design.floor.server_racks)]
    )


def test_each_fabric_has_its_own() -> None:
    content = on_floor(HALL, {"racks": {"spine": ["A02"]}}, servers=12)
    content["fabrics"].append(
        content["fabrics"][0] | {"name": "storage", "role": "storage", "racks": {"leaf": ["C05"]}}
    )
    design = solve(inputs(content, parts()), alternatives_s=0)
    assert not [check for check in design.checks if not check.ok]
    assert racks_of(design, "spine") == {"A02"} and racks_of(design, "leaf", 1) == {"C05"}


def test_a_switch_elsewhere_is_found() -> None:
    design = two_tiers({"spine": ["A02"]})
    fabric = design.fabrics[0]
    assert fabric.placement is not None
    moved = tuple(("A03", unit) for _, unit in fabric.placement.spine)
    placement = fabric.placement.model_copy(update={"spine": moved})
    other = design.model_copy(update={"fabrics": (fabric.model_copy(update={"placement": placement}),)})
    assert "named_racks_are_kept" in {check.name for check in verify(other) if not check.ok}
    assert "named_racks_are_kept" not in {check.name for check in two_tiers().checks}


def test_servers_elsewhere_are_found() -> None:
    design = two_tiers(floor={"server_racks": ["B05", "B02", "C01", "C02"]})
    assert design.floor is not None
    turned = design.floor.model_copy(update={"server_racks": tuple(reversed(design.floor.server_racks))})
    broken = {check.name for check in verify(design.model_copy(update={"floor": turned})) if not check.ok}
    assert "named_racks_are_kept" in broken


@pytest.mark.long
def test_racks_in_the_way_are_named() -> None:
    # three servers of 4 kW and 8 units leave a rack 1 kW and 8 units: too little for all spines
    design = two_tiers(
        {"spine": ["A02"]}, {"rack_power_w": 13_000, "server_racks": ["A02", "A03", "A04", "A05", "B01"]}
    )
    assert design.status == "infeasible"
    assert "fabrics.compute.racks.spine" in {conflict.limit for conflict in design.conflicts}
    few = two_tiers(floor={"server_racks": ["A02"]})
    (conflict,) = few.conflicts
    assert (few.status, conflict.limit, conflict.value) == ("infeasible", "site.floor.server_racks", 1)


STORE: Json = {
    "name": "store",
    "ports": 1,
    "form_factor": "QSFP112",
    "split": "1x400",
    "rack_units": 2,
    "racks": ["A02"],
}


@pytest.mark.parametrize(
    ("floor", "fabric", "words"),
    (
        ({}, {"racks": {"leaf": ["D01"]}}, ("fabrics[0].racks.leaf[0]", "no such rack")),
        ({"blocked": ["A02"]}, {"racks": {"spine": ["A02"]}}, ("fabrics[0].racks.spine[0]", "blocked")),
        ({"reserved": ["A02"], "server_racks": ["A02"]}, {}, ("site.floor.server_racks[0]", "reserved")),
        ({"network_racks": ["A02"], "server_racks": ["A02"]}, {}, ("site.floor.network_racks[0]", "server_racks")),
        ({"network_racks": ["A02"]}, {"racks": {"spine": ["A03"]}}, ("fabrics[0].racks.spine", "network_racks")),
        ({}, {"racks": {"spine": ["A02"]}, "attachments": [STORE]}, ("attachments[0].racks", "fabrics[0].racks.spine")),
        (None, {"racks": {"spine": ["A02"]}}, ("fabrics[0].racks.spine", "no floor")),
    ),
)
def test_what_contradicts_is_refused(floor: Json | None, fabric: Json, words: tuple[str, str]) -> None:
    content = on_floor(HALL | (floor or {}), fabric)
    if floor is None:
        del content["site"]["floor"]
    with pytest.raises(InputError) as refused:
        inputs(content, parts())
    assert all(word in str(refused.value) for word in words)
