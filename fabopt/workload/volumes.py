"""Bytes of a step, by communicator: the calls that each GPU takes part in, their size and number.

Symbols: b sequences of a micro-batch, s tokens, h hidden, t tensor, c context, p pipeline, e expert and d data ways, l
layers, m micro-batches a step, B bytes of a number. Messages are in bytes for each GPU, calls are a step's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from fabopt.schema.model import SHARED_PARAMETERS, Model, Plan
from fabopt.units import exact
from fabopt.workload.architecture import end_parameters, expert_layers, kv_width, parameters
from fabopt.workload.collectives import Operation
from fabopt.workload.ranks import Group, Ranks
from fabopt.workload.straddling import domains_of_each

BUCKET_PARAMETERS, BUCKET_PARAMETERS_A_RANK = 40 * 10**6, 10**6
MOMENT_BYTES = 2
COMMUNICATORS = ("tensor", "context", "expert", "pipeline", "data")


@dataclass(frozen=True)
class Traffic:
    """Calls of one kind. ``message``: bytes of the vector of each; ``repeats``: in every micro-batch.

    ``copies``: for all-to-all, the share of a token's copies that are sent to domains; others are passed on inside
    them.
    """

    communicator: str
    operation: Operation
    group: Group
    message: Fraction
    calls: Fraction
    repeats: bool = True
    copies: Fraction = Fraction(1)


def micro_batches(plan: Plan, data: int) -> Fraction:
    """m: micro-batches of a replica in a step, batch / (d b)."""
    return Fraction(plan.batch, data * plan.micro_batch)


def traffic_of(model: Model, ranks: Ranks, domain: int = 1) -> tuple[Traffic, ...]:
    """The calls of a step between GPUs. ``domain``: GPUs of a scale-up domain."""
    kinds = (_tensor, _context, _expert, _pipeline, _data)
    calls = (call for kind in kinds for call in kind(model, ranks) if call.group.size > 1 and call.calls)
    return tuple(replace(call, copies=_copies(model, call, domain, ranks.gpus)) for call in calls)


def _copies(model: Model, traffic: Traffic, domain: int, gpus: int) -> Fraction:
    """M / k for a token of k experts that is sent once to each of at most M domains, of the group's domains."""
    experts = model.architecture.experts
    if traffic.operation != "all-to-all" or experts is None or experts.servers_per_token is None:
        return Fraction(1)
    most = min(experts.servers_per_token, domains_of_each(traffic.group, domain, gpus) or traffic.group.size)
    return min(Fraction(1), Fraction(most, experts.top_k))


def _tokens(model: Model, plan: Plan) -> Fraction:
    """Tokens that a GPU holds of a micro-batch: b s / c."""
    return Fraction(plan.micro_batch * model.architecture.sequence, plan.context)


def _passes(model: Model, plan: Plan) -> int:
    """Passes through every layer: forward and backward, forward again with full recomputation."""
    if model.task == "inference":
        return 1
    return 3 if plan.recomputation == "full" else 2


def _layers(model: Model, ranks: Ranks) -> Fraction:
    """Layers that a GPU works through in a step, micro-batch by micro-batch: m l / p."""
    return micro_batches(ranks.plan, ranks.data) * Fraction(model.architecture.layers, ranks.plan.pipeline)


def _tensor(model: Model, ranks: Ranks) -> Iterator[Traffic]:
    """Tensor: 2 all-reduces of B b s h / c bytes in each layer and pass, 1 where experts are whole.

    Forward and backward that is 8 b s h (t-1)/t numbers a layer and micro-batch. Sequence parallelism makes each an
    all-gather and a reduce-scatter of the same bytes. Source: Narayanan et al. 2021, section 3.2; Korthikanti et al.
    2022, section 4.2.2.
    """
    plan, bytes_each = ranks.plan, exact(model.precision.activation_bytes)
    message = bytes_each * _tokens(model, plan) * model.architecture.hidden
    whole = Fraction(expert_layers(model.architecture), model.architecture.layers) if plan.expert_ways == 1 else 0
    calls = (2 - whole) * _passes(model, plan) * _layers(model, ranks)
    yield Traffic("tensor", "all-reduce", ranks.group("tensor"), message, calls)


def _context(model: Model, ranks: Ranks) -> Iterator[Traffic]:
    """Context: keys and values of the whole sequence gathered in each layer and pass, their gradients scattered back.

    B b s kv / t bytes, with kv numbers a token. Source: Llama 3 (arXiv 2407.21783), section 3.3.2.
    """
    plan, architecture = ranks.plan, model.architecture
    shared = 1 if architecture.latent is not None else plan.tensor
    message = (
        exact(model.precision.activation_bytes)
        * plan.micro_batch
        * architecture.sequence
        * Fraction(kv_width(architecture), shared)
    )
    layers = _layers(model, ranks)
    yield Traffic("context", "all-gather", ranks.group("context"), message, _passes(model, plan) * layers)
    if model.task == "training":
        yield Traffic("context", "reduce-scatter", ranks.group("context"), message, layers)


