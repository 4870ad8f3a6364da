"""Rules of the workload: the needs of its model, and the time of a step, computed again from the file's content."""

from __future__ import annotations

from fractions import Fraction

from fabopt.floor.rack_rules import servers_in_group
from fabopt.problem.demand import (
    case_workload,
    computing,
    longest_step_s,
    most_open_ratio,
    needs_beside,
    parts_of,
    runs_of,
    services_of,
)
from fabopt.rules.defaults import MOST_ROBUST_RATIO
from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.objective import DecidedBy
from fabopt.schema.prediction import WorkloadNeeds, WorkloadUse
from fabopt.schema.topologies import can_be_asked
from fabopt.units import MBPS_PER_GBPS, cents, exact, plain_fraction, some, summed
from fabopt.verify import direct
from fabopt.verify.bandwidth import oversubscription
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.memory import recounted_memory
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.ranks import DealtRanks
from fabopt.verify.sharding import calls_are_counted
from fabopt.verify.steps import RecountedStep
from fabopt.workload.ends import whole_use
from fabopt.workload.jobs import needed_mbps
from fabopt.workload.needs import Reach, demanding, stressed_runs
from fabopt.workload.pace import Pace, pace_of_run
from fabopt.workload.prediction import Prediction, cluster_cents, gpus_below, network_of, seconds
from fabopt.workload.served import FIGURES, figure_gbps, needs_of
from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on

# Uplinks that a leaf is taken to have without any spine.
LEFT_OF_NOTHING = Fraction(1, 10**6)


def has_workload(evidence: Evidence) -> bool:
    """Whether the case names a model that is not served, or the file has a workload."""
    return evidence.design.workload is not None or (evidence.names_model and not serves(evidence))


def serves(evidence: Evidence) -> bool:
    """Whether the case's model is served, or the file says so."""
    workload = evidence.design.case.content.get("workload")
    return evidence.design.serving is not None or (isinstance(workload, dict) and workload.get("task") == "serving")


@where(has_workload)
def workload_needs_are_met(proof: Proof, evidence: Evidence) -> None:
    """Demands on the computing fabric that the case leaves open are those of its model.

    The bandwidth is the least at which exposed communication keeps the limit; the ratios are the most, with the
    bandwidth that the slowest NICs offer, which is not more than the design has. Source: docs/workloads.md.
    """
    known = _stated_workload(proof, evidence)
    if known is None:
        return
    workload, claimed = known
    fabric = fabric_named(evidence, claimed.needs.fabric)
    needs, wanted = claimed.needs, fabric.wanted
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    proof.holds(
        needs.leaf_gpus <= certain_gpus(evidence, wanted),
        f"the needs count on {some(needs.leaf_gpus, 'GPU')} on one leaf",
    )
    proof.holds(not reach.reduces or reduces(fabric), "switches reduce where that was counted on")
    offered = exact(needs.offered_gbps_per_gpu) * MBPS_PER_GBPS
    proof.holds(offered <= fabric.injection, f"{needs.offered_gbps_per_gpu} Gb/s per GPU offered")
    limit = exact(evidence.case.own_workload.max_exposed_communication)
    least = max([needed_mbps(workload, limit, reach), *needs_beside(evidence.case, evidence.server)])
    written = as_written(wanted, needs)
    figures = [name for name in FIGURES if can_be_asked(evidence.case, written, **{name: 1.0})]
    most_open = most_open_ratio(evidence.case, workload)
    again = needs_of(demanding(workload), written, limit, reach, least, offered, figures, most_open)
    proof.equal("needs", needs, again)
    content_is_needed(proof, wanted, needs)
    _step_is_in_time(proof, evidence, workload, claimed)
    proof.note(f"{needs.min_gbps_per_gpu} Gb/s per GPU needed")


