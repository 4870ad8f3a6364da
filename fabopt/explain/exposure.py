"""Conflicts of exposed communication: on any network latency alone exposes more of a step than the case allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from fabopt.explain.asking import asking_words, limit_of, neediest_job, sent_by
from fabopt.explain.demands import changed
from fabopt.explain.levers import advice
from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry, with_needed
from fabopt.problem.demand import case_workload, jobs_of
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict, Needed
from fabopt.schema.prediction import NO_BANDWIDTH_GBPS
from fabopt.units import some
from fabopt.workload.jobs import Pause, ServedJob
from fabopt.workload.needs import MOST_MBPS, Reach, demanding, flat
from fabopt.workload.overlap import key_of
from fabopt.workload.timing import DOMAIN, ModelRun, Step, step_on

LIMIT = "workload.max_exposed_communication"
BATCH = "workload.plan.batch"
MORE_SEQUENCES = "more sequences a step, and so more micro-batches of each replica"
# Shares of a step are told in hundredths of a per cent.
SHARES = 10_000
PERCENT = 100
# How often the sequences of a step are doubled until there is a design.
MOST_DOUBLINGS = 6
# How often the period of a sending is.
MOST_PERIODS = 12


def exposure_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of exposed communication where no bandwidth keeps the limit: share, batch and protocol that would."""
    needs, case, server = inquiry.problem.needs, inquiry.problem.case, inquiry.problem.server
    workload, jobs = case_workload(case, server), jobs_of(case, server)
    if needs is None or workload is None or needs.min_gbps_per_gpu < NO_BANDWIDTH_GBPS:
        return
    neediest = max(jobs, key=lambda job: job.need_mbps, default=None)
    run = workload if neediest is None else neediest.run
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    words = _why(run, step_on(demanding(run), flat(MOST_MBPS, reach)))
    yield from _more_exposed(inquiry, words)
    if not jobs:
        yield from _larger_batch(inquiry, workload)
    yield from _reducing_switches(inquiry, needs.fabric)


def _why(workload: ModelRun, step: Step) -> str:
    """Words on the exposed share of a step and its largest communicator."""
    worst = max((cost for cost in step.costs if cost.place != DOMAIN), key=lambda one: one.exposed_s, default=None)
    ranks = "" if worst is None else f", most of it of {worst.traffic.communicator} ranks"
    batches = some(math.floor(workload.micro_batches), "micro-batch")
    return (
        f"however fast the network is, at least {PERCENT * float(step.exposed_share):.3g} % of a step is exposed"
        f"{ranks}: each of {some(workload.ranks.data, 'replica')} works on {batches} a step, too few to hide it behind"
    )


def _exposing(case: Case, share: float) -> Case:
    workload = case.own_workload.model_copy(update={"max_exposed_communication": share})
    return case.model_copy(update={"workload": workload})


