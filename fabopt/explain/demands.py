"""Conflicts of the demands on each fabric, with the least change of one demand that gives a design."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction

from fabopt.explain.asking import asking_words
from fabopt.explain.levers import Lever, advice, move_each_alone
from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry, Supposition, narrowed
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.nic_rules import demand_met
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.rules.demands import LARGEST, RATES, FabricDemand
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.design import Conflict, Needed, Number
from fabopt.schema.resilience import DEFAULT_RULE, NO_RULE, Resilience, keeps_default, losses_of
from fabopt.topology.design import NetworkDesign
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.workload.remarks import needed_words
from fabopt.workload.served import FIGURES

# No architect builds more than this; a case that asks for more keeps what it asks for.
MOST_RATIO = 8
# Twice as near as a value that fails has to be.
RATIO_PRECISION = Fraction(1, 2000)
# Further apart than this, two ratios are halved by their quotient, closer by their difference.
FAR_APART = Fraction(11, 10)
RATIO_DIGITS = 6
# Decimals of a ratio to write, rounded up: a wider one has a design too.
WRITTEN_DIGITS = 3
# Speeds are whole Mb/s.
GBPS_DIGITS = 3
# Where any bandwidth will do.
LEAST_GBPS = 0.001
# Of a bandwidth that the case does not say.
LEFT_OUT = "the case leaves it out, which takes the default"


def changed(case: Case, fabric: Fabric, **update: object) -> Case:
    """The case with keys of one fabric updated."""
    fabrics = tuple(other.model_copy(update=update) if other.name == fabric.name else other for other in case.fabrics)
    return case.model_copy(update={"fabrics": fabrics})


def with_key(fabric: Fabric, key: str, value: object) -> Callable[[Case], Case]:
    """A function that sets one key of a fabric in a case."""
    return lambda case: changed(case, fabric, **{key: value})


def ratio_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of oversubscription at each boundary: the least ratio that gives a design."""
    for index, _, meant in inquiry.fabrics:
        for tier in boundaries(meant):
            yield from ratio_conflict(inquiry, index, tier)


def boundaries(meant: FabricProblem) -> tuple[str, ...]:
    """The tiers of a fabric with a limit of oversubscription below ``MOST_RATIO``, the highest that is advised."""
    of_tiers = list(_ratios(meant).items())[: meant.shapes.tallest - 1]
    return tuple(tier for tier, ratio in of_tiers if ratio < MOST_RATIO)


def _ratios(meant: FabricProblem) -> dict[str, Fraction]:
    return {"leaf": meant.ratios.leaf, "spine": meant.ratios.spine}


