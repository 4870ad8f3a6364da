"""Kernels of a layer, the stages of a pipeline, and what software and stragglers add: each against a sum by hand."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import Any

import pytest

from fabopt.schema.model import Architecture, Experts, LatentAttention, Plan, Window
from fabopt.schema.server import Server
from fabopt.schema.workload import Software
from fabopt.workload.gpus import GPUS, gpu_of
from fabopt.workload.kernels import BIAS_BYTES, CLAMP_BYTES, POSITION_BYTES, LayerShape, Roof, fuses_all
from fabopt.workload.stages import host_s, layers_of_stage, straggling
from tests.samples.workload_samples import A100, H100, MIDDLE, TINY, middle_model, on

ROOF = Roof(GPUS["H100"], {"bf16": Fraction(989_400) * 10**9, "fp8": Fraction(1_978_900) * 10**9}, "tuned")


def shape(model: Architecture = MIDDLE, precision: Any = "bf16", roof: Roof = ROOF, **plan: Any) -> LayerShape:
    return LayerShape(model, Plan(**{"batch": 64, **plan}), precision, roof)


def test_a_product_takes_whole_waves_of_tiles() -> None:
    """By hand: 132 tiles of 256 x 128 are one wave of 132 processors; one more column of tiles begins another."""
    full = ROOF.product_s(256 * 12, 128 * 11, 8192, "bf16")
    assert full == Fraction(2 * 256 * 12 * 128 * 11 * 8192) / (Fraction(989_400) * 10**9 * Fraction("0.803"))
    more = ROOF.product_s(256 * 12, 128 * 12, 8192, "bf16")
    assert full < more <= 2 * full
    assert ROOF.product_s(256 * 12, 128 * 11, 8192, "fp8") < full


def test_a_thin_product_takes_the_time_of_its_bytes() -> None:
    """By hand: one token: 16384 x 8192 weights of 2 bytes are 268 MB, at nine tenths of 3,350 GB/s."""
    moved = 2 * (16384 + 1) * 8192 + 2 * 16384
    assert ROOF.product_s(1, 16384, 8192, "bf16") == Fraction(moved * 10, 3350 * 10**9 * 9)


def test_small_moves_reach_less_of_the_memory() -> None:
    times = [ROOF.memory_s(megabytes * 10**6) / megabytes for megabytes in (100, 10, 1)]
    assert times[0] < times[1] < times[2]


def test_fused_attention_counts_half_the_pairs() -> None:
    """By hand: 2,048 tokens, 4,096 wide, see 1,024 in the mean and take the time of 650 more; backward 5/2."""
    fused = shape()._attention()
    assert fused.forward_s == Fraction(4 * 2048 * (1024 + 650) * 4096) / (ROOF.flops["bf16"] * Fraction("0.66"))
    assert fused.backward_s == fused.forward_s * Fraction(5, 2)
    assert shape(fused_attention=False)._attention().forward_s > 2 * fused.forward_s


def test_recomputation_runs_forward_again() -> None:
    plain, full = shape().layer(False), shape(recomputation="full").layer(False)
    assert full.backward_s == plain.backward_s + plain.forward_s
    for fused in (True, False):
        kept, selective = (shape(fused_attention=fused, recomputation=one) for one in ("none", "selective"))
        again = kept._attention().forward_s
        assert selective.layer(False).backward_s == kept.layer(False).backward_s + again
    assert shape(recomputation="selective").layer(False) == shape(
        fused_attention=True, recomputation="selective"
    ).layer(False)


def test_eight_bits_do_not_reach_attention_or_logits() -> None:
    """Only products of weights and activations are in fp8; norms and activations pay for the conversion."""
    wide, narrow = shape(), shape(precision="fp8")
    assert narrow._products(False).forward_s < wide._products(False).forward_s
    assert narrow._attention() == wide._attention()
    assert narrow.logits() == wide.logits()
    assert narrow._elementwise(False).forward_s > wide._elementwise(False).forward_s


def test_a_peak_that_is_not_known_follows_from_the_bits() -> None:
    """A server that says fp8 only still runs attention and logits in bf16, at half of it."""
    assert Roof(ROOF.gpu, {"fp8": Fraction(1000)}, "tuned").peak("bf16") == 500
    assert ROOF.peak("fp8") == ROOF.flops["fp8"]


def test_a_split_sequence_shares_the_norms() -> None:
    split, whole = shape(tensor=8), shape(tensor=8, sequence_parallel=False)
    assert split._elementwise(False).forward_s < whole._elementwise(False).forward_s
    assert split._products(False) == whole._products(False)


def test_software_is_what_attention_runs_on() -> None:
    typical = Roof(ROOF.gpu, ROOF.flops, "typical")
    assert shape(roof=typical)._attention().forward_s > shape()._attention().forward_s


def test_experts_share_the_tokens() -> None:
    """Eight experts of which a token takes two, split two ways: as many rows as four dense products of a quarter."""
    routed = MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2)})
    shapes = list(shape(routed, expert=2)._feed_forward_shapes(True))
    assert [(rows, count) for rows, _, _, count in shapes] == [(1024, 4), (1024, 4)]


def test_tokens_are_copied_to_experts_and_back() -> None:
    """By hand: 2,048 tokens for two experts each, 4,096 wide: 67 MB are moved twice, four times if sorted."""
    routed = MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2)})
    moved = 2 * 2 * 2048 * 2 * 4096
    assert list(shape(routed)._routing()) == [moved] * 2
    assert list(shape(routed, expert=8)._routing()) == [moved] * 2
    assert list(shape(routed, expert=4)._routing()) == [moved] * 4
    assert list(shape(routed, tensor=2)._routing()) == [moved / 2] * 2
    extra = shape(routed)._elementwise(True).forward_s - shape(routed)._elementwise(False).forward_s
    assert extra > 2 * ROOF.memory_s(moved)


def test_what_is_not_fused_moves_through_memory() -> None:
    """By hand: eight experts of two a token get 4,096 rows of 2,048 tokens, whose gates are 2 x 16,384 wide; queries
    and keys are 4,096 and 1,024 wide. Nothing where kernels are fused, nothing that the model has not.
    """
    eager = Roof(ROOF.gpu, ROOF.flops, "tuned", fuses=False)
    sizes = MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2), "biases": "matrices", "clamped": True})
    sizes = sizes.model_copy(update={"scaled_positions": True, "gated": True, "kv_heads": 8, "heads": 32})
    gates, outputs = 4096 * 2 * MIDDLE.feed_forward, 4096 * 4096
    expected = {CLAMP_BYTES: gates, BIAS_BYTES: outputs, POSITION_BYTES: 2048 * (4096 + 1024)}
    assert {moved: numbers for numbers, moved in shape(sizes, roof=eager)._unfused(True)} == expected
    dense = {moved: numbers for numbers, moved in shape(sizes, roof=eager)._unfused(False)}
    assert dense == {CLAMP_BYTES: gates // 2, POSITION_BYTES: expected[POSITION_BYTES]}
    assert not list(shape(sizes)._unfused(True)) and not list(shape(MIDDLE, roof=eager)._unfused(True))
    slower = shape(sizes, roof=eager).layer(True).over(True) - shape(sizes).layer(True).over(True)
    moved = sum(numbers * sum(each) for each, numbers in expected.items())
    assert slower == Fraction(moved * 10, 3350 * 10**9 * 9)


def test_biases_of_experts_are_launched_one_by_one() -> None:
    """By hand: seven kernels more for each of four experts in eight layers, of 13 us."""
    routed = MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2), "biases": "matrices", "layers": 8})
    model = middle_model(expert=2).model_copy(update={"architecture": routed})
    more = host_s(model, model.plan, False, fuses=False) - host_s(model, model.plan, False)
    assert more == 8 * 4 * 7 * Fraction(13, 10**6)
    assert not fuses_all(model, in_rack=True) and not fuses_all(model, in_rack=False)
    narrow = model.model_copy(update={"precision": model.precision.model_copy(update={"compute": "fp8"})})
    assert fuses_all(narrow, in_rack=True) and not fuses_all(narrow, in_rack=False)
    assert fuses_all(model.model_copy(update={"task": "inference"}), in_rack=False)


def test_windows_take_the_time_of_more_tokens() -> None:
    """By hand: a query attends to 128 tokens, or to all, and takes the time of 650 more."""

    def seconds(tokens: int, layers: int = 1) -> Fraction:
        window = Window(layers=layers, tokens=tokens)
        return shape(MIDDLE.model_copy(update={"window": window, "layers": 2}))._attention().forward_s

    near, full = seconds(128), shape(MIDDLE)._attention().forward_s
    band, more = 2048 * (2 * 128 - 1) - 128 * 127, 2 * 650 * 2048
    assert seconds(128, layers=2) / full == Fraction(band + more, 2048**2 + more)
    assert near == (full + seconds(128, layers=2)) / 2
    assert seconds(128, layers=2) < seconds(2000, layers=2) < seconds(2048, layers=2) == full
    chunked = MIDDLE.model_copy(update={"window": Window(layers=2, tokens=1024, chunks=True), "layers": 2})
    assert shape(chunked)._attention().forward_s / full == Fraction(2048**2 // 2 + more, 2048**2 + more)


# Tflop/s of causal attention in bf16, forward and backward, by tokens. Source: NVIDIA/cudnn-frontend at 3929da2,
# benchmark/sdpa_benchmark_training/results, and of FlashAttention-2 on a GB200 at d48a60e, artifacts.
ATTENTION: dict[tuple[str, Software], dict[int, tuple[int, int]]] = {
    ("H200", "tuned"): {2048: (484, 370), 4096: (591, 474), 8192: (644, 541), 16384: (673, 579), 32768: (688, 581)},
    ("GB200", "tuned"): {2048: (1097, 885), 4096: (1408, 1148), 8192: (1574, 1332), 16384: (1708, 1328)},
    ("GB200", "typical"): {2048: (336, 268), 4096: (387, 311), 8192: (414, 338), 16384: (430, 352), 32768: (438, 360)},
}


@pytest.mark.parametrize(("gpu", "software"), ATTENTION)
def test_attention_over_few_tokens_is_as_slow_as_measured(gpu: str, software: Software) -> None:
    """Within a twelfth with the makers' kernels. A GPU of 2024 or later has more peak than FlashAttention-2 can use, so
    that there only the proportions are compared.
    """
    peak = Fraction(2500 if gpu == "GB200" else 989) * 10**12
    roof, ratios = Roof(GPUS[gpu], {"bf16": peak}, software), []
    for tokens, (forward, backward) in ATTENTION[gpu, software].items():
        found = shape(MIDDLE.model_copy(update={"sequence": tokens}), roof=roof)._attention()
        operations = 2 * tokens**2 * 4096
        measured = operations / (forward * 10**12) + operations * 5 / 2 / (backward * 10**12)
        ratios.append(float(found.over(True)) / measured)
    middle = median(ratios) if software == "typical" else 1
    assert all(abs(ratio / middle - 1) < 1 / 12 for ratio in ratios), ratios


def test_latent_attention_multiplies_low_ranks() -> None:
    latent = MIDDLE.model_copy(update={"latent": LatentAttention(query_rank=512, kv_rank=256, rope_dim=64)})
    shapes = list(shape(latent)._attention_shapes())
    assert shapes[0] == (2048, 512 + 256 + 64, 4096, 1)
    assert [depth for _, _, depth, _ in shapes] == [4096, 512, 256, 4096]


@pytest.mark.parametrize(
    ("layers", "pipeline", "virtual", "expected"),
    [
        (80, 4, 5, (20, False)),
        (126, 16, 8, (8, True)),  # 128 parts of one layer, the embedding and the output among them
        (61, 16, 1, (4, False)),  # 13 stages of four layers, three of three
        (10, 4, 2, (3, False)),  # eight parts, two of them of two layers, on different stages
    ],
)
def test_the_longest_stage(layers: int, pipeline: int, virtual: int, expected: tuple[int, bool]) -> None:
    assert layers_of_stage(layers, Plan(batch=1, pipeline=pipeline, virtual_stages=virtual)) == expected


def test_the_slowest_stage_sets_the_pace() -> None:
    """With one layer a stage the last one has the logits besides, and that counts for every micro-batch."""
    wide = middle_model(pipeline=8).model_copy(update={"architecture": MIDDLE.model_copy(update={"vocabulary": 10**6})})
    assert on(wide, H100, 64).compute_s > 2 * on(middle_model(pipeline=8), H100, 64).compute_s


def test_stragglers_slow_typical_runs() -> None:
    """By hand: of two servers one is slow with 1 - 0.995^2 = 0.009975, a tenth of that is lost."""
    assert straggling("tuned", 1000) == 1
    assert float(straggling("typical", 2)) == pytest.approx(1.0009975)


def test_a_gpu_is_known_by_its_name_or_its_speed() -> None:
    assert gpu_of(Server(id="x", gpus=8, gpu="H200 SXM5 141 GB", gpu_peak_tflops={"bf16": 989.4})) == GPUS["H200"]
    assert gpu_of(A100) == GPUS["A100"] and gpu_of(H100) == GPUS["H100"]


def test_a_tiny_layer_is_slower_for_every_operation() -> None:
    """Waves and bytes: a 64 wide layer reaches less of the peak than a 4,096 wide one."""
    shares = []
    for model in (TINY, MIDDLE):
        operations = sum(2 * m * n * k * count for m, n, k, count in shape(model)._attention_shapes())
        taken = sum((ROOF.product_s(*one[:3], "bf16", one[3]) for one in shape(model)._attention_shapes()), Fraction(0))
        shares.append(operations / taken)
    assert 5 * shares[0] < shares[1]
