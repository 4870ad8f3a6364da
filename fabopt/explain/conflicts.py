"""Conflicts of a case without a design: each limit, and its least change that gives a design.

Every figure is the result of searches with one limit changed and all others kept. If no value of a limit gives a
design, the conflict has no figure, and its detail states the least use of any design.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from fabopt.errors import InputError
from fabopt.explain.cabling import cabling_conflicts
from fabopt.explain.channels import loss_conflicts
from fabopt.explain.clashes import clashes, joint_conflicts, prescribed
from fabopt.explain.deliveries import date_conflicts, delivery_conflicts
from fabopt.explain.demands import largest_conflicts, ratio_conflicts, speed_conflicts
from fabopt.explain.exposure import asking_conflicts, exposure_conflicts
from fabopt.explain.floor import (
    airflow_conflicts,
    floor_conflicts,
    load_conflicts,
    more_racks,
    no_layout_fits,
    rack_rule_conflicts,
)
from fabopt.explain.freedoms import MOST_PRODUCTS, Freedom, lacking_freedoms
from fabopt.explain.gaps import UNKNOWN_USD, gap_of, gap_sentences, unlisted_parts
from fabopt.explain.halls import hall_conflicts
from fabopt.explain.in_service import base_conflicts, pod_conflicts, shapes_beside_base
from fabopt.explain.latency import latency_conflicts
from fabopt.explain.levers import UNSETTLED, advice, joint_limits, share_of, spending, stage_limit_conflicts
from fabopt.explain.relaxation import closest
from fabopt.explain.runs import most_in_reach, run_conflicts, uncovered_runs
from fabopt.explain.structures import (
    one_port_conflicts,
    product_conflicts,
    servers_are_points,
    shape_conflicts,
    size_conflicts,
    torus_conflicts,
)
from fabopt.explain.supply import buying_conflicts, source_conflicts
from fabopt.explain.what_if import (
    NO_SINGLE_CHANGE,
    Inquiry,
    Supposition,
    Watch,
    share_of_limits,
    size_of,
    with_needed,
)
from fabopt.io.workload import runs_on, with_servers
from fabopt.parts.nics import NicOption
from fabopt.problem.demand import stages_of
from fabopt.problem.logical_fabrics import equipped
from fabopt.problem.nic_slots import nics_at_least, slots_are_short, sum_of_nics
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import left_out_of_fabrics, unlimited
from fabopt.problem.vendors import sources_are_short
from fabopt.program.orders import all_uses
from fabopt.program.settings import Clock, Settings, StoppedError, unbroken
from fabopt.rules.defaults import DEFAULT_RULES, is_asked_for, without
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.design import BUDGET_KEY, Conflict, Needed
from fabopt.schema.model import Model
from fabopt.search.context import Context
from fabopt.topology.families import most_servers
from fabopt.units import gbps, some, usd

# -- the number of servers that has a design, where the wanted number has none ----------------------------------------


def size_advice(inquiry: Inquiry, share: float = 1.0) -> Iterator[Conflict]:
    """The conflict of size: a number of servers with a design where one more has none. ``share``: a first guess."""
    wanted = inquiry.problem.servers
    if any(map(servers_are_points, inquiry.problem.fabrics)):
        return  # fewer servers may be no torus, and more one
    wanted_size = size_of(inquiry, wanted)
    inquiry.tell(wanted_size.limit)
    most = min(wanted - 1, most_servers(inquiry.problem), most_in_reach(inquiry.problem))
    sizes = _sizes(inquiry, most)
    largest, is_largest = _largest(inquiry, sizes, int(most * share))
    if largest:
        more = "one more" if isinstance(sizes, range) else "more that its model runs on"
        rest = f"with {more} there is none" if is_largest else UNSETTLED
        detail = f"with {some(largest, 'server')} there is a design; {rest}"
        size = size_of(inquiry, largest)
        conflict = advice(size.limit, wanted_size.number, size.number, detail, is_largest)
        before = enumerate(stages_of(inquiry.case, inquiry.problem.server)[:-1])
        along = [size_of(inquiry, largest, place).needed for place, stage in before if (stage.servers or 0) > largest]
        yield conflict.model_copy(update={"together": (size.needed, *along) if along else ()})


def _sizes(inquiry: Inquiry, most: int) -> Sequence[int]:
    """Numbers of servers up to ``most``; with a model those that its plan runs on."""
    case, server = inquiry.case, inquiry.problem.server
    if case.workload is None or not isinstance(case.workload.model, Model):
        return range(1, most + 1)
    return [size for size in range(1, most + 1) if runs_on(case, server, size)]


def _largest(inquiry: Inquiry, sizes: Sequence[int], first_guess: int) -> tuple[int, bool]:
    """The largest of some numbers of servers with a design, and whether the next has none; 0 if none has."""
    # of the scarcest limit that each design uses; None: there was no design
    shares: list[float | None] = []

    def ask(number: int) -> int | None:
        problem = inquiry.problem_of(with_servers(inquiry.case, sizes[number - 1]))
        design = inquiry.design_of(problem, in_reach=True)
        shares.append(None if design is None else share_of_limits(problem, design))
        return None if design is None else number

    def guess(works: int, fails: int) -> int:
        if not shares:
            return bisect_right(sizes, first_guess)
        if shares[-1]:
            return bisect_right(sizes, int(sizes[works - 1] / shares[-1]))
        # until there is a design, ever further down
        return (works + fails) // 2 if works else fails - max(1, fails // 16) * 2 ** len(shares)

    def between(works: int, fails: int) -> int | None:
        return min(max(guess(works, fails), works + 1), fails - 1) if fails - works > 1 else None

    largest, is_largest = closest(0, len(sizes) + 1, ask, between)
    return (sizes[largest - 1] if largest else 0), is_largest


# -- conflicts of listed products that lack only a price, a power figure or a split, where these give a design --------


# Of parts that no row of the catalog gives.
UNLISTED_PARTS = "catalog.parts"


def lacking_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each figure that products lack, if a design would use them; figures that fill a gap are told with
    it.

    None with limits on spending, as an unknown price cannot be judged.
    """
    if unlimited(inquiry.case) == inquiry.case and not any(
        gap_of(inquiry.problem, fabric) for fabric in inquiry.problem.fabrics
    ):
        told = False
        for freedom in lacking_freedoms(inquiry, UNKNOWN_USD):
            for conflict in inquiry.of_limit(f"catalog.{freedom.key}", None, _with_figures(inquiry, freedom)):
                told = True
                yield conflict
        if not told:  # what is listed, but for a figure, would do
            yield from inquiry.of_limit(UNLISTED_PARTS, None, _with_unlisted_parts(inquiry))


