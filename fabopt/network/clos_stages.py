"""The stage of each device and each link of a growing Clos, counted from 0.

Devices are counted in the order in which they are added (``fabopt.network.clos_links``), so the devices of a stage
follow from a few numbers; a link is there as soon as both its ends are. Arrays of devices' numbers and of their stages
have shape (devices asked,), those of links shape (links,).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers, Ints, TierLinks, downlinks_of_spines, leaf_spine
from fabopt.units import ceil_div


class StageNumbers(NamedTuple):
    """The devices of one stage: servers; spines of every pod that there is; cores of every core group.

    No spines: a single leaf in every plane joins all servers. No cores: one pod, or no pods. ``pair_links``: links from
    a leaf to each spine where they are more than at the last stage (recabling allowed), else 0.
    """

    servers: int
    spines: int = 0
    group_cores: int = 0
    pair_links: int = 0


Stages = Sequence[StageNumbers]


def _first_past(amounts: Sequence[int], index: Ints) -> Ints:
    """The first stage whose amount is above ``index``; ``amounts`` never fall."""
    return np.searchsorted(np.array(amounts), index, side="right")


def of_servers(stages: Stages, number: Ints) -> Ints:
    """Stage of each server, by its number."""
    return _first_past([stage.servers for stage in stages], number)


def of_leaves(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each leaf: that of the first server of its group."""
    return of_servers(stages, n.first_servers(n.group_of_leaf(number)))


