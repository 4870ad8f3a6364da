"""The answer in sentences: the design found, and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.output.bought import of_those, usd_per_gpu
from fabopt.output.pairs import pair_lines
from fabopt.output.purchased import beside_use
from fabopt.output.slots import slot_words
from fabopt.output.space import space_line
from fabopt.output.terminal.families import links_of, shape_of
from fabopt.output.words import (
    ALMOST_NOTHING,
    KIND_NAMES,
    count,
    gpus_in_servers,
    has_three_digits,
    left_out_claim,
    listed,
    measured,
    money,
    percent,
    plain,
    power,
    share_of_cluster,
    signed_money,
)
from fabopt.parts.price_basis import IN_DOUBT, PRICES
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.cliff import CLIFF
from fabopt.schema.design import Alternative, Conflict, Design, FabricDesign, NicUse, Number
from fabopt.schema.objective import DecidedBy
from fabopt.schema.roles import SHARED_PORTS
from fabopt.schema.subnet_manager import HOSTS
from fabopt.units import some, summed
from fabopt.wiring.migration import MIGRATION

_METRICS = {
    "capex_usd": "purchase price",
    "tco_usd": "total cost of ownership",
    "expected_tco_usd": "expected total cost of ownership",
    "power_w": "power",
    "usd_per_effective_gpu": "cost per effective GPU",
}


def metric_name(metric: str) -> str:
    """``capex_usd`` as people say it."""
    return _METRICS.get(metric, metric)


def metric_value(metric: str, value: int | float) -> str:
    """A value of the objective with its unit."""
    return money(value) if "usd" in metric else power(value)


def leading_notes(design: Design) -> list[str]:
    """Notes to show with the answer: the basis of its prices, doubts about these and about parts, bandwidth taken by
    fabrics on shared NICs, hosts needed for management, a cliff just below, and bandwidth of pairs of switches without
    one.
    """
    notes = [
        note for note in design.notes if note.startswith((PRICES, IN_DOUBT, MIGRATION, SHARED_PORTS, HOSTS, CLIFF))
    ]
    return [*notes, *pair_lines(design)]


def headline(design: Design) -> str:
    """State the answer in one sentence."""
    if design.status == "infeasible":
        return no_design(design.case.name)
    if design.status == "unknown" and design.conflicts:
        return f"{design.case.name}: no design was found, and none was ruled out.{bound_alone(design)}"
    if design.status == "unknown" or design.totals is None:
        return f"{design.case.name}: stopped before any design was found.{bound_alone(design)}"
    return f"{served(design)} - {_claim(design)}{left_out_claim(design.rules_left_out)}."


def nearest_line(design: Design) -> list[str]:
    """Name the cheapest design that keeps every rule where limits on spending leave none; empty if not known."""
    nearest = design.nearest
    if nearest is None:
        return []
    takes = f"{money(nearest.capex_usd)}, {power(nearest.power_w)} and {plain(nearest.rack_units)} rack units"
    return [f"The cheapest design that keeps every rule takes {takes}: {nearest.summary}."]


def bound_alone(design: Design) -> str:
    """State the proven bound where no design was found; empty where it is not known."""
    metric, bound = design.objective.metric, design.objective.bound
    words = "" if bound is None else f"{metric_name(metric)} below {metric_value(metric, bound)}"
    return f" None that keeps the rules of the case has a {words}." if words else ""


def no_design(case: str) -> str:
    """Say of a case that it has no design."""
    return f"{case}: no design meets this case (proven)."


def served(design: Design) -> str:
    """State the servers joined and the cost of a design, without a claim about other designs."""
    totals, joined = design.sums, gpus_in_servers(design.stages[-1])
    cost = f"{money(totals.capex_usd)} and {power(totals.power_w)}"
    return f"{design.case.name}: {some(totals.switches, 'switch')}{of_those(design, 'switch')} for {joined}, {cost}"


def _claim(design: Design) -> str:
    decision = design.objective.decision
    if design.status == "optimal" and decision is not None:
        return f"the {chosen_words(design, decision)}; proven"
    if design.status == "optimal":
        return f"the {_least(design.objective.metric)}{space_line(design) or 'design that was searched for'}; proven"
    if design.objective.gap is None:
        return "the best that was found"
    other = space_line(design) or "design"
    return f"the best found; no other {other} can be more than {gap_share(design)} better"


# What a design is that was picked by more than its objective, and whether within an error.
_CHOSEN = {
    ("robustness", True): "most robust of the designs that the model cannot tell apart",
    ("regret", False): "design with the least worst regret over the scenarios",
    ("regret", True): "most robust of the designs whose worst regret the model cannot tell apart",
}


def chosen_words(design: Design, decision: DecidedBy) -> str:
    """The rule by which a design was picked where that is more than its objective, and its distance from the least."""
    return f"{_CHOSEN[decision.by, decision.error is not None]}{_above_least(design, decision)}"


def _above_least(design: Design, decision: DecidedBy) -> str:
    """Distance in percent from the least of a design picked for its robustness; empty for others."""
    if decision.error is None:
        return ""
    if decision.by == "regret":
        value, least = 1 + (decision.regret or 0), 1 + (decision.least_regret or 0)
    else:
        value, least = design.objective.value or 0, decision.least_usd or 0
    return f", {percent(value / least - 1)} above the least, on purpose" if value > least else ", and the least"


def _least(metric: str) -> str:
    if metric == "capex_usd":
        return "cheapest "
    if metric == "usd_per_effective_gpu":
        return "least servers and network per GPU that works of any "
    return f"least {metric_name(metric)} of any "


def proof_line(design: Design) -> str:
    """State the proof and its engine, without times, which differ from run to run."""
    engine = design.objective.engine
    return " · ".join([*_proof(design), *([engine] if engine is not None else [])])


def search_line(design: Design) -> str:
    """State the proof, its engine, the candidates searched and the time."""
    objective, parts = design.objective, _proof(design)
    if objective.candidates is not None:
        parts.append(f"{some(objective.candidates, 'candidate')} sized")
    if objective.engine is not None:
        took = f" in {objective.solve_s:.2f} s" if objective.solve_s is not None else ""
        parts.append(f"{objective.engine}{took}")
    return " · ".join(parts)


def _proof(design: Design) -> list[str]:
    objective = design.objective
    metric = metric_name(objective.metric)
    parts = ["proven optimal" if design.status == "optimal" else f"{design.status}, not proven optimal"]
    if objective.value is not None:
        parts.append(f"{metric} {metric_value(objective.metric, objective.value)}")
    if objective.decision is not None and objective.decision.regret is not None:
        least = objective.decision.least_regret
        of_any = "" if least is None else f", the least of any {percent(float(least))}"
        parts.append(f"worst regret {percent(float(objective.decision.regret))}{of_any}")
    if objective.decision is not None and objective.decision.regret_usd is not None:
        parts.append(f"worst regret {money(objective.decision.regret_usd)}")
    if objective.bound is not None:
        parts.append(f"lower bound {metric_value(objective.metric, objective.bound)}")
    elif design.status == "feasible":
        parts.append("no lower bound is known")
    if objective.gap is not None:
        parts.append(f"gap {gap_share(design)}")
    return parts


def gap_share(design: Design) -> str:
    """The gap in percent; a gap of less than a millionth, which the file rounds to 0, still shows."""
    objective = design.objective
    if objective.gap:
        return percent(float(objective.gap))
    return "0" if objective.bound == objective.value else ALMOST_NOTHING


def fabric_line(fabric: FabricDesign) -> str:
    """Name a fabric's family: protocol, topology, tiers, planes."""
    parts = [fabric.protocol, fabric.topology, shape_of(fabric.structure)]
    if fabric.planes > 1:
        parts.append(f"{fabric.planes} planes{' that are rails' * fabric.own_rails}")
    return ", ".join(parts)