def _with_figures(inquiry: Inquiry, freedom: Freedom) -> Iterator[Conflict]:
    problem = inquiry.problem_asked(Supposition(inquiry.case, freedom.catalog))
    optimum = inquiry.design_of(problem)
    if optimum is None:
        return
    bought = {*(item.id for _, item in all_uses(problem, optimum.picked))}
    lacking = freedom.lacking(inquiry, sorted(bought))
    inquiry.met.clear()  # its price rests on figures that nobody knows
    if lacking:
        detail = f"there would be a design with {freedom.says(lacking[:MOST_PRODUCTS])}"
        yield Conflict(limit=f"catalog.{lacking[0]}.{freedom.key}", value=None, needed=None, detail=detail)


def _with_unlisted_parts(inquiry: Inquiry) -> Iterator[Conflict]:
    if told := unlisted_parts(inquiry):
        yield Conflict(limit=UNLISTED_PARTS, value=None, needed=None, detail="; ".join(told))


# -- conflicts of a case without a design: each limit, and its least change that gives a design -----------------------


# Every question is a search; so many are asked at most, each of so much work, on a machine of any speed.
MOST_QUESTIONS = 400
# When so many times the seconds of the proof that there is no design are over, what has been found by then is told; but
# not before the least seconds, and after the most, on large floors and on small ones of many places.
TIMES_OF_PROOF = 5
LEAST_SECONDS, MOST_SECONDS = 30.0, 120.0
# With so many times the servers that any design reaches, only what sets its size is looked at besides.
FAR_TOO_MANY = 4
# Of NICs that their slots hold back, so many are named.
MOST_REFUSED = 3
# Of the ports of no NIC at all.
NO_SPEED = "none"
Lines = Callable[[Inquiry], Iterator[Conflict]]
OF_PARTS: Sequence[Lines] = (latency_conflicts, pod_conflicts, product_conflicts, buying_conflicts, lacking_conflicts)


