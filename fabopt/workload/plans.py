"""Plans of a model for a number of GPUs: those that fit, the fastest, and the nearest to one that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from fabopt.schema.model import SHARED_PARAMETERS, Model, Overlap, Plan
from fabopt.schema.server import Server
from fabopt.schema.workload import Software
from fabopt.units import exact
from fabopt.workload.memory import GIB, Memory, least_memory, likely_memory, state_bytes
from fabopt.workload.needs import MOST_MBPS, Reach, demanding, flat, least_exposed
from fabopt.workload.placement import Domains
from fabopt.workload.ranks import Ranks, can_be_dealt, can_be_shared, ranks_of
from fabopt.workload.straddling import domain_in_use
from fabopt.workload.timing import DOMAIN, ModelRun, Step, step_on, workload_of

# The network that plans are compared on, in Mb/s for each GPU, the same everywhere.
COMPARED_MBPS = 400_000
# Most stages that are tried; tokens that a context rank has at least; micro-batches that are tried.
MOST_PIPELINE, LEAST_TOKENS = 64, 8192
MICRO_BATCHES = (1, 2, 4)
# Keys of a plan that are picked.
KEYS = (
    "tensor",
    "pipeline",
    "context",
    "expert",
    "expert_tensor",
    "micro_batch",
    "virtual_stages",
    "recomputation",
    "zero_stage",
    "shard_group",
)
# Keys among these that save memory.
HELPS = ("recomputation", "zero_stage")


def plans_of(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    """Plans of a model with the batch of a given one, in which everything divides and no GPU is idle.

    Each also with full recomputation, and without a pipeline with sharded parameters.
    """
    for ways in _ways(model, plan, server, gpus):
        yield ways
        if model.task == "inference":
            continue
        helps: list[dict[str, object]] = [{"recomputation": "full"}]
        if ways.pipeline == 1:
            helps += [{"zero_stage": SHARED_PARAMETERS}, {"recomputation": "full", "zero_stage": SHARED_PARAMETERS}]
        yield from (changed for help_ in helps if (changed := ways.model_copy(update=help_)) != ways)


def plans_keeping(kept: Collection[str], model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    """Plans whose ``kept`` keys are those of the given one."""
    for tried in plans_of(model, plan, server, gpus):
        if all(getattr(tried, key) == getattr(plan, key) for key in kept):
            yield tried


def _ways(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    domain, sizes = server.scale_up.domain_gpus if server.scale_up is not None else 1, model.architecture
    tensors = [ways for ways in sorted({*_powers(domain), plan.tensor}) if sizes.heads % ways == 0]
    contexts = sorted({*_powers(max(plan.context, sizes.sequence // LEAST_TOKENS)), plan.context})
    contexts = [ways for ways in contexts if not sizes.sequence % ways]
    stages = [(ways, parts) for ways in _stages(sizes.layers, plan) for parts in _virtual(sizes.layers, ways, plan)]
    for tensor, (pipeline, parts), context in product(tensors, stages, contexts):
        replica = tensor * pipeline * context
        if gpus % replica:
            continue
        data = gpus // replica
        overlap = plan.overlap if pipeline > 1 or plan.pipeline == 1 else _without_pipeline(plan.overlap)
        split = {"tensor": tensor, "pipeline": pipeline, "context": context, "data": None,
                 "virtual_stages": parts}  # fmt: skip
        for experts in _expert_ways(model, plan.model_copy(update=split), data):
            for micro_batch in {*MICRO_BATCHES, plan.micro_batch}:
                tried = plan.model_copy(update={**split, **experts, "micro_batch": micro_batch, "overlap": overlap})
                if plan.batch % (data * micro_batch) == 0 and can_be_shared(model, tried, gpus):
                    yield tried


def _without_pipeline(overlap: Overlap) -> Overlap:
    """Overlap of a plan whose pipeline is left out: the experts' that came with the pipeline's is not known any more.

    DualPipe hides all-to-all of a pipeline's forward behind its backward part: DeepSeek-V3 (arXiv 2412.19437), 3.2.1.
    """
    lost = overlap.pipeline is not None and overlap.expert is not None
    return overlap.model_copy(update={"expert": None}) if lost else overlap


def _stages(layers: int, plan: Plan) -> list[int]:
    """Pipeline stages to try: divisors of the layers, powers of two, and the plan's own number."""
    known = {ways for ways in range(1, min(MOST_PIPELINE, layers) + 1) if layers % ways == 0}
    return sorted({*known, *(ways for ways in _powers(MOST_PIPELINE) if ways <= layers), plan.pipeline})


