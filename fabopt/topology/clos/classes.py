"""Uplinks of leaves whose attachments have a ratio of their own: each class of endpoints is carried at its ratio.

A leaf with s server ports and a attachment ports of speed v, and u uplinks of speed w, has
``u * w >= s * v / o + a * v / o_a``; o is the fabric's ratio at the leaves, o_a the least that any attachment asks for.
Ports of a logical fabric have that one's ratio; attachments that do not count are carried for nothing. See
docs/formulation/several-networks.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_shape import greater
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.shape import (
    Parts,
    Shape,
    attached_to_leaves,
    last_endpoints,
    last_is_emptier,
    most_endpoints,
)
from fabopt.units import Number, ceil_of

_SAFE = 2**62


class LeafEndpoints(NamedTuple):
    """Ports that count in the ratio of leaves: most on any leaf, and on any leaf of a differing last group."""

    most: Number
    of_last: Number = 0


def leaf_uplinks(
    fabric: FabricProblem, parts: Parts, shape: Shape, most: Fraction | None = None, of_last: bool = False
) -> Number:
    """Fewest uplinks of any leaf for all classes; 0 where no attachment has a ratio of its own.

    ``most``: the servers' ratio; None: the fabric's. ``of_last``: of the leaves of a differing last group, which the
    others do not include. In a cluster that grows, no leaf has more of either class than the first one.
    """
    none: Number = 0 * shape.g
    if parts.leaf_up is None:
        return none
    own = fabric.attachment_oversubscription
    if fabric.networked or (own is not None and not fabric.all_count):
        return _class_by_class(fabric, parts, shape, of_last)
    if own is None:
        return none
    speeds = Fraction(parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps)
    servers, attached = speeds / (fabric.ratios.leaf if most is None else most), speeds / own
    if shape.sizes:
        of_servers = np.minimum(shape.g, shape.servers) * shape.k
        others = most_endpoints(shape, fabric.attached) - of_servers
        return np.asarray(_ceil_of_sum(of_servers, servers, others, attached))
    on_full, on_last = attached_to_leaves(shape, fabric.attachment_ports)
    full = _ceil_of_sum(shape.g * shape.k, servers, on_full, attached)
    last = _ceil_of_sum(shape.last_group * shape.last_k, servers, on_last, attached)
    if shape.has_own_last:
        return last if of_last else full
    return np.maximum(np.where(shape.groups == 1, 0, full), last)


def endpoints_in_ratio(fabric: FabricProblem, shape: Shape, of_last: bool = False) -> Number:
    """d: most server and attachment ports on any leaf that count in its oversubscription.

    ``of_last``: d' of the leaves of a differing last group, which the others do not include.
    """
    if fabric.all_count:
        return last_endpoints(shape, fabric.attached) if of_last else most_endpoints(shape, fabric.attached)
    counted = [True, *(demand.counts for demand in fabric.attachments)]
    most: Number = 0 * shape.g
    for ports in _on_leaves(fabric, shape, of_last):
        most = np.maximum(most, sum(count for count, counts in zip(ports, counted, strict=True) if counts))
    return most


def busiest_leaves(fabric: FabricProblem, shape: Shape) -> LeafEndpoints:
    """d, and d' of a differing last group, if there is one."""
    most = endpoints_in_ratio(fabric, shape)
    return (
        LeafEndpoints(most, endpoints_in_ratio(fabric, shape, of_last=True))
        if shape.has_own_last
        else LeafEndpoints(most)
    )


def plain_endpoints(fabric: FabricProblem, endpoints: Number) -> Number:
    """Endpoints of a leaf at the fabric's ratio: 0 where every class is counted by itself."""
    return 0 * endpoints if fabric.networked else endpoints