def speed_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each demanded bandwidth: the most below it that some design gives."""
    for index, fabric, _ in inquiry.fabrics:
        yield from bandwidth_conflict(inquiry, index)
        for demand in RATES:
            yield from rate_conflict(inquiry, index, demand)
        yield from _priorities(inquiry, fabric, index)
        survived = losses_of(inquiry.case.resilience_of(fabric))
        for number, loss in enumerate(survived):
            if loss.min_gbps_per_gpu is not None:
                yield from _left_over(inquiry, fabric, index, survived, number)


def _of_model(inquiry: Inquiry, fabric: Fabric) -> dict[str, None]:
    """Keys of figures that the model sets, with None: they follow from bandwidth and ratios, and are no own limits."""
    needs = inquiry.problem.needs
    if needs is None or needs.fabric != fabric.name:
        return {}
    return {name: None for name in FIGURES if name in needs.sets}


def _network(inquiry: Inquiry, fabric: Fabric, index: int, **update: object) -> NetworkDesign | None:
    """The network of a fabric in some design of the case with its keys updated; None without a design."""
    optimum = inquiry.design(changed(inquiry.case, fabric, **update))
    return None if optimum is None else optimum.picked[index][0].design


def bandwidth_key(fabric: Fabric) -> str:
    """The key that a case says the bandwidth of a fabric with."""
    return f"fabrics.{fabric.name}.min_gbps_per_{'gpu' if fabric.min_gbps_per_server is None else 'server'}"


def with_any_bandwidth(inquiry: Inquiry, fabric: Fabric, case: Case) -> Case:
    """The case with the least demand of bandwidth of a fabric."""
    least: dict[str, object] = {"min_gbps_per_server": None, "storage": None, "min_gbps_per_gpu": LEAST_GBPS}
    return changed(case, fabric, **least, **_of_model(inquiry, fabric))


def bandwidth_conflict(inquiry: Inquiry, index: int) -> Iterator[Conflict]:
    """The most injection below the demand that some design gives, in the key that the case says it with."""
    fabric = inquiry.fabric(index)
    wanted = fabric.min_gbps_per_server or gbps(inquiry.problem.fabrics[index].gpu_mbps)
    return inquiry.of_limit(bandwidth_key(fabric), wanted, _bandwidth(inquiry, fabric, index, wanted))


def _bandwidth(inquiry: Inquiry, fabric: Fabric, index: int, wanted: float) -> Iterator[Conflict]:
    per_server, limit = fabric.min_gbps_per_server is not None, bandwidth_key(fabric)
    wanted_mbps = inquiry.problem.fabrics[index].gpu_mbps
    problem = inquiry.problem_of(with_any_bandwidth(inquiry, fabric, inquiry.case))
    free = problem.fabrics[index]
    rules = problem.case.rules
    met = (demand_met(nic, rules) for nics in free.nics.values() for nic in nics)
    rates = sorted({int(rate) for rate in met if rate < wanted_mbps})

    def reached(position: int) -> int | None:
        """With NICs of that rate and more, up to the lowest that is known not to do."""
        optimum = inquiry.design_of(narrowed(problem, free, rates[position], wanted_mbps - 1))
        if optimum is None:
            return None
        # what its cards give in that design is a rate of theirs, or above one
        met_mbps = int(demand_met(optimum.picked[index][0].design.nic, rules))
        return max(position, bisect_right(rates, met_mbps) - 1)

    most, is_least = closest(-1, len(rates), reached, halfway)
    if most < 0:
        return
    refused = inquiry.problem.fabrics[index].other_nics.refused
    left_out = [_left_out(inquiry, fabric)] if fabric.min_gbps_per_gpu is None else []
    left_out = [] if per_server or fabric.storage is not None else left_out
    detail = "; ".join([f"the most bandwidth per {'server' if per_server else 'GPU'} that a design gives", *left_out])
    detail = "; ".join([detail, *refused[:3]])
    per = max(1, inquiry.problem.server.gpus) if per_server else 1
    conflict = advice(limit, wanted, gbps(per * rates[most]), detail, is_least)
    if fabric.storage is not None:
        other = Needed(limit=f"fabrics.{fabric.name}.storage", needed=None)
        conflict = conflict.model_copy(update={"together": (Needed(limit=limit, needed=gbps(rates[most])), other)})
    yield conflict


def _left_out(inquiry: Inquiry, fabric: Fabric) -> str:
    """Where a bandwidth comes from that the case does not say."""
    needs, least = inquiry.problem.needs, "min_gbps_per_gpu"
    if needs is None or needs.fabric != fabric.name or least not in needs.sets:
        return LEFT_OUT
    asks = asking_words(inquiry.problem)
    return f"the case leaves it out, which takes what its model needs: {needed_words(needs)}{asks and f'; {asks}'}"


def _priorities(inquiry: Inquiry, fabric: Fabric, index: int) -> Iterator[Conflict]:
    """The most lossless priorities that the pools of some design hold."""
    if fabric.roce is None:
        return
    limit, wanted = f"fabrics.{fabric.name}.roce.lossless_priorities", fabric.roce.lossless_priorities
    inquiry.tell(limit)
    for fewer in range(wanted - 1, 0, -1):
        roce = fabric.roce.model_copy(update={"lossless_priorities": fewer})
        if _network(inquiry, fabric, index, roce=roce) is not None:
            yield advice(limit, wanted, fewer, "the most lossless priorities that pools of switches hold")
            return
    if _network(inquiry, fabric, index, roce=None) is not None:
        yield advice(limit, wanted, 0, "no pool of a switch on sale holds one: without `roce` there is a design")


def ratio_key(fabric: Fabric, tier: str) -> str:
    """The key of the oversubscription at a boundary."""
    return f"fabrics.{fabric.name}.max_oversubscription.{tier}"


def with_any_ratio(inquiry: Inquiry, index: int, tier: str, case: Case) -> Case:
    """The case with ``MOST_RATIO`` at one boundary, the other boundary's ratio kept."""
    return _with_ratio(inquiry, index, tier, MOST_RATIO, case)


