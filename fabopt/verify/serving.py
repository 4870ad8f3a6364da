"""Rules of a service: its needs of the network, and what its users wait for, counted again from the file's content.

Computation of a GPU, and bytes and latency of a single call, are those of ``fabopt.workload``; ranks are dealt one by
one, keys and values counted layer by layer, and times, rates and limits worked out here. Source: docs/workloads.md,
"Serving".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from fabopt.problem.demand import case_service, gpus_at_work
from fabopt.schema.prediction import ServingUse, WorkloadNeeds
from fabopt.schema.topologies import can_be_asked
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction
from fabopt.verify.evidence import Evidence
from fabopt.verify.memory import kept_of_sequence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.steps import RecountedStep
from fabopt.verify.workload import (
    as_written,
    certain_gpus,
    content_is_needed,
    fabric_named,
    network_on,
    reduces,
    serves,
)
from fabopt.workload.allowance import FIGURES
from fabopt.workload.needs import MOST_MBPS, MOST_RATIO, Reach, flat, tapered
from fabopt.workload.prediction import seconds
from fabopt.workload.served import least_of, service_needs, serving_use
from fabopt.workload.service import Service
from fabopt.workload.timing import FabricBandwidth

# The network of 400 Gb/s that plans are compared on.
COMPARED_MBPS = 400_000
# Of a GPU's memory that weights, keys and values fill: vLLM's `gpu_memory_utilization`.
USABLE = Fraction(9, 10)
THOUSANDTH = Fraction(1, 1000)
# Demands without which a case may have less than its service needs.
_ASKED = ("min_gbps_per_gpu", "max_oversubscription.leaf", "max_oversubscription.spine")


class RecountedService:
    """What users of a service wait for, by counting ranks."""

    def __init__(self, service: Service) -> None:
        self.service, self.reading, self.writing = service, service.reading, service.writing
        self.sent = self.writing.number_bytes * kept_of_sequence(self.writing.model.architecture, self.writing.prompt)
        free = flat(MOST_MBPS, Reach())
        self.mbps = self._sent_mbps(self._reads_s(free), self._writes_s(free)) if service.apart else Fraction(0)

    def _reads_s(self, network: FabricBandwidth) -> Fraction:
        return RecountedStep(self.reading.run(True, self.service.prompts), network).step_s

    def _writes_s(self, network: FabricBandwidth) -> Fraction:
        return RecountedStep(self.writing.run(False, self.service.sequences), network).step_s

    def _sent_mbps(self, reads_s: Fraction, writes_s: Fraction) -> Fraction:
        """Keys and values of all prompts of a second, for each GPU of the fewer: those that send or receive."""
        sequences = self.writing.gpus // self.writing.plan.tensor * self.service.sequences
        prompts = self.reading.gpus // self.reading.plan.tensor * self.service.prompts
        a_second = min(prompts / reads_s, sequences / (writes_s * self.writing.output))
        return a_second * self.sent * 8 / (min(self.reading.gpus, self.writing.gpus) * Fraction(10**6))

    def waits_s(self, network: FabricBandwidth) -> tuple[Fraction, Fraction] | None:
        """Seconds to the first token, and of a further one; None where prompts alone fill the network."""
        uplinks = self.writing.placing.uplinks
        rates = [network.server_mbps, network.leaf_mbps * uplinks, network.pod_mbps * uplinks]
        left = [rate - self.mbps for rate in rates]
        if min(left) <= 0:
            return None
        server, leaf, pod = left
        beside = replace(network, server_mbps=server, leaf_mbps=leaf / uplinks, pod_mbps=pod / uplinks)
        reads_s, writes_s = self._reads_s(beside), self._writes_s(beside)
        if not self.service.apart:
            share = Fraction(self.service.sequences, self.service.prompts * self.writing.output)
            return reads_s, writes_s + share * reads_s
        ways = min(self.reading.plan.tensor, self.writing.plan.tensor)
        return reads_s + Fraction(self.sent * 8) / (ways * min(rates) * 10**6), writes_s

    def limits_s(self) -> tuple[Fraction, Fraction]:
        """The case's limits; those left out are little above the network that plans are compared on."""
        ttft_s, tpot_s, share = self.service.ttft_limit_s, self.service.tpot_limit_s, 1 - self.service.most_exposed
        if not share or (ttft_s is not None and tpot_s is not None):
            return ttft_s or Fraction(10**9), tpot_s or Fraction(10**9)
        first_s, further_s = self.waits_s(flat(COMPARED_MBPS, Reach())) or (Fraction(10**9),) * 2
        return first_s / share if ttft_s is None else ttft_s, further_s / share if tpot_s is None else tpot_s

    def keeps(self, network: FabricBandwidth) -> bool:
        """Whether users wait no longer than the limits."""
        waits = self.waits_s(network)
        return waits is not None and all(wait <= most for wait, most in zip(waits, self.limits_s(), strict=True))


