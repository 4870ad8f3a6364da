"""A service: GPUs that read prompts and GPUs that write tokens, what their users wait for, and what networks do to it.

All GPUs do both, or each kind has GPUs of its own. Then the keys and values of every prompt are sent from one kind to
the other: at once, where a prompt has been read, and on the mean as many as are read in a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import gcd, lcm

from fabopt.schema.jobs import Prefill
from fabopt.schema.model import Model, Plan, PlanChanges
from fabopt.schema.server import Server
from fabopt.schema.workload import Workload
from fabopt.units import exact
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least
from fabopt.workload.placement import PACKED, Placing
from fabopt.workload.plans import COMPARED_MBPS
from fabopt.workload.ranks import can_be_dealt
from fabopt.workload.serving import Serving
from fabopt.workload.timing import FabricBandwidth

_BITS_PER_MBIT = 10**6
_BITS_PER_BYTE = 8
MS = 1000
# A network that takes no time but latency.
FREE = flat(MOST_MBPS, Reach())
COMPARED = flat(COMPARED_MBPS, Reach())
# What a network that is full already carries: no time is too long.
NEVER = Fraction(10**9)


@dataclass(frozen=True, eq=False)
class Service:
    """A served model on a cluster.

    ``reading``, ``writing``: its pools, of all GPUs where not ``apart``; ``prompts``, ``sequences``: of a replica at
    once; ``most_exposed``: the share of a time that a slower network may add where the case gives no limit.
    """

    reading: Serving
    writing: Serving
    apart: bool
    prompts: int
    sequences: int
    most_exposed: Fraction
    ttft_limit_s: Fraction | None
    tpot_limit_s: Fraction | None

    def ttft_s(self, network: FabricBandwidth) -> Fraction:
        """Seconds to the first token, without a queue: a prompt is read, and sent where others write."""
        left = self.beside_kv(network)
        if left is None:
            return NEVER
        return self.reading.prefill_s(left, self.prompts) + (self.sends_s(network) if self.apart else 0)

    def sends_s(self, network: FabricBandwidth) -> Fraction:
        """Seconds in which a prompt is sent, by the replica whose GPUs, and so NICs, are fewer."""
        return min(self.reading, self.writing, key=lambda pool: pool.plan.tensor).sends_s(network)

    @property
    def gpus(self) -> int:
        """GPUs that serve."""
        return self.writing.gpus + (self.reading.gpus if self.apart else 0)

    def tpot_s(self, network: FabricBandwidth) -> Fraction:
        """Mean seconds of a further token; where the same GPUs read prompts, with the share of a prompt's time."""
        left = self.beside_kv(network)
        if left is None:
            return NEVER
        writes_s = self.writing.decode_s(left, self.sequences)
        if self.apart:
            return writes_s
        reads_s = self.reading.prefill_s(left, self.prompts) * Fraction(self.sequences, self.prompts)
        return writes_s + reads_s / self.writing.output

    def prompts_per_s(self, network: FabricBandwidth) -> Fraction:
        """Prompts that all GPUs answer in a second; where pools are apart, as many as the slower one."""
        written = self.writing.replicas * self.sequences / (self.writing.output * self.tpot_s(network))
        return min(written, self.reads_per_s(network)) if self.apart else written

    def reads_per_s(self, network: FabricBandwidth) -> Fraction:
        """Prompts that GPUs which read alone can read in a second."""
        left = self.beside_kv(network)
        reads_s = NEVER if left is None else self.reading.prefill_s(left, self.prompts)
        return self.reading.replicas * self.prompts / reads_s

    @cached_property
    def kv_mbps(self) -> Fraction:
        """Mb/s of keys and values for each GPU of the smaller pool, on the mean, on a network that takes no time."""
        if not self.apart:
            return Fraction(0)
        read_s = self.reading.prefill_s(FREE, self.prompts)
        written_s = self.writing.decode_s(FREE, self.sequences) * self.writing.output
        reads = self.reading.replicas * self.prompts / read_s
        prompts = min(reads, self.writing.replicas * self.sequences / written_s)
        gpus = min(self.reading.gpus, self.writing.gpus)
        return prompts * self.reading.kv_bytes * _BITS_PER_BYTE / (gpus * _BITS_PER_MBIT)

    def beside_kv(self, network: FabricBandwidth) -> FabricBandwidth | None:
        """What a network has left beside keys and values, which cross every boundary; None: nothing."""
        used, uplinks = self.kv_mbps, self.writing.placing.uplinks
        server = network.server_mbps - used
        leaf, pod = (up - used / uplinks for up in (network.leaf_mbps, network.pod_mbps))
        if min(server, leaf, pod) <= 0:
            return None
        return replace(network, server_mbps=server, leaf_mbps=leaf, pod_mbps=pod)

    @cached_property
    def limits_s(self) -> tuple[Fraction, Fraction]:
        """The longest time to the first token, and of a further one: the case's, or little more than on the network
        that plans are compared on.
        """
        own = 1 - self.most_exposed
        ttft_s, tpot_s = self.ttft_limit_s, self.tpot_limit_s
        if not own:
            return ttft_s or NEVER, tpot_s or NEVER
        return (
            self.ttft_s(COMPARED) / own if ttft_s is None else ttft_s,
            self.tpot_s(COMPARED) / own if tpot_s is None else tpot_s,
        )

    def keeps(self, network: FabricBandwidth) -> bool:
        """Whether a network keeps both limits."""
        ttft_s, tpot_s = self.limits_s
        return self.ttft_s(network) <= ttft_s and self.tpot_s(network) <= tpot_s


