"""Why a case has no design: each limit alone, and the least change to it that would give one.

Every figure named here is the result of searches with that one limit changed and all others kept. Where no value of
a limit alone would do, it has none, and the detail says what every design takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from fabopt.explain.clashes import clashes, prescribed
from fabopt.explain.deliveries import delivery_conflicts
from fabopt.explain.demands import changed, demand_conflicts, path_conflicts
from fabopt.explain.exposure import exposure_conflicts
from fabopt.explain.floor import floor_conflicts, no_layout_fits, rack_rule_conflicts
from fabopt.explain.freedoms import OPEN_KEYS, ROLES, not_on_sale
from fabopt.explain.gaps import gap_sentences
from fabopt.explain.levers import advice
from fabopt.explain.limits import joint_limits, share_of, spending, stage_limit_conflicts, unlimited
from fabopt.explain.relaxation import closest
from fabopt.explain.runs import most_in_reach, run_conflicts, uncovered_runs
from fabopt.explain.sources import source_conflicts
from fabopt.explain.supply import buying_conflicts
from fabopt.explain.torus import servers_are_points, torus_conflicts
from fabopt.explain.what_if import Inquiry, Watch, share_of_limits, sized
from fabopt.parts.nics import NicOption
from fabopt.problem.logical_fabrics import equipped
from fabopt.problem.nic_slots import nics_at_least, slots_are_short, sum_of_nics
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import left_out_of_fabrics
from fabopt.problem.vendors import sources_are_short
from fabopt.program.settings import Clock, Settings, StoppedError, unbroken
from fabopt.schema.base import NO_SINGLE_LIMIT, Strict
from fabopt.schema.case import Fabric
from fabopt.schema.default_rules import (
    LENGTHS,
    NIC_PAIRING,
    ONE_GENERATION,
    ONE_PORT,
    SLOT_SPEED,
    SUBNET_MANAGER,
    TESTED_NICS,
    is_asked_for,
    without,
)
from fabopt.schema.design import Conflict, Number
from fabopt.search.context import Context
from fabopt.topology.families import most_servers
from fabopt.units import gbps

# Every question is a search; when these seconds are over, what has been found by then is told.
MOST_SECONDS = 20.0
# So many questions are asked at most, on a machine of any speed.
MOST_QUESTIONS = 400
SERVERS = "stages.servers"
# With so many times the servers that any design reaches, only what sets its size is looked at besides.
FAR_TOO_MANY = 4
# Of NICs that their slots hold back, so many are named.
MOST_REFUSED = 3
# Of the ports of no NIC at all.
NO_SPEED = "none"
# What a design without a default rule may have.
WITHOUT_RULE = {
    LENGTHS: "the usual lengths, which do not follow from the size of the groups,",
    NIC_PAIRING: "a number of NICs that neither divides the GPUs of a server nor is a multiple of them",
    ONE_PORT: "NICs that need several ports for what a GPU must get",
    SLOT_SPEED: "NICs whose ports carry more than their slots give",
    TESTED_NICS: "NICs that the server is not known to be sold or tested with",
    ONE_GENERATION: "InfiniBand switches of several generations in one fabric",
    SUBNET_MANAGER: "subnets of InfiniBand that no switch manages",
}
Lines = Callable[[Inquiry], Iterator[Conflict]]


def conflicts_of(problem: Problem, settings: Settings, clock: Clock, context: Context) -> tuple[Conflict, ...]:
    """Every limit that alone stands in the way, with what it would have to be.

    Where a design exists without the limits on spending, these clash with the demands; else the demands, the structure
    that the case prescribes and the catalog clash, whatever may be spent. ``context``: of the search that found none.
    """
    inquiry = _inquiry(problem, settings, clock, context)
    if slots_are_short(problem):
        return (_slots(problem), *_asked(inquiry, _named_rules))
    if unequipped := tuple(_logical(problem)):
        return unequipped
    if sources_are_short(problem) and (told := _asked(inquiry, source_conflicts)):
        return tuple(told)
    if unmet := _asked(inquiry, uncovered_runs) or _asked(inquiry, exposure_conflicts):
        return tuple(unmet)
    if problem.limits.are_set or any(stage.limits.are_set for stage in problem.stages):
        spent = _asked(inquiry, spending, stage_limit_conflicts) or _asked(inquiry, joint_limits)
        if spent:
            others = _asked(inquiry, _named_rules, partial(_servers, share=share_of(spent)), demand_conflicts)
            return (*spent, *others)
    conflicts = _unspendable(inquiry)
    if not conflicts and unlimited(problem.case) != problem.case:
        free = _unspendable(replace(inquiry, case=unlimited(problem.case)))
        aside = "limits on spending left aside"
        conflicts = [conflict.model_copy(update={"detail": f"{conflict.detail}; {aside}"}) for conflict in free]
    return tuple(_with_gaps(inquiry, conflicts)) or (_nothing_helps(inquiry),)


def _logical(problem: Problem) -> Iterator[Conflict]:
    """Logical fabrics for which no NIC will do on the leaves of their host."""
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
    """Speeds of the ports of NICs, each once."""
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
    inquiry = replace(_inquiry(problem, settings, clock, context), report=lambda conflict: None)
    spent = _asked(inquiry, spending) if problem.limits.are_set else []
    return tuple(spent or _asked(inquiry, no_layout_fits))


def _inquiry(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Inquiry:
    def tell(what: str) -> None:
        settings.progress(f"no design meets the case: looking at {what}")

    quiet = settings.quiet
    watch = Watch(MOST_SECONDS, clock, MOST_QUESTIONS)
    left_out = tuple(left_out_of_fabrics(problem))
    return Inquiry(problem.case, problem.catalog, problem, quiet, watch, tell, context, settings.told, left_out)


def _unspendable(inquiry: Inquiry) -> list[Conflict]:
    """What stands in the way where no spending would help."""
    placing = _asked(inquiry, floor_conflicts, rack_rule_conflicts, torus_conflicts)
    if placing:
        return placing
    buying = _asked(inquiry, delivery_conflicts, buying_conflicts)
    conflicts = buying + _asked(inquiry, _named_rules, _servers, path_conflicts)
    if any(map(_is_far_too_many, conflicts)):
        return conflicts + _asked(inquiry, _sizes)
    return conflicts + _asked(inquiry, *(() if buying else (_structure, run_conflicts)), demand_conflicts)


def _asked(inquiry: Inquiry, *lines: Lines) -> list[Conflict]:
    """What lines of questions come to, each as far as time allows."""
    conflicts: list[Conflict] = []
    for line in lines:
        with suppress(StoppedError), inquiry.clock.bounded():
            # one after the other, so that what comes before the time is over is kept
            for conflict in line(inquiry):
                conflicts.append(conflict)
                with unbroken():
                    inquiry.report(conflict)
    return conflicts


def _is_far_too_many(conflict: Conflict) -> bool:
    """Whether so many servers are wanted that nothing else is worth looking at."""
    wanted, reached = conflict.value, conflict.needed
    if conflict.limit != SERVERS or not isinstance(wanted, int) or not isinstance(reached, int):
        return False
    return wanted > FAR_TOO_MANY * reached


def _with_gaps(inquiry: Inquiry, conflicts: list[Conflict]) -> list[Conflict]:
    """The conflicts, the first one with what the catalog lacks: others are ways around that."""
    if not conflicts:
        return []
    first = conflicts[0]
    detail = "; ".join([first.detail, *gap_sentences(inquiry)])
    return [first.model_copy(update={"detail": detail}), *conflicts[1:]]


def _nothing_helps(inquiry: Inquiry) -> Conflict:
    """Why no limit alone can be named: what each fabric lacks, or what would have to change together."""
    reasons = [*gap_sentences(inquiry), *clashes(inquiry)] or [prescribed(inquiry)]
    refused = [text for fabric in inquiry.problem.fabrics for text in fabric.refused_nics][:MOST_REFUSED]
    told = "no single change to the case gives a design"
    if inquiry.case.price_basis != "any":
        told += ", `price_basis` left as it is"
    if inquiry.clock.is_over():
        told = "no single change that gives a design was found in the time there was"
    return Conflict(limit=NO_SINGLE_LIMIT, value=None, needed=None, detail="; ".join([told, *reasons, *refused]))


# -- how large ---------------------------------------------------------------------------------------------------


def _servers(inquiry: Inquiry, share: float = 1.0) -> Iterator[Conflict]:
    """The most servers, up to those wanted, for which there is a design. ``share`` of them is a first guess."""
    wanted = inquiry.problem.servers
    if any(map(servers_are_points, inquiry.problem.fabrics)):
        return  # fewer servers may be no torus, and more one
    inquiry.tell(SERVERS)
    most = min(wanted - 1, most_servers(inquiry.problem), most_in_reach(inquiry.problem))
    largest, is_largest = _largest(inquiry, most, int(most * share))
    if largest:
        detail = f"the largest number of servers reachable with this catalog and these limits is {largest:,}"
        yield advice(SERVERS, wanted, largest, detail, is_largest)


def _largest(inquiry: Inquiry, most: int, first_guess: int) -> tuple[int, bool]:
    """The largest number of servers up to ``most`` that has a design, and whether it is; 0 if none has."""
    # of the scarcest limit that each design uses; None: there was no design
    shares: list[float | None] = []

    def ask(servers: int) -> int | None:
        problem = inquiry.problem_of(sized(inquiry.case, servers))
        design = inquiry.design_of(problem, in_reach=True)
        shares.append(None if design is None else share_of_limits(problem, design))
        return None if design is None else servers

    def guess(works: int, fails: int) -> int:
        if not shares:
            return first_guess
        if shares[-1]:
            return int(works / shares[-1])
        # until there is a design, ever further down
        return (works + fails) // 2 if works else fails - max(1, fails // 16) * 2 ** len(shares)

    def between(works: int, fails: int) -> int | None:
        return min(max(guess(works, fails), works + 1), fails - 1) if fails - works > 1 else None

    return closest(0, most + 1, ask, between)


# -- what the case forbids --------------------------------------------------------------------------------------


def _structure(inquiry: Inquiry, *keys: str) -> Iterator[Conflict]:
    """What fabrics prescribe, by these keys if any, where they have a design without."""
    for fabric in inquiry.case.fabrics:
        for update, conflict in _freedoms(inquiry, fabric):
            if keys and not set(keys) & set(update):
                continue
            if inquiry.design(changed(inquiry.case, fabric, **update)) is not None:
                yield conflict


def _sizes(inquiry: Inquiry) -> Iterator[Conflict]:
    """Tiers and groups that a fabric prescribes: few servers may be all that these leave of what could be reached."""
    yield from _structure(inquiry, "tiers", "topologies", "group_by", "groups")


def _freedoms(inquiry: Inquiry, fabric: Fabric) -> Iterator[tuple[dict[str, object], Conflict]]:
    """What a fabric prescribes: how it would be changed to leave that open, and what is said if that gives a design."""
    limit = f"fabrics.{fabric.name}"
    for key, free in OPEN_KEYS:
        value, needed = getattr(fabric, key), _shown(free)
        if value != free:
            named = value if key == "nics" and isinstance(value, tuple) else ()
            detail = "; ".join([f"with {key}: {needed} there is a design", *not_on_sale(inquiry, named)])
            yield {key: free}, Conflict(limit=f"{limit}.{key}", value=_shown(value), needed=needed, detail=detail)
    for role in ROLES:
        ids, choice = getattr(fabric.switches, role), fabric.switches.model_copy(update={role: "any"})
        if ids != "any":
            conflict = Conflict(
                limit=f"{limit}.switches.{role}",
                value=_shown(ids),
                needed="any",
                detail="; ".join([f"with any {role} switch there is a design", *not_on_sale(inquiry, ids)]),
            )
            yield {"switches": choice}, conflict
    if fabric.attachments:
        ports = sum(attachment.ports for attachment in fabric.attachments)
        detail = "without attachments there is a design: their ports do not fit, or no part joins them"
        yield {"attachments": ()}, Conflict(limit=f"{limit}.attachments", value=ports, needed=0, detail=detail)


def _shown(value: object) -> Number | str | None:
    if isinstance(value, int | float | str) or value is None:
        return value
    if isinstance(value, Strict):
        return value.model_dump_json(exclude_defaults=True)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _named_rules(inquiry: Inquiry) -> Iterator[Conflict]:
    """Default rules that are asked for by name: others are not kept where they stand in the way."""
    rules = inquiry.case.rules
    for rule, words in WITHOUT_RULE.items():
        if is_asked_for(rules, rule):
            inquiry.tell(f"rules.{rule}")
            if inquiry.design(inquiry.case.model_copy(update={"rules": without(rules, rule)})) is not None:
                detail = f"with {words} there is a design"
                yield Conflict(limit=f"rules.{rule}", value="true", needed="false", detail=detail)
