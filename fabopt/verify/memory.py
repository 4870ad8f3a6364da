"""A GPU's memory counted again: tensors of the fullest stage one by one, with the groups that share them.

Sizes of the model and layers of a stage are those of ``fabopt.workload``; kept tensors, their copies and their holders
are counted here. Source: docs/workloads.md, "What fits a GPU".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fabopt.schema.model import Architecture, Plan
from fabopt.schema.prediction import MemoryUse
from fabopt.units import exact, plain_fraction
from fabopt.workload.architecture import expert_layers, head_dim, kv_width, parameters
from fabopt.workload.stages import layers_of_stage
from fabopt.workload.timing import ModelRun

GIB = 2**30
# Bytes of a parameter in the optimizer, of a number that is kept, of a score of attention; of a logit with its loss, or
# with the gradient in its place.
OPTIMIZER, NUMBER, SCORE = {"adam": 12, "muon": 8}, 2, 5
LOGIT, LEAST_LOGIT = 6, 2


class CountedMemory:
    """Bytes of a GPU. ``likely``: all that frameworks keep; else the least for the plan."""

    def __init__(self, run: ModelRun, likely: bool) -> None:
        self.run, self.likely = run, likely
        self.plan, self.sizes = run.plan, run.model.architecture
        self.trains = run.model.task == "training"
        self.layers = layers_of_stage(self.sizes.layers, self.plan)[0]
        self.tokens = Fraction(self.plan.micro_batch * self.sizes.sequence, self.plan.context)

    def bytes_by_purpose(self) -> dict[str, Fraction]:
        """Bytes by purpose: weights, gradients, optimizer, activations, KV cache; without zeros."""
        formats = self.run.model.precision
        zero = self.plan.zero_stage
        drops = zero == 3 and self.plan.pipeline == 1
        parts = {"weights": self._shared(exact(formats.parameter_bytes), drops)}
        if drops:
            gathered = sum(held for held, _ in self._held())
            parts["weights"] += exact(formats.parameter_bytes) * gathered * Fraction(2, self.sizes.layers)
        if self.trains:
            parts["gradients"] = self._shared(exact(formats.gradient_bytes), self._shares_gradients())
            parts["optimizer"] = self._shared(Fraction(OPTIMIZER[self.plan.optimizer]), zero >= 1)
            if self.plan.optimizer == "muon":  # the embedding and the output are Adam's
                ends = self._ends() * (OPTIMIZER["adam"] - OPTIMIZER["muon"]) / self.plan.tensor
                parts["optimizer"] += ends / (next(self._held())[1] if zero >= 1 else 1)
        parts["activations"] = self._activations()
        if not self.trains:
            parts["kv_cache"] = self._kept_keys()
        return {name: amount for name, amount in parts.items() if amount}

    def _ends(self) -> Fraction:
        """Parameters of the embedding and the output on the fullest stage."""
        sizes = self.sizes
        both = self.plan.pipeline == 1 and not sizes.tied_embeddings
        return Fraction(sizes.vocabulary * sizes.hidden * (2 if both else 1))

    def _held(self) -> Iterator[tuple[Fraction, int]]:
        """Parameters of the fullest stage of which a rank has a part, and the ranks with the same part."""
        plan, sizes, counts = self.plan, self.sizes, parameters(self.sizes)
        ends = sizes.vocabulary * sizes.hidden * (1 if sizes.tied_embeddings else 2)
        stage = Fraction(counts.dense - ends, sizes.layers) * min(self.layers, sizes.layers) + self._ends()
        data = plan.context * self.run.ranks.data
        groups = data // (plan.shard_group or data)
        further = Fraction(counts.further, plan.expert) if self.trains and plan.pipeline == 1 else Fraction(0)
        yield (stage + further) / plan.tensor, data // groups
        with_experts = expert_layers(sizes)
        if with_experts:
            of_layer = Fraction(counts.routed, with_experts) * min(self.layers, with_experts)
            yield of_layer / (plan.expert * plan.expert_ways), self.run.ranks.group("expert-data").size // groups

    def _shares_gradients(self) -> bool:
        """Whether ranks may drop gradients before the last micro-batch."""
        return self.plan.zero_stage in (2, 3) and self.plan.reduce_gradients != "step"

    def _shared(self, bytes_each: Fraction, is_shared: bool) -> Fraction:
        return sum((bytes_each * held / (ranks if is_shared else 1) for held, ranks in self._held()), Fraction(0))

    def _activations(self) -> Fraction:
        plan, likely = self.plan, self.likely
        layer = self.tokens * self._layer_bytes()
        fuses = not likely or plan.fuses_attention
        if not fuses and plan.recomputation == "none":
            layer += Fraction(SCORE * plan.micro_batch * self.sizes.sequence**2 * self.sizes.heads,
                              plan.tensor * plan.context)  # fmt: skip
        logits = self.tokens * Fraction((LOGIT if likely else LEAST_LOGIT) * self.sizes.vocabulary, plan.tensor)
        if not self.trains:
            return max(layer, logits)
        at_work = Fraction(0)
        if plan.recomputation == "full":
            at_work, layer = layer, self.tokens * Fraction(NUMBER * self.sizes.hidden, self._token_ways())
        stage = self.layers * layer
        first = self._in_flight() * stage + at_work
        return first + logits if plan.pipeline == 1 else max(first, stage + at_work + logits)

    def _in_flight(self) -> Fraction:
        """Micro-batches of the first stage whose gradients are outstanding."""
        plan = self.plan
        stages = Fraction(plan.pipeline)
        if self.likely and plan.virtual_stages > 1:
            stages += Fraction(plan.pipeline - 1, plan.virtual_stages)
        return min(stages, Fraction(max(1, plan.batch // (self.run.ranks.data * plan.micro_batch))))

    def _token_ways(self) -> int:
        """Ranks that split the tokens of norms; at the least all tensor ranks do."""
        return self.plan.tensor if self.plan.splits_sequence or not self.likely else 1

    def _layer_bytes(self) -> Fraction:
        """Bytes of a token in a layer: norms, attention, and the feed-forward part or experts."""
        sizes, likely, experts = self.sizes, self.likely, self.sizes.experts
        wide = likely or self.run.model.precision.compute in ("fp16", "bf16")
        narrow = NUMBER if wide else 1
        norms = Fraction((4 if likely else 2) * NUMBER * sizes.hidden)
        width = sizes.feed_forward
        if experts is not None:
            norms += (2 if likely else 1) * narrow * sizes.hidden * experts.top_k
            width = (experts.feed_forward or width) * (experts.top_k + experts.shared)
        inner = (1 + likely + sizes.gated) * narrow * width
        return (
            norms / self._token_ways()
            + NUMBER * _attention(sizes, self.plan, likely)
            + Fraction(inner, self.plan.tensor)
        )

    def _kept_keys(self) -> Fraction:
        """Bytes of keys and values of the prompts at work, or of all prompts of a replica."""
        plan = self.plan
        prompts = plan.micro_batch * plan.pipeline
        if self.likely:
            prompts = max(prompts, -(-plan.batch // self.run.ranks.data))
        ways = plan.context * (1 if self.sizes.latent is not None else plan.tensor)
        kept = kept_of_sequence(self.sizes, self.sizes.sequence)
        numbers = Fraction(prompts * self.layers * kept, ways * self.sizes.layers)
        return exact(self.run.model.precision.activation_bytes) * numbers


def kept_of_sequence(sizes: Architecture, length: int) -> int:
    """Numbers that all layers keep of a sequence, layer by layer: a window's first, then linear ones."""
    kept = 0
    for number in range(sizes.layers):
        near = sizes.window is not None and number < sizes.window.layers
        if sizes.linear is not None and number >= sizes.layers - sizes.linear.layers:
            state = sizes.linear
            seen = 2 * state.key_heads * state.key_dim + state.value_heads * state.value_dim
            kept += state.value_heads * state.value_dim * state.key_dim + seen * max(0, state.convolution - 1)
            continue
        tokens = min(length, sizes.window.tokens) if near and sizes.window else length
        kept += tokens * kv_width(sizes)
        kept += tokens * sizes.sparse.head_dim if sizes.sparse is not None and not near else 0
    return kept


def _attention(sizes: Architecture, plan: Plan, likely: bool) -> Fraction:
    """Queries, keys, values and the output; latent vectors of low rank are whole on every rank."""
    query = Fraction(sizes.heads * head_dim(sizes), plan.tensor)
    if sizes.latent is not None:
        return (4 * query if likely else query) + kv_width(sizes) + sizes.latent.query_rank
    return 2 * query + Fraction(kv_width(sizes), plan.tensor)


def recounted_memory(run: ModelRun) -> MemoryUse:
    """A run's memory for a design file, in GB of 2^30 bytes and hundredths."""
    least, likely = (CountedMemory(run, is_likely).bytes_by_purpose() for is_likely in (False, True))
    return MemoryUse(
        least_gb=plain_fraction(sum(least.values(), Fraction(0)) / GIB, 2),
        likely_gb=plain_fraction(sum(likely.values(), Fraction(0)) / GIB, 2),
        parts_gb={name: plain_fraction(amount / GIB, 2) for name, amount in likely.items()},
        gpu_gb=None if run.memory_gb is None else plain_fraction(run.memory_gb),
    )
