"""Faults of a workload on a cluster, with the arithmetic: every fault names numbers that would do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from fabopt.schema.model import Model, Plan
from fabopt.schema.server import Server
from fabopt.schema.workload import Workload as Wanted
from fabopt.units import exact, some
from fabopt.workload.gpus import most_utilization
from fabopt.workload.memory import GIB, least_memory
from fabopt.workload.needs import MOST_MBPS, Reach, demanding, least_exposed
from fabopt.workload.plans import COMPARED_MBPS, difference, fastest_plan, fits, keeps, nearest_plan, plans_keeping
from fabopt.workload.ranks import can_be_dealt, ranks_of, replica_gpus, runs_of, shares_of
from fabopt.workload.stages import at_scale
from fabopt.workload.timing import ModelRun, workload_of

# The embedding and the output are parts of a pipeline, too.
ENDS = 2
# Doublings of GPUs in search of a number on which some plan fits.
MOST_DOUBLINGS = 10
# Keys that a model alone can be at odds with, whatever else is picked.
_ALONE = {"plan.tensor", "plan.context", "plan.expert"}
# Most servers added or removed in search of a plan.
MOST_NEAR = 65


class Wrong(NamedTuple):
    """A fault below ``workload``: key path, problem, the value found, allowed values, remedy."""

    path: str
    problem: str
    value: object
    allowed: str = ""
    hint: str = ""


def wrongs_of(wanted: Wanted, model: Model, server: Server, gpus: int, asked: Sequence[int] = ()) -> list[Wrong]:
    """All faults that keep a model from running on ``gpus`` GPUs of a server; empty if none.

    ``asked``: GPUs that the case asks for, by stage.
    """
    plan = wanted.changes.on(model.plan)
    for size in (gpus, *asked):
        if apart := list(fits_domains(wanted, server, size)):
            return [_with_sizes(wrong, wanted, model, server, size) for wrong in apart]
    parts = _parts_of_domains(server, gpus) if wanted.gpus_per_domain is None else {}
    server = server.in_domains_of(wanted.gpus_per_domain)
    fits_gpus = list(_fits_gpus(plan, gpus)) or list(_shares_evenly(model, plan, gpus))
    of_server = [*fits_server(model, server), *_fits_precision(wanted, model, server)]
    if fits_gpus and not wanted.changes.auto:
        fits_gpus[0] = _with_sizes(fits_gpus[0], wanted, model, server, gpus)
        fitting = (
            part for part in parts if not any(_fits_gpus(plan, part)) and not any(_shares_evenly(model, plan, part))
        )
        fits_gpus[-1] = _with_part(fits_gpus[-1], next(fitting, None), parts)
    wrongs = [*_fits_model(plan, model), *fits_gpus, *of_server]
    if wanted.changes.auto and wrongs:
        given = wanted.changes.given
        of_given = [
            wrong for wrong in _fits_model(plan, model) if wrong.path in {f"plan.{key}" for key in given} & _ALONE
        ]
        wrongs = [*of_given, *of_server] or [_no_plan(model, plan, server, gpus, given)]
        if not of_given and not of_server and parts:
            wrongs[0] = _with_part(wrongs[0], _first_with_a_plan(parts, model, plan, server, given), parts)
    wrongs = wrongs or list(_fits_memory(model, plan, server, gpus))
    return wrongs or list(_fits_limit(wanted, model, plan, server, gpus))


def _parts_of_domains(server: Server, gpus: int) -> dict[int, str]:
    """GPUs at work where whole scale-up domains leave some of theirs out, the most first, and how that is said."""
    held = 0 if server.scale_up is None else server.scale_up.domain_gpus
    if held <= server.gpus or gpus % held:
        return {}
    return {
        gpus // held * few: f"takes {few} of the {held} GPUs of each of {some(gpus // held, 'scale-up domain')}"
        for few in range(held - server.gpus, held // 2, -server.gpus)
    }


def _with_part(wrong: Wrong, gpus: int | None, parts: Mapping[int, str]) -> Wrong:
    """The fault with the part of the same scale-up domains that a plan comes out in."""
    return wrong if gpus is None else wrong._replace(hint=f"`gpus: {gpus}` {parts[gpus]}, the others are spares")


def fits_domains(wanted: Wanted, server: Server, gpus: int) -> Iterator[Wrong]:
    """A part of each domain is some of its whole servers, and the GPUs come out in such parts."""
    few, link = wanted.gpus_per_domain, server.scale_up
    if few is None:
        return
    most = 1 if link is None else link.domain_gpus
    if few > most or few % server.gpus:
        problem = f"scale-up domains have {some(most, 'GPU')} in servers of {server.gpus}"
        whole = f"a multiple of {server.gpus} up to {most}" if most >= server.gpus else "nothing: leave it out"
        yield Wrong("gpus_per_domain", problem, few, allowed=whole)
    elif few < most and gpus > few and gpus % few:
        problem = f"{gpus} GPUs / {few} of each scale-up domain is no whole number"
        yield Wrong("gpus_per_domain", problem, few, allowed=f"a multiple of {few} GPUs",
                    hint="spares are not among the GPUs of the case")  # fmt: skip


def _no_plan(model: Model, plan: Plan, server: Server, gpus: int, kept: Collection[str]) -> Wrong:
    """The fault of automatic plans: none divides so evenly that no GPU is idle, or none fits.

    ``kept``: keys that the case gives.
    """
    step = server.gpus
    near = (gpus + sign * times * step for times in range(1, MOST_NEAR) for sign in (-1, 1))
    good = _first_with_a_plan((number for number in near if number > 0), model, plan, server, kept)
    problem = (
        f"no plan keeps all {gpus} GPUs at work and fits: tensor x context x pipeline x data is their number, and data "
        f"x micro_batch divides the batch of {plan.batch}"
    )
    if plan.shard_group is not None:
        problem += f", and groups of {plan.shard_group} (shard_group) come out of context x data"
    allowed = "" if good is None else f"another number of GPUs, such as {good}, or another batch"
    return Wrong("plan", problem, "auto", allowed=allowed, hint="keys that are given stay as they are")


def _fits_model(plan: Plan, model: Model) -> Iterator[Wrong]:
    """Heads divide over tensor ranks, layers are enough for the stages, experts divide over expert ranks."""
    heads, tokens, layers = model.architecture.heads, model.architecture.sequence, model.architecture.layers
    experts = None if model.architecture.experts is None else model.architecture.experts.count
    if heads % plan.tensor:
        yield Wrong("plan.tensor", f"{heads} heads / {plan.tensor} ways is no whole number", plan.tensor,
                    allowed=f"a divisor of {heads}")  # fmt: skip
    if tokens % plan.context:
        yield Wrong("plan.context", f"{tokens} tokens / {plan.context} ways is no whole number", plan.context,
                    allowed=f"a divisor of {tokens}")  # fmt: skip
    parts, most = plan.pipeline * plan.virtual_stages, layers + ENDS
    if parts > most:
        yield Wrong("plan.pipeline", f"{plan.pipeline} stages x {plan.virtual_stages} virtual = {parts} parts of "
                    f"{layers} layers, the embedding and the output", plan.pipeline,
                    allowed=f"at most {most} parts")  # fmt: skip
    if experts is None and plan.expert > 1:
        yield Wrong("plan.expert", f"{model.name} has no experts to split", plan.expert, allowed="1")
    if experts is not None and experts % plan.expert:
        problem = f"{experts} experts / {plan.expert} ways is no whole number"
        yield Wrong("plan.expert", problem, plan.expert, allowed=f"a divisor of {experts}")


def _fits_gpus(plan: Plan, gpus: int) -> Iterator[Wrong]:
    """tensor x context x pipeline x data is the number of GPUs; experts divide data; replicas divide the batch."""
    replica = replica_gpus(plan)
    product = f"{plan.tensor} tensor x {plan.context} context x {plan.pipeline} pipeline"
    if plan.data is not None and replica * plan.data != gpus:
        needed = f"{gpus // replica}" if gpus % replica == 0 else f"none: {gpus} / {replica} is no whole number"
        yield Wrong("plan.data", f"{product} x {plan.data} data = {replica * plan.data}, not the {gpus} GPUs of the "
                    "last stage", plan.data, allowed=needed, hint="left out, it is what remains")  # fmt: skip
        return
    if gpus % replica:
        yield Wrong("plan", f"{product} = {replica} does not divide the {gpus} GPUs of the last stage", gpus,
                    allowed=f"a multiple of {replica} GPUs")  # fmt: skip
        return
    data = gpus // replica
    yield from _deals_experts(plan, data)
    step = data * plan.micro_batch
    if plan.batch % step:
        below = plan.batch - plan.batch % step
        near = " or ".join(str(number) for number in (below, below + step) if number)
        yield Wrong("plan.batch", f"{data} data x {plan.micro_batch} micro_batch = {step} does not divide the batch",
                    plan.batch, allowed=f"a multiple of {step}, such as {near}")  # fmt: skip


def _with_sizes(wrong: Wrong, wanted: Wanted, model: Model, server: Server, gpus: int) -> Wrong:
    """A fault of the number of GPUs with the nearest numbers that would do."""
    near = " or ".join(map(str, _near_that_run(wanted, model, server, gpus)))
    is_of_size = near and wrong.allowed.endswith("GPUs") and wrong.allowed.startswith("a multiple")
    return wrong._replace(allowed=f"{wrong.allowed}, such as {near}") if is_of_size else wrong


def _near_that_run(wanted: Wanted, model: Model, server: Server, gpus: int) -> Iterator[int]:
    """The nearest numbers of GPUs below and above, in whole servers or parts of domains, that the plan runs on."""
    plan = wanted.changes.on(model.plan)
    replica = replica_gpus(plan)
    step = lcm(replica, server.gpus, wanted.gpus_per_domain or 1)
    for first, sign in ((gpus // step, -1), (gpus // step + 1, 1)):
        for times in range(first, first + sign * MOST_NEAR, sign):
            number = step * times
            if number <= 0 or plan.batch % (number // replica * plan.micro_batch):
                continue
            if not any(_fits_gpus(plan, number)) and not any(_shares_evenly(model, plan, number)):
                yield number
                break


def _deals_experts(plan: Plan, data: int) -> Iterator[Wrong]:
    """The ranks of a stage divide evenly into experts and ways of each."""
    given = plan.expert_tensor
    if given is None and data % plan.expert:
        plan = plan.model_copy(update={"expert_tensor": 1})
    if plan.expert_tensor is None or can_be_dealt(plan, data):
        return
    ranks = plan.tensor * plan.context * data
    stage = f"{plan.tensor} tensor x {plan.context} context x {data} data = {ranks} ranks of a stage"
    problem = f"{stage} are not dealt evenly to {plan.expert} expert x {plan.expert_ways} expert_tensor"
    if given is None or ranks % plan.expert:
        yield Wrong("plan.expert", problem, plan.expert, allowed=_divisor(ranks // gcd(ranks, plan.expert_ways)))
    else:
        yield Wrong("plan.expert_tensor", problem, given, allowed=_divisor(ranks // plan.expert))


def _shares_evenly(model: Model, plan: Plan, gpus: int) -> Iterator[Wrong]:
    """Shard groups divide the data ranks, and the copies of experts, evenly."""
    given = plan.shard_group
    if given is None:
        return
    if not plan.zero_stage:
        yield Wrong("plan.shard_group", "nothing is sharded with zero_stage 0", given, allowed="zero_stage 1, 2 or 3")
        return
    for name, group, sharers in shares_of(model, ranks_of(model, plan, gpus)):
        known = runs_of(group)
        if sharers in known:
            continue
        data = gpus // replica_gpus(plan)
        stage = f"{plan.context} context x {data} data = {plan.context * data} ranks"
        groups = f"{stage} / {given} = {float(Fraction(plan.context * data, given)):g} groups"
        good = [number * plan.context * data // group.size for number in known]
        copies = "" if name == "data" else f", and {group.size} copies of each expert are not dealt evenly to these"
        allowed = ", ".join(str(number) for number in good)
        yield Wrong("plan.shard_group", f"{groups}{copies or ' of neighbours'}", given, allowed=allowed)
        return


def _divisor(number: int) -> str:
    return "1" if number == 1 else f"a divisor of {number}"


def fits_server(model: Model, server: Server) -> Iterator[Wrong]:
    """The server states the peak of its GPUs in the model's number format."""
    compute = model.precision.compute
    if compute not in server.gpu_peak_tflops:
        known = ", ".join(sorted(server.gpu_peak_tflops)) or "none"
        yield Wrong("model", f"{model.name} computes in {compute}, and the server {server.id} does not say its speed "
                    "in that", model.name, allowed=f"what gpu_peak_tflops of the server has: {known}")  # fmt: skip


