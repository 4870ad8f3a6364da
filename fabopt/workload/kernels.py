"""Kernels of a layer and the time of each: the roofline of a GPU.

A matrix product takes the time of its whole waves of tiles at the speed that large products reach, or of its bytes;
other kernels take the time of their bytes. Symbols: n tokens, h hidden, q = heads x head_dim, f feed-forward, t tensor
ways.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from fabopt.parts.lookup import Lookup
from fabopt.schema.model import Architecture, Model, Optimizer, Plan
from fabopt.schema.server import Precision
from fabopt.schema.workload import Software
from fabopt.units import ceil_div, exact
from fabopt.workload.architecture import FLOPS_PER_WEIGHT, attended, head_dim, kv_width, linear_widths, state_numbers
from fabopt.workload.gpus import Gpu

# Tiles of the output that a multiprocessor works on. Source: NVIDIA, Matrix Multiplication Background User's Guide,
# sections 3 and 4 (tile and wave quantization), whose most efficient tiles these are.
TILES = ((256, 128), (128, 256), (128, 128))
# Of the memory's bandwidth, by megabytes that a kernel moves. Source: calculon-ai/calculon, systems/h100_80g_nvl8.json
# and a100_80g.json, `mem1.MB_efficiency`.
MEMORY_SHARES = ((100, Fraction(9, 10)), (10, Fraction(3, 4)), (1, Fraction(6, 10)), (0, Fraction(3, 10)))
_MEGA = 10**6
_GIGA = 10**9
# Numbers in memory are 2 bytes; inputs of 8-bit products, 1.
WIDE_BYTES = 2
BITS: Mapping[Precision, int] = {"fp4": 4, "fp8": 8, "fp16": 16, "bf16": 16}
# Attention backward has five products where forward has two. Source: arXiv 2205.14135, section 3.
ATTENTION_BACKWARD = Fraction(5, 2)
# Bytes that pass memory for each score of attention that is not fused: written and read by softmax, mask and dropout
# with its mask (a byte). Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.1: 5 a s^2 b bytes are kept.
SCORE_BYTES = {"forward": 9, "backward": 11}
# Bytes for each logit, forward and backward, with the loss in 32 bits. Source: the same, section 4.3.
LOGIT_BYTES = 20
# Copies of the tokens that experts get, each read and written: dealt out and summed; and sorted by experts, and back,
# where a rank has several and others send to it. Backward the same. Source: NVIDIA/Megatron-LM,
# megatron/core/transformer/moe/token_dispatcher.py at d98e8a64, workflow of MoEAlltoAllTokenDispatcher.
DEALT_COPIES, SORTED_COPIES = 2, 2
# What training software runs kernel by kernel, where no fused one has it; bytes for each number, forward and backward.
# Biases of experts, of their outputs: bias times probability in 32 bits, added, joined, rounded; backward the same, and
# the sums of both gradients. Source: NVIDIA/Megatron-LM at d98e8a64, megatron/core/transformer/moe/experts.py,
# TEGroupedMLP._apply_bias.
BIAS_BYTES = (28, 40)
# Limits of gates and their inputs: each half is limited, then joined; backward two masks, and joined. Source: the same,
# megatron/core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl.
CLAMP_BYTES = (8, 15)
# Positions with a factor, beside what the fused kernel moves: products with cosine and sine, halves turned and joined.
# Source: the same, megatron/core/models/common/embeddings/rope_utils.py, apply_rotary_pos_emb with mscale.
POSITION_BYTES = (20, 22)
# In fused attention a query takes as long as if it attended to so many more tokens: the rest of tiles on the diagonal,
# kernels that begin and end. Tuned: NVIDIA/cudnn-frontend at 3929da2, benchmark/sdpa_benchmark_training/results, causal
# in bf16 from 2,048 to 32,768 tokens (h200_919_only_cudnn/llama3.1, llama3.1 and dsv3 of gb200 and gb300: 425 to 625),
# and windows of 128 on GB200 (753 and 769), GB300 (728), of 1,024 on H200 (560 and 578). Typical: FlashAttention-2 from
# 512 to 32,768 tokens, the same repository at d48a60e, artifacts/sdpa_bf16_benchmark_results_NVIDIA_GB200.csv.
QUERY_TOKENS: Mapping[Software, int] = {"tuned": 650, "typical": 400}
# Bytes of the optimizer for each parameter: gradient, master copy and two moments in 32 bits read, the last three
# written, the parameter written in 16 bits. Source: Rajbhandari et al. 2020 (ZeRO), section 3.1.
# Muon has one moment. Source: Liu et al. 2025 (Moonlight, arXiv 2502.16982), section 2.
OPTIMIZER_BYTES: Mapping[Optimizer, int] = {"adam": 30, "muon": 22}
# Operations of Muon's five iterations of Newton and Schulz, in bf16, for each parameter of a matrix and for each number
# of its short side m, at most: X X^T and its product with X take 4 m, the square of X X^T 2 m. Not for the embedding
# and the output, which Adam updates. Source: the same, section 2.1; MoonshotAI/Moonlight at abaa96ec,
# examples/toy_train.py, zeropower_via_newtonschulz5 and get_optimizer.
MUON_OPERATIONS = 5 * 6


# Formats of 16 bits; and of ``Architecture.biases``, those where every matrix has one.
WIDE: tuple[Precision, ...] = ("fp16", "bf16")
ALL_BIASES = (True, "matrices")


def fuses_all(model: Model, in_rack: bool) -> bool:
    """Whether fused kernels have biases of experts, limits of gates and positions with a factor: where a model serves,
    and in training in racks in 8 bits and less.

    Source: NVIDIA-NeMo/Megatron-Bridge at 067f987, perf_recipes/gpt_oss, whose recipes of GB200 and GB300 in MXFP8
    alone turn `use_transformer_engine_op_fuser` on.
    """
    return model.task != "training" or (in_rack and model.precision.compute not in WIDE)


@dataclass(frozen=True, eq=False)
class Roof:
    """A GPU's roofline: ``flops`` a second of the peak by precision; ``software``: of attention; ``fuses``: whether
    there are fused kernels for all that a model does (``fuses_all``).
    """

    gpu: Gpu
    flops: Mapping[Precision, Fraction]
    software: Software
    fuses: bool = True

    def peak(self, precision: Precision) -> Fraction:
        """Operations a second; of an unlisted format, in proportion to the bits of a listed one."""
        if precision in self.flops:
            return self.flops[precision]
        known, peak = next(iter(self.flops.items()))
        return peak * Fraction(BITS[known], BITS[precision])

    def product_s(self, rows: int, columns: int, depth: int, precision: Precision, count: int = 1) -> Fraction:
        """Seconds of ``count`` products of rows x depth by depth x columns, run as one."""
        tiles = min(
            ceil_div(ceil_div(rows, high) * ceil_div(columns, wide) * count, self.gpu.processors) * high * wide
            for high, wide in TILES
        )
        rate = self.peak(precision) * self.gpu.matmul[precision]
        busy = Fraction(FLOPS_PER_WEIGHT * tiles * self.gpu.processors * depth) / rate
        read = (rows + columns) * depth * (WIDE_BYTES if precision in WIDE else 1)
        return max(busy, self.memory_s(count * (read + WIDE_BYTES * rows * columns)))

    def memory_s(self, moved: Fraction | int) -> Fraction:
        """Seconds to move ``moved`` bytes through memory."""
        share = next(share for megabytes, share in MEMORY_SHARES if moved >= megabytes * _MEGA)
        return Fraction(moved) / (self.gpu.memory_gbytes_s * _GIGA * share)

    def attention_s(self, operations: Fraction, wide: Precision) -> Fraction:
        """Seconds of fused causal attention of ``operations`` operations."""
        return operations / (self.peak(wide) * self.gpu.attention[self.software])


@dataclass(frozen=True)
class Times:
    """Seconds forward and backward; backward includes recomputation."""

    forward_s: Fraction
    backward_s: Fraction

    def __add__(self, other: Times) -> Times:
        return Times(self.forward_s + other.forward_s, self.backward_s + other.backward_s)

    def times(self, share: Fraction) -> Times:
        """A share of these."""
        return Times(self.forward_s * share, self.backward_s * share)

    def over(self, training: bool) -> Fraction:
        """Seconds of a training task's passes, or of an inference task's."""
        return self.forward_s + (self.backward_s if training else 0)


_LAYERS: Lookup[Roof, tuple[Hashable, ...], Times] = Lookup()


@dataclass(frozen=True)
class LayerShape:
    """A layer on a GPU for one micro-batch; ``precision``: of its products, ``wide``: of attention and logits."""

    model: Architecture
    plan: Plan
    precision: Precision
    roof: Roof

    @property
    def wide(self) -> Precision:
        """The precision of kernels that need 16 bits: attention, router, logits."""
        return self.precision if self.precision in WIDE else "bf16"

    @property
    def tokens(self) -> int:
        """Tokens of a micro-batch on this rank, as its context group splits them."""
        return ceil_div(self.plan.micro_batch * self.model.sequence, self.plan.context)

    @property
    def query(self) -> int:
        """Width of the queries of a tensor rank."""
        return ceil_div(self.model.heads * head_dim(self.model), self.plan.tensor)

    def layer(self, experts: bool) -> Times:
        """A layer, with recomputation as the plan has it; computed once for plans of equal layers."""
        plan = self.plan
        split = plan.tensor, plan.context, plan.expert, plan.expert_ways, plan.splits_sequence
        key = self.model, self.precision, split, plan.micro_batch, plan.recomputation, plan.fuses_attention, experts
        return _LAYERS.of(self.roof, key, self._layer, experts)

    def _layer(self, experts: bool) -> Times:
        """Selective: attention between queries, keys and values runs forward again, fused or not. Source:
        NVIDIA/Megatron-LM, megatron/core/transformer/attention.py, ``checkpoint_core_attention``.
        """
        attention, scored = self._attention(), self._scored
        once = self._products(experts) + attention.times(scored) + self._elementwise(experts)
        if self.plan.recomputation == "full":
            return Times(once.forward_s, once.backward_s + once.forward_s)
        again = attention.forward_s * scored if self.plan.recomputation == "selective" else 0
        return Times(once.forward_s, once.backward_s + again)

    def logits(self) -> Times:
        """The output: h x V / t, and the loss."""
        width = ceil_div(self.model.vocabulary, self.plan.tensor)
        product = self._product(self.tokens, width, self.model.hidden, self.wide)
        loss = self.roof.memory_s(LOGIT_BYTES * self.tokens * width)
        return product + Times(loss * Fraction(3, 5), loss * Fraction(2, 5))

    def _product(self, rows: int, columns: int, depth: int, precision: Precision, count: int = 1) -> Times:
        """A product forward; backward one for the inputs and one for the weights."""
        backward = self.roof.product_s(rows, depth, columns, precision, count)
        backward += self.roof.product_s(depth, columns, rows, precision, count)
        return Times(self.roof.product_s(rows, columns, depth, precision, count), backward)

    @property
    def _scored(self) -> Fraction:
        """Share of the layers whose attention has scores; a layer is the mean of its kinds."""
        linear = self.model.linear
        return 1 - Fraction(0 if linear is None else linear.layers, self.model.layers)

    def _products(self, experts: bool) -> Times:
        scored, total = self._scored, self._timed(self._feed_forward_shapes(experts))
        total += self._timed(self._attention_shapes()).times(scored)
        return total + self._linear().times(1 - scored) if scored < 1 else total

    def _timed(self, shapes: Iterable[tuple[int, int, int, int]]) -> Times:
        total = Times(Fraction(0), Fraction(0))
        for rows, columns, depth, count in shapes:
            total += self._product(rows, columns, depth, self.precision, count)
        return total

    def _attention_shapes(self) -> Iterator[tuple[int, int, int, int]]:
        """Products of queries, keys and values; then of the output.

        Latent attention goes through its low ranks, which no rank splits.
        """
        model, latent, t = self.model, self.model.latent, self.plan.tensor
        if latent is None:
            queries = self.query * (2 if model.gated_attention else 1)
            yield self.tokens, queries + ceil_div(kv_width(model), t), model.hidden, 1
        else:
            rope = ceil_div(model.heads * latent.rope_dim, t)
            yield self.tokens, latent.query_rank + latent.kv_rank + latent.rope_dim, model.hidden, 1
            yield self.tokens, self.query + rope, latent.query_rank, 1
            yield self.tokens, 2 * self.query, latent.kv_rank, 1
        yield self.tokens, model.hidden, self.query, 1
        if model.sparse is not None:
            index, depth = model.sparse, model.hidden if latent is None else latent.query_rank
            yield self.tokens, ceil_div(index.heads * index.head_dim, t), depth, 1
            yield self.tokens, index.head_dim + index.heads, model.hidden, 1

    def _linear(self) -> Times:
        """A linear layer's projections, and its states at the speed of attention: estimated, as no run is published."""
        linear, t = self.model.linear, self.plan.tensor
        if linear is None:
            return Times(Fraction(0), Fraction(0))
        inward, out = linear_widths(linear)
        shapes = ((self.tokens, ceil_div(inward, t), self.model.hidden, 1),
                  (self.tokens, self.model.hidden, ceil_div(out, t), 1))  # fmt: skip
        operations = FLOPS_PER_WEIGHT * self.tokens * Fraction(state_numbers(linear), t)
        forward = self.roof.attention_s(operations, self.wide)
        return self._timed(shapes) + Times(forward, forward * ATTENTION_BACKWARD)

    def _feed_forward_shapes(self, experts: bool) -> Iterator[tuple[int, int, int, int]]:
        """Two products, or two for each expert of the rank: tokens are dealt evenly, but for what ``balance`` says."""
        model, routed = self.model, self.model.experts
        if not experts or routed is None:
            yield from self._two(self.tokens, model.feed_forward, model.gated, 1, self.plan.tensor)
            return
        gated = model.gated if routed.gated is None else routed.gated
        width, local = routed.feed_forward or model.feed_forward, ceil_div(routed.count, self.plan.expert)
        ways = self.plan.expert_ways
        rows = ceil(self.tokens * routed.top_k * ways / (local * self.plan.tensor * self._balance))
        yield from self._two(rows, width, gated, local, ways)
        if routed.shared:
            yield from self._two(self.tokens, routed.shared * width, gated, 1, self.plan.tensor)

    @property
    def _balance(self) -> Fraction:
        """Tokens of the experts of a GPU, of those of the fullest: 1 where each has all of them."""
        routed = self.model.experts
        return exact(routed.balance or 1) if routed is not None and self.plan.expert > 1 else Fraction(1)

    def _two(self, rows: int, width: int, gated: bool, count: int, ways: int) -> Iterator[tuple[int, int, int, int]]:
        inner = ceil_div(width, ways)
        yield rows, (2 if gated else 1) * inner, self.model.hidden, count
        yield rows, self.model.hidden, inner, count

    def _attention(self) -> Times:
        """Scores and values; fused, only the half of the pairs that a token may see, and no scores in memory.

        An index scores all pairs that a token may see.
        """
        model, plan = self.model, self.plan
        beside = 2 * QUERY_TOKENS[self.roof.software] * model.sequence if plan.fuses_attention else 0
        pairs = plan.micro_batch * (attended(model) + beside) / plan.context
        rope = 0 if model.latent is None else ceil_div(model.heads * model.latent.rope_dim, plan.tensor)
        operations = FLOPS_PER_WEIGHT * pairs * (2 * self.query + rope)
        if model.sparse is not None:
            index = Fraction(model.sparse.heads * model.sparse.head_dim, plan.tensor * plan.context)
            operations += FLOPS_PER_WEIGHT * plan.micro_batch * model.sequence**2 * index
        if plan.fuses_attention:
            forward = self.roof.attention_s(operations / 2, self.wide)
            return Times(forward, forward * ATTENTION_BACKWARD)
        scores = pairs * Fraction(model.heads, plan.tensor)
        product = operations / (self.roof.peak(self.wide) * self.roof.gpu.matmul[self.wide])
        return Times(
            product + self.roof.memory_s(scores * SCORE_BYTES["forward"]),
            2 * product + self.roof.memory_s(scores * SCORE_BYTES["backward"]),
        )

    def _elementwise(self, experts: bool) -> Times:
        """Norms and residuals (on a share of the tokens where the sequence is split), positions, activations, casts."""
        model, plan = self.model, self.plan
        split = plan.tensor if plan.splits_sequence else 1
        norms = Fraction(self.tokens * model.hidden * WIDE_BYTES, split)
        heads = self.tokens * (self.query + ceil_div(kv_width(model), plan.tensor)) * WIDE_BYTES
        forward: list[Fraction | int] = [2 * norms, 3 * norms, 2 * norms, 3 * norms, 2 * heads]
        backward: list[Fraction | int] = [5 * norms, 5 * norms, 2 * heads]
        cast = 0
        for rows, columns, depth, count in self._feed_forward_shapes(experts):
            if depth == model.hidden:
                forward.append(Fraction(rows * columns * count * WIDE_BYTES * 3, 2))
                backward.append(Fraction(rows * columns * count * WIDE_BYTES * 5, 2))
            cast += 3 * rows * depth * count
        if self.precision != self.wide:
            forward.append(cast)
            backward.append(2 * cast)
        routed = list(self._routing()) if experts else []
        forward += routed
        backward += routed
        for numbers, (ahead, back) in self._unfused(experts):
            forward.append(numbers * ahead)
            backward.append(numbers * back)
        forward_s, backward_s = (sum(map(self.roof.memory_s, moved), Fraction(0)) for moved in (forward, backward))
        return Times(forward_s, backward_s)

    def _routing(self) -> Iterator[Fraction]:
        """Bytes of the copies of tokens to experts and back; each tensor rank copies its part of the tokens."""
        routed, plan = self.model.experts, self.plan
        if routed is None:
            return
        moved = 2 * WIDE_BYTES * self.tokens * routed.top_k * self.model.hidden / (plan.tensor * self._balance)
        yield from [moved] * DEALT_COPIES
        if 1 < plan.expert < routed.count:
            yield from [moved * plan.expert_ways] * SORTED_COPIES

    def _unfused(self, experts: bool) -> Iterator[tuple[int, tuple[int, int]]]:
        """Numbers, and the bytes that each moves forward and backward, of what is not fused."""
        model = self.model
        if self.roof.fuses:
            return
        shapes = tuple(self._feed_forward_shapes(experts))
        numbers = [rows * columns * count for rows, columns, _, count in shapes]
        if model.clamped:
            yield sum(numbers[::2]), CLAMP_BYTES
        if experts and model.biases in ALL_BIASES:
            yield numbers[1], BIAS_BYTES
        if model.scaled_positions and model.latent is None:
            yield self.tokens * (self.query + ceil_div(kv_width(model), 2 * self.plan.tensor)), POSITION_BYTES
