"""Performance of GPUs: measured shares of their peaks, and data-sheet values beside the peaks.

``matmul``: share of the dense peak that the best of many matrix products reaches. Source of the shares: the table of
maximum achievable matmul FLOPS, stas00/ml-engineering, compute/accelerator/README.md at 744d01e (A100 0.869, H100
0.803, GH200 0.838, B200 0.776, B300 0.786, GB200 0.729, MI300X 0.514, MI325X 0.604, MI355X 0.68 in bf16; H100 0.709,
H200 0.734, GH200 0.776, B200 0.763, B300 0.745, GB200 0.723 in fp8). Rows that the table lacks are taken from the
nearest row. ``attention``: share of the bf16 peak that fused causal attention nears with many tokens, forward and
backward, by software; few take longer (``fabopt.workload.kernels.QUERY_TOKENS``). Tuned: the median over 2,048 to
32,768 tokens of NVIDIA/cudnn-frontend at 3929da2, benchmark/sdpa_benchmark_training/results: 0.66 on an H200
(h200_919_only_cudnn), 0.6 on GB200 and 0.66 on GB300 (llama3.1, dsv3); on an A100, FlashAttention-2 reaches 187 of 312
Tflop/s (arXiv 2307.08691, figure 5). Typical is the software of the runs that its factor comes from
(``fabopt.workload.ranks``), whose attention ran in Triton: FlashAttention-2, which reaches 335 of 989 Tflop/s on an
H100 (arXiv 2407.08608, section 1), is 1.3 to 2.5 times as fast (arXiv 2307.08691, section 4.1); counted is the middle
of that as a ratio, 1.8. On an A100 that is a third, between the 30 to 50 % forward and 25 to 35 % backward of the first
FlashAttention (the same, section 1), than which Triton's is slightly slower (Dao-AILab/flash-attention,
flash_attn/flash_attn_triton.py). These papers end at 16,384 tokens, so that the shares are a twentieth more. Of GPUs
first sold in 2024 or later, typical software is that of 2025 on, with FlashAttention-2. Multiprocessors and memory:
NVIDIA's data sheets and white papers of Ampere, Hopper, Blackwell, Ada; AMD's of CDNA 3.
``pace``: kernels take so much longer than with the software's factor, which is of H100: clocks under load differ. Each
is the median over the dense runs on that GPU in tests/published/fitted-runs.yaml. FP4: the share with which the runs in
FP4 there come out right; the table has no FP4.
``links``: share of the data sheet's rate that the collectives' own library counts a
scale-up link with, in Gbytes/s: 20 of 25 on an A100, 20.6 of 25 on an H100, 40.1 of 50 on a B200 (NVIDIA/nccl at
5067397c, src/graph/topo.h), 48 of 64 on an MI300X (ROCm/rccl at 08814b0a, the same file). So eight H100 have 371 in a
ring; 365 to 370 are measured (issue 1455 of NVIDIA/nccl, 212 of NVIDIA/nccl-tests).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from fabopt.schema.server import Precision, Server
from fabopt.schema.workload import Software
from fabopt.units import exact
from fabopt.workload.nccl import Generation


class Gpu(NamedTuple):
    """A kind of GPU. ``processors``: multiprocessors; ``memory_gbytes_s``: bandwidth of its memory; ``links``: share of
    its scale-up links' rate.

    ``generation``: as NCCL has it; None: another maker's, whose limits are not known. ``pace``: of its kernels, as a
    factor on their time beside the software's.
    """

    processors: int
    memory_gbytes_s: int
    matmul: Mapping[Precision, Fraction]
    attention: Mapping[Software, Fraction]
    links: Fraction
    generation: Generation | None = None
    pace: Fraction = Fraction(1)


def _shares(wide: str, narrow: str, four_bits: str | None = None) -> Mapping[Precision, Fraction]:
    of_wide, of_narrow, least = Fraction(wide), Fraction(narrow), Fraction(four_bits or narrow)
    return MappingProxyType({"fp16": of_wide, "bf16": of_wide, "fp8": of_narrow, "fp4": least})


def _attention(tuned: str, typical: str) -> Mapping[Software, Fraction]:
    return MappingProxyType({"tuned": Fraction(tuned), "typical": Fraction(typical)})


_FP4 = "0.5"
_A100 = Gpu(108, 2039, _shares("0.869", "0.869"), _attention("0.65", "0.35"), Fraction(20, 25), "ampere")
_H100 = Gpu(132, 3350, _shares("0.803", "0.709"), _attention("0.66", "0.2"), Fraction("20.6") / 25, "hopper")
_HOPPER, _RECENT = _attention("0.66", "0.36"), _attention("0.6", "0.36")
_B200 = Gpu(148, 8000, _shares("0.776", "0.763", _FP4), _RECENT, Fraction("40.1") / 50, "blackwell", Fraction("1.08"))
_GB200 = _B200._replace(matmul=_shares("0.729", "0.723", _FP4), pace=Fraction("1.11"))
_B300 = _B200._replace(attention=_HOPPER, matmul=_shares("0.786", "0.745", _FP4), pace=Fraction(1))
_MI300X = Gpu(304, 5300, _shares("0.514", "0.514"), _attention("0.36", "0.36"), Fraction(48, 64))
# By the beginning of the GPU's name.
GPUS: Mapping[str, Gpu] = {
    "A100": _A100,
    "H100": _H100,
    "H200": _H100._replace(memory_gbytes_s=4800, matmul=_shares("0.803", "0.734"), attention=_HOPPER),
    "GH200": _H100._replace(memory_gbytes_s=4000, matmul=_shares("0.838", "0.776"), attention=_HOPPER),
    "B200": _B200,
    "GB200": _GB200,
    "B300": _B300,
    "GB300": _B300._replace(pace=Fraction("0.96")),
    "L40S": Gpu(142, 864, _shares("0.8", "0.709"), _attention("0.66", "0.2"), _A100.links, "ampere"),
    "MI300X": _MI300X,
    "MI325X": _MI300X._replace(memory_gbytes_s=6000, matmul=_shares("0.604", "0.604")),
    "MI355X": Gpu(256, 8000, _shares("0.68", "0.68"), _attention("0.36", "0.36"), _MI300X.links),
}
# Of a GPU that is not listed, by its bf16 peak in Tflop/s: that of the listed one whose peak is nearest.
_PEAKS: Mapping[str, Fraction] = {name: Fraction(peak) for name, peak in (("A100", 312), ("H100", 989), ("B200", 2250))}


def most_utilization(server: Server, precision: Precision) -> Fraction | None:
    """The share of the peak that the fastest kernels reach: large products, or attention; None for an unlisted GPU."""
    if _name(server) not in GPUS:
        return None
    gpu = gpu_of(server)
    return max(gpu.matmul[precision], gpu.attention["tuned"])


def gpu_of(server: Server) -> Gpu:
    """The GPU of a server by its name, or the listed one nearest in speed."""
    if _name(server) in GPUS:
        return GPUS[_name(server)]
    peaks = [exact(peak) for peak in server.gpu_peak_tflops.values()]
    return GPUS[min(_PEAKS, key=lambda name: abs(_PEAKS[name] - min(peaks, default=Fraction(0))))]


def _name(server: Server) -> str:
    return (server.gpu or "").split(" ")[0]
