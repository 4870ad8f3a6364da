"""Models of workloads: the file that a case names, and whether its plan fits the cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

from fabopt.errors import Fault, did_you_mean, fault, refusal
from fabopt.io.faults import document_of
from fabopt.io.library import by_name, is_path, names, read_bytes, shown
from fabopt.io.text import MODEL, parse_yaml
from fabopt.problem.demand import gpus_at_work
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.jobs import Job
from fabopt.schema.model import Model
from fabopt.schema.server import Server
from fabopt.schema.workload import Workload
from fabopt.units import MBPS_PER_GBPS, exact
from fabopt.workload.checks import Wrong, wrongs_of
from fabopt.workload.jobs import job_gpus
from fabopt.workload.needs import MOST_MBPS
from fabopt.workload.plans import KEYS, fastest_plan
from fabopt.workload.ranks import ranks_of
from fabopt.workload.service import with_pools
from fabopt.workload.service_checks import may_be_served, wrongs_of_service
from fabopt.workload.straddling import domain_in_use

_WHERE = "workload.model"


def read_model(text: str, base: Path, file: str = "model", where: str = "") -> Model:
    """Return a model by its name in the library, or by a path relative to ``base``; ``InputError`` lists all faults."""
    path = base / text if is_path(text) else by_name("models", text)
    if path is None:
        known = names("models")
        raise refusal(
            file,
            where,
            "unknown model",
            text,
            allowed=", ".join(known),
            hint=did_you_mean(text, known) or "a path has a / or ends in .yaml",
        )
    if not os.path.isfile(path):
        raise refusal(file, where, "there is no such model file", text, hint=f"looked for {shown(path)}")
    return _parsed(path)


def _parsed(path: Path) -> Model:
    content = parse_yaml(read_bytes(path), shown(path), MODEL)
    if isinstance(content, dict):
        content = {"name": path.stem, **content}
    return document_of(Model, content, shown(path))


def with_model(case: Case, base: Path, file: str) -> Case:
    """The case with its model in the place of the model's name; ``InputError`` if that cannot be read."""
    case = with_open_limit(case)
    if case.workload is not None and case.workload.jobs:
        jobs = tuple(
            job.model_copy(
                update={"model": _of_task(read_model(job.model, base, file, f"workload.jobs[{place}].model"), job.task)}
            )
            if isinstance(job.model, str)
            else job
            for place, job in enumerate(case.workload.jobs)
        )
        return case.model_copy(update={"workload": case.workload.with_jobs(jobs)})
    if case.workload is None or not isinstance(case.workload.model, str):
        return case
    model = _of_task(read_model(case.workload.model, base, file, _WHERE), case.workload.task)
    return case.model_copy(update={"workload": case.workload.model_copy(update={"model": model})})


def _of_task(model: Model, task: str | None) -> Model:
    """A model with the task that a case gives it."""
    return model.model_copy(update={"task": task}) if task in ("training", "inference") else model


def with_open_limit(case: Case) -> Case:
    """The case with no limit on exposed communication where a ratio decides, unless the case says one."""
    wanted = case.workload
    if case.objective != EFFECTIVE or wanted is None or wanted.model is None:
        return case
    if "max_exposed_communication" in wanted.model_fields_set:
        return case
    return case.model_copy(update={"workload": wanted.model_copy(update={"max_exposed_communication": 1})})


def with_plan(case: Case, catalog: Catalog) -> Case:
    """The case with the fastest plan that fits in the place of ``plan: auto``; still open where none fits.

    Only for GPUs whose speed is known, and then for those of the last stage.
    """
    wanted, server = case.workload, next((server for server in catalog.servers if server.id == case.server), None)
    if wanted is None or server is None or not isinstance(wanted.model, Model):
        return case  # servers of a list have a plan each
    gpus = gpus_at_work(case, server)
    if wanted.jobs:
        of_job = job_gpus(wanted.jobs, gpus, server.gpus)
        jobs = tuple(
            _with_picked(job, wanted.of_job(job), server, of_job[job.title])
            if job.model is not None and (job.serves or job.changes.auto)
            else job
            for job in wanted.jobs
        )
        return case.model_copy(update={"workload": wanted.with_jobs(jobs)})
    if wanted.serves:
        return case.model_copy(update={"workload": _with_pools(wanted, server, gpus)})
    if not wanted.changes.auto:
        return case
    return case.model_copy(update={"workload": _picked(wanted, server, gpus)})


def _with_picked(job: Job, wanted: Workload, server: Server, gpus: int) -> Job:
    """A job with the plan that is picked for it: of one that serves, for both kinds of its GPUs."""
    if not job.serves:
        return job.model_copy(update={"plan": _picked(wanted, server, gpus).plan})
    served = _with_pools(wanted, server, gpus)
    return job.model_copy(update={"plan": served.plan, "prefill": served.prefill})


def _with_pools(wanted: Workload, server: Server, gpus: int) -> Workload:
    """The workload of a served model with a plan for each kind of GPUs; still open where none fits."""
    assert isinstance(wanted.model, Model)
    may_fit = gpus > 0 and may_be_served(wanted.model, server)
    return (with_pools(wanted, wanted.model, server, gpus) if may_fit else None) or wanted


def _picked(wanted: Workload, server: Server, gpus: int) -> Workload:
    """A workload with the fastest plan of its model that fits; still open where none does."""
    assert isinstance(wanted.model, Model)
    plan = wanted.changes.on(wanted.model.plan)
    best = None
    if wanted.model.precision.compute in server.gpu_peak_tflops and gpus > 0:
        used = server.in_domains_of(wanted.gpus_per_domain)
        most = exact(wanted.max_exposed_communication)
        best = fastest_plan(wanted.model, plan, used, gpus, wanted.software, wanted.changes.given, most)
    picked = {} if best is None else {key: getattr(best, key) for key in KEYS}
    return wanted.model_copy(update={"plan": wanted.changes.model_copy(update={**picked, "auto": best is None})})


