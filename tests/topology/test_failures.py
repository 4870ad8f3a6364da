"""What is left when boxes or links fail: by hand, asked for in a case, proven in a file."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fabopt.network.graph.survival import ServerPorts
from fabopt.problem.problem import problem_of
from fabopt.program.lexicographic import optimum_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.resilience import Resilience
from fabopt.verify import verify
from tests.samples.small import assert_proven, case, catalog, inputs, solved
from tests.topology.test_figures import THREE_TIERS, TWO_TIERS, everything, with_fabric

SURVIVED = ("1 spine", "2 spines", "1 leaf", "1 cable", "1 switch")


def left(design: Design) -> dict[str, tuple[float, int | None]]:
    return {one.failed: (one.gbps_per_gpu, one.servers_cut_off) for one in design.fabrics[0].failures}


def failed(design: Design) -> list[str]:
    return [check.name for check in verify(design) if not check.ok]


# -- by hand ----------------------------------------------------------------------------------------------------


def test_server_on_eight_leaves() -> None:
    """One port on each: a leaf takes an eighth, a cable too; with two planes one of them takes half."""
    ports = ServerPorts(nics=8, ports=1, planes=1, per_leaf=1, top=Fraction(1))
    assert ports.without_leaves(1) == ports.without_cables(1) == Fraction(7, 8)
    assert ports.without_leaves(9) == 0
    assert ServerPorts(8, 2, 2, 1, Fraction(2)).without_planes(1) == Fraction(1, 2)


def test_slot_hides_a_lost_port() -> None:
    """Two cards of two ports whose slots deliver 1.25 ports each.

    Without one port: 1 + 1.25 of 2.5. Leaves take ports 1 and 2 of a card (one card gone) or one of each card.
    """
    together = ServerPorts(nics=2, ports=2, planes=1, per_leaf=2, top=Fraction(5, 4))
    assert together.without_cables(1) == Fraction(9, 10)
    assert together.without_leaves(1) == Fraction(1, 2)
    apart = ServerPorts(nics=2, ports=2, planes=2, per_leaf=1, top=Fraction(5, 4))
    assert apart.without_planes(1) == Fraction(4, 5)
    # of four leaves with one port each, the two of one card are the worst two
    assert apart.without_leaves(2) == Fraction(1, 2)


def test_too_many_ways_are_bounded_from_below() -> None:
    """Sixteen leaves of one port, eight fail: 12,870 ways. Four of eight cards of two ports may be gone."""
    many = ServerPorts(nics=8, ports=2, planes=1, per_leaf=1, top=Fraction(3, 2))
    assert many.without_leaves(8) == Fraction(1, 2)


def test_two_tiers_by_hand() -> None:
    """Five servers of two ports of 400 for four GPUs, each port on its own leaf: 200 per GPU."""
    design = solved(TWO_TIERS)
    one = design.fabrics[0]
    up, spines, share = one.tiers[0].up_ports, one.structure.spines_per_pod, one.metrics.bisection_gbps_per_gpu
    found = left(design)
    assert found["leaf"] == (pytest.approx(share / 2), 0)
    assert found["plane"] == (0, 5)
    assert found["spine"][0] == pytest.approx(200 * min(1, (up - up // spines) / 5), abs=1e-6)
    assert found["cable"][0] == pytest.approx(min(share / 2, 200 * min(1, (up - 1) / 5)), abs=1e-6)


def test_the_only_switch() -> None:
    design = solved(case({"tiers": 1, "nics": ["nic-400"], "nics_per_server": 2}, servers=3))
    assert left(design) == {"leaf": (0, 3), "plane": (0, 3), "cable": (100, 0)}


def test_two_planes_lose_half() -> None:
    """Every server has a port in each plane."""
    fabric = {"tiers": 1, "planes": 2, "nics": ["nic-200x2"], "nics_per_server": 2, "min_gbps_per_gpu": 150}
    parts = catalog()
    parts["nics"].append(
        {"id": "nic-200x2", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 20,
         "price_usd": 1600, "cages": [{"count": 2, "form_factor": "QSFP56", "splits": ["1x200"]}]}
    )  # fmt: skip
    design = solved(case(fabric, servers=3), parts)
    assert left(design)["plane"] == (100, 0)
    assert left(design)["leaf"] == (100, 0)


# -- asked for --------------------------------------------------------------------------------------------------


@pytest.mark.long("content1-2 spines")
@pytest.mark.long(
    "content5-1 spine",
    "content6-2 spines",
    "content7-1 leaf",
    "content8-1 cable",
    "content9-1 switch",
    "content10-1 core",
    "content0-1 spine",
)
@pytest.mark.parametrize(("content", "survive"), [
    *((TWO_TIERS, survive) for survive in SURVIVED), *((THREE_TIERS, survive) for survive in (*SURVIVED, "1 core")),
])  # fmt: skip
def test_demand_picks_the_cheapest_that_survives(content: dict[str, object], survive: str) -> None:
    """Over all candidates, without the bounds of the search: those with enough left, and the cheapest of them."""
    kind, count = Resilience(survive=survive, min_gbps_per_gpu=1).failures
    given = inputs(content)
    problem = problem_of(given.case, given.catalog, prune=False)
    gpus = problem.server.gpus
    whole = [(one, one.design.failures(gpus).bandwidth_left(kind, count)) for one, _ in everything(content)]
    values = sorted({value for _, value in whole})
    for wanted in {values[len(values) // 2], values[-1]}:
        gbps = int(wanted) / 1000
        kept = [one for one, value in whole if value >= int(wanted)]
        design = solved(with_fabric(content, resilience={"survive": survive, "min_gbps_per_gpu": gbps}))
        assert_proven(design)
        optimum = optimum_of(problem, kept, Settings(prune=False), Clock(None))
        assert optimum.value is not None and design.totals is not None
        assert design.totals.capex_usd == optimum.value / problem.weights.per_cent / 100


def test_several_demands_hold_together() -> None:
    demands = [{"survive": "1 leaf", "min_gbps_per_gpu": 50}, {"survive": "1 spine", "min_gbps_per_gpu": 100}]
    design = solved(with_fabric(TWO_TIERS, resilience=demands))
    assert_proven(design)
    found = left(design)
    assert found["leaf"][0] >= 50 and found["spine"][0] >= 100


def test_more_than_any_design_has_left_is_a_conflict() -> None:
    """One of two leaves takes half of 200, whatever is bought."""
    design = solved(with_fabric(TWO_TIERS, resilience={"survive": "1 leaf", "min_gbps_per_gpu": 150}))
    found = {one.limit: one for one in design.conflicts}["fabrics.compute.resilience.min_gbps_per_gpu"]
    assert (found.value, found.needed) == (150, 100)


@pytest.mark.parametrize(
    ("text", "failures"),
    [("1 leaf", ("leaf", 1)), ("2 leaves", ("leaf", 2)), ("3 switches", ("switch", 3)), ("1 rack", ("rack", 1))],
)
def test_words_of_failures(text: str, failures: tuple[str, int]) -> None:
    assert Resilience(survive=text, min_gbps_per_gpu=1).failures == failures


@pytest.mark.parametrize("text", ["leaf", "0 leaf", "one leaf", "1 row", "1  leaf"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a number and what fails"):
        Resilience(survive=text, min_gbps_per_gpu=1)


def test_racks_are_lost_one_at_a_time() -> None:
    with pytest.raises(ValueError, match="one at a time: write `1 rack`"):
        Resilience(survive="2 racks", min_gbps_per_gpu=1)


def test_only_a_feed_takes_nothing() -> None:
    assert Resilience(survive="1 feed").least_gbps == 0
    with pytest.raises(ValueError, match="`min_gbps_per_gpu` is missing"):
        Resilience(survive="1 rack")


# -- proven -----------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("gbps_per_gpu-three-tiers", "servers_cut_off-two-tiers"))
@pytest.mark.parametrize("content", [TWO_TIERS, THREE_TIERS], ids=["two-tiers", "three-tiers"])
@pytest.mark.parametrize("key", ["gbps_per_gpu", "servers_cut_off"])
def test_wrong_figure_is_found(content: dict[str, object], key: str) -> None:
    design = solved(content)
    fabric = design.fabrics[0]
    for place, row in enumerate(fabric.failures):
        wrong = row.model_copy(update={key: getattr(row, key) + 1})
        rows = (*fabric.failures[:place], wrong, *fabric.failures[place + 1 :])
        changed = design.model_copy(update={"fabrics": (fabric.model_copy(update={"failures": rows}),)})
        assert "failures_leave_bandwidth" in failed(changed)


def test_demand_that_is_not_met_is_found() -> None:
    """The file's case asks for more than the design has left."""
    design = solved(TWO_TIERS)
    content = design.case.model_dump()
    content["content"]["fabrics"][0]["resilience"] = {"survive": "1 leaf", "min_gbps_per_gpu": 199}
    changed = design.model_copy(update={"case": type(design.case)(**content)})
    assert "failures_leave_bandwidth" in failed(changed)
