"""Why a case has no design: each limit alone, and the least change to it that would give one.

Every figure named here is the result of searches with that one limit changed and all others kept. Where no value of
a limit alone would do, it has none, and the detail says what every design takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from fabopt.clock import Clock, Settings
from fabopt.crowding import crowded, floor_conflicts
from fabopt.inquiry import Inquiry, TimeOverError, Watch, last_true, narrowed, share_of_limits
from fabopt.metrics import HOPS_BY_TIERS, figures, ratios_asked
from fabopt.problem import Problem
from fabopt.scarcity import buying_conflicts, stage_limit_conflicts, supply_conflicts, unlimited
from fabopt.schema.base import Strict
from fabopt.schema.case import Case, Distances, Fabric, Oversubscription
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Conflict
from fabopt.slots import cards_at_least, slots_are_short, sum_of_cards
from fabopt.spending import share_of, spending, together
from fabopt.topology.clos.survival import bandwidth_left
from fabopt.topology.families import most_servers
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction

# Every question is a search; when these seconds are over, what has been found by then is told.
MOST_SECONDS = 20.0
SERVERS = "stages.servers"
# With so many times the servers that any design reaches, no other single change is looked for.
FAR_TOO_MANY = 4
MOST_RATIO = 1024
RATIO_PRECISION = Fraction(1, 1000)
# Further apart than this, two ratios are halved by their quotient, closer by their difference.
FAR_APART = Fraction(11, 10)
RATIO_DIGITS = 6
# Speeds are whole Mb/s.
GBPS_DIGITS = 3
DEMANDED_FIGURES = {"bisection": "bisection", "alltoall": "all-to-all", "allreduce": "ring all-reduce"}
SHORTEST_RUN_M = 0.5
RUN_PRECISION_M = 0.5
# by kind of run: switch tiers that it takes
RUN_KEYS = {"server-leaf": 1, "leaf-spine": 2, "spine-core": 3, "attachment-leaf": 1}
Lines = Callable[[Inquiry], Iterator[Conflict]]


def conflicts_of(
    case: Case, catalog: Catalog, problem: Problem, settings: Settings, clock: Clock
) -> tuple[Conflict, ...]:
    """Every limit that alone stands in the way, with what it would have to be.

    Where a design exists without the limits on spending, these clash with the demands; else the demands, the structure
    that the case prescribes and the catalog clash, whatever may be spent.
    """

    inquiry = _inquiry(case, catalog, problem, settings, clock)
    if slots_are_short(problem):
        return (_slots(problem),)
    if problem.limits.are_set or any(stage.limits.are_set for stage in problem.stages):
        found = _asked(inquiry, spending, stage_limit_conflicts) or _asked(inquiry, together)
        if found:
            return (*found, *_asked(inquiry, partial(_servers, share=share_of(found)), _demands))
    found = _unspendable(inquiry)
    if not found and unlimited(case) != case:
        free = _unspendable(replace(inquiry, case=unlimited(case)))
        found = [one.model_copy(update={"detail": f"{one.detail}; limits on spending left aside"}) for one in free]
    return tuple(found) or (_nothing_helps(inquiry),)


def _slots(problem: Problem) -> Conflict:
    return Conflict(
        limit=f"servers.{problem.server.id}.nic_slots",
        value=problem.nic_slots,
        needed=sum(cards_at_least(problem).values()),
        detail=f"cards that give each fabric its bandwidth do not fit the server: {sum_of_cards(problem)}",
    )


def obstacles_of(
    case: Case, catalog: Catalog, problem: Problem, settings: Settings, clock: Clock
) -> tuple[Conflict, ...]:
    """What stands nearest in the way where no design was found on a floor, and none was ruled out."""
    if problem.plan is None or clock.is_over():
        return ()
    inquiry = _inquiry(case, catalog, problem, settings, clock)
    found = _asked(inquiry, spending) if problem.limits.are_set else []
    return tuple(found) or tuple(_asked(inquiry, crowded))


def _inquiry(case: Case, catalog: Catalog, problem: Problem, settings: Settings, clock: Clock) -> Inquiry:
    def tell(what: str) -> None:
        settings.progress(f"no design meets the case: looking at {what}")

    quiet = replace(settings, progress=lambda text: None)
    return Inquiry(case, catalog, problem, quiet, Watch(MOST_SECONDS, clock), tell)


def _unspendable(inquiry: Inquiry) -> list[Conflict]:
    """What stands in the way where no spending would help."""
    found = _asked(inquiry, floor_conflicts)
    if found:
        return found
    buying = _asked(inquiry, buying_conflicts)
    found = buying + _asked(inquiry, _servers, supply_conflicts, _hops)
    if not buying and not any(_is_far_too_many(one) for one in found):
        found += _asked(inquiry, _structure, _runs, _demands)
    return found


def _asked(inquiry: Inquiry, *lines: Lines) -> list[Conflict]:
    """What lines of questions come to, each as far as time allows."""
    found: list[Conflict] = []
    for line in lines:
        try:
            for one in line(inquiry):
                found.append(one)
        except TimeOverError:
            continue
    return found


def _is_far_too_many(one: Conflict) -> bool:
    """Whether so many servers are wanted that nothing else is worth looking at."""
    if one.limit != SERVERS or not isinstance(one.value, int) or not isinstance(one.needed, int):
        return False
    return one.value > FAR_TOO_MANY * one.needed


def _nothing_helps(inquiry: Inquiry) -> Conflict:
    refused = [text for fabric in inquiry.problem.fabrics for text in fabric.refused_nics]
    detail = "no single change to the case gives a design: the catalog lacks parts that join, or several limits clash"
    if inquiry.clock.is_over():
        detail = f"no single change that gives a design was found within {MOST_SECONDS:g} s"
    return Conflict(limit="case", value=None, needed=None, detail="; ".join([detail, *refused[:3]]))


# -- how large ---------------------------------------------------------------------------------------------------


def sized(case: Case, servers: int) -> Case:
    """The case with another number of servers at its last stage."""
    stages = case.stages
    if stages is None:
        return case.model_copy(update={"servers": servers, "gpus": None})
    last = stages[-1].model_copy(update={"servers": servers, "gpus": None})
    return case.model_copy(update={"stages": (*stages[:-1], last)})


def _servers(inquiry: Inquiry, share: float = 1.0) -> Iterator[Conflict]:
    """The most servers, up to those wanted, for which there is a design. ``share`` of them is a first guess."""
    wanted = inquiry.problem.servers
    inquiry.tell(SERVERS)
    most = min(wanted - 1, most_servers(inquiry.problem))
    best = _largest(inquiry, most, int(most * share))
    if best:
        yield Conflict(
            limit=SERVERS,
            value=wanted,
            needed=best,
            detail=f"the largest number of servers reachable with this catalog and these limits is {best:,}",
        )


def _largest(inquiry: Inquiry, most: int, guess: int) -> int:
    """The largest number of servers up to ``most`` that has a design; 0 if none has."""
    low, high, misses = 0, most + 1, 0
    while high - low > 1:
        servers = min(max(guess, low + 1), high - 1)
        problem = inquiry.problem_of(sized(inquiry.case, servers))
        found = inquiry.design_of(problem, in_reach=True)
        if found is None:
            high, misses = servers, misses + 1
            guess = (low + high) // 2 if low else high - max(1, high // 16) * 2**misses
        else:
            low, share = servers, share_of_limits(problem, found)
            guess = int(servers / share) if share else (low + high) // 2
    return low


# -- what is demanded of each fabric ----------------------------------------------------------------------------


def _changed(case: Case, fabric: Fabric, **update: object) -> Case:
    fabrics = tuple(one.model_copy(update=update) if one.name == fabric.name else one for one in case.fabrics)
    return case.model_copy(update={"fabrics": fabrics})


def _demands(inquiry: Inquiry) -> Iterator[Conflict]:
    for index, fabric in enumerate(inquiry.case.fabrics):
        meant = inquiry.problem.fabrics[index]
        yield from _bandwidth(inquiry, fabric, index)
        limits = {"leaf": meant.oversubscription_leaf, "spine": meant.oversubscription_spine}
        for tier in list(limits)[: max(meant.tiers, default=0) - 1]:
            yield from _ratio(inquiry, fabric, index, tier, limits)
        for figure in DEMANDED_FIGURES:
            yield from _figure(inquiry, fabric, index, figure)
        for number in range(len(fabric.survived)):
            yield from _left_over(inquiry, fabric, index, number)


def _bandwidth(inquiry: Inquiry, fabric: Fabric, index: int) -> Iterator[Conflict]:
    """The most injection below the demand that some design gives."""
    limit = f"fabrics.{fabric.name}.min_gbps_per_gpu"
    inquiry.tell(limit)
    wanted_mbps = inquiry.problem.fabrics[index].gpu_mbps
    problem = inquiry.problem_of(_changed(inquiry.case, fabric, min_gbps_per_gpu=0.001))
    free = problem.fabrics[index]
    rates = sorted({int(one.injection) for many in free.nics.values() for one in many if one.injection < wanted_mbps})

    def reached(position: int) -> int | None:
        """With cards of that rate and more, up to the lowest that is known not to do."""
        found = inquiry.design_of(narrowed(problem, free, rates[position], wanted_mbps - 1))
        return None if found is None else rates.index(int(found.picked[index][0].design.parts.nic.injection))

    best = last_true(len(rates), reached)
    if best is not None:
        refused = inquiry.problem.fabrics[index].refused_nics
        yield Conflict(
            limit=limit,
            value=gbps(wanted_mbps),
            needed=gbps(rates[best]),
            detail="; ".join(["the most bandwidth per GPU that a design gives", *refused[:3]]),
        )


def _ratio(inquiry: Inquiry, fabric: Fabric, index: int, tier: str, limits: dict[str, Fraction]) -> Iterator[Conflict]:
    """The least oversubscription at one boundary that gives a design, the other boundary's kept."""
    limit = f"fabrics.{fabric.name}.max_oversubscription.{tier}"
    inquiry.tell(limit)

    def reached(most: Fraction) -> Fraction | None:
        wanted = {**limits, tier: most}
        allowed = Oversubscription(leaf=float(wanted["leaf"]), spine=float(wanted["spine"]))
        found = inquiry.design(_changed(inquiry.case, fabric, max_oversubscription=allowed))
        return None if found is None else ratios_asked(found.picked[index][0].design, inquiry.problem.gpus).get(tier)

    low, best = limits[tier], reached(Fraction(MOST_RATIO))
    if best is None:
        return
    while best - low > RATIO_PRECISION * best:
        between = math.sqrt(low * best) if best > FAR_APART * low else float(low + best) / 2
        middle = exact(float(f"{between:.{RATIO_DIGITS}g}"))
        found = reached(middle)
        low, best = (middle, best) if found is None else (low, found)
    yield Conflict(
        limit=limit,
        value=plain_fraction(limits[tier], RATIO_DIGITS),
        needed=plain_fraction(_rounded_up(best, RATIO_DIGITS), RATIO_DIGITS),
        detail=f"the least oversubscription at the {tier} boundary that gives a design (within 0.1%)",
    )