def of_spines(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each spine: the first with its pod, and with its index among the spines of a pod."""
    pod, index = number // n.spines % n.pods, number % n.spines
    block = pod // n.rails if n.rail_pods else pod
    its_pod = of_servers(stages, n.first_servers(block * n.groups_per_pod))
    return np.maximum(its_pod, _first_past([stage.spines for stage in stages], index))


def of_cores(n: ClosNumbers, stages: Stages, number: Ints) -> Ints:
    """Stage of each core: the first with spines of its group, and with its index among the cores of a group."""
    group, index = number % n.cores // n.cores_per_group, number % n.cores_per_group
    groups = [ceil_div(stage.spines, n.q) if stage.group_cores else 0 for stage in stages]
    return np.maximum(_first_past(groups, group), _first_past([stage.group_cores for stage in stages], index))


def of_links(n: ClosNumbers, stages: Stages, kind: str, links: TierLinks) -> Ints:
    """Stage of each link of a kind: the later one of its ends', or that at which it is lent to another spine."""
    a, b = links.a, links.b
    if kind == "server-leaf":
        return np.asarray(np.maximum(of_servers(stages, a), of_leaves(n, stages, b)))
    if kind == "leaf-leaf":
        return of_leaves(n, stages, a)
    if kind == "spine-core":
        return np.asarray(np.maximum(of_spines(n, stages, a), of_cores(n, stages, b)))
    reached = of_spines(n, stages, b)
    if any(stage.pair_links for stage in stages):
        first = np.argmax(spine_of_uplinks(n, stages) >= 0, axis=0)
        reached = np.minimum(reached, first[links.a_slot])
    return np.asarray(np.maximum(of_leaves(n, stages, a), reached))


def spine_of_uplinks(n: ClosNumbers, stages: Stages) -> Ints:
    """The spine of a pod that each uplink of a leaf leads to at each stage, shape (stages, u); -1: not plugged in.

    An uplink whose spine is there leads to it. Where a stage has fewer spines with more links each, the next uplinks in
    order are lent to these spines: to the one that they are at if it still has room, else to the emptiest.
    """
    of_pair = n.u // n.spines
    home = np.arange(n.u) // of_pair
    hosts = np.full((len(stages), n.u), -1)
    for number, stage in enumerate(stages):
        own = home < stage.spines
        hosts[number, own] = home[own]
        most = stage.pair_links or of_pair
        load = [of_pair] * stage.spines
        lent = range(stage.spines * of_pair, stage.spines * most)
        before = hosts[number - 1] if number else hosts[0] * 0 - 1
        waiting = []
        for uplink in lent:
            host = int(before[uplink])
            if host >= 0 and load[host] < most:
                hosts[number, uplink] = host
                load[host] += 1
            else:
                waiting.append(uplink)
        for uplink in waiting:
            host = load.index(min(load))
            hosts[number, uplink] = host
            load[host] += 1
    return hosts


def moves_of_a_leaf(n: ClosNumbers, stages: Stages) -> list[int]:
    """Uplinks of a leaf of an earlier stage that are recabled to another spine, by stage."""
    hosts = spine_of_uplinks(n, stages)
    changed = (hosts[1:] != hosts[:-1]) & (hosts[:-1] >= 0)
    return [0, *changed.sum(axis=1).tolist()]


def most_links_of_spines(n: ClosNumbers, stages: Stages) -> Ints:
    """Most links of every spine to leaves at any stage, its own and those lent to it, shape (spines,)."""
    most = downlinks_of_spines(n)
    pod, index = np.arange(len(most)) // n.spines % n.pods, np.arange(len(most)) % n.spines
    leaves = np.arange(n.leaves)
    for number, stage in enumerate(stages):
        there = n.pod_of_leaf(leaves[of_leaves(n, stages, leaves) <= number])
        links = np.bincount(there, minlength=n.pods)[pod] * stage.pair_links
        most = np.maximum(most, np.where(index < stage.spines, links, 0))
    return most


class LentUplinks(NamedTuple):
    """Links that are plugged in at another spine before their own spine is there, in arrays of shape (times lent,).

    ``link`` is the row of the link; ``first`` to ``last`` are stages; ``spine`` counts over all pods and planes, and
    ``slot`` among its down ports.
    """

    link: Ints
    first: Ints
    last: Ints
    spine: Ints
    slot: Ints


def lent_links(n: ClosNumbers, stages: Stages, links: TierLinks, ports: int | Ints) -> LentUplinks:
    """Spines and slots that leaf-spine links are lent to, from the last of a spine's ``ports`` downwards, an integer or
    an array of shape (spines,).

    Links that stay longest come first: links that have to make room for the spine's own are then gone when these come.
    """
    rows = _times_lent(n, stages, links)
    slots = np.zeros(len(rows), dtype=np.int64)
    most = np.broadcast_to(ports, n.planes * n.pods * n.spines)
    # bit i of a number: whether port i, counted from the last one, is taken at a stage
    taken: dict[int, list[int]] = {}
    for row in sorted(range(len(rows)), key=lambda row: -rows[row][2]):
        _, first, last, spine = rows[row]
        of_spine = taken.setdefault(spine, [0] * len(stages))
        used = 0
        for number in range(first, last + 1):
            used |= of_spine[number]
        free = ~used & (used + 1)
        slots[row] = most[spine] - free.bit_length()
        for number in range(first, last + 1):
            of_spine[number] |= free
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return LentUplinks(table[:, 0], table[:, 1], table[:, 2], table[:, 3], slots)


def _times_lent(n: ClosNumbers, stages: Stages, links: TierLinks) -> list[list[int]]:
    """Link, first and last stage, and spine of every time that a link is lent."""
    hosts, leaf_stage = spine_of_uplinks(n, stages), of_leaves(n, stages, links.a)
    pod = links.b // n.spines
    rows: list[list[int]] = []
    there: dict[int, list[int]] = {}
    for number in range(len(stages)):
        host = hosts[number][links.a_slot]
        lent = (host >= 0) & (host != links.b % n.spines) & (leaf_stage <= number)
        spine = pod * n.spines + host
        for link in np.flatnonzero(lent).tolist():
            row = there.get(link)
            if row is not None and (row[2], row[3]) == (number - 1, spine[link]):
                row[2] = number
            else:
                there[link] = [link, number, number, int(spine[link])]
                rows.append(there[link])
    return rows


def modules_suffice(n: ClosNumbers, stages: Stages, cages: int, lanes: int) -> bool:
    """Whether links fill, at every stage, no more cages of spines than the links of the last stage have filled by then.

    A spine has ``cages`` of ``lanes`` ports below.
    """
    leaves = np.arange(n.leaves)
    together = np.bincount(n.pod_of_leaf(leaves) * len(stages) + of_leaves(n, stages, leaves))
    # leaves of a stage have their links alike, so these fill whole cages
    if not (together % lanes).any():
        return True
    links = leaf_spine(n, 1)
    lent, since = lent_links(n, stages, links, cages * lanes), of_links(n, stages, "leaf-spine", links)
    for number in range(len(stages) - 1):
        spine, slot, elsewhere = links.b.copy(), links.b_slot.copy(), (lent.first <= number) & (number <= lent.last)
        spine[lent.link[elsewhere]], slot[lent.link[elsewhere]] = lent.spine[elsewhere], lent.slot[elsewhere]
        used = since <= number
        filled, at_last = (
            len(np.unique(of[used] * cages + at[used] // lanes)) for of, at in ((spine, slot), (links.b, links.b_slot))
        )
        if filled > at_last:
            return False
    return True
