"""Why a case has no design: each limit alone, and the least change to it that would give one.

Every figure named here is the result of a search with that one limit changed and all others kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fabopt.design import Sums, sums_of
from fabopt.metrics import oversubscription
from fabopt.problem import Limits, Problem, problem_of, with_objective
from fabopt.schema.base import Strict
from fabopt.schema.case import Case, Distances, Fabric, Oversubscription
from fabopt.schema.case import Limits as CaseLimits
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Conflict
from fabopt.search import Clock, Optimum, Search, Settings
from fabopt.units import gbps, plain_fraction, usd, watts

# Every probe is a search; when these seconds are over, what has been found by then is told.
MOST_SECONDS = 40.0
SERVERS = "stages.servers"
# With so many times the servers that any design reaches, no other single change is looked for.
FAR_TOO_MANY = 4
MOST_RATIO = 1024
RATIO_STEPS = 40
RATIO_PRECISION = Fraction(1, 1000)
SHORTEST_RUN_M = 0.5
RUN_PRECISION_M = 0.5
RUN_KEYS = ("server-leaf", "leaf-spine", "spine-core", "attachment-leaf")
Probe = Callable[[Case], Optimum]


@dataclass(frozen=True)
class _Inquiry:
    """What the probes share."""

    case: Case
    catalog: Catalog
    problem: Problem
    settings: Settings
    clock: Clock

    def possible(self, case: Case) -> bool | None:
        """Whether a changed case has a design; None if time was over before that was known."""
        picked = bool(self.probe(case).picked)
        return picked if picked or not self.clock.is_over() else None

    def probe(self, case: Case) -> Optimum:
        """Any design of a changed case, under its limits."""
        problem = problem_of(case, self.catalog, shelf=self.problem.shelf)
        search = Search(problem, self.settings, self.clock)
        if not problem.limits.are_set:
            return search.any_design()
        return Search(with_objective(problem, _metric(problem), problem.limits), self.settings, self.clock).run(
            ties=False
        )


def _metric(problem: Problem) -> str:
    """The limited metric to minimize when only feasibility matters: then one limit at least costs no effort."""
    if problem.limits.capex_cents is not None:
        return "capex_usd"
    return "power_w" if problem.limits.power_mw is not None else "rack_units"


def conflicts_of(
    case: Case, catalog: Catalog, problem: Problem, settings: Settings, clock: Clock
) -> tuple[Conflict, ...]:
    """Every limit that alone stands in the way, with what it would have to be.

    Where a design exists without the limits on spending, these clash with the demands; else the demands, the structure
    that the case prescribes and the catalog clash, whatever may be spent.
    """
    quiet = replace(settings, progress=lambda text: None)
    left = clock.left()
    clock = Clock(MOST_SECONDS if left is None else min(left, MOST_SECONDS))
    free = case.model_copy(update={"limits": CaseLimits()})
    inquiry = _Inquiry(case, catalog, problem, quiet, clock)
    if problem.limits.are_set and inquiry.probe(free).picked:
        found = [*_spending(inquiry), *_demands(inquiry), *_servers(inquiry)]
        return tuple(found) or tuple(_together(inquiry))
    inquiry = replace(inquiry, case=free)
    found = [*_servers(inquiry), *_supply(inquiry)]
    if not any(_is_far_too_many(one) for one in found):
        found += [*_demands(inquiry), *_structure(inquiry), *_runs(inquiry)]
    return tuple(found) or (_nothing_helps(inquiry),)


def _is_far_too_many(one: Conflict) -> bool:
    """Whether so many servers are wanted that nothing else is worth looking at."""
    if one.limit != SERVERS or not isinstance(one.value, int) or not isinstance(one.needed, int):
        return False
    return one.value > FAR_TOO_MANY * one.needed


def _together(inquiry: _Inquiry) -> Iterator[Conflict]:
    limits = inquiry.case.limits
    for key in ("budget_usd", "power_w", "rack_units"):
        if getattr(limits, key) is not None:
            detail = "no single limit can be changed alone: these limits stand in each other's way"
            yield Conflict(limit=f"limits.{key}", value=getattr(limits, key), needed=None, detail=detail)


def _nothing_helps(inquiry: _Inquiry) -> Conflict:
    refused = [text for fabric in inquiry.problem.fabrics for text in fabric.refused_nics]
    detail = "no single change to the case gives a design: the catalog lacks parts that join, or several limits clash"
    if inquiry.clock.is_over():
        detail = f"no single change that gives a design was found within {MOST_SECONDS:g} s"
    return Conflict(limit="case", value=None, needed=None, detail="; ".join([detail, *refused[:3]]))


# -- money, power, units ----------------------------------------------------------------------------------------


def _spending(inquiry: _Inquiry) -> Iterator[Conflict]:
    limits = inquiry.problem.limits
    if limits.capex_cents is not None:
        sums = _least(inquiry, "capex_usd", replace(limits, capex_cents=None))
        if sums is not None:
            yield _spent(
                "limits.budget_usd", usd(limits.capex_cents), usd(sums.cents), "the cheapest design costs", "$"
            )
    if limits.power_mw is not None:
        sums = _least(inquiry, "power_w", replace(limits, power_mw=None))
        if sums is not None:
            drawn = sums.power_mw + inquiry.problem.fixed_power_mw
            yield _spent("limits.power_w", watts(limits.power_mw), watts(drawn), "the leanest design draws", "W")
    if limits.rack_milliunits is not None:
        sums = _least(inquiry, "rack_units", replace(limits, rack_milliunits=None))
        if sums is not None:
            units = watts(sums.rack_milliunits)
            yield _spent("limits.rack_units", watts(limits.rack_milliunits), units, "the smallest design takes", "U")


def _spent(limit: str, value: float, needed: float, text: str, unit: str) -> Conflict:
    amounts = [f"${one:,}" if unit == "$" else f"{one:,} {unit}" for one in (needed, value)]
    return Conflict(limit=limit, value=value, needed=needed, detail=f"{text} {amounts[0]}; the limit is {amounts[1]}")


def _least(inquiry: _Inquiry, metric: str, limits: Limits) -> Sums | None:
    """Sums of the design that is least in a metric, under the other limits; None if there is none."""
    problem = with_objective(inquiry.problem, metric, limits)
    found = Search(problem, inquiry.settings, inquiry.clock).run(ties=False)
    return sums_of(problem, [(one, units) for one, units in found.picked]) if found.picked else None


# -- what is demanded of each fabric ----------------------------------------------------------------------------


def _changed(case: Case, fabric: Fabric, **update: object) -> Case:
    fabrics = tuple(one.model_copy(update=update) if one.name == fabric.name else one for one in case.fabrics)
    return case.model_copy(update={"fabrics": fabrics})


def _demands(inquiry: _Inquiry) -> Iterator[Conflict]:
    for fabric, meant in zip(inquiry.case.fabrics, inquiry.problem.fabrics, strict=True):
        yield from _bandwidth(inquiry, fabric, meant.gpu_mbps)
        limits = {"leaf": meant.oversubscription_leaf, "spine": meant.oversubscription_spine}
        for tier in limits:
            yield from _ratio(inquiry, fabric, tier, limits)


def _bandwidth(inquiry: _Inquiry, fabric: Fabric, wanted_mbps: int) -> Iterator[Conflict]:
    """The most injection below the demand that some design gives."""
    free = _changed(inquiry.case, fabric, min_gbps_per_gpu=0.001)
    index = [one.name for one in inquiry.case.fabrics].index(fabric.name)
    options = problem_of(free, inquiry.catalog, shelf=inquiry.problem.shelf).fabrics[index].nics.values()
    rates = sorted({one.injection for many in options for one in many if one.injection < wanted_mbps})

    def possible(position: int) -> bool | None:
        rate = float(rates[position] / 1000)
        return inquiry.possible(_changed(inquiry.case, fabric, min_gbps_per_gpu=rate))

    best = _last_true(len(rates), possible)
    if best is not None:
        yield Conflict(
            limit=f"fabrics.{fabric.name}.min_gbps_per_gpu",
            value=gbps(wanted_mbps),
            needed=plain_fraction(rates[best] / 1000, 3),
            detail=_bandwidth_detail(inquiry, index),
        )


def _bandwidth_detail(inquiry: _Inquiry, index: int) -> str:
    refused = inquiry.problem.fabrics[index].refused_nics
    return "; ".join(["the most bandwidth per GPU that a design gives", *refused[:3]])


def _last_true(size: int, possible: Callable[[int], bool | None]) -> int | None:
    """The last position for which something that holds up to some position holds.

    None if it never does, or if time was over (``possible`` returns None) before that was known.
    """
    low, high = -1, size - 1
    while low < high:
        middle = (low + high + 1) // 2
        holds = possible(middle)
        if holds is None:
            return None
        low, high = (middle, high) if holds else (low, middle - 1)
    return low if low >= 0 else None


def _ratio(inquiry: _Inquiry, fabric: Fabric, tier: str, limits: dict[str, Fraction]) -> Iterator[Conflict]:
    """The least oversubscription at one boundary that gives a design, the other boundary's kept."""
    low, high = limits[tier], Fraction(MOST_RATIO)
    index = [one.name for one in inquiry.case.fabrics].index(fabric.name)

    def reached(most: Fraction) -> Fraction | None:
        wanted = {**limits, tier: most}
        allowed = Oversubscription(leaf=float(wanted["leaf"]), spine=float(wanted["spine"]))
        picked = inquiry.probe(_changed(inquiry.case, fabric, max_oversubscription=allowed)).picked
        return oversubscription(picked[index][0].design).get(tier, low) if picked else None

    best = reached(high)
    if best is None or best <= low:
        return
    for _ in range(RATIO_STEPS):
        if best - low <= RATIO_PRECISION * best:
            break
        middle = Fraction(round(float((low + best) / 2), 6)).limit_denominator(10**6)
        found = reached(middle)
        if found is None:
            low = middle
        else:
            best = min(best, max(found, low))
            if found <= low:
                break
    if inquiry.clock.is_over():
        return
    yield Conflict(
        limit=f"fabrics.{fabric.name}.max_oversubscription.{tier}",
        value=plain_fraction(limits[tier], 6),
        needed=plain_fraction(best, 6),
        detail=f"the least oversubscription at the {tier} boundary that gives a design (within 0.1%)",
    )


