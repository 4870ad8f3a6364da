"""Rules of the sums: totals, stages, limits, objective, status."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabopt.rules.defaults import ROBUST_DESIGNS, is_kept
from fabopt.schema.case import Limits
from fabopt.schema.catalog import Switch
from fabopt.schema.design import FabricDesign, Totals
from fabopt.schema.objective import DecidedBy
from fabopt.schema.prediction import WorkloadUse
from fabopt.units import (
    CENTS_PER_USD,
    MILLIWATTS_PER_WATT,
    cents,
    exact,
    milliwatts,
    plain_fraction,
    rounded,
    some,
    summed,
    usd,
    watts,
)
from fabopt.verify.charges import charges_cents
from fabopt.verify.evidence import ROLES, Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.purchases import CABLE_MOVE, BilledOrder, item_of, order_cents, sold, units_milliwatts
from fabopt.verify.terms_of_sale import energy_cents as energy_of_a_milliwatt
from fabopt.workload.stages import MEASURED_BAND


def totals_of(evidence: Evidence) -> Totals:
    """The file's totals; ``LookupError`` if it has none."""
    if evidence.design.totals is None:
        raise LookupError("the design has no totals")
    return evidence.design.totals


def capex_cents(evidence: Evidence, stage: int | None = None, present: bool = False) -> int:
    """Sum of the bill in cents, or of a stage's lines; ``present``: at month 0."""
    order = BilledOrder(evidence)
    if not present:
        name = None if stage is None else evidence.stage_names[stage]
        return sum(cents(row.total_usd) for row in evidence.design.bom if name in (None, row.stage))
    parts = sum(
        order_cents(evidence, item, at, units, present=True)
        for (at, item), units in order.bought.items()
        if units and stage in (None, at)
    )
    return parts + charges_cents(evidence, stage)


def network_milliwatts(evidence: Evidence, stage: int | None = None) -> int:
    """Power of switches, modules, cables and bought NICs in use, in the end or from a stage on."""
    names = evidence.stage_names[: None if stage is None else stage + 1]
    items = [(item_of(row), row.in_use) for row in evidence.goods if row.kind != "server" and row.stage in names]
    return sum(units * units_milliwatts(evidence, item) for item, units in items)


def counted_milliwatts(evidence: Evidence, stage: int | None = None) -> int:
    """Power in milliwatts under limits and for energy: the network's, and the servers' if the case includes them."""
    power = network_milliwatts(evidence, stage)
    if evidence.case.include_servers:
        servers = evidence.servers if stage is None else evidence.servers_by_stage[stage]
        power += sold(evidence.server, servers) * milliwatts(evidence.server.power_w or 0)
    return power


def energy_cents(evidence: Evidence, stages: Sequence[int]) -> Fraction:
    """Present value of the energy of some stages, each up to the next one, cooling included."""
    worth = (*energy_of_a_milliwatt(evidence.case.finance, evidence.months), Fraction(0))
    return sum(
        (counted_milliwatts(evidence, stage) * (worth[stage] - worth[stage + 1]) for stage in stages), Fraction(0)
    )


def rack_units(evidence: Evidence, stage: int | None = None) -> Fraction:
    """Rack units of all switches in the end or at a stage, each to a thousandth."""
    names = evidence.stage_names[: None if stage is None else stage + 1]
    switches = [(row.id, row.in_use) for row in evidence.goods if row.kind == "switch" and row.stage in names]
    return sum(
        (
            Fraction(milliwatts(evidence.part(part, Switch).rack_units), MILLIWATTS_PER_WATT) * count
            for part, count in switches
        ),
        Fraction(0),
    )


