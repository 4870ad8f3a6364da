"""A pod of other servers beside what is in service: joined to all spines there, on ports that are free."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_force import solve, structures
from tests.samples.bare import bare
from tests.samples.bases import assert_joins, designed, in_use, saved
from tests.samples.growth_samples import grown
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


def joined(given: Json, content: Json, live: Design, folder: Path) -> Design:
    """The design of a pod that joins a design."""
    inputs = inputs_from_objects({**content, "joins": {"file": str(saved(live, folder))}}, given)
    return optimize.solve(inputs, alternatives_s=0)


def free_of(given: Json, live: Design) -> int:
    """Cages that are free on every spine of a design, counted in its wiring."""
    used = Counter(name for name, _ in set(in_use(wiring_of(live))) if "spine" in name)
    cages: int = next(one for one in given["switches"] if one["id"] == "live-spine")["cages"][0]["count"]
    return cages - max(used.values())


def least(given: Json, content: Json, live: Design) -> int | None:
    """The least cents of a pod by brute force: as many spines as there are, at no price, with their free cages."""
    free = free_of(given, live)
    if not free:
        return None
    spines = [switch("free-spine", cage(free, "1x100"), usd=0)]
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
        assert free and design.status == ("infeasible" if expected is None else "optimal"), seed
        if design.totals is not None:
            assert round(design.totals.capex_usd * 100) == expected, seed
            assert_joins(design, live)
    assert told["optimal"] >= 2, told