def conflicts_of(problem: Problem, settings: Settings, clock: Clock, context: Context) -> tuple[Conflict, ...]:
    """Every limit that single-handedly prevents a design, with the needed value and the cost of a design with it.

    In the order in which people pull levers: ratio, shape, speed, vendors and products, servers, dates, money. If a
    design exists without the limits on spending, these clash with the demands; else demands, prescribed structure and
    catalog clash at any spending. ``context``: of the search that found none.
    """
    inquiry = inquiry_of(problem, settings, clock, context)
    # each key of a shape may take all the time there is, so what gives up the base is asked first, and told last
    if told := _asked(inquiry, base_conflicts, shapes_beside_base):
        return tuple(sorted(told, key=lambda one: one.limit.partition(".")[0] == "base"))
    if slots_are_short(problem):
        return (_slots(problem), *_asked(inquiry, named_rules))
    if unequipped := tuple(_logical(problem)):
        return unequipped
    if sources_are_short(problem) and (told := _asked(inquiry, source_conflicts)):
        return tuple(told)
    if unmet := _asked(inquiry, uncovered_runs) or _asked(inquiry, exposure_conflicts):
        return tuple(unmet)
    if far := _asked(inquiry, hall_conflicts):
        return (*far, *_asked(inquiry, size_advice))
    if unpaired := _asked(inquiry, one_port_conflicts):
        return (*unpaired, *_asked(inquiry, named_rules))
    if problem.limits.are_set or any(stage.limits.are_set for stage in problem.stages):
        quiet = replace(inquiry, report=lambda conflict: None)
        spent = _asked(quiet, spending, stage_limit_conflicts) or _asked(quiet, joint_limits)
        if spent:
            size = partial(size_advice, share=share_of(spent))
            demands = (ratio_conflicts, largest_conflicts, shape_conflicts, speed_conflicts)
            told = _asked(inquiry, *demands, *OF_PARTS, size, date_conflicts, named_rules, _known(spent))
            limits = {conflict.limit for conflict in told}  # what is known is told when the time is over too
            return (*told, *(conflict for conflict in spent if conflict.limit not in limits))
    conflicts = _unspendable(inquiry) or _asked(inquiry, joint_conflicts)
    if not conflicts and unlimited(inquiry.case) != inquiry.case:
        free = _unspendable(replace(inquiry, case=unlimited(inquiry.case)))
        aside = "limits on spending left aside"
        conflicts = [conflict.model_copy(update={"detail": f"{conflict.detail}; {aside}"}) for conflict in free]
    return tuple(_with_gaps(inquiry, conflicts)) or (_nothing_helps(inquiry),)


