"""The AI model of a workload: its architecture, its precision, and how it is split over GPUs. One file a model."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fabopt.schema.base import Strict, Text, Word, is_as, is_empty, is_open
from fabopt.schema.product import Source
from fabopt.schema.server import Precision
from fabopt.units import some

Size = Annotated[int, Field(ge=1, le=10**9)]
Ways = Annotated[int, Field(ge=1, le=10**7)]
Share = Annotated[float, Field(ge=0, le=1)]
Bytes = Annotated[float, Field(gt=0, le=16)]
Billions = Annotated[float, Field(gt=0, le=10**6)]
Dimension = Literal["tensor", "context", "pipeline", "data"]
Recomputation = Literal["none", "selective", "full"]
Optimizer = Literal["adam", "muon"]
Reduction = Literal["step", "micro_batch"]
DIMENSIONS: tuple[Dimension, ...] = ("tensor", "context", "pipeline", "data")
# ZeRO stages from which on gradients, and parameters, are in shares. Source: Rajbhandari et al. 2020, section 5.
SHARED_GRADIENTS, SHARED_PARAMETERS = 2, 3


class Experts(Strict):
    """Routed experts in the place of a layer's feed-forward part.

    Attributes:
        count: Experts of a layer.
        top_k: Experts that a token takes.
        feed_forward: Width of one expert. Absent is the architecture's.
        shared: Experts that every token takes besides.
        dense_layers: Layers without experts.
        servers_per_token: Most scale-up domains that a token is sent to (node-limited routing).
        balance: Tokens of a GPU's experts, the mean over the most of any. Absent is 1 (even), or, served, 0.7.
        gated: Whether an expert has three matrices in place of two. Absent is the architecture's.
        router_bias: Whether each expert has a number that balances their load (DeepSeek-V3).
        shared_gate: Whether a gate weighs the shared experts (Qwen3-Next).
    """

    count: Size
    top_k: Size
    feed_forward: Size | None = None
    shared: Annotated[int, Field(ge=0, le=1000)] = 0
    dense_layers: Annotated[int, Field(ge=0, le=10**4)] = 0
    servers_per_token: Size | None = None
    balance: Annotated[float | None, Field(gt=0, le=1, exclude_if=is_empty)] = None
    gated: bool | None = None
    router_bias: bool = False
    shared_gate: Annotated[bool, Field(exclude_if=is_empty)] = False

    @model_validator(mode="after")
    def _token_finds_its_experts(self) -> Self:
        if self.top_k > self.count:
            raise ValueError(f"a token takes {self.top_k} experts (top_k) of {self.count} (count)")
        return self


class LatentAttention(Strict):
    """Multi-head latent attention; queries, and keys with values, go through vectors of low rank (DeepSeek-V2).

    Attributes:
        query_rank: Rank of queries.
        kv_rank: Rank of keys and values.
        rope_dim: Dimensions of a head with rotary positions.
    """

    query_rank: Size
    kv_rank: Size
    rope_dim: Size


class Window(Strict):
    """Layers whose tokens attend to near ones only.

    Attributes:
        layers: Layers with a window.
        tokens: Tokens of the window, the token itself included.
        chunks: Whether the sequence is cut into chunks of so many tokens in place of a window that slides (Llama 4).
    """

    layers: Annotated[int, Field(ge=1, le=10**4)]
    tokens: Size
    chunks: bool = False


class LinearAttention(Strict):
    """Layers that keep a state of fixed size in place of keys and values.

    Attributes:
        layers: Layers of that kind.
        kind: Gated delta rule (`delta`, Qwen3-Next) or `state-space` (Mamba-2).
        key_heads: Heads of queries and keys; of a state space its groups.
        key_dim: Width of each; of a state space its state.
        value_heads: Heads of values, each with a state of `key_dim` x `value_dim`.
        value_dim: Width of each.
        convolution: Tokens of the convolution before it.
    """

    layers: Annotated[int, Field(ge=1, le=10**4)]
    kind: Literal["delta", "state-space"] = "delta"
    key_heads: Size
    key_dim: Size
    value_heads: Size
    value_dim: Size
    convolution: Annotated[int, Field(ge=0, le=64)] = 4


class SparseAttention(Strict):
    """An index that picks the tokens which each token attends to (DeepSeek-V3.2).

    Attributes:
        tokens: Tokens that are picked.
        heads: Heads of the index.
        head_dim: Width of each, and of the one key that they share.
    """

    tokens: Size
    heads: Size
    head_dim: Size


class Architecture(Strict):
    """Sizes of a decoder-only transformer.

    Attributes:
        layers: Number of layers.
        hidden: Width of the residual stream.
        heads: Query heads.
        kv_heads: Key and value heads. Absent is as many as `heads`.
        head_dim: Width of a head. Absent is `hidden` over `heads`.
        feed_forward: Width of the feed-forward part.
        vocabulary: Tokens of the vocabulary.
        sequence: Tokens of a training sample, or of a prompt.
        max_sequence: Most tokens of prompt and output that it is made for. Absent is not known.
        gated: Whether the feed-forward part has three matrices in place of two.
        biases: Biases of every matrix and norm, of `matrices` only, or of queries, keys and values only (`qkv`).
        learned_positions: Learned positions, as many as `sequence` or a number.
        embedding_norm: Whether a norm follows the embedding.
        query_key_norms: Whether queries and keys have norms, one for all heads of each.
        tied_embeddings: Whether the output takes the matrix of the embedding.
        experts: Routed experts, of a mixture of experts.
        latent: Multi-head latent attention.
        window: Layers whose tokens attend to near ones only.
        linear: Layers with a state in place of keys and values.
        sparse: Index that picks the tokens which are attended to.
        attention_sinks: Whether each head has a number beside its scores (GPT-OSS).
        gated_attention: Whether the output of attention has a gate, as wide as the queries (Qwen3-Next).
        clamped: Whether what gates and their inputs pass on has limits (GPT-OSS).
        scaled_positions: Whether rotary positions have a factor other than one (YaRN, GPT-OSS).
        prediction_layers: Layers that predict further tokens, trained and not counted in the model's size.
    """

    layers: Annotated[int, Field(ge=1, le=10**4)]
    hidden: Size
    heads: Size
    kv_heads: Size | None = None
    head_dim: Size | None = None
    feed_forward: Size
    vocabulary: Size
    sequence: Size
    max_sequence: Annotated[Size | None, Field(exclude_if=is_open)] = None
    gated: bool = True
    biases: bool | Literal["qkv", "matrices"] = False
    learned_positions: bool | Size = False
    embedding_norm: bool = False
    query_key_norms: bool = False
    tied_embeddings: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    window: Annotated[Window | None, Field(exclude_if=is_open)] = None
    linear: Annotated[LinearAttention | None, Field(exclude_if=is_open)] = None
    sparse: Annotated[SparseAttention | None, Field(exclude_if=is_open)] = None
    attention_sinks: Annotated[bool, Field(exclude_if=is_empty)] = False
    gated_attention: Annotated[bool, Field(exclude_if=is_empty)] = False
    clamped: Annotated[bool, Field(exclude_if=is_empty)] = False
    scaled_positions: Annotated[bool, Field(exclude_if=is_empty)] = False
    prediction_layers: Annotated[int, Field(ge=0, le=64, exclude_if=is_empty)] = 0

    @model_validator(mode="after")
    def _heads_share(self) -> Self:
        if self.head_dim is None and self.hidden % self.heads:
            raise ValueError(f"hidden {self.hidden} is no multiple of {self.heads} heads; say head_dim")
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv_heads equally")
        if self.experts is not None and (dense := self.experts.dense_layers) >= self.layers:
            raise ValueError(f"experts.dense_layers {dense} leaves none of {some(self.layers, 'layer')}")
        given = {"window": self.window, "linear": self.linear}
        taken = {name: one.layers for name, one in given.items() if one is not None}
        if sum(taken.values()) > self.layers:
            shown = " + ".join(f"{number} with {name}" for name, number in taken.items())
            raise ValueError(f"{shown} = {sum(taken.values())} layers, and the model has {self.layers}")
        if self.max_sequence is not None and self.sequence > self.max_sequence:
            raise ValueError(f"sequence {self.sequence} is more than max_sequence {self.max_sequence}")
        return self


class Formats(Strict):
    """The number format that matrices are multiplied in, and the bytes of a number that is sent.

    Attributes:
        compute: Number format of matrix products.
        parameter_bytes: Bytes of a parameter that is sent.
        gradient_bytes: Bytes of a gradient that is sent.
        activation_bytes: Bytes of an activation that is sent.
    """

    compute: Precision = "bf16"
    parameter_bytes: Bytes = 2
    gradient_bytes: Bytes = 2
    activation_bytes: Bytes = 2


def _in_order(shares: tuple[float, float]) -> tuple[float, float]:
    if shares[0] > shares[1]:
        raise ValueError(f"[least, most]; found {shares[0]:g} above {shares[1]:g}")
    return shares


Shares = Annotated[tuple[Share, Share], AfterValidator(_in_order)]
Hiding = Annotated[Share | Shares | None, Field(exclude_if=is_open)]


class Overlap(Strict):
    """The share of each communicator's time that can run behind computation: a number or a range, or the software's.

    Attributes:
        tensor: Of tensor ranks.
        context: Of context ranks.
        pipeline: Of pipeline stages.
        expert: Of expert ranks.
        data: Of data ranks.
        gather: Of gathers of sharded parameters. Absent is as `data`, if that is given.
    """

    tensor: Hiding = None
    context: Hiding = None
    pipeline: Hiding = None
    expert: Hiding = None
    data: Hiding = None
    gather: Hiding = None


def _each_once(order: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    if set(order) != set(DIMENSIONS):
        raise ValueError(f"each of {', '.join(DIMENSIONS)} once, innermost first; found {', '.join(order)}")
    return order


Order = Annotated[tuple[Dimension, ...], Field(min_length=4, max_length=4), AfterValidator(_each_once)]


class Plan(Strict):
    """How a model is split over GPUs; `tensor` x `context` x `pipeline` x `data` is their number.

    Attributes:
        tensor: Ways that each matrix is split.
        context: Ways that each sequence is split.
        pipeline: Stages that layers are split into.
        expert: Ways that experts are dealt to GPUs.
        expert_tensor: Ways that each expert is split. Absent is the tensor ways where `expert` divides `data`, else 1.
        data: Replicas of the model. Absent is what is left of the GPUs.
        batch: Sequences of a step, over all GPUs.
        micro_batch: Sequences that a replica works on at once.
        virtual_stages: Parts of a pipeline stage that are interleaved.
        optimizer: Optimizer of the training, whose states and traffic differ.
        zero_stage: What data ranks keep in shares (ZeRO); 1 optimizer states, 2 gradients too, 3 parameters too.
        shard_group: Ranks that share what `zero_stage` splits. Absent is all context and data ranks.
        reduce_gradients: Whether gradients are reduced once a step or in a micro-batch. Absent follows `zero_stage`.
        recomputation: Activations that are computed again in the backward pass.
        sequence_parallel: Whether tensor ranks split tokens of norms and residuals. Absent is yes if there are several.
        fused_attention: Whether attention scores stay out of memory. Absent is yes.
        overlap: Share of communication that can run behind computation.
        order: Order in which ranks are dealt to GPUs, innermost first.
    """

    tensor: Ways = 1
    context: Ways = 1
    pipeline: Ways = 1
    expert: Ways = 1
    expert_tensor: Ways | None = None
    data: Ways | None = None
    batch: Size
    micro_batch: Size = 1
    virtual_stages: Ways = 1
    optimizer: Annotated[Optimizer, Field(exclude_if=is_as("adam"))] = "adam"
    zero_stage: Literal[0, 1, 2, 3] = 1
    shard_group: Annotated[Ways | None, Field(exclude_if=is_open)] = None
    reduce_gradients: Annotated[Reduction | None, Field(exclude_if=is_open)] = None
    recomputation: Recomputation = "none"
    sequence_parallel: bool | None = None
    fused_attention: bool | None = None
    overlap: Overlap = Overlap()
    order: Order = DIMENSIONS

    @property
    def reduces_each(self) -> bool:
        """Whether gradients are reduced in every micro-batch."""
        wanted = self.reduce_gradients
        return self.zero_stage >= SHARED_GRADIENTS if wanted is None else wanted == "micro_batch"

    @property
    def shares_gradients(self) -> bool:
        """Whether a rank keeps a share of the gradients only."""
        return self.zero_stage >= SHARED_GRADIENTS and self.reduces_each

    @property
    def splits_sequence(self) -> bool:
        """Whether tensor ranks split the tokens of what they do not split otherwise."""
        return self.tensor > 1 and self.sequence_parallel is not False

    @property
    def fuses_attention(self) -> bool:
        """Whether scores of attention stay out of memory."""
        return self.fused_attention is not False

    @property
    def expert_ways(self) -> int:
        """Tensor ways that each expert is split; of a plan on GPUs, see ``fabopt.workload.ranks``."""
        return self.tensor if self.expert_tensor is None else self.expert_tensor


class PlanChanges(Strict):
    """What a case says otherwise of the model's plan.

    Attributes:
        auto: Whether ways, micro-batch, recomputation and sharding are picked by the predicted step; given keys stay.
    """

    like = Plan

    auto: Annotated[bool, Field(exclude_if=is_empty)] = False
    tensor: Ways | None = None
    context: Ways | None = None
    pipeline: Ways | None = None
    expert: Ways | None = None
    expert_tensor: Ways | None = None
    data: Ways | None = None
    batch: Size | None = None
    micro_batch: Size | None = None
    virtual_stages: Ways | None = None
    optimizer: Optimizer | None = None
    zero_stage: Literal[0, 1, 2, 3] | None = None
    shard_group: Annotated[Ways | None, Field(exclude_if=is_open)] = None
    reduce_gradients: Annotated[Reduction | None, Field(exclude_if=is_open)] = None
    recomputation: Recomputation | None = None
    sequence_parallel: bool | None = None
    fused_attention: bool | None = None
    overlap: Overlap | None = None
    order: Order | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Keys of a plan that are given."""
        return tuple(name for name in type(self).model_fields if name != "auto" and getattr(self, name) is not None)

    def on(self, plan: Plan) -> Plan:
        """The plan with these changes."""
        given = {name: getattr(self, name) for name in self.given}
        if self.overlap is not None:
            given["overlap"] = plan.overlap.model_copy(update=self.overlap.model_dump(exclude_none=True))
        return plan.model_copy(update=given)


class Model(Strict):
    """A whole model file.

    Attributes:
        name: Name of the model.
        description: Free text.
        task: Whether it is trained or serves (inference).
        parameters_b: Parameters as published, in billions.
        active_parameters_b: Parameters that each token takes, as published, in billions.
        architecture: Its sizes.
        precision: Number formats.
        plan: How it is split over GPUs.
        sources: Where the figures come from.
        notes: What else there is to say of it.
        confidence: How sure the figures are.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(?:[.-][a-z0-9]+)*$", max_length=100)]
    description: Text = ""
    task: Literal["training", "inference"] = "training"
    parameters_b: Billions | None = None
    active_parameters_b: Billions | None = None
    architecture: Architecture
    precision: Formats = Formats()
    plan: Plan
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    notes: Text | None = None
    confidence: Word | None = None
