"""Worst permutation, rings and mean hops of direct networks, which are worked out on the graph of the answered design.

A server of the small catalog has 4 GPUs and 2 ports of 400 Gb/s here, so a GPU has half of a port.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from fabopt.schema.design import Check, Design
from fabopt.schema.structure import HyperxStructure
from fabopt.topology.direct import ring_allreduce
from fabopt.verify import graph, verify
from tests.mutations import document_of
from tests.oracles import closed_forms
from tests.samples import small
from tests.samples.older import as_written_by

MEASURED = ("permutation_gbps_per_gpu", "allreduce_gbps_per_gpu", "mean_switch_hops")


@cache
def design(family: str, servers: int, ratio: int) -> Design:
    fabric = {"topologies": [family], "tiers": "any", "planes": 1, "max_oversubscription": ratio}
    return small.solved(small.case(fabric, servers=servers))


def figures(made: Design) -> tuple[object, ...]:
    return tuple(getattr(made.fabrics[0].metrics, name) for name in MEASURED)


def on_graph(made: Design) -> Check:
    return next(check for check in verify(made) if check.name == "figures_hold_on_graph")


def without_figures(made: Design) -> Design:
    """As a file that was written before they were."""
    document = document_of(made)
    as_written_by("0.1.0", document)
    for figure in MEASURED:
        document["fabrics"][0]["metrics"].pop(figure)
    return Design.model_validate_json(json.dumps(document))


def test_two_groups_of_two() -> None:
    """All four switches have 7 server ports, as equal groups come before 8 + 6; 0-1 and 2-3 are joined by 2 links, 0-2
    and 1-3 by one.

    E = 28. Links of all unordered pairs: 4*(7*7) + 2*2*(7*7) = 392, so 1 + 784/(28*27) switches. Heaviest matching: 0
    with 3 and 1 with 2, two links and 7 ports each, both ways: 4*2*7 = 56; all links carry 2*6*400, so 4800/56 a port.
    Rings: server 6 sends to 7 over 0-2, and 13 to 0 back, on the other rail over 1-3: one port each on one link.
    """
    made = design("dragonfly", 14, 8)
    small.assert_proven(made)
    assert figures(made) == (round(4800 / 56 / 2, 6), 200, round(1 + 784 / 756, 6))


def test_a_square_torus_with_empty_switches() -> None:
    """3 x 3, two ports of 400 Gb/s a server: 3 ports on switches 0 to 5, as equal groups come before 4 + 4 + 1, none on
    6 to 8.

    Two switches are one link apart in a row or column, else two. One apart, 81 pairs of ports: 3*9 in row 0, 3*9 in
    row 1, 3*9 in columns. Two apart, 54: from each of three switches in row 0 to two in row 1. 81 + 2*54 = 189 over all
    pairs, E = 18. No matching takes more than two links for each of 18 ports, so 2*18*400 over 36 is 400 a port at the
    least: its own speed.
    """
    made = design("torus", 9, 3)
    small.assert_proven(made)
    assert figures(made) == (200, 200, round(1 + 2 * 189 / (18 * 17), 6))


def test_full_switches_have_the_closed_form() -> None:
    """16 servers fill 2 x 2 switches: as the closed forms have it, and 0, 1, 1, 2 links between two switches."""
    made = design("hyperx", 16, 8)
    small.assert_proven(made)
    one = made.fabrics[0].structure
    assert isinstance(one, HyperxStructure) and one.sides == (2, 2)
    form = closed_forms.hyperx(one.sides, 8, one.links_per_pair, 400_000, 400_000)
    assert made.fabrics[0].metrics.permutation_gbps_per_gpu == float(form.permutation) / 2000
    assert made.fabrics[0].metrics.mean_switch_hops == round(1 + 4 * 4 * 64 / (32 * 31), 6)


@pytest.mark.parametrize(("family", "servers", "ratio"), [
    ("dragonfly", 15, 4), ("dragonfly", 22, 3), ("hyperx", 13, 8), ("torus", 20, 8),
])  # fmt: skip
def test_partly_filled_networks_hold_on_the_graph(family: str, servers: int, ratio: int) -> None:
    """All-to-all is a promise for any filling: the graph may give more, and the proof accepts that."""
    small.assert_proven(design(family, servers, ratio))


def test_more_alltoall_than_the_graph_gives_is_found() -> None:
    """Two links of 400 Gb/s between the groups carry 14/27 of what 14 ports of two GPUs send: 55.1 Gb/s per GPU."""
    made = design("dragonfly", 14, 8)
    fabric = made.fabrics[0]
    metrics = fabric.metrics.model_copy(update={"alltoall_gbps_per_gpu": 57})
    check = on_graph(made.model_copy(update={"fabrics": (fabric.model_copy(update={"metrics": metrics}),)}))
    assert not check.ok and "alltoall_gbps_per_gpu is 57, on the graph 55.102 (" in check.detail


def test_an_older_file_is_proven_without() -> None:
    small.assert_proven(without_figures(design("torus", 9, 3)))


def test_too_large_a_graph_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """36 arcs x 6 switches with servers are one more than is looked at for rings, or for anything."""
    monkeypatch.setattr(ring_allreduce, "MOST_RINGS", 215)
    fabric = {"topologies": ["torus"], "tiers": "any", "planes": 1, "max_oversubscription": 3}
    made = small.solved(small.case(fabric, servers=9))
    assert figures(made) == (200, None, 2.235294)
    monkeypatch.setattr("fabopt.topology.direct.design.MOST_PATHS", 215)
    monkeypatch.setattr("fabopt.verify.claims.SMALL_GRAPH", 215)
    made = small.solved(small.case(fabric, servers=9))
    small.assert_proven(made)
    assert figures(made) == (None, None, None)


def test_rings_that_nothing_measures_are_neither_had_nor_ruled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A least all-reduce where every graph is too large: no answer, and no proof that there is none.

    A Clos that costs less than any of them is proven all the same.
    """
    monkeypatch.setattr(ring_allreduce, "MOST_RINGS", 0)
    fabric = {"topologies": ["torus"], "tiers": "any", "max_oversubscription": 3, "min_allreduce_gbps_per_gpu": 200}
    assert small.solved(small.case(fabric, servers=9)).status == "unknown"
    both = small.solved(small.case({**fabric, "topologies": ["torus", "clos"]}, servers=9))
    assert (both.status, both.fabrics[0].topology) == ("optimal", "clos")


def test_figures_that_nothing_proves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = design("torus", 9, 3)
    monkeypatch.setattr(graph, "MOST_DIRECT_RINGS", 215)
    check = on_graph(made)
    assert not check.ok and "allreduce_gbps_per_gpu is 200, which nothing proves" in check.detail
    monkeypatch.setattr(graph, "MOST_DIRECT_PATHS", 215)
    check = on_graph(made)
    assert not check.ok and "mean_switch_hops is 2.235294, which nothing proves" in check.detail
    assert on_graph(without_figures(made)).ok


def test_a_large_graph_has_its_paths_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond what all-to-all may take, hops, worst permutation and rings are worked out still."""
    monkeypatch.setattr(graph, "MOST_WORK", 215)
    check = on_graph(design("torus", 9, 3))
    assert check.ok and "allreduce_gbps_per_gpu 200" in check.detail and "alltoall" not in check.detail
