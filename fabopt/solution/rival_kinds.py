"""Kinds of designs that lost: what is another than in the answer, and the part of the space that has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.family import Restriction
from fabopt.topology.server_torus.nics import forwarding_nics
from fabopt.units import gbps


class RivalKind(NamedTuple):
    """A kind of design that lost: what is another, which, and the part of the space that it is in."""

    what: str
    value: str
    restriction: Restriction


def kinds_of(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> Iterator[RivalKind]:
    """Kinds of designs that lost. On a floor those of other hardware are placed by the rule of the winner."""
    for topology in fabric.topologies:
        if topology != candidate.topology:
            yield RivalKind("topology", topology, Restriction(topology=topology))
    own = policy_of(problem, candidate)
    for policy in problem.site.policies:
        if policy != own:
            yield RivalKind("placement", policy, Restriction(policy=policy))
    for kind in _other_hardware(problem, fabric, candidate):
        yield kind._replace(restriction=replace(kind.restriction, policy=own))


def policy_of(problem: Problem, candidate: Candidate) -> str | None:
    """The rule by which the switches of a candidate are placed on a floor; None where there is none."""
    placement = candidate.design.file_part().placement
    return placement.policy if placement and placement.policy in problem.site.policies else None


def _other_hardware(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> Iterator[RivalKind]:
    winner = candidate.design
    for protocol in fabric.protocols:
        if protocol != winner.protocol:
            yield RivalKind("protocol", protocol, Restriction(protocol=protocol))
    for tiers in fabric.tiers:
        if winner.tiers is not None and tiers != winner.tiers:
            yield RivalKind("tiers", str(tiers), Restriction(tiers=tiers))
    speeds = {option.port.lane.port_mbps for options in fabric.nics.values() for option in options}
    for speed in sorted(speeds - {winner.nic.port.lane.port_mbps}, reverse=True):
        yield RivalKind("port speed", f"{gbps(speed)}G", Restriction(port_mbps=speed))
    if winner.leaf is not None:
        yield RivalKind("leaf switch", "another", Restriction(not_leaf=winner.leaf.id))
    if candidate.topology == "torus" and len(fabric.torus_nodes) > 1 and any(forwarding_nics(problem, fabric)):
        nodes = "switches" if winner.leaf is None else "servers"
        yield RivalKind("torus of", nodes, Restriction(nodes=nodes))