@where(has_workload)
def workload_is_recomputed(proof: Proof, evidence: Evidence) -> None:
    """Step time, exposed communication, utilization and cost of a working GPU follow from the design.

    Bytes, times and shares as in docs/workloads.md; (servers + network) / (GPUs x utilization) to the cent. Steps are
    counted once more from ranks dealt one by one.
    """
    known = _stated_workload(proof, evidence)
    if known is None:
        return
    workload, claimed = known
    totals = evidence.design.totals
    if totals is None:
        raise LookupError("the design has no totals")
    network = network_on(evidence, fabric_named(evidence, claimed.needs.fabric))
    spent = cluster_cents(cents(totals.capex_usd), evidence.case.include_servers, evidence.server, evidence.servers)
    limit = exact(evidence.case.own_workload.max_exposed_communication)
    runs = runs_of(evidence.case, evidence.server, workload)
    leasts = [row.least_usd_per_effective_gpu for row in claimed.scenarios]
    least = tuple(cents(usd) for usd in leasts if usd is not None)
    # a point of a front was not picked by its regret
    is_known = evidence.case.own_workload.decide_by == "regret" and bool(least or evidence.design.objective.decision)
    proof.holds(len(least) == (len(runs) if is_known else 0), "leasts to regret")
    parts = parts_of(evidence.case, evidence.server)
    served = services_of(evidence.case, evidence.server)
    again = whole_use(Prediction(workload, network, spent, limit, runs, least, parts, served), claimed.needs)
    for name in WorkloadUse.model_fields.keys() - {"on_paths"}:
        proof.equal(name, getattr(claimed, name), getattr(again, name))
    proof.equal("memory counted again", claimed.memory, recounted_memory(workload))
    _ranks_are_enumerated(proof, claimed, workload, network)
    proof.equal("step_s", claimed.step_s, seconds(RecountedStep(workload, network).step_s))
    for row, (_, run) in zip(claimed.scenarios, runs, strict=False):
        proof.equal("step_s of a scenario", row.step_s, seconds(RecountedStep(run, network).step_s))
    for of_job, part in zip(claimed.jobs, parts, strict=False):
        proof.equal("step_s of a job", of_job.step_s, seconds(RecountedStep(part.job.run, network).step_s))
    proof.note(f"a step of {again.step_s} s, {again.exposed_communication} of it exposed")


def is_picked_for_robustness(evidence: Evidence) -> bool:
    """Whether the design was picked as the most robust of those that the model cannot tell apart."""
    decision = evidence.design.objective.decision
    return decision is not None and decision.error is not None


@since("0.3.0", "objective.decision.stressed_usd", "objective.decision.most_oversubscription")
@where(is_picked_for_robustness)
def robust_choice_is_recounted(proof: Proof, evidence: Evidence) -> None:
    """A design picked for its robustness has the stated cost under stress, and keeps the ratios of the rule.

    (servers + network) x the mean step under stress, over the GPUs' work, to the cent; no boundary that the case leaves
    open is above ``most_oversubscription``, which is left out where no design keeps it; its own ratios are within the
    stated ranges of those that were met. That no other design costs less under stress is stated by the search. Source:
    rule ``robust-designs``.
    """
    known, decision, totals = (
        _stated_workload(proof, evidence),
        evidence.design.objective.decision,
        evidence.design.totals,
    )
    if known is None or decision is None or totals is None:
        raise LookupError("a choice for a workload that the file does not have")
    workload, claimed = known
    fabric = fabric_named(evidence, claimed.needs.fabric)
    runs = stressed_runs(runs_of(evidence.case, evidence.server, workload))
    spent = cluster_cents(cents(totals.capex_usd), evidence.case.include_servers, evidence.server, evidence.servers)
    parts = tuple(
        part._replace(pace=Pace(part.job.run, stressed_runs(part.pace.runs)))
        for part in parts_of(evidence.case, evidence.server)
    )
    under_stress = Prediction(workload, network_on(evidence, fabric), spent, runs=runs, parts=parts)
    proof.equal("stressed_usd", decision.stressed_usd, under_stress.per_effective_gpu_usd(under_stress.utilization))
    ratios = _boundaries(fabric)
    open_ones = {
        boundary: ratio
        for boundary, ratio in ratios.items()
        if f"max_oversubscription.{boundary}" in claimed.needs.sets
    }
    most, worst = decision.most_oversubscription, max(open_ones.values(), default=Fraction(0))
    if most is None:
        proof.holds(worst > MOST_ROBUST_RATIO, "the ratios of the rule are kept, and said to be left out")
    else:
        proof.equal("most_oversubscription", most, MOST_ROBUST_RATIO)
        proof.holds(worst <= most, f"{plain_fraction(worst)}:1 at a boundary, at most {most}:1")
    limits = fabric.oversubscription_limits | ({} if most is None else dict.fromkeys(open_ones, exact(most)))
    for boundary, limit in limits.items():
        _ratio_is_in_range(proof, decision, boundary, ratios.get(boundary), limit)
    proof.note(f"${decision.stressed_usd} under stress, {plain_fraction(worst)}:1 at the worst boundary that is open")