def _fits_precision(wanted: Wanted, model: Model, server: Server) -> Iterator[Wrong]:
    """No given utilization is above the share of the peak that the fastest kernels reach in the model's
    number format.
    """
    compute = model.precision.compute
    most = most_utilization(server, compute)
    if most is None or compute not in server.gpu_peak_tflops:
        return
    given = {"gpu_utilization": wanted.gpu_utilization}
    given |= {
        f"scenarios[{place}].gpu_utilization": scenario.gpu_utilization
        for place, scenario in enumerate(wanted.scenarios)
    }
    for path, used in given.items():
        if used is not None and exact(used) > most:
            problem = (
                f"more than {server.gpu or server.id} reaches in {compute}: large matrix products alone run at "
                f"{float(most):g} of its peak of {server.gpu_peak_tflops[compute]:g} Tflop/s"
            )
            yield Wrong(
                path, problem, used, allowed=f"at most {float(most):g}", hint="leave it out to have it predicted"
            )


def _fits_memory(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Wrong]:
    """The least memory of the plan is not more than a GPU's."""
    if server.gpu_memory_gb is None:
        return
    least = least_memory(model, ranks_of(model, plan, gpus))
    if least.total <= exact(server.gpu_memory_gb) * GIB:
        return
    sums = " + ".join(
        f"{float(amount / GIB):,.1f} {name.replace('_', ' ')}" for name, amount in least.bytes_by_purpose.items()
    )
    near = nearest_plan(model, plan, server, gpus)
    what_fits = _on_more_gpus(model, plan, server, gpus) if near is None else difference(plan, near)
    problem = f"a GPU needs at least {sums} = {float(least.total / GIB):,.1f} GB, and has {server.gpu_memory_gb:g} GB"
    yield Wrong(
        "plan",
        problem,
        f"tensor {plan.tensor}, context {plan.context}, pipeline {plan.pipeline}",
        allowed=f"what fits: {what_fits}",
    )


