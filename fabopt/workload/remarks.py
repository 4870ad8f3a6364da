"""Notes on a workload on a design: assumptions, keys overruled, and costs of a plan."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from fabopt.schema.case import Case, Fabric
from fabopt.schema.model import Model
from fabopt.schema.prediction import NO_BANDWIDTH_GBPS, CommunicatorUse, ServingUse, WorkloadNeeds, WorkloadUse
from fabopt.schema.server import Server
from fabopt.schema.workload import QueuePairs, taken_by
from fabopt.units import ceil_div, exact, some
from fabopt.workload.needs import MOST_MBPS, Reach, flat
from fabopt.workload.placement import hashed_share, uplink_share
from fabopt.workload.ranks import ranks_of
from fabopt.workload.stages import band
from fabopt.workload.straddling import OF_LAYERS, domain_in_use, straddlers
from fabopt.workload.timing import DOMAIN, step_on, workload_of
from fabopt.workload.volumes import COMMUNICATORS

_GIGA = 10**9
_PERCENT = 100
_MS = 1000


def workload_notes(use: WorkloadUse, case: Case, server: Server, servers: int) -> Iterator[str]:
    """Notes of a design with a model, in which there are so many ``servers``."""
    fabric = next(wanted for wanted in case.fabrics if wanted.name == use.needs.fabric)
    domain = yield from _parts_of_domains(use, case, server, servers)
    for row in use.communicators:
        if row.communicator == "tensor" and row.place != DOMAIN:
            yield _wide_tensor(use, row, domain)
    yield from _limited_routing(use, case, domain)
    yield from _shared_uplinks(use, case)
    yield from _high_utilization(use, case, server)
    yield from _tight_memory(use)
    if all(row.place == DOMAIN for row in use.communicators):
        yield (
            f"{fabric.name}: {use.model} sends nothing beyond its scale-up domains of {some(domain, 'GPU')}; give "
            "min_gbps_per_gpu and max_oversubscription for what else the fabric carries"
        )
    yield from _overruled(use, case, fabric)
    for served in use.services:
        yield from _late(served.name, served.service)


def service_notes(use: ServingUse) -> Iterator[str]:
    """Notes of a design with a served model: keys that ask for less than it needs, a service without traffic."""
    yield from _late(use.model, use)
    if not use.needs.min_gbps_per_gpu:
        yield (
            f"{use.needs.fabric}: {use.model} sends nothing beyond its scale-up domains; give min_gbps_per_gpu and "
            "max_oversubscription for what else the fabric carries"
        )


def _late(whose: str, use: ServingUse) -> Iterator[str]:
    """Warnings where users wait longer than the limits."""
    for name, took_s, most_s in (
        ("first token", use.ttft_s, use.ttft_limit_s),
        ("each further token", use.tpot_s, use.tpot_limit_s),
    ):
        if took_s > most_s:
            yield (
                f"warning: {whose}: {name} after {_MS * took_s:,.4g} ms, and {_MS * most_s:,.4g} is the limit: the "
                f"keys of fabric {use.needs.fabric} ask for less than the {use.needs.min_gbps_per_gpu:g} Gb/s per GPU "
                "at 1:1 that it needs"
            )


def needed_words(needs: WorkloadNeeds) -> str:
    """The bandwidth that a model needs, a range where overlap decides."""
    most, least = needs.min_gbps_per_gpu, needs.overlapped_gbps_per_gpu
    if least is None:
        return f"{round(most, 2):,} Gb/s per GPU at 1:1"
    return f"{round(least, 2):,} to {round(most, 2):,} Gb/s per GPU at 1:1 (overlap decides)"


def _parts_of_domains(use: WorkloadUse, case: Case, server: Server, servers: int) -> Generator[str, None, int]:
    """The note on GPUs of scale-up domains that are left out, or on groups that straddle domains; the GPUs in use."""
    wanted, link = case.workload, server.scale_up
    if link is None or wanted is None or not isinstance(wanted.model, Model):
        return 1
    ranks, held = ranks_of(wanted.model, use.plan, use.model_gpus), link.domain_gpus
    domain = wanted.gpus_per_domain or domain_in_use(ranks, held, server.gpus)
    names = straddlers(ranks, held, OF_LAYERS if domain == held else COMMUNICATORS)
    apart = [f"{name} {ranks.group(name).size}" for name in names]
    if use.jobs:
        yield from _parts_of_jobs(use, case, server, servers)
    elif domain < held and domain <= use.gpus:
        yield _spares(use, domain, held, apart, (servers, server.gpus))
    elif domain == held and apart and wanted.gpus_per_domain is None:
        fewer = range(held - server.gpus, held // 2, -server.gpus)
        whole = next(
            (few for few in fewer if not straddlers(replace(ranks, gpus=few * ranks.gpus), few, OF_LAYERS)), None
        )
        instead = "" if whole is None else f"use {whole} of {held} ({use.gpus // held * whole} GPUs work), or "
        yield (
            f"{use.model}: {' and '.join(apart)} {'straddles' if len(apart) == 1 else 'straddle'} scale-up domains of "
            f"{held}, and what straddles goes over the network: {instead}a plan whose groups divide {held}"
        )
    return domain


def _parts_of_jobs(use: WorkloadUse, case: Case, server: Server, servers: int) -> Iterator[str]:
    """Notes on jobs that take a part of each scale-up domain: whether what they leave is spares, or for other jobs."""
    wanted, link = case.workload, server.scale_up
    assert wanted is not None and link is not None
    given, held = wanted.gpus_per_domain, link.domain_gpus
    if given is not None and given < held:
        spares = servers * server.gpus // held * (held - given) if servers * server.gpus % held == 0 else 0
        left = f"{some(spares, 'GPU')} in all are spares, bought and cabled" if spares else "no spares are bought"
        yield f"jobs: counted with {given} of the {held} GPUs of each scale-up domain; {left}"
    for job, row in zip((job for job in wanted.jobs if job.model is not None), use.jobs, strict=False):
        if given is None and isinstance(job.model, Model):
            ranks = ranks_of(job.model, wanted.of_job(job).changes.on(job.model.plan), row.gpus)
            used = domain_in_use(ranks, held, server.gpus)
            if used < held:
                yield (
                    f"{row.name}: counted with {used} of the {held} GPUs of each of {row.gpus // used} scale-up "
                    "domains; what it leaves of them is for other jobs "
                    f"(`workload.gpus_per_domain: {used}` buys spares)"
                )


def _spares(use: WorkloadUse, domain: int, held: int, apart: Sequence[str], sizes: tuple[int, int]) -> str:
    """The note on GPUs of scale-up domains that are not at work.

    ``apart``: groups that would straddle whole domains; ``sizes``: servers that there are, and GPUs of each.
    """
    (servers, per_server), domains = sizes, ceil_div(use.gpus, domain)
    holding, why = domains * (held // per_server), f", as {' and '.join(apart)} would straddle domains of {held}"
    counted = (
        f"{use.model}: counted with {domain} of the {held} GPUs of each scale-up domain, {some(domains, 'domain')} in "
        f"all{why if apart else ''}"
    )
    if servers == holding:
        spares = some(servers * per_server - use.gpus, "GPU")
        return f"{counted}; {spares} in all are spares, bought and cabled (`workload.gpus_per_domain: {held}` has none)"
    return (
        f"warning: {counted}; these hold {some(holding, 'server')}, and the case has {servers}: `servers: {holding}` "
        f"with `workload.gpus_per_domain: {domain}` has the spares too, `workload.gpus_per_domain: {held}` takes all"
    )


def _limited_routing(use: WorkloadUse, case: Case, domain: int) -> Iterator[str]:
    """The note on tokens that go to a few domains only: bytes that leave a domain, of all that their experts take."""
    model = case.workload.model if case.workload is not None else None
    experts = model.architecture.experts if isinstance(model, Model) else None
    row = next((communicator for communicator in use.communicators if communicator.communicator == "expert"), None)
    if experts is None or experts.servers_per_token is None or row is None or "server" not in row.bytes_over:
        return
    yield (
        f"{use.model}: a token goes to {experts.top_k} experts in at most {experts.servers_per_token} scale-up domains "
        f"of {some(domain, 'GPU')} (servers_per_token), one copy to each: {row.bytes_over['server'] / _GIGA:,.4g} GB a "
        f"step leave a domain for each GPU, of {row.bytes_sent / _GIGA:,.4g} GB that its experts take"
    )


def _shared_uplinks(use: WorkloadUse, case: Case) -> Iterator[str]:
    """The note on a job's share of the links above leaves, where flows are hashed or other jobs take some."""
    wanted, why = case.workload, []
    assert wanted is not None
    if isinstance(wanted.spreading, QueuePairs):
        used, pairs = hashed_share(wanted.spreading.queue_pairs), some(wanted.spreading.queue_pairs, "queue pair")
        why.append(f"with flows hashed in {pairs} a sender the fullest one sets the pace, and {_percent(used)} is used")
    jobs = wanted.other_jobs
    if taken_by(jobs):
        named = () if isinstance(jobs, float | int) else jobs
        shares = ", ".join(f"{job.name or 'a job'} {_percent(exact(job.share))}" for job in named)
        why.append(f"other jobs take {_percent(taken_by(jobs))}" + (f" ({shares})" if shares else ""))
    if why:
        left = _percent(uplink_share(wanted.spreading, jobs))
        yield f"{use.model}: counted with {left} of what links above the leaves can carry: {'; '.join(why)}"