def _virtual(layers: int, pipeline: int, plan: Plan) -> list[int]:
    """Virtual stages to try: one, which keeps least in memory, and up to the plan's, where the layers divide."""
    if pipeline == plan.pipeline:
        return sorted({1, plan.virtual_stages})
    if pipeline == 1 or layers % pipeline:
        return [1]
    return sorted({1, *(parts for parts in range(1, plan.virtual_stages + 1) if layers % (pipeline * parts) == 0)})


def _powers(most: int) -> list[int]:
    return [2**number for number in range(most.bit_length())]


def _expert_ways(model: Model, plan: Plan, data: int) -> list[dict[str, int | None]]:
    """Expert ways to try over the data ranks, or over all ranks of a stage, where each expert is whole.

    A plan that states ``expert_tensor`` keeps stating it, so that a case can have the result.
    """
    experts = model.architecture.experts
    if experts is None:
        return [{"expert": 1, "expert_tensor": None}]
    ways = sorted(way for way in {*_powers(experts.count), plan.expert} if experts.count % way == 0)
    split = None if plan.expert_tensor is None else plan.tensor
    known: list[dict[str, int | None]] = [{"expert": way, "expert_tensor": split} for way in ways if data % way == 0]
    if plan.tensor > 1:
        whole = [plan.model_copy(update={"expert": way, "expert_tensor": 1}) for way in ways if way > 1]
        known += [{"expert": dealt.expert, "expert_tensor": 1} for dealt in whole if can_be_dealt(dealt, data)]
    return known


def sharded_in_groups(model: Model, plan: Plan, server: Server, gpus: int) -> Iterator[Plan]:
    """A plan that shards, with shard groups of one domain, two, four, ...; none if it states its groups."""
    if not plan.zero_stage or plan.shard_group is not None or model.task == "inference":
        return
    domain = server.scale_up.domain_gpus if server.scale_up is not None else 1
    ranks = ranks_of(model, plan, gpus)
    group = ranks.group("data")
    near = group.inside(domain)
    while near < group.size:
        grouped = plan.model_copy(update={"shard_group": near})
        if near > 1 and can_be_shared(model, grouped, gpus):
            yield grouped
        near *= 2


def fits(model: Model, plan: Plan, server: Server, gpus: int) -> bool:
    """Whether the least memory of a plan is not more than a GPU's; True where that is not known."""
    return _holds(least_memory, model, plan, server, gpus)


def _holds(memory: Callable[[Model, Ranks], Memory], model: Model, plan: Plan, server: Server, gpus: int) -> bool:
    if server.gpu_memory_gb is None:
        return True
    ranks, room = ranks_of(model, plan, gpus), exact(server.gpu_memory_gb) * GIB
    return state_bytes(model, ranks) <= room and memory(model, ranks).total <= room


def nearest_plan(model: Model, plan: Plan, server: Server, gpus: int) -> Plan | None:
    """The plan that fits with the fewest keys changed, of these the fastest; None if none fits."""
    known = sorted(plans_of(model, plan, server, gpus), key=lambda tried: _changes(plan, tried))
    nearest = next((tried for tried in known if fits(model, tried, server, gpus)), None)
    if nearest is None:
        return None
    least = _changes(plan, nearest)
    alike = [tried for tried in known if _changes(plan, tried) == least and fits(model, tried, server, gpus)]
    return _fastest(alike, model, server, gpus, "typical", Fraction(1))


