"""Jobs and services, counted again from the file's content.

Jobs beside each other: server by server, their GPUs, the worst placement, what each has of uplinks. A service: its
needs of the network, and what its users wait for.

Computation of a GPU, and bytes and latency of a single call, are those of ``fabopt.workload``; ranks are dealt one by
one, keys and values counted layer by layer, and times, rates and limits worked out here. Source: docs/workloads.md,
"Serving".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isclose
from typing import NamedTuple

from fabopt.problem.demand import case_service, gpus_at_work, services_of
from fabopt.schema.jobs import Job
from fabopt.schema.model import Model
from fabopt.schema.prediction import ServedJobUse, ServingUse, WorkloadNeeds, WorkloadUse
from fabopt.schema.topologies import can_be_asked
from fabopt.schema.workload import DEFAULT_EXPOSED
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.memory import kept_of_sequence
from fabopt.verify.mixes import block_of, level_mbps
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.steps import RecountedStep
from fabopt.verify.workload import (
    as_written,
    certain_gpus,
    content_is_needed,
    fabric_named,
    network_on,
    reduces,
    serves,
)
from fabopt.workload.jobs import ServedJob
from fabopt.workload.needs import MOST_MBPS, MOST_RATIO, Reach, flat, tapered
from fabopt.workload.pace import LEAST_LEFT
from fabopt.workload.placement import JobMix, uplink_share
from fabopt.workload.prediction import seconds
from fabopt.workload.served import FIGURES, least_of, service_needs, serving_use
from fabopt.workload.service import Service
from fabopt.workload.timing import FabricBandwidth

# The network of 400 Gb/s that plans are compared on.
COMPARED_MBPS = 400_000
# Of a GPU's memory that weights, keys and values fill: vLLM's `gpu_memory_utilization`.
USABLE = Fraction(9, 10)
THOUSANDTH = Fraction(1, 1000)
# Demands without which a case may have less than its service needs.
_ASKED = ("min_gbps_per_gpu", "max_oversubscription.leaf", "max_oversubscription.spine")


class RecountedService:
    """What users of a service wait for, by counting ranks."""

    def __init__(self, service: Service) -> None:
        self.service, self.reading, self.writing = service, service.reading, service.writing
        self.sent = self.writing.number_bytes * kept_of_sequence(self.writing.model.architecture, self.writing.prompt)
        free = flat(MOST_MBPS, Reach())
        self.mbps = self._sent_mbps(self._reads_s(free), self._writes_s(free)) if service.apart else Fraction(0)

    def _reads_s(self, network: FabricBandwidth) -> Fraction:
        return RecountedStep(self.reading.run(True, self.service.prompts), network).step_s

    def _writes_s(self, network: FabricBandwidth) -> Fraction:
        return RecountedStep(self.writing.run(False, self.service.sequences), network).step_s

    def _sent_mbps(self, reads_s: Fraction, writes_s: Fraction) -> Fraction:
        """Keys and values of all prompts of a second, for each GPU of the fewer: those that send or receive."""
        sequences = self.writing.gpus // self.writing.plan.tensor * self.service.sequences
        prompts = self.reading.gpus // self.reading.plan.tensor * self.service.prompts
        a_second = min(prompts / reads_s, sequences / (writes_s * self.writing.output))
        return a_second * self.sent * 8 / (min(self.reading.gpus, self.writing.gpus) * Fraction(10**6))

    def waits_s(self, network: FabricBandwidth) -> tuple[Fraction, Fraction] | None:
        """Seconds to the first token, and of a further one; None where prompts alone fill the network."""
        uplinks = self.writing.placing.uplinks
        rates = [network.server_mbps, network.leaf_mbps * uplinks, network.pod_mbps * uplinks]
        left = [rate - self.mbps for rate in rates]
        if min(left) <= 0:
            return None
        server, leaf, pod = left
        beside = replace(network, server_mbps=server, leaf_mbps=leaf / uplinks, pod_mbps=pod / uplinks)
        reads_s, writes_s = self._reads_s(beside), self._writes_s(beside)
        if not self.service.apart:
            share = Fraction(self.service.sequences, self.service.prompts * self.writing.output)
            return reads_s, writes_s + share * reads_s
        ways = min(self.reading.plan.tensor, self.writing.plan.tensor)
        return reads_s + Fraction(self.sent * 8) / (ways * min(rates) * 10**6), writes_s

    def limits_s(self) -> tuple[Fraction, Fraction]:
        """The case's limits; those left out are little above the network that plans are compared on."""
        ttft_s, tpot_s, share = self.service.ttft_limit_s, self.service.tpot_limit_s, 1 - self.service.most_exposed
        if not share or (ttft_s is not None and tpot_s is not None):
            return ttft_s or Fraction(10**9), tpot_s or Fraction(10**9)
        first_s, further_s = self.waits_s(flat(COMPARED_MBPS, Reach())) or (Fraction(10**9),) * 2
        return first_s / share if ttft_s is None else ttft_s, further_s / share if tpot_s is None else tpot_s

    def keeps(self, network: FabricBandwidth) -> bool:
        """Whether users wait no longer than the limits."""
        waits = self.waits_s(network)
        return waits is not None and all(wait <= most for wait, most in zip(waits, self.limits_s(), strict=True))


