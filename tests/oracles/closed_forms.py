"""Closed forms of the families: sizes and bandwidth of regular networks, where they are proven.

Rates are exact, in Mb/s of every endpoint, at most its port's speed. Links run at ``mbps``, endpoints' at
``port_mbps``; E endpoints, n switches. Proofs and sources: docs/bandwidth.md. What a form does not cover is worked out
on the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod


@dataclass(frozen=True)
class Form:
    """Counts, and rates in Mb/s of every endpoint; None where no form is proven.

    ``links``: between switches; ``hops``: switches on the longest shortest path. ``bounds``: names of the rates that
    are not exact, with what they are.
    """

    switches: int
    endpoints: int
    links: int
    hops: int
    permutation: Fraction
    alltoall: Fraction | None
    bisection: Fraction | None
    bounds: tuple[str, ...] = ()


def leaf_spine(leaves: int, spines: int, hosts: int, links: int, mbps: int, port_mbps: int) -> Form:
    """Two tiers: each of L leaves has ``hosts`` endpoints and u = spines x links uplinks.

    A leaf's uplinks bound all: u w / d; leaves are two links apart.
    """
    up, most = Fraction(spines * links * mbps), Fraction(port_mbps)
    endpoints = leaves * hosts
    share = up / hosts
    alltoall = up * (endpoints - 1) / (hosts * (endpoints - hosts))
    return Form(leaves + spines, endpoints, leaves * spines * links, 3,
                min(most, share), min(most, alltoall), min(most, share))  # fmt: skip


def fat_tree(radix: int, tiers: int, mbps: int) -> Form:
    """Trees of full bandwidth: r^2/2 endpoints on 3r/2 switches, r^3/4 on 5r^2/4.

    Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008.
    """
    half, full = radix // 2, Fraction(mbps)
    if tiers == 2:
        return leaf_spine(radix, half, half, 1, mbps, mbps)
    return Form(5 * half**2, 2 * half**3, 4 * half**3, 5, full, full, full)


def torus(sides: Sequence[int], hosts: int, links: int, mbps: int, port_mbps: int) -> Form:
    """Rings of k_i switches along every dimension, 3 at least; the longest one is the bottleneck.

    All-to-all puts n hosts^2 floor(k^2/4) / 2k on every link of a ring. With an even longest side two opposite cuts of
    its rings halve the network, and all-to-all proves that none is less.
    """
    switches, most, dimensions = prod(sides), Fraction(port_mbps), len(sides)
    endpoints, longest, width = switches * hosts, max(sides), links * mbps
    apart = sum(side // 2 for side in sides)
    alltoall = Fraction(2 * longest * width * (endpoints - 1), hosts**2 * switches * (longest**2 // 4))
    cut = Fraction(4 * width, longest * hosts) if longest % 2 == 0 else None
    return Form(
        switches,
        endpoints,
        dimensions * switches * links,
        apart + 1,
        min(most, Fraction(2 * dimensions * width, hosts * apart)),
        min(most, alltoall),
        None if cut is None else min(most, cut),
    )


def hyperx(sides: Sequence[int], hosts: int, links: Sequence[int], mbps: int, port_mbps: int) -> Form:
    """Along dimension i, all S_i switches of a line are joined by K_i links; the least S_i K_i is the bottleneck.

    All-to-all puts n hosts^2 / (S K) on every link of a dimension. With an even side there, halves of its lines are the
    worst cut, as all-to-all proves.
    """
    switches, most = prod(sides), Fraction(port_mbps)
    endpoints = switches * hosts
    joined = [(side, each) for side, each in zip(sides, links, strict=True) if side > 1]
    ports = sum((side - 1) * each for side, each in joined)
    narrow = min(side * each for side, each in joined)
    even = any(side * each == narrow and side % 2 == 0 for side, each in joined)
    return Form(
        switches,
        endpoints,
        switches * ports // 2,
        len(joined) + 1,
        min(most, Fraction(ports * mbps, len(joined) * hosts)),
        min(most, Fraction(narrow * mbps * (endpoints - 1), hosts * endpoints)),
        min(most, Fraction(narrow * mbps, 2 * hosts)) if even else None,
    )


def dragonfly(a: int, p: int, h: int, groups: int, local: int, mbps: int, port_mbps: int) -> Form:
    """Groups of ``a`` switches, all joined; every pair of groups by the same number of global links.

    Worst permutation: all switches are three links apart. All-to-all over minimal paths (for a h + 1 groups): a global
    link carries (a p)^2 pairs, a local one p^2 (1 + 2 a h). Bisection: the cut between halves of the groups.
    """
    switches, most = a * groups, Fraction(port_mbps)
    endpoints, ports = switches * p, a * h * groups
    total = groups * a * (a - 1) // 2 * local + ports // 2
    whole = groups == a * h + 1
    over = min(Fraction(mbps, (a * p) ** 2), Fraction(local * mbps, p**2 * (1 + 2 * a * h))) * (endpoints - 1)
    is_global = (a * p) ** 2 * local >= p**2 * (1 + 2 * a * h)
    across = Fraction(a * h, groups - 1) * (groups - groups // 2) * mbps / (a * p)
    bounds = [] if not whole or is_global or over >= most else ["alltoall: over minimal paths"]
    return Form(
        switches,
        endpoints,
        total,
        4,
        min(most, Fraction((local * (a - 1) + h) * mbps, 3 * p)),
        min(most, over) if whole else None,
        min(most, across),
        (*bounds, "bisection: of cuts between groups"),
    )


def dragonfly_plus(
    groups: int, leaves: int, spines: int, hosts: int, global_ports: int, mbps: int, port_mbps: int
) -> Form:
    """Leaf-spine groups, every pair of them joined by the same number of links between spines.

    Leaves of two groups are three links apart. All-to-all is bounded by what leaves a leaf, and a group.
    """
    most, inside = Fraction(port_mbps), leaves * hosts
    endpoints = groups * inside
    up, out = spines * mbps, spines * global_ports * mbps
    alltoall = min(
        Fraction(up * (endpoints - 1), hosts * (endpoints - hosts)),
        Fraction(out * (endpoints - 1), inside * (endpoints - inside)),
    )
    total = groups * (leaves * spines) + groups * spines * global_ports // 2
    across = Fraction(spines * global_ports, groups - 1) * (groups - groups // 2) * mbps / inside
    return Form(
        groups * (leaves + spines),
        endpoints,
        total,
        4,
        min(most, Fraction(2 * total * mbps, 3 * endpoints)),
        min(most, alltoall),
        min(most, across),
        ("bisection: of cuts between groups",),
    )