def fastest_plan(
    model: Model,
    plan: Plan,
    server: Server,
    gpus: int,
    software: Software = "typical",
    kept: Collection[str] = (),
    most_exposed: Fraction = Fraction(1),
) -> Plan | None:
    """The plan predicted to be fastest of those that are likely to fit, or else can; None if none can.

    Recomputation and sharding are the given plan's, unless no plan fits with them; shard groups are tried too.
    ``kept``: keys that stay, too. Plans that expose no more communication than ``most_exposed`` go before others.
    """
    known = list(plans_keeping(kept, model, plan, server, gpus))
    plain = [tried for tried in known if all(getattr(tried, key) == getattr(plan, key) for key in HELPS)]
    for memory, among in product((likely_memory, least_memory), (plain, known)):
        holding = [tried for tried in among if _holds(memory, model, tried, server, gpus)]
        if holding:
            if "shard_group" not in kept:
                grouped = [other for tried in holding for other in sharded_in_groups(model, tried, server, gpus)]
                holding += [tried for tried in grouped if _holds(memory, model, tried, server, gpus)]
            return _fastest(holding, model, server, gpus, software, most_exposed)
    return None


def keeps(run: ModelRun, most_exposed: Fraction, mbps: int = COMPARED_MBPS) -> bool:
    """Whether a run exposes no more of its communication than a network has to keep it to, at ``mbps`` Mb/s a GPU."""
    return least_exposed(demanding(run), Reach(reduces=True), mbps).exposed_share <= most_exposed


def _fastest(
    known: Iterable[Plan], model: Model, server: Server, gpus: int, software: Software, most_exposed: Fraction
) -> Plan:
    """The first of the fastest plans: of those that keep the limit, else of those that a faster network lets keep it,
    else of all.

    Not all are timed: no step is shorter than its computation. Nor, with shard groups, than the step of the plan
    without them and without its data communication.
    """
    first, *others = (ranks_of(model, tried, gpus) for tried in known)
    whole = workload_of(model, first, server, None, software)
    there = flat(COMPARED_MBPS, Reach(whole.domain_gpus))
    best: tuple[int, Fraction, Plan] | None = None
    without_data_s: dict[Plan, Fraction] = {}
    for run in sorted((whole, *(_on_ranks(whole, ranks, server) for ranks in others)), key=_least_s):
        ungrouped = run.plan.model_copy(update={"shard_group": None})
        if best is not None and not best[0]:
            if _least_s(run) >= best[1]:
                break
            if without_data_s.get(ungrouped, Fraction(0)) >= best[1]:
                continue
        step = step_on(run, there)
        kept = 0 if most_exposed >= 1 or keeps(run, most_exposed) else 2 - keeps(run, most_exposed, MOST_MBPS)
        if best is None or (kept, step.step_s) < best[:2]:
            best = kept, step.step_s, run.plan
        if run.plan == ungrouped:
            without_data_s[ungrouped] = step.step_s - _of_data_s(run, step)
    assert best is not None
    return best[2]


def _on_ranks(run: ModelRun, ranks: Ranks, server: Server) -> ModelRun:
    link = server.scale_up
    domain = 1 if link is None else domain_in_use(ranks, link.domain_gpus, server.gpus)
    return replace(run, ranks=ranks, domains=Domains(domain, domain))


def _of_data_s(run: ModelRun, step: Step) -> Fraction:
    """The most that a step would be shorter without data communication, which is the last to hide in the network."""
    data = [cost for cost in step.costs if cost.traffic.communicator == "data"]
    near_s = sum((cost.hidden_s for cost in data if cost.place == DOMAIN), Fraction(0))
    return sum((cost.exposed_s for cost in data), near_s * (1 + run.bubble))


def _least_s(run: ModelRun) -> Fraction:
    return run.compute_s * (1 + run.bubble)


def _changes(plan: Plan, other: Plan) -> int:
    return sum(getattr(plan, key) != getattr(other, key) for key in KEYS)


def difference(plan: Plan, other: Plan) -> str:
    """The keys in which a plan differs from another, with the other's values, as YAML of a case."""
    changed = [f"{key}: {getattr(other, key)}" for key in KEYS if getattr(plan, key) != getattr(other, key)]
    return f"plan: {{{', '.join(changed)}}}"
