"""Layouts around what is in service: it keeps its racks, and what is new has those that are left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fabopt.floor.airflow import HallAir
from fabopt.floor.layouts import Layout, reachable
from fabopt.floor.policies import WHOLE
from fabopt.floor.racks import Ints, Positions, height_m
from fabopt.floor.standing import Neighbours, StandingFabric, StandingHost
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_stages import of_cores, of_leaves, of_spines
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.live import InService
from fabopt.problem.problem import Problem
from fabopt.schema.installed import fabric_at
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.in_service import first_stage
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.switch_sizes import switch_sizes


def standing_of(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> StandingFabric | None:
    """What of a fabric is in service on the floor of a problem; None without a base.

    ``parts``, ``shape``: of a network that goes on from it.
    """
    there, plan = fabric.live.in_service, problem.floor.plan
    if there is None or not there.server_racks:
        return None
    sizes = switch_sizes(problem, fabric, parts)
    of_tiers = zip(sizes, (there.whole.places.leaf, there.whole.places.spine, there.whole.places.core), strict=False)
    tiers = tuple(
        Positions(plan.indices(rack for rack, _ in places), unit, height_m(unit, size.height_u))
        for size, places in of_tiers
        for unit in (np.array([lowest for _, lowest in places], dtype=np.int64),)
        if places
    )
    first = first_stage(there.fabric, there.servers)
    racks, sizes = plan.indices(there.server_racks), sizes[: len(tiers)]
    none = tuple(np.zeros(len(own.rack), dtype=np.int64) for own in tiers)
    hosts = tuple(_hosts(problem, fabric, there))
    standing = StandingFabric(racks, tiers, there.whole.clos, there.sizes[-1], first, sizes, none, hosts)
    if not any(size.there for size in sizes):
        return standing
    products = _products(fabric, there, standing.as_planned(numbers_of(parts.nic, shape)))
    return replace(standing, products=tuple(products))


def _products(fabric: FabricProblem, there: InService, numbers: ClosNumbers) -> Iterator[Ints]:
    """The product of every switch that the file plans, tier by tier, as a number of those in service; 0 of others."""
    names = [one.stage for one in there.whole.growth] or there.stages
    stages = [first_stage(fabric_at(there.whole, number), servers) for number, servers in enumerate(there.sizes)]
    for tier, of_tier in zip(there.whole.tiers, (of_leaves, of_spines, of_cores), strict=False):
        stage = of_tier(numbers, stages, np.arange(tier.count))
        ids = tier.products({name: np.flatnonzero(stage == number).tolist() for number, name in enumerate(names)})
        beside = None if fabric.interchangeable is None else fabric.interchangeable.beside.get(tier.role)
        known = {own.id: number for number, (own, _) in enumerate(beside.standing)} if beside else {}
        yield np.array([known.get(id_, 0) for id_ in ids], dtype=np.int64)


def _hosts(problem: Problem, fabric: FabricProblem, there: InService) -> Iterator[StandingHost]:
    """Devices in service that stand with switches."""
    hosts, plan = problem.floor.appliances.hosts, problem.floor.plan
    for name, places in there.whole.places.attachments.items():
        if (fabric.name, name) in hosts:
            load = hosts[fabric.name, name].load
            yield from (StandingHost(plan.rack_index(rack), unit, load) for rack, unit in places)


def beside(layouts: Iterable[Layout], standing: Sequence[StandingFabric], index: int) -> list[Layout]:
    """The different layouts in which new servers and switches are beside those in service; of several fabrics, of which
    this is number ``index``, as many for each.
    """
    every = [around for one in layouts for around in _around(one, standing, index)]
    return every if len(standing) > 1 else list({layout.key_on_plan: layout for layout in every}.values())


def _around(layout: Layout, standing: Sequence[StandingFabric], index: int) -> Iterator[Layout]:
    """A layout whose racks of servers begin with those in service, if there are enough others: first those that it has
    servers in, then free ones, those that it keeps for switches, and those below switches in service last; or of these
    those that it has servers in first.
    """
    own, plan = standing[index].server_racks, layout.plan
    taken = np.unique(np.concatenate([one.switch_racks for one in standing]))
    free = reachable(plan)
    if plan.server_racks is not None:
        free = plan.server_racks[np.isin(plan.server_racks, free)]
    elif isinstance(plan.floor.network_racks, tuple):
        free = _without(free, plan.network_racks())
    lowest = np.minimum.reduce([one.lowest_units(len(plan), plan.limits) for one in standing])
    above = lowest > layout.server_size.units
    full, missing = taken[~above[taken]], max(0, len(layout.server_racks) - len(own))
    apart = _without(np.concatenate([layout.server_racks, _without(free, layout.switch_racks), free]), taken)
    pins = {tier: _joined(standing[index].racks_of(tier), named) for tier, named in layout.pins.items()}
    if len(standing) > 1:
        layout = replace(layout, share=WHOLE, neighbours=Neighbours(tuple(standing), layout.share))
    for first in ((), layout.server_racks):
        in_turn = np.concatenate([np.array(first, dtype=np.int64), apart, free])
        new = _without(in_turn, np.concatenate([own, full]))[:missing]
        left = _without(layout.switch_racks, _without(new, layout.server_racks))
        racks, for_switches = np.concatenate([own, new]), _joined(taken, left)
        if len(racks) == len(layout.server_racks) and all(_may_blow(layout.air, one, racks) for one in standing):
            yield replace(layout, server_racks=racks, switch_racks=for_switches, pins=pins, standing=standing[index])


def _may_blow(air: HallAir, standing: StandingFabric, server_racks: Ints) -> bool:
    """Whether the switches of a fabric in service may be where they are, with these racks of servers.

    Rule ``racks_blow_one_way``.
    """
    tiers = zip(standing.tiers, standing.sizes, strict=True)
    return all(
        not size.airflows or bool(air.takes(size.airflows, np.isin(own.rack, server_racks)).all())
        for own, size in tiers
    )


def _without(racks: Ints, others: Ints) -> Ints:
    """The racks that are none of ``others``, each once, in their order, shape (racks found,)."""
    left = [rack for rack in dict.fromkeys(racks.tolist()) if rack not in set(others.tolist())]
    return np.array(left, dtype=np.int64)


def _joined(first: Ints, others: Ints) -> Ints:
    """Racks and others, each once, in their order, shape (racks found,)."""
    return np.array(list(dict.fromkeys([*first.tolist(), *others.tolist()])), dtype=np.int64)