@since("0.3.0", "serving")
@where(serves)
def service_needs_are_met(proof: Proof, evidence: Evidence) -> None:
    """Demands on the computing fabric that the case leaves open are the least that keep the service's limits.

    A network with them keeps the times to the first and of a further token; with 1 Mb/s less, or a thousandth more
    oversubscription, it does not. The design's own network keeps them. Source: docs/workloads.md.
    """
    service, claimed = _stated(evidence)
    needs, counted = claimed.needs, RecountedService(service)
    fabric = fabric_named(evidence, needs.fabric)
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    proof.holds(needs.leaf_gpus <= certain_gpus(evidence, fabric.wanted), "GPUs that share a leaf for certain")
    proof.holds(not reach.reduces or reduces(fabric), "switches reduce where that was counted on")
    offered, leaf = exact(needs.offered_gbps_per_gpu) * MBPS_PER_GBPS, exact(needs.max_oversubscription["leaf"])
    proof.holds(offered <= fabric.injection, f"{needs.offered_gbps_per_gpu} Gb/s per GPU offered")
    least = exact(needs.min_gbps_per_gpu) * MBPS_PER_GBPS
    proof.holds(counted.keeps(flat(max(least, Fraction(1)), reach)), f"{needs.min_gbps_per_gpu} Gb/s is enough")
    proof.holds(least <= 1 or not counted.keeps(flat(least - 1, reach)), f"{needs.min_gbps_per_gpu} Gb/s is the least")
    if offered >= least:
        _is_most(proof, needs, "leaf", lambda ratio: counted.keeps(tapered(offered, ratio, Fraction(1), reach)))
        _is_most(proof, needs, "spine", lambda ratio: counted.keeps(tapered(offered, leaf, ratio, reach)))
    written = as_written(fabric.wanted, needs)
    figures = [name for name in FIGURES if can_be_asked(evidence.case, written, **{name: 1.0})]
    again = service_needs(service, written, reach, least_of(service, reach), offered, figures)
    proof.equal("needs", needs, again)
    content_is_needed(proof, fabric.wanted, needs)
    if all(key in needs.sets for key in _ASKED):
        proof.holds(counted.keeps(network_on(evidence, fabric)), "the design's network keeps the limits")
    proof.note(f"{needs.min_gbps_per_gpu} Gb/s per GPU needed")


def _is_most(proof: Proof, needs: WorkloadNeeds, boundary: str, keeps: Callable[[Fraction], bool]) -> None:
    """A ratio that the case leaves out keeps the limits, where any does, and a thousandth more does not."""
    stated = needs.max_oversubscription[boundary]
    if f"max_oversubscription.{boundary}" not in needs.sets or not keeps(Fraction(1)):
        return
    proof.holds(keeps(exact(stated)), f"{stated}:1 at the {boundary} keeps the limits")
    is_last = stated >= MOST_RATIO or not keeps(exact(stated) + THOUSANDTH)
    proof.holds(is_last, f"{stated}:1 is the most at the {boundary}")


@since("0.3.0", "serving")
@where(serves)
def service_is_recounted(proof: Proof, evidence: Evidence) -> None:
    """Times, rates, memory, and keys and values of a service follow from the case and the design.

    Ranks are dealt one by one; numbers that a prompt keeps are counted layer by layer; weights and sequences of full
    length fit nine tenths of a GPU's memory. Source: docs/workloads.md.
    """
    service, claimed = _stated(evidence)
    network = network_on(evidence, fabric_named(evidence, claimed.needs.fabric))
    again = serving_use(service, network, claimed.needs)
    for name in ServingUse.model_fields:
        proof.equal(name, getattr(claimed, name), getattr(again, name))
    counted = RecountedService(service)
    waits = counted.waits_s(network) or (Fraction(10**9),) * 2
    proof.equal("ttft_s and tpot_s", (claimed.ttft_s, claimed.tpot_s), tuple(map(seconds, waits)))
    proof.equal("limits", (claimed.ttft_limit_s, claimed.tpot_limit_s), tuple(map(seconds, counted.limits_s())))
    proof.equal("kv_bytes_per_prompt", claimed.kv_bytes_per_prompt, counted.sent)
    proof.equal("kv_gbps_per_gpu", claimed.kv_gbps_per_gpu, plain_fraction(counted.mbps / MBPS_PER_GBPS, 3))
    kinds = (claimed.prefill, claimed.decode) if claimed.disaggregated else (claimed.decode,)
    proof.equal("GPUs of both kinds", sum(pool.gpus for pool in kinds), gpus_at_work(evidence.case, evidence.server))
    for pool in kinds:
        most_gb = float(USABLE * exact(pool.gpu_gb or 0))
        proof.holds(pool.weights_gb + pool.kept_gb <= most_gb, f"{pool.weights_gb} + {pool.kept_gb} GB fit {most_gb}")
    proof.note(f"{claimed.ttft_s} s to the first token, {claimed.tpot_s} s for each further one")


def _stated(evidence: Evidence) -> tuple[Service, ServingUse]:
    """The service of the case, and the file's statements on it."""
    service, claimed = case_service(evidence.case, evidence.server), evidence.design.serving
    if service is None or claimed is None:
        raise LookupError("the case's model is served, and the file says so, or neither")
    return service, claimed
