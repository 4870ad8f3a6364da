"""Memory of a GPU that a plan takes: the least, and the likely one.

Bytes of activations for each token and layer follow from the inputs that the backward pass reads: inputs of norms and
of products, queries, keys, values, gates, two bytes a number. Source: Korthikanti et al. 2022 (arXiv 2205.05198),
section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fabopt.schema.model import SHARED_PARAMETERS, Architecture, Model, Optimizer, Plan
from fabopt.schema.prediction import MemoryUse
from fabopt.units import ceil_div, exact, plain_fraction
from fabopt.workload.architecture import end_parameters, expert_layers, head_dim, kept_numbers, kv_width, parameters
from fabopt.workload.ranks import Ranks, sharers_of
from fabopt.workload.stages import layers_of_stage

# Makers' gigabytes of memory are binary: an H100 of 80 GB reports 81,559 MiB.
GIB = 2**30
# Master copy and two moments in 32 bits, Muon's one, but for the embedding and the output. Source: Rajbhandari et al.
# 2020 (ZeRO), section 3.1; Liu et al. 2025 (Moonlight, arXiv 2502.16982), section 2.3.
OPTIMIZER_STATE_BYTES: Mapping[Optimizer, int] = {"adam": 12, "muon": 8}
_WIDE = 2
# A logit in 16 bits, and in 32 bits for the loss; at the least in 16 bits, whose place its gradient takes. Source: Hsu
# et al. 2024 (Liger Kernel, arXiv 2410.10989), section 3.2.
_LOGIT_BYTES, _LEAST_LOGIT_BYTES = 6, 2
# Scores of attention that is not fused: 5 bytes for each pair of tokens and head (section 4.1 of the same).
_SCORE_BYTES = 5


@dataclass(frozen=True)
class Memory:
    """Bytes of a GPU on the fullest stage."""

    weights: Fraction
    gradients: Fraction
    optimizer: Fraction
    activations: Fraction
    kv_cache: Fraction

    @property
    def total(self) -> Fraction:
        """Bytes of all parts together."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.kv_cache

    @property
    def bytes_by_purpose(self) -> Mapping[str, Fraction]:
        """Bytes by purpose: weights, gradients, optimizer, activations, KV cache; without zeros."""
        named = {
            "weights": self.weights, "gradients": self.gradients, "optimizer": self.optimizer,
            "activations": self.activations, "kv_cache": self.kv_cache,
        }  # fmt: skip
        return {name: amount for name, amount in named.items() if amount}


def least_memory(model: Model, ranks: Ranks) -> Memory:
    """The least memory of a plan: the sequence split with tensor ranks, fused attention, norms computed again."""
    plan = ranks.plan.model_copy(update={"sequence_parallel": None, "fused_attention": True})
    return _memory(model, plan, ranks.data, likely=False)


def likely_memory(model: Model, ranks: Ranks) -> Memory:
    """The memory of the plan as it is written, including all that frameworks keep by default."""
    return _memory(model, ranks.plan, ranks.data, likely=True)


def memory_use(model: Model, ranks: Ranks, gpu_gb: Fraction | None) -> MemoryUse:
    """Least and likely memory for a design file, in GB of 2^30 bytes and hundredths."""
    least, likely = least_memory(model, ranks), likely_memory(model, ranks)
    return MemoryUse(
        least_gb=_gb(least.total),
        likely_gb=_gb(likely.total),
        parts_gb={name: _gb(amount) for name, amount in likely.bytes_by_purpose.items()},
        gpu_gb=None if gpu_gb is None else plain_fraction(gpu_gb),
    )


def _gb(amount: Fraction) -> int | float:
    return plain_fraction(amount / GIB, 2)


def state_bytes(model: Model, ranks: Ranks) -> Fraction:
    """Bytes of weights, gradients and optimizer, which do not depend on recomputation."""
    return sum(_state(model, ranks.plan, ranks.data), Fraction(0))


def _memory(model: Model, plan: Plan, data: int, likely: bool) -> Memory:
    return Memory(
        *_state(model, plan, data),
        activations=_activations(model, plan, data, likely),
        kv_cache=Fraction(0) if model.task == "training" else _kv_cache(model, plan, data, likely),
    )


def _state(model: Model, plan: Plan, data: int) -> tuple[Fraction, Fraction, Fraction]:
    """Bytes of weights, gradients and the optimizer's state."""
    dense, routed = _held_parameters(model.architecture, plan)
    if model.task == "training" and plan.pipeline == 1:
        dense += Fraction(parameters(model.architecture).further, plan.tensor * plan.expert)
    sharers, copies = sharers_of(plan, data)
    formats, training = model.precision, model.task == "training"

    def kept(bytes_each: Fraction, shared: bool) -> Fraction:
        return bytes_each * (dense / sharers + routed / copies if shared else dense + routed)

    sharded = plan.zero_stage >= SHARED_PARAMETERS and plan.pipeline == 1
    weights = kept(exact(formats.parameter_bytes), sharded)
    if sharded:
        # two layers are whole at a time: that at work and the next
        weights += 2 * exact(formats.parameter_bytes) * (dense + routed) / model.architecture.layers
    if not training:
        return weights, Fraction(0), Fraction(0)
    gradients = kept(exact(formats.gradient_bytes), plan.shares_gradients)
    state = kept(Fraction(OPTIMIZER_STATE_BYTES[plan.optimizer]), plan.zero_stage > 0)
    if plan.optimizer == "muon":
        more = OPTIMIZER_STATE_BYTES["adam"] - OPTIMIZER_STATE_BYTES["muon"]
        state += more * _held_ends(model.architecture, plan) / (sharers if plan.zero_stage else 1)
    return weights, gradients, state


