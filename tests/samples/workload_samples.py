"""Small models, servers and networks for tests of workloads, and the models of published rows."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from fabopt.io.workload import read_model
from fabopt.schema.model import Architecture, Formats, Model, Plan
from fabopt.schema.product import Source
from fabopt.schema.server import ScaleUp, Server
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import FabricBandwidth, ModelRun, workload_of
from tests.paths import PUBLISHED

MEGATRON, LLAMA, HPN, NCCL, RUNS = yaml.safe_load_all((PUBLISHED / "workloads.yaml").read_text())
SOURCES = (Source(url="a test"),)
# Data sheets: 312 Tflop/s and 600 GB/s NVLink in both directions; 989.4 Tflop/s and 900 GB/s.
A100 = Server(
    id="a100", gpus=8, gpu_peak_tflops={"fp16": 312, "bf16": 312}, scale_up=ScaleUp(domain_gpus=8, gbps_per_gpu=2400)
)
H100 = Server(id="h100", gpus=8, gpu_peak_tflops={"bf16": 989.4}, scale_up=ScaleUp(domain_gpus=8, gbps_per_gpu=3600))
# A model whose numbers are easy: h 64, f 256, no biases, not gated.
TINY = Architecture(layers=4, hidden=64, heads=8, feed_forward=256, vocabulary=1000, sequence=128, gated=False)

# A model as a case writes it, whole.
MODEL: dict[str, Any] = {
    "name": "acme-8",
    "architecture": {
        "layers": 8, "hidden": 4096, "heads": 32, "feed_forward": 16384, "vocabulary": 32000, "sequence": 2048
    },
    "plan": {"batch": 1024, "overlap": {"data": 1}},
    "sources": [{"url": "a test"}],
}  # fmt: skip

# One in which bytes count for more than latency: 1.6 billion parameters in the layers.
MIDDLE = TINY.model_copy(update={"layers": 8, "hidden": 4096, "heads": 32, "feed_forward": 16384, "sequence": 2048})


def tiny_model(**plan: Any) -> Model:
    """The tiny model with a plan; a batch of 64."""
    return Model(name="tiny", architecture=TINY, plan=Plan(**{"batch": 64, **plan}), sources=SOURCES)


def middle_model(**plan: Any) -> Model:
    """The larger model with a plan; a batch of 64."""
    return tiny_model(**plan).model_copy(update={"name": "middle", "architecture": MIDDLE})


def megatron(row: dict[str, Any]) -> Model:
    """A GPT model of the Megatron-LM paper, with its plan; activations are computed again (section 5.1)."""
    architecture = Architecture(
        layers=row["layers"], hidden=row["hidden"], heads=row["heads"], feed_forward=4 * row["hidden"],
        vocabulary=51200, sequence=2048, gated=False, biases=True, learned_positions=True, tied_embeddings=True,
    )  # fmt: skip
    plan = Plan(
        tensor=row["tp"], pipeline=row["pp"], batch=row["batch"], zero_stage=0, recomputation="full",
        fused_attention=False, sequence_parallel=False,
    )  # fmt: skip
    formats = Formats(compute="fp16", gradient_bytes=4)
    return Model(name="gpt", architecture=architecture, precision=formats, plan=plan, sources=SOURCES)


def llama(row: dict[str, Any]) -> Model:
    """The 405B model of the library with the batch of a published row."""
    model = read_model(row["model"], Path())
    plan = model.plan.model_copy(update={"batch": row["batch_per_dp"] * row["dp"], "context": row["cp"]})
    return model.model_copy(update={"plan": plan})


def on(model: Model, server: Server, gpus: int, utilization: float | None = None) -> ModelRun:
    """A model on GPUs of a server."""
    return workload_of(model, ranks_of(model, model.plan, gpus), server, utilization)


def network(
    mbps: int, leaf_gpus: int = 8, pod_gpus: int = 8, leaf: int = 1, spine: int = 1, **more: Any
) -> FabricBandwidth:
    """A network of so much for each GPU, and ratios at the boundaries."""
    up = Fraction(mbps, leaf)
    return FabricBandwidth(Fraction(mbps), up, up / spine, leaf_gpus, pod_gpus, **more)


# Selene: eight 200 Gb/s HDR cards a server, a fat tree without oversubscription (Narayanan et al. 2021, section 5).
SELENE = network(200_000)
# 400 Gb/s RoCE, 16 GPUs a rack, pods of 3,072 GPUs, 1:7 above them (The Llama 3 Herd of Models, section 3.3.1).
LLAMA_CLUSTER = network(400_000, leaf_gpus=16, pod_gpus=3072, spine=7)
