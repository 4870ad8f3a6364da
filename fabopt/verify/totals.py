"""Rules of the sums: totals, stages, limits, objective, status."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from fabopt.schema.design import Totals
from fabopt.units import (
    CENTS_PER_USD,
    HOURS_PER_YEAR,
    MILLIWATTS_PER_WATT,
    cents,
    exact,
    milliwatts,
    plain_fraction,
    rounded,
    usd,
    watts,
)
from fabopt.verify.evidence import ROLES, Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.purchases import item_of, product_of, unit_milliwatts

MILLIWATTS_PER_KILOWATT = 1_000_000


def totals_of(evidence: Evidence) -> Totals:
    """The file's totals; ``LookupError`` if it has none."""
    if evidence.design.totals is None:
        raise LookupError("the design has no totals")
    return evidence.design.totals


def capex_cents(evidence: Evidence) -> int:
    """Sum of the bill."""
    return sum(cents(row.total_usd) for row in evidence.design.bom)


def network_milliwatts(evidence: Evidence) -> int:
    """Power of switches, modules, cables and bought cards in use."""
    items = [(item_of(row), row.in_use) for row in evidence.design.bom if row.kind != "server"]
    return sum(units * unit_milliwatts(product_of(evidence, item)) for item, units in items)


def counted_milliwatts(evidence: Evidence) -> int:
    """Power that limits and energy count: the network's, and the servers' if the case includes them."""
    power = network_milliwatts(evidence)
    if evidence.case.include_servers:
        power += evidence.servers * milliwatts(evidence.server.power_w or 0)
    return power


def energy_cents(evidence: Evidence) -> int:
    """Energy over the years, cooling included, rounded to the cent."""
    finance = evidence.case.finance
    kilowatts = Fraction(counted_milliwatts(evidence), MILLIWATTS_PER_KILOWATT)
    hours = HOURS_PER_YEAR * exact(finance.years)
    return rounded(kilowatts * hours * exact(finance.pue) * exact(finance.energy_usd_per_kwh) * CENTS_PER_USD)


def rack_units(evidence: Evidence) -> Fraction:
    """Rack units of all switches, each to a thousandth."""
    tiers = [(fabric.switch(tier.role), tier.count) for fabric in evidence.fabrics for tier in fabric.made.tiers]
    return sum(
        (Fraction(milliwatts(switch.rack_units), MILLIWATTS_PER_WATT) * count for switch, count in tiers), Fraction(0)
    )


def totals_add_up(proof: Proof, evidence: Evidence) -> None:
    """Totals are the sums of the bill and of the tiers.

    capex = sum of total_usd; power = sum over network lines; cluster power adds the servers, unknown if theirs is;
    switches, NICs, modules, cables (with fibres) = sums of in_use. Source: design file, ``totals``.
    """
    totals, server = totals_of(evidence), evidence.server
    spent, power = capex_cents(evidence), network_milliwatts(evidence)
    used: Counter[str] = Counter()
    for row in evidence.design.bom:
        used[row.kind] += row.in_use
    proof.equal("capex_usd", totals.capex_usd, usd(spent))
    proof.equal("power_w", totals.power_w, watts(power))
    cluster = None
    if server.power_w is not None:
        cluster = watts(power + evidence.servers * milliwatts(server.power_w))
    proof.equal("cluster_power_w", totals.cluster_power_w, cluster)
    proof.equal("rack_units", totals.rack_units, plain_fraction(rack_units(evidence)))
    proof.equal("switches", totals.switches, used["switch"])
    proof.equal("nics", totals.nics, used["nic"])
    proof.equal("transceivers", totals.transceivers, used["transceiver"])
    proof.equal("cables", totals.cables, used["cable"] + used["fibre"])
    per_gpu = plain_fraction(Fraction(spent, CENTS_PER_USD * evidence.gpus), 2) if evidence.gpus else None
    proof.equal("capex_usd_per_gpu", totals.capex_usd_per_gpu, per_gpu)
    proof.note(f"{usd(spent)} USD, {watts(power)} W, {used['switch']} switches")


