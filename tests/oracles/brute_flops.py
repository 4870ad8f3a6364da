"""Operations and kept numbers of a model by enumeration: layer by layer, token by token, pair by pair.

Nothing of the package is used. A model is the content of its file. A multiplication with its addition is 2 operations.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def kinds(sizes: Json) -> list[tuple[str, bool]]:
    """(Kind of attention, whether there are experts) of every layer, further predictions last."""
    window, linear = sizes.get("window") or {"layers": 0}, sizes.get("linear") or {"layers": 0}
    experts = sizes.get("experts")
    known = []
    for number in range(sizes["layers"]):
        kind = "full"
        if number < window["layers"]:
            kind = "window"
        elif number >= sizes["layers"] - linear["layers"]:
            kind = "linear"
        known.append((kind, experts is not None and number >= experts.get("dense_layers", 0)))
    return known + [("full", experts is not None)] * sizes.get("prediction_layers", 0)


def sees(sizes: Json, kind: str, token: int, other: int) -> bool:
    """Whether a token attends to another, both directions counted as published figures do."""
    if kind == "window":
        near = sizes["window"]["tokens"]
        return token // near == other // near if sizes["window"].get("chunks") else abs(token - other) < near
    return abs(token - other) < sizes["sparse"]["tokens"] if sizes.get("sparse") else True


def products(sizes: Json, kind: str, has_experts: bool) -> int:
    """Multiplications of one token with the weights of a layer."""
    hidden, heads = sizes["hidden"], sizes["heads"]
    width = heads * (sizes.get("head_dim") or hidden // heads)
    total = 0
    if kind == "linear":
        one = sizes["linear"]
        seen = 2 * one["key_heads"] * one["key_dim"] + one["value_heads"] * one["value_dim"]
        gates = one["value_heads"] * (2 if one.get("kind", "delta") == "delta" else 1)
        total += hidden * (seen + one["value_heads"] * one["value_dim"] + gates)
        total += seen * one.get("convolution", 4) + one["value_heads"] * one["value_dim"] * hidden
    elif latent := sizes.get("latent"):
        total += hidden * latent["query_rank"] + latent["query_rank"] * (width + heads * latent["rope_dim"])
        total += hidden * (latent["kv_rank"] + latent["rope_dim"]) + latent["kv_rank"] * 2 * width + width * hidden
    else:
        near = 2 * (sizes.get("kv_heads") or heads) * (width // heads)
        total += hidden * (width * (2 if sizes.get("gated_attention") else 1) + near) + width * hidden
    if kind != "linear" and (index := sizes.get("sparse")):
        source = sizes["latent"]["query_rank"] if sizes.get("latent") else hidden
        total += source * index["heads"] * index["head_dim"] + hidden * (index["head_dim"] + index["heads"])
    matrices = 3 if sizes.get("gated", True) else 2
    if not has_experts:
        return total + matrices * hidden * sizes["feed_forward"]
    experts = sizes["experts"]
    one_expert = matrices * hidden * (experts.get("feed_forward") or sizes["feed_forward"])
    total += (experts["top_k"] + experts.get("shared", 0)) * one_expert
    return total + hidden * experts["count"] + (hidden if experts.get("shared_gate") else 0)


def scores(sizes: Json, kind: str) -> int:
    """Multiplications of a layer between tokens of a sequence, or with its states."""
    tokens, heads = sizes["sequence"], sizes["heads"]
    if kind == "linear":
        one = sizes["linear"]
        each = one["value_heads"] * one["key_dim"] * one["value_dim"]
        return sum((3 if one.get("kind", "delta") == "delta" else 2) * each for _ in range(tokens))
    width = 2 * (sizes.get("head_dim") or sizes["hidden"] // heads)
    width += sizes["latent"]["rope_dim"] if sizes.get("latent") else 0
    total = 0
    for token in range(tokens):
        for other in range(tokens):
            total += heads * width if sees(sizes, kind, token, other) else 0
            if index := sizes.get("sparse"):
                total += index["heads"] * index["head_dim"]
    return total


def forward_flops(sizes: Json) -> int:
    """Operations of one sequence forward."""
    total = 0
    for kind, has_experts in kinds(sizes):
        total += sizes["sequence"] * products(sizes, kind, has_experts) + scores(sizes, kind)
    further = sizes.get("prediction_layers", 0)
    total += sizes["sequence"] * further * 2 * sizes["hidden"] ** 2
    return 2 * (total + sizes["sequence"] * (1 + further) * sizes["hidden"] * sizes["vocabulary"])


def kept(sizes: Json, tokens: int) -> int:
    """Numbers that the layers of the model keep of a sequence of so many tokens."""
    heads, total = sizes["heads"], 0
    for kind, _ in kinds(sizes)[: sizes["layers"]]:
        if kind == "linear":
            one = sizes["linear"]
            total += one["value_heads"] * one["key_dim"] * one["value_dim"]
            seen = 2 * one["key_heads"] * one["key_dim"] + one["value_heads"] * one["value_dim"]
            total += seen * max(0, one.get("convolution", 4) - 1)
            continue
        each = 2 * (sizes.get("kv_heads") or heads) * (sizes.get("head_dim") or sizes["hidden"] // heads)
        if latent := sizes.get("latent"):
            each = latent["kv_rank"] + latent["rope_dim"]
        for token in range(tokens):
            if kind == "window" and token < tokens - sizes["window"]["tokens"]:
                continue
            total += each + (sizes["sparse"]["head_dim"] if sizes.get("sparse") and kind == "full" else 0)
    return total