def totals_add_up(proof: Proof, evidence: Evidence) -> None:
    """Totals are the sums of the bill and of the tiers.

    capex = sum of total_usd; power = sum over network lines; cluster power adds the servers, unknown if theirs is;
    switches, NICs, modules, cables (with fibres) = sums of in_use; racks with devices or panels, and the units of
    servers, switches and attachments in them. Source: design file, ``totals``.
    """
    totals, server = totals_of(evidence), evidence.server
    spent, power = capex_cents(evidence), network_milliwatts(evidence)
    used = summed((row.kind, row.in_use) for row in evidence.design.bom)
    proof.equal("capex_usd", totals.capex_usd, usd(spent))
    proof.equal("power_w", totals.power_w, watts(power))
    cluster = None
    if server.power_w is not None:
        cluster = watts(power + sold(server, evidence.servers) * milliwatts(server.power_w))
    proof.equal("cluster_power_w", totals.cluster_power_w, cluster)
    proof.equal("rack_units", totals.rack_units, plain_fraction(rack_units(evidence)))
    proof.equal("switches", totals.switches, used["switch"])
    proof.equal("nics", totals.nics, used["nic"])
    proof.equal("transceivers", totals.transceivers, used["transceiver"])
    proof.equal("cables", totals.cables, used["cable"] + used["fibre"])
    proof.equal("capex_usd_per_gpu", totals.capex_usd_per_gpu, usd_per_gpu(evidence, spent))
    if totals.racks is not None or totals.cluster_rack_units is not None:
        proof.equal("racks", totals.racks, len(racks_in_file(evidence)))
        proof.equal("cluster_rack_units", totals.cluster_rack_units, plain_fraction(_all_units(evidence)))
    proof.note(f"{usd(spent)} USD, {watts(power)} W, {some(used['switch'], 'switch')}")


def usd_per_gpu(evidence: Evidence, spent: int) -> float | None:
    """Cents spent for each GPU, or each that joins what is in service, in dollars; None where there are none."""
    joining = evidence.case.gpus_added(evidence.gpus)
    return plain_fraction(Fraction(spent, CENTS_PER_USD * joining), 2) if joining > 0 else None


def racks_in_file(evidence: Evidence) -> set[str]:
    """Racks named by the file as places."""
    racks = set(evidence.design.racks.server_racks)
    for fabric in evidence.design.fabrics:
        places = fabric.places
        for of_role in (places.leaf, places.spine, places.core, *places.attachments.values()):
            racks.update(rack for rack, _ in of_role)
        racks.update(place.rack for kind in fabric.structured for place in kind.panels)
    return racks


def _all_units(evidence: Evidence) -> Fraction:
    whole = evidence.server.rack
    units = rack_units(evidence) + (
        evidence.servers * exact(evidence.server.rack_units or 0)
        if whole is None
        else Fraction(sold(evidence.server, evidence.servers) * whole.rack_units)
    )
    for fabric in evidence.case.fabrics:
        units += sum(
            (
                attachment.boxes * exact(attachment.rack_units)
                for attachment in fabric.attachments
                if attachment.rack_units
            ),
            Fraction(0),
        )
    return units


def energy_is_paid(proof: Proof, evidence: Evidence) -> None:
    """Total cost of ownership is the present value of the purchases and of the energy of the network, and of the
    servers if they count.

    tco = sum of units x present unit price + sum over stages of kW x energy of a kW until the next stage, rounded to
    the cent. Source: case file, ``finance``.
    """
    spent = capex_cents(evidence, present=True)
    energy = rounded(energy_cents(evidence, range(len(evidence.stage_names))))
    proof.equal("tco_usd", totals_of(evidence).tco_usd, usd(spent + energy))
    proof.note(f"{usd(spent)} USD + {usd(energy)} USD of energy")