def _held_parameters(model: Architecture, plan: Plan) -> tuple[Fraction, Fraction]:
    """Dense and routed parameters of a GPU on the fullest stage: the stage with most layers, with an end
    of the model.
    """
    counts, (most, _) = parameters(model), layers_of_stage(model.layers, plan)
    share = Fraction(min(most, model.layers), model.layers)
    dense = (counts.dense - end_parameters(model)) * share / plan.tensor + _held_ends(model, plan)
    routed_share = Fraction(min(most, expert_layers(model)), max(1, expert_layers(model)))
    return dense, counts.routed * routed_share / (plan.expert_ways * plan.expert)


def _held_ends(model: Architecture, plan: Plan) -> Fraction:
    """Parameters of the embedding and the output on that stage, one of them where there are several."""
    stages = 1 if plan.pipeline == 1 or model.tied_embeddings else 2
    return Fraction(end_parameters(model), stages * plan.tensor)


def _activations(model: Model, plan: Plan, data: int, likely: bool) -> Fraction:
    """Bytes of activations of the micro-batches in flight on the first stage, and those of the layer at work."""
    architecture = model.architecture
    tokens = Fraction(plan.micro_batch * architecture.sequence, plan.context)
    layer = tokens * _layer_bytes(model, plan, likely)
    if likely and not plan.fuses_attention and plan.recomputation == "none":
        layer += Fraction(_SCORE_BYTES * plan.micro_batch * architecture.sequence**2 * architecture.heads,
                          plan.tensor * plan.context)  # fmt: skip
    logits = (_LOGIT_BYTES if likely else _LEAST_LOGIT_BYTES) * tokens * Fraction(architecture.vocabulary, plan.tensor)
    if model.task != "training":
        return max(layer, logits)
    most, _ = layers_of_stage(architecture.layers, plan)
    split = plan.tensor if plan.splits_sequence else 1
    kept = tokens * Fraction(_WIDE * architecture.hidden, split) if plan.recomputation == "full" else layer
    at_work = layer if plan.recomputation == "full" else Fraction(0)
    in_flight = _in_flight(plan, data, likely) * most * kept + at_work
    return max(in_flight, most * kept + at_work + logits) if plan.pipeline > 1 else in_flight + logits


def _in_flight(plan: Plan, data: int, likely: bool) -> Fraction:
    """Micro-batches that the first stage keeps: one a stage, and a little more where stages are interleaved.

    Source: Narayanan et al. 2021, section 2.2; Korthikanti et al. 2022, section 4.2.3: 1 + (p - 1) / (p v).
    """
    micro_batches = max(1, plan.batch // (data * plan.micro_batch))
    extra = Fraction(plan.pipeline - 1, plan.virtual_stages) if likely and plan.virtual_stages > 1 else Fraction(0)
    return min(Fraction(micro_batches), plan.pipeline + extra)


def _layer_bytes(model: Model, plan: Plan, likely: bool) -> Fraction:
    """Bytes of a token and layer: inputs of norms and products, queries, keys, values, gates.

    ``likely``: also the outputs of norms and of the activation function, and expanded latent vectors, all cheap to
    compute again; and inputs of 8-bit products in 16 bits. DeepSeek-V3 keeps none of them (arXiv 2412.19437, sections
    3.2.3 and 3.3.3).
    """
    architecture = model.architecture
    narrow = _WIDE if likely or model.precision.compute in ("fp16", "bf16") else 1
    whole = _WIDE * architecture.hidden * (4 if likely else 2)
    experts = architecture.experts
    if experts is not None:
        whole += narrow * architecture.hidden * experts.top_k * (2 if likely else 1)
    inner = (
        narrow
        * _feed_forward_width(architecture)
        * ((3 if likely else 2) if architecture.gated else (2 if likely else 1))
    )
    attention = _WIDE * _attention_numbers(architecture, plan, likely)
    return Fraction(whole, plan.tensor if plan.splits_sequence else 1) + attention + Fraction(inner, plan.tensor)


def _feed_forward_width(model: Architecture) -> int:
    """Width of the feed-forward part that a token passes through."""
    if model.experts is None:
        return model.feed_forward
    return (model.experts.top_k + model.experts.shared) * (model.experts.feed_forward or model.feed_forward)


def _attention_numbers(model: Architecture, plan: Plan, likely: bool) -> Fraction:
    """Numbers of a token for queries, keys and values, and the output; of latent attention the low-rank vectors, which
    no rank splits.
    """
    query, kv = Fraction(model.heads * head_dim(model), plan.tensor), kv_width(model)
    if model.latent is None:
        return 2 * query + Fraction(kv, plan.tensor)
    return query * (4 if likely else 1) + kv + model.latent.query_rank


def _kv_cache(model: Model, plan: Plan, data: int, likely: bool) -> Fraction:
    """Bytes of keys and values of the prompts that a replica works on, at the least of one micro-batch a stage."""
    architecture = model.architecture
    most, _ = layers_of_stage(architecture.layers, plan)
    at_once = plan.micro_batch * plan.pipeline
    sequences = max(at_once, ceil_div(plan.batch, data)) if likely else at_once
    numbers = Fraction(sequences * kept_numbers(architecture, architecture.sequence) * most, architecture.layers)
    shared = 1 if architecture.latent is not None else plan.tensor
    return exact(model.precision.activation_bytes) * numbers / (plan.context * shared)
