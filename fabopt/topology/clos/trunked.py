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
from fabopt.parts.trunks import RackRoute, TrunkedKind, TrunkedRoute, Trunking, TrunkPiece, least_trunking
from fabopt.problem.problem import Problem, of_item
from fabopt.problem.trunk_parts import TrunkParts, trunk_parts
from fabopt.topology.candidate import Choice, Option, RowShare, part_uses, undominated
from fabopt.topology.clos.cabling import KindLinks, LinkType, numbers_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.stage_links import StagedLinks, links_of_kind
from fabopt.units import ceil_div, ceil_of, exact


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
    """Links of a kind: all, and those between each two racks of panels, as indices of the plan in its order, by every
    stage. ``jumper_m``: what jumpers have to cover.
    """

    links: int
    routes: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    jumper_m: float = 0.0


def links_between(problem: Problem, clos: ClosNetwork, kind: LinkType) -> LinksBetween:
    """The links of a kind by pair of racks of panels."""
    placement = clos.placement
    assert isinstance(placement, RackPlacement)
    links = links_of_kind(problem, clos, kind)
    cabling = None if links is None else links.cabling(numbers_of(clos.parts.nic, clos.shape))
    if cabling is None:
        return LinksBetween(0)
    below, above = placement.ends(kind.name)
    zones = problem.floor.zone_of[np.stack([below.rack[cabling.links.a], above.rack[cabling.links.b]])]
    ends = np.sort(zones, axis=0)
    stages, apart = max(1, len(clos.stages)), ends[0] != ends[1]
    pairs, route = np.unique(ends[:, apart], axis=1, return_inverse=True)
    stage = of_links(cabling.numbers, clos.stages, kind.name, cabling.links)[apart] if clos.stages else 0
    added = np.bincount(np.ravel(route) * stages + stage, minlength=pairs.shape[1] * stages).reshape(-1, stages)
    routes = zip(*pairs.tolist(), map(tuple, added.cumsum(axis=1).tolist()), strict=True)
    jumper_m = problem.floor.plan.longest_in_rack_m
    if problem.floor.ends:
        runs_m = placement.runs_m(kind.name, cabling.links)[~apart], *(
            problem.floor.plan.to_panels_m(of_tier.rack[end], of_tier.height_m[end], zone)[apart]
            for of_tier, end, zone in zip((below, above), (cabling.links.a, cabling.links.b), zones, strict=True)
        )  # fmt: skip
        jumper_m = max(jumper_m, float(np.concatenate(runs_m).max()))
    return LinksBetween(ends.shape[1], tuple(routes), jumper_m)


def ways_of(
    problem: Problem, clos: ClosNetwork, kind: LinkType, between: LinksBetween, is_timed: bool
) -> Iterator[TrunkedWay]:
    """Every way to cable a kind of links with links between racks through trunks; ``is_timed``: the longest trunk
    counts in what paths take.
    """
    links = links_of_kind(problem, clos, kind)
    assert links is not None
    over_run = links.joins(between.jumper_m, True)
    straight = [one for one in over_run if one.mode is Mode.LINK and kind.need.quantities(one).fits]
    for alike in trunk_parts(problem):
        joined = [one for one in straight if one.cable.id == alike.jumper.id]
        if joined:
            parts = replace(alike, jumper=joined[0].cable)
            lengths = {item.length_m or 0.0 for items, _ in parts.trunks for item in items} if is_timed else set()
            yield from _ways(problem, clos, links, between, parts, joined, lengths)


def _ways(
    problem: Problem,
    clos: ClosNetwork,
    links: KindLinks,
    between: LinksBetween,
    parts: TrunkParts,
    joined: Sequence[Assembly],
    lengths: Collection[float],
) -> Iterator[TrunkedWay]:
    """The ways with some jumpers, trunks and panels: one for each longest trunk that some modules stand, and for each
    of some ``lengths``.
    """
    kind = links.kind
    longest_m = {one: parts.longest_m(problem.links, one, kind.ports) for one in joined}
    met: set[tuple[object, ...]] = set()
    for most_m in sorted({*longest_m.values(), *lengths}, reverse=True):
        trunking = _trunking(problem, parts, between, most_m)
        if trunking is None:
            return
        pieces = [(item.index, item.length_m) for trunks in trunking.routes for _, item, _ in trunks]
        used_m = max(length_m or 0.0 for _, length_m in pieces)
        if (key := tuple(pieces)) in met:
            continue
        met.add(key)
        options = tuple(
            Option(_rows(problem, clos, links, between.links, one)) for one in joined if longest_m[one] >= used_m
        )  # fmt: skip
        kept = undominated(options)
        choice = Choice((*kind.key, "trunked", tuple(option.rows for option in kept)), 1, kept)
        order = parts.number, parts.jumper.index, round(most_m * 1000) if np.isfinite(most_m) else 0
        yield TrunkedWay((choice,), _trunked(problem, kind, between, parts, trunking), order)