def energy_is_paid(proof: Proof, evidence: Evidence) -> None:
    """Total cost of ownership is capex and the energy of the network, and of the servers if they count.

    tco = capex + kW x 8760 h x years x PUE x USD/kWh, rounded to the cent. Source: case file, ``finance``.
    """
    spent, energy = capex_cents(evidence), energy_cents(evidence)
    proof.equal("tco_usd", totals_of(evidence).tco_usd, usd(spent + energy))
    proof.note(f"{usd(spent)} USD + {usd(energy)} USD of energy")


def stages_add_up(proof: Proof, evidence: Evidence) -> None:
    """The stage that is designed is the case's last, and holds what the design holds.

    servers, GPUs, capex, power and switches by tier equal those of totals and tiers. Source: design file, ``stages``.
    """
    stages, totals = evidence.design.stages, totals_of(evidence)
    proof.equal("stages", len(stages), 1)
    stage = stages[0]
    proof.equal("name", stage.name, evidence.stage.name)
    proof.equal("month", stage.month, evidence.stage.month)
    proof.equal("servers", stage.servers, evidence.servers)
    proof.equal("gpus", stage.gpus, evidence.gpus)
    proof.equal("capex_usd", stage.capex_usd, totals.capex_usd)
    proof.equal("power_w", stage.power_w, totals.power_w)
    for fabric in evidence.fabrics:
        built = dict.fromkeys(ROLES, 0) | {str(tier.role): tier.count for tier in fabric.made.tiers}
        proof.equal(f"switches of {fabric.made.name}", stage.fabrics.get(fabric.made.name), built)
    proof.equal("fabrics", list(stage.fabrics), [fabric.made.name for fabric in evidence.fabrics])
    proof.note(f"{stage.name}: {stage.servers} servers, {stage.gpus} GPUs")


def limits_hold(proof: Proof, evidence: Evidence) -> None:
    """All fabrics together stay within the case's limits.

    capex <= budget_usd; power (servers' too if they count) <= power_w; rack units <= rack_units. Source: case
    file, ``limits``.
    """
    limits = evidence.case.limits
    for name, used, limit in (
        ("budget_usd", Fraction(capex_cents(evidence), CENTS_PER_USD), limits.budget_usd),
        ("power_w", Fraction(counted_milliwatts(evidence), MILLIWATTS_PER_WATT), limits.power_w),
        ("rack_units", rack_units(evidence), limits.rack_units),
    ):
        if limit is not None:
            shown = f"{name} {plain_fraction(used)} of {plain_fraction(exact(limit))}"
            proof.holds(used <= exact(limit), shown)
            proof.note(shown)
    if not proof.noted:
        proof.note("no limits")


def objective_matches_totals(proof: Proof, evidence: Evidence) -> None:
    """The value that was minimized is the one that the totals show.

    objective.value = totals[objective.metric], the metric being the case's. Source: case file, ``objective``.
    """
    objective, totals = evidence.design.objective, totals_of(evidence)
    proof.equal("objective.metric", objective.metric, evidence.case.objective)
    proof.equal("objective.value", objective.value, getattr(totals, evidence.case.objective))
    proof.note(f"{objective.metric} {objective.value}")


def status_is_honest(proof: Proof, evidence: Evidence) -> None:
    """Only a proven design is called optimal, and only a file with a design is called solved.

    optimal: bound = value, gap 0; feasible: bound <= value; infeasible and unknown: no design. Source: design file,
    ``status``.
    """
    design, objective = evidence.design, evidence.design.objective
    proof.note(f"{design.status}, bound {objective.bound}, value {objective.value}")
    if design.status in ("infeasible", "unknown"):
        given = [design.fabrics, design.stages, design.bom, design.totals, objective.value]
        proof.holds(not any(given), f"a design that is {design.status} has fabrics or sums")
        return
    proof.holds(objective.value is not None, "no value")
    if design.status == "optimal":
        proof.equal("objective.bound", objective.bound, objective.value)
        proof.equal("objective.gap", objective.gap, 0)
    elif objective.bound is not None and objective.value is not None:
        proof.holds(objective.bound <= objective.value, f"bound {objective.bound} above value {objective.value}")
