"""A fabric in every layout of the floor that the search looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from fabopt.floor.arrangements import Anywhere, Arrangement, InLayout, InPlaces
from fabopt.floor.group_runs import counted_m
from fabopt.floor.layouts import BESIDE_SERVERS, IN_SERVER_RACKS, Layout, Pins, ServerSize, layouts, racks_for
from fabopt.floor.loads import RackLoad, added, load_of_server, load_of_switch
from fabopt.floor.open_layouts import OpenLayout, open_layouts
from fabopt.floor.policies import (
    Policy,
    Share,
    SwitchSize,
    Tier,
    away_from_servers,
    equal_share,
    racks_by_need,
    shares_by_need,
)
from fabopt.floor.rack_rules import FEWEST_RACKS, RackLimits, limits_if_kept
from fabopt.floor.racks import racks_needed
from fabopt.parts.switches import TIER_ROLES
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.resilience import RACK
from fabopt.topology.clos.around import beside, standing_of
from fabopt.topology.clos.panel_room import differs_with_panels
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.switch_sizes import airs_of, switch_sizes
from fabopt.units import ceil_div

# A candidate of a fabric whose switches could be anywhere: what its switches need is about what all need.
Sketch = tuple[Parts, Shape]
# Over how many racks layouts spread switches that stand in for each other, beside what rule ``rack-spread`` does, where
# something has to be left without a rack.
SPREADS: Final = (2, 4, 8, 16)


def spread(fabric: FabricProblem) -> FabricProblem:
    """The fabric anywhere on the floor, with bounds that know how far apart the servers of a leaf are at least."""
    return _stands(fabric, Anywhere("spread"))


def in_layouts(problem: Problem, fabric: FabricProblem, worth_it: Sequence[Layout]) -> tuple[FabricProblem, ...]:
    """The fabric in each of the layouts ``worth_it``."""
    in_one = with_typical_runs if problem.floor.method == "estimates" else in_layout
    return tuple(in_one(problem, fabric, layout) for layout in worth_it)


def shared_layouts(problem: Problem, index: int, sketches: Sequence[Sketch], counted: Sequence[Sketch]) -> list[Layout]:
    """Layouts with room for the switches of all fabrics; none on too small a floor.

    All fabrics have the same layouts in the same order; that of number ``index`` has its share of every rack: an equal
    one, and one by the needs of its switches. ``sketches``: of all fabrics; ``counted``: with ports for the switches of
    all.
    """
    standing = [standing_of(problem, one, *sketch) for one, sketch in zip(problem.fabrics, sketches, strict=True)]
    worth_it = _layouts_of(problem, index, sketches, counted)
    if problem.floor.panels_fit and _may_lack_room(problem, sketches, worth_it):
        with_room = _layouts_of(problem, index, sketches, counted, with_panels=True)
        worth_it += [replace(layout, keeps_panels=True) for layout in with_room]
    there = [one for one in standing if one is not None]
    return beside(worth_it, there, index) if len(there) == len(standing) else worth_it


def _may_lack_room(problem: Problem, sketches: Sequence[Sketch], worth_it: Sequence[Layout]) -> bool:
    """Whether switches stand in other racks where they leave room for panels; of several fabrics, which have to have
    the same layouts, whether any has links through trunks.
    """
    if problem.floor.ends or not any(problem.case.trunked_of(fabric.name) for fabric in problem.fabrics):
        return False
    alone = len(sketches) == 1
    return not alone or any(differs_with_panels(problem, problem.fabrics[0], *sketches[0], one) for one in worth_it)


def _layouts_of(
    problem: Problem, index: int, sketches: Sequence[Sketch], counted: Sequence[Sketch], with_panels: bool = False
) -> list[Layout]:
    """The layouts of ``shared_layouts``, none of them around what is in service; ``with_panels``: with racks for the
    panels of the switches too.
    """
    floor, pins = problem.floor, _pins(problem, problem.fabrics[index])
    around = (floor.plan, problem.servers, floor.servers_per_rack, _server_size(problem))
    sized = partial(layouts, *around, pins=pins, airs=airs_of(problem))
    of_fabrics = [switch_sums(*sketch) for sketch in sketches]
    hosts = [(one.attachment.boxes, one) for one in floor.appliances.hosts.values()]
    units = sum(one.units for one in of_fabrics) + sum(boxes * one.units for boxes, one in hosts)
    needs = [switch_needs(problem, *of_fabric) for of_fabric in zip(problem.fabrics, counted, strict=True)]
    if with_panels:
        units += ceil(sum(count * size.panels_u for tiers in needs for count, size in tiers))
    else:
        needs = [tuple((count, size._replace(panels_u=0.0)) for count, size in tiers) for tiers in needs]
    load = added((*(one.load for one in of_fabrics), *(one.load.times(boxes) for boxes, one in hosts)))
    switches = sum(one.switches for one in of_fabrics)
    wanted = [
        racks_for(units, load, floor.plan, limits, switches)
        # with rules turned off, the layouts that they would take are looked at too: nothing is dearer without a rule
        for limits in dict.fromkeys((floor.plan.limits, limits_if_kept(problem.case)))
    ]
    equal = equal_share(index, len(sketches))
    outlives = any(survival.failed == RACK for other in problem.fabrics for survival in other.resilience)
    as_the_rule = _spreads_of_the_rule(floor.plan.limits)
    worth_it = [
        layout
        for over in (None, *(SPREADS if outlives else as_the_rule))
        for racks in dict.fromkeys(max(of_limits, min(switches, over or 1)) for of_limits in wanted)
        for layout in sized(racks, lambda policy: equal, over)
    ]
    if len(sketches) > 1:
        racks = racks_by_need(floor.plan, needs)
        for over in (None, *as_the_rule):
            spreading = partial(sized, spread_over=over)
            worth_it += spreading(racks, partial(_share_by_need, problem, index, needs, racks))
            worth_it += _with_leaves_apart(problem, index, needs, spreading)
    return worth_it


def _spreads_of_the_rule(limits: RackLimits) -> tuple[int, ...]:
    """Number of racks over which rule ``rack-spread`` would spread switches, where it, or a part of it, is off; else
    none.
    """
    return () if limits.spread_spines and limits.spread_leaves else (FEWEST_RACKS,)


def _share_by_need(problem: Problem, index: int, needs: Sequence[Sequence[Tier]], racks: int, policy: Policy) -> Share:
    """A fabric's share of every rack by the needs of its switches; leaves may be in racks of servers."""
    floor, with_servers = problem.floor, [policy in IN_SERVER_RACKS] * len(needs)
    server_racks = racks_needed(problem.servers, floor.servers_per_rack)
    return shares_by_need(floor.plan, needs, with_servers, racks, server_racks)[index]