def logical_lines(fabric: FabricDesign) -> tuple[str, ...]:
    """State the NICs of every server for each logical fabric on this one's switches."""
    return tuple(
        f"carries {logical.name} in a VLAN and VRF of its own: {_nics(logical.nic, logical.injection_gbps_per_gpu)}"
        for logical in fabric.logical
    )


def _nics(nic: NicUse, injection: Number) -> str:
    own = " (built in)" if nic.built_in else ""
    ports = f"{some(nic.ports_per_nic, 'port')} of {plain(nic.gbps)} Gb/s"
    return f"{nic.per_server} x {nic.id}{own} per server, {ports} each: {plain(injection)} Gb/s per GPU"


def bandwidth_line(fabric: FabricDesign) -> str:
    """State the bandwidth of the fabric."""
    metrics = fabric.metrics
    hops = f"at most {some(metrics.max_switch_hops, 'switch')} on a path"
    if metrics.max_nic_hops is not None:
        hops = f"no switch on a path, and at most {some(metrics.max_nic_hops, 'server')} to pass through"
    return (
        f"per GPU: injection {plain(metrics.injection_gbps_per_gpu)}, "
        f"bisection {plain(metrics.bisection_gbps_per_gpu)}, "
        f"all-to-all {plain(metrics.alltoall_gbps_per_gpu)} Gb/s; {hops}"
    )


