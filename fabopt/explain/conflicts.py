"""Why a case has no design: each limit alone, and the least change to it that would give one.

Every figure named here is the result of searches with that one limit changed and all others kept. Where no value of
a limit alone would do, it has none, and the detail says what every design takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from fabopt.explain.demands import changed, demand_conflicts, path_conflicts
from fabopt.explain.floor import crowded, floor_conflicts
from fabopt.explain.limits import share_of, spending, together
from fabopt.explain.supply import buying_conflicts, stage_limit_conflicts, supply_conflicts, unlimited
from fabopt.explain.torus import servers_are_points, torus_conflicts
from fabopt.explain.what_if import Inquiry, TimeOverError, Watch, share_of_limits, sized
from fabopt.problem.card_slots import cards_at_least, slots_are_short, sum_of_cards
from fabopt.problem.logical_fabrics import equipped
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.schema.base import Strict
from fabopt.schema.case import Distances, Fabric
from fabopt.schema.design import Conflict
from fabopt.topology.families import most_servers
from fabopt.units import gbps

# Every question is a search; when these seconds are over, what has been found by then is told.
MOST_SECONDS = 20.0
SERVERS = "stages.servers"
# With so many times the servers that any design reaches, no other single change is looked for.
FAR_TOO_MANY = 4
SHORTEST_RUN_M = 0.5
RUN_PRECISION_M = 0.5
# by kind of run: switch tiers that it takes
RUN_KEYS = {"server-leaf": 1, "leaf-spine": 2, "spine-core": 3, "attachment-leaf": 1}
Lines = Callable[[Inquiry], Iterator[Conflict]]


def conflicts_of(problem: Problem, settings: Settings, clock: Clock) -> tuple[Conflict, ...]:
    """Every limit that alone stands in the way, with what it would have to be.

    Where a design exists without the limits on spending, these clash with the demands; else the demands, the structure
    that the case prescribes and the catalog clash, whatever may be spent.
    """

    inquiry = _inquiry(problem, settings, clock)
    if slots_are_short(problem):
        return (_slots(problem),)
    if unequipped := tuple(_logical(problem)):
        return unequipped
    if problem.limits.are_set or any(stage.limits.are_set for stage in problem.stages):
        found = _asked(inquiry, spending, stage_limit_conflicts) or _asked(inquiry, together)
        if found:
            return (*found, *_asked(inquiry, partial(_servers, share=share_of(found)), demand_conflicts))
    found = _unspendable(inquiry)
    if not found and unlimited(problem.case) != problem.case:
        free = _unspendable(replace(inquiry, case=unlimited(problem.case)))
        found = [one.model_copy(update={"detail": f"{one.detail}; limits on spending left aside"}) for one in free]
    return tuple(found) or (_nothing_helps(inquiry),)


def _logical(problem: Problem) -> Iterator[Conflict]:
    """Logical fabrics for which no card will do on the leaves of their host."""
    for host in problem.fabrics:
        if not host.logical_fabrics or equipped(problem, host, False):
            continue
        at_host = sorted({gbps(one.port.lane.port_mbps) for many in host.nics.values() for one in many})
        for logical in host.logical_fabrics:
            options = [one for protocol in host.protocols for one in logical.nics.get(protocol, ())]
            speeds = sorted({gbps(one.port.lane.port_mbps) for one in options})
            shown, wanted = (", ".join(f"{one:g}" for one in many) or "none" for many in (speeds, at_host))
            yield Conflict(
                limit=f"fabrics.{logical.name}.nics",
                value=shown,
                needed=wanted,
                detail=f"a leaf has one speed of ports to servers: cards that give {logical.name} its bandwidth, a "
                f"port a cage, have ports of {shown} Gb/s, those of its host {host.name} {wanted}; "
                f"{sum_of_cards(problem)}",
            )


def _slots(problem: Problem) -> Conflict:
    return Conflict(
        limit=f"servers.{problem.server.id}.nic_slots",
        value=problem.nic_slots,
        needed=sum(cards_at_least(problem).values()),
        detail=f"cards that give each fabric its bandwidth do not fit the server: {sum_of_cards(problem)}",
    )


def obstacles_of(problem: Problem, settings: Settings, clock: Clock) -> tuple[Conflict, ...]:
    """What stands nearest in the way where no design was found on a floor, and none was ruled out."""
    if problem.site.settles or clock.is_over():
        return ()
    inquiry = _inquiry(problem, settings, clock)
    found = _asked(inquiry, spending) if problem.limits.are_set else []
    return tuple(found) or tuple(_asked(inquiry, crowded))


def _inquiry(problem: Problem, settings: Settings, clock: Clock) -> Inquiry:
    def tell(what: str) -> None:
        settings.progress(f"no design meets the case: looking at {what}")

    quiet = replace(settings, progress=lambda text: None)
    return Inquiry(problem.case, problem.catalog, problem, quiet, Watch(MOST_SECONDS, clock), tell)


def _unspendable(inquiry: Inquiry) -> list[Conflict]:
    """What stands in the way where no spending would help."""
    found = _asked(inquiry, floor_conflicts, torus_conflicts)
    if found:
        return found
    buying = _asked(inquiry, buying_conflicts)
    found = buying + _asked(inquiry, _servers, supply_conflicts, path_conflicts)
    if not buying and not any(_is_far_too_many(one) for one in found):
        found += _asked(inquiry, _structure, _runs, demand_conflicts)
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


def _servers(inquiry: Inquiry, share: float = 1.0) -> Iterator[Conflict]:
    """The most servers, up to those wanted, for which there is a design. ``share`` of them is a first guess."""
    wanted = inquiry.problem.servers
    if any(servers_are_points(one) for one in inquiry.problem.fabrics):
        return  # fewer servers may be no torus, and more one
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


# -- what the case forbids --------------------------------------------------------------------------------------

OPEN_KEYS: tuple[tuple[str, object], ...] = (
    ("topologies", ("clos",)),
    ("protocol", "any"),
    ("tiers", "any"),
    ("planes", "any"),
    ("rails", "any"),
    ("striping", "any"),
    ("homing", "any"),
    ("torus_nodes", "any"),
    ("nics", "any"),
    ("nics_per_server", "any"),
    ("group_by", "any"),
    ("reserve_ports", 0.0),
)


def _structure(inquiry: Inquiry) -> Iterator[Conflict]:
    for fabric in inquiry.case.fabrics:
        for key, free in OPEN_KEYS:
            value = getattr(fabric, key)
            if value != free and inquiry.design(changed(inquiry.case, fabric, **{key: free})) is not None:
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
        if ids != "any" and inquiry.design(changed(inquiry.case, fabric, switches=choice)) is not None:
            yield Conflict(
                limit=f"fabrics.{fabric.name}.switches.{role}",
                value=_shown(ids),
                needed="any",
                detail=f"with any {role} switch there is a design",
            )


def _attachments(inquiry: Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    if fabric.attachments and inquiry.design(changed(inquiry.case, fabric, attachments=())) is not None:
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
    if not inquiry.problem.site.runs_are_alike:
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
        shorter: Distances = distances.model_copy(update={field: metres})
        site = inquiry.case.site.model_copy(update={"distances_m": shorter})
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