def _logical(problem: Problem) -> Iterator[Conflict]:
    """Conflicts of logical fabrics without a NIC for the leaves of their host."""
    for host in problem.fabrics:
        if not host.logical_fabrics or equipped(problem, host, False):
            continue
        if not any(host.nics.values()):
            continue  # the host has no NICs itself, whatever is on its leaves
        wanted = _speeds(nic for nics in host.nics.values() for nic in nics)
        for logical in host.logical_fabrics:
            shown = _speeds(nic for protocol in host.protocols for nic in logical.nics.get(protocol, ()))
            rule = f"a leaf has one speed of ports to servers, which is {wanted} Gb/s in its host {host.name}"
            those = f"NICs that give {logical.name} its bandwidth, a port a cage, have ports of {shown} Gb/s"
            if shown == NO_SPEED:
                those = f"no NIC on sale gives {logical.name} its bandwidth with a port a cage"
            yield Conflict(
                limit=f"fabrics.{logical.name}.nics",
                value=shown,
                needed=wanted,
                detail=f"{rule}; {those}; {sum_of_nics(problem)}",
            )


def _speeds(nics: Iterable[NicOption]) -> str:
    """Distinct port speeds of NICs, in Gb/s, in words."""
    return ", ".join(f"{speed:g}" for speed in sorted({gbps(nic.port.lane.port_mbps) for nic in nics})) or NO_SPEED


def _slots(problem: Problem) -> Conflict:
    return Conflict(
        limit=f"servers.{problem.server.id}.nic_slots",
        value=problem.nic_slots,
        needed=sum(nics_at_least(problem).values()),
        detail=f"NICs that give each fabric its bandwidth do not fit the server: {sum_of_nics(problem)}",
    )


def obstacles_of(problem: Problem, settings: Settings, clock: Clock, context: Context) -> tuple[Conflict, ...]:
    """The nearest obstacle where no design was found on a floor, and none was ruled out."""
    if problem.site.settles or clock.is_over():
        return ()
    inquiry = replace(inquiry_of(problem, settings, clock, context), report=lambda conflict: None)
    spent = _asked(inquiry, spending) if problem.limits.are_set else []
    return tuple(spent or _asked(inquiry, no_layout_fits))


