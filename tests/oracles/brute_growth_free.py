"""Attachments on free ports of a growing cluster, port by port: they are there from the first stage on, and outside the
ratio. Nothing of fabopt is imported. Scope: cages of switches, and of attachments, have one port.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.oracles.brute_cable_runs import Laying, Plan
from tests.oracles.brute_endpoints import attachment_cage, attachment_speeds_fit, attachment_ways
from tests.oracles.brute_force import Structure
from tests.oracles.brute_free_ports import Host, tier_of
from tests.oracles.brute_parts import Json, Kind, Unit, mixed


def links_of_spines(laying: Laying, plan: Plan) -> Counter[Any]:
    """The most links that any stage has on every spine, by plane, pod and number."""
    s = laying.s
    most: Counter[Any] = Counter()
    for _, (_, *spine), stages in laying.leaf_pairs():
        most[tuple(spine)] += len(stages)
    before: dict[int, int] = {}
    for number, stage in enumerate(plan if s.u % s.spines_per_pod == 0 else ()):
        before = laying.led_to(stage, before)
        for plane in range(s.planes):
            for pod in range(s.pods):
                leaves = sum(laying.of_group(group) <= number for group, _ in laying.leaves_of_pod(pod))
                for spine, links in Counter(before.values()).items():
                    most[plane, pod, spine] = max(most[plane, pod, spine], leaves * links)
    return most


def hosts_at_first(space: Any, structure: Structure, plan: Plan) -> list[Host]:
    """Leaves and spines of the first stage, beside all that they have at any."""
    laying, s, hosts = Laying(structure, plan), structure, []
    rails = s.leaves // s.groups
    leaves = space.leaves_with(space.last, s.g, rails, s.planes)
    for number, (servers, dealt) in enumerate(leaves):
        if laying.of_group(number // rails % s.groups) == 0:
            used = servers * s.k + sum(dealt) + s.reserved
            hosts.append(Host("leaf", number, s.leaf, used, s.u))
    if s.spine is not None:
        for number, ((_, pod, index), links) in enumerate(sorted(links_of_spines(laying, plan).items())):
            if laying.of_spine(pod, index) == 0:
                hosts.append(Host("spine", number, s.spine, links, s.x))
    return hosts


def hosted(space: Any, structure: Structure, plan: Plan) -> list[tuple[int, tuple[Unit, ...]]] | None:
    """What the attachments' links take, as classes of units; None if they find too few ports."""
    if not attachment_speeds_fit(space.hosted, structure.leaf.down.cage.speed):
        return None
    hosts = hosts_at_first(space, structure, plan)
    taken: Counter[tuple[str, int]] = Counter()
    classes: list[tuple[int, tuple[Unit, ...]]] = []
    for at, attachment in enumerate(space.hosted):
        ways = {host: units(space, structure, attachment, host.tier) for host in hosts}
        wanted = [host for host in hosts if tier_of(attachment) in ("any", host.tier) and ways[host] is not None]
        for _ in range(attachment["ports"]):
            open_ = [host for host in wanted if host.takes(at, counted=False)]
            if not open_:
                return None
            best = min(open_, key=lambda one: (taken[one.tier, one.number], -one.free, one.tier, one.number))
            best.take(at, counted=False)
            taken[best.tier, best.number] += 1
            classes += [(1, ways[best])] if ways[best] else []
    return classes


def units(space: Any, structure: Structure, attachment: Json, tier: str) -> tuple[Unit, ...] | None:
    """Ways to make a link to a tier; None if there are none, nothing where nothing is bought."""
    leaf, spine = structure.leaf, structure.spine
    box = leaf if tier == "leaf" or spine is None else spine
    if box.down.cage.speed != leaf.down.cage.speed:
        return None
    if attachment.get("buys", "both") == "none":
        return ()
    run, far = space.run(f"attachment-{tier}"), attachment_cage(attachment)
    ways = [way for way in attachment_ways(box.down.cage, attachment, run, space.joiner) if way is not None]
    kind = Kind(box.down.cage, far or box.down.cage, run, (), ())
    mode = mixed(kind, [(1, 1)], ways, "", attachment.get("buys", "both"))
    return None if mode is None else mode.classes[0][1]