def _figure(inquiry: Inquiry, fabric: Fabric, index: int, figure: str) -> Iterator[Conflict]:
    """The most of a figure below the one wanted that some design gives (within 0.1 %)."""
    key = f"min_{figure}_gbps_per_gpu"
    wanted = getattr(fabric, key)
    if wanted is None:
        return

    def reached(least: float | None) -> Fraction | None:
        found = inquiry.design(_changed(inquiry.case, fabric, **{key: least}))
        if found is None:
            return None
        given: Fraction = getattr(figures(found.picked[index][0].design, inquiry.problem.gpus), figure)
        return given

    what = f"the most {DEMANDED_FIGURES[figure]} bandwidth per GPU that a design gives"
    yield from _most(inquiry, f"fabrics.{fabric.name}.{key}", wanted, reached, what)


def _left_over(inquiry: Inquiry, fabric: Fabric, index: int, number: int) -> Iterator[Conflict]:
    """The most bandwidth that a design has left after the failures of one of the case's demands."""
    one = fabric.survived[number]
    failed, count = one.failures

    def reached(least: float | None) -> Fraction | None:
        changed = () if least is None else (one.model_copy(update={"min_gbps_per_gpu": least}),)
        demands = (*fabric.survived[:number], *changed, *fabric.survived[number + 1 :])
        found = inquiry.design(_changed(inquiry.case, fabric, resilience=demands or None))
        if found is None:
            return None
        clos = found.picked[index][0].design
        gpus = inquiry.problem.server.gpus
        return Fraction(bandwidth_left(clos.parts, clos.shape, clos.down_ports, gpus, failed, count))

    limit = f"fabrics.{fabric.name}.resilience.min_gbps_per_gpu"
    what = f"the most bandwidth per GPU that a design has left after {one.survive}"
    yield from _most(inquiry, limit, one.min_gbps_per_gpu, reached, what)