def with_domains(case: Case, catalog: Catalog) -> Case:
    """The case with the part of each scale-up domain that keeps groups of ranks whole, where it says how many GPUs.

    These are at work, so that whole domains are bought for them.
    """
    wanted, server = case.workload, next((server for server in catalog.servers if server.id == case.server), None)
    gpus = case.gpus if case.stages is None else case.stages[-1].gpus
    if wanted is None or wanted.gpus_per_domain is not None or not isinstance(wanted.model, Model):
        return case
    if server is None or server.scale_up is None or gpus is None or wanted.changes.auto or wanted.serves:
        return case
    if wanted.jobs and (len(wanted.jobs) > 1 or job_gpus(wanted.jobs, gpus, server.gpus)[wanted.jobs[0].title] < gpus):
        return case  # parts of domains that a job leaves are for others
    ranks, held = ranks_of(wanted.model, wanted.changes.on(wanted.model.plan), gpus), server.scale_up.domain_gpus
    used = domain_in_use(ranks, held, server.gpus)
    if used == held or ranks.gpus != gpus:
        return case
    return case.model_copy(update={"workload": wanted.model_copy(update={"gpus_per_domain": used})})


def _sends_too_much(sent: Job, gpus: int, share: Fraction, file: str) -> Iterator[Fault]:
    """What a job sends goes over some network, in the share of the time that it may be waited for."""
    seconds, gbits = exact(sent.every_s or 1) * share, 8 * exact(sent.sends_gb or 0) / max(1, gpus)
    most = Fraction(MOST_MBPS, MBPS_PER_GBPS)
    if gbits > most * seconds:
        problem = (
            f"no network is that fast: {sent.sends_gb:,g} GB of {gpus} GPUs in {float(share):g} of {sent.every_s:g} s "
            f"are {float(gbits / seconds):,.4g} Gb/s a GPU"
        )
        yield fault(file, "workload.jobs", problem, sent.title, allowed=f"up to {float(most):,g} Gb/s a GPU")


def check_workload(case: Case, server: Server, file: str) -> list[Fault]:
    """Return everything that keeps the case's model from running on its last stage's GPUs."""
    wanted = case.workload
    if wanted is None or not isinstance(wanted.model, Model):
        return []
    gpus = gpus_at_work(case, server)
    if wanted.jobs:
        return [*_of_jobs(wanted, server, gpus, file)]
    asked = [stage.gpus for stage in case.stages or (case,) if stage.gpus is not None]
    wrongs = (wrongs_of_service if wanted.serves else wrongs_of)(wanted, wanted.model, server, gpus, asked)
    return [_fault_of(wrong, "workload", file) for wrong in wrongs]


def with_servers(case: Case, servers: int) -> Case:
    """The case with ``servers`` servers at its last stage."""
    stages = case.stages
    if stages is None:
        return case.model_copy(update={"servers": servers, "gpus": None})
    last = stages[-1].model_copy(update={"servers": servers, "gpus": None})
    return case.model_copy(update={"stages": (*stages[:-1], last)})


def runs_on(case: Case, server: Server, servers: int) -> bool:
    """Whether what a case runs does on ``servers`` servers at its last stage: its model, or each of its jobs, as its
    plan splits it; true without a model.
    """
    return not check_workload(with_servers(case, servers), server, "")


def _fault_of(wrong: Wrong, where: str, file: str) -> Fault:
    return fault(file, f"{where}.{wrong.path}", wrong.problem, wrong.value, allowed=wrong.allowed, hint=wrong.hint)


def _of_jobs(wanted: Workload, server: Server, gpus: int, file: str) -> Iterator[Fault]:
    """Jobs have whole servers and no more GPUs together than there are, and the model of each runs on its own."""
    of_job = job_gpus(wanted.jobs, gpus, server.gpus)
    for place, job in enumerate(wanted.jobs):
        if job.model is None:
            continue
        number, where = of_job[job.title], f"workload.jobs[{place}]"
        if job.gpus is not None and job.gpus > gpus:
            yield fault(file, f"{where}.gpus", "the job is larger than the cluster", job.gpus, allowed=f"up to {gpus}")
        elif number < server.gpus or number % server.gpus:
            left = sum(others for title, others in of_job.items() if title != job.title)
            why = f"{100 * job.share:g} % of {gpus} GPUs" if job.share is not None else ""
            why = why or (f"{gpus} GPUs - {left} of other jobs = {number}" if job.gpus is None else f"{number} GPUs")
            yield fault(
                file,
                where,
                f"{why} are no whole servers of {server.gpus}",
                number,
                allowed=f"a multiple of {server.gpus}",
            )
        else:
            faults = wrongs_of_service if job.serves else wrongs_of
            for wrong in faults(wanted.of_job(job), cast(Model, job.model), server, number):
                yield _fault_of(wrong, "workload" if wrong.path == "gpus_per_domain" else where, file)
        for sent in wanted.jobs:
            if sent.of == job.title and sent.sends_gb is not None and sent.every_s is not None:
                yield from _sends_too_much(sent, number, exact(wanted.max_exposed_communication), file)
    if sum(of_job.values()) > gpus and max(of_job.values()) <= gpus:
        shown = " + ".join(map(str, of_job.values()))
        problem = f"jobs are larger than the cluster: {shown} = {sum(of_job.values())} GPUs"
        yield fault(file, "workload.jobs", problem, len(of_job), allowed=f"up to {gpus} GPUs together")
