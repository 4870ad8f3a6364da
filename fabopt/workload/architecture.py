"""Parameters and floating-point operations of a decoder-only transformer, exactly, from its sizes.

Symbols: l layers, h hidden, s sequence, V vocabulary, q = heads x head_dim, kv = kv_heads x head_dim, f feed-forward.
Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
section 5.1 and appendix; for latent attention DeepSeek-V2 (arXiv 2405.04434), section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from fabopt.schema.model import Architecture, Experts, LatentAttention, LinearAttention, Model, Recomputation

# Of one matrix product: a multiplication and an addition an element.
FLOPS_PER_WEIGHT = 2
# Forward once; backward for the inputs and for the weights.
PASSES = {"training": 3, "inference": 1}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model. ``routed``: of all routed experts; ``active``: those that a token passes through.

    ``further``: of layers that predict further tokens, not in the others.
    """

    dense: int
    routed: int
    active: int
    further: int = 0

    @property
    def total(self) -> int:
        """Number of all parameters."""
        return self.dense + self.routed


@dataclass(frozen=True)
class Flops:
    """Operations of one sequence. ``model``: without recomputation; ``hardware``: with recomputation."""

    model: int
    hardware: int


def end_parameters(model: Architecture) -> int:
    """Parameters of the embedding and the output, which Muon leaves to Adam."""
    return model.vocabulary * model.hidden * (1 if model.tied_embeddings else 2)


def head_dim(model: Architecture) -> int:
    """Width of an attention head."""
    return model.head_dim if model.head_dim is not None else model.hidden // model.heads


def kv_width(model: Architecture) -> int:
    """Numbers of a token's keys and values: 2 kv, or the latent vector with its position part."""
    if model.latent is not None:
        return model.latent.kv_rank + model.latent.rope_dim
    return 2 * (model.kv_heads or model.heads) * head_dim(model)


def kept_numbers(model: Architecture, tokens: int) -> int:
    """Numbers of a sequence of ``tokens`` tokens that all layers keep: keys and values, or states of linear layers.

    A layer with a window keeps the window; an index keeps a key of each token; a state is value heads x key_dim x
    value_dim, with the tokens that the convolution sees.
    """
    window, linear, sparse = model.window, model.linear, model.sparse
    full = model.layers - (window.layers if window else 0) - (linear.layers if linear else 0)
    kept = (full * tokens + (window.layers * min(tokens, window.tokens) if window else 0)) * kv_width(model)
    if linear is not None:
        state = linear.value_heads * linear.key_dim * linear.value_dim
        kept += linear.layers * (state + _convolved(linear) * max(0, linear.convolution - 1))
    return kept + (full * tokens * sparse.head_dim if sparse else 0)


def _convolved(linear: LinearAttention) -> int:
    """Numbers of a token that the convolution sees: queries, keys, values."""
    return 2 * linear.key_heads * linear.key_dim + linear.value_heads * linear.value_dim


def linear_widths(linear: LinearAttention) -> tuple[int, int]:
    """Numbers of a token that a linear layer projects its input to, and those that it projects back.

    Queries, keys, values and their gate, and for each head of values a decay, with the delta rule also its strength.
    Source: Qwen3NextGatedDeltaNet of huggingface/transformers; Dao and Gu 2024 (Mamba-2, arXiv 2405.21060), section 7.
    """
    out = linear.value_heads * linear.value_dim
    return _convolved(linear) + out + linear.value_heads * (2 if linear.kind == "delta" else 1), out


def expert_layers(model: Architecture) -> int:
    """Layers with routed experts."""
    return 0 if model.experts is None else model.layers - model.experts.dense_layers


