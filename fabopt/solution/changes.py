"""Changed cases to solve beside an answered one: the keys that each changes, most valuable first.

Redundancy and other default rules come first, then structure, speed and protocol, products, growth and places. Savings
at a slightly different ratio, bandwidth, number of servers or attachment ports are found in ``solution.cliff``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from fabopt.explain.freedoms import value_of
from fabopt.floor.loads import LOAD_KEYS
from fabopt.io.case import Inputs
from fabopt.parts.items import CABLE_KINDS
from fabopt.parts.nics import NicOption
from fabopt.problem.attachments import INFINIBAND
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import holds_mix, is_bound
from fabopt.problem.separation import combinations, is_open
from fabopt.program.orders import all_uses
from fabopt.rules.buying import BUYING_RULES
from fabopt.rules.defaults import (
    INTERCHANGEABLE,
    NIC_RULES,
    NO_RULES,
    ROBUST_DESIGNS,
    RULES_KEPT,
    SUBNET_MANAGER,
    WITH_ROWS,
    is_kept,
)
from fabopt.rules.demands import LATENCY
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.resilience import NO_RULE, keeps_default, losses_of
from fabopt.schema.stages import Stage
from fabopt.schema.topologies import refused
from fabopt.search.answer import Answer, words_of
from fabopt.solution.changed import Keys, dumped
from fabopt.solution.rows import LONG, QUICK, USUAL, CaseChange, RowsShown
from fabopt.solution.service import last_group_words
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.design import NetworkDesign
from fabopt.units import gbps, grouped, some

RAIL_ONLY: Final = "rail-only"
MANAGEMENT: Final = ("in-band", "oob")
# The usual run in plans without a floor plan.
FLAT_RUN_M: Final = 30
# Work for what the rules cost that a case turns off: some two seconds, as hosts of managers take searches of their own.
WORK_OF_RULES: Final = 20_000
# Racks of switches: values of ``network_racks``.
_PLACES: Final = ("middle", "end", "row")


@dataclass(frozen=True)
class FabricPlace:
    """A fabric of an answer: its index, its part of the case, its problem and its design."""

    index: int
    asked: Fabric
    fabric: FabricProblem
    design: NetworkDesign
    topology: str

    def key(self, name: str) -> str:
        """A key of the fabric, dotted."""
        return f"fabrics.{self.asked.name}.{name}"


def places_of(case: Case, answer: Answer) -> list[FabricPlace]:
    """The fabrics of an answer that the case names."""
    asked = {fabric.name: fabric for fabric in case.fabrics}
    pairs = zip(answer.problem.fabrics, answer.picked, strict=True)
    return [
        FabricPlace(index, asked[fabric.name], fabric, candidate.design, candidate.topology)
        for index, (fabric, (candidate, _)) in enumerate(pairs)
        if fabric.name in asked
    ]


def changes_of(inputs: Inputs, answer: Answer) -> Iterator[CaseChange]:
    """Changes to solve beside an answer; ``redundancy_of`` and ``solution.cliff`` come before."""
    case, problem = inputs.case, answer.problem
    places = places_of(case, answer)
    compute = [place for place in places if place.asked.role == "compute"]
    own = [place for place in places if place.asked.role not in MANAGEMENT]
    yield from chain.from_iterable(_other_structure(case, place) for place in compute)
    yield from chain.from_iterable(_other_topology(place) for place in own)
    yield from later_tokens(case)
    yield from _without_rules(case, problem)
    yield from _with_rules(case)
    yield from chain.from_iterable(_other_hardware(place, inputs.catalog) for place in own)
    yield from chain.from_iterable(_other_tiers(place) for place in own)
    yield from chain.from_iterable(map(_any_latency, places))
    yield from _other_sources(case, answer)
    yield from chain.from_iterable(_other_switch(case, place) for place in own)
    yield from chain.from_iterable(_other_groups(case, place) for place in own)
    yield from _other_growth(case, problem)
    yield from _other_separations(inputs, problem)
    yield from _other_cabling(case)
    yield from _other_places(case, own)
    yield from _fewer_part_numbers(case, answer)


# -- rules -----------------------------------------------------------------------------------------------------------


def redundancy_of(case: Case) -> Iterator[CaseChange]:
    """Without everything that ``resilience: default`` holds, of all fabrics."""
    keys: dict[str, Any] = {}
    for fabric in case.fabrics:
        resilience = case.resilience_of(fabric)
        if keeps_default(resilience):
            losses = losses_of(resilience)
            without = dumped(losses) if losses else NO_RULE
            keys["resilience" if fabric.resilience is None else f"fabrics.{fabric.name}.resilience"] = without
    if keys:
        yield CaseChange("redundancy", NO_RULE, keys, RowsShown.CHEAPER, effort=QUICK)


def _without_rules(case: Case, problem: Problem) -> Iterator[CaseChange]:
    for rule in WITH_ROWS:
        held = holds_mix(problem) if rule == ROBUST_DESIGNS else is_bound(problem, frozenset({rule}))
        if is_kept(case.rules, rule) and held:
            added: Callable[[FabricProblem], FabricProblem] | None = None
            is_apart, effort = True, USUAL
            if rule in NIC_RULES:
                if not any(_leaves_out_alone(rule, fabric) for fabric in problem.fabrics):
                    continue
                added, effort = partial(_breaking, rule), QUICK
            if rule == SUBNET_MANAGER:  # of networks of Ethernet it says nothing
                added, is_apart = _of_infiniband, all(fabric.protocols != (INFINIBAND,) for fabric in problem.fabrics)
            yield CaseChange(
                rule, NO_RULE, {f"rules.{rule}": False}, RowsShown.CHEAPER, wider=is_apart, added=added, effort=effort
            )


def _with_rules(case: Case) -> Iterator[CaseChange]:
    """With all default rules that the case turns off, those of redundancy too."""
    rules = {} if case.rules == NO_RULES else {name: True for name, is_on in dict(case.rules).items() if is_on}
    keys: dict[str, Any] = {} if rules == case.rules else {"rules": rules}
    keys |= {"resilience": "default"} if case.resilience == NO_RULE else {}
    keys |= {f"fabrics.{one.name}.resilience": None for one in case.fabrics if one.resilience == NO_RULE}
    if keys:
        yield CaseChange(RULES_KEPT, "all kept", keys, RowsShown.ALWAYS, effort=LONG, own_work=WORK_OF_RULES)


def _leaves_out_alone(rule: str, fabric: FabricProblem) -> bool:
    """Whether a rule alone excludes some NICs; assumed of fabrics with logical fabrics."""
    options = (option for of_protocol in fabric.other_nics.by_rules.values() for option in of_protocol)
    return bool(fabric.logical_fabrics) or any(
        option.breaks.intersection(fabric.rules.kept) == {rule} for option in options
    )


def _breaking(rule: str, fabric: FabricProblem) -> FabricProblem:
    """A fabric with only the NICs that break a rule."""
    return _with_nics(fabric, lambda option: rule in option.breaks)


def _of_infiniband(fabric: FabricProblem) -> FabricProblem:
    """A fabric of InfiniBand."""
    return replace(fabric, nics={name: of if name == INFINIBAND else () for name, of in fabric.nics.items()})


def _in_planes(fabric: FabricProblem) -> FabricProblem:
    """A fabric in two planes or more."""
    return _with_nics(fabric, lambda option: option.planes > option.rails_per_plane)


def _with_nics(fabric: FabricProblem, are_kept: Callable[[NicOption], bool]) -> FabricProblem:
    return replace(fabric, nics={name: tuple(filter(are_kept, options)) for name, options in fabric.nics.items()})


# -- what users of a served model wait for ---------------------------------------------------------------------------


def later_tokens(case: Case) -> Iterator[CaseChange]:
    """With each limit on times of a served model doubled."""
    limits = {} if case.workload is None else {"ttft_ms": case.workload.ttft_ms, "tpot_ms": case.workload.tpot_ms}
    for name, most in limits.items():
        if most is not None:
            yield CaseChange(name, f"{2 * most:g}", {f"workload.{name}": 2 * most}, RowsShown.SAID)


# -- structure -------------------------------------------------------------------------------------------------------


def _other_structure(case: Case, place: FabricPlace) -> Iterator[CaseChange]:
    """Changes of settings of a Clos with two tiers or more."""
    asked, design = place.asked, place.design
    if not isinstance(design, ClosDesign) or design.tiers == 1:
        return
    if asked.topologies == ("clos",) and not any(refused(case, asked, RAIL_ONLY)):
        keys = {place.key("topologies"): [RAIL_ONLY]}
        yield CaseChange("topologies", RAIL_ONLY, keys, RowsShown.SAID, place.index, effort=QUICK)
    for name, narrow in (("planes", 1), ("striping", "even"), ("rails", "aligned")):
        if getattr(asked, name) == narrow:
            added = _in_planes if name == "planes" else None
            change = {place.key(name): "any"}
            effort = LONG if name == "striping" else QUICK
            yield CaseChange(name, "any", change, RowsShown.SAID, place.index, name == "planes", added, effort)


def _other_topology(place: FabricPlace) -> Iterator[CaseChange]:
    """Changes to other allowed families."""
    for topology in place.fabric.shapes.topologies:
        if topology != place.topology:
            yield CaseChange("topology", topology, {place.key("topologies"): [topology]}, index=place.index)
    if place.topology == "torus" and place.asked.torus_nodes == "any":
        nodes = "switches" if place.design.leaf is None else "servers"
        yield CaseChange("torus of", nodes, {place.key("torus_nodes"): nodes}, index=place.index)


def _any_latency(place: FabricPlace) -> Iterator[CaseChange]:
    """Without the longest round trip that the case allows."""
    if place.asked.max_latency_us is not None:
        yield CaseChange("latency", "any", {place.key(LATENCY.key): None}, RowsShown.CHEAPER, index=place.index)


def _other_tiers(place: FabricPlace) -> Iterator[CaseChange]:
    for tiers in place.fabric.shapes.tiers:
        if place.design.tiers is not None and tiers != place.design.tiers:
            effort = LONG if tiers > place.design.tiers else QUICK
            yield CaseChange("tiers", str(tiers), {place.key("tiers"): tiers}, index=place.index, effort=effort)


def _other_groups(case: Case, place: FabricPlace) -> Iterator[CaseChange]:
    """A change to a differing last leaf group where the case has equal groups, or the reverse."""
    if not isinstance(place.design, ClosDesign):
        return
    last = last_group_words(place.design.file_part().structure)
    if place.asked.groups == "equal" and place.design.tiers == 2:
        yield CaseChange("groups", "any", {place.key("groups"): "any"}, RowsShown.CHEAPER, place.index)
    elif last:
        yield CaseChange("groups", "equal", {place.key("groups"): "equal"}, index=place.index, effort=QUICK)


# -- hardware --------------------------------------------------------------------------------------------------------


def _other_hardware(place: FabricPlace, catalog: Catalog) -> Iterator[CaseChange]:
    for protocol in place.fabric.protocols:
        if protocol != place.design.protocol:
            other = {place.key("protocol"): protocol}
            yield CaseChange("protocol", protocol, other, index=place.index, effort=QUICK)
    speeds = nics_by_speed(place.fabric, catalog)
    own = next((speed for speed, ids in speeds.items() if place.design.nic.nic_id in ids), None)
    if place.design.nic.item is not None:
        for speed in sorted(speeds.keys() - {own}, reverse=True):
            change = {place.key("nics"): speeds[speed]}
            yield CaseChange("port speed", f"{gbps(speed)}G", change, index=place.index)


def nics_by_speed(fabric: FabricProblem, catalog: Catalog) -> dict[int, list[str]]:
    """Ids of a fabric's NICs by Mb/s of their fastest ports.

    NICs that keep the default rules, or all if none does: NICs that a case lists are exempt from some.
    """
    kept, others = (
        {option.nic_id for of_protocol in nics.values() for option in of_protocol}
        for nics in (fabric.nics, fabric.other_nics.by_rules)
    )
    return grouped(
        (max(parse_split(split).port_mbps for cage in nic.cages for split in cage.splits), nic.id)
        for nic in catalog.nics
        if nic.id in (kept or others)
    )


def _other_switch(case: Case, place: FabricPlace) -> Iterator[CaseChange]:
    """Without the answer's leaf switch."""
    if place.design.leaf is not None:
        leaf = place.design.leaf.id
        keys = {"procurement.forbidden_parts": [*(case.procurement.forbidden_parts or ()), leaf]}
        yield CaseChange("leaf switch", f"not {leaf}", keys, index=place.index)


