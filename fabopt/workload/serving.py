"""Serving: prompts read (prefill) and tokens written one at a time (decode), and what each asks of a network.

Prefill is a step of the inference task on prompts. Decode is such a step on one token of each sequence of a batch, and
the reading of their keys and values: a layer reads the numbers that it keeps, and multiplies each query with them.
Where prefill and decode have GPUs of their own, the numbers kept of a prompt are sent between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fabopt.schema.model import Model, Overlap, Plan
from fabopt.schema.server import Server
from fabopt.units import exact
from fabopt.workload.architecture import FLOPS_PER_WEIGHT, kept_numbers, parameters
from fabopt.workload.kernels import BITS, WIDE_BYTES
from fabopt.workload.memory import GIB
from fabopt.workload.needs import Reach, tapered
from fabopt.workload.ranks import ranks_of
from fabopt.workload.stages import SOFTWARE_FACTORS
from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on, workload_of

# Of a GPU's memory that servers of models use: vLLM's `gpu_memory_utilization`, 0.9 by default.
MEMORY_SHARE = Fraction(9, 10)
_BYTES_PER_MBPS = Fraction(10**6, 8)
_BITS_PER_BYTE = 8
# Tokens of prompts that are read at once: TensorRT-LLM's `max_num_tokens`, 8,192 by default.
PREFILL_TOKENS = 8192


@dataclass(frozen=True)
class Serving:
    """A model served by ``gpus`` GPUs of a server; ``plan``: tensor and expert ways; lengths in tokens.

    ``number_bytes``: of a number that is kept.
    """

    model: Model
    server: Server
    plan: Plan
    gpus: int
    prompt: int
    output: int
    number_bytes: int = WIDE_BYTES

    @property
    def kv_bytes(self) -> Fraction:
        """Bytes that are kept of a prompt, and sent where decode has GPUs of its own."""
        return Fraction(self.number_bytes * kept_numbers(self.model.architecture, self.prompt))

    @property
    def most_sequences(self) -> int:
        """Sequences of full length that a replica's memory holds beside the weights; 0 where these do not fit."""
        if self.server.gpu_memory_gb is None:
            return 0
        sizes = self.model.architecture
        counts, width = parameters(sizes), Fraction(BITS[self.model.precision.compute], _BITS_PER_BYTE)
        held = width * (Fraction(counts.dense, self.plan.tensor) + Fraction(counts.routed, self._expert_gpus))
        left = MEMORY_SHARE * exact(self.server.gpu_memory_gb) * GIB - held
        kept = Fraction(self.number_bytes * kept_numbers(sizes, self.prompt + self.output))
        shared = 1 if sizes.latent is not None else min(self.plan.tensor, sizes.kv_heads or sizes.heads)
        return max(0, int(left * shared / kept))

    @property
    def _expert_gpus(self) -> int:
        return self.plan.expert * self.plan.expert_ways

    def prefill_s(self, network: FabricBandwidth, prompts: int = 1) -> Fraction:
        """Seconds until a replica has read ``prompts`` prompts at once, without a queue."""
        return step_on(self._run(self.prompt, prompts), network).step_s

    def decode_s(self, network: FabricBandwidth, sequences: int) -> Fraction:
        """Seconds for a token of each of a replica's sequences, at the mean length of prompt and output so far."""
        run = self._run(1, sequences)
        return step_on(run, network).step_s + self._attention_s(run, sequences)

    def tokens_per_s(self, network: FabricBandwidth, sequences: int) -> Fraction:
        """Tokens that a GPU writes in a second where the same GPUs read prompts, as many at once as `PREFILL_TOKENS`
        allow.
        """
        prompts = max(1, min(sequences, PREFILL_TOKENS // self.prompt))
        reading_s = self.prefill_s(network, prompts) * Fraction(sequences, prompts)
        writing_s = self.output * self.decode_s(network, sequences)
        return sequences * self.output / (self.plan.tensor * (reading_s + writing_s))

    def sends_s(self, network: FabricBandwidth) -> Fraction:
        """Seconds in which the kept numbers of a prompt pass a leaf's uplinks, from all GPUs of a replica at once."""
        rate = min(network.server_mbps, network.leaf_mbps, network.pod_mbps) * _BYTES_PER_MBPS
        return self.kv_bytes / (self.plan.tensor * rate)

    def _run(self, tokens: int, sequences: int) -> ModelRun:
        """A step of the inference task on ``sequences`` of ``tokens`` each a replica, of which nothing overlaps."""
        sizes = self.model.architecture.model_copy(update={"sequence": tokens})
        batch = sequences * (self.gpus // self.plan.tensor)
        changes = {"micro_batch": sequences, "batch": batch, "data": None, "overlap": Overlap(tensor=0)}
        plan = self.plan.model_copy(update=changes)
        model = self.model.model_copy(update={"architecture": sizes, "task": "inference", "plan": plan})
        return workload_of(model, ranks_of(model, plan, self.gpus), self.server, None, "tuned")

    def _attention_s(self, run: ModelRun, sequences: int) -> Fraction:
        """Seconds in which all layers read what they keep, or multiply it with the queries, whichever is longer.

        Latent attention multiplies latent vectors: kv_rank and rope_dim for a score, kv_rank for a value. Source:
        DeepSeek-V2 (arXiv 2405.04434), section 2.1.2.
        """
        sizes, plan, tokens = run.model.architecture, run.plan, self.prompt + self.output // 2
        kept = kept_numbers(sizes, tokens)
        shared = 1 if sizes.latent is not None else plan.tensor
        read_s = run.roof.memory_s(Fraction(self.number_bytes * sequences * kept, shared))
        scored = Fraction(kept, sizes.layers)
        if sizes.latent is not None:
            width = sizes.latent.kv_rank + sizes.latent.rope_dim
            products = scored / width * sizes.heads * (width + sizes.latent.kv_rank)
        else:
            products = scored * Fraction(sizes.heads, sizes.kv_heads or sizes.heads)
        operations = FLOPS_PER_WEIGHT * sequences * products * sizes.layers / plan.tensor
        busy_s = operations / (run.roof.peak("bf16") * run.roof.gpu.matmul["bf16"])
        return max(read_s, busy_s) * SOFTWARE_FACTORS["tuned"]


def served(model: Model, server: Server, gpus: int, prompt: int, output: int) -> Serving | None:
    """A plan that fits: whole experts dealt to all GPUs, and the fewest tensor ways of a scale-up domain with room for
    a sequence; None where none has.
    """
    domain, experts = server.scale_up.domain_gpus if server.scale_up is not None else 1, model.architecture.experts
    tensor = 1
    while tensor <= min(domain, gpus) and model.architecture.heads % tensor == 0 and gpus % tensor == 0:
        ways = 1
        while experts is not None and ways * 2 <= gpus and experts.count % (ways * 2) == 0:
            ways *= 2
        plan = Plan(tensor=tensor, expert=ways, expert_tensor=1 if experts is not None else None, batch=1)
        tried = Serving(model, server, plan, gpus, prompt, output)
        if tried.most_sequences:
            return tried
        tensor *= 2
    return None


def networks(serving: Serving, mbps: int, ratios: tuple[int, ...]) -> list[FabricBandwidth]:
    """Networks of ``mbps`` for each GPU with these ratios at the leaves, of which no traffic is counted on to stay."""
    domain = serving.server.scale_up.domain_gpus if serving.server.scale_up is not None else 1
    return [tapered(mbps, Fraction(ratio), Fraction(1), Reach(domain)) for ratio in ratios]
