"""Computation of a step: layers dealt to the stages of a pipeline, the slowest of which sets the pace."""

from __future__ import annotations

from fractions import Fraction

from fabopt.schema.model import Model, Plan
from fabopt.schema.server import Server
from fabopt.schema.workload import Software, Workload
from fabopt.units import ceil_div, exact
from fabopt.workload.architecture import end_parameters, expert_layers, parameters
from fabopt.workload.kernels import ALL_BIASES, MUON_OPERATIONS, OPTIMIZER_BYTES, WIDE, LayerShape, Roof
from fabopt.workload.ranks import sharers_of

# Kernels of a run take so much longer than the roofline: clocks under load, gaps between kernels, operations that are
# not listed. Each is the median over the runs of tests/published/calibration.yaml, none of which is a run that
# predictions are tested on. See docs/workloads.md.
SOFTWARE_FACTORS: dict[Software, Fraction] = {"tuned": Fraction(127, 100), "typical": Fraction(111, 100)}
# How far a published step is from its prediction, either way, at most in two of three runs: see docs/workloads.md.
BANDS: dict[Software, Fraction] = {"tuned": Fraction(1, 10), "typical": Fraction(15, 100)}
EXPERTS_BAND = Fraction(1, 4)
# Of samples over so many tokens half as much again; and of short steps so many seconds: runs of MLPerf whose steps are
# under half a second, in tests/published/latest-runs.yaml.
LONG_TOKENS, LONGER_BAND, SHORT_S = 8192, Fraction(3, 2), Fraction(1, 20)
# Where the case gives the utilization: 62 published scalings of a measured run are right within 1.7 %.
MEASURED_BAND = Fraction(17, 1000)
# One server in 200 is a tenth slower, until it is found and taken out, as tuned runs do. Source: Jiang et al. 2024
# (MegaScale, NSDI), section 6.3.
SLOW_SHARE, SLOWER = Fraction(1, 200), Fraction(1, 10)
ENDS = 2
# Seconds to launch a small kernel from PyTorch: the median of the sample of NVIDIA/dgxc-benchmarking,
# microbenchmarks/cpu_overhead/README.md at c84bc9b (11 to 18 us).
LAUNCH_S = Fraction(13, 10**6)
# Kernels of a layer with experts that a host launches for each expert of a GPU: six products forward and backward, and
# in fewer than 16 bits four conversions of inputs and gradients, with their largest numbers first. Beside them, what
# the rest of the layer takes: fitted to half of the runs with experts of tests/published/further-runs.yaml, by turns.
EXPERT_LAUNCHES = {"wide": 6, "narrow": 14}
LAYER_LAUNCHES = 50
# More for each expert with biases that no fused kernel has: see ``BIAS_BYTES``; two forward, five backward.
BIAS_LAUNCHES = 7
GRAPHED = Fraction(1, 2)
# Seconds of a step in which GPUs wait for their host once, however large it is: norm of the gradients, update of the
# parameters tensor by tensor, the next batch. Tuned: timers of Megatron-LM on BERT of 24 layers: copy, check, clip and
# update (22 ms, some 5 of which the bytes take) and of the batch (5 ms): NVIDIA/nccl, issue 743, 2022-10-31. Typical:
# with their factor, the least mean error of the runs of calibration.yaml. Between what a host takes for 150 tensors in
# PyTorch where their update is fused, 43 ms, and where it is not, 138: microsoft/dion, pull request 63, 2026-04-17.
ONCE_S: dict[Software, Fraction] = {"tuned": Fraction(1, 50), "typical": Fraction(3, 40)}
_PICO = 10**12


def layers_of_stage(layers: int, plan: Plan) -> tuple[int, bool]:
    """Layers of the fullest stage, and whether the embedding and the output take the place of layers.

    Parts get layers in turn. Where the layers do not divide and the embedding and the output make up for it, each of
    these counts as a layer: 126 layers are 128 parts. Source: Llama 3 (arXiv 2407.21783), section 3.3.2.
    """
    parts = plan.pipeline * plan.virtual_stages
    if layers % parts and (layers + ENDS) % parts == 0:
        return (layers + ENDS) // plan.pipeline, True
    whole, over = divmod(layers, parts)
    return whole * plan.virtual_stages + ceil_div(over, plan.pipeline), False


def pace_s(model: Model, plan: Plan, roof: Roof) -> Fraction:
    """Seconds of the slowest stage on one micro-batch: the stage with most layers, or the output's."""
    architecture, training = model.architecture, model.task == "training"
    shape = LayerShape(architecture, plan, model.precision.compute, roof)
    routed = expert_layers(architecture)
    plain = shape.layer(experts=False).over(training)
    layer = plain if not routed else shape.layer(experts=True).over(training)
    layer = max(layer, plain) if plan.pipeline > 1 and routed < architecture.layers else layer
    most, ends_count = layers_of_stage(architecture.layers, plan)
    # layers that predict further tokens are where the output is, with one each
    further = architecture.prediction_layers if training else 0
    output = shape.logits().over(training) * (1 + further) + further * layer
    if plan.pipeline == 1:
        return routed * layer + (architecture.layers - routed) * plain + output
    if architecture.layers % (plan.pipeline * plan.virtual_stages) and not ends_count:
        return _laid_out_s(architecture.layers, plan.pipeline, layer, output)
    last = (most - ends_count) * layer + output
    return max(most * layer, last)