@since("0.3.0", "serving")
@where(serves)
def service_needs_are_met(proof: Proof, evidence: Evidence) -> None:
    """Demands on the computing fabric that the case leaves open are the least that keep the service's limits.

    A network with them keeps the times to the first and of a further token; with 1 Mb/s less, or a thousandth more
    oversubscription, it does not. The design's own network keeps them. Source: docs/workloads.md.
    """
    service, claimed = _stated(evidence)
    needs, counted = claimed.needs, RecountedService(service)
    fabric = fabric_named(evidence, needs.fabric)
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    proof.holds(needs.leaf_gpus <= certain_gpus(evidence, fabric.wanted), "GPUs that share a leaf for certain")
    proof.holds(not reach.reduces or reduces(fabric), "switches reduce where that was counted on")
    offered, leaf = exact(needs.offered_gbps_per_gpu) * MBPS_PER_GBPS, exact(needs.max_oversubscription["leaf"])
    proof.holds(offered <= fabric.injection, f"{needs.offered_gbps_per_gpu} Gb/s per GPU offered")
    least = exact(needs.min_gbps_per_gpu) * MBPS_PER_GBPS
    proof.holds(counted.keeps(flat(max(least, Fraction(1)), reach)), f"{needs.min_gbps_per_gpu} Gb/s is enough")
    proof.holds(least <= 1 or not counted.keeps(flat(least - 1, reach)), f"{needs.min_gbps_per_gpu} Gb/s is the least")
    if offered >= least:
        _is_most(proof, needs, "leaf", lambda ratio: counted.keeps(tapered(offered, ratio, Fraction(1), reach)))
        _is_most(proof, needs, "spine", lambda ratio: counted.keeps(tapered(offered, leaf, ratio, reach)))
    written = as_written(fabric.wanted, needs)
    figures = [name for name in FIGURES if can_be_asked(evidence.case, written, **{name: 1.0})]
    again = service_needs(service, written, reach, least_of(service, reach), offered, figures)
    proof.equal("needs", needs, again)
    content_is_needed(proof, fabric.wanted, needs)
    if all(key in needs.sets for key in _ASKED):
        proof.holds(counted.keeps(network_on(evidence, fabric)), "the design's network keeps the limits")
    proof.note(f"{needs.min_gbps_per_gpu} Gb/s per GPU needed")


def _is_most(proof: Proof, needs: WorkloadNeeds, boundary: str, keeps: Callable[[Fraction], bool]) -> None:
    """A ratio that the case leaves out keeps the limits, where any does, and a thousandth more does not."""
    stated = needs.max_oversubscription[boundary]
    if f"max_oversubscription.{boundary}" not in needs.sets or not keeps(Fraction(1)):
        return
    proof.holds(keeps(exact(stated)), f"{stated}:1 at the {boundary} keeps the limits")
    is_last = stated >= MOST_RATIO or not keeps(exact(stated) + THOUSANDTH)
    proof.holds(is_last, f"{stated}:1 is the most at the {boundary}")


