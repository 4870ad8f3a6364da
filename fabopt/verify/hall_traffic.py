"""Rule of models in several halls: what a step sends out of each, against the links that leave it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.problem.demand import case_workload
from fabopt.schema.losses import HallTraffic
from fabopt.units import plain_fraction
from fabopt.verify.halls import gbps_of_halls, hall_of
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.ranks import DealtRanks
from fabopt.verify.wiring import CabledDesign
from fabopt.verify.workload import fabric_named, network_on
from fabopt.workload.timing import step_on

_BITS, _GIGA = 8, 10**9


@since("0.3.0", "hall_traffic")
@where(lambda evidence: bool(evidence.design.hall_traffic))
def hall_traffic_is_counted(proof: Proof, cabled: CabledDesign) -> None:
    """What a step sends out of each hall is counted rank by rank, and the Gb/s of links that leave it on the wiring.

    GB = sum over communicators of calls x bytes of groups with ranks in and outside; time = bits / Gb/s. Source:
    docs/workloads.md.
    """
    proof.equal("hall_traffic", cabled.evidence.design.hall_traffic, again := hall_traffic(cabled))
    proof.note(", ".join(f"{row.sent_gb:g} GB out of {row.hall} a step" for row in again))


def hall_traffic(cabled: CabledDesign) -> tuple[HallTraffic, ...]:
    """What a step of the model sends out of each hall with servers, ranks in the order of GPUs; empty where one has
    all, and where several jobs or services share them.
    """
    evidence, devices = cabled.evidence, cabled.wiring.devices
    use, workload = evidence.design.workload, case_workload(evidence.case, evidence.server)
    if not evidence.case.site.halls or use is None or workload is None or use.jobs:
        return ()
    racks = [rack for role, rack in zip(devices.role, devices.rack, strict=True) if role == "server"]
    used, held = workload.domains
    ranks = np.arange(workload.ranks.gpus, dtype=np.int64)
    names, of_server = np.unique([hall_of(rack) for rack in racks], return_inverse=True)
    hall = of_server[(ranks // used * held + ranks % used) // evidence.server.gpus]
    network = network_on(evidence, fabric_named(evidence, use.needs.fabric))
    dealt, costs = DealtRanks(workload), step_on(workload, network).costs
    sent = [sum((dealt.bytes_out(cost, hall == number) for cost in costs), Fraction(0)) for number in range(len(names))]
    gbps = gbps_of_halls(cabled.wiring, use.needs.fabric)
    return tuple(
        HallTraffic(
            hall=str(name),
            gpus=int((hall == number).sum()),
            sent_gb=plain_fraction(sent[number] / _GIGA),
            leaving_gbps=plain_fraction(leaving),
            oversubscription=None if not leaving else plain_fraction(inside / leaving),
            time_s=None if not leaving else plain_fraction(sent[number] * _BITS / _GIGA / leaving),
        )
        for number, name in enumerate(names.tolist())
        for inside, leaving in (gbps[name],)
        if len(names) > 1
    )
