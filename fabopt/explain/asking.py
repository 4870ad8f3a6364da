"""What of a workload asks for the bandwidth of its fabric: the job whose need it is, and what it sends."""

from __future__ import annotations

from fractions import Fraction

from fabopt.problem.demand import jobs_of, services_of
from fabopt.problem.problem import Problem
from fabopt.schema.case import Case
from fabopt.units import exact, some
from fabopt.workload.jobs import Pause, RunningJob, ServedJob
from fabopt.workload.service import MS

_PERCENT = 100


def asking_words(problem: Problem) -> str:
    """The job whose need a bandwidth is, and what it sends; empty where a model runs alone."""
    limit, neediest = limit_of(problem.case), neediest_job(problem)
    if neediest is None:
        return ""
    pause, share = sent_by(neediest, limit), f"{float(_PERCENT * limit):g} %"
    if pause is None and isinstance(neediest, ServedJob):
        ttft_ms, tpot_ms = (float(MS * most_s) for most_s in neediest.service.limits_s)
        times = f"{ttft_ms:,.4g} ms to the first token and {tpot_ms:,.4g} for each further one"
        return f"job {neediest.job.title} asks for it, which serves with at most {times}"
    if pause is None:
        return f"job {neediest.job.title} asks for it, as its GPUs may wait {share} of a step"
    sent, takes = pause.sent, pause.sent.to == neediest.job.title
    who = f"{some(pause.gpus, 'GPU')} of {'each replica of ' if takes else ''}{neediest.job.title}"
    gbits = float(8 * exact(sent.sends_gb or 0) / pause.gpus)
    return (
        f"job {sent.title} asks for it: {who} {'take' if takes else 'send'} {sent.sends_gb:,g} GB every "
        f"{sent.every_s:,g} s, {gbits:,.4g} Gb a GPU in {share} of that time"
    )


def neediest_job(problem: Problem) -> RunningJob | ServedJob | None:
    """The job beside others that needs most; None where a model runs alone."""
    case, server = problem.case, problem.server
    jobs: list[RunningJob | ServedJob] = [*jobs_of(case, server), *services_of(case, server)]
    beside = [job for job in jobs if job.need_mbps]
    return max(beside, key=lambda job: job.need_mbps, default=None)


def limit_of(case: Case) -> Fraction:
    """The share of a step, and of the time, that GPUs may wait."""
    return Fraction(1) if case.workload is None else exact(case.workload.max_exposed_communication)


def sent_by(job: RunningJob | ServedJob, limit: Fraction) -> Pause | None:
    """What a job sends or takes now and then, where its need is that."""
    most = max(job.pauses, key=lambda pause: pause.least_mbps(limit), default=None)
    return most if most is not None and most.least_mbps(limit) >= job.need_mbps else None