@since("0.3.0", "serving")
@where(serves)
def service_is_recounted(proof: Proof, evidence: Evidence) -> None:
    """Times, rates, memory, and keys and values of a service follow from the case and the design.

    Ranks are dealt one by one; numbers that a prompt keeps are counted layer by layer; weights and sequences of full
    length fit nine tenths of a GPU's memory. Source: docs/workloads.md.
    """
    service, claimed = _stated(evidence)
    network = network_on(evidence, fabric_named(evidence, claimed.needs.fabric))
    again = serving_use(service, network, claimed.needs)
    for name in ServingUse.model_fields.keys() - {"on_paths"}:
        proof.equal(name, getattr(claimed, name), getattr(again, name))
    counted = RecountedService(service)
    waits = counted.waits_s(network) or (Fraction(10**9),) * 2
    proof.equal("ttft_s and tpot_s", (claimed.ttft_s, claimed.tpot_s), tuple(map(seconds, waits)))
    proof.equal("limits", (claimed.ttft_limit_s, claimed.tpot_limit_s), tuple(map(seconds, counted.limits_s())))
    proof.equal("kv_bytes_per_prompt", claimed.kv_bytes_per_prompt, counted.sent)
    proof.equal("kv_gbps_per_gpu", claimed.kv_gbps_per_gpu, plain_fraction(counted.mbps / MBPS_PER_GBPS, 3))
    kinds = (claimed.prefill, claimed.decode) if claimed.disaggregated else (claimed.decode,)
    proof.equal("GPUs of both kinds", sum(pool.gpus for pool in kinds), gpus_at_work(evidence.case, evidence.server))
    for pool in kinds:
        most_gb = float(USABLE * exact(pool.gpu_gb or 0))
        proof.holds(pool.weights_gb + pool.kept_gb <= most_gb, f"{pool.weights_gb} + {pool.kept_gb} GB fit {most_gb}")
    proof.note(f"{claimed.ttft_s} s to the first token, {claimed.tpot_s} s for each further one")


def _stated(evidence: Evidence) -> tuple[Service, ServingUse]:
    """The service of the case, and the file's statements on it."""
    service, claimed = case_service(evidence.case, evidence.server), evidence.design.serving
    if service is None or claimed is None:
        raise LookupError("the case's model is served, and the file says so, or neither")
    return service, claimed


HOURS_OF_A_DAY = 24


def has_jobs(evidence: Evidence) -> bool:
    """Whether the case has several jobs, or the file says so."""
    workload = evidence.design.case.content.get("workload")
    return bool(evidence.design.workload and evidence.design.workload.jobs) or (
        isinstance(workload, dict) and bool(workload.get("jobs"))
    )


@since("0.3.0", "workload.jobs", "case.content.workload.jobs")
@where(has_jobs)
def jobs_are_recounted(proof: Proof, evidence: Evidence) -> None:
    """Jobs have the GPUs that the case gives them, and every boundary what they need in the worst placement.

    Servers are dealt to blocks one by one. GPUs that work are those of all jobs, by the hours of a day that they run.
    Source: docs/workloads.md.
    """
    use, wanted = evidence.design.workload, evidence.case.workload
    if use is None or wanted is None:
        raise LookupError("jobs without a model")
    running = [job for job in wanted.jobs if job.model is not None]
    gpus = _gpus(running, evidence)
    at_work = gpus_at_work(evidence.case, evidence.server)
    proof.holds(sum(gpus) <= at_work, f"{some(sum(gpus), 'GPU')} of jobs on {at_work}")
    if not use.jobs:
        proof.equal("GPUs of the only job", gpus, [at_work])
        return
    rows, serving = _rows(use), [job.title for job in running if job.task == "serving"]
    proof.equal("jobs", sorted(rows), sorted(job.title for job in running))
    proof.equal("jobs that serve", [row.name for row in use.services], serving)
    proof.equal("GPUs of jobs", [rows[job.title].gpus for job in running], gpus)
    training = [job for job in running if job.title not in serving]
    working = [
        row.gpus * exact(row.gpu_utilization) * max(LEAST_LEFT, 1 - exact(row.paused)) * exact(job.hours)
        for row, job in zip(use.jobs, training, strict=True)
    ]
    claimed = exact(use.gpu_utilization) * evidence.gpus
    near = abs(sum(working, Fraction(0)) / HOURS_OF_A_DAY - claimed) <= Fraction(len(gpus) + 1, 10**6) * evidence.gpus
    proof.holds(near, "GPUs that work are those of all jobs")
    if gpus == [evidence.gpus]:
        proof.equal("demanded_gbps_per_gpu", use.demanded_gbps_per_gpu, {})
    else:
        _boundaries_are_enough(proof, evidence, use, [rows[job.title] for job in running])
    for job in running:
        row, injection = rows[job.title], fabric_named(evidence, use.needs.fabric).injection
        _pauses_are_counted(proof, wanted.jobs, row, injection)
    for served, of_service in zip(services_of(evidence.case, evidence.server), use.services, strict=True):
        _waits_are_counted(proof, evidence, use, served, of_service)
    proof.note(f"{some(len(gpus), 'job')} on {some(sum(gpus), 'GPU')}")


