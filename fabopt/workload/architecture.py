"""Parameters and floating-point operations of a decoder-only transformer, exactly, from its sizes.

Symbols: l layers, h hidden, s sequence, V vocabulary, q = heads x head_dim, kv = kv_heads x head_dim, f feed-forward.
Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
section 5.1 and appendix; for latent attention DeepSeek-V2 (arXiv 2405.04434), section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.schema.model import Architecture, Experts, LatentAttention, Model, Recomputation

# Of one matrix product: a multiplication and an addition an element.
FLOPS_PER_WEIGHT = 2
# Forward once; backward for the inputs and for the weights.
PASSES = {"training": 3, "inference": 1}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model. ``routed``: of all routed experts; ``active``: those that a token meets."""

    dense: int
    routed: int
    active: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.dense + self.routed


@dataclass(frozen=True)
class Flops:
    """Operations of one sequence. ``model``: what the model needs; ``hardware``: with what is computed again."""

    model: int
    hardware: int


def head_dim(one: Architecture) -> int:
    """Width of an attention head."""
    return one.head_dim if one.head_dim is not None else one.hidden // one.heads


def kv_width(one: Architecture) -> int:
    """Numbers of a token's keys and values: 2 kv, or the latent vector with its position part."""
    if one.latent is not None:
        return one.latent.kv_rank + one.latent.rope_dim
    return 2 * (one.kv_heads or one.heads) * head_dim(one)


def expert_layers(one: Architecture) -> int:
    """Layers with routed experts."""
    return 0 if one.experts is None else one.layers - one.experts.dense_layers


def parameters(one: Architecture) -> Parameters:
    """Parameters of all layers, embeddings (the output's too unless tied) and the last norm.

    A layer of the GPT kind has 12 h^2 + 13 h, so that with V h + s h this is the published
    12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), and the last norm.
    """
    norm = one.hidden * (2 if one.biases is True else 1)
    layer = _attention(one) + 2 * norm
    ends = one.vocabulary * one.hidden * (1 if one.tied_embeddings else 2)
    ends += _positions(one) * one.hidden + one.embedding_norm * norm
    dense = one.layers * layer + ends + norm
    dense += (one.layers - expert_layers(one)) * _feed_forward(one, one.feed_forward, one.gated)
    if one.experts is None:
        return Parameters(dense, 0, dense)
    expert = _expert(one, one.experts)
    router = one.experts.count * (one.hidden + (one.experts.router_bias or one.biases is True))
    dense += expert_layers(one) * (one.experts.shared * expert + router)
    routed, taken = (expert_layers(one) * count * expert for count in (one.experts.count, one.experts.top_k))
    return Parameters(dense, routed, dense + taken)


def _positions(one: Architecture) -> int:
    """Learned positions."""
    if isinstance(one.learned_positions, bool):
        return one.sequence if one.learned_positions else 0
    return one.learned_positions


def _attention(one: Architecture) -> int:
    """Weights (and biases) of queries, keys, values and the output: h (q + kv + kv) + q h, and norms of heads."""
    norms = 2 * head_dim(one) if one.query_key_norms else 0
    if one.latent is not None:
        return _latent(one, one.latent) + norms
    query = one.heads * head_dim(one)
    biases = (query + kv_width(one) if one.biases else 0) + (one.hidden if one.biases is True else 0)
    return one.hidden * (query + kv_width(one)) + query * one.hidden + biases + norms


def _latent(one: Architecture, latent: LatentAttention) -> int:
    """Weights of latent attention: down and up for queries, down and up for keys with values, and the output."""
    width = one.heads * head_dim(one)
    rope = latent.rope_dim
    queries = one.hidden * latent.query_rank + latent.query_rank * (width + one.heads * rope)
    keys = one.hidden * (latent.kv_rank + rope) + latent.kv_rank * 2 * width
    return queries + keys + width * one.hidden + latent.query_rank + latent.kv_rank


def _feed_forward(one: Architecture, width: int, gated: bool) -> int:
    """Weights of a feed-forward part: 3 h f if gated, else 2 h f, with their biases."""
    inward = 2 if gated else 1
    biases = inward * width + one.hidden if one.biases is True else 0
    return (inward + 1) * one.hidden * width + biases


def _expert(one: Architecture, experts: Experts) -> int:
    """Weights of one expert."""
    gated = one.gated if experts.gated is None else experts.gated
    return _feed_forward(one, experts.feed_forward or one.feed_forward, gated)


def flops(model: Model, recomputation: Recomputation) -> Flops:
    """Operations of one sequence over forward and backward passes.

    For the GPT kind 72 s l h^2 (1 + s/(6 h) + V/(12 l h)), and with all activations computed again the published
    96 s l h^2 (1 + s/(6 h) + V/(16 l h)). Only matrix products count; attention counts every pair of tokens.
    """
    one, passes = model.architecture, PASSES[model.task]
    layers, scores, logits = _forward(one)
    needed = passes * (layers + scores + logits)
    if model.task == "inference" or recomputation == "none":
        return Flops(needed, needed)
    return Flops(needed, needed + scores + (layers if recomputation == "full" else 0))


def _forward(one: Architecture) -> tuple[int, int, int]:
    """Operations of one sequence forward: layers' weights, attention scores (4 s^2 q a layer), logits (2 s h V)."""
    query = one.heads * head_dim(one)
    rope = one.latent.rope_dim * one.heads if one.latent is not None else 0
    scores = FLOPS_PER_WEIGHT * one.sequence**2 * (2 * query + rope) * one.layers
    logits = FLOPS_PER_WEIGHT * one.sequence * one.hidden * one.vocabulary
    return FLOPS_PER_WEIGHT * one.sequence * _weights_met(one), scores, logits


def _weights_met(one: Architecture) -> int:
    """Weights of all layers that one token is multiplied with."""
    plain = one.model_copy(update={"biases": False, "query_key_norms": False})
    latent = one.latent.query_rank + one.latent.kv_rank if one.latent is not None else 0
    weights = one.layers * (_attention(plain) - latent)
    weights += (one.layers - expert_layers(one)) * _feed_forward(plain, one.feed_forward, one.gated)
    if one.experts is not None:
        expert = _expert(plain, one.experts)
        weights += expert_layers(one) * (
            (one.experts.top_k + one.experts.shared) * expert + one.hidden * one.experts.count
        )
    return weights
