"""Variants of a step on a design: other placements of ranks, other ratios, the ratios allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fabopt.schema.prediction import (
    JobUse,
    PlacedStep,
    ScenarioStep,
    ServedJobUse,
    TaperedStep,
    WorkloadNeeds,
    WorkloadUse,
)
from fabopt.schema.workload import Placement
from fabopt.units import MBPS_PER_GBPS, gbps, plain_fraction, usd
from fabopt.workload.jobs import RunningJob, ServedJob
from fabopt.workload.needs import Reach, demanding, flat, most_ratio
from fabopt.workload.prediction import Prediction, seconds, use_of
from fabopt.workload.served import binding_of, serving_use
from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on

ENDS: tuple[Placement, Placement] = ("packed", "scattered")
# Ratios in practice, from none up to those above pods.
RATIOS = (1, 2, 3, 4, 7)


def whole_use(prediction: Prediction, needs: WorkloadNeeds) -> WorkloadUse:
    """The prediction for a design file, with its variants."""
    return use_of(prediction, needs).model_copy(
        update={
            "ends": tuple(ends_of(prediction)),
            "tapers": tuple(tapers_of(prediction)),
            "allowed_oversubscription": allowed(prediction),
            "scenarios": tuple(scenarios_of(prediction)),
            "jobs": tuple(job_use(part.job, prediction.network, needs) for part in prediction.parts),
            "services": tuple(served_job_use(job, prediction.network, needs) for job in prediction.served),
            "demanded_gbps_per_gpu": demanded(prediction.workload, prediction.network),
        }
    )


def placed(workload: ModelRun, placement: Placement) -> ModelRun:
    """The workload with another placement of ranks."""
    return replace(workload, placing=replace(workload.placing, placement=placement))


def ends_of(prediction: Prediction) -> Iterator[PlacedStep]:
    """The step with ranks packed, and scattered."""
    for placement in ENDS:
        workload = placed(prediction.workload, placement)
        step = step_on(workload, prediction.network)
        used = step.utilization(workload)
        yield PlacedStep(
            placement=placement,
            step_s=seconds(step.step_s),
            exposed_communication=plain_fraction(step.exposed_share),
            gpu_utilization=plain_fraction(used),
            usd_per_effective_gpu=None if prediction.parts else prediction.per_effective_gpu_usd(used),
        )


def scenarios_of(prediction: Prediction) -> Iterator[ScenarioStep]:
    """The step in every scenario; none where the case has none."""
    for number, (weight, run) in enumerate(prediction.runs if len(prediction.runs) > 1 else ()):
        step = step_on(run, prediction.network)
        used = step.utilization(run)
        of_scenario = ScenarioStep(
            weight=plain_fraction(weight), step_s=seconds(step.step_s), gpu_utilization=plain_fraction(used)
        )
        yield of_scenario.model_copy(update=_regret_fields(prediction, number, used))


def _regret_fields(prediction: Prediction, number: int, used: Fraction) -> dict[str, int | float | None]:
    """Cents of a working GPU in a scenario, and with the best design for it; empty where means decide."""
    if not prediction.least:
        return {}
    least, cents = prediction.least[number], prediction.per_effective_gpu_cents(used)
    assert cents is not None
    return {
        "usd_per_effective_gpu": usd(cents),
        "least_usd_per_effective_gpu": usd(least),
        "regret": plain_fraction(Fraction(cents, least) - 1),
    }


def job_use(job: RunningJob, network: FabricBandwidth, needs: WorkloadNeeds) -> JobUse:
    """A job beside others on a network; one that has all GPUs for a part of the day has the ``needs`` of a model."""
    run, step = job.run, step_on(job.run, network)
    blocks = {"leaf": network.leaf_gpus, "pod": network.pod_gpus}
    above = {
        name: plain_fraction(min(mbps, network.server_mbps) / MBPS_PER_GBPS)
        for (name, block), mbps in zip(blocks.items(), run.placing.uplinks_mbps(network), strict=True)
        if block < run.installed_gpus
    }
    tapers: dict[str, dict[str, int | float]] = {}
    for boundary, ratio, there in networks_with_ratios(network, run.installed_gpus):
        tapers.setdefault(boundary, {})[f"{ratio}:1"] = seconds(step_on(run, there).step_s)
    return JobUse(
        name=job.job.title,
        model=run.model.name,
        gpus=run.ranks.gpus,
        min_gbps_per_gpu=needs.min_gbps_per_gpu if run.placing.beside is None else gbps(job.need_mbps),
        gbps_per_gpu=above,
        step_s=seconds(step.step_s),
        exposed_communication=plain_fraction(step.exposed_share),
        gpu_utilization=plain_fraction(step.utilization(run)),
        tokens_per_s=plain_fraction(run.plan.batch * run.model.architecture.sequence / step.step_s, 1),
        paused=plain_fraction(job.paused(network)),
        tapers=tapers,
    )


def served_job_use(job: ServedJob, network: FabricBandwidth, needs: WorkloadNeeds) -> ServedJobUse:
    """A job that serves beside others on a network; of the ``needs`` of all its own bandwidth is said."""
    beside, has = job.placing.beside, job.has(network)
    assert beside is not None
    rates = {"leaf": (network.leaf_gpus, has.leaf_mbps), "pod": (network.pod_gpus, has.pod_mbps)}
    own = needs.model_copy(
        update={
            "min_gbps_per_gpu": gbps(job.need_mbps),
            "overlapped_gbps_per_gpu": None,
            "binding": binding_of(job.service, flat(max(1, job.need_mbps), Reach(beside.server_gpus))),
        }
    )
    return ServedJobUse(
        name=job.job.title,
        min_gbps_per_gpu=gbps(job.need_mbps),
        gbps_per_gpu={
            name: plain_fraction(mbps / MBPS_PER_GBPS) for name, (block, mbps) in rates.items() if block < beside.gpus
        },
        paused=plain_fraction(job.paused(network)),
        service=serving_use(job.service, has, own),
    )


def demanded(workload: ModelRun, network: FabricBandwidth) -> dict[str, int | float]:
    """Gb/s for each GPU that leaves and pods must give jobs beside each other; empty for one of all GPUs."""
    beside = workload.placing.beside
    blocks = {} if beside is None else {"leaf": network.leaf_gpus, "pod": network.pod_gpus}
    return {
        name: plain_fraction(beside.demand_mbps(block) / MBPS_PER_GBPS)
        for name, block in blocks.items()
        if beside is not None and block < beside.gpus
    }


def networks_with_ratios(network: FabricBandwidth, gpus: int) -> Iterator[tuple[str, int, FabricBandwidth]]:
    """The network with other ratios at the leaves, then above pods, unchanged otherwise; none for a missing tier."""
    for ratio in RATIOS if network.leaf_gpus < gpus else ():
        yield "leaf", ratio, tapered_leaves(network, Fraction(ratio))
    for ratio in RATIOS if network.pod_gpus < gpus else ():
        yield "spine", ratio, replace(network, pod_mbps=network.leaf_mbps / Fraction(ratio))


def tapers_of(prediction: Prediction) -> Iterator[TaperedStep]:
    """The step with other ratios."""
    network, gpus = prediction.network, prediction.workload.installed_gpus
    packed, scattered = (placed(prediction.workload, placement) for placement in ENDS)

    def on(there: FabricBandwidth) -> TaperedStep:
        return TaperedStep(
            packed_s=seconds(step_on(packed, there).step_s), scattered_s=seconds(step_on(scattered, there).step_s)
        )

    for boundary, ratio, there in networks_with_ratios(network, gpus):
        yield on(there).model_copy(update={f"{boundary}_ratio": ratio})


def tapered_leaves(network: FabricBandwidth, ratio: Fraction) -> FabricBandwidth:
    """The network with a ratio at its leaves; pods keep their ratio above them."""
    leaf = network.server_mbps / ratio
    return replace(network, leaf_mbps=leaf, pod_mbps=leaf * network.pod_mbps / network.leaf_mbps)


def allowed(prediction: Prediction) -> dict[str, int | float]:
    """The most oversubscription at each boundary that keeps the limit, with the design's groups and pods.

    At the leaves with none above them, at the spines above the design's leaves; empty without a limit.
    """
    workload, network, limit = demanding(prediction.workload), prediction.network, prediction.most_exposed
    runs = [demanding(part.pace.workload) for part in prediction.parts] or [workload]
    if limit is None or limit >= 1:
        return {}

    def keeps(there: FabricBandwidth) -> bool:
        return all(step_on(run, there).exposed_share <= limit for run in runs)

    rate, gpus, most = network.server_mbps, workload.installed_gpus, {}
    if network.leaf_gpus < gpus:
        most["leaf"] = most_ratio(lambda ratio: keeps(replace(network, leaf_mbps=rate / ratio, pod_mbps=rate / ratio)))
    if network.pod_gpus < gpus:
        most["spine"] = most_ratio(lambda ratio: keeps(replace(network, pod_mbps=network.leaf_mbps / ratio)))
    return {name: plain_fraction(ratio) for name, ratio in most.items()}
