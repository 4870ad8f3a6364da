"""Logical fabrics: NICs and cables of their own on the switches of another fabric, their host.

A host with a choice of NICs for every logical fabric on it is a fabric of its own, whose ports of theirs are
attachments: the host's space is the union of these. See docs/formulation/several-networks.md.
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

# Ports of a server are dealt one a leaf, so that two are on two leaves, as the rule of pairs asks.
TWO = 2


def equipped(problem: Problem, fabric: FabricProblem, prune: bool) -> tuple[FabricProblem, ...]:
    """A host with every choice of NICs for the logical fabrics on it; ``prune``: those that others beat aside.

    Rule ``logical_cards_are_allowed``, with ``logical_fabric_of``.
    """
    return tuple(_equipped(problem, fabric, prune and problem.prunes))


def _equipped(problem: Problem, fabric: FabricProblem, prune: bool) -> Iterator[FabricProblem]:
    for protocol in fabric.protocols:
        hosts = tuple(one for one in fabric.nics.get(protocol, ()) if one.topology == HOST_FAMILY and not one.apart)
        speeds = {one.port.lane.port_mbps for one in hosts}
        taken = min((_slots(one) for one in hosts), default=0)
        options = [
            _options(fabric, logical, protocol, logical is fabric.logical_fabrics[-1], prune)
            for logical in fabric.logical_fabrics
        ]
        # one leaf a plane would have all ports of a server
        is_paired = any(logical.is_paired(fabric.kept_rules) for logical in fabric.logical_fabrics)
        tiers = tuple(one for one in fabric.tiers if one > 1 or fabric.is_paired or not is_paired)
        for chosen in product(*options):
            if taken + sum(_slots(one) for one in chosen) > problem.nic_slots:
                continue
            if not speeds.issuperset(one.port.lane.port_mbps for one in chosen):
                continue
            ports = (
                logical.equipped(nic, problem.servers)
                for logical, nic in zip(fabric.logical_fabrics, chosen, strict=True)
            )
            yield replace(
                fabric, tiers=tiers, protocols=(protocol,), topologies=(HOST_FAMILY,), nics={protocol: hosts},
                attachments=(*fabric.attachments, *ports), logical_fabrics=(),
            )  # fmt: skip


def _slots(nic: NicOption) -> int:
    return 0 if nic.item is None else nic.nics_per_server


def _options(
    fabric: FabricProblem, logical: LogicalFabric, protocol: str, last: bool, prune: bool
) -> Sequence[NicOption]:
    """NICs for a logical fabric. Of two with the same ports the cheaper one is as good; of two that differ in number
    of ports the one with fewer, if no other logical fabric's ports are dealt after them (``last``): every leaf then has
    what it has with more, or less.
    """
    fewest = TWO if logical.is_paired(fabric.kept_rules) else 1
    options = tuple(one for one in logical.nics.get(protocol, ()) if one.ports_per_server >= fewest)
    if not prune:
        return options
    return [one for one in options if not any(_dominates(other, one, last) for other in options if other is not one)]


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
    """What the NICs of a server cost and draw, and how many they are."""
    if nic.item is None:
        return 0, 0, 0, 0
    cents, present = sum(nic.item.unit_cents), sum(nic.item.unit_costs[len(nic.item.offers) :])
    return tuple(nic.nics_per_server * number for number in (cents, present, nic.item.power_mw, 1))


# What tells ways to equip a server apart: NIC, how many, ports of each, split and cage group.
NicKey = tuple[str, int, int, str, int]


def _key(nic: NicOption) -> NicKey:
    return nic.nic_id, nic.nics_per_server, nic.ports_per_nic, nic.split, nic.group


def order_of(attachments: Sequence[AttachmentDemand]) -> tuple[tuple[str, NicKey], ...]:
    """Rank of a choice of NICs among those with which all else is the same."""
    return tuple((one.name, _key(one.nic)) for one in attachments if one.nic is not None)


def nics_of(problem: Problem, attachments: Sequence[AttachmentDemand]) -> dict[Item, int]:
    """The NICs that are bought for logical fabrics, over all servers."""
    counts: dict[Item, int] = {}
    for attachment in attachments:
        if attachment.nic is not None and attachment.nic.item is not None:
            counts[attachment.nic.item] = (
                counts.get(attachment.nic.item, 0) + problem.servers * attachment.nic.nics_per_server
            )
    return counts


def slots_of(attachments: Sequence[AttachmentDemand]) -> int:
    """Slots of a server that NICs of logical fabrics take."""
    return sum(_slots(one.nic) for one in attachments if one.nic is not None)