def stages_add_up(proof: Proof, evidence: Evidence) -> None:
    """The stages are the case's; each spends the sum of its lines of the bill, and everything up to it is installed.

    servers, GPUs, capex and its present value, power, energy, rack units, moves and switches by tier of every stage.
    Source: design file, ``stages``.
    """
    proof.equal("stages", [stage.name for stage in evidence.design.stages], evidence.stage_names)
    spent = 0
    for number, stage in enumerate(evidence.design.stages):
        recabled = sum(row.in_use for row in evidence.goods if row.stage == stage.name and item_of(row) == CABLE_MOVE)
        spent += cents(stage.capex_usd)
        for name, claimed, recounted in (
            ("month", stage.month, evidence.months[number]),
            ("servers", stage.servers, evidence.servers_by_stage[number]),
            ("gpus", stage.gpus, evidence.servers_by_stage[number] * evidence.server.gpus),
            ("capex_usd", stage.capex_usd, usd(capex_cents(evidence, number))),
            ("power_w", stage.power_w, watts(network_milliwatts(evidence, number))),
            ("present_value_usd", stage.present_value_usd, usd(capex_cents(evidence, number, present=True))),
            ("energy_usd", stage.energy_usd, usd(rounded(energy_cents(evidence, [number])))),
            ("rack_units", stage.rack_units, plain_fraction(rack_units(evidence, number))),
            ("moved_cables", stage.moved_cables, recabled),
        ):
            if claimed is not None:
                proof.equal(f"{name} of {stage.name}", claimed, recounted)
        for fabric in evidence.fabrics:
            claimed_switches = stage.fabrics.get(fabric.designed.name)
            proof.equal(
                f"switches of {fabric.designed.name}", claimed_switches, _switches_at(fabric.designed, stage.name)
            )
        proof.equal("fabrics", list(stage.fabrics), [fabric.designed.name for fabric in evidence.fabrics])
    proof.equal("capex_usd of all stages", usd(spent), totals_of(evidence).capex_usd)
    last = evidence.design.stages[-1]
    installed = f"{some(last.servers, 'server')}, {some(last.gpus, 'GPU')}"
    proof.note(f"{some(len(evidence.stage_names), 'stage')}, the last one {last.name}: {installed}")


def _switches_at(designed: FabricDesign, stage: str) -> dict[str, int]:
    """Switches of each tier at a stage; those of the tiers, where the file has no growth."""
    for grown in designed.growth:
        if grown.stage == stage:
            return {"leaf": grown.leaves, "spine": grown.spines, "core": grown.cores}
    return dict.fromkeys(ROLES, 0) | {str(tier.role): tier.count for tier in designed.tiers}


def limits_hold(proof: Proof, evidence: Evidence) -> None:
    """All fabrics together stay within the limits of the case and of every stage.

    capex <= budget_usd (of a stage: its orders); power (servers' too if they count) <= power_w; rack units <=
    rack_units (of a stage: all installed by then). Source: case file, ``limits`` and ``stages[].limits``.
    """
    _limits(proof, evidence, "", evidence.case.limits, None)
    for number, stage in enumerate(evidence.case.stages or ()):
        _limits(proof, evidence, f"{stage.name}: ", stage.limits, number)
    if not proof.noted:
        proof.note("no limits")


def _limits(proof: Proof, evidence: Evidence, where: str, limits: Limits, stage: int | None) -> None:
    for name, used, limit in (
        ("budget_usd", Fraction(capex_cents(evidence, stage), CENTS_PER_USD), limits.budget_usd),
        ("power_w", Fraction(counted_milliwatts(evidence, stage), MILLIWATTS_PER_WATT), limits.power_w),
        ("rack_units", rack_units(evidence, stage), limits.rack_units),
    ):
        if limit is not None:
            shown = f"{where}{name} {plain_fraction(used)} of {plain_fraction(exact(limit))}"
            proof.shows(used <= exact(limit), shown)


def objective_matches_totals(proof: Proof, evidence: Evidence) -> None:
    """The minimized value is that of the totals. objective.value = totals[objective.metric], the metric being the
    case's; a figure of the workload is that of ``workload_is_recomputed``. Source: case file, ``objective``.
    """
    objective, totals = evidence.design.objective, totals_of(evidence)
    metric = "expected_tco_usd" if evidence.case.is_uncertain else evidence.case.objective
    shown = totals if metric in Totals.model_fields else evidence.design.workload
    proof.equal("objective.metric", objective.metric, metric)
    proof.equal("objective.value", objective.value, None if shown is None else getattr(shown, metric))
    proof.note(f"{objective.metric} {objective.value}")