def _laid_out_s(layers: int, stages: int, layer: Fraction, output: Fraction) -> Fraction:
    """Seconds of the slowest stage where layers do not divide and are laid out so that the output's has fewer.

    Source: NVIDIA-NeMo/Megatron-Bridge at 067f987, set_deepseek_v3_pipeline_model_parallel_layout: of 16 stages the
    last has no layer of the model's 61, but the further prediction and the loss.
    """
    return min(
        max(ceil_div(layers - last, stages - 1) * layer, last * layer + output) for last in range(layers // stages + 1)
    )


def host_s(model: Model, plan: Plan, in_rack: bool, fuses: bool = True) -> Fraction:
    """Seconds in which GPUs wait for their host in the layers with experts of a stage, for one micro-batch.

    How many tokens an expert gets is known only on the GPU; the host waits for it and then launches the kernels of each
    expert; ``fuses``: see ``Roof``. Source: NVIDIA/Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py at
    d98e8a64. In racks part of a layer, and lately all of it, is in a CUDA graph, which needs no launches: half is
    counted, the middle. Source: NVIDIA-NeMo/Megatron-Bridge at 067f987, perf_recipes of GB200 and GB300 against those
    of B200 and H100.
    """
    routed, experts = expert_layers(model.architecture), model.architecture.experts
    if experts is None or model.task != "training":
        return Fraction(0)
    most, _ = layers_of_stage(model.architecture.layers, plan)
    of_expert = EXPERT_LAUNCHES["wide" if model.precision.compute in WIDE else "narrow"]
    of_expert += BIAS_LAUNCHES if model.architecture.biases in ALL_BIASES and not fuses else 0
    launches = LAYER_LAUNCHES + of_expert * ceil_div(experts.count, plan.expert)
    return min(most, routed) * launches * LAUNCH_S * (GRAPHED if in_rack else 1)


def optimizer_s(model: Model, plan: Plan, data: int, roof: Roof) -> Fraction:
    """Seconds of the optimizer's step over the parameters that a rank keeps."""
    if model.task != "training":
        return Fraction(0)
    counts = parameters(model.architecture)
    sharers, copies = sharers_of(plan, data) if plan.zero_stage else (1, 1)
    dense = Fraction(counts.dense, plan.tensor * plan.pipeline * sharers)
    routed = Fraction(counts.routed, plan.expert_ways * plan.pipeline * plan.expert * copies)
    moved_s = roof.memory_s(OPTIMIZER_BYTES[plan.optimizer] * (dense + routed))
    if plan.optimizer == "adam":
        return moved_s
    sizes, experts = model.architecture, model.architecture.experts
    narrow = sizes.hidden if experts is None else min(sizes.hidden, experts.feed_forward or sizes.feed_forward)
    dense -= Fraction(end_parameters(sizes), plan.tensor * plan.pipeline * sharers)
    operations = MUON_OPERATIONS * (dense * min(sizes.hidden, sizes.feed_forward) + routed * narrow)
    return moved_s + operations / (roof.peak("bf16") * roof.gpu.matmul["bf16"])


def straggling(software: Software, servers: int) -> Fraction:
    """Expected slowdown of the slowest of ``servers`` servers, as a factor; 1 for tuned runs."""
    if software == "tuned":
        return Fraction(1)
    slow = 1 - float(1 - SLOW_SHARE) ** servers
    return 1 + SLOWER * Fraction(round(slow * _PICO), _PICO)


def at_scale(wanted: Workload, server: Server, gpus: int) -> Fraction | None:
    """The utilization that a case gives, or none; measured on fewer GPUs, the slowest of more servers sets the pace.

    Source: that of ``straggling``.
    """
    if wanted.gpu_utilization is None:
        return None
    there, here = (ceil_div(some, max(1, server.gpus)) for some in (wanted.measured_gpus or gpus, gpus))
    return exact(wanted.gpu_utilization) * straggling(wanted.software, there) / straggling(wanted.software, here)


def band(model: Model, software: Software, measured: bool) -> Fraction:
    """Uncertainty of a predicted step, as a share of it, either way; ``measured``: utilization is given."""
    if measured:
        return MEASURED_BAND
    wide = EXPERTS_BAND if model.architecture.experts is not None else BANDS[software]
    return wide * (LONGER_BAND if model.architecture.sequence > LONG_TOKENS else 1)


def slow_end_s(step_s: Fraction, off: Fraction) -> Fraction:
    """Seconds at the slow end of the band ``off`` around a step; of a short step, what it takes once decides."""
    return step_s + max(step_s * off, Fraction(0) if off == MEASURED_BAND else SHORT_S)


def whole_ps(seconds: Fraction) -> Fraction:
    """Seconds in whole picoseconds, so that sums stay short."""
    return Fraction(round(seconds * _PICO), _PICO)