def failure_line(fabric: FabricDesign) -> str:
    """State the bandwidth left after failures, leaving out a fabric's only plane; empty where the file states none."""
    parts = []
    for failure in fabric.failures:
        if failure.failed == "plane" and fabric.planes == 1:
            continue
        told = [f"{some(failure.servers_cut_off, 'server')} cut off"] if failure.servers_cut_off else []
        if failure.worst is not None:
            told.insert(0, f"{failure.worst} with {some(failure.servers_lost or 0, 'server')}")
        if failure.made_up_gbps_per_gpu is not None:
            told.append(f"{plain(failure.made_up_gbps_per_gpu)} where planes make up for it")
        if failure.with_switch_gbps_per_gpu is not None:
            told.append(f"{plain(failure.with_switch_gbps_per_gpu)} if a switch of another fails while it is out")
        cut = f" ({', '.join(told)})" if told else ""
        parts.append(f"{some(failure.count, failure.failed)} {plain(failure.gbps_per_gpu)}{cut}")
    return f"left per GPU without {', '.join(parts)} Gb/s" if parts else ""


def about_lines(design: Design, fabric: FabricDesign) -> Iterator[str]:
    """NICs, logical fabrics, structure, bandwidth, bandwidth after failures and subnet managers, a line each."""
    held = slot_words(design, fabric.nic, fabric.metrics.injection_gbps_per_gpu)
    lines = (
        _nics(fabric.nic, fabric.metrics.injection_gbps_per_gpu),
        held,
        *logical_lines(fabric),
        links_of(fabric.structure, fabric),
        bandwidth_line(fabric),
    )
    yield from (line for line in (*lines, failure_line(fabric), manager_line(fabric)) if line)


def manager_line(fabric: FabricDesign) -> str:
    """Name the subnet managers of InfiniBand; empty where they are not known, or there are no subnets."""
    said = fabric.subnet_manager
    if said is None or said.kept is None:
        return ""
    ids = {tier.role: tier.id for tier in fabric.tiers}
    twins = [f"{count(twin.count)} {twin.role} x {twin.id} in place of {ids[twin.role]}" for twin in said.twins]
    return "; ".join([f"subnet managers: {said.detail if said.kept else 'none'}", *twins])


def totals_line(design: Design) -> str:
    """State cost, power and space of the whole design."""
    totals, parts = design.sums, []
    per_gpu = usd_per_gpu(design)
    if per_gpu is not None:
        parts.append(f"{money(round(per_gpu[0], 2))} per {per_gpu[1]}")
    if totals.cluster_power_w:
        parts.append(f"network {power(totals.power_w)}, {share_of_cluster(totals)}")
    parts.append(f"{measured(totals.rack_units, 'rack unit')}{of_those(design, 'rack unit')}")
    if totals.racks is not None and totals.cluster_rack_units is not None:
        parts.append(f"{plain(totals.cluster_rack_units)} with all that is installed, in {some(totals.racks, 'rack')}")
    parts.append(f"TCO {money(totals.tco_usd)}")
    return " · ".join(parts)