def service_of(wanted: Workload, model: Model, server: Server, gpus: int, placing: Placing) -> Service:
    """The service of a case whose plan is worked out, on ``gpus`` GPUs of a server."""
    own = wanted.own_prefill
    reading_gpus = 0 if own is None else own.gpus or 0
    pools = []
    for reads in (True, False):
        plan = wanted.changes.on(Plan(batch=1))
        if reads and own is not None:
            ways = {"tensor": own.tensor or 1, "expert": own.expert or 1, "micro_batch": own.micro_batch}
            plan = plan.model_copy(update=ways)
        size = reading_gpus if reads and own is not None else gpus - reading_gpus
        pools.append(pool_of(wanted, model, server, plan, size, placing))
    reading, writing = pools
    prompts = own.micro_batch if own is not None else 1
    limits = (None if most is None else exact(most) / MS for most in (wanted.ttft_ms, wanted.tpot_ms))
    most_exposed = exact(wanted.max_exposed_communication)
    return Service(reading, writing, own is not None, prompts, writing.plan.micro_batch, most_exposed, *limits)


def pool_of(
    wanted: Workload, model: Model, server: Server, plan: Plan, gpus: int, placing: Placing = PACKED
) -> Serving:
    """GPUs of a case that read prompts, write tokens, or do both; whole experts, unless the plan splits them."""
    if model.architecture.experts is not None and plan.expert_tensor is None:
        plan = plan.model_copy(update={"expert_tensor": 1})
    lengths = wanted.prompt_tokens or 1, wanted.output_tokens or 1
    server = server.in_domains_of(wanted.gpus_per_domain)
    return Serving(model, server, plan, gpus, *lengths, wanted.kv_bytes, exact(wanted.cached_share), placing)


def with_pools(wanted: Workload, model: Model, server: Server, gpus: int) -> Workload | None:
    """The workload with a plan for each kind of GPUs, of those that fit and keep the limits that which does most on 400
    Gb/s for each GPU; None where none fits. Keys that are given stay.

    GPUs that only read are as many whole servers as keep pace with those that write.
    """
    own = wanted.own_prefill
    if own is None:
        writing = _best(wanted, model, server, gpus, True, True)
        return None if writing is None else wanted.model_copy(update={"plan": _changes(wanted, writing.plan)})
    best: tuple[Fraction, Serving, Serving] | None = None
    for reading_gpus in (own.gpus,) if own.gpus is not None else _keeping_pace(wanted, model, server, gpus):
        reading = _best(wanted, model, server, reading_gpus, True, False)
        writing = _best(wanted, model, server, gpus - reading_gpus, False, True) if reading_gpus < gpus else None
        if reading is not None and writing is not None:
            prompts = min(reading.gpus * _rate(reading, True), writing.gpus * _rate(writing, False))
            if best is None or prompts > best[0]:
                best = prompts, reading, writing
    if best is None:
        return None
    _, reading, writing = best
    picked = {"gpus": reading.gpus, "tensor": reading.plan.tensor, "expert": reading.plan.expert}
    update = {"plan": _changes(wanted, writing.plan), "prefill": own.model_copy(update=picked)}
    return wanted.model_copy(update=update)


def _changes(wanted: Workload, plan: Plan) -> PlanChanges:
    picked = {key: getattr(plan, key) for key in ("tensor", "expert", "expert_tensor", "micro_batch")}
    return wanted.changes.model_copy(update={**picked, "auto": False})


def _keeping_pace(wanted: Workload, model: Model, server: Server, gpus: int) -> list[int]:
    """Numbers of GPUs that read about as many prompts a second as the others answer: the nearest of whole groups of
    any power of two of servers, as larger groups hold more experts' ways.
    """
    reading = _best(wanted, model, server, gpus, True, False)
    writing = _best(wanted, model, server, gpus, False, True)
    if reading is None or writing is None:
        return []
    reads, writes = _rate(reading, True), _rate(writing, False)
    wanted_gpus = writes / (reads + writes) * gpus
    splits, sizes = list(splits_of(wanted, server, gpus)), [2**power for power in range(gpus.bit_length())]
    near = {
        min(whole, key=lambda some: abs(some - wanted_gpus))
        for size in sizes
        if (whole := [some for some in splits if gcd(some, gpus - some) % size == 0])
    }
    return sorted(near)