def _with_ratio(inquiry: Inquiry, index: int, tier: str, most: float, case: Case) -> Case:
    fabric = inquiry.fabric(index)
    given = next(other.max_oversubscription for other in case.fabrics if other.name == fabric.name)
    if not isinstance(given, Oversubscription) or None in (given.leaf, given.spine):
        ratios = _ratios(inquiry.problem.fabrics[index]).items()
        given = Oversubscription(**{boundary: float(ratio) for boundary, ratio in ratios}, hall=fabric.hall_ratio)
    allowed = given.model_copy(update={tier: most})
    return changed(case, fabric, max_oversubscription=allowed, **_of_model(inquiry, fabric))


def ratio_conflict(inquiry: Inquiry, index: int, tier: str) -> Iterator[Conflict]:
    """The conflict of one boundary: the least oversubscription that gives a design, the other boundary's kept."""
    limit, wanted = ratio_key(inquiry.fabric(index), tier), _ratios(inquiry.problem.fabrics[index])[tier]
    return inquiry.of_limit(limit, plain_fraction(wanted, RATIO_DIGITS), _ratio(inquiry, index, tier, limit, wanted))


def _ratio(inquiry: Inquiry, index: int, tier: str, limit: str, wanted: Fraction) -> Iterator[Conflict]:
    def given(most: Fraction) -> Fraction | None:
        optimum = inquiry.design(_with_ratio(inquiry, index, tier, float(most), inquiry.case))
        network = None if optimum is None else optimum.picked[index][0].design
        return None if network is None else network.least_ratios(inquiry.problem.gpus).get(tier)

    def reached(most: Fraction) -> Fraction | None:
        ratio = given(most)
        if ratio is None or ratio >= most or len(inquiry.problem.stages) == 1:
            return ratio
        # that is the ratio of the last stage, and one before may have a higher one
        return ratio if given(rounded_up(ratio, WRITTEN_DIGITS)) is not None else most

    loosest = reached(Fraction(MOST_RATIO))
    if loosest is None:
        return
    least, is_least = closest(loosest, wanted, reached, _ratio_between)
    told = f"the least oversubscription at the {tier} boundary that gives a design"
    yield advice(
        limit,
        plain_fraction(wanted, RATIO_DIGITS),
        plain_fraction(rounded_up(least, WRITTEN_DIGITS), WRITTEN_DIGITS),
        nearly(told, is_least),
        is_least,
    )


def _ratio_between(works: Fraction, fails: Fraction) -> Fraction | None:
    """The mean of two ratios, the geometric one where they are far apart; None within ``RATIO_PRECISION``."""
    if works - fails <= RATIO_PRECISION * works:
        return None
    middle = math.sqrt(fails * works) if works > FAR_APART * fails else float(fails + works) / 2
    return exact(float(f"{middle:.{RATIO_DIGITS}g}"))


def rate_conflict(inquiry: Inquiry, index: int, demand: FabricDemand) -> Iterator[Conflict]:
    """The conflict of a demanded bandwidth: the most below it that some design gives (within 0.1 %)."""
    fabric, key = inquiry.fabric(index), demand.key
    wanted = getattr(fabric, key)
    if wanted is None or key in _of_model(inquiry, fabric):
        return

    def reached(least: float | None) -> Fraction | None:
        network, gpus = _network(inquiry, fabric, index, **{key: least}), inquiry.problem.gpus
        if network is None:
            return None
        given: Fraction | None = getattr(network.figures(gpus), demand.figure)
        return given if given is not None else network.allreduce(gpus)

    yield from _most(inquiry, f"fabrics.{fabric.name}.{key}", wanted, reached, f"{demand.words} that a design gives")