def _other_sources(case: Case, answer: Answer) -> Iterator[CaseChange]:
    """Changes that drop each rule of vendors, ASICs, supply or pairs; and one with one switch product a tier."""
    if any(candidate.stand_ins for candidate, _ in answer.picked):
        yield CaseChange("switches", "one product a tier", {f"rules.{INTERCHANGEABLE}": False})
    for rule in BUYING_RULES:
        given = value_of(case, rule)
        if not rule.has_row or given == rule.free:
            continue
        for place in given if rule.by_place and isinstance(given, dict) else ("",):
            others: Any = dumped({name: value for name, value in given.items() if name != place}) if place else None
            path = f"{rule.path}.{place}".rstrip(".")
            keys = {rule.path: others or dumped(rule.free)}
            yield CaseChange("sourcing", f"without {path}", keys, RowsShown.SAID)


def _fewer_part_numbers(case: Case, answer: Answer) -> Iterator[CaseChange]:
    """Changes to one part number fewer of cables or fibres, where a product is used in several lengths."""
    items = {item for _, item in all_uses(answer.problem, answer.picked) if item.kind in CABLE_KINDS}
    for kind in CABLE_KINDS:
        lengths = Counter(item.id for item in items if item.kind == kind)
        if max(lengths.values(), default=0) > 1:
            fewer = lengths.total() - 1
            most: dict[str, int] = {**dumped(case.procurement.max_part_numbers), kind: fewer}
            change = {"procurement.max_part_numbers": most}
            yield CaseChange("part numbers", some(fewer, kind), change, effort=LONG)


