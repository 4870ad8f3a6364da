"""Generators of the families' graphs, for tests, documents and tables; a design's own graph comes from its wiring.

Every function takes the speed of a link between switches and that of an endpoint's link in Mb/s. Symbols are those of
docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from fabopt.network.graph.network import GLOBAL_LENGTH, Ints, Network, network_of

MBPS = 400_000


def leaf_spine(
    leaves: int, spines: int, hosts: int, links: int = 1, mbps: int = MBPS, port_mbps: int = MBPS
) -> Network:
    """Two tiers: every leaf has ``links`` links to every spine and ``hosts`` endpoints."""
    leaf, spine = _pairs(np.arange(leaves), leaves + np.arange(spines))
    return network_of(leaf, spine, links * mbps, [hosts] * leaves + [0] * spines, port_mbps)


def three_tiers(
    pods: int, leaves: int, spines: int, group_cores: int, hosts: int, links: int = 1, core_links: int = 1,
    spines_per_core_group: int = 1, mbps: int = MBPS, port_mbps: int = MBPS,
) -> Network:  # fmt: skip
    """Pods of leaves and spines; a core group joins as many spine indices of all pods, ``core_links`` links each."""
    a, b = [], []
    spine_at, core_at = pods * leaves, pods * (leaves + spines)
    for pod in range(pods):
        low, high = _pairs(pod * leaves + np.arange(leaves), spine_at + pod * spines + np.arange(spines))
        a.append(low)
        b.append(high)
    below = len(a)
    for pod in range(pods):
        index = np.repeat(np.arange(spines), group_cores)
        core = index // spines_per_core_group * group_cores + np.tile(np.arange(group_cores), spines)
        a.append(spine_at + pod * spines + index)
        b.append(core_at + core)
    of_pair = [links] * below + [core_links] * (len(a) - below)
    speed = [np.full(len(lower), number * mbps) for lower, number in zip(a, of_pair, strict=True)]
    cores = spines // spines_per_core_group * group_cores
    of_switch = [hosts] * (pods * leaves) + [0] * (pods * spines + cores)
    return network_of(np.concatenate(a), np.concatenate(b), np.concatenate(speed), of_switch, port_mbps)


def fat_tree(radix: int, tiers: int, mbps: int = MBPS) -> Network:
    """The largest tree of full bandwidth of switches with so many ports, in two or three tiers.

    Source: Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008.
    """
    half = radix // 2
    if tiers == 2:
        return leaf_spine(radix, half, half, 1, mbps, mbps)
    return three_tiers(radix, half, half, half, half, mbps=mbps, port_mbps=mbps)


def dragonfly(
    a: int, p: int, h: int, groups: int | None = None, local: int = 1, mbps: int = MBPS, port_mbps: int = MBPS
) -> Network:
    """Groups of ``a`` switches with ``p`` endpoints and ``h`` global links, joined to each other by ``local`` links.

    ``groups``: default ``a*h + 1``. Raises ``ValueError`` for more than that. Global ports are in the order of the
    switches; port q of group i leads to group i + offset(q), see ``global_links``. Source: Kim, Dally, Scott, Abts,
    "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
    """
    count = a * h + 1 if groups is None else groups
    inside = np.array(list(combinations(range(a), 2)), dtype=np.int64).reshape(-1, 2)
    first = np.arange(count) * a
    inner = (first[:, np.newaxis] + inside[:, 0]).ravel(), (first[:, np.newaxis] + inside[:, 1]).ravel()
    far = global_links(count, a * h)
    ends = [far[:, 0] * a + far[:, 1] // h, far[:, 2] * a + far[:, 3] // h] if len(far) else [first[:0], first[:0]]
    speed = np.concatenate([np.full(len(inner[0]), local * mbps), np.full(len(ends[0]), mbps)])
    low, high = (np.concatenate([inner[side], ends[side]]) for side in (0, 1))
    return network_of(low, high, speed, [p] * (a * count), port_mbps, _lengths(len(inner[0]), len(ends[0])))


def dragonfly_plus(
    groups: int, leaves: int, spines: int, hosts: int, global_ports: int, mbps: int = MBPS, port_mbps: int = MBPS
) -> Network:
    """Groups that are a leaf-spine network each, spines having ``global_ports`` links to other groups.

    Source: Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017.
    """
    size = leaves + spines
    first = np.arange(groups)[:, np.newaxis] * size
    leaf, spine = _pairs(np.arange(leaves), leaves + np.arange(spines))
    far = global_links(groups, spines * global_ports)
    ends = [far[:, side] * size + leaves + far[:, side + 1] // global_ports for side in (0, 2)]
    a, b = np.concatenate([(first + leaf).ravel(), ends[0]]), np.concatenate([(first + spine).ravel(), ends[1]])
    lengths = _lengths(groups * len(leaf), len(far))
    return network_of(a, b, mbps, ([hosts] * leaves + [0] * spines) * groups, port_mbps, lengths)


def _lengths(local: int, between: int) -> Ints:
    """Of links within groups, and between them."""
    return np.concatenate([np.ones(local, dtype=np.int64), np.full(between, GLOBAL_LENGTH)])


def global_links(groups: int, ports: int) -> Ints:
    """Links between groups that have so many global ports each: rows (group, port, group, port), each link once.

    Ports come in turns of ``groups - 1``: port q of a turn of group i leads to group i + q + 1, and meets there port
    ``groups - 2 - q`` of the same turn, so every pair of groups has one link a turn. Of the last, short turn of R ports
    the offsets are +1, -1, +2, -2 ...; an odd one leads to the group opposite, and stays free where there is none.
    Raises ``ValueError`` for a group with fewer ports than other groups.
    """
    others = groups - 1
    if others < 1:
        return np.zeros((0, 4), dtype=np.int64)
    if ports < others:
        raise ValueError(f"{groups} groups need {others} global ports each, and have {ports}")
    turns, rest = divmod(ports, others)
    offsets, partner = [], []
    for turn in range(turns):
        offsets += [q + 1 for q in range(others)]
        partner += [turn * others + others - 1 - q for q in range(others)]
    last = turns * others
    for q in range(rest - rest % 2):
        offsets.append(q // 2 + 1 if q % 2 == 0 else groups - q // 2 - 1)
        partner.append(last + (q + 1 if q % 2 == 0 else q - 1))
    if rest % 2 and groups % 2 == 0:
        offsets.append(groups // 2)
        partner.append(last + rest - 1)
    port, offset, other = np.arange(len(offsets)), np.array(offsets), np.array(partner)
    group = np.repeat(np.arange(groups), len(port))
    port, offset, other = (np.tile(each, groups) for each in (port, offset, other))
    rows: Ints = np.stack([group, port, (group + offset) % groups, other], axis=1)
    return rows[rows[:, 0] * ports + rows[:, 1] < rows[:, 2] * ports + rows[:, 3]]


def torus(sides: Sequence[int], hosts: int, links: int = 1, mbps: int = MBPS, port_mbps: int = MBPS) -> Network:
    """A torus of any dimensions, neighbours joined by ``links`` links. Raises ``ValueError`` for a side below 3.

    Source: Dally and Towles, "Principles and practices of interconnection networks", 2004, chapter 5.
    """
    if min(sides) < 3:
        raise ValueError(f"a torus with a side of {min(sides)} has two links between the same switches: use 3 or more")
    node = np.arange(prod(sides)).reshape(sides)
    ends = [(node.ravel(), np.roll(node, -1, axis).ravel()) for axis in range(len(sides))]
    a, b = (np.concatenate([one[side] for one in ends]) for side in (0, 1))
    return network_of(a, b, links * mbps, [hosts] * node.size, port_mbps)


def hyperx(
    sides: Sequence[int], hosts: int, links: Sequence[int] | int = 1, mbps: int = MBPS, port_mbps: int = MBPS
) -> Network:
    """Switches on a lattice; along dimension i all S_i of a line are joined to each other by ``links[i]`` links.

    Source: Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC 2009.
    """
    of_pair = [links] * len(sides) if isinstance(links, int) else list(links)
    node = np.arange(prod(sides)).reshape(sides)
    a, b, speed = [], [], []
    for axis, side in enumerate(sides):
        lines = np.moveaxis(node, axis, -1).reshape(-1, side)
        for place, other in combinations(range(side), 2):
            a.append(lines[:, place])
            b.append(lines[:, other])
            speed.append(np.full(len(lines), of_pair[axis] * mbps))
    return network_of(np.concatenate(a), np.concatenate(b), np.concatenate(speed), [hosts] * node.size, port_mbps)


def rail_only(rails: int, servers: int, mbps: int = MBPS) -> tuple[Network, ...]:
    """A switch for every rail, with a port of every server; rails do not meet, so each is a network of its own.

    Source: Wang et al., "Rail-only: a low-cost high-performance network for training LLMs", 2023.
    """
    return (network_of([], [], [], [servers], mbps),) * rails


def _pairs(some: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Every one with every other."""
    return np.repeat(some, len(others)), np.tile(others, len(some))