def _left_over(
    inquiry: Inquiry, fabric: Fabric, index: int, survived: tuple[Resilience, ...], number: int
) -> Iterator[Conflict]:
    """The conflict of one demand of resilience: the most bandwidth that a design has left after its failures."""
    demand, said = survived[number], inquiry.case.resilience_of(fabric)
    failed, count = demand.failures
    rule = (DEFAULT_RULE,) if keeps_default(said) else ()

    def reached(least: float | None) -> Fraction | None:
        lower = () if least is None else (demand.model_copy(update={"min_gbps_per_gpu": least}),)
        kept = (*rule, *survived[:number], *lower, *survived[number + 1 :])
        network = _network(inquiry, fabric, index, resilience=kept or NO_RULE)
        return None if network is None else network.failures(inquiry.problem.server.gpus).bandwidth_left(failed, count)

    place = f".{said.index(demand)}" if isinstance(said, tuple) else ""
    key = "resilience" if fabric.resilience is None else f"fabrics.{fabric.name}.resilience"
    limit = f"{key}{place}.min_gbps_per_gpu"
    words = f"the most bandwidth per GPU that a design has left after {demand.survive}"
    nics = inquiry.problem.fabrics[index].nics.values()
    if all(nic.ports_per_server == 1 for options in nics for nic in options):
        words += "; a server has one port, and nothing without what that is joined to"
    for conflict in _most(inquiry, limit, demand.least_gbps, reached, words):
        if conflict.needed == 0 and len(survived) == 1:
            # no bandwidth can be asked for: the loss itself is left out
            changes = {"limit": key, "value": demand.survive, "needed": rule[0] if rule else NO_RULE, "direction": None}
            conflict = conflict.model_copy(update={**changes, "minimal": None})
        yield conflict


def _most(
    inquiry: Inquiry, limit: str, wanted: float, reached: Callable[[float | None], Fraction | None], words: str
) -> Iterator[Conflict]:
    """The conflict with the most Gb/s below ``wanted`` that some design gives; ``reached``: Mb/s of a design with at
    least as many Gb/s as its argument.
    """
    return inquiry.of_limit(limit, wanted, _most_reached(limit, wanted, reached, words))


def _most_reached(
    limit: str, wanted: float, reached: Callable[[float | None], Fraction | None], words: str
) -> Iterator[Conflict]:
    given = reached(None)
    if given is None:
        return

    def ask(least_mbps: Fraction) -> Fraction | None:
        reaches = reached(plain_fraction(least_mbps / MBPS_PER_GBPS, GBPS_DIGITS))
        return None if reaches is None else max(reaches, least_mbps)

    def between(works: Fraction, fails: Fraction) -> Fraction | None:
        return (works + fails) / 2 if fails - works > RATIO_PRECISION * fails else None

    most, is_least = closest(given, exact(wanted) * MBPS_PER_GBPS, ask, between)
    needed = plain_fraction(_rounded_down(most / MBPS_PER_GBPS, GBPS_DIGITS), GBPS_DIGITS)
    yield advice(limit, wanted, needed, nearly(words, is_least), is_least)


def nearly(words: str, is_least: bool) -> str:
    """Words on the needed value of a limit, found within a thousandth; ``is_least``: whether the search ended."""
    return f"{words} (within 0.1%)" if is_least else f"a value with which there is a design, not yet {words}"


def largest_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of the largest numbers that a case allows fabrics: the least above each that gives a design."""
    for index, _, _ in inquiry.fabrics:
        yield from move_each_alone(inquiry, largest_levers(inquiry, index))


def largest_levers(inquiry: Inquiry, index: int) -> list[Lever]:
    """Levers of the largest numbers that a case allows a fabric."""
    fabric = inquiry.fabric(index)
    return [_largest(index, fabric, demand) for demand in LARGEST if getattr(fabric, demand.key) is not None]


def _largest(index: int, fabric: Fabric, demand: FabricDemand) -> Lever:
    value = getattr(fabric, demand.key)

    def applied(asked: Supposition, most: Number | None) -> Supposition:
        return asked._replace(case=changed(asked.case, fabric, **{demand.key: most}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        network, (part, _, key) = optimum.picked[index][0].design, demand.figure.partition(".")
        entries = getattr(network.file_part(), part) if key else [network.figures(problem.gpus)]
        most: int = max(value, sum(getattr(entry, key or part) for entry in entries))
        return most

    limit = f"fabrics.{fabric.name}.{demand.key}"
    return Lever(limit, value, f"{demand.words} with which there is a design", applied, taken)


def _rounded_down(value: Fraction, digits: int) -> Fraction:
    """A number rounded down to ``digits`` decimals, so that a design gives the written figure."""
    return Fraction(math.floor(value * 10**digits), 10**digits)


def rounded_up(value: Fraction, digits: int) -> Fraction:
    """A number rounded up to ``digits`` decimals, so that the written limit is enough: 4/3 is 1.333334."""
    return Fraction(math.ceil(value * 10**digits), 10**digits)
