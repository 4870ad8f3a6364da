"""Links of a Clos on a floor through trunks and panels: every way to cable a kind of links so.

All links of a kind between zones, racks or rows with panels at their ends, are alike: a module, a jumper, a leg of a
trunk between two panels, a jumper, a module; within a zone a link is one jumper. A way is a fibre for jumpers, the
cheapest trunks of every route and panels of every zone, and the modules that stand the loss of the longest trunk. In a
cluster that grows trunks and panels are decided for all stages together; what a stage has pulled stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.floor.group_runs import classes_of_runs
from fabopt.network.clos_stages import of_links
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.trunks import Routes, TrunkedKind, Trunking, TrunkPiece, least_trunking
from fabopt.problem.problem import Problem, of_item
from fabopt.problem.trunk_parts import TrunkParts, trunk_parts
from fabopt.topology.candidate import Choice, Option, RowShare, part_uses, undominated
from fabopt.topology.clos.cabling import KindLinks, LinkType, numbers_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints
from fabopt.topology.clos.stage_links import StagedLinks, links_of_kind
from fabopt.topology.link_parts import Floats
from fabopt.units import ceil_of, exact


def is_proven(problem: Problem) -> bool:
    """Whether the trunks and panels of every candidate are the cheapest: no price of one depends on the quantity, and
    none that is dearer may fit into a limit that the cheapest does not.
    """
    if not problem.case.site.trunked:
        return True
    return not _may_be_short_of_money(problem) and not any(
        item.is_ordered for parts in trunk_parts(problem) for item in parts.items
    )


class TrunkedWay(NamedTuple):
    """A way to cable a kind: the choice of its modules, what is bought beside it, and its rank in ties."""

    choices: tuple[Choice, ...]
    trunked: TrunkedKind
    order: tuple[int, ...]


class LinksBetween(NamedTuple):
    """Links of a kind: how many in all, and those between each two racks of panels, which are ``runs_m`` apart, shape
    (routes,). ``jumper_m``: what jumpers have to cover; ``of_kind``: them all, None where nothing is long enough.
    """

    of_kind: KindLinks | None
    number: int = 0
    racks: Ints = np.zeros((2, 0), dtype=np.int64)
    links: Ints = np.zeros((0, 1), dtype=np.int64)
    runs_m: Floats = np.zeros(0)
    jumper_m: float = 0.0


def links_between(problem: Problem, clos: ClosNetwork, kind: LinkType) -> LinksBetween:
    """The links of a kind by pair of racks of panels, in the order of the floor."""
    placement, plan = clos.placement, problem.floor.plan
    assert isinstance(placement, RackPlacement)
    links = links_of_kind(problem, clos, kind)
    cabling = None if links is None else links.cabling(numbers_of(clos.parts.nic, clos.shape))
    if cabling is None:
        return LinksBetween(None)
    below, above = placement.ends(kind.name)
    zones = problem.floor.zone_of[np.stack([below.rack[cabling.links.a], above.rack[cabling.links.b]])]
    near, far = zones.min(axis=0), zones.max(axis=0)
    stages, apart = max(1, len(clos.stages)), near != far
    pairs, route = np.unique((near * len(plan) + far)[apart], return_inverse=True)
    stage = of_links(cabling.numbers, clos.stages, kind.name, cabling.links)[apart] if clos.stages else 0
    added = np.bincount(route * stages + stage, minlength=len(pairs) * stages).reshape(-1, stages)
    racks = np.stack([pairs // len(plan), pairs % len(plan)])
    jumper_m = plan.longest_in_rack_m
    if problem.floor.ends:
        runs_m = placement.runs_m(kind.name, cabling.links)[~apart], *(
            plan.to_panels_m(of_tier.rack[end], of_tier.height_m[end], zone)[apart]
            for of_tier, end, zone in zip((below, above), (cabling.links.a, cabling.links.b), zones, strict=True)
        )  # fmt: skip
        jumper_m = max(jumper_m, float(np.concatenate(runs_m).max()))
    return LinksBetween(links, len(near), racks, added.cumsum(axis=1), plan.trunks_m(*racks), jumper_m)


def ways_of(
    problem: Problem, clos: ClosNetwork, kind: LinkType, between: LinksBetween, is_timed: bool
) -> Iterator[TrunkedWay]:
    """Every way to cable a kind of links with links between racks through trunks; ``is_timed``: the longest trunk
    counts in what paths take.
    """
    assert between.of_kind is not None
    over_run = between.of_kind.joins(between.jumper_m, True)
    straight = [one for one in over_run if one.mode is Mode.LINK and kind.need.quantities(one).fits]
    for alike in trunk_parts(problem):
        joined = [one for one in straight if one.cable.id == alike.jumper.id]
        if joined:
            parts = replace(alike, jumper=joined[0].cable)
            lengths = {item.length_m or 0.0 for items, _ in parts.trunks for item in items} if is_timed else set()
            yield from _ways(problem, clos, between, parts, joined, lengths)


def _ways(
    problem: Problem,
    clos: ClosNetwork,
    between: LinksBetween,
    parts: TrunkParts,
    joined: Sequence[Assembly],
    lengths: Collection[float],
) -> Iterator[TrunkedWay]:
    """The ways with some jumpers, trunks and panels: one for each longest trunk that some modules stand, and for each
    of some ``lengths``.
    """
    assert between.of_kind is not None
    kind = between.of_kind.kind
    longest_m = {one: _longest_m(problem, parts, one, kind) for one in joined}
    spare, met = exact(problem.case.site.spare_legs), set[tuple[object, ...]]()
    routes = Routes(between.racks, between.links, legs_of(between.links, spare, parts.links_per_leg))
    for most_m in sorted({*longest_m.values(), *lengths}, reverse=True):
        trunking = _trunking(problem, parts, routes, between.runs_m, most_m)
        if trunking is None:
            return
        pieces = tuple((item.index, item.length_m) for pieces in trunking.trunks.pieces for _, item, _ in pieces)
        used_m = max(length_m or 0.0 for _, length_m in pieces)
        if pieces in met:
            continue
        met.add(pieces)
        options = tuple(
            Option(_rows(problem, clos, between, one)) for one in joined if longest_m[one] >= used_m
        )  # fmt: skip
        kept = undominated(options)
        choice = Choice((*kind.key, "trunked", tuple(option.rows for option in kept)), 1, kept)
        order = parts.number, parts.jumper.index, round(most_m * 1000) if np.isfinite(most_m) else 0
        added = np.diff(between.links.sum(axis=0), prepend=0).tolist()
        ends, ids = tuple(problem.floor.ends.items()), problem.floor.plan.ids
        trunked = TrunkedKind(
            kind.name, parts.connector, parts.fibre, parts.jumper, ends, tuple(added), ids, routes, trunking
        )
        yield TrunkedWay((choice,), trunked, order)


# How long trunks may be at most, and pieces over a run, by the number of parts and what else they follow from.
_LONGEST_M: Lookup[Problem, tuple[int, Item, Assembly, object], float] = Lookup()
_PIECES: Lookup[Problem, tuple[int, float, float], tuple[TrunkPiece, ...]] = Lookup()


def _longest_m(problem: Problem, parts: TrunkParts, assembly: Assembly, kind: LinkType) -> float:
    key = parts.number, parts.jumper, assembly, kind.ports
    return _LONGEST_M.of(problem, key, parts.longest_m, problem.links, assembly, kind.ports)


def _may_be_short_of_money(problem: Problem) -> bool:
    """Whether dearer trunks, or others at another stage, may fit into a limit that the cheapest ones do not."""
    limits, budgets = problem.limits_in_all, [stage.limits.capex_cents for stage in problem.stages]
    of_sum = limits.capex_cents if problem.weights.energy else limits.tco_scaled
    of_stages = any(budget is not None for budget in budgets) or bool(limits.periods)
    return len(problem.stages) > 1 and (of_stages or of_sum is not None)


def _rows(problem: Problem, clos: ClosNetwork, between: LinksBetween, assembly: Assembly) -> tuple[RowShare, ...]:
    """Rows of all links, one a stage, each link with the jumper at its near end."""
    kind_links, links = between.of_kind, between.number
    assert kind_links is not None
    kind = kind_links.kind
    if clos.stages:
        cabling = kind_links.cabling(numbers_of(clos.parts.nic, clos.shape))
        assert cabling is not None
        run = classes_of_runs(problem.item_table.lengths_m, assembly.cable.length_m or 0.0)
        in_rack = cabling._replace(classes=np.full(links, run))
        rows = StagedLinks(problem, kind_links, in_rack, clos.stages).whole_rows(assembly)
        return tuple(row._replace(assembly=assembly) for row in rows)
    parts = kind.need.quantities(assembly)
    near, far = int(parts.near), int(parts.far)
    return (RowShare(*kind.ends, None, assembly, links, near, far, part_uses(assembly, near, links, far), ()),)


def _trunking(problem: Problem, parts: TrunkParts, routes: Routes, runs_m: Floats, most_m: float) -> Trunking | None:
    # of all runs up to a length on sale the pieces are the same
    lengths_m = [*sorted({item.length_m or 0.0 for items, _ in parts.trunks for item in items}), np.inf]
    fits = np.searchsorted(lengths_m[:-1], runs_m)
    pieces = [_PIECES.of(problem, (parts.number, run_m, most_m), _pieces, problem, parts, run_m, most_m)
              for run_m in lengths_m]  # fmt: skip
    if not pieces[fits.max()]:
        return None
    panels = tuple(TrunkPiece(costs_of(problem, item), holds, item) for item, holds in parts.panels)
    return least_trunking(routes, pieces, fits, panels, problem.case.growth.trunks)


def legs_of(links: Ints, spare: Fraction, links_per_leg: int) -> Ints:
    """Legs of routes that carry their links, spare ones among these; shape of ``links``."""
    return ceil_of(ceil_of(links * (spare.denominator + spare.numerator), spare.denominator), links_per_leg)


def _pieces(problem: Problem, parts: TrunkParts, run_m: float, most_m: float) -> tuple[TrunkPiece, ...]:
    """Each type of trunk in its shortest length over a run."""
    over = (
        (next((one for one in items if (one.length_m or 0.0) >= run_m), None), legs) for items, legs in parts.trunks
    )
    return tuple(
        TrunkPiece(costs_of(problem, item), legs, item)
        for item, legs in over if item is not None and (item.length_m or 0.0) <= most_m
    )  # fmt: skip


def costs_of(problem: Problem, item: Item) -> tuple[int, ...]:
    """Weight of one unit of an item in the objective at each stage, its labour included; where money has none, its
    cents.
    """
    weights, present = problem.weights, bool(problem.weights.energy)
    cents = [item.cost(stage, 1, present) + item.work_cents(stage, present) for stage in range(len(problem.stages))]
    if not weights.per_cent:
        return tuple(cents)
    return tuple(weights.per_cent * one + of_item(weights, stage, item) for stage, one in enumerate(cents))