def _more_exposed(inquiry: Inquiry, words: str) -> Iterator[Conflict]:
    """The conflict of the limit: the least exposed share of a step that gives a design."""
    asked, workload = inquiry.problem.asked, inquiry.problem.asked.own_workload
    inquiry.tell(LIMIT)
    ask = inquiry.at_number(lambda shares: _exposing(asked, shares / SHARES))

    def between(works: int, fails: int) -> int | None:
        # what is exposed is little more than the limit: steps from it that double
        return min(fails + max(1, fails - limit), (works + fails) // 2) if works - fails > 1 else None

    limit = math.floor(SHARES * workload.max_exposed_communication)
    if ask(SHARES) is None:
        yield Conflict(limit=LIMIT, value=workload.max_exposed_communication, needed=None, detail=words)
        return
    least, is_least = closest(SHARES, limit, ask, between)
    yield advice(LIMIT, workload.max_exposed_communication, least / SHARES, words, is_least)


def _larger_batch(inquiry: Inquiry, workload: ModelRun) -> Iterator[Conflict]:
    """The conflict of the batch: the fewest sequences of a step that give a design, by
    micro-batches of all replicas.
    """
    asked, plan = inquiry.problem.asked, workload.plan
    step = workload.ranks.data * plan.micro_batch
    inquiry.tell(BATCH)

    def with_batch(batch: int) -> Case:
        plan = asked.own_workload.changes.model_copy(update={"batch": batch})
        return asked.model_copy(update={"workload": asked.own_workload.model_copy(update={"plan": plan})})

    ask = inquiry.at_number(with_batch)

    def between(works: int, fails: int) -> int | None:
        return fails + (works - fails) // step // 2 * step if works - fails > step else None

    doubled = [plan.batch << times for times in range(MOST_DOUBLINGS + 1)]
    for fails, batch in pairwise(doubled):
        if ask(batch) is not None:
            needed, is_least = closest(batch, fails, ask, between)
            yield advice(BATCH, plan.batch, needed, MORE_SEQUENCES, is_least)
            return


def _reducing_switches(inquiry: Inquiry, name: str) -> Iterator[Conflict]:
    """The conflict of the protocol: InfiniBand, whose switches reduce gradients, if it gives a design."""
    fabric = next(fabric for fabric in inquiry.problem.asked.fabrics if fabric.name == name)
    if fabric.protocol == "infiniband":
        return
    limit = f"fabrics.{name}.protocol"
    inquiry.tell(limit)
    if inquiry.design(changed(inquiry.problem.asked, fabric, protocol="infiniband")) is not None:
        detail = "its switches add gradients up on their way, which takes fewer steps"
        yield Conflict(limit=limit, value=fabric.protocol, needed="infiniband", detail=detail)


# -- what asks for more than any NIC gives ---------------------------------------------------------------------------


def asking_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of a workload that asks for more than any NIC gives: with longer waits, a sending less often, or more
    of its calls hidden behind computation.
    """
    problem, needs = inquiry.problem, inquiry.problem.needs
    run = case_workload(problem.case, problem.server)
    if needs is None or run is None or "min_gbps_per_gpu" not in needs.sets or limit_of(problem.case) >= 1:
        return
    if any(any(fabric.nics.values()) for fabric in problem.fabrics if fabric.name == needs.fabric):
        return
    neediest = neediest_job(problem)
    asks = asking_words(problem) or f"{run.model.name} asks for {needs.min_gbps_per_gpu:,.4g} Gb/s a GPU"
    pause = None if neediest is None else sent_by(neediest, limit_of(problem.case))
    if pause is not None:
        yield from _less_often(inquiry, pause, asks)
    elif not isinstance(neediest, ServedJob):
        where = "workload" if neediest is None else _key(inquiry.case, neediest.job.title)
        yield from _more_hidden(inquiry, run if neediest is None else neediest.run, where)
    yield from _more_exposed(inquiry, f"with longer waits less is asked for; {asks}")


def _key(case: Case, title: str) -> str:
    """The dotted key of a job."""
    jobs = () if case.workload is None else case.workload.jobs
    return next(f"workload.jobs.{job.name or place}" for place, job in enumerate(jobs) if job.title == title)


def _less_often(inquiry: Inquiry, pause: Pause, asks: str) -> Iterator[Conflict]:
    """The conflict of the period of a sending: the least in whole seconds that gives a design."""
    limit = f"{_key(inquiry.case, pause.sent.title)}.every_s"
    inquiry.tell(limit)
    ask = inquiry.at_number(lambda s: with_needed(inquiry, inquiry.case, [Needed(limit=limit, needed=s)]))
    fails = math.floor(pause.every_s)
    for times in range(1, MOST_PERIODS + 1):
        works = ask(math.ceil(pause.every_s) << times)
        if works is not None:
            least, is_least = closest(works, fails, ask, halfway)
            yield advice(limit, pause.sent.every_s or 0, least, f"a sending less often; {asks}", is_least)
            return


def _more_hidden(inquiry: Inquiry, run: ModelRun, where: str) -> Iterator[Conflict]:
    """The conflict of overlap: all hidden of calls over the network that may be, where that gives a design."""
    far = (traffic for traffic in run.traffic if run.crossings.of_domain(traffic.group, run.domain_gpus).cut)
    bands = {key_of(traffic): run.range_of(traffic) for traffic in far}
    open_ones = {key: band for key, band in bands.items() if band.low < band.high}
    changes = [Needed(limit=f"{where}.plan.overlap.{key}", needed=float(band.high)) for key, band in open_ones.items()]
    if not changes:
        return
    first, low = changes[0], float(next(iter(open_ones.values())).low)
    inquiry.tell(first.limit)
    if inquiry.design(with_needed(inquiry, inquiry.case, changes)) is not None:
        detail = "as much hidden behind computation as the software can"
        conflict = advice(first.limit, low, float(next(iter(open_ones.values())).high), detail)
        yield conflict.model_copy(update={"together": tuple(changes) if len(changes) > 1 else (), "minimal": False})
