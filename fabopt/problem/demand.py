"""The demand of each fabric: bandwidth per GPU and the oversubscription that is tolerated.

A fabric's own keys take precedence, then the needs of a model (filled in by ``fabopt.problem.fabric_case``) or the
    workload profile's, then the contract's defaults (1.0 and 400 Gb/s).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from fabopt.floor.rack_rules import servers_in_group
from fabopt.problem.ratios import Ratios
from fabopt.rules.defaults import MOST_ROBUST_RATIO, ROBUST_DESIGNS, SCATTERED_RANKS, is_kept
from fabopt.schema.base import ratio
from fabopt.schema.case import EFFECTIVE, Case, Fabric, Oversubscription, Stage
from fabopt.schema.model import Model
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.schema.server import Server
from fabopt.schema.stages import ADDED
from fabopt.schema.workload import (
    DEFAULT_EXPOSED,
    DEFAULT_PLACEMENT,
    DEFAULT_PROFILE,
    PROFILES,
    Placement,
    Profile,
    Scenario,
    Workload,
)
from fabopt.units import ceil_div, exact, mbps
from fabopt.workload.jobs import RunningJob, ServedJob, job_gpus, needed_mbps, pauses_of, weights_gpus
from fabopt.workload.needs import MOST_RATIO, Reach, at_speed, demanding
from fabopt.workload.pace import JobPace, MixPace, Pace, pace_of_run
from fabopt.workload.placement import Domains, JobMix, Placing, uplink_share
from fabopt.workload.ranks import ranks_of, replica_gpus
from fabopt.workload.served import least_of, step_limit
from fabopt.workload.service import Service, service_of
from fabopt.workload.stages import at_scale
from fabopt.workload.timing import ModelRun, workload_of

# Keys of a fabric by the boundary that they are about.
_RATIOS = {"leaf": "max_oversubscription.leaf", "pod": "max_oversubscription.spine"}


@dataclass(frozen=True)
class Demand:
    """Injection each GPU needs (Mb/s) and the most oversubscription at each boundary.

    ``bisection_mbps``, ``alltoall_mbps``, ``allreduce_mbps``: least figures per GPU; 0: no demand.
    """

    gpu_mbps: int
    ratios: Ratios
    bisection_mbps: int = 0
    alltoall_mbps: int = 0
    allreduce_mbps: int = 0

    @property
    def least_injection(self) -> int:
        """No figure is above injection (Mb/s)."""
        return max(self.bisection_mbps, self.alltoall_mbps, self.allreduce_mbps)


def profile_of(case: Case) -> Profile:
    """The workload profile of a case, or the default one."""
    profile = case.workload.profile if case.workload else None
    return DEFAULT_PROFILE if profile is None else PROFILES[profile]


def oversubscription_of(fabric: Fabric, profile: Profile) -> Oversubscription:
    """The limits of oversubscription at the leaf and the spine boundary, defaults filled in."""
    most = profile.max_oversubscription
    given = fabric.max_oversubscription
    return _both(most if given is None else given, Oversubscription(leaf=most, spine=most))


def _both(given: float | Oversubscription, otherwise: Oversubscription) -> Oversubscription:
    if not isinstance(given, Oversubscription):
        return Oversubscription(leaf=given, spine=given, hall=otherwise.hall)
    return Oversubscription(
        leaf=given.leaf if given.leaf is not None else otherwise.leaf,
        spine=given.spine if given.spine is not None else otherwise.spine,
        hall=given.hall if given.hall is not None else otherwise.hall,
    )


def demand_of(fabric: Fabric, case: Case, stage: Stage | None = None) -> Demand:
    """The demand of a fabric; of a stage, if the stage has its own limits of oversubscription."""
    profile = profile_of(case)
    own = None if stage is None or fabric.name not in stage.fabrics else stage.fabrics[fabric.name].max_oversubscription
    at_last = oversubscription_of(fabric, profile)
    most = at_last if own is None else _both(own, at_last)
    assert most.leaf is not None and most.spine is not None
    wanted = fabric.min_gbps_per_gpu if fabric.min_gbps_per_gpu is not None else profile.min_gbps_per_gpu
    return Demand(
        mbps(wanted),
        Ratios(ratio(most.leaf), ratio(most.spine), None if most.hall is None else ratio(most.hall)),
        max(mbps(least_gbps or 0) for least_gbps in (fabric.min_bisection_gbps_per_gpu, *_left_over(fabric))),
        mbps(fabric.min_alltoall_gbps_per_gpu or 0),
        mbps(fabric.min_allreduce_gbps_per_gpu or 0),
    )


def _left_over(fabric: Fabric) -> tuple[float, ...]:
    """Gb/s per GPU that must survive each demanded failure; bisection is no less."""
    return tuple(survival.least_gbps for survival in fabric.survived)


def stages_of(case: Case, server: Server) -> tuple[Stage, ...]:
    """The growth stages with servers filled in; one stage named ``all`` for a case without stages."""
    stages = case.stages
    if stages is None:
        stages = (Stage(name=ADDED, servers=case.servers, gpus=case.gpus),)
    return tuple(
        stage.model_copy(
            update={
                "servers": stage.servers if stage.servers is not None else _servers_for(stage.gpus or 0, case, server),
                "gpus": None,
            }
        )
        for stage in stages
    )


def _servers_for(gpus: int, case: Case, server: Server) -> int:
    """Servers to buy for so many GPUs at work: whole scale-up domains, where a model takes a part of each."""
    used = None if case.workload is None else case.workload.gpus_per_domain
    held = 0 if server.scale_up is None else server.scale_up.domain_gpus
    if used is None or not used <= gpus or used >= held:
        return gpus // server.gpus
    return ceil_div(gpus, used) * (held // server.gpus)


def domains_in_use(case: Case, server: Server) -> Domains | None:
    """The part of each scale-up domain that a case's model takes; None where the case does not say.

    Servers of the last stage that are whole domains hold the spares; others are at work, spread over more domains.
    """
    used, link = None if case.workload is None else case.workload.gpus_per_domain, server.scale_up
    if used is None or link is None:
        return None
    servers = stages_of(case, server)[-1].servers or 0
    return Domains(used, used if servers * server.gpus % link.domain_gpus else link.domain_gpus)


def gpus_at_work(case: Case, server: Server) -> int:
    """GPUs of the last stage that the model runs on: all but spares of scale-up domains."""
    gpus, domains = (stages_of(case, server)[-1].servers or 0) * server.gpus, domains_in_use(case, server)
    return gpus if domains is None else int(domains.at_work(gpus))


def resolved(case: Case, server: Server) -> Case:
    """The case with every demand and stage written out, as saved in a design file."""
    profile = profile_of(case)
    fabrics = tuple(
        fabric.model_copy(
            update={
                "min_gbps_per_gpu": fabric.min_gbps_per_gpu
                if fabric.min_gbps_per_gpu is not None
                else profile.min_gbps_per_gpu,
                "max_oversubscription": oversubscription_of(fabric, profile),
            }
        )
        for fabric in case.fabrics
    )
    return case.model_copy(
        update={"fabrics": fabrics, "stages": stages_of(case, server), "servers": None, "gpus": None}
    )


def case_workload(case: Case, server: Server) -> ModelRun | None:
    """The model of a case on the GPUs of its last stage; None for a profile, no workload, or a model that is served.

    Of several jobs the first one's, beside the others.
    """
    wanted = case.workload
    if wanted is None or not isinstance(wanted.model, Model) or wanted.serves:
        return None
    if wanted.jobs:
        return next(job.run for job in jobs_of(case, server))
    return _run(case, server, wanted, gpus_at_work(case, server), domains_in_use(case, server))


def _run(case: Case, server: Server, wanted: Workload, gpus: int, domains: Domains | None = None) -> ModelRun:
    assert isinstance(wanted.model, Model)
    ranks = ranks_of(wanted.model, wanted.changes.on(wanted.model.plan), gpus)
    work = workload_of(wanted.model, ranks, server, at_scale(wanted, server, gpus), wanted.software, domains)
    uplinks = uplink_share(wanted.spreading, wanted.other_jobs)
    return replace(work, placing=replace(_placing(case, wanted.placement, server), uplinks=uplinks))


def jobs_of(case: Case, server: Server) -> tuple[RunningJob, ...]:
    """The jobs of a case that train or read prompts, on the GPUs of its last stage, each beside all others; none where
    it names one model.
    """
    return _side_by_side(case, server)[0]


def services_of(case: Case, server: Server) -> tuple[ServedJob, ...]:
    """The jobs of a case that serve, each beside all others."""
    return _side_by_side(case, server)[1]


def _side_by_side(case: Case, server: Server) -> tuple[tuple[RunningJob, ...], tuple[ServedJob, ...]]:
    """Jobs of a case that train or read prompts, and those that serve.

    A single job of all GPUs is that model. What jobs are taken to need of uplinks is what keeps the limit on exposed
    communication (the default's, where nothing limits it), or the times of those that serve, without reductions in the
    network. Spares of scale-up domains lie anywhere, as jobs do.
    """
    wanted = case.workload
    if wanted is None or not wanted.jobs:
        return (), ()
    all_gpus, limit = gpus_at_work(case, server), exact(wanted.max_exposed_communication)
    limit = limit if limit < 1 else exact(DEFAULT_EXPOSED)
    gpus, used = job_gpus(wanted.jobs, all_gpus, server.gpus), wanted.gpus_per_domain
    if len(wanted.jobs) == 1 and gpus[wanted.jobs[0].title] == all_gpus:
        run = _run(case, server, wanted.of_job(wanted.jobs[0]), all_gpus, domains_in_use(case, server))
        return (RunningJob(wanted.jobs[0], run, 0),), ()
    part = None if used is None else Domains(used, used)
    with_models = [job for job in wanted.jobs if isinstance(job.model, Model)]
    alone = {job.title: _alone(case, server, wanted.of_job(job), gpus[job.title], part) for job in with_models}
    pauses = pauses_of(wanted.jobs, {title: _sizes(of) for title, of in alone.items()})
    needs = [
        max(_least(alone[job.title], limit, server), *(one.least_mbps(limit) for one in pauses[job.title]), 0)
        for job in with_models
    ]
    installed = (stages_of(case, server)[-1].servers or 0) * server.gpus
    sized = tuple((gpus[job.title], need) for job, need in zip(with_models, needs, strict=True))
    beside = JobMix(sized, 0, installed, server.gpus)
    first = next(of for of in alone.values() if isinstance(of, ModelRun))
    # servers of a rack may be of several jobs
    placing = replace(first.placing, together_gpus=server.gpus)
    running, services = list[RunningJob](), list[ServedJob]()
    for own, (job, need) in enumerate(zip(with_models, needs, strict=True)):
        of, there, sends = alone[job.title], replace(placing, beside=beside.of(own)), pauses[job.title]
        if isinstance(of, ModelRun):
            running.append(RunningJob(job, replace(of, placing=there), need, sends))
        else:
            services.append(ServedJob(job, of, need, there, sends))
    return tuple(running), tuple(services)


def _alone(case: Case, server: Server, own: Workload, gpus: int, part: Domains | None) -> ModelRun | Service:
    """A job by itself: its run, or its service, whose servers lie anywhere."""
    assert isinstance(own.model, Model)
    if own.serves:
        return service_of(own, own.model, server, gpus, Placing("scattered", server.gpus))
    return _run(case, server, own, gpus, part)


def _sizes(alone: ModelRun | Service) -> tuple[int, int]:
    """GPUs of a job, and those that hold its weights once."""
    if isinstance(alone, Service):
        return alone.gpus, weights_gpus(alone)
    return alone.ranks.gpus, replica_gpus(alone.plan)


def _least(alone: ModelRun | Service, limit: Fraction, server: Server) -> int:
    """Mb/s for each GPU that keep a job's limit, or times."""
    near = Reach(server.gpus)
    return least_of(alone, near) if isinstance(alone, Service) else needed_mbps(alone, limit, near)


def needs_beside(case: Case, server: Server) -> list[int]:
    """Mb/s for each GPU that jobs need; where nothing limits what is exposed, those that serve alone."""
    is_limited = case.workload is not None and case.workload.max_exposed_communication < 1
    running, services = _side_by_side(case, server)
    return [job.need_mbps for job in running if is_limited] + [job.need_mbps for job in services]


def case_service(case: Case, server: Server) -> Service | None:
    """The served model of a case on the GPUs of its last stage; None for another task.

    Replicas are anywhere, as prompts are sent from any of those that read to any of those that write.
    """
    wanted = case.workload
    if wanted is None or not isinstance(wanted.model, Model) or not wanted.serves:
        return None
    gpus = gpus_at_work(case, server)
    uplinks = uplink_share(wanted.spreading, wanted.other_jobs)
    placing = replace(_placing(case, "scattered", server), uplinks=uplinks, is_asked_for=False)
    return service_of(wanted, wanted.model, server, gpus, placing)


def _placing(case: Case, placement: Placement | None, server: Server) -> Placing:
    """The placement of ranks; without the rule ``scattered-ranks`` packed by default."""
    default = DEFAULT_PLACEMENT if is_kept(case.rules, SCATTERED_RANKS) else "packed"
    return Placing(placement or default, _together_gpus(case, server), bool(placement))


def _together_gpus(case: Case, server: Server) -> int:
    """GPUs of the servers of a rack, where groups of leaves are racks; else of a server."""
    fabric = computing(case)
    servers = None if fabric is None else servers_in_group(fabric, case, server)
    return (servers or 1) * server.gpus


def pace_of(case: Case, server: Server) -> Pace | None:
    """The step times of a case's model; None without a model."""
    workload = case_workload(case, server)
    if workload is None:
        return None
    return Pace(workload, runs_of(case, server, workload), parts_of(case, server), services_of(case, server))


def parts_of(case: Case, server: Server) -> tuple[JobPace, ...]:
    """The parts of a case's pace; none where one model has all GPUs, day and night."""
    jobs = jobs_of(case, server)
    if not jobs or (jobs[0].run.placing.beside is None and jobs[0].of_day == 1):
        return ()
    return tuple(JobPace(job, pace_of_run(job.run)) for job in jobs)


def runs_of(case: Case, server: Server, workload: ModelRun) -> tuple[tuple[Fraction, ModelRun], ...]:
    """Weighted runs of a workload over which its cost is averaged: its scenarios', or itself."""
    wanted = case.workload
    if wanted is None or not wanted.scenarios:
        return ((Fraction(1), workload),)
    runs = (_in_scenario(case, server, workload, wanted, scenario) for scenario in wanted.scenarios)
    return tuple(zip(wanted.weights, runs, strict=True))


def _in_scenario(case: Case, server: Server, workload: ModelRun, wanted: Workload, scenario: Scenario) -> ModelRun:
    placing = _placing(case, scenario.placement or wanted.placement, server)
    others = wanted.other_jobs if scenario.other_jobs is None else scenario.other_jobs
    uplinks = uplink_share(scenario.spreading or wanted.spreading, others)
    placing = replace(placing, uplinks=uplinks, loses_spine=scenario.lost is not None)
    used = workload.utilization if scenario.gpu_utilization is None else exact(scenario.gpu_utilization)
    return at_speed(replace(workload, utilization=used, placing=placing), 1 + exact(scenario.utilization_change))


def computing(case: Case) -> Fabric | None:
    """The fabric that GPUs compute over: the first of that role."""
    return next((fabric for fabric in case.fabrics if fabric.role == "compute"), None)


def most_open_ratio(case: Case, workload: ModelRun) -> int:
    """The most oversubscription at a boundary whose ratio neither the case nor what jobs need limits.

    Jobs that come and go ask little of a boundary today. Rule ``robust-designs``.
    """
    is_mix = workload.placing.beside is not None and case.objective != EFFECTIVE
    return MOST_ROBUST_RATIO if is_mix and is_kept(case.rules, ROBUST_DESIGNS) else MOST_RATIO


def mix_of(case: Case, needs: WorkloadNeeds, workload: ModelRun) -> MixPace | None:
    """What jobs beside each other need over what there is, at boundaries whose ratios the case leaves open; None where
    one model has all GPUs, or nothing limits what is exposed, and no job serves.

    A bandwidth that the fabric says itself goes first.
    """
    beside, wanted = workload.placing.beside, case.workload
    if beside is None or wanted is None:
        return None
    if wanted.max_exposed_communication >= 1 and not any(job.serves for job in wanted.jobs):
        return None
    boundaries = tuple(name for name, key in _RATIOS.items() if key in needs.sets)
    fabric = next(fabric for fabric in case.fabrics if fabric.name == needs.fabric)
    if "min_gbps_per_gpu" not in needs.sets and fabric.min_gbps_per_gpu is not None:
        beside = beside.at_most(mbps(fabric.min_gbps_per_gpu))
    return MixPace(workload, beside, boundaries)


def longest_step_s(case: Case, needs: WorkloadNeeds | None, pace: Pace | None) -> Fraction | None:
    """The longest step time that a design of the case may have, in seconds; None where demands need no deadline."""
    if case.workload is None or needs is None or pace is None:
        return None
    fabric = next(fabric for fabric in case.fabrics if fabric.name == needs.fabric)
    own = None if "min_gbps_per_gpu" in needs.sets or fabric.min_gbps_per_gpu is None else mbps(fabric.min_gbps_per_gpu)
    return step_limit(demanding(pace.workload), needs, exact(case.workload.max_exposed_communication), own)