def ratio_of(fabric: FabricProblem, demand: AttachmentDemand) -> Fraction:
    """The ratio at which a leaf carries an attachment."""
    if demand.network is not None:
        logical = next(
            (attachment.oversubscription for attachment in fabric.attachments if attachment.name == demand.network),
            None,
        )
        own = demand.oversubscription if demand.oversubscription is not None else logical
        assert own is not None
        return own
    own = fabric.attachment_oversubscription
    return fabric.ratios.leaf if own is None else min(own, fabric.ratios.leaf)


def _class_by_class(fabric: FabricProblem, parts: Parts, shape: Shape, of_last: bool) -> Number:
    """Fewest uplinks where classes of endpoints have ratios of their own, or none: on the busiest leaf."""
    speeds = Fraction(parts.leaf_down.lane.port_mbps, parts.uplink.lane.port_mbps)
    shares = [speeds / fabric.ratios.leaf]
    shares += [speeds / ratio_of(fabric, demand) if demand.counts else Fraction(0) for demand in fabric.attachments]
    fewest: Number = 0 * shape.g
    for counts in _on_leaves(fabric, shape, of_last):
        fewest = greater(fewest, _ceil_of_sums(counts, shares))
    return fewest


def _on_leaves(fabric: FabricProblem, shape: Shape, of_last: bool) -> Iterator[list[Number]]:
    """Server ports and ports of every attachment on sample leaves of one stage, such that every other leaf equals one.

    Attachments are dealt leaf by leaf and round, so the ports on a leaf change only where an attachment's ports start
    or end, and between the leaves of the last group and the full ones: one leaf after each such place is a sample.
    ``of_last``: leaves of a differing last group alone, others having no ports.
    """
    assert not shape.sizes, "in several stages attachments are dealt in another order"
    leaves = shape.planes * shape.leaves
    last, full = shape.last_group * shape.last_k, shape.g * shape.k
    comes_first, last_leaves = last_is_emptier(shape), shape.planes * shape.last_rails
    begins = np.where(comes_first, last_leaves, leaves - last_leaves if shape.has_own_last else 0)
    ends = np.cumsum([0, *(sum(demand.by_stage) for demand in fabric.attachments)]).tolist()
    for place in (0 * leaves, begins % leaves, *(end % leaves for end in ends)):
        is_last = (place < begins) == comes_first if shape.has_own_last else place < begins
        counts = [np.where(is_last, last, full)]
        counts += [_dealt(end, place, leaves) - _dealt(start, place, leaves) for start, end in pairwise(ends)]
        yield [count * (is_last == of_last) for count in counts] if shape.has_own_last else counts


def _dealt(ports: int, place: Number, leaves: Number) -> Number:
    """Number of the first ``ports`` dealt ports that are on the leaf at a place, counted from 0."""
    return ceil_of(np.maximum(0, ports - place), leaves)


def _ceil_of_sums(counts: Sequence[Number], shares: Sequence[Fraction]) -> Number:
    """Ceiling of the sum of ``counts * shares``, exact however large the fractions are."""
    below = lcm(*(share.denominator for share in shares))
    weights = [int(share * below) for share in shares]
    most = sum(int(np.max(count, initial=0)) * weight for count, weight in zip(counts, weights, strict=True))
    kind = np.int64 if max(most, below) < _SAFE else object
    total = sum(np.asarray(count, dtype=kind) * weight for count, weight in zip(counts, weights, strict=True))
    return np.asarray(ceil_of(total, below), dtype=np.int64)


def _ceil_of_sum(first: Number, share: Fraction, other: Number, other_share: Fraction) -> Number:
    """Ceiling of ``first * share + other * other_share``, exact however large the fractions are."""
    weights = share.numerator * other_share.denominator, other_share.numerator * share.denominator
    below = share.denominator * other_share.denominator
    if (np.max(first, initial=0) + np.max(other, initial=0)) * max(weights) < _SAFE and below < _SAFE:
        return ceil_of(first * weights[0] + other * weights[1], below)
    first, other = np.asarray(first, dtype=object), np.asarray(other, dtype=object)
    return np.asarray(ceil_of(first * weights[0] + other * weights[1], below), dtype=np.int64)