def splits_of(wanted: Workload, server: Server, gpus: int) -> Iterator[int]:
    """Numbers of GPUs that may read: whole servers, and whole groups of the ways that are given, as are those left."""
    own, changes = wanted.own_prefill or Prefill(), wanted.changes
    reads, writes = (lcm(server.gpus, given.tensor or 1, given.expert or 1) for given in (own, changes))
    return (some for some in range(reads, gpus, reads) if (gpus - some) % writes == 0)


def _rate(pool: Serving, reads: bool, prompts: int | None = None) -> Fraction:
    """Prompts that a GPU reads, or answers, in a second on the network that plans are compared on."""
    at_once = pool.plan.micro_batch if prompts is None else prompts
    took_s = pool.prefill_s(COMPARED, at_once) if reads else pool.output * pool.decode_s(COMPARED, at_once)
    return at_once / (pool.plan.tensor * took_s)


def _best(wanted: Workload, model: Model, server: Server, gpus: int, reads: bool, writes: bool) -> Serving | None:
    """The pool of ``gpus`` GPUs that does most of what keeps the limits, or else comes nearest to them."""
    best: tuple[tuple[bool, Fraction], Serving] | None = None
    domain = _domain(wanted, server)
    for plan in plans_of(wanted, model, gpus, writes):
        if best is not None and plan.tensor > domain:
            break
        pool = pool_of(wanted, model, server, plan, gpus, Placing("scattered"))
        prompts = wanted.own_prefill.micro_batch if wanted.own_prefill is not None else 1
        at_once = _sequences(wanted, pool, reads) if writes else min(prompts, pool.most_sequences)
        if not at_once:
            continue
        pool = replace(pool, plan=plan.model_copy(update={"micro_batch": at_once}))
        late = reads and wanted.ttft_ms is not None and pool.prefill_s(COMPARED, prompts) * MS > exact(wanted.ttft_ms)
        rate = _rate(pool, not writes)
        if reads and writes:
            rate = 1 / (1 / rate + 1 / _rate(pool, True, prompts))
        rank = (False, -pool.prefill_s(COMPARED, prompts)) if late else (True, rate)
        if best is None or rank > best[0]:
            best = rank, pool
    return None if best is None else best[1]


def _domain(wanted: Workload, server: Server) -> int:
    link = server.in_domains_of(wanted.gpus_per_domain).scale_up
    return 1 if link is None else link.domain_gpus


def plans_of(wanted: Workload, model: Model, gpus: int, writes: bool) -> Iterator[Plan]:
    """Plans of GPUs that serve, by tensor ways: powers of two, and whole experts dealt to GPUs."""
    own, sizes = wanted.own_prefill, model.architecture
    given = wanted.changes if writes or own is None else own
    tensors = [2**power for power in range(gpus.bit_length())] if given.tensor is None else [given.tensor]
    count = 1 if sizes.experts is None else sizes.experts.count
    experts = [ways for ways in range(1, count + 1) if count % ways == 0] if given.expert is None else [given.expert]
    split = wanted.changes.expert_tensor if writes else None
    for tensor, expert in product(tensors, experts):
        if sizes.heads % tensor or gpus % tensor:
            continue
        ways = None if sizes.experts is None else split or 1
        plan = wanted.changes.on(Plan(batch=1)).model_copy(
            update={"tensor": tensor, "expert": expert, "expert_tensor": ways}
        )
        if sizes.experts is None or can_be_dealt(plan, gpus // tensor):
            yield plan


def _sequences(wanted: Workload, pool: Serving, reads: bool) -> int:
    """Sequences of a replica: those given, or as many as its memory holds and the time of a token allows on the network
    that plans are compared on, with the share that may be exposed to spare.
    """
    most, given = pool.most_sequences, wanted.changes.micro_batch
    if given is not None:
        return given if given <= most else 0
    if wanted.tpot_ms is None or not most:
        return most
    limit_s = exact(wanted.tpot_ms) / MS * (1 - exact(wanted.max_exposed_communication))

    def is_late(sequences: int) -> bool:
        read_s = pool.prefill_s(COMPARED) * sequences / pool.output if reads else Fraction(0)
        return pool.decode_s(COMPARED, sequences) + read_s > limit_s

    late = least(is_late, 1, most)
    return most if late is None else max(1, late - 1)