# -- time and place --------------------------------------------------------------------------------------------------


def _other_growth(case: Case, problem: Problem) -> Iterator[CaseChange]:
    if not problem.first_servers or case.is_uncertain or case.base is not None:
        return
    if case.stages:
        yield CaseChange("growth", "all on day 1", all_at_once(case, problem))
    other = "forbid" if case.growth.recabling == "allow" else "allow"
    shown = RowsShown.SAID if other == "allow" else RowsShown.ANY
    if case.site.trunked:
        pulled = "when_lit" if case.growth.trunks == "ahead" else "ahead"
        yield CaseChange("trunks", pulled, {"growth.trunks": pulled})
        return
    yield CaseChange("recabling", other, {"growth.recabling": other}, shown)


def all_at_once(case: Case, problem: Problem) -> Keys:
    """Keys for one stage, after what is in service: the last one at the first month, with its limits of power and
    racks.
    """
    first, last = case.own_stages[0], case.own_stages[-1]
    limits = last.limits.model_copy(update={"budget_usd": None})
    stage = Stage(name=last.name, month=first.month, servers=problem.servers, limits=limits, fabrics=last.fabrics)
    live = (one for one in case.stages or () if one not in case.own_stages)
    return {"stages": [dumped(one) for one in (*live, stage)]}


