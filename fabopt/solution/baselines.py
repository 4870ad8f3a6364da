"""What a growing cluster would cost if its growth were not planned: the plans that people fall back on.

*All on day 1*: the answer's own fabric, bought and installed whole at the first stage. *Rebuild*: every stage is the
cheapest fabric for its servers alone of the answer's switches and NICs; parts that are there are used again where the
new one has the same, and every cable that stays is moved. *Recabling*: the best design if cables may be moved, or if
they may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fabopt.parts.items import CABLE_KINDS, Item
from fabopt.parts.stock import with_stock
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.program.orders import Picked, Sums, all_uses, sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Case
from fabopt.schema.design import MOVED_CABLE
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.topology.candidate import Candidate, Option, over_stages
from fabopt.units import some


class Baseline(NamedTuple):
    """A plan that was not chosen: its kind, which it is, what it is in words, and its totals."""

    what: str
    value: str
    summary: str
    sums: Sums


def baseline_plans(
    problem: Problem, picked: Sequence[Picked], context: Context, settings: Settings, clock: Clock
) -> Iterator[Baseline]:
    """The plans that can be bought at all; none where there is one stage."""
    if not problem.first_servers:
        return
    quiet = settings.quiet
    settings.progress("comparing with plans that do not look ahead")
    sums = _sums(problem, [(_at_once(candidate), _units_at_once(units)) for candidate, units in picked])
    if sums is not None:
        yield Baseline("growth", "all on day 1", "this fabric, bought and installed whole at the first stage", sums)
    clock.look()
    rebuilt = _rebuilt(problem, picked, quiet, clock)
    if rebuilt is not None:
        yield rebuilt
    clock.look()
    other = _other_recabling(problem, picked, context, quiet, clock)
    if other is not None:
        yield other


def _sums(problem: Problem, picked: Sequence[Picked]) -> Sums | None:
    """Totals; None if supply or lead times do not allow such orders."""
    try:
        return sums_of(problem, picked)
    except AssertionError:
        return None


def _at_once(candidate: Candidate) -> Candidate:
    devices = {(0, item): count for item, count in over_stages(candidate.devices).items() if item.id != MOVED_CABLE}
    return replace(candidate, devices=devices)


def _units_at_once(units: Sequence[tuple[Option, int]]) -> list[tuple[Option, int]]:
    return [(Option(tuple(row._replace(stage=0) for row in option.rows)), count) for option, count in units]


def _rebuilt(problem: Problem, picked: Sequence[Picked], settings: Settings, clock: Clock) -> Baseline | None:
    """The stages, each designed for itself of the products that are picked; None if one of them has no design."""
    case = _of_same_products(problem.case, picked)
    items = {(item.kind, item.key): item for item in problem.item_table.items}
    owned: dict[Item, int] = {}
    devices: dict[tuple[int, Item], int] = {}
    moved = 0
    # of switches that stand in for each other those that are there serve on, whichever is the cheapest by then
    shared = {one.switch.id for candidate, _ in picked for one in candidate.stand_ins}
    shared |= {tier.switch.id for candidate, _ in picked if shared for tier in candidate.design.file_part().tiers}
    for number in range(len(problem.stages)):
        there = {item.id: count for item, count in owned.items() if item.kind == "switch" and item.id in shared}
        of_stage = _stage_alone(case, number).model_copy(update={"have": {**case.have, **there}})
        alone = bound_alike(problem_of(of_stage, with_stock(problem.catalog, of_stage)), problem)
        optimum = search_of(alone, settings, clock).run(ties=False)
        if optimum.value is None:
            return None
        uses = {
            items[item.kind, item.key]: count
            for item, count in over_stages(all_uses(alone, optimum.picked)).items()
            if item.kind != "server"
        }
        stays = sum(min(count, owned.get(item, 0)) for item, count in uses.items() if item.kind in CABLE_KINDS)
        moved += stays
        if stays:
            devices[number, items["other", (MOVED_CABLE, 0)]] = stays
        for item, count in uses.items():
            if count > owned.get(item, 0):
                devices[number, item] = count - owned.get(item, 0)
                owned[item] = count
        last = optimum.picked[0][0]
    # a candidate that is only what it buys
    rebuilt = replace(last, devices=devices, choices=(), nic_slots=0, clashes=(), counted=(), logical_fabrics=())
    sums = _sums(problem, [(rebuilt, [])])
    words = f"each stage the cheapest of these switches and NICs for its servers, {some(moved, 'cable')} recabled"
    return None if sums is None else Baseline("growth", "rebuild", words, sums)


def _of_same_products(case: Case, picked: Sequence[Picked]) -> Case:
    """The case with no other switches and NICs than those picked, fabric by fabric."""
    ids: dict[tuple[str, str], set[str]] = {}
    for candidate, _ in picked:
        for _, item in candidate.devices:
            ids.setdefault((candidate.fabric, item.kind), set()).add(item.id)
    fabrics = []
    for fabric in case.fabrics:
        switches, nics = (tuple(sorted(ids.get((fabric.name, kind), ()))) for kind in ("switch", "nic"))
        of_tiers = fabric.switches.model_copy(update=dict.fromkeys(type(fabric.switches).model_fields, switches))
        fabrics.append(fabric.model_copy(update={"switches": of_tiers, "nics": nics or fabric.nics}))
    return case.model_copy(update={"fabrics": tuple(fabrics)})


def _stage_alone(case: Case, number: int) -> Case:
    """The case of one stage, at its own prices, without limits that are meant for all."""
    stages = case.stages or ()
    return case.model_copy(update={"stages": (stages[number],), "limits": type(case.limits)()})


def _other_recabling(
    problem: Problem, picked: Sequence[Picked], context: Context, settings: Settings, clock: Clock
) -> Baseline | None:
    """The optimum under the other rule for cables in place: this design itself where moving any would save nothing."""
    other = "forbid" if problem.case.growth.recabling == "allow" else "allow"
    growth = problem.case.growth.model_copy(update={"recabling": other})
    changed = problem_of(problem.case.model_copy(update={"growth": growth}), problem.catalog, offering=problem.offering)
    changed = bound_alike(changed, problem)
    optimum = search_of(changed, settings, clock, context=context.beside()).run(ties=False)
    if optimum.value is None:
        return None
    sums, own = sums_of(changed, optimum.picked), sums_of(problem, picked)
    if other == "forbid":
        return Baseline("recabling", other, "cables in place stay", sums)
    moves = sum(count for (_, item), count in all_uses(changed, optimum.picked).items() if item.id == MOVED_CABLE)
    if sums.objective == own.objective:
        moves, sums = 0, own
    return Baseline("recabling", other, f"cables in place may be moved: {moves:,} are", sums)