def spares_line(design: Design) -> str | None:
    """Count the spares, leftovers, and units in service or in stock among the parts; None where there are none."""
    parts = beside_use(design)
    said = []
    for words, key in (("spares among these", "spares"), ("left over from packs and breaks", "left_over"),
                       ("from own stock besides", "from_stock"), ("in service besides", "in_service")):  # fmt: skip
        kinds = summed((kind, getattr(beside, key)) for (kind, _, _), beside in parts.items())
        units = [f"{count(number)} of the {KIND_NAMES[kind]}" for kind, number in kinds.items() if number]
        said += [f"{words}: {listed(units)}"] if units else []
    return "; ".join(said) or None


def infeasible_lines(design: Design) -> list[str]:
    """Name the limits that clash, and the value that each would need."""
    if design.status == "unknown":
        return [headline(design), *map(_in_the_way, design.conflicts)]
    return [
        headline(design),
        *map(conflict_line, design.conflicts),
        *clash_line(design.conflicts),
        *nearest_line(design),
    ]


def clash_line(conflicts: Sequence[Conflict]) -> list[str]:
    """Say which limits clash, if there are several."""
    clashing = [conflict.limit for conflict in conflicts if conflict.limit != NO_SINGLE_LIMIT]
    if len(clashing) < 2:
        return []
    follows = "Changing any one of them as above would do."
    if any(conflict.needed is None for conflict in conflicts):
        follows = "What any one of them would need alone is above."
    return [f"These limits clash: {listed(clashing)}. {follows}"]


def alternative_line(alternative: Alternative) -> str:
    """Cost of an alternative, and its difference from the answer."""
    name = f"{alternative.what}: {alternative.value}" if alternative.value else alternative.what
    cost, more = alternative.capex_usd, alternative.capex_delta_usd
    return (
        f"  {name}: {alternative.summary if cost is None or more is None else f'{money(cost)} ({signed_money(more)})'}"
    )


def conflict_line(conflict: Conflict) -> str:
    """A limit's value, and the value it would need, alone or together with others."""
    if conflict.limit == NO_SINGLE_LIMIT or (conflict.value is None and conflict.needed is None):
        return _in_the_way(conflict)
    detail = f" ({conflict.detail})" if conflict.detail else ""
    return (
        f"  {conflict.limit}: is {conflict_quantity(conflict.limit, conflict.value)}; {needed_text(conflict)}{detail}"
    )


# The cost of a design is the value that this limit needs.
BUDGET = "limits.budget_usd"


def needed_text(conflict: Conflict) -> str:
    """The value that a limit needs, and the other limits that must change with it."""
    if conflict.needed is None:
        return "no value of it alone would do" if conflict.minimal is None else "not settled"
    costs = "" if conflict.capex_usd is None or conflict.limit == BUDGET else f", at {money(conflict.capex_usd)}"
    needs = f"needs {conflict_quantity(conflict.limit, conflict.needed)}{costs}"
    others = [
        f"{other.limit} {conflict_quantity(other.limit, other.needed)}"
        for other in conflict.together
        if other.limit != conflict.limit
    ]
    return f"{needs}, together with {listed(others)}" if others else needs


def _in_the_way(conflict: Conflict) -> str:
    """The obstacle, where no limit's figure expresses it."""
    return f"  {conflict.detail}" if conflict.limit == NO_SINGLE_LIMIT else f"  {conflict.limit}: {conflict.detail}"


def conflict_quantity(limit: str, value: int | float | str | tuple[str, ...] | None) -> str:
    """A limit's value, or the one it needs, with its unit; in full, for a rounded one might not do."""
    if value is None:
        return "not set"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if limit.endswith("_usd"):
        return money(value)
    if limit.endswith("_w"):
        return power(value) if has_three_digits(value) else f"{value:,} W"
    return count(value) if isinstance(value, int) else f"{value:,}".removesuffix(".0")