def inquiry_of(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Inquiry:
    """Questions about a problem."""

    def tell(what: str) -> None:
        settings.progress(f"no design meets the case: looking at {what}")

    quiet = settings.quiet
    seconds = min(MOST_SECONDS, max(LEAST_SECONDS, TIMES_OF_PROOF * clock.spent_s()))
    watch = Watch(seconds, clock, MOST_QUESTIONS)
    left_out = tuple(left_out_of_fabrics(problem))
    return Inquiry(problem.asked, problem.catalog, problem, quiet, watch, tell, context, settings.told, left_out)


def _unspendable(inquiry: Inquiry) -> list[Conflict]:
    """Conflicts where no spending gives a design."""
    placing = _asked(inquiry, floor_conflicts, load_conflicts, rack_rule_conflicts, airflow_conflicts, torus_conflicts)
    if placing:
        return [*_asked(inquiry, loss_conflicts, cabling_conflicts), *placing, *_asked(inquiry, more_racks)]
    size = _asked(replace(inquiry, report=lambda conflict: None), size_advice)
    if any(map(_is_far_too_many, size)):
        return _asked(
            inquiry, largest_conflicts, size_conflicts, *OF_PARTS, _known(size), delivery_conflicts, named_rules
        )
    demands = (ratio_conflicts, largest_conflicts, shape_conflicts, speed_conflicts, asking_conflicts)
    others = (loss_conflicts, delivery_conflicts, run_conflicts, named_rules)
    # leads are quickly looked at, and anything else with trunks is not
    return _asked(inquiry, cabling_conflicts, *demands, *OF_PARTS, _known(size), more_racks, *others)


def _known(conflicts: list[Conflict]) -> Lines:
    """Known conflicts as a line of questions, for their place in the order."""
    return lambda inquiry: iter(conflicts)


def _asked(inquiry: Inquiry, *lines: Lines) -> list[Conflict]:
    """Priced conflicts of lines of questions, each line as far as time allows; one for a choice written in two keys."""
    conflicts: list[Conflict] = []
    for line in lines:
        with suppress(StoppedError), inquiry.clock.bounded():
            # one after the other, so that what comes before the time is over is kept
            for conflict in line(inquiry):
                priced = _priced(inquiry, conflict)
                if priced is None:
                    continue
                conflicts.append(priced)
                with unbroken():
                    inquiry.report(priced)
    return conflicts


def _priced(inquiry: Inquiry, conflict: Conflict) -> Conflict | None:
    """A conflict with the cost of its design; None if an earlier conflict in other words led to the same design."""
    question = conflict.limit, conflict.needed, conflict.together
    if conflict.needed is None or conflict.capex_usd is not None or question in inquiry.priced:
        return conflict
    if conflict.limit == BUDGET_KEY and conflict.minimal and not conflict.together:
        # no design takes less, and one takes no more
        inquiry.met.clear()
        return conflict.model_copy(update={"capex_usd": conflict.needed})
    inquiry.priced.add(question)
    if isinstance(conflict.needed, int | float) and not conflict.limit.startswith("catalog."):
        _meet(inquiry, conflict)
    answer = inquiry.answer_met()
    inquiry.met.clear()
    if answer is None:
        return conflict
    if not isinstance(conflict.needed, int | float):
        if answer.choice in inquiry.choices:
            return None
        inquiry.choices.add(answer.choice)
    return conflict.model_copy(update={"capex_usd": usd(answer.cents)})


def _meet(inquiry: Inquiry, conflict: Conflict) -> None:
    """Meet the design of the case with the very numbers that a conflict needs."""
    changes = conflict.together or (Needed(limit=conflict.limit, needed=conflict.needed),)
    with suppress(StoppedError, InputError):
        problem = inquiry.problem_of(with_needed(inquiry, inquiry.case, changes))
        if not inquiry.met or inquiry.met[0].problem.asked != problem.asked:
            inquiry.met.clear()
            inquiry.design_of(problem)


def _is_far_too_many(conflict: Conflict) -> bool:
    """Whether the wanted servers exceed the feasible ones ``FAR_TOO_MANY`` times, so that other levers are skipped."""
    wanted, reached = conflict.value, conflict.needed
    if not isinstance(wanted, int) or not isinstance(reached, int):
        return False
    return wanted > FAR_TOO_MANY * reached


def _with_gaps(inquiry: Inquiry, conflicts: list[Conflict]) -> list[Conflict]:
    """The conflicts, with the catalog's gaps in the first one's detail: the others are ways around them."""
    if not conflicts:
        return []
    first = conflicts[0]
    detail = "; ".join([first.detail, *gap_sentences(inquiry)])
    return [first.model_copy(update={"detail": detail}), *conflicts[1:]]


def _nothing_helps(inquiry: Inquiry) -> Conflict:
    """The conflict that names no single limit: gaps of each fabric, or keys that clash together."""
    reasons = [*gap_sentences(inquiry), *clashes(inquiry)] or [prescribed(inquiry)]
    refused = [text for fabric in inquiry.problem.fabrics for text in fabric.other_nics.refused][:MOST_REFUSED]
    told = NO_SINGLE_CHANGE
    if inquiry.clock.is_over():
        told = "no single change that gives a design was found in the time there was"
    return Conflict(limit=NO_SINGLE_LIMIT, value=None, needed=None, detail="; ".join([told, *reasons, *refused]))


def named_rules(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of default rules that the case asks for by name: other default rules yield by themselves."""
    rules = inquiry.case.rules
    for name, rule in DEFAULT_RULES.items():
        if rule.without and is_asked_for(rules, name):
            case = inquiry.case.model_copy(update={"rules": without(rules, name)})
            detail = f"with {rule.without} there is a design"
            yield from inquiry.opened(
                case, Conflict(limit=f"rules.{name}", value="true", needed="false", detail=detail)
            )