def _with_leaves_apart(
    problem: Problem, index: int, needs: Sequence[Sequence[Tier]], sized: Callable[..., list[Layout]]
) -> Iterator[Layout]:
    """Layouts in which leaves of computing fabrics are with the spines, and those of all others with the servers.

    Computing fabrics have few large leaves, whose groups fill many racks; the others many small ones. None without
    fabrics of both sorts.
    """
    with_servers = [fabric.role != "compute" for fabric in problem.fabrics]
    if all(with_servers) or not any(with_servers):
        return
    floor = problem.floor
    racks = racks_by_need(floor.plan, away_from_servers(needs, with_servers))
    server_racks = racks_needed(problem.servers, floor.servers_per_rack)
    share = shares_by_need(floor.plan, needs, with_servers, racks, server_racks)[index]
    for layout in sized(racks, lambda policy: share):
        if layout.policy not in IN_SERVER_RACKS:
            yield replace(layout, policy=BESIDE_SERVERS) if with_servers[index] else layout


def in_places(problem: Problem, fabric: FabricProblem) -> tuple[FabricProblem, ...]:
    """The fabric on a small floor, its switches free to be in any rack.

    One fabric at once for all sets of racks that may hold servers; several, which have to agree, for one set each.
    """
    floor, size, share = problem.floor, _server_size(problem), _equal_share(problem, fabric)
    around = (floor.plan, problem.servers, floor.servers_per_rack, size)
    permitted = open_layouts(*around, share, _pins(problem, fabric), airs_of(problem))
    if len(problem.fabrics) == 1:
        return (_free_in(problem, fabric, permitted),) if permitted else ()
    return tuple(_free_in(problem, fabric, (layout,)) for layout in permitted)


def _free_in(problem: Problem, fabric: FabricProblem, permitted: tuple[OpenLayout, ...]) -> FabricProblem:
    nearest_m = min(float(layout.nearest_leaf_m.min()) for layout in permitted)
    return _stands(_with_runs(problem, fabric, {"server-leaf": nearest_m}), InPlaces(permitted))


