"""Conflicts of runs longer than any part: by kind of links both ends, the run, the longest part, and remedies.

Runs are never shortened to find a design: their length is set by the case, its floor or its groups (rules
``lengths`` and ``attachment-runs``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from fabopt.explain.levers import advice
from fabopt.explain.relaxation import closest, halfway, nearest
from fabopt.explain.what_if import Inquiry
from fabopt.floor.group_runs import Sizes, given_m
from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.problem.attachments import AttachmentDemand
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.site import RUN_OF_PEERS
from fabopt.program.lexicographic import Optimum
from fabopt.rules.defaults import ATTACHMENT_RUNS, without
from fabopt.rules.demands import LATENCY
from fabopt.schema.case import Case
from fabopt.schema.catalog import CableLength, Catalog
from fabopt.schema.design import Conflict
from fabopt.schema.site import Distances
from fabopt.topology.clos.attached import attached_runs_m
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.design import FilePart, Tier
from fabopt.units import ceil_decimetres, some

SHORTEST_RUN_M = 0.5
# By kind of run, the switch tiers that it takes, and between what it is.
RUN_KEYS = {
    "server-leaf": 1, "leaf-spine": 2, "spine-core": 3, "attachment-leaf": 1, "attachment-spine": 2, "leaf-leaf": 1,
}  # fmt: skip
SWITCH_ENDS = {"leaf-spine": ("leaf", "spine"), "spine-core": ("spine", "core")}
OF_ATTACHMENTS = ("attachment-leaf", "attachment-spine")
DECIMETRES = 10


class RunEnds(NamedTuple):
    """Both ends of links of a kind in a fabric, in words and as cages; ``run_m``: the run between them in metres."""

    words: str
    near: PortType
    far: PortType
    protocol: str
    run_m: float


@dataclass
class Reached:
    """The last design that was met with a run shortened, and the problem that it is of."""

    problem: Problem
    optimum: Optimum


def run_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each kind of links whose shorter run alone gives a design, and of parts that
    would be long enough.
    """
    told: set[tuple[str, object]] = set()
    for kind in RUN_KEYS:
        if _applies(inquiry.problem, kind):
            for conflict in run_conflict(inquiry, kind):
                change = conflict.limit, conflict.needed
                if change not in told:  # one part may be too short for several kinds
                    yield conflict
                told.add(change)


