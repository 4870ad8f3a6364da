"""Logical fabrics: NICs and cables of their own on the switches of another fabric, their host.

A host with one choice of NICs for every logical fabric on it is a fabric problem whose attachments are the ports of
these NICs: the host's space is the union over all choices. See docs/formulation/several-networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from fabopt.parts.items import Item
from fabopt.parts.nics import NicOption
from fabopt.problem.attachments import AttachmentDemand, LogicalFabric
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.separation import HOST_FAMILY
from fabopt.units import summed

# Ports of a server are dealt one a leaf, so that two are on two leaves, as the rule of pairs asks.
TWO = 2


def equipped(problem: Problem, fabric: FabricProblem, prune: bool) -> tuple[FabricProblem, ...]:
    """A host with every choice of NICs for the logical fabrics on it; ``prune``: without dominated choices.

    Rule ``logical_cards_are_allowed``, with ``logical_fabric_of``.
    """
    return tuple(_equipped(problem, fabric, prune and problem.prunes))


def _equipped(problem: Problem, fabric: FabricProblem, prune: bool) -> Iterator[FabricProblem]:
    for protocol in fabric.protocols:
        hosts = tuple(nic for nic in fabric.nics.get(protocol, ()) if nic.topology == HOST_FAMILY and not nic.apart)
        speeds = {host.port.lane.port_mbps for host in hosts}
        taken = min((_slots(host) for host in hosts), default=0)
        options = [
            _options(fabric, logical, protocol, logical is fabric.logical_fabrics[-1], prune)
            for logical in fabric.logical_fabrics
        ]
        # one leaf a plane would have all ports of a server
        is_paired = any(logical.is_paired(fabric.rules.kept) for logical in fabric.logical_fabrics)
        tiers = [tier for tier in fabric.shapes.tiers if tier > 1 or fabric.leaf_pairs.are_wanted or not is_paired]
        shapes = replace(fabric.shapes, topologies=(HOST_FAMILY,), tiers=tuple(tiers))
        for chosen in product(*options):
            if taken + sum(_slots(nic) for nic in chosen) > problem.nic_slots:
                continue
            if not speeds.issuperset(nic.port.lane.port_mbps for nic in chosen):
                continue
            ports = (
                logical.equipped(nic, problem.servers)
                for logical, nic in zip(fabric.logical_fabrics, chosen, strict=True)
            )
            yield replace(
                fabric, shapes=shapes, protocols=(protocol,), nics={protocol: hosts},
                attachments=(*fabric.attachments, *ports), logical_fabrics=(),
            )  # fmt: skip


def _slots(nic: NicOption) -> int:
    return 0 if nic.item is None else nic.nics_per_server


def _options(
    fabric: FabricProblem, logical: LogicalFabric, protocol: str, last: bool, prune: bool
) -> Sequence[NicOption]:
    """NICs for a logical fabric, dominated ones pruned. Of two with equal ports the cheaper dominates; of two that
    differ in number of ports the one with fewer, if no other logical fabric's ports are dealt after them (``last``): no
    leaf then has more ports.
    """
    fewest = TWO if logical.is_paired(fabric.rules.kept) else 1
    options = tuple(nic for nic in logical.nics.get(protocol, ()) if nic.ports_per_server >= fewest)
    if not prune:
        return options
    return [
        option
        for option in options
        if not any(_dominates(other, option, last) for other in options if other is not option)
    ]


def _dominates(option: NicOption, other: NicOption, last: bool) -> bool:
    if option.port is not other.port:
        return False
    numbers, other_numbers = (option.ports_per_server, *_numbers(option)), (other.ports_per_server, *_numbers(other))
    if not last and numbers[0] != other_numbers[0]:
        return False
    return all(a <= b for a, b in zip(numbers, other_numbers, strict=True)) and (
        numbers != other_numbers or _key(option) < _key(other)
    )


def _numbers(nic: NicOption) -> tuple[int, ...]:
    """Price (cents), present value, power (mW) and number of a server's NICs."""
    if nic.item is None:
        return 0, 0, 0, 0
    cents, present = sum(nic.item.unit_cents), sum(nic.item.unit_costs[len(nic.item.offers) :])
    return tuple(nic.nics_per_server * number for number in (cents, present, nic.item.power_mw, 1))


# What tells ways to equip a server apart: NIC, how many, ports of each, split and cage group.
NicKey = tuple[str, int, int, str, int]


def _key(nic: NicOption) -> NicKey:
    return nic.nic_id, nic.nics_per_server, nic.ports_per_nic, nic.split, nic.group


def order_of(attachments: Sequence[AttachmentDemand]) -> tuple[tuple[str, NicKey], ...]:
    """Rank of a choice of NICs among designs that are equal otherwise."""
    return tuple((attachment.name, _key(attachment.nic)) for attachment in attachments if attachment.nic is not None)


def nics_of(problem: Problem, attachments: Sequence[AttachmentDemand]) -> dict[Item, int]:
    """The NICs that are bought for logical fabrics, over all servers."""
    return summed(
        (attachment.nic.item, problem.servers * attachment.nic.nics_per_server)
        for attachment in attachments
        if attachment.nic is not None and attachment.nic.item is not None
    )


def slots_of(attachments: Sequence[AttachmentDemand]) -> int:
    """Slots of a server that NICs of logical fabrics take."""
    return sum(_slots(attachment.nic) for attachment in attachments if attachment.nic is not None)
