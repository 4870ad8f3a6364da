"""Jobs beside each other, counted again server by server: their GPUs, the worst placement, what each has of uplinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isclose
from typing import NamedTuple

from fabopt.problem.demand import gpus_at_work, services_of
from fabopt.schema.jobs import Job
from fabopt.schema.model import Model
from fabopt.schema.prediction import ServedJobUse, ServingUse, WorkloadUse
from fabopt.schema.workload import DEFAULT_EXPOSED
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.mixes import block_of, level_mbps
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.serving import RecountedService
from fabopt.verify.workload import fabric_named, network_on
from fabopt.workload.beside import JobMix
from fabopt.workload.jobs import ServedJob
from fabopt.workload.needs import Reach, flat
from fabopt.workload.pace import LEAST_LEFT
from fabopt.workload.placement import uplink_share
from fabopt.workload.prediction import seconds

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
    assert evidence.case.workload is not None
    fabric = fabric_named(evidence, use.needs.fabric)
    network, needs = (
        network_on(evidence, fabric),
        [int(exact(row.min_gbps_per_gpu) * MBPS_PER_GBPS) for row in rows],
    )
    gpus, is_limited = [row.gpus for row in rows], evidence.case.workload.max_exposed_communication < 1
    # what a job takes that may wait is not there for those that serve
    is_limited |= any(row.replica is not None for row in rows)
    blocks = {"leaf": (network.leaf_gpus, network.leaf_mbps), "pod": (network.pod_gpus, network.pod_mbps)}
    uplinks = uplink_share(evidence.case.workload.spreading, evidence.case.workload.other_jobs)
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
    assert evidence.case.workload is not None and served.placing.beside is not None
    network = network_on(evidence, fabric_named(evidence, use.needs.fabric))
    uplinks = uplink_share(evidence.case.workload.spreading, evidence.case.workload.other_jobs)
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
    assert evidence.case.workload is not None
    limit = exact(evidence.case.workload.max_exposed_communication)
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