def uncovered_runs(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of runs of attachments beyond every part for them: found by arithmetic, then solved.

    If there is one, no other lever helps.
    """
    for kind in OF_ATTACHMENTS:
        if _applies(inquiry.problem, kind) and _is_past_all(inquiry.problem, kind):
            yield from run_conflict(inquiry, kind)


def _applies(problem: Problem, kind: str) -> bool:
    """Whether some link of a kind runs as far as a distance of the case, or groups of servers, say."""
    if kind == "leaf-leaf" and not any(fabric.leaf_pairs.are_joined for fabric in problem.fabrics):
        return False
    if kind not in OF_ATTACHMENTS:
        tallest = max(fabric.shapes.tallest for fabric in problem.fabrics)
        return problem.site.runs_are_alike and tallest >= RUN_KEYS[kind]
    return any(demand.buys == "both" for fabric in problem.fabrics for demand in _attached(fabric, kind))


def _attached(fabric: FabricProblem, kind: str) -> Iterator[AttachmentDemand]:
    """The attachments of a fabric that may be on the tier of a kind of links; the switches of all fabrics too."""
    counted = [] if fabric.per_switch is None else [fabric.per_switch.of((1,))]
    tier = kind.removeprefix("attachment-")
    for demand in (*fabric.attachments, *counted):
        if demand.nic is None and demand.port is not None and demand.takes(tier):
            yield demand


def most_in_reach(problem: Problem) -> int:
    """An upper bound on the servers of a network whose longest links, which span all servers, have parts."""
    groups, longest_m = problem.site.groups, max(problem.item_table.lengths_m, default=0.0)
    if groups is None or groups.given:
        return problem.servers

    def spans(servers: int) -> int | None:
        runs = replace(groups, servers=servers).runs_m("clos", Sizes(servers, servers))
        least_m = min(float(runs[kind]) for kind in RUN_KEYS if kind not in (*OF_ATTACHMENTS, RUN_OF_PEERS))
        return servers if least_m <= longest_m else None

    return nearest(0, problem.servers + 1, spans, halfway)


def _is_past_all(problem: Problem, kind: str) -> bool:
    """Whether attachments bound to the tier of a kind of links are farther away than any part for them reaches."""
    tier = kind.removeprefix("attachment-")
    for fabric in problem.fabrics:
        for demand in _attached(fabric, kind):
            run_m = _given_m(problem, kind)
            if demand.tier == "any" or demand.buys != "both" or run_m is None or demand.port is None:
                continue
            reaches = [
                problem.links.longest_m(demand.port, use.port, protocol)
                for protocol in fabric.protocols
                for switch in fabric.switches[protocol][tier]
                for use in switch.uses
            ]
            if 0 < max(reaches, default=0) < run_m:
                return True
    return False


def _given_m(problem: Problem, kind: str) -> float | None:
    """The run in metres of links of a kind, if it does not depend on the design; else None."""
    groups = problem.site.groups
    if groups is None:
        return problem.site.given.get(kind)
    return groups.least_m[kind] if kind in (*OF_ATTACHMENTS, *groups.given) else None


def with_run(case: Case, problem: Problem, kind: str, metres: float) -> Case:
    """The case with the run ``metres`` of one kind of links, the runs of other kinds kept.

    Runs derived from a distance that the case states follow its new value.
    """
    said = case.site.distances_m or Distances()
    key = _field(kind)
    update: dict[str, float | None] = {key: metres}
    if getattr(said, key) is None:
        update |= {_field(other): _given_m(problem, other) for other in _moved_along(case, problem, kind)}
    site = case.site.model_copy(update={"distances_m": said.model_copy(update=update)})
    return case.model_copy(update={"site": site})


def _moved_along(case: Case, problem: Problem, kind: str) -> Iterator[str]:
    """Kinds of links of attachments whose run would change with a stated run of ``kind``."""
    said = case.site.distances_m or Distances()
    site = case.site.model_copy(update={"distances_m": said.model_copy(update={_field(kind): SHORTEST_RUN_M})})
    before, after = given_m(case.site), given_m(site)
    for other in OF_ATTACHMENTS:
        attached = any(True for fabric in problem.fabrics for _ in _attached(fabric, other))
        if attached and other != kind and before.get(other) != after.get(other):
            yield other


def _field(kind: str) -> str:
    return kind.replace("-", "_")


def run_conflict(inquiry: Inquiry, kind: str, run_m: float | None = None) -> Iterator[Conflict]:
    """Conflicts of one kind: the longest run that parts reach, and a part as long as the wanted run.

    ``run_m``: the run of every design, in metres; None: as far as the case gives it.
    """
    given = _given_m(inquiry.problem, kind) if run_m is None else run_m
    return inquiry.of_limit(f"site.distances_m.{kind}", given, _run(inquiry, kind, given))


def _run(inquiry: Inquiry, kind: str, given: float | None) -> Iterator[Conflict]:
    if given is not None and given <= SHORTEST_RUN_M:
        return
    lengths = _lengths_on_sale(inquiry.problem)
    wanted = lengths[-1] + 1 if given is None else given
    reached: dict[float, Reached] = {}

    def ask(metres: float) -> float | None:
        problem = inquiry.problem_of(with_run(inquiry.case, inquiry.problem, kind, metres))
        optimum = inquiry.design_of(problem)
        if optimum is None:
            return None
        reached[metres] = Reached(problem, optimum)
        return metres

    def between(works: float, fails: float) -> float | None:
        inside = [metres for metres in lengths if works < metres < fails]
        if inside and works == SHORTEST_RUN_M:
            return inside[-1]  # the longest part, as a rule
        return inside[len(inside) // 2] if inside else None

    if ask(SHORTEST_RUN_M) is None:
        return
    longest, is_longest = closest(SHORTEST_RUN_M, wanted, ask, between)
    ends = max(_ends(inquiry.problem, reached[longest], kind), key=lambda one: one.run_m, default=None)
    run_m = given if ends is None or given is not None else ends.run_m
    if run_m is None or run_m <= longest:
        return
    detail = f"the longest {kind} run for which parts can be bought"
    if timed := _too_slow(inquiry, kind, run_m):
        detail = f"the longest {kind} run with which round trips are within {timed}; parts reach farther"
    elif ends is not None:
        part = _longest_part(inquiry.problem, ends)
        named = "" if part is None else f" ({part.id}, {part.length_m:g} m)"
        far = f"{ends.words}: {_far(inquiry.problem, kind, run_m)}"
        detail = f"{far}; {detail}{named}; a longer part, a shorter way or a switch between would do"
    yield advice(f"site.distances_m.{kind}", run_m, longest, detail, is_longest)
    if ends is not None and not timed:
        yield from _longer_part(inquiry, ends, given is not None)


def _too_slow(inquiry: Inquiry, kind: str, run_m: float) -> str:
    """The keys that limit times of paths, in words, where a run has a design without them; empty where it has not."""
    fabrics = inquiry.case.fabrics
    keys = [f"`fabrics.{one.name}.{LATENCY.key}`" for one in fabrics if one.max_latency_us is not None]
    free = tuple(one.model_copy(update={LATENCY.key: None}) for one in fabrics)
    case = with_run(inquiry.case.model_copy(update={"fabrics": free}), inquiry.problem, kind, run_m)
    return " and ".join(keys) if keys and inquiry.design_of(inquiry.problem_of(case)) is not None else ""


def _far(problem: Problem, kind: str, run_m: float) -> str:
    """A run in words, with its derivation."""
    groups = problem.site.groups
    if groups is None or kind in groups.given:
        return f"{run_m:g} m"
    if kind == RUN_OF_PEERS:
        return f"about {run_m:g} m, as the two are beside each other"
    racks = some(int(groups.racks(groups.servers)), "rack")
    return f"about {run_m:g} m, as {some(groups.servers, 'server')} fill {racks}"


def _ends(problem: Problem, reached: Reached, kind: str) -> Iterator[RunEnds]:
    """The ends of links of a kind in a design, by fabric, with their run in the unchanged case."""
    for fabric, (candidate, _) in zip(problem.fabrics, reached.optimum.picked, strict=True):
        part = candidate.design.file_part()
        run_m = _run_m(problem, part, kind)
        tiers: dict[str, Tier] = {tier.role: tier for tier in part.tiers}
        if kind in SWITCH_ENDS:
            low, high = (tiers.get(role) for role in SWITCH_ENDS[kind])
            if low is not None and high is not None and low.up is not None:
                words = f"{fabric.name}: {low.role} {low.switch.id} to {high.role} {high.switch.id}"
                yield RunEnds(words, low.up.port, high.down.port, part.protocol, run_m)
        elif kind == "leaf-leaf":
            if part.peers is not None:
                words = f"{fabric.name}: leaf {tiers['leaf'].switch.id} to its peer"
                yield RunEnds(words, part.peers.port, part.peers.port, part.protocol, run_m)
        elif kind == "server-leaf":
            words = f"{fabric.name}: {part.nic.nic_id} to leaf {tiers['leaf'].switch.id}"
            yield RunEnds(words, part.nic.port, tiers["leaf"].down.port, part.protocol, run_m)
        elif (tier := tiers.get(kind.removeprefix("attachment-"))) is not None:
            for demand in _attached(fabric, kind):
                if demand.port is not None and demand.buys == "both":
                    words = f"{fabric.name}: attachment {demand.name} to {tier.role} {tier.switch.id}"
                    yield RunEnds(words, demand.port, tier.down.port, part.protocol, run_m)


def _run_m(problem: Problem, part: FilePart, kind: str) -> float:
    groups = problem.site.groups
    return problem.site.given.get(kind, 0.0) if groups is None else groups.of(part.structure)[kind]


def _longest_part(problem: Problem, ends: RunEnds) -> Item | None:
    """The longest cable or fibre that joins two ends."""
    return max(
        (length.cable for length in problem.links.in_all_lengths(ends.near, ends.far, ends.protocol)),
        key=lambda item: item.length_m or 0.0,
        default=None,
    )


def _longer_part(inquiry: Inquiry, ends: RunEnds, is_fixed: bool) -> Iterator[Conflict]:
    """The conflict of the longest part: its shortest length with a design, at its price of a further metre.

    ``is_fixed``: whether no design has a shorter run than this one.
    """
    part = _longest_part(inquiry.problem, ends)
    if part is None or part.length_m is None:
        return
    here, there = int(DECIMETRES * part.length_m), round(DECIMETRES * ends.run_m)

    def ask(decimetres: int) -> int | None:
        longer = _with_length(inquiry.catalog, part.id, decimetres / DECIMETRES)
        return None if inquiry.design_of(problem_of(inquiry.case, longer)) is None else decimetres

    if ask(there) is None:
        return
    needed, is_least = (there, True) if is_fixed else closest(there, here, ask, halfway)
    detail = f"a longer {part.id}, or another part as long, for {ends.words.partition(': ')[2]}"
    yield advice(f"catalog.{part.id}.lengths", part.length_m, needed / DECIMETRES, detail, is_least)


def _with_length(catalog: Catalog, product_id: str, metres: float) -> Catalog:
    """The catalog with one more length of a cable or fibre, its price extrapolated from the two longest ones."""

    def longer(lengths: tuple[CableLength, ...]) -> tuple[CableLength, ...]:
        before, last = sorted(lengths, key=lambda one: one.m)[-2:] if len(lengths) > 1 else (None, lengths[0])
        usd = last.price_usd
        if before is not None and isinstance(usd, float | int) and isinstance(before.price_usd, float | int):
            usd = round(usd + max(0.0, (usd - before.price_usd) / (last.m - before.m)) * (metres - last.m), 2)
        return (*lengths, last.model_copy(update={"m": metres, "price_usd": usd}))

    cables = (
        cable.model_copy(update={"lengths": longer(cable.lengths)}) if cable.id == product_id else cable
        for cable in catalog.cables
    )
    fibres = (
        fibre.model_copy(update={"lengths": longer(fibre.lengths)}) if fibre.id == product_id else fibre
        for fibre in catalog.fibres
    )
    return catalog.model_copy(update={"cables": tuple(cables), "fibres": tuple(fibres)})


def measured_runs(inquiry: Inquiry) -> Iterator[Conflict]:
    """Attachments in racks of a floor that are further from their switches than every part is long."""
    if not inquiry.problem.site.measures_attachments:
        return
    limit = f"rules.{ATTACHMENT_RUNS}"
    inquiry.tell(limit)
    case = inquiry.case.model_copy(update={"rules": without(inquiry.case.rules, ATTACHMENT_RUNS)})
    problem = inquiry.problem_of(case)
    optimum = inquiry.design_of(problem)
    if optimum is None:
        return
    told = [*_measured(inquiry.problem, Reached(problem, optimum))]
    detail = "with cables of attachments as long as `site.distances_m` says, and not as far as it is, there is a design"
    if told:
        told.append("nearer racks (`racks` of the attachment), a longer part or a switch between would do")
    yield Conflict(limit=limit, value="true", needed="false", detail="; ".join([*told, detail]))


def _measured(problem: Problem, reached: Reached) -> Iterator[str]:
    """Runs of attachments in racks of a design that are past every part for them."""
    for fabric, (candidate, _) in zip(problem.fabrics, reached.optimum.picked, strict=True):
        design = candidate.design
        if not isinstance(design, ClosDesign) or not isinstance(design.network.placement, RackPlacement):
            continue
        for kind, run_m in attached_runs_m(problem, fabric, design.network, design.network.placement).items():
            for ends in _ends(problem, reached, kind):
                part = _longest_part(problem, ends)
                longest_m = 0.0 if part is None else part.length_m or 0.0
                if ends.words.startswith(f"{fabric.name}: ") and longest_m < run_m:
                    named = "no part joins them" if part is None else f"the longest part is {part.id}, {longest_m:g} m"
                    yield f"{ends.words}: up to {ceil_decimetres(run_m):g} m, and {named}"


def _lengths_on_sale(problem: Problem) -> list[float]:
    """All lengths and reaches on sale in metres, rising: between two of these the choice of parts is constant."""
    offered = problem.offering.offered
    lengths = chain(*(cable.lengths for cable in offered.cables), *(fibre.lengths for fibre in offered.fibres))
    reaches: Iterable[float | None] = chain(
        (cable.reach_m for cable in offered.cables), (module.reach_m for module in offered.transceivers)
    )
    return sorted({length.m for length in lengths} | {reach for reach in reaches if reach is not None})
