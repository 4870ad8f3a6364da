"""Cables below and above a switch that would each fit its cages, but not together.

Where a cable of several ports joins a pair of devices with fewer links, it takes more cages than its links need; so do
attachments with other parts than the servers beside them. Each kind of link is checked beside the least cages of the
other kind; if both take more, they may be too many. Source: docs/formulation/parts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fabopt.parts.assemblies import Mode
from fabopt.parts.switches import CageUse, cages_beside
from fabopt.topology.candidate import Choice, Clash
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.link_parts import Side


def clashes_of(parts: Parts, shape: Shape, choices: Sequence[Choice]) -> tuple[Clash, ...]:
    """Pairs of options of a candidate that no switch has the cages for; peer links have cages of their own."""
    of_tiers = [choice for choice in choices if choice.options[0].rows[0].scope is None]
    return tuple(dict.fromkeys(_clashes(parts, shape, of_tiers)))


def _clashes(parts: Parts, shape: Shape, choices: Sequence[Choice]) -> Iterator[Clash]:
    if parts.leaf_up is None or parts.spine_down is None:
        return
    up = shape.leaf_spine(parts.leaf_up.lane.ports, 0, parts.spine_down.lane.ports, 0)
    servers = shape.server_leaf(parts.nic, parts.leaf_down.lane.ports, 0)
    kinds = _kinds_of_leaves(shape, servers.far, up.near)
    for place, (own, (below, above)) in enumerate(zip((parts, parts.of_last), kinds, strict=False)):
        if own.leaf_up is not None and own.leaf_up.group == own.leaf_down.group:
            yield from _too_many(choices, "leaf", below, above, (own.leaf_down, own.leaf_up), place)
    if parts.spine_up is not None and parts.core_down is not None and parts.spine_up.group == parts.spine_down.group:
        cores = shape.spine_core(parts.spine_up.lane.ports, 0, parts.core_down.lane.ports, 0)
        yield from _too_many(choices, "spine", up.far, cores.near, (parts.spine_down, parts.spine_up))


def _kinds_of_leaves(shape: Shape, below: Side, above: Side) -> list[tuple[Side, Side]]:
    """Down and up links of the leaves, those of a differing last group as a second pair."""
    if not shape.has_own_last:
        return [(below, above)]
    kinds = zip(below.profiles[:2], above.profiles[:2], strict=True)
    return [(replace(below, profiles=(down,)), replace(above, profiles=(up,))) for down, up in kinds]


def _too_many(
    choices: Sequence[Choice], role: str, below: Side, above: Side, uses: tuple[CageUse, CageUse], kind: int = 0
) -> Iterator[Clash]:
    """Clashes at the switches of a role; ``kind``: index of the leaf kind, 1 for a differing last group."""
    for below_choice in choices:
        for other in choices:
            if below_choice.options[0].rows[0].far == role and other.options[0].rows[0].near == role:
                for a, down in _of_joint(below_choice, kind) or _of_pairs(below_choice, below, True):
                    for b, up in _of_pairs(other, above):
                        if down > cages_beside(*uses, up) or up > uses[1].cages:
                            yield Clash((below_choice.key, a), (other.key, b))


def _of_joint(choice: Choice, kind: int) -> list[tuple[int, int]]:
    """(place, most cages of any leaf of a kind) of options of servers and attachments in cages that they share."""
    places = enumerate(choice.options)
    return [(place, option.leaf_cages[kind]) for place, option in places if option.leaf_cages]


def _of_pairs(choice: Choice, side: Side, above: bool = False) -> Iterator[tuple[int, int]]:
    """(place, most cages of any device) of options that make all links of a kind and may take more cages than these
    fill: cables that join pairs of devices, and shuffles at the devices ``above`` the links.
    """
    for place, option in enumerate(choice.options):
        assembly = option.rows[0].assembly
        if choice.count == 1 and assembly is not None and assembly.mode is Mode.CROSS and above:
            yield place, max(int(np.max(cages)) for cages in side.crossed_cages(assembly.crosses))
        if choice.count == 1 and assembly is not None and assembly.mode is Mode.PAIR:
            cages = [
                int(np.max(side.cages_of_pairs(profile, assembly.ports_per_cable)))
                for profile in side.profiles
                if np.max(profile.devices) > 0
            ]
            yield place, max(cages, default=0)