def _may_be_short_of_money(problem: Problem) -> bool:
    """Whether dearer trunks, or others at another stage, may fit into a limit that the cheapest ones do not."""
    limits, budgets = problem.limits_in_all, [stage.limits.capex_cents for stage in problem.stages]
    of_sum = limits.capex_cents if problem.weights.energy else limits.tco_scaled
    of_stages = any(budget is not None for budget in budgets) or bool(limits.periods)
    return len(problem.stages) > 1 and (of_stages or of_sum is not None)


def _rows(
    problem: Problem, clos: ClosNetwork, kind_links: KindLinks, links: int, assembly: Assembly
) -> tuple[RowShare, ...]:
    """Rows of all links, one a stage, each link with the jumper at its near end."""
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


def _trunking(problem: Problem, parts: TrunkParts, between: LinksBetween, most_m: float) -> Trunking | None:
    plan, spare, growth = problem.floor.plan, exact(problem.case.site.spare_legs), problem.case.growth
    racks = np.array([(a, b) for a, b, _ in between.routes]).T
    # of all runs up to a length on sale the pieces are the same
    lengths_m = sorted({item.length_m or 0.0 for items, _ in parts.trunks for item in items})
    fits = np.searchsorted(lengths_m, plan.trunks_m(racks[0], racks[1]))
    pieces = {fit: tuple(_pieces(problem, parts, [*lengths_m, np.inf][fit], most_m)) for fit in set(fits.tolist())}
    counts = {links for *_, links in between.routes}
    legs = {links: tuple(legs_of(count, spare, parts.links_per_leg) for count in links) for links in counts}
    routes = [
        RackRoute(a, b, legs[links], pieces[fit])
        for (a, b, links), fit in zip(between.routes, fits.tolist(), strict=True)
    ]
    panels = tuple(TrunkPiece(costs_of(problem, item), holds, item) for item, holds in parts.panels)
    return least_trunking(routes, panels, growth.trunks)


def legs_of(links: int, spare: Fraction, links_per_leg: int) -> int:
    """Legs of a route that carry its links, spare ones among these."""
    return ceil_div(ceil_of(links * (spare.denominator + spare.numerator), spare.denominator), links_per_leg)


def _pieces(problem: Problem, parts: TrunkParts, run_m: float, most_m: float) -> Iterator[TrunkPiece]:
    """Each type of trunk in its shortest length over a run."""
    for lengths, legs in parts.trunks:
        item = next((item for item in lengths if (item.length_m or 0.0) >= run_m), None)
        if item is not None and (item.length_m or 0.0) <= most_m:
            yield TrunkPiece(costs_of(problem, item), legs, item)


def costs_of(problem: Problem, item: Item) -> tuple[int, ...]:
    """Weight of one unit of an item in the objective at each stage, its labour included; where money has none, its
    cents.
    """
    weights, present = problem.weights, bool(problem.weights.energy)
    cents = [item.cost(stage, 1, present) + item.work_cents(stage, present) for stage in range(len(problem.stages))]
    if not weights.per_cent:
        return tuple(cents)
    return tuple(weights.per_cent * one + of_item(weights, stage, item) for stage, one in enumerate(cents))


def _trunked(
    problem: Problem, kind: LinkType, between: LinksBetween, parts: TrunkParts, trunking: Trunking
) -> TrunkedKind:
    ids, spare = problem.floor.plan.ids, exact(problem.case.site.spare_legs)
    return TrunkedKind(
        kind.name,
        parts.connector,
        parts.fibre,
        parts.jumper,
        tuple(problem.floor.ends.items()),
        tuple(np.diff(np.sum([links for *_, links in between.routes], axis=0), prepend=0).tolist()),
        tuple(
            TrunkedRoute(ids[a], ids[b], links[-1], legs_of(links[-1], spare, parts.links_per_leg), trunks)
            for (a, b, links), trunks in zip(between.routes, trunking.routes, strict=True)
        ),
        tuple((ids[rack], panels) for rack, panels in trunking.panels.items()),
    )
