"""Serving: prompts read (prefill) and tokens written one at a time (decode), and what each asks of a network.

Prefill is a step of the inference task on prompts. Decode is such a step on one token of each sequence of a batch, and
the reading of their keys and values: a layer reads the numbers that it keeps, and multiplies each query with them.
Where prefill and decode have GPUs of their own, the numbers kept of a prompt are sent between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log2

from fabopt.schema.model import Model, Overlap, Plan
from fabopt.schema.server import Server
from fabopt.units import ceil_div, exact
from fabopt.workload.architecture import FLOPS_PER_WEIGHT, head_dim, kept_numbers, parameters
from fabopt.workload.kernels import BITS, WIDE_BYTES
from fabopt.workload.memory import GIB
from fabopt.workload.needs import Reach, tapered
from fabopt.workload.placement import PACKED, Placing
from fabopt.workload.ranks import ranks_of
from fabopt.workload.stages import SOFTWARE_FACTORS, whole_ps
from fabopt.workload.timing import FabricBandwidth, ModelRun, Step, step_on, workload_of

# Tokens of a GPU's experts, the mean over the most of any, where a balancer moves experts as prompts change. Source:
# Zhang et al. 2025, Best Practices for Serving DeepSeek-R1 on H20-96G (lmsys.org/blog/2025-09-26-sglang-ant-group),
# "Asynchronous Dynamic Load Adjustment": above 70 %, on 16 GPUs. Fewer are more even; each halving takes as much.
BALANCE, BALANCED_GPUS = Fraction(7, 10), 16
# Of a GPU's memory that servers of models use: vLLM's `gpu_memory_utilization`, 0.9 by default.
MEMORY_SHARE = Fraction(9, 10)
_BYTES_PER_MBPS = Fraction(10**6, 8)
_BITS_PER_BYTE = 8
# Tokens of prompts that are read at once: TensorRT-LLM's `max_num_tokens`, 8,192 by default.
PREFILL_TOKENS = 8192


@dataclass(frozen=True, eq=False)
class Serving:
    """A model served by ``gpus`` GPUs of a server; ``plan``: tensor and expert ways; lengths in tokens.

    ``number_bytes``: of a number that is kept; ``cached``: share of a prompt that is kept from earlier ones.
    """

    model: Model
    server: Server
    plan: Plan
    gpus: int
    prompt: int
    output: int
    number_bytes: int = WIDE_BYTES
    cached: Fraction = Fraction(0)
    placing: Placing = PACKED

    @property
    def kv_bytes(self) -> Fraction:
        """Bytes that are kept of a prompt, and sent where decode has GPUs of its own."""
        return Fraction(self.number_bytes * kept_numbers(self.model.architecture, self.prompt))

    @property
    def replicas(self) -> int:
        """Groups of GPUs with sequences of their own."""
        return self.gpus // self.plan.tensor

    @property
    def weight_bytes(self) -> Fraction:
        """Bytes of a GPU's weights."""
        counts = parameters(self.model.architecture)
        width = Fraction(BITS[self.model.precision.compute], _BITS_PER_BYTE)
        routed = Fraction(counts.routed, self.plan.expert * self.plan.expert_ways)
        return width * (Fraction(counts.dense, self.plan.tensor) + routed)

    @property
    def room_bytes(self) -> Fraction:
        """Bytes of a GPU's memory for weights and kept numbers; 0 where the server does not say its memory."""
        return MEMORY_SHARE * exact(self.server.gpu_memory_gb or 0) * GIB

    @property
    def sequence_bytes(self) -> Fraction:
        """Bytes that a GPU keeps of a sequence of full length; latent vectors are whole on every tensor rank."""
        sizes = self.model.architecture
        kept = Fraction(self.number_bytes * kept_numbers(sizes, self.prompt + self.output))
        return kept / (1 if sizes.latent is not None else min(self.plan.tensor, sizes.kv_heads or sizes.heads))

    @property
    def most_sequences(self) -> int:
        """Sequences of full length that a replica's memory holds beside the weights; 0 where these do not fit."""
        return max(0, int((self.room_bytes - self.weight_bytes) / self.sequence_bytes))

    def prefill_s(self, network: FabricBandwidth, prompts: int = 1) -> Fraction:
        """Seconds until a replica has read ``prompts`` prompts at once, without a queue."""
        return self.prefill(network, prompts).step_s

    def prefill(self, network: FabricBandwidth, prompts: int = 1) -> Step:
        """The step that reads prompts."""
        return step_on(self._run(True, prompts), network)

    def decode_s(self, network: FabricBandwidth, sequences: int) -> Fraction:
        """Seconds for a token of each of a replica's sequences, at the mean length of prompt and output so far."""
        return self.decode(network, sequences).step_s

    def decode(self, network: FabricBandwidth, sequences: int) -> Step:
        """The step that writes a token of each sequence."""
        return step_on(self._run(False, sequences), network)

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
        rate = min(network.server_mbps, *(self.placing.uplinks * up for up in (network.leaf_mbps, network.pod_mbps)))
        return self.kv_bytes / (self.plan.tensor * rate * _BYTES_PER_MBPS)

    @property
    def new_tokens(self) -> int:
        """Tokens of a prompt that are read."""
        return self.prompt - int(self.cached * self.prompt)

    def run(self, reads: bool, sequences: int) -> ModelRun:
        """A step of the inference task on prompts, or on a token of each of a replica's sequences."""
        return self._run(reads, sequences)

    @cached_property
    def _runs(self) -> dict[tuple[bool, int], ModelRun]:
        return {}

    def _run(self, reads: bool, sequences: int) -> ModelRun:
        """A step of the inference task of each replica; nothing overlaps but what the plan says."""
        if (reads, sequences) not in self._runs:
            self._runs[reads, sequences] = self._new_run(reads, sequences)
        return self._runs[reads, sequences]

    def _new_run(self, reads: bool, sequences: int) -> ModelRun:
        """Where all-to-all hides, it does behind the other half of the sequences: two micro-batches take turns. Source:
        deepseek-ai/open-infra-index, 202502OpenSourceWeek/day_6_one_more_thing_deepseekV3R1_inference_system_overview.

        Tokens that are read are sent to a domain once, and passed on there; those that are written to each of their
        experts. Source: deepseek-ai/DeepEP, README.md, "Normal kernels" and "Low-latency kernels".
        """
        changed: dict[str, object] = {"sequence": self.new_tokens if reads else 1}
        sizes = self.model.architecture
        if sizes.experts is not None:
            copies = (sizes.experts.servers_per_token or sizes.experts.top_k) if reads else None
            own = {"servers_per_token": copies, "balance": sizes.experts.balance or balance_of(self.plan.expert)}
            changed["experts"] = sizes.experts.model_copy(update=own)
        hidden = Overlap(**{name: given or 0 for name, given in self.plan.overlap})
        halves = 2 if hidden.expert and sequences > 1 else 1
        at_once = ceil_div(sequences, halves)
        changes = {"micro_batch": at_once, "batch": halves * at_once * self.replicas, "data": None, "overlap": hidden}
        plan = self.plan.model_copy(update=changes)
        update = {"architecture": sizes.model_copy(update=changed), "task": "inference", "plan": plan}
        model = self.model.model_copy(update=update)
        run = workload_of(model, ranks_of(model, plan, self.gpus), self.server, None, "tuned")
        past = self.prompt - self.new_tokens if reads else self.prompt + self.output // 2
        kept_s = self._attention_s(run, sequences, self.new_tokens if reads else 1, past) if past else Fraction(0)
        return replace(run, kept_s=whole_ps(kept_s), placing=self.placing)

    def _attention_s(self, run: ModelRun, sequences: int, queries: int, past: int) -> Fraction:
        """Seconds in which all layers read what they keep of ``past`` tokens of each sequence, or multiply it with the
        queries, whichever is longer.

        Latent attention multiplies latent vectors where one token is written: kv_rank and rope_dim for a score, kv_rank
        for a value; where prompts are read, the heads that these stand for. Source: DeepSeek-V2 (arXiv 2405.04434),
        section 2.1.2.
        """
        sizes, plan = run.model.architecture, run.plan
        kept, latent = kept_numbers(sizes, past), sizes.latent
        shared = 1 if latent is not None else plan.tensor
        read_s = run.roof.memory_s(Fraction(self.number_bytes * sequences * kept, shared))
        if latent is not None:
            width = latent.kv_rank + latent.rope_dim
            of_pair = width + latent.kv_rank if queries == 1 else 2 * head_dim(sizes) + latent.rope_dim
            products = Fraction(kept, width) * sizes.heads * of_pair
        else:
            products = kept * Fraction(sizes.heads, sizes.kv_heads or sizes.heads)
        operations = FLOPS_PER_WEIGHT * sequences * queries * products / plan.tensor
        busy_s = operations / (run.roof.peak("bf16") * run.roof.gpu.matmul["bf16"])
        return max(read_s, busy_s) * SOFTWARE_FACTORS["tuned"]


def balance_of(ways: int) -> float:
    """Tokens of the experts of one of so many GPUs, the mean over the most of any."""
    doublings = min(log2(ways), log2(BALANCED_GPUS)) / log2(BALANCED_GPUS)
    return round(1 / (1 + float(1 / BALANCE - 1) * doublings), 3)


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