def _ratio_is_in_range(proof: Proof, decision: DecidedBy, boundary: str, own: Fraction | None, most: Fraction) -> None:
    """The design is one of those that were met, whose ratios at a boundary keep what the case or the rule allows."""
    name = f"{boundary}_oversubscription"
    band = getattr(decision, name)
    proof.holds((decision.designs or 0) >= 1, "no design was met")
    if band is None or own is None:
        proof.holds(own is None, f"nothing is said of {name}")
        return
    ratio = plain_fraction(own)
    proof.holds(band[0] <= ratio <= band[1], f"{name} {band}, and {ratio} is the design's own")
    proof.holds(decision.designs != 1 or band[0] == band[1], f"{name} {band} of one design")
    proof.holds(band[1] <= most, f"{name} {band}, at most {plain_fraction(most)}")


def _boundaries(fabric: FabricEvidence) -> dict[str, Fraction]:
    if fabric.is_direct:
        return {"leaf": fabric.injection / min(direct.bisection(fabric), direct.all_to_all(fabric))}
    return oversubscription(fabric)


def _step_is_in_time(proof: Proof, evidence: Evidence, workload: ModelRun, claimed: WorkloadUse) -> None:
    """Where neighbouring ranks are put together, only the limit itself is demanded, of the design's step."""
    needs = claimed.needs
    longest = longest_step_s(evidence.case, needs, pace_of_run(workload))
    if longest is not None and workload.placing.beside is None:
        network = network_on(evidence, fabric_named(evidence, needs.fabric))
        step_s = step_on(demanding(workload), network).step_s
        proof.holds(step_s <= longest, "the step keeps max_exposed_communication")


def _ranks_are_enumerated(proof: Proof, claimed: WorkloadUse, workload: ModelRun, network: FabricBandwidth) -> None:
    """Bytes of every communicator over every boundary are those of ranks dealt to GPUs one by one."""
    proof.holds(calls_are_counted(workload), "calls of data ranks are those of every micro-batch")
    ranks, costs = DealtRanks(workload), step_on(workload, network).costs
    for row in claimed.communicators:
        own = (cost for cost in costs if cost.traffic.communicator == row.communicator)
        over = summed(pair for cost in own for pair in ranks.bytes_over(cost, network).items())
        enumerated = {place: plain_fraction(amount, 0) for place, amount in over.items()}
        proof.equal(f"{row.communicator} bytes_over", row.bytes_over, enumerated)


def _stated_workload(proof: Proof, evidence: Evidence) -> tuple[ModelRun, WorkloadUse] | None:
    """The workload of the case and the file's statements on it; None where the case has no model."""
    workload, claimed = case_workload(evidence.case, evidence.server), evidence.design.workload
    if computing(evidence.case) is None:
        workload = None
    if workload is None or claimed is None:
        proof.holds(workload is None and claimed is None, "the case has no model, and the file no workload")
        proof.note("the case has no model")
        return None
    return workload, claimed


