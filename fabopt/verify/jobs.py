"""Jobs beside each other, counted again server by server: their GPUs, the worst placement, what each has of uplinks."""

from __future__ import annotations

from fractions import Fraction
from math import isclose

from fabopt.problem.demand import gpus_at_work
from fabopt.schema.model import Model, PlanChanges
from fabopt.schema.prediction import JobUse, WorkloadUse
from fabopt.schema.workload import Job
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.mixes import block_of
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.workload import fabric_named, network_on
from fabopt.workload.beside import JobMix
from fabopt.workload.pace import LEAST_LEFT
from fabopt.workload.placement import uplink_share

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
    proof.equal("jobs", [row.name for row in use.jobs], [job.title for job in running])
    proof.equal("GPUs of jobs", [row.gpus for row in use.jobs], gpus)
    working = [
        row.gpus * exact(row.gpu_utilization) * max(LEAST_LEFT, 1 - exact(row.paused)) * exact(job.hours)
        for row, job in zip(use.jobs, running, strict=True)
    ]
    claimed = exact(use.gpu_utilization) * evidence.gpus
    near = abs(sum(working, Fraction(0)) / HOURS_OF_A_DAY - claimed) <= Fraction(len(gpus) + 1, 10**6) * evidence.gpus
    proof.holds(near, "GPUs that work are those of all jobs")
    if gpus == [evidence.gpus]:
        proof.equal("demanded_gbps_per_gpu", use.demanded_gbps_per_gpu, {})
    else:
        _boundaries_are_enough(proof, evidence, use)
    for row in use.jobs:
        _pauses_are_counted(proof, wanted.jobs, row, fabric_named(evidence, use.needs.fabric).injection)
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


def _boundaries_are_enough(proof: Proof, evidence: Evidence, use: WorkloadUse) -> None:
    """What boundaries must give is that of servers dealt one by one; there is as much where the limit holds."""
    assert evidence.case.workload is not None
    fabric = fabric_named(evidence, use.needs.fabric)
    network, needs = (
        network_on(evidence, fabric),
        [int(exact(row.min_gbps_per_gpu) * MBPS_PER_GBPS) for row in use.jobs],
    )
    gpus = [row.gpus for row in use.jobs]
    blocks = {"leaf": (network.leaf_gpus, network.leaf_mbps), "pod": (network.pod_gpus, network.pod_mbps)}
    uplinks = uplink_share(evidence.case.workload.spreading, evidence.case.workload.other_jobs)
    own, again = exact(fabric.wanted.min_gbps_per_gpu or 0) * MBPS_PER_GBPS, {}
    for name, (block, mbps) in blocks.items():
        if block >= evidence.gpus:
            continue
        servers = block_of(JobMix(tuple(zip(gpus, needs, strict=True)), 0, evidence.gpus, evidence.server.gpus), block)
        per_gpu = Fraction(evidence.server.gpus, block)
        again[name] = plain_fraction(sum(needs[job] for job in servers) * per_gpu / MBPS_PER_GBPS)
        key = "max_oversubscription." + {"leaf": "leaf", "pod": "spine"}[name]
        if key in use.needs.sets and evidence.case.workload.max_exposed_communication < 1:
            most = own if own and "min_gbps_per_gpu" not in use.needs.sets else Fraction(max(needs))
            asked = sum((min(Fraction(needs[job]), most) for job in servers), Fraction(0)) * per_gpu
            proof.holds(asked <= mbps * uplinks, f"the {name} gives what jobs need in the worst placement")
    proof.equal("demanded_gbps_per_gpu", use.demanded_gbps_per_gpu, again)


def _pauses_are_counted(proof: Proof, jobs: tuple[Job, ...], row: JobUse, injection: Fraction) -> None:
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
            plan = (PlanChanges() if own.plan == "auto" else own.plan).on(own.model.plan)
            share += gbits / (plan.tensor * plan.context * plan.pipeline)
    proof.holds(isclose(share, row.paused, rel_tol=1e-5, abs_tol=1e-6), f"{row.name} waits {row.paused} of its time")