def _percent(share: Fraction) -> str:
    return f"{float(_PERCENT * share):.3g} %"


def _high_utilization(use: WorkloadUse, case: Case, server: Server) -> Iterator[str]:
    """The note on a utilization given by the case above the band predicted for tuned software."""
    wanted = case.workload
    if wanted is None or wanted.gpu_utilization is None or not isinstance(wanted.model, Model):
        return
    model = wanted.model
    ranks = ranks_of(model, use.plan, use.model_gpus)
    tuned = workload_of(model, ranks, server.in_domains_of(wanted.gpus_per_domain), None, "tuned")
    free_s = step_on(tuned, flat(MOST_MBPS, Reach())).free_s
    likely = tuned.gpu_flops(hardware=False) / (tuned.peak_flops * free_s)
    most = likely / (1 - band(model, "tuned", measured=False))
    if exact(wanted.gpu_utilization) > most:
        yield (
            f"warning: `workload.gpu_utilization` is {_percent(exact(wanted.gpu_utilization))}: tuned software on this "
            f"plan is predicted to reach {_percent(likely)}, and {_percent(most)} at the upper end of its band; a "
            "figure above that makes computation short, and the network seem slow"
        )


def _tight_memory(use: WorkloadUse) -> Iterator[str]:
    """The note on a plan that fits only if its framework keeps no more than it must."""
    memory = use.memory
    if memory.gpu_gb is not None and memory.least_gb <= memory.gpu_gb < memory.likely_gb:
        parts = ", ".join(f"{amount:g} {name.replace('_', ' ')}" for name, amount in memory.parts_gb.items())
        yield (
            f"{use.model}: a GPU is likely to need {memory.likely_gb:g} GB ({parts}), and has {memory.gpu_gb:g} GB; it "
            f"can do with {memory.least_gb:g} GB where norms are computed again and attention is fused"
        )


