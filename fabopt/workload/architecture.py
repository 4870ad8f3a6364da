"""Parameters and floating-point operations of a decoder-only transformer, exactly, from its sizes.

Symbols: l layers, h hidden, s sequence, V vocabulary, q = heads x head_dim, kv = kv_heads x head_dim, f feed-forward.
Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
section 5.1 and appendix; for latent attention DeepSeek-V2 (arXiv 2405.04434), section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fabopt.schema.model import Architecture, Experts, LatentAttention, Model, Recomputation

# Of one matrix product: a multiplication and an addition an element.
FLOPS_PER_WEIGHT = 2
# Forward once; backward for the inputs and for the weights.
PASSES = {"training": 3, "inference": 1}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model. ``routed``: of all routed experts; ``active``: those that a token passes through."""

    dense: int
    routed: int
    active: int

    @property
    def total(self) -> int:
        """Number of all parameters."""
        return self.dense + self.routed


@dataclass(frozen=True)
class Flops:
    """Operations of one sequence. ``model``: without recomputation; ``hardware``: with recomputation."""

    model: int
    hardware: int


def head_dim(model: Architecture) -> int:
    """Width of an attention head."""
    return model.head_dim if model.head_dim is not None else model.hidden // model.heads


def kv_width(model: Architecture) -> int:
    """Numbers of a token's keys and values: 2 kv, or the latent vector with its position part."""
    if model.latent is not None:
        return model.latent.kv_rank + model.latent.rope_dim
    return 2 * (model.kv_heads or model.heads) * head_dim(model)


def expert_layers(model: Architecture) -> int:
    """Layers with routed experts."""
    return 0 if model.experts is None else model.layers - model.experts.dense_layers


@lru_cache(maxsize=64)
def parameters(model: Architecture) -> Parameters:
    """Parameters of all layers, embeddings (the output's too unless tied) and the last norm.

    A layer of the GPT kind has 12 h^2 + 13 h, so that with V h + s h this is the published
    12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), and the last norm.
    """
    norm = model.hidden * (2 if model.biases is True else 1)
    layer = _attention(model) + 2 * norm
    ends = model.vocabulary * model.hidden * (1 if model.tied_embeddings else 2)
    ends += _positions(model) * model.hidden + model.embedding_norm * norm
    dense = model.layers * layer + ends + norm
    dense += (model.layers - expert_layers(model)) * _feed_forward(model, model.feed_forward, model.gated)
    if model.experts is None:
        return Parameters(dense, 0, dense)
    expert = _expert(model, model.experts)
    router = model.experts.count * (model.hidden + (model.experts.router_bias or model.biases is True))
    dense += expert_layers(model) * (model.experts.shared * expert + router)
    routed, taken = (expert_layers(model) * count * expert for count in (model.experts.count, model.experts.top_k))
    return Parameters(dense, routed, dense + taken)


def _positions(model: Architecture) -> int:
    """Learned positions."""
    if isinstance(model.learned_positions, bool):
        return model.sequence if model.learned_positions else 0
    return model.learned_positions


def _attention(model: Architecture) -> int:
    """Weights (and biases) of queries, keys, values and the output: h (q + kv + kv) + q h, and norms of heads."""
    norms = 2 * head_dim(model) if model.query_key_norms else 0
    if model.latent is not None:
        return _latent(model, model.latent) + norms
    query = model.heads * head_dim(model)
    biases = (query + kv_width(model) if model.biases else 0) + (model.hidden if model.biases is True else 0)
    return model.hidden * (query + kv_width(model)) + query * model.hidden + biases + norms


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
    biases = inward * width + model.hidden if model.biases is True else 0
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


def _forward(model: Architecture) -> tuple[int, int, int]:
    """Operations of one sequence forward: layers' weights, attention scores (4 s^2 q a layer), logits (2 s h V)."""
    query = model.heads * head_dim(model)
    rope = model.latent.rope_dim * model.heads if model.latent is not None else 0
    scores = FLOPS_PER_WEIGHT * model.sequence**2 * (2 * query + rope) * model.layers
    logits = FLOPS_PER_WEIGHT * model.sequence * model.hidden * model.vocabulary
    return FLOPS_PER_WEIGHT * model.sequence * _weights_met(model), scores, logits


def _weights_met(model: Architecture) -> int:
    """Weights of all layers that one token is multiplied with."""
    plain = model.model_copy(update={"biases": False, "query_key_norms": False})
    latent = model.latent.query_rank + model.latent.kv_rank if model.latent is not None else 0
    weights = model.layers * (_attention(plain) - latent)
    weights += (model.layers - expert_layers(model)) * _feed_forward(plain, model.feed_forward, model.gated)
    if model.experts is not None:
        expert = _expert(plain, model.experts)
        weights += expert_layers(model) * (
            (model.experts.top_k + model.experts.shared) * expert + model.hidden * model.experts.count
        )
    return weights