def _gpus(running: list[Job], evidence: Evidence) -> list[int]:
    """GPUs of each job: its number, its share in whole servers, or what others leave."""
    servers: list[int | None] = []
    every = gpus_at_work(evidence.case, evidence.server) // evidence.server.gpus
    for job in running:
        share = None if job.share is None else int(exact(job.share) * every)
        servers.append(share if job.gpus is None else job.gpus // evidence.server.gpus)
    left = every - sum(number or 0 for number in servers)
    return [(left if number is None else number) * evidence.server.gpus for number in servers]


class _Row(NamedTuple):
    """What a file says of a job, whether it serves or not; ``replica``: GPUs that hold its weights once."""

    name: str
    gpus: int
    min_gbps_per_gpu: int | float
    gbps_per_gpu: dict[str, int | float]
    paused: int | float
    replica: int | None


def _rows(use: WorkloadUse) -> dict[str, _Row]:
    """Rows of all jobs by name."""
    running = [_Row(row.name, row.gpus, row.min_gbps_per_gpu, row.gbps_per_gpu, row.paused, None) for row in use.jobs]
    serving = [
        _Row(row.name, row.service.gpus, row.min_gbps_per_gpu, row.gbps_per_gpu, row.paused, _holding(row.service))
        for row in use.services
    ]
    return {row.name: row for row in (*running, *serving)}


def _holding(service: ServingUse) -> int:
    """GPUs that hold a service's weights once: those of a replica, or those that its experts are dealt to."""
    return min(max(pool.tensor, pool.expert * pool.expert_tensor) for pool in (service.prefill, service.decode))


def _boundaries_are_enough(proof: Proof, evidence: Evidence, use: WorkloadUse, rows: Sequence[_Row]) -> None:
    """What boundaries must give is that of servers dealt one by one; there is as much where the limit holds."""
    fabric = fabric_named(evidence, use.needs.fabric)
    network, needs = (
        network_on(evidence, fabric),
        [int(exact(row.min_gbps_per_gpu) * MBPS_PER_GBPS) for row in rows],
    )
    gpus, is_limited = [row.gpus for row in rows], evidence.case.own_workload.max_exposed_communication < 1
    # what a job takes that may wait is not there for those that serve
    is_limited |= any(row.replica is not None for row in rows)
    blocks = {"leaf": (network.leaf_gpus, network.leaf_mbps), "pod": (network.pod_gpus, network.pod_mbps)}
    uplinks = uplink_share(evidence.case.own_workload.spreading, evidence.case.own_workload.other_jobs)
    own, again = exact(fabric.wanted.min_gbps_per_gpu or 0) * MBPS_PER_GBPS, {}
    for name, (block, mbps) in blocks.items():
        if block >= evidence.gpus:
            continue
        again[name] = plain_fraction(_asked(evidence, gpus, needs, block) / MBPS_PER_GBPS)
        key = "max_oversubscription." + {"leaf": "leaf", "pod": "spine"}[name]
        if key in use.needs.sets and is_limited:
            most = own if own and "min_gbps_per_gpu" not in use.needs.sets else max(needs)
            asked = _asked(evidence, gpus, [min(need, int(most)) for need in needs], block)
            proof.holds(asked <= mbps * uplinks, f"the {name} gives what jobs need in the worst placement")
    proof.equal("demanded_gbps_per_gpu", use.demanded_gbps_per_gpu, again)


def _waits_are_counted(
    proof: Proof, evidence: Evidence, use: WorkloadUse, served: ServedJob, claimed: ServedJobUse
) -> None:
    """What users of a job that serves wait for, by counting ranks, with what servers that fill blocks leave it; the
    bandwidth that it needs is the least that keeps its limits, or that what it sends takes.
    """
    assert served.placing.beside is not None
    network = network_on(evidence, fabric_named(evidence, use.needs.fabric))
    uplinks = uplink_share(evidence.case.own_workload.spreading, evidence.case.own_workload.other_jobs)
    has = [
        min(network.server_mbps, level_mbps(served.placing.beside, mbps * uplinks, block))
        if block < evidence.gpus
        else network.server_mbps
        for mbps, block in ((network.leaf_mbps, network.leaf_gpus), (network.pod_mbps, network.pod_gpus))
    ]
    near, counted = evidence.server.gpus, RecountedService(served.service)
    there = replace(network, leaf_mbps=has[0], pod_mbps=has[1], leaf_gpus=near, pod_gpus=near, left=None)
    waits = counted.waits_s(there) or (Fraction(10**9),) * 2
    stated = claimed.service.ttft_s, claimed.service.tpot_s
    proof.equal(f"ttft_s and tpot_s of {claimed.name}", stated, tuple(map(seconds, waits)))
    least = exact(claimed.min_gbps_per_gpu) * MBPS_PER_GBPS
    enough = not least or counted.keeps(flat(least, Reach(near)))
    is_sent = any(pause.least_mbps(_limit(evidence)) >= least for pause in served.pauses)
    is_least = least <= 1 or is_sent or not counted.keeps(flat(least - 1, Reach(near)))
    proof.holds(enough and is_least, f"{claimed.min_gbps_per_gpu} Gb/s is what {claimed.name} needs")


def _limit(evidence: Evidence) -> Fraction:
    """The share of time that a sending may take: that of a step, or its default where nothing limits it."""
    limit = exact(evidence.case.own_workload.max_exposed_communication)
    return limit if limit < 1 else exact(DEFAULT_EXPOSED)


def _asked(evidence: Evidence, gpus: list[int], needs: list[int], block: int) -> Fraction:
    """Mb/s for each GPU of a block in the worst placement."""
    mix = JobMix(tuple(zip(gpus, needs, strict=True)), 0, evidence.gpus, evidence.server.gpus)
    return Fraction(sum(needs[job] for job in block_of(mix, block)) * evidence.server.gpus, block)


def _pauses_are_counted(proof: Proof, jobs: tuple[Job, ...], row: _Row, injection: Fraction) -> None:
    """The share of time in which a job's GPUs send or take what is sent now and then, at the least rate that they have.

    A sender's GPUs send equal shares, and those of a receiver's replica take equal shares.
    """
    own = next(job for job in jobs if job.title == row.name)
    share, slowest = Fraction(0), min([injection / MBPS_PER_GBPS, *map(exact, row.gbps_per_gpu.values())])
    for job in jobs:
        if job.sends_gb is None or job.every_s is None:
            continue
        gbits = 8 * exact(job.sends_gb) / (exact(job.every_s) * slowest)
        if job.of == row.name:
            share += gbits / row.gpus
        if job.to == row.name:
            assert isinstance(own.model, Model)
            plan = own.changes.on(own.model.plan)
            share += gbits / (row.replica or plan.tensor * plan.context * plan.pipeline)
    proof.holds(isclose(share, row.paused, rel_tol=1e-5, abs_tol=1e-6), f"{row.name} waits {row.paused} of its time")
