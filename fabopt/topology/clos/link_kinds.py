"""The kinds of links of a Clos candidate: what each needs, and what is left to choose for it."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.parts.assemblies import Assembly
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Choice, choices_of
from fabopt.topology.clos.floor_links import Kind, cabling_of, floor_choices, numbers_of
from fabopt.topology.clos.joins import run_of, server_assemblies
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Parts, Shape, down_cage_limit, up_cage_limit
from fabopt.topology.clos.stage_links import StagedLinks, flat_cabling


def kind_choices(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: Kind, prune: bool
) -> Sequence[Choice] | None:
    """Choices for the links of a kind: over the site's flat run, or over the runs of a floor."""
    if clos.stages:
        return _staged_choices(problem, fabric, clos, kind)
    if clos.standing is None:
        assemblies = assemblies_over(problem, clos, kind, run_of(fabric, kind.name), False)
        return choices_of(kind.need, assemblies, kind.ends, kind.key, kind.mixes, prune)
    cabling = cabling_of(problem, clos.standing, kind)
    if cabling is None:
        return None
    return floor_choices(problem, cabling, lambda run_m, all_: assemblies_over(problem, clos, kind, run_m, all_))


def _staged_choices(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: Kind) -> Sequence[Choice] | None:
    """Choices for the links of a kind that come stage by stage."""
    links = staged_links(problem, fabric, clos, kind)
    if links is None:
        return None

    def joins(run_m: float, all_: bool) -> Sequence[Assembly]:
        return assemblies_over(problem, clos, kind, run_m if links.on_floor else run_of(fabric, kind.name), all_)

    return links.choices(joins)


def staged_links(problem: Problem, fabric: FabricProblem, clos: ClosNetwork, kind: Kind) -> StagedLinks | None:
    """The links of a kind with their stages; None if some run is too long for everything on sale."""
    run_m = None
    if clos.standing is not None:
        cabling = cabling_of(problem, clos.standing, kind)
    else:
        run_m = run_of(fabric, kind.name)
        cabling = flat_cabling(problem, numbers_of(clos.parts.nic, clos.shape), kind, run_m)
    return None if cabling is None else StagedLinks(problem, cabling, clos.stages, run_m)


def assemblies_over(problem: Problem, clos: ClosNetwork, kind: Kind, run_m: float, all_: bool) -> Sequence[Assembly]:
    """Assemblies of a kind of links over a run; ``all_``: with those that others beat."""
    assemblies = problem.links.assemblies(*kind.ports, run_m, clos.parts.protocol, all_)
    if kind.name != "server-leaf":
        return assemblies
    return server_assemblies(assemblies, clos.parts.nic, int(clos.shape.k))


def kinds_of(clos: ClosNetwork) -> tuple[Kind, ...]:
    """The kinds of links from the servers up, attachments left aside."""
    kinds = [server_leaf(clos, down_limit(clos.parts, clos.shape))]
    if clos.tiers > 1:
        kinds.append(leaf_spine(clos))
    if clos.tiers > 2:
        kinds.append(spine_core(clos))
    return tuple(kinds)


def down_limit(parts: Parts, shape: Shape) -> int:
    """Cages of a leaf for down links."""
    if parts.leaf_up is None:
        return parts.leaf_down.cages
    return int(down_cage_limit(parts.leaf_down, parts.leaf_up, shape.u))


def server_leaf(clos: ClosNetwork, limit: int) -> Kind:
    """Links between servers and leaves; ``limit``: cages of a leaf for down links."""
    nic, down, shape = clos.parts.nic, clos.parts.leaf_down, clos.shape
    n, together = down.lane.ports, nic.bundle(int(shape.k))
    mixes = nic.port.ports == n and together % n == 0
    key = ("server-leaf", nic.port, down.port, clos.parts.protocol, mixes, together)
    need = shape.server_leaf(nic, n, limit)
    return Kind("server-leaf", ("server", "leaf"), (nic.port, down.port), need, mixes, key)


def leaf_spine(clos: ClosNetwork) -> Kind:
    """Links between leaves and spines."""
    parts, shape = clos.parts, clos.shape
    up, down = parts.leaf_up, parts.spine_down
    assert up is not None and down is not None
    spine_limit = down.cages if parts.spine_up is None else int(down_cage_limit(down, parts.spine_up, shape.x))
    leaf_limit = int(up_cage_limit(parts.leaf_down, up, clos.down_ports + clos.reserved_ports))
    need = shape.leaf_spine(up.lane.ports, leaf_limit, down.lane.ports, spine_limit)
    n = up.lane.ports
    even = shape.u % shape.spines == 0
    mixes = bool(down.lane.ports == n and even and shape.links_per_pair % n == 0)
    key = ("leaf-spine", up.port, down.port, parts.protocol, mixes)
    return Kind("leaf-spine", ("leaf", "spine"), (up.port, down.port), need, mixes, key)


def spine_core(clos: ClosNetwork) -> Kind:
    """Links between spines and cores."""
    parts, shape = clos.parts, clos.shape
    up, down, below = parts.spine_up, parts.core_down, parts.spine_down
    assert up is not None and down is not None and below is not None
    spine_limit = int(up_cage_limit(below, up, shape.spine_down))
    need = shape.spine_core(up.lane.ports, spine_limit, down.lane.ports, down.cages)
    mixes = bool(up.lane.ports == down.lane.ports and shape.m2 % up.lane.ports == 0)
    key = ("spine-core", up.port, down.port, parts.protocol, mixes)
    return Kind("spine-core", ("spine", "core"), (up.port, down.port), need, mixes, key)
