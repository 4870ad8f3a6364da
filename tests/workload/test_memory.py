"""Memory of a GPU: sums by hand, and that no published run is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.io.workload import read_model
from fabopt.schema.model import Experts, Model
from fabopt.schema.workload import Workload
from fabopt.verify.memory import recounted_memory
from fabopt.workload.checks import wrongs_of
from fabopt.workload.memory import GIB, least_memory, likely_memory, memory_use
from fabopt.workload.plans import plans_of
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import workload_of
from tests.published_runs import CALIBRATION, further_runs, run_of, runs
from tests.samples.workload_samples import H100, TINY, middle_model, tiny_model

GPUS = 64


def bytes_of(model: Model, likely: bool = True) -> dict[str, Any]:
    ranks = ranks_of(model, model.plan, GPUS)
    return dict((likely_memory if likely else least_memory)(model, ranks).bytes_by_purpose)


def test_weights_gradients_and_optimizer() -> None:
    """By hand: a layer has 12 h^2 and two norms of h; 4 of them, two ends of 1000 h and a norm; on 2 tensor ranks.

    2 bytes a weight, 2 a gradient, 12 of the optimizer over 32 replicas; without shares, all 12.
    """
    held = Fraction(4 * (12 * 64**2 + 2 * 64) + 2 * 1000 * 64 + 64, 2)
    parts = bytes_of(tiny_model(tensor=2))
    assert (parts["weights"], parts["gradients"], parts["optimizer"]) == (2 * held, 2 * held, 12 * held / 32)
    assert bytes_of(tiny_model(tensor=2, zero_stage=0))["optimizer"] == 12 * held
    assert bytes_of(tiny_model(tensor=2, zero_stage=2))["gradients"] == 2 * held / 32
    assert bytes_of(tiny_model(tensor=2, zero_stage=3))["weights"] == 2 * held / 32 + 2 * 2 * held / 4


def test_activations_of_a_layer() -> None:
    """By hand: 128 tokens x (4 h for norms and their outputs, q, k, v and the attention's output, 2 f) x 2 bytes.

    4 layers, and 6 bytes for each of 1,000 logits; at the least 2 h and 1 f, since the others are computed again, and 2
    bytes of logits.
    """
    logits = 6 * 128 * 1000
    likely = 128 * 2 * (4 * 64 + 4 * 64 + 2 * 256)
    least = 128 * 2 * (2 * 64 + 4 * 64 + 256)
    assert bytes_of(tiny_model())["activations"] == 4 * likely + logits
    assert bytes_of(tiny_model(), likely=False)["activations"] == 4 * least + logits / 3
    again = bytes_of(tiny_model(recomputation="full"))["activations"]
    assert again == 4 * 128 * 2 * 64 + likely + logits


def test_a_pipeline_keeps_as_many_micro_batches_as_stages() -> None:
    """By hand: 4 stages of one layer, 4 micro-batches in flight; interleaved there are 3 / 2 more."""
    layer = 128 * 2 * (4 * 64 + 4 * 64 + 2 * 256)
    assert bytes_of(tiny_model(pipeline=4, batch=128))["activations"] == 4 * layer + 0
    wide = tiny_model(pipeline=2, virtual_stages=2, batch=128)
    assert bytes_of(wide)["activations"] == (2 + Fraction(1, 2)) * 2 * layer


def test_scores_are_kept_where_attention_is_not_fused() -> None:
    """By hand: 5 bytes x 128^2 pairs x 8 heads in each of 4 layers."""
    fused, kept = (bytes_of(tiny_model(fused_attention=share))["activations"] for share in (True, False))
    assert kept - fused == 4 * 5 * 128**2 * 8
    assert bytes_of(tiny_model(fused_attention=False), likely=False) == bytes_of(tiny_model(), likely=False)


def test_experts_are_held_by_their_own_ranks() -> None:
    """By hand: 8 experts of 2 h f in each of 4 layers over 8 ranks; their optimizer over 64 / 8 copies."""
    routed = tiny_model(expert=8).model_copy(
        update={"architecture": TINY.model_copy(update={"experts": Experts(count=8, top_k=2)})}
    )
    alone = routed.model_copy(update={"plan": routed.plan.model_copy(update={"expert": 1})})
    experts = 4 * 8 * 2 * 64 * 256
    assert bytes_of(alone)["weights"] - bytes_of(routed)["weights"] == 2 * experts * Fraction(7, 8)
    assert bytes_of(alone)["optimizer"] == bytes_of(routed)["optimizer"]


def test_inference_keeps_keys_and_values() -> None:
    """By hand: one prompt of 128 tokens, 4 layers, 2 x 64 numbers of 2 bytes; no gradients."""
    model = tiny_model().model_copy(update={"task": "inference"})
    parts = bytes_of(model)
    assert parts["kv_cache"] == 128 * 4 * 2 * 64 * 2
    assert "gradients" not in parts and "optimizer" not in parts


def test_no_published_run_is_refused() -> None:
    """All ran on GPUs of 80 GB."""
    for run in (*runs(), *(run_of(row, CALIBRATION["architectures"]) for row in CALIBRATION["cases"])):
        assert least_memory(run.work.model, run.work.ranks).total <= 80 * GIB, run.name


@pytest.mark.long
def test_no_further_run_is_refused() -> None:
    """Nor those on other GPUs, the tightest of which keeps 178 of 186 GB at the least."""
    for run in further_runs():
        room = GIB * (run.work.memory_gb or 80)
        assert least_memory(run.work.model, run.work.ranks).total <= room, run.name


def test_what_does_not_fit_is_refused_with_the_sum_and_a_plan_that_fits() -> None:
    server = H100.model_copy(update={"gpu_memory_gb": 8.0})
    model = middle_model(zero_stage=0)
    wrong = wrongs_of(Workload(model=model, max_exposed_communication=1), model, server, GPUS)
    assert [one.path for one in wrong] == ["plan"]
    assert "weights + " in wrong[0].problem and wrong[0].problem.endswith("GB, and has 8 GB")
    assert wrong[0].allowed.startswith("what fits: plan: {")
    near = model.plan.model_copy(update={"tensor": 8})
    assert least_memory(model, ranks_of(model, near, GPUS)).total <= 8 * GIB
    tiny = H100.model_copy(update={"gpu_memory_gb": 0.001})
    none = wrongs_of(Workload(model=model, max_exposed_communication=1), model, tiny, GPUS)
    assert none[0].allowed == "what fits: no plan of this model on so many GPUs"


def test_every_server_with_gpus_says_its_memory() -> None:
    """With its source, as every figure of the catalog."""
    servers = [one for one in read_catalog(["reference"], Path(), "library", "").servers if one.gpus]
    assert servers and all(one.gpu_memory_gb for one in servers)
    assert all(one.provenance["gpu_memory_gb"].url for one in servers)


def test_a_plan_that_is_tight_is_a_note_only() -> None:
    """Llama 3 405B without recomputation: least below 80 GB, likely above."""
    model = read_model("llama3-405b", Path())
    ranks = ranks_of(model, model.plan, 8192)
    assert least_memory(model, ranks).total < 80 * GIB < likely_memory(model, ranks).total


@pytest.mark.parametrize("name", names("models"))
def test_the_verifier_counts_the_same_by_itself(name: str) -> None:
    """Every hundredth plan or so of the shipped models on 512 GPUs, and all kinds of sharing and keeping."""
    model, server = (
        read_model(name, Path()),
        H100.model_copy(update={"gpu_peak_tflops": {"bf16": 1, "fp8": 1, "fp16": 1}}),
    )
    plans = list(plans_of(model, model.plan, server, 512))[::97]
    assert plans
    for plan in plans:
        for zero, fused, split in ((plan.zero_stage, None, None), (0, False, False), (2, True, True)):
            update = {"zero_stage": zero, "fused_attention": fused, "sequence_parallel": split}
            run = workload_of(model, ranks_of(model, plan.model_copy(update=update), 512), server, None)
            assert recounted_memory(run) == memory_use(model, run.ranks, run.memory_gb)