def _most(
    inquiry: Inquiry, limit: str, wanted: float, reached: Callable[[float | None], Fraction | None], what: str
) -> Iterator[Conflict]:
    """The most Gb/s below the wanted that some design gives; ``reached``: what one gives that has so much, in Mb/s."""
    inquiry.tell(limit)
    best, high = reached(None), exact(wanted) * MBPS_PER_GBPS
    if best is None:
        return
    while high - best > RATIO_PRECISION * high:
        middle = (best + high) / 2
        found = reached(plain_fraction(middle / MBPS_PER_GBPS, GBPS_DIGITS))
        best, high = (best, middle) if found is None else (max(found, middle), high)
    yield Conflict(
        limit=limit,
        value=wanted,
        needed=plain_fraction(_rounded_down(best / MBPS_PER_GBPS, GBPS_DIGITS), GBPS_DIGITS),
        detail=f"{what} (within 0.1%)",
    )


def _hops(inquiry: Inquiry) -> Iterator[Conflict]:
    """The fewest switches on the longest path with which there is a design."""
    for fabric in inquiry.case.fabrics:
        most = fabric.max_switch_hops
        if most is None:
            continue
        limit = f"fabrics.{fabric.name}.max_switch_hops"
        inquiry.tell(limit)
        more = (hops for hops in HOPS_BY_TIERS.values() if hops > most)
        changed = ((hops, _changed(inquiry.case, fabric, max_switch_hops=hops)) for hops in more)
        needed = next((hops for hops, case in changed if inquiry.design(case) is not None), None)
        if needed is not None:
            detail = "the fewest switches on the longest path with which there is a design"
            yield Conflict(limit=limit, value=most, needed=needed, detail=detail)


