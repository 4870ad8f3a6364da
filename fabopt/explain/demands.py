"""What is demanded of each fabric, and the least change to one demand that would give a design."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from fabopt.explain.what_if import Inquiry, last_true, narrowed
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.design import Conflict
from fabopt.schema.topologies import TIERED
from fabopt.topology.clos.figures import HOPS_BY_TIERS
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.workload.allowance import FIGURES

MOST_RATIO = 1024
RATIO_PRECISION = Fraction(1, 1000)
# Further apart than this, two ratios are halved by their quotient, closer by their difference.
FAR_APART = Fraction(11, 10)
RATIO_DIGITS = 6
# Speeds are whole Mb/s.
GBPS_DIGITS = 3
DEMANDED_FIGURES = {"bisection": "bisection", "alltoall": "all-to-all", "allreduce": "ring all-reduce"}


def changed(case: Case, fabric: Fabric, **update: object) -> Case:
    """The case with other keys of one fabric."""
    fabrics = tuple(one.model_copy(update=update) if one.name == fabric.name else one for one in case.fabrics)
    return case.model_copy(update={"fabrics": fabrics})


def demand_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The least change to each demand alone that gives a design."""
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


def _of_model(inquiry: Inquiry, fabric: Fabric) -> dict[str, None]:
    """Figures that the model sets: they go with the bandwidth and the ratios, and are not limits of their own."""
    needs = inquiry.problem.needs
    if needs is None or needs.fabric != fabric.name:
        return {}
    return {name: None for name in FIGURES if name in needs.sets}


def _bandwidth(inquiry: Inquiry, fabric: Fabric, index: int) -> Iterator[Conflict]:
    """The most injection below the demand that some design gives."""
    limit = f"fabrics.{fabric.name}.min_gbps_per_gpu"
    inquiry.tell(limit)
    wanted_mbps = inquiry.problem.fabrics[index].gpu_mbps
    problem = inquiry.problem_of(changed(inquiry.case, fabric, min_gbps_per_gpu=0.001, **_of_model(inquiry, fabric)))
    free = problem.fabrics[index]
    rates = sorted({int(one.injection) for many in free.nics.values() for one in many if one.injection < wanted_mbps})

    def reached(position: int) -> int | None:
        """With cards of that rate and more, up to the lowest that is known not to do."""
        found = inquiry.design_of(narrowed(problem, free, rates[position], wanted_mbps - 1))
        return None if found is None else rates.index(int(found.picked[index][0].design.nic.injection))

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
        update = {"max_oversubscription": allowed, **_of_model(inquiry, fabric)}
        found = inquiry.design(changed(inquiry.case, fabric, **update))
        return None if found is None else found.picked[index][0].design.least_ratios(inquiry.problem.gpus).get(tier)

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
    if wanted is None or key in _of_model(inquiry, fabric):
        return

    def reached(least: float | None) -> Fraction | None:
        found = inquiry.design(changed(inquiry.case, fabric, **{key: least}))
        if found is None:
            return None
        design, gpus = found.picked[index][0].design, inquiry.problem.gpus
        given: Fraction | None = getattr(design.figures(gpus), figure)
        return given if given is not None else design.allreduce(gpus)

    what = f"the most {DEMANDED_FIGURES[figure]} bandwidth per GPU that a design gives"
    yield from _most(inquiry, f"fabrics.{fabric.name}.{key}", wanted, reached, what)


def _left_over(inquiry: Inquiry, fabric: Fabric, index: int, number: int) -> Iterator[Conflict]:
    """The most bandwidth that a design has left after the failures of one of the case's demands."""
    one = fabric.survived[number]
    failed, count = one.failures

    def reached(least: float | None) -> Fraction | None:
        lower = () if least is None else (one.model_copy(update={"min_gbps_per_gpu": least}),)
        kept = (*fabric.survived[:number], *lower, *fabric.survived[number + 1 :])
        found = inquiry.design(changed(inquiry.case, fabric, resilience=kept or None))
        if found is None:
            return None
        return found.picked[index][0].design.failures(inquiry.problem.server.gpus).bandwidth_left(failed, count)

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


def path_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The fewest switches on the longest path with which there is a design."""
    for fabric, meant in zip(inquiry.case.fabrics, inquiry.problem.fabrics, strict=True):
        most = fabric.max_switch_hops
        if most is None:
            continue
        limit = f"fabrics.{fabric.name}.max_switch_hops"
        inquiry.tell(limit)
        of_clos = tuple(HOPS_BY_TIERS.values())
        lengths = of_clos if set(meant.topologies) <= set(TIERED) else range(1, max(of_clos) + 1)
        more = (hops for hops in lengths if hops > most)
        others = ((hops, changed(inquiry.case, fabric, max_switch_hops=hops)) for hops in more)
        needed = next((hops for hops, case in others if inquiry.design(case) is not None), None)
        if needed is not None:
            detail = "the fewest switches on the longest path with which there is a design"
            yield Conflict(limit=limit, value=most, needed=needed, detail=detail)


def _rounded_down(value: Fraction, digits: int) -> Fraction:
    """So that a design gives what is written."""
    return Fraction(math.floor(value * 10**digits), 10**digits)


def _rounded_up(value: Fraction, digits: int) -> Fraction:
    """So that what is written is enough: a third more than 1 is 1.333334."""
    return Fraction(math.ceil(value * 10**digits), 10**digits)
