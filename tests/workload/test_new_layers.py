"""Windows, states, indexes, further predictions: operations and kept numbers equal those of all pairs of tokens."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from fabopt.schema.model import Architecture, Model, Plan
from fabopt.schema.product import Source
from fabopt.verify.memory import CountedMemory
from fabopt.workload.architecture import flops, kept_numbers, parameters
from fabopt.workload.memory import likely_memory
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import workload_of
from tests.oracles import brute_flops
from tests.workload.test_workload import H100

Json = dict[str, Any]
SOURCE = (Source(url="example.com", kind="paper"),)


def drawn(seed: int) -> Json:
    """A small architecture with some of the kinds of layers."""
    dice = Random(seed)
    layers, tokens = dice.randint(3, 6), dice.randint(5, 24)
    near = dice.randint(0, layers - 1)
    linear = dice.randint(0, layers - 1 - near)
    sizes: Json = {
        "layers": layers, "hidden": 8, "heads": 4, "kv_heads": dice.choice([1, 2, 4]), "head_dim": dice.choice([2, 3]),
        "feed_forward": 12, "vocabulary": 32, "sequence": tokens, "gated": dice.random() < 0.5,
        "prediction_layers": dice.choice([0, 1, 2]), "gated_attention": dice.random() < 0.3,
    }  # fmt: skip
    if near:
        sizes["window"] = {"layers": near, "tokens": dice.randint(1, 30), "chunks": dice.random() < 0.5}
    if linear:
        sizes["linear"] = {
            "layers": linear, "kind": dice.choice(["delta", "state-space"]), "key_heads": dice.choice([1, 2]),
            "key_dim": 3, "value_heads": 2, "value_dim": 5, "convolution": dice.choice([0, 1, 4]),
        }  # fmt: skip
    if dice.random() < 0.5:
        sizes["latent"] = {"query_rank": 6, "kv_rank": 5, "rope_dim": 2}
        del sizes["gated_attention"], sizes["kv_heads"]
    if dice.random() < 0.4:
        sizes["sparse"] = {"tokens": dice.randint(1, 30), "heads": 2, "head_dim": 3}
    if dice.random() < 0.5:
        sizes["experts"] = {
            "count": 6, "top_k": dice.choice([1, 3]), "feed_forward": 4, "shared": dice.choice([0, 1]),
            "dense_layers": dice.choice([0, 1]), "shared_gate": dice.random() < 0.5,
        }  # fmt: skip
    return sizes


def of(sizes: Json, **keys: object) -> Model:
    """A model of this shape."""
    content = {"name": "drawn", "architecture": sizes, "plan": {"batch": 8}, "sources": SOURCE, **keys}
    return Model.model_validate(content)


def test_operations_are_those_of_all_pairs() -> None:
    for seed in range(60):
        sizes = drawn(seed)
        assert flops(of(sizes, task="inference"), "none").model == brute_flops.forward_flops(sizes), seed
        assert flops(of(sizes), "none").model == 3 * brute_flops.forward_flops(sizes), seed


def test_kept_numbers_are_those_of_all_tokens() -> None:
    for seed in range(60):
        sizes = drawn(seed)
        for tokens in (1, 7, 40):
            assert kept_numbers(Architecture.model_validate(sizes), tokens) == brute_flops.kept(sizes, tokens), seed


@pytest.mark.parametrize("task", ["training", "inference"])
def test_memory_is_counted_twice(task: str) -> None:
    """By the package and by the verifier, with Muon too."""
    for seed in range(20):
        plan = {"batch": 8, "optimizer": "muon" if seed % 2 else "adam", "zero_stage": seed % 3}
        model = of(drawn(seed), task=task, plan=plan)
        run = workload_of(model, ranks_of(model, model.plan, 8), H100, None)
        assert CountedMemory(run, True).bytes_by_purpose() == likely_memory(model, run.ranks).bytes_by_purpose, seed


def test_a_window_of_the_whole_sequence_is_none() -> None:
    """As is an index that picks all; a narrow one takes fewer operations and keeps less."""
    sizes = {"layers": 2, "hidden": 8, "heads": 2, "feed_forward": 8, "vocabulary": 16, "sequence": 10}
    plain = flops(of(sizes), "none").model
    wide, narrow = ({**sizes, "window": {"layers": 1, "tokens": tokens}} for tokens in (10, 2))
    assert flops(of(wide), "none").model == plain > flops(of(narrow), "none").model
    kept = [kept_numbers(Architecture.model_validate(one), 10) for one in (sizes, wide, narrow)]
    assert kept == [2 * 10 * 16, 2 * 10 * 16, (10 + 2) * 16]


def test_muon_keeps_a_moment_less_and_gathers_it() -> None:
    """8 bytes a parameter in place of 12; an all-gather of 2 bytes a parameter more where moments are in shares.

    Not of the embedding and the output, 2 x 512 x 64 numbers, which are Adam's.
    """
    sizes = {"layers": 4, "hidden": 64, "heads": 4, "feed_forward": 256, "vocabulary": 512, "sequence": 32}
    adam, muon = (of(sizes, plan={"batch": 64, "optimizer": name}) for name in ("adam", "muon"))
    runs = [workload_of(one, ranks_of(one, one.plan, 16), H100, None) for one in (adam, muon)]
    held = [likely_memory(run.model, run.ranks).optimizer for run in runs]
    number, ends = parameters(adam.architecture).total, 2 * 512 * 64
    assert held == [number * 12 / 16, ((number - ends) * 8 + ends * 12) / 16]
    sent = [sum(call.message * call.calls for call in run.traffic) for run in runs]
    assert sent[1] - sent[0] == 2 * (number - ends)
    assert flops(adam, "none") == flops(muon, "none") and Plan(batch=1).optimizer == "adam"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window": {"layers": 3, "tokens": 4}}, "3 with window = 3 layers, and the model has 2"),
        ({"max_sequence": 5}, "sequence 10 is more than max_sequence 5"),
    ],
)
def test_shapes_that_cannot_be_are_refused(change: Json, said: str) -> None:
    sizes = {"layers": 2, "hidden": 8, "heads": 2, "feed_forward": 8, "vocabulary": 16, "sequence": 10}
    with pytest.raises(ValueError, match=said):
        Architecture.model_validate({**sizes, **change})