def status_is_honest(proof: Proof, evidence: Evidence) -> None:
    """Only a proven design is called optimal, and only a file with a design is called solved.

    optimal: bound = value, gap 0; feasible: bound <= value, gap = (value - bound) / value if a bound is known, and no
    ``conflicts`` of either; infeasible and unknown: no design. A floor is no more than the value. A design picked for
    its robustness (rule ``robust-designs``) or regret need not be the least: bound <= value, and its value, or where
    regret decides its worst regret, is within the error of the least. Source: design file, ``status``.
    """
    design, objective = evidence.design, evidence.design.objective
    proof.note(f"{design.status}, bound {objective.bound}, value {objective.value}")
    if design.status in ("infeasible", "unknown"):
        given = [design.fabrics, design.stages, design.bom, design.totals, objective.value]
        proof.holds(not any(given), f"a design that is {design.status} has fabrics or sums")
        return
    proof.holds(objective.value is not None, "no value")
    proof.holds(not (design.conflicts or design.nearest), "a design that was found says what stands in its way")
    least, value = objective.floor, objective.value
    if least is not None and value is not None:
        proof.holds(least <= value, f"floor {least} above value {value}")
    if objective.decision is not None:
        _decision_is_honest(proof, evidence, objective.decision)
    if design.status == "optimal" and evidence.case.growth.decide_by == "regret":
        proof.holds(objective.decision is not None, "nothing is said of the regret that decides")
    if design.status == "optimal" and objective.decision is None:
        proof.equal("objective.bound", objective.bound, objective.value)
        proof.equal("objective.gap", objective.gap, 0)
    elif objective.bound is not None and objective.value is not None:
        proof.holds(objective.bound <= objective.value, f"bound {objective.bound} above value {objective.value}")
        gap = round((objective.value - objective.bound) / objective.value, 6) if objective.value else 0
        proof.equal("objective.gap", objective.gap, gap)


def _decision_is_honest(proof: Proof, evidence: Evidence, decision: DecidedBy) -> None:
    """A design picked by more than its objective was picked as the case asks: within the error of the least, or by
    regret.
    """
    if decision.regret_usd is not None:
        futures = evidence.design.futures
        proof.equal("growth.decide_by", evidence.case.growth.decide_by, "regret")
        proof.equal("regret_usd", decision.regret_usd, None if futures is None else futures.regret_usd)
        return
    case, value, use = evidence.case, evidence.design.objective.value, evidence.design.workload
    if case.workload is None or use is None or value is None:
        raise LookupError("a decision for a workload that the file does not have")
    proof.equal("decide_by", case.workload.decide_by, "regret" if decision.by == "regret" else "mean")
    if decision.error is not None:
        proof.holds(is_kept(case.rules, ROBUST_DESIGNS), "robustness decides")
        proof.equal("error", decision.error, plain_fraction(MEASURED_BAND))
    if decision.by == "regret":
        _regret_is_honest(proof, use, decision)
        return
    least, error = decision.least_usd, decision.error
    if least is None or error is None:
        raise LookupError("the least value and the error are missing")
    base = decision.least_in_ratio_usd or least
    proof.holds(least <= base <= value <= base * (1 + error), f"value {value}, the least {base}")
    if decision.least_in_ratio_usd is not None:
        proof.holds(base > least * (1 + error), "designs that keep the ratios of the rule are near to the least")
    if evidence.design.status == "optimal":
        proof.equal("objective.bound", evidence.design.objective.bound, least)


def _regret_is_honest(proof: Proof, use: WorkloadUse, decision: DecidedBy) -> None:
    """The regret is the worst of the scenarios, and where robustness decides, within the error of the least."""
    regrets = [row.regret for row in use.scenarios if row.regret is not None]
    proof.equal("regret", decision.regret, max(regrets, default=None))
    proof.holds(min(regrets, default=0) >= 0, "a scenario costs less than the least of any design")
    if decision.error is None:
        alone = DecidedBy(by="regret", regret=decision.regret)
        proof.equal("a decision by regret alone", decision, alone)
        return
    least, worst = decision.least_regret, decision.regret
    if least is None or worst is None:
        raise LookupError("the least regret is missing")
    # from figures to the cent, and to six places
    rounding = 1 / min(cents(row.least_usd_per_effective_gpu or 1) for row in use.scenarios) + 1e-6
    # where none is so near within the ratios of the rule, it is the least of those that keep them, which is stated
    is_within = -rounding <= worst - least <= (1 + least) * decision.error + rounding
    proof.holds(
        is_within or (worst > least and decision.least_in_ratio_usd is not None), f"regret {worst}, the least {least}"
    )
