"""The kinds of links of a Clos candidate: quantities of each, and the open choices of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.switches import CageUse
from fabopt.problem.problem import Problem
from fabopt.schema.homing import CABLES_OF_PEER_LINK, PEER_LINK
from fabopt.topology.candidate import Choice, Option
from fabopt.topology.clos.cabling import LinkType, numbers_of
from fabopt.topology.clos.joins import server_assemblies
from fabopt.topology.clos.kind_links import KindLinks
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Parts, Shape, down_cage_limit, up_cage_limit
from fabopt.topology.clos.stage_links import StagedLinks
from fabopt.topology.link_parts import Need, PeerLinks, Side

TWO = 2


def kind_choices(problem: Problem, clos: ClosNetwork, kind: LinkType, prune: bool) -> Sequence[Choice] | None:
    """Choices for the links of a kind, over their runs; None if they cannot be made."""
    links = links_of_kind(problem, clos, kind)
    if links is None:
        return None
    staged = staged_links(problem, clos, links) if clos.stages else None
    if clos.stages and staged is None:
        return None
    choices = links.choices(prune) if staged is None else staged.choices()
    return choices if choices is None or kind.scope is None else [_scoped(choice, kind.scope) for choice in choices]


def _scoped(choice: Choice, scope: str) -> Choice:
    """A choice whose rows state the scope of links between switches of one role."""
    options = (Option(tuple(row._replace(scope=scope) for row in option.rows)) for option in choice.options)
    return replace(choice, options=tuple(options))


def links_of_kind(problem: Problem, clos: ClosNetwork, kind: LinkType) -> KindLinks | None:
    """The links of a kind with their runs; None if nothing on sale is long enough for one of them."""
    return clos.placement.links(problem, kind, partial(assemblies_over, problem, clos, kind))


def staged_links(problem: Problem, clos: ClosNetwork, links: KindLinks) -> StagedLinks | None:
    """The links of a kind with their stages; None if nothing on sale is long enough for one of them."""
    cabling = links.cabling(numbers_of(clos.parts.nic, clos.shape))
    return None if cabling is None else StagedLinks(problem, links, cabling, clos.stages)


def assemblies_over(
    problem: Problem, clos: ClosNetwork, kind: LinkType, run_m: float, all_: bool
) -> Sequence[Assembly]:
    """Assemblies of a kind of links over a run; ``all_``: with dominated ones."""
    assemblies = problem.links.assemblies(*kind.ports, run_m, clos.parts.protocol, all_)
    if kind.mixes or kind.crossed:
        assemblies = tuple(assembly for assembly in assemblies if (assembly.mode is Mode.CROSS) == kind.crossed)
    if kind.name != "server-leaf":
        return assemblies
    suited = server_assemblies(assemblies, clos.parts.nic, int(clos.shape.k))
    return server_assemblies(suited, clos.parts.nic, int(clos.shape.last_k))


def kinds_of(clos: ClosNetwork) -> tuple[LinkType, ...]:
    """The kinds of links from the servers up, attachments left out."""
    kinds = [server_leaf(clos, down_limit(clos.parts, clos.shape))]
    if clos.tiers > 1:
        kinds.append(leaf_spine(clos))
    if clos.tiers > 2:
        kinds.append(spine_core(clos))
    return tuple(kinds)


def all_kinds_of(clos: ClosNetwork) -> tuple[LinkType, ...]:
    """The kinds of links from the servers up, and the peer links of leaves; attachments left out."""
    return kinds_of(clos) if clos.parts.leaf.peers is None else (*kinds_of(clos), leaf_leaf(clos))


def leaf_leaf(clos: ClosNetwork) -> LinkType:
    """The peer links between the leaves of each pair: two cables, every end in a cage of its own.

    Rule ``pairs_are_joined``.
    """
    port, cages = peer_use(clos.parts).port, CABLES_OF_PEER_LINK * int(clos.parts.nic.planes * clos.shape.leaves) // TWO
    side = Side((PeerLinks(cages, 1, 1, 0),), port.ports, 1)
    key = ("leaf-leaf", port, clos.parts.protocol)
    return LinkType("leaf-leaf", ("leaf", "leaf"), (port, port), Need(side, side), False, key, PEER_LINK)


def peer_use(parts: Parts) -> CageUse:
    """Use of the cages of peer links: that of uplinks; on one tier that of the fastest ports."""
    peers = parts.leaf.peers
    use = parts.leaf_up if parts.leaf_up is not None or peers is None else peers.alone
    assert use is not None
    return use


def down_limit(parts: Parts, shape: Shape) -> int:
    """Cages of a leaf for down links."""
    if parts.leaf_up is None:
        return parts.leaf_down.cages
    return int(down_cage_limit(parts.leaf_down, parts.leaf_up, shape.u))


def server_leaf(clos: ClosNetwork, limit: int) -> LinkType:
    """Links between servers and leaves; ``limit``: cages of a leaf for down links."""
    nic, down, shape = clos.parts.nic, clos.parts.leaf_down, clos.shape
    n, bundles = down.lane.ports, {nic.bundle(int(k)) for k in (shape.k, shape.last_k)}
    mixes = nic.port.ports == n and not any(together % n for together in bundles)
    key = ("server-leaf", nic.port, down.port, clos.parts.protocol, mixes, *sorted(bundles))
    last_limit = down_limit(clos.parts.of_last, shape.of_last) if shape.has_own_last else None
    need = shape.server_leaf(nic, n, limit, last_limit)
    return LinkType("server-leaf", ("server", "leaf"), (nic.port, down.port), need, mixes, key)


def leaf_spine(clos: ClosNetwork) -> LinkType:
    """Links between leaves and spines."""
    parts, shape = clos.parts, clos.shape
    up, down = parts.leaf_up, parts.spine_down
    assert up is not None and down is not None
    spine_limit = down.cages if parts.spine_up is None else int(down_cage_limit(down, parts.spine_up, shape.x))
    spine_limit -= clos.attached_spine_cages
    leaf_limit = int(up_cage_limit(parts.leaf_down, up, clos.occupied_ports + clos.reserved_ports))
    last_down = clos.last_occupied + clos.last_reserved
    of_last = parts.of_last
    assert of_last.leaf_up is not None
    last_limit = int(up_cage_limit(of_last.leaf_down, of_last.leaf_up, last_down)) if shape.has_own_last else None
    need = shape.leaf_spine(up.lane.ports, leaf_limit, down.lane.ports, spine_limit, last_limit)
    n = up.lane.ports
    whole = not any(int(links) % n for links in (shape.links_per_pair, shape.last_links_per_pair))
    mixes = bool(down.lane.ports == n and not shape.is_uneven and whole)
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return LinkType("leaf-spine", ("leaf", "spine"), (up.port, down.port), need, mixes, key)


def spine_core(clos: ClosNetwork) -> LinkType:
    """Links between spines and cores."""
    parts, shape = clos.parts, clos.shape
    up, down, below = parts.spine_up, parts.core_down, parts.spine_down
    assert up is not None and down is not None and below is not None
    spine_limit = int(up_cage_limit(below, up, shape.spine_down + clos.attached_spine_cages * below.lane.ports))
    need = shape.spine_core(up.lane.ports, spine_limit, down.lane.ports, down.cages)
    mixes = bool(up.lane.ports == down.lane.ports and shape.m2 % up.lane.ports == 0)
    key = ("spine-core", up.port, down.port, parts.protocol, mixes)
    return LinkType("spine-core", ("spine", "core"), (up.port, down.port), need, mixes, key)
