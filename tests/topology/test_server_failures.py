"""Failures in a torus of servers: against paths that are walked, by hand, and as the proof finds them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.schema.structure import SwitchlessStructure
from tests.oracles import brute_survival
from tests.samples import small
from tests.topology.test_graph_failures import failed, left
from tests.topology.test_server_torus import case, catalog


def design(servers: int, **fabric: Any) -> Design:
    return small.solved(case(servers, torus_nodes="servers", **fabric), catalog())


@pytest.mark.long(but=("9",))
@pytest.mark.parametrize("servers", [9, 12, 27])
def test_every_server_and_link_is_walked(servers: int) -> None:
    """One card of at most 504 Gb/s for four GPUs, which any two ports of 400 carry, so that only what passes counts.

    The worst pair flow over all losses, in fractions, times half of the servers left; at most what there was.
    """
    made = design(servers)
    assert failed(made) == []
    fabric = made.fabrics[0]
    one = fabric.structure
    assert isinstance(one, SwitchlessStructure) and fabric.nic.per_server == 1
    name = ("torus", one.sides, one.links_per_pair)
    for row, kind, there in (("server", "leaf", servers - 1), ("cable", "between", servers)):
        flow = brute_survival.worst_flow(name, kind)
        assert flow is not None
        promised = min(flow * Fraction(400 * there, 2 * 4), Fraction(fabric.metrics.bisection_gbps_per_gpu))
        assert left(made)[row] == (pytest.approx(float(promised), abs=1e-6), 0)


def test_lost_ports_are_lost_to_injection() -> None:
    """Four cards with a port each, whose slots let 126 Gb/s of 504 through: one without its port sends nothing.

    So it is without a cable, and without a neighbour, to which one port led: 378 for four GPUs.
    """
    parts = catalog()
    card = small.product(parts, "nic-through")
    card["pcie"]["lanes"], card["cages"][0]["count"] = 4, 1
    made = small.solved(case(9, torus_nodes="servers", nics_per_server=4), parts)
    assert made.fabrics[0].nic.per_server == 4 and failed(made) == []
    assert left(made) == {"server": (94.5, 0), "cable": (94.5, 0)}


@pytest.mark.parametrize("key", ["gbps_per_gpu", "servers_cut_off", "count", "failed"])
def test_wrong_figures_are_found(key: str) -> None:
    made = design(12)
    fabric = made.fabrics[0]
    for place, row in enumerate(fabric.failures):
        wrong = row.model_copy(update={key: "leaf" if key == "failed" else getattr(row, key) + 1})
        rows = (*fabric.failures[:place], wrong, *fabric.failures[place + 1 :])
        changed = made.model_copy(update={"fabrics": (fabric.model_copy(update={"failures": rows}),)})
        assert "failures_leave_flow" in failed(changed), row


def test_too_large_a_graph_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that nothing proves is refused."""
    whole = design(9)
    monkeypatch.setattr("fabopt.topology.server_torus.space.MOST_WORK", 10)
    assert left(design(9)) == {}
    monkeypatch.setattr("fabopt.verify.graph_failures.MOST_WORK", 10)
    assert failed(whole) == ["failures_leave_flow"]