def fabric_named(evidence: Evidence, name: str) -> FabricEvidence:
    """The fabric of a design with a name."""
    for fabric in evidence.fabrics:
        if fabric.designed.name == name:
            return fabric
    raise LookupError(f"the design has no fabric {name!r}")


def certain_gpus(evidence: Evidence, wanted: Fabric) -> int:
    """GPUs of one server, or of a leaf group where groups are racks."""
    servers = servers_in_group(wanted, evidence.case, evidence.server)
    return min(servers or 1, evidence.servers) * evidence.server.gpus


def reduces(fabric: FabricEvidence) -> bool:
    """Whether every switch of a fabric can reduce."""
    types = fabric.switch_types
    return bool(types) and all(switch.reduces for _, switch in types)


def as_written(wanted: Fabric, needs: WorkloadNeeds) -> Fabric:
    """The fabric of the case before its open keys were set."""
    ratios = wanted.max_oversubscription
    if not isinstance(ratios, Oversubscription):
        raise ValueError("the embedded case does not resolve max_oversubscription to leaf and spine")
    own = {
        name: None if f"max_oversubscription.{name}" in needs.sets else getattr(ratios, name)
        for name in ("leaf", "spine")
    }
    bandwidth = None if "min_gbps_per_gpu" in needs.sets else wanted.min_gbps_per_gpu
    figures = {name: None for name in FIGURES if name in needs.sets}
    update = {"min_gbps_per_gpu": bandwidth, "max_oversubscription": Oversubscription(**own), **figures}
    return wanted.model_copy(update=update)


def content_is_needed(proof: Proof, wanted: Fabric, needs: WorkloadNeeds) -> None:
    """Keys that were set have the needed values."""
    ratios = wanted.max_oversubscription
    for name, most in needs.max_oversubscription.items():
        proof.equal(f"max_oversubscription.{name}", getattr(ratios, name), most)
    for name in FIGURES:
        if name in needs.sets:
            proof.equal(name, getattr(wanted, name), figure_gbps(needs))
    if "min_gbps_per_gpu" in needs.sets:
        least = max(needs.min_gbps_per_gpu, 1 / MBPS_PER_GBPS)
        proof.equal("min_gbps_per_gpu", wanted.min_gbps_per_gpu, least)


def network_on(evidence: Evidence, fabric: FabricEvidence) -> FabricBandwidth:
    """Bandwidth of each GPU in a fabric of the design."""
    structure = fabric.designed.structure
    group = structure.servers_per_group * evidence.server.gpus
    if fabric.is_direct:
        ratios = _boundaries(fabric)
        return network_of(fabric.injection, ratios, (group, evidence.gpus), reduces(fabric))
    below = gpus_below(fabric.num_tiers, group, fabric.designed.clos.groups_per_pod, evidence.gpus)
    return network_of(fabric.injection, oversubscription(fabric), below, reduces(fabric), _without_spine(fabric))


def _without_spine(fabric: FabricEvidence) -> Fraction | None:
    """The ratio at the leaves once each has lost the spine with most of its links; None without spines.

    A leaf without another spine keeps a millionth of an uplink.
    """
    clos = fabric.clos
    if clos.tiers == 1:
        return None
    down, up = fabric.down("leaf").port_mbps, fabric.up("leaf").port_mbps
    leaves = [(clos.most_endpoints, clos.u)]
    leaves += [(clos.last_endpoints, clos.own_u)] if clos.has_own_last else []
    ratios = []
    for ports, uplinks in leaves:
        left = Fraction(uplinks - clos.links_to_most(uplinks, 1))
        ratios.append(ports * down / ((left or LEFT_OF_NOTHING) * up))
    return max(ratios)