def _rounded_down(value: Fraction, digits: int) -> Fraction:
    """So that a design gives what is written."""
    return Fraction(math.floor(value * 10**digits), 10**digits)


def _rounded_up(value: Fraction, digits: int) -> Fraction:
    """So that what is written is enough: a third more than 1 is 1.333334."""
    return Fraction(math.ceil(value * 10**digits), 10**digits)


# -- what the case forbids --------------------------------------------------------------------------------------

OPEN_KEYS: tuple[tuple[str, object], ...] = (
    ("topologies", ("clos",)),
    ("protocol", "any"),
    ("tiers", "any"),
    ("planes", "any"),
    ("rails", "any"),
    ("striping", "any"),
    ("homing", "any"),
    ("nics", "any"),
    ("nics_per_server", "any"),
    ("group_by", "any"),
    ("reserve_ports", 0.0),
)


def _structure(inquiry: Inquiry) -> Iterator[Conflict]:
    for fabric in inquiry.case.fabrics:
        for key, free in OPEN_KEYS:
            value = getattr(fabric, key)
            if value != free and inquiry.design(_changed(inquiry.case, fabric, **{key: free})) is not None:
                yield Conflict(
                    limit=f"fabrics.{fabric.name}.{key}",
                    value=_shown(value),
                    needed=_shown(free),
                    detail=f"with {key}: {_shown(free)} there is a design",
                )
        yield from _switches(inquiry, fabric)
        yield from _attachments(inquiry, fabric)


def _switches(inquiry: Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    for role in ("leaf", "spine", "core"):
        ids = getattr(fabric.switches, role)
        choice = fabric.switches.model_copy(update={role: "any"})
        if ids != "any" and inquiry.design(_changed(inquiry.case, fabric, switches=choice)) is not None:
            yield Conflict(
                limit=f"fabrics.{fabric.name}.switches.{role}",
                value=_shown(ids),
                needed="any",
                detail=f"with any {role} switch there is a design",
            )


def _attachments(inquiry: Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    if fabric.attachments and inquiry.design(_changed(inquiry.case, fabric, attachments=())) is not None:
        yield Conflict(
            limit=f"fabrics.{fabric.name}.attachments",
            value=sum(one.ports for one in fabric.attachments),
            needed=0,
            detail="without attachments there is a design: their ports do not fit, or no part joins them",
        )


def _shown(value: object) -> int | float | str | None:
    if isinstance(value, int | float | str) or value is None:
        return value
    if isinstance(value, Strict):
        return value.model_dump_json(exclude_defaults=True)
    return ", ".join(str(one) for one in value) if isinstance(value, tuple) else str(value)


# -- what there is to buy ---------------------------------------------------------------------------------------


def _runs(inquiry: Inquiry) -> Iterator[Conflict]:
    if inquiry.problem.plan is not None:
        return
    tallest = max(max(fabric.tiers, default=0) for fabric in inquiry.problem.fabrics)
    for key, tiers in RUN_KEYS.items():
        if tallest < tiers:
            continue
        inquiry.tell(f"site.distances_m.{key}")
        yield from _run(inquiry, key)


def _run(inquiry: Inquiry, key: str) -> Iterator[Conflict]:
    """The longest run of one kind, up to the wanted one, that parts reach."""
    distances = inquiry.case.site.distances_m
    field = key.replace("-", "_")
    wanted = getattr(distances, field)
    if wanted is None or wanted <= SHORTEST_RUN_M:
        return

    def possible(metres: float) -> bool:
        changed: Distances = distances.model_copy(update={field: metres})
        site = inquiry.case.site.model_copy(update={"distances_m": changed})
        return inquiry.design(inquiry.case.model_copy(update={"site": site})) is not None

    if not possible(SHORTEST_RUN_M):
        return
    low, high = SHORTEST_RUN_M, float(wanted)
    while high - low > RUN_PRECISION_M:
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    yield Conflict(
        limit=f"site.distances_m.{key}",
        value=wanted,
        needed=math.floor(low * 10) / 10,
        detail=f"the longest {key} run (to half a metre) for which parts can be bought",
    )