def _first_with_a_plan(
    numbers: Iterable[int], model: Model, plan: Plan, server: Server, kept: Collection[str] = ()
) -> int | None:
    """The first number of GPUs on which some plan with the ``kept`` keys has no idle GPU and fits."""
    for gpus in numbers:
        if any(fits(model, tried, server, gpus) for tried in plans_keeping(kept, model, plan, server, gpus)):
            return gpus
    return None


def enough_gpus(model: Model, plan: Plan, server: Server, gpus: int) -> int | None:
    """GPUs on which some plan fits, by doubling ``gpus``, where none fits; None up to ``MOST_DOUBLINGS``."""
    more = (gpus * 2**times for times in range(1, MOST_DOUBLINGS + 1))
    return _first_with_a_plan(more, model, plan, server)


def _on_more_gpus(model: Model, plan: Plan, server: Server, gpus: int) -> str:
    """Advice on the number of GPUs that some plan would fit, where none does."""
    none, enough = "no plan of this model on so many GPUs", enough_gpus(model, plan, server, gpus)
    return none if enough is None else f"{none}; with {enough} GPUs some plan does"


def _fits_limit(wanted: Wanted, model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Wrong]:
    """Some network keeps the limit of exposed communication: latency and scale-up links alone do not break it."""
    most = exact(wanted.max_exposed_communication)

    def run_of(tried: Plan) -> ModelRun:
        return workload_of(model, ranks_of(model, tried, gpus), server, at_scale(wanted, server, gpus), wanted.software)

    step = least_exposed(demanding(run_of(plan)), Reach(reduces=True))
    if step.exposed_share <= most:
        return
    problem = f"no network keeps this: latency and scale-up links alone expose {float(step.exposed_s):.4g} s of a step "
    problem += f"of {float(step.step_s):.4g} s"
    least = f"at least {float(step.exposed_share) + 5e-5:.4f}, or "
    other = fastest_plan(model, plan, server, gpus, wanted.software, most_exposed=most)
    if other is not None and keeps(run_of(other), most, MOST_MBPS):
        takes_s = float(least_exposed(run_of(other), Reach(reduces=True), COMPARED_MBPS).step_s)
        least += f"what keeps it (`plan: auto`), with steps of {takes_s:.4g} s: {difference(plan, other)}"
    else:
        least += "another model or number of GPUs: no plan keeps it"
    yield Wrong("max_exposed_communication", problem, wanted.max_exposed_communication, allowed=least)
