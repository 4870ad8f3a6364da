"""Uplinks of leaves whose attachments have a ratio of their own: each class of endpoints is carried at its ratio.

A leaf with s server ports and a attachment ports of speed v, and u uplinks of speed w, has
``u * w >= s * v / o + a * v / o_a``; o is the fabric's ratio at the leaves, o_a the least that any attachment asks for.
See docs/formulation.md, "Leaves".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.fabric import FabricProblem
from fabopt.topology.clos.shape import Parts, Shape, attached_to_leaves, most_endpoints
from fabopt.topology.needs import Number, ceil_of

_SAFE = 2**62


def leaf_uplinks(fabric: FabricProblem, parts: Parts, shape: Shape, most: Fraction | None = None) -> Number:
    """Fewest uplinks of any leaf for both classes; 0 where no attachment has a ratio of its own.

    ``most``: the servers' ratio; None: the fabric's. In a cluster that grows, no leaf has more of either class than the
    first one.
    """
    own = fabric.attachment_oversubscription
    if own is None or parts.leaf_up is None:
        return 0 * shape.g
    speeds = Fraction(parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps)
    servers, attached = speeds / (fabric.oversubscription_leaf if most is None else most), speeds / own
    if shape.sizes:
        of_servers = np.minimum(shape.g, shape.servers) * shape.k
        others = most_endpoints(shape, fabric.attached) - of_servers
        return np.asarray(_ceil_of_sum(of_servers, servers, others, attached))
    on_full, on_last = attached_to_leaves(shape, fabric.attachment_ports)
    full = _ceil_of_sum(shape.g * shape.k, servers, on_full, attached)
    last = _ceil_of_sum(shape.last_group * shape.k, servers, on_last, attached)
    return np.maximum(np.where(shape.groups == 1, 0, full), last)


def _ceil_of_sum(one: Number, share: Fraction, other: Number, other_share: Fraction) -> Number:
    """Ceiling of ``one * share + other * other_share``, exact however large the fractions are."""
    weights = share.numerator * other_share.denominator, other_share.numerator * share.denominator
    below = share.denominator * other_share.denominator
    if (np.max(one, initial=0) + np.max(other, initial=0)) * max(weights) < _SAFE and below < _SAFE:
        return ceil_of(one * weights[0] + other * weights[1], below)
    one, other = np.asarray(one, dtype=object), np.asarray(other, dtype=object)
    return np.asarray(ceil_of(one * weights[0] + other * weights[1], below), dtype=np.int64)