def _expert(model: Model, ranks: Ranks) -> Iterator[Traffic]:
    """Expert: 2 all-to-alls (dispatch, combine) in each layer with experts and pass, of B k b s h / (c t) bytes.

    k: experts a token takes; bytes are those of the GPU whose experts get most, where they do not get even parts.
    Between domains a token is sent at most once to each of its ``servers_per_token``. Source:
    Lepikhin et al. 2020 (GShard), section 3.2; DeepSeek-V3 (arXiv 2412.19437), section 3.2.2.
    """
    plan, architecture = ranks.plan, model.architecture
    if architecture.experts is None:
        return
    tokens = _tokens(model, plan) / plan.tensor
    message = exact(model.precision.activation_bytes) * tokens * architecture.hidden * architecture.experts.top_k
    message /= exact(architecture.experts.balance or 1)
    calls = (
        2
        * _passes(model, plan)
        * micro_batches(plan, ranks.data)
        * Fraction(expert_layers(architecture), plan.pipeline)
    )
    yield Traffic("expert", "all-to-all", ranks.group("expert"), message, calls)


def _pipeline(model: Model, ranks: Ranks) -> Iterator[Traffic]:
    """Pipeline: B b s h / (c t) bytes to the next stage for each micro-batch, and as many back; v times if interleaved.

    The tensor ranks of a stage send a part each. Source: Narayanan et al. 2021, sections 2.2 and 4.1.
    """
    plan = ranks.plan
    message = exact(model.precision.activation_bytes) * _tokens(model, plan) * model.architecture.hidden / plan.tensor
    ways = 1 if model.task == "inference" else 2
    calls = ways * plan.virtual_stages * micro_batches(plan, ranks.data)
    yield Traffic("pipeline", "send", ranks.group("pipeline"), message, calls)


def gpu_parameters(model: Model, plan: Plan) -> dict[str, Fraction]:
    """Parameters that one GPU holds before sharding: dense ones / (t p), routed experts' by their own ways."""
    counts = parameters(model.architecture)
    dense = Fraction(counts.dense, plan.tensor * plan.pipeline)
    return {"data": dense, "expert-data": Fraction(counts.routed, plan.expert_ways * plan.pipeline * plan.expert)}


def _data(model: Model, ranks: Ranks) -> Iterator[Traffic]:
    """Data: gradients of the parameters that a GPU holds, N / (t p), over c d ranks, once a step or micro-batch.

    Stage 0: all-reduce of the gradients. 1 and 2: reduce-scatter of the gradients, all-gather of the parameters. 3: the
    parameters are gathered for the forward and for the backward pass of each micro-batch; under a pipeline once a step,
    and stay (pytorch/torchtitan, `reshard_after_forward`; Llama 3, arXiv 2407.21783, section 3.3.2). Where groups of
    ranks have all shares, these scatter and gather, and each rank then reduces its share with those of other groups.
    Muon works on whole matrices, but the embedding's and the output's: moments in shares are gathered in 16 bits (Liu
    et al. 2025, arXiv 2502.16982, section 2.3; MoonshotAI/Moonlight at abaa96ec, examples/toy_train.py). Source:
    Rajbhandari et al. 2020 (ZeRO), section 7; Zhao et al. 2023 (PyTorch FSDP), section 3.2.2; for 175 billion
    parameters on 64 GPUs a replica, 5.47 GB (Qian et al. 2024, HPN, table 3).
    """
    if model.task == "inference":
        return
    plan, formats = ranks.plan, model.precision
    repeats, batches = plan.reduces_each, micro_batches(plan, ranks.data)
    for name, held in gpu_parameters(model, plan).items():
        if not held:
            continue
        pieces = _pieces(model, ranks, name, held)
        gradients, reductions = exact(formats.gradient_bytes) * held / pieces, pieces * (batches if repeats else 1)
        if plan.zero_stage == 0:
            yield Traffic("data", "all-reduce", ranks.group(name), gradients, reductions, repeats=repeats)
            continue
        group, elsewhere = ranks.state_groups(name)
        yield Traffic("data", "reduce-scatter", group, gradients, reductions, repeats=repeats)
        yield Traffic("data", "all-reduce", elsewhere, gradients / group.size, reductions, repeats=repeats)
        if plan.optimizer == "muon":
            ends = Fraction(end_parameters(model.architecture), plan.tensor * plan.pipeline) if name == "data" else 0
            yield Traffic("data", "all-gather", group, MOMENT_BYTES * (held - ends) / pieces, pieces, repeats=False)
        again = plan.zero_stage >= SHARED_PARAMETERS and plan.pipeline == 1
        gathers = pieces * (2 * batches if again else 1)
        yield Traffic(
            "data", "all-gather", group, exact(formats.parameter_bytes) * held / pieces, gathers, repeats=again
        )


def _pieces(model: Model, ranks: Ranks, name: str, held: Fraction) -> Fraction:
    """Messages of a GPU's gradients or parameters: layers where these are sharded, else buckets.

    Buckets serve overlap: without, there is one message. Source: Zhao et al. 2023 (PyTorch FSDP), section 4.2 (a unit a
    layer); Megatron-LM, DistributedDataParallelConfig: max(40 million, 1 million x data ranks) parameters a bucket.
    """
    plan, layers = ranks.plan, model.architecture.layers
    if plan.zero_stage >= SHARED_PARAMETERS:
        layers = layers if name == "data" else expert_layers(model.architecture)
        return max(Fraction(1), Fraction(layers, plan.pipeline))
    hides = plan.overlap.data
    if not (hides[0] if isinstance(hides, tuple) else hides):
        return Fraction(1)
    return Fraction(ceil(held / max(BUCKET_PARAMETERS, BUCKET_PARAMETERS_A_RANK * ranks.group(name).size)))