def _server_size(problem: Problem) -> ServerSize:
    server, per_rack = problem.server, problem.floor.servers_per_rack
    return ServerSize(
        float(server.rack_units or 1),
        np.array(server.units_in_rack(per_rack)),
        server.units_kept(per_rack),
        load_of_server(server).times(server.sold_for(per_rack)).limited(problem.floor.plan.most_in_rack),
        server.rack is not None,
    )


def _equal_share(problem: Problem, fabric: FabricProblem) -> Share:
    """A fabric's equal share of every rack."""
    return equal_share([each_fabric.name for each_fabric in problem.fabrics].index(fabric.name), len(problem.fabrics))


def _pins(problem: Problem, fabric: FabricProblem) -> Pins:
    """The racks that the case names for switches of the fabric, by tier from 0."""
    plan = problem.floor.plan
    return {TIER_ROLES.index(tier): plan.indices(racks) for tier, racks in fabric.on_floor.pins.items()}


def _stands(fabric: FabricProblem, arrangement: Arrangement) -> FabricProblem:
    return replace(fabric, on_floor=replace(fabric.on_floor, arrangement=arrangement))


def _with_runs(problem: Problem, fabric: FabricProblem, runs_m: dict[str, float]) -> FabricProblem:
    """The fabric with other runs; runs of one length class count alike, so that fabrics with equal ones share
    bounds.
    """
    counted = {kind: counted_m(problem.item_table.lengths_m, run_m) for kind, run_m in runs_m.items()}
    return replace(fabric, runs=fabric.runs.with_m(counted))


def in_layout(problem: Problem, fabric: FabricProblem, layout: Layout) -> FabricProblem:
    """The fabric with the least runs that a layout allows."""
    least = {
        "server-leaf": float(layout.nearest_leaf_m.min()),
        "leaf-spine": layout.least_switch_m,
        "spine-core": layout.plan.least_m,
    }
    return _stands(_with_runs(problem, fabric, least), InLayout(layout, "measured"))


def before_placing(problem: Problem, fabric: FabricProblem, layout: Layout) -> FabricProblem:
    """The fabric in a layout, with bounds for which no spine has to be placed."""
    return _stands(in_layout(problem, fabric, layout), InLayout(layout, "nearest"))


def with_typical_runs(problem: Problem, fabric: FabricProblem, layout: Layout) -> FabricProblem:
    """The fabric with the median runs of a layout: to estimate with, not to prove."""
    return _stands(_with_runs(problem, fabric, layout.typical_runs_m), InLayout(layout, "alike"))


class SwitchSums(NamedTuple):
    """Rack units, load without modules, and number of some switches."""

    units: int
    load: RackLoad
    switches: int


def switch_needs(problem: Problem, fabric: FabricProblem, sketch: Sketch) -> tuple[Tier, ...]:
    """Switches of each tier of a candidate with the space that each takes of a rack, then devices that stand with them,
    which count as switches, so that racks cut by need have room for them.
    """
    most = problem.floor.plan.most_in_rack
    hosts = (host for host in problem.floor.appliances.hosts.values() if host.fabric == fabric.name)
    switches = zip(_tier_counts(*sketch), switch_sizes(problem, fabric, sketch[0]), strict=False)
    return (*switches, *((host.attachment.boxes, SwitchSize(host.units, host.load.limited(most))) for host in hosts))


def _tier_counts(parts: Parts, shape: Shape) -> tuple[int, int, int]:
    """Leaves, spines and cores over all planes."""
    planes, pods = parts.nic.planes, int(shape.pods) if parts.core is not None else 1
    cores = planes * int(shape.cores) if parts.core is not None else 0
    return planes * int(shape.leaves), planes * int(shape.spines) * pods, cores


def switch_sums(parts: Parts, shape: Shape) -> SwitchSums:
    """Sums over a candidate's switches."""
    tiers = zip((parts.leaf, parts.spine, parts.core), _tier_counts(parts, shape), strict=True)
    counted = [(switch, count) for switch, count in tiers if switch is not None]
    units = sum(max(1, ceil_div(int(switch.product.rack_units * 1000), 1000)) * count for switch, count in counted)
    load = added(load_of_switch(switch.product, switch.item.power_mw).times(count) for switch, count in counted)
    return SwitchSums(units, load, sum(count for _, count in counted))