@lru_cache(maxsize=64)
def parameters(model: Architecture) -> Parameters:
    """Parameters of all layers, embeddings (the output's too unless tied) and the last norm.

    A layer of the GPT kind has 12 h^2 + 13 h, so that with V h + s h this is the published
    12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), and the last norm. A layer that predicts a further token has the
    model's last kind of layer, two norms more, its last norm, and 2 h x h that joins its inputs (DeepSeek-V3, 2.2).
    """
    norm = model.hidden * (2 if model.biases is True else 1)
    ends = model.vocabulary * model.hidden * (1 if model.tied_embeddings else 2)
    ends += _positions(model) * model.hidden + model.embedding_norm * norm
    linear = 0 if model.linear is None else model.linear.layers
    dense = model.layers * 2 * norm + ends + norm
    dense += (model.layers - linear) * _attention(model) + linear * _linear(model)
    dense += (model.layers - expert_layers(model)) * _feed_forward(model, model.feed_forward, model.gated)
    joined = model.prediction_layers * (_attention(model) + 5 * norm + 2 * model.hidden**2)
    if model.experts is None:
        plain = _feed_forward(model, model.feed_forward, model.gated)
        return Parameters(dense, 0, dense, joined + model.prediction_layers * plain)
    expert = _expert(model, model.experts)
    router = model.experts.count * (model.hidden + (model.experts.router_bias or _is_biased(model)))
    always = model.experts.shared * expert + router + model.experts.shared_gate * model.hidden
    dense += expert_layers(model) * always
    routed, taken = (expert_layers(model) * count * expert for count in (model.experts.count, model.experts.top_k))
    further = joined + model.prediction_layers * (always + model.experts.count * expert)
    return Parameters(dense, routed, dense + taken, further)


def _is_biased(model: Architecture) -> bool:
    """Whether every matrix has a bias."""
    return model.biases in (True, "matrices")


def _positions(model: Architecture) -> int:
    """Learned positions."""
    if isinstance(model.learned_positions, bool):
        return model.sequence if model.learned_positions else 0
    return model.learned_positions


def _attention(model: Architecture) -> int:
    """Weights (and biases) of queries, keys, values and the output: h (q + kv + kv) + q h, and norms of heads.

    A gate of the output is as wide as the queries; an index has its own queries, a key with its norm, and a weight for
    each of its heads.
    """
    extra = 2 * head_dim(model) if model.query_key_norms else 0
    extra += model.heads * model.attention_sinks
    if model.sparse is not None:
        index, source = model.sparse, model.hidden if model.latent is None else model.latent.query_rank
        extra += source * index.heads * index.head_dim + model.hidden * (index.head_dim + index.heads)
        extra += 2 * index.head_dim
    if model.latent is not None:
        return _latent(model, model.latent) + extra
    query = model.heads * head_dim(model)
    inward = query * (2 if model.gated_attention else 1) + kv_width(model)
    biases = (inward if model.biases else 0) + (model.hidden if _is_biased(model) else 0)
    return model.hidden * inward + query * model.hidden + biases + extra


def _linear(model: Architecture) -> int:
    """Weights of a linear layer in the place of attention: both projections, the convolution (with its bias in a state
    space), for each head of values its decay and the bias of its step (in a state space also what it passes by), and
    a norm of a head's output, or of all of it.
    """
    if model.linear is None:
        return 0
    linear, (inward, out) = model.linear, linear_widths(model.linear)
    is_delta = linear.kind == "delta"
    weights = model.hidden * (inward + out) + _convolved(linear) * (linear.convolution + (not is_delta))
    return weights + linear.value_heads * (2 if is_delta else 3) + (linear.value_dim if is_delta else out)


def _latent(model: Architecture, latent: LatentAttention) -> int:
    """Weights of latent attention: down and up for queries, down and up for keys with values, and the output."""
    width = model.heads * head_dim(model)
    rope = latent.rope_dim
    queries = model.hidden * latent.query_rank + latent.query_rank * (width + model.heads * rope)
    keys = model.hidden * (latent.kv_rank + rope) + latent.kv_rank * 2 * width
    return queries + keys + width * model.hidden + latent.query_rank + latent.kv_rank


def _feed_forward(model: Architecture, width: int, gated: bool) -> int:
    """Weights of a feed-forward part: 3 h f if gated, else 2 h f, with their biases."""
    inward = 2 if gated else 1
    biases = inward * width + model.hidden if _is_biased(model) else 0
    return (inward + 1) * model.hidden * width + biases


def _expert(model: Architecture, experts: Experts) -> int:
    """Weights of one expert."""
    gated = model.gated if experts.gated is None else experts.gated
    return _feed_forward(model, experts.feed_forward or model.feed_forward, gated)