# -- what the case forbids --------------------------------------------------------------------------------------

OPEN_KEYS: tuple[tuple[str, object], ...] = (
    ("protocol", "any"),
    ("tiers", "any"),
    ("planes", "any"),
    ("rails", "any"),
    ("striping", "any"),
    ("nics", "any"),
    ("nics_per_server", "any"),
    ("group_by", "any"),
    ("reserve_ports", 0.0),
)


def _structure(inquiry: _Inquiry) -> Iterator[Conflict]:
    for fabric in inquiry.case.fabrics:
        for key, free in OPEN_KEYS:
            value = getattr(fabric, key)
            if value != free and inquiry.probe(_changed(inquiry.case, fabric, **{key: free})).picked:
                yield Conflict(
                    limit=f"fabrics.{fabric.name}.{key}",
                    value=_shown(value),
                    needed=_shown(free),
                    detail=f"with {key}: {_shown(free)} there is a design",
                )
        yield from _switches(inquiry, fabric)
        yield from _attachments(inquiry, fabric)


def _switches(inquiry: _Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    for role in ("leaf", "spine", "core"):
        ids = getattr(fabric.switches, role)
        choice = fabric.switches.model_copy(update={role: "any"})
        if ids != "any" and inquiry.probe(_changed(inquiry.case, fabric, switches=choice)).picked:
            yield Conflict(
                limit=f"fabrics.{fabric.name}.switches.{role}",
                value=_shown(ids),
                needed="any",
                detail=f"with any {role} switch there is a design",
            )


def _attachments(inquiry: _Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    if fabric.attachments and inquiry.probe(_changed(inquiry.case, fabric, attachments=())).picked:
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


# -- how large, how far -----------------------------------------------------------------------------------------


def _runs(inquiry: _Inquiry) -> Iterator[Conflict]:
    for key in RUN_KEYS:
        yield from _run(inquiry, key)


def _sized(case: Case, servers: int) -> Case:
    stages = case.stages
    if stages is None:
        return case.model_copy(update={"servers": servers, "gpus": None})
    last = stages[-1].model_copy(update={"servers": servers, "gpus": None})
    return case.model_copy(update={"stages": (*stages[:-1], last)})


def _servers(inquiry: _Inquiry) -> Iterator[Conflict]:
    """The most servers, up to those wanted, for which there is a design."""
    wanted = inquiry.problem.servers

    def possible(position: int) -> bool | None:
        return inquiry.possible(_sized(inquiry.case, position + 1))

    best = _last_true(wanted - 1, possible)
    if best is not None:
        yield Conflict(
            limit=SERVERS,
            value=wanted,
            needed=best + 1,
            detail=f"the largest number of servers reachable with this catalog and these limits is {best + 1:,}",
        )


def _supply(inquiry: _Inquiry) -> Iterator[Conflict]:
    """Whether it is only the supply of parts that is short."""
    kinds = ("switches", "nics", "transceivers", "cables", "fibres")
    free = inquiry.catalog.model_copy(update={kind: _unlimited(getattr(inquiry.catalog, kind)) for kind in kinds})
    if free == inquiry.catalog:
        return
    if (
        _Inquiry(inquiry.case, free, problem_of(inquiry.case, free), inquiry.settings, inquiry.clock)
        .probe(inquiry.case)
        .picked
    ):
        yield Conflict(
            limit="catalog.supply",
            value=None,
            needed=None,
            detail="with an unlimited supply of every part there is a design",
        )


def _unlimited(products: tuple[Any, ...]) -> tuple[Any, ...]:
    freed = []
    for one in products:
        if getattr(one, "supply", None) is not None:
            one = one.model_copy(update={"supply": None})
        if hasattr(one, "lengths"):
            lengths = tuple(length.model_copy(update={"supply": None}) for length in one.lengths)
            one = one.model_copy(update={"lengths": lengths})
        freed.append(one)
    return tuple(freed)


def _run(inquiry: _Inquiry, key: str) -> Iterator[Conflict]:
    """The longest run of one kind, up to the wanted one, that parts reach."""
    distances = inquiry.case.site.distances_m
    field = key.replace("-", "_")
    wanted = getattr(distances, field)
    if wanted is None or wanted <= SHORTEST_RUN_M:
        return

    def possible(metres: float) -> bool:
        changed: Distances = distances.model_copy(update={field: metres})
        site = inquiry.case.site.model_copy(update={"distances_m": changed})
        return bool(inquiry.probe(inquiry.case.model_copy(update={"site": site})).picked)

    if not possible(SHORTEST_RUN_M):
        return
    low, high = SHORTEST_RUN_M, float(wanted)
    while high - low > RUN_PRECISION_M:
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    if inquiry.clock.is_over():
        return
    yield Conflict(
        limit=f"site.distances_m.{key}",
        value=wanted,
        needed=round(low, 1),
        detail=f"the longest {key} run (to half a metre) for which parts can be bought",
    )