def _other_separations(inputs: Inputs, problem: Problem) -> Iterator[CaseChange]:
    """Changes to every other combination of open separations."""
    for said in combinations(inputs.case, problem.server) if is_open(inputs.case) else ():
        if said != problem.asked:
            keys = {
                f"fabrics.{one.name}.{key}": getattr(one, key)
                for one, asked in zip(said.fabrics, inputs.case.fabrics, strict=True)
                for key in ("separation", "shared_port", "protocol")
                if getattr(one, key) != getattr(asked, key)
            }
            yield CaseChange("separation", words_of(inputs.case, said), keys)


def _other_cabling(case: Case) -> Iterator[CaseChange]:
    """The change to leads from port to port where links run through trunks, or may."""
    if case.site.trunked:
        yield CaseChange("cabling", "direct", {"site.cabling": "direct"})


def _other_places(case: Case, own: list[FabricPlace]) -> Iterator[CaseChange]:
    """Changes to other racks of switches on a floor; and to flat runs without a floor."""
    if not case.site.has_floor or len(case.fabrics) > 1:
        return
    for where in _PLACES if own else ():
        yield CaseChange("placement", where, case.site.floor_changes("network_racks", where), index=0)
    for key in LOAD_KEYS:
        if key != "rack_power_w" and getattr(case.site.floor, key) is not None:
            keys = case.site.floor_changes(key, None)
            yield CaseChange(f"{case.site.floor_key}.{key}", "none", keys, RowsShown.CHEAPER)
    if case.site.spread == "halls":
        yield CaseChange("site.spread", "any", {"site.spread": "any"}, RowsShown.CHEAPER)
    for place in own:
        if place.asked.hall_ratio is not None:
            key = place.key("max_oversubscription.hall")
            yield CaseChange("ratio between halls", "any", {key: None}, RowsShown.CHEAPER, place.index)
    if case.site.halls:
        return
    runs = dict.fromkeys(("server-leaf", "leaf-spine", "spine-core"), FLAT_RUN_M)
    flat: Keys = {"site.floor": None, "site.distances_m": runs}
    yield CaseChange("flat runs", f"{FLAT_RUN_M} m", flat, effort=QUICK)
