"""Plans of a model for a number of GPUs: which fit, which is fastest, and which is nearest to one that does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from fabopt.schema.model import Model, Plan
from fabopt.schema.server import Server
from fabopt.schema.workload import Software
from fabopt.units import exact
from fabopt.workload.memory import GIB, least_memory, likely_memory
from fabopt.workload.needs import Reach, flat
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import step_on, workload_of

# The network that plans are compared on, in Mb/s for each GPU, the same everywhere.
COMPARED_MBPS = 400_000
# Most ways that are tried; micro-batches that are tried.
MOST_PIPELINE, MOST_CONTEXT = 64, 8
MICRO_BATCHES = (1, 2, 4)
KEYS = ("tensor", "pipeline", "context", "expert", "micro_batch", "virtual_stages", "recomputation", "zero_stage")


def fits(model: Model, plan: Plan, server: Server, gpus: int) -> bool:
    """Whether the least that a plan can do with is not more than a GPU has; where that is not known, it is."""
    if server.gpu_memory_gb is None:
        return True
    return least_memory(model, ranks_of(model, plan, gpus)).total <= exact(server.gpu_memory_gb) * GIB


def is_roomy(model: Model, plan: Plan, server: Server, gpus: int) -> bool:
    """Whether what a plan is likely to take fits, too."""
    if server.gpu_memory_gb is None:
        return True
    return likely_memory(model, ranks_of(model, plan, gpus)).total <= exact(server.gpu_memory_gb) * GIB


def plans_of(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    """Plans of a model with the batch of a given one, in which everything divides and no GPU is idle."""
    domain = server.scale_up.domain_gpus if server.scale_up is not None else 1
    sizes = model.architecture
    tensors = [ways for ways in _powers(domain) if sizes.heads % ways == 0 and gpus % ways == 0]
    pipelines = [ways for ways in range(1, min(MOST_PIPELINE, sizes.layers) + 1) if _deals(sizes.layers, ways)]
    contexts = [ways for ways in _powers(MOST_CONTEXT) if sizes.sequence % ways == 0]
    for tensor, pipeline, context in product(tensors, pipelines, contexts):
        replica = tensor * pipeline * context
        if gpus % replica:
            continue
        data = gpus // replica
        for micro_batch, expert in product(MICRO_BATCHES, _expert_ways(model, data)):
            if plan.batch % (data * micro_batch) == 0:
                virtual = (
                    plan.virtual_stages if pipeline > 1 and sizes.layers % (pipeline * plan.virtual_stages) == 0 else 1
                )
                update = {"tensor": tensor, "pipeline": pipeline, "context": context, "expert": expert, "data": None,
                          "micro_batch": micro_batch, "virtual_stages": virtual}  # fmt: skip
                yield plan.model_copy(update=update)


def _deals(layers: int, ways: int) -> bool:
    """Whether so many stages have equal layers, or nearly."""
    return layers % ways == 0 or (layers + 2) % ways == 0 or -(-layers // ways) * ways - layers < ways // 4


def _powers(most: int) -> list[int]:
    return [2**number for number in range(most.bit_length()) if 2**number <= most]


def _expert_ways(model: Model, data: int) -> list[int]:
    experts = model.architecture.experts
    return (
        [1]
        if experts is None
        else [ways for ways in _powers(experts.count) if experts.count % ways == 0 and data % ways == 0]
    )


def nearest_plan(model: Model, plan: Plan, server: Server, gpus: int) -> Plan | None:
    """The plan that fits with the fewest keys changed, of these the fastest; None if none fits."""
    shortest: list[Plan] = []
    for one in _with_help(model, plan, server, gpus):
        if fits(model, one, server, gpus):
            changed = _changes(plan, one)
            if not shortest or changed < _changes(plan, shortest[0]):
                shortest = [one]
            elif changed == _changes(plan, shortest[0]):
                shortest.append(one)
    return min(shortest, key=lambda one: predicted_s(model, one, server, gpus), default=None)


def _with_help(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    """Plans, also with everything computed again, and with parameters sharded where there is no pipeline."""
    for one in plans_of(model, plan, server, gpus):
        yield one
        yield one.model_copy(update={"recomputation": "full"})
        if one.pipeline == 1:
            yield one.model_copy(update={"zero_stage": 3})
            yield one.model_copy(update={"recomputation": "full", "zero_stage": 3})


def _changes(plan: Plan, other: Plan) -> int:
    return sum(getattr(plan, key) != getattr(other, key) for key in KEYS)


def difference(plan: Plan, other: Plan) -> str:
    """The keys in which a plan differs from another, with its values."""
    return (
        "plan: {"
        + ", ".join(f"{key}: {getattr(other, key)}" for key in KEYS if getattr(plan, key) != getattr(other, key))
        + "}"
    )


def fastest_plan(model: Model, plan: Plan, server: Server, gpus: int, software: Software = "typical") -> Plan | None:
    """The plan that is predicted to be fastest of those that are likely to fit, or else can; None if none can."""
    if model.task == "training":
        known = list(_with_help(model, plan, server, gpus))
    else:
        known = list(plans_of(model, plan, server, gpus))
    for holds in (is_roomy, fits):
        roomy = [one for one in known if holds(model, one, server, gpus)]
        if roomy:
            return min(roomy, key=lambda one: (predicted_s(model, one, server, gpus, software), _changes(plan, one)))
    return None


def predicted_s(model: Model, plan: Plan, server: Server, gpus: int, software: Software = "typical") -> Fraction:
    """Seconds of a step on the network that plans are compared on."""
    run = workload_of(model, ranks_of(model, plan, gpus), server, None, software)
    domain = server.scale_up.domain_gpus if server.scale_up is not None else 1
    return step_on(run, flat(COMPARED_MBPS, Reach(domain))).step_s
