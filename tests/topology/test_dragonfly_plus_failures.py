"""Failures of a dragonfly+: by hand, against paths that are listed, on the wiring, and as the proof finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabopt.network.direct_links import DragonflyPlus, SpineMesh
from fabopt.network.graph.pair_flow import half_rate
from fabopt.network.graph.symmetry import kinds_of
from fabopt.schema.design import Design
from fabopt.topology.dragonfly_plus.candidates import plane_of, worst_rate
from fabopt.verify.outages import Grounds
from tests.oracles import brute_halves
from tests.samples import small
from tests.topology.test_dragonfly_plus import recounted
from tests.topology.test_graph_failures import failed, left, tight

Json = dict[str, Any]
Numbers = tuple[int, int, int, int, int]
NETWORKS: list[Numbers] = [
    (2, 2, 2, 1, 2), (2, 3, 2, 1, 2), (2, 2, 3, 1, 1), (3, 2, 2, 1, 3), (2, 3, 3, 2, 4), (2, 1, 3, 2, 2),
    (2, 3, 4, 1, 1), (2, 1, 2, 1, 1),
]  # fmt: skip
SPEEDS = [(400, 400), (200, 800), (800, 100)]


def mesh_of(numbers: Numbers) -> DragonflyPlus:
    size, spines, groups, links, n = numbers
    return DragonflyPlus(size, links, SpineMesh(spines, groups, n * (groups - 1)))


# -- on the graph -------------------------------------------------------------------------------------------------


@pytest.mark.long(
    but=("between-(2, 2, 2, 1, 2)", "leaf-(2, 3, 3, 2, 4)", "spine-(2, 1, 2, 1, 1)", "spine-(3, 2, 2, 1, 3)")
)
@pytest.mark.parametrize("numbers", NETWORKS, ids=str)
@pytest.mark.parametrize("kind", ["leaf", "spine", "between"])
def test_graphs_agree_with_listed_paths(numbers: Numbers, kind: str) -> None:
    """Every leaf, spine and link is tried, in fractions; one of each class of symmetry gives the same."""
    for speeds in SPEEDS:
        exact = brute_halves.worst(numbers, speeds, kind)
        assert worst_rate(mesh_of(numbers), speeds, kind) == pytest.approx(float(exact), rel=1e-12), speeds


@pytest.mark.long("(2, 2, 3, 1, 1)", "(3, 2, 2, 1, 3)")
@pytest.mark.long("(2, 3, 3, 2, 4)")
@pytest.mark.parametrize("numbers", [one for one in NETWORKS if one[0] * one[2] <= 6], ids=str)
def test_no_halves_have_less(numbers: Numbers) -> None:
    """Of the whole network and after each loss, the worst of all ways to part the leaves has what is promised."""
    leaves, rows = brute_halves.rows_of(numbers, (400, 200))
    every = [one for kind in ("leaf", "spine", "between") for one in brute_halves.losses(leaves, rows, kind)]
    for some, others in [(leaves, rows), *every]:
        promised = brute_halves.rate(some, others)
        assert promised is not None
        if promised:
            assert promised <= brute_halves.rate_of_all_halves(some, others)


@pytest.mark.parametrize("numbers", [one for one in NETWORKS if one[4] % one[1] == 0], ids=str)
@pytest.mark.parametrize("speeds", SPEEDS)
def test_nothing_lost_is_the_bisection(numbers: Numbers, speeds: tuple[int, int]) -> None:
    """With as many global links of two groups on every spine the whole graph has what the closed form says."""
    whole = half_rate(plane_of(mesh_of(numbers), speeds)[0])
    assert whole == pytest.approx(float(recounted(*numbers).cut(1, speeds)))


def test_by_hand() -> None:
    """2 groups of 2 leaves and 2 spines, a link each, 2 global links of 400: one on each spine.

    Each of 4 pairs of two groups in a direction is on both global links: 2 streams on one, so two halves get
    400/2 * 4/2 = 400 a leaf. Without a spine of one group, or a global link, the other carries all 4: 200. Without a
    leaf there are 2 pairs, so 400 * 3/2 = 600. Without a link of a leaf, its 2 streams and half of its neighbour's 2
    are on one global link: 400/3 * 4/2 = 267, which is not the worst.
    """
    mesh, speeds = mesh_of((2, 2, 2, 1, 2)), (400, 400)
    assert half_rate(plane_of(mesh, speeds)[0]) == pytest.approx(400)
    assert worst_rate(mesh, speeds, "spine") == pytest.approx(200)
    assert worst_rate(mesh, speeds, "between") == pytest.approx(200)
    assert worst_rate(mesh, speeds, "leaf") == pytest.approx(600)


def test_leaves_of_a_group_are_alike() -> None:
    """5 groups of 4 leaves and 4 spines, 4 global links of two groups, one on each spine; groups go round.

    Spines of a group are alike too, as each has one link to every other group; global links are of two distances.
    """
    mesh = mesh_of((4, 4, 5, 1, 4))
    network, kinds = plane_of(mesh, (400, 400))
    assert kinds.switches.tolist() == [0, 20]
    assert (len(network.a), len(kinds.rows)) == (120, 1 + 2)
    swapped = np.arange(network.switches)
    swapped[[0, 20]] = [20, 0]
    assert len(kinds_of(network, [*mesh.moves, swapped]).rows) == len(kinds.rows)


# -- in a design ----------------------------------------------------------------------------------------------------

ASKED: Json = {"topologies": ["dragonfly+"], "tiers": "any"}
DESIGNS: dict[str, tuple[Json, int]] = {
    "one spine": ({"max_oversubscription": 4}, 8),
    "two spines": ({"max_oversubscription": 2}, 14),
    "two planes": ({"max_oversubscription": 4, "planes": 2, "nics": ["nic-200"], "nics_per_server": 4}, 8),
}


def design(name: str) -> Design:
    fabric, servers = DESIGNS[name]
    parts = small.catalog()
    if "planes" in fabric:
        parts["nics"] = [{**one, "cages": [{**one["cages"][0], "count": 2}]} for one in parts["nics"]]
    return small.solved(small.case(ASKED | fabric, servers=servers), parts)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_single_failure_of_the_wiring_gives_the_figures_of_the_file(name: str) -> None:
    made = design(name)
    assert failed(made) == []
    assert list(left(made)) == ["leaf", "spine", "plane", "cable"]
    grounds = Grounds(made)
    for row in made.fabrics[0].failures:
        (found,) = grounds.sample(row.failed, 1, 10**6, 0, None)
        assert found.is_complete
        assert found.gbps_per_gpu[0] == pytest.approx(row.gbps_per_gpu, abs=2e-6), row
        assert found.cut_off[-1] == row.servers_cut_off, row


def test_the_only_spine_parts_a_group() -> None:
    """Two groups of four servers with one spine each: without it nothing crosses, and four are outside."""
    assert left(design("one spine"))["spine"] == (0, 4)


def test_more_failures_leave_less() -> None:
    """Of all ways, the worst of two switches or cables is no better than the worst of one."""
    grounds = Grounds(design("two spines"))
    for kind in ("cable", "switch"):
        fewer, more = (next(grounds.sample(kind, count, 200, 1, None)) for count in (1, 2))
        assert more.gbps_per_gpu[0] <= fewer.gbps_per_gpu[0] + 1e-9
        assert more.cut_off[-1] >= fewer.cut_off[-1]


@pytest.mark.parametrize("key", ["gbps_per_gpu", "servers_cut_off", "count"])
def test_wrong_figures_are_found(key: str) -> None:
    made = design("two spines")
    fabric = made.fabrics[0]
    for place, row in enumerate(fabric.failures):
        wrong = row.model_copy(update={key: getattr(row, key) + 1})
        rows = (*fabric.failures[:place], wrong, *fabric.failures[place + 1 :])
        changed = made.model_copy(update={"fabrics": (fabric.model_copy(update={"failures": rows}),)})
        assert "failures_leave_flow" in failed(changed), row


@pytest.mark.parametrize("survive", ["1 spine", "1 core"])
def test_what_there_is_not_cuts_nobody_off(survive: str) -> None:
    """A HyperX has neither spines nor cores; a leaf, which has the only ports of its servers, cuts these off."""
    content = tight("hyperx", survive, 10)
    content["fabrics"][0] |= {"nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 50}
    made = small.solved(content)
    assert failed(made) == []
    rows = left(made)
    assert rows[survive.split()[1]][1] == 0
    assert (rows["leaf"][1] or 0) > 0


def test_too_large_a_graph_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that nothing proves is refused."""
    whole = design("two spines")
    monkeypatch.setattr("fabopt.topology.dragonfly_plus.candidates.MOST_WORK", 10)
    assert list(left(design("two spines"))) == ["plane"]
    monkeypatch.setattr("fabopt.verify.graph_failures.MOST_WORK_IN_GROUPS", 10)
    assert failed(whole) == ["failures_leave_flow"]
