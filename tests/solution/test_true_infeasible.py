"""Proofs that there is no design, tried against designs of other cases that would be one: witnesses."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from fabopt.schema.design import Design
from fabopt.solution.optimize import solve
from tests.oracles.witnesses import alone, flat, managed, plain, stands, wider
from tests.samples import random_networks
from tests.samples.random_sites import generate
from tests.samples.small import Json, inputs

# Quick ones of every role, with and without a floor, attachments, stages, and a fabric of management; with
# ``FABOPT_ORACLE_SEEDS=10`` the first 400 of all.
QUICK = (1, 4, 7, 9, 12, 14, 15, 17, 18, 19, 22, 23, 29, 31, 34, 37, 38, 39, 40, 41, 45, 49, 52)
TIMES = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
SEEDS = QUICK if TIMES == 1 else range(40 * TIMES)
# Quick ones of several fabrics and of every kind of attachments; in 75 servers and an attachment share a cable of one
# of several lengths, in 1180 an attachment is in another one's module and not in the servers' splitters, in 4001 no
# layout is worth looking at, in 4009 runs differ in one of two fabrics. With ``FABOPT_ORACLE_SEEDS`` as above.
QUICK_NETWORKS = (1, 4, 9, 18, 21, 35, 40, 45, 50, 67, 72, 75, 81, 86, 112, 1180, 4001, 4009)
NETWORK_SEEDS = QUICK_NETWORKS if TIMES == 1 else range(40 * TIMES)
# An answer that is cut short proves nothing.
LIMIT_S = 20.0


def answer(content: Json, parts: Json) -> Design:
    """The answer, whose checks all hold."""
    design = solve(inputs(content, parts), alternatives_s=0, time_limit_s=LIMIT_S)
    assert [check.name for check in design.checks if not check.ok] == [], (content, parts)
    return design


@pytest.mark.long(but=("34",))
@pytest.mark.parametrize("seed", SEEDS)
def test_no_witness_is_against_a_proof(seed: int) -> None:
    """What asks for less has a design too; so has what can be built flat, over runs as long as any of the floor."""
    parts, content = generate(seed)
    design = answer(content, parts)
    for what, other in wider(content) if design.fabrics else ():
        assert answer(other, parts).status != "infeasible", (what, content, parts)
    if design.status == "infeasible" and "floor" in content["site"]:
        assert not is_buildable(content, parts), (content, parts)


@pytest.mark.long(but=("1", "72"))
@pytest.mark.parametrize("seed", NETWORK_SEEDS)
def test_no_witness_is_against_a_proof_of_several_fabrics(seed: int) -> None:
    """The same; besides, default rules never decide whether there is a design, nor do fabrics that share nothing but
    the slots of a server.
    """
    parts, content = random_networks.generate(seed)
    design = answer(content, parts)
    for what, other in wider(content) if design.fabrics else ():
        assert answer(other, parts).status != "infeasible", (what, content, parts)
    if design.status == "infeasible":
        if plain(content) != content:
            assert not answer(plain(content), parts).fabrics, (content, parts)
        if "floor" in content["site"]:
            assert not is_buildable(content, parts), (content, parts)
        elif len(content["fabrics"]) > 1:
            assert not are_all_possible(content, parts), (content, parts)


def are_all_possible(content: Json, parts: Json) -> bool:
    """Whether there is a design of each fabric alone, that of management with ports for the switches of the others,
    with NICs that fit the server.
    """
    designs = [answer(other, parts) for other in alone(content)]
    fabrics = [fabric for design in designs for fabric in design.fabrics]
    management = managed(content, sum(tier.count for fabric in fabrics for tier in fabric.tiers))
    slots = sum(fabric.nic.per_server for fabric in fabrics if not fabric.nic.built_in)
    if not all(design.fabrics for design in designs) or slots > parts["servers"][0]["nic_slots"]:
        return False
    return management is None or bool(answer(management, parts).fabrics)


def is_buildable(content: Json, parts: Json) -> bool:
    """Whether the flat case has a design whose switches fit a free rack."""
    switches = Counter[str]()
    for fabric in answer(flat(content), parts).fabrics:
        switches.update({tier.id: tier.count for tier in fabric.tiers})
    return bool(switches) and stands(content, parts, switches)