def flops(model: Model, recomputation: Recomputation) -> Flops:
    """Operations of one sequence over forward and backward passes.

    For the GPT kind 72 s l h^2 (1 + s/(6 h) + V/(12 l h)), and with full recomputation the published 96 s l h^2 (1 +
    s/(6 h) + V/(16 l h)). Only matrix products count; attention counts every pair of tokens.
    """
    architecture, passes = model.architecture, PASSES[model.task]
    layers, scores, logits = _forward(architecture)
    needed = passes * (layers + scores + logits)
    if model.task == "inference" or recomputation == "none":
        return Flops(needed, needed)
    return Flops(needed, needed + scores + (layers if recomputation == "full" else 0))


def attended(model: Architecture) -> Fraction:
    """Pairs of tokens of a sequence that an average layer with scores attends to, in both directions.

    All s^2; with a window of w, the band of s (2 w - 1) - w (w - 1) about the diagonal, in chunks of w, w^2 of each; an
    index that picks k of s as a window of k.
    """
    tokens, window = model.sequence, model.window
    scored = model.layers - (0 if model.linear is None else model.linear.layers)
    near = 0 if window is None else window.layers
    pairs = (scored - near) * _far(model)
    if window is not None:
        whole, rest = divmod(tokens, window.tokens)
        chunks = whole * window.tokens**2 + rest**2
        pairs += near * (chunks if window.chunks else _band(tokens, window.tokens))
    return Fraction(pairs, max(1, scored))


def _far(model: Architecture) -> int:
    """Pairs of a layer without a window."""
    return _band(model.sequence, model.sequence if model.sparse is None else model.sparse.tokens)


def _band(tokens: int, near: int) -> int:
    near = min(tokens, near)
    return tokens * (2 * near - 1) - near * (near - 1)


def _forward(model: Architecture) -> tuple[int, int, int]:
    """Operations of one sequence forward: layers' weights, attention scores (4 s^2 q a layer), logits (2 s h V).

    An index scores all pairs once for each of its heads. A state is written and read: 2 products of a key and a value
    for each of its heads, 3 with the delta rule.
    """
    query = model.heads * head_dim(model)
    rope = model.latent.rope_dim * model.heads if model.latent is not None else 0
    linear, sparse, further = model.linear, model.sparse, model.prediction_layers
    scored = model.layers - (0 if linear is None else linear.layers)
    pairs = attended(model) * scored + further * _far(model)
    operations = pairs * (2 * query + rope)
    if sparse is not None:
        operations += (scored + further) * model.sequence**2 * sparse.heads * sparse.head_dim
    if linear is not None:
        operations += linear.layers * model.sequence * state_numbers(linear)
    logits = FLOPS_PER_WEIGHT * model.sequence * model.hidden * model.vocabulary * (1 + further)
    return FLOPS_PER_WEIGHT * model.sequence * _weights_met(model), int(FLOPS_PER_WEIGHT * operations), logits


def state_numbers(linear: LinearAttention) -> int:
    """Multiplications of a token with the states of a linear layer."""
    return (3 if linear.kind == "delta" else 2) * linear.value_heads * linear.key_dim * linear.value_dim


def _weights_met(model: Architecture) -> int:
    """Weights of all layers that one token is multiplied with."""
    unbiased = {"biases": False, "query_key_norms": False, "attention_sinks": False}
    plain, further = model.model_copy(update=unbiased), model.prediction_layers
    norms = model.latent.query_rank + model.latent.kv_rank if model.latent is not None else 0
    norms += 2 * model.sparse.head_dim if model.sparse is not None else 0
    linear = 0 if model.linear is None else model.linear.layers
    weights = (model.layers - linear + further) * (_attention(plain) - norms) + 2 * further * model.hidden**2
    if model.linear is not None:
        weights += linear * (model.hidden * sum(linear_widths(model.linear)))
        weights += linear * _convolved(model.linear) * model.linear.convolution
    dense = model.layers - expert_layers(model) + (further if model.experts is None else 0)
    weights += dense * _feed_forward(plain, model.feed_forward, model.gated)
    if model.experts is not None:
        expert = _expert(plain, model.experts)
        weights += (expert_layers(model) + further) * (
            (model.experts.top_k + model.experts.shared) * expert
            + model.hidden * (model.experts.count + model.experts.shared_gate)
        )
    return weights