def _wide_tensor(use: WorkloadUse, row: CommunicatorUse, domain: int) -> str:
    waits = _PERCENT * row.exposed_s / use.step_s
    sent = row.bytes_over.get("server", 0) / _GIGA
    return (
        f"tensor groups of {row.group} GPUs are larger than the scale-up domain of {domain}: every GPU sends "
        f"{sent:,.4g} GB a step over the network for them, and waits {row.exposed_s:,.4g} s of {use.step_s:,.4g} s "
        f"({waits:.1f} %)"
    )


def _overruled(use: WorkloadUse, case: Case, fabric: Fabric) -> Iterator[str]:
    """Notes on keys of the case that ask for less than the model needs."""
    most = case.own_workload.max_exposed_communication
    for job in use.jobs:
        if job.paused > most:
            yield (
                f"warning: {job.name} waits {_PERCENT * job.paused:.3g} % of its time for what is sent, more than the "
                f"{_PERCENT * most:g} % of max_exposed_communication"
            )
    asked = [(job.name, job.exposed_communication, job.min_gbps_per_gpu) for job in use.jobs]
    for name, exposed, least_gbps in asked or [(use.model, use.exposed_communication, use.needs.min_gbps_per_gpu)]:
        if exposed <= most:
            continue
        why = "no network keeps it, however fast"
        if least_gbps < NO_BANDWIDTH_GBPS:
            wanted = f"{least_gbps:g} Gb/s per GPU at 1:1 that {name} needs"
            why = f"the fabric's own keys go first, and ask for less than the {wanted}"
        of_job = f" of {name}" if asked else ""
        yield (
            f"{fabric.name}: {_PERCENT * exposed:.1f} % of a step{of_job} is exposed communication, more than the "
            f"{_PERCENT * most:g} % of max_exposed_communication: {why}"
        )
