"""Links between servers that are joined to each other, without switches."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabopt.network.direct_links import LinkEnds
from fabopt.schema.base import parse_split
from fabopt.wiring.cages import at_slots
from fabopt.wiring.fabric_plan import FabricPlan
from fabopt.wiring.join import UNMADE, CabledLinks
from fabopt.wiring.model import KINDS, Ints
from fabopt.wiring.tables import CabledKinds


def between_servers(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Links of each dimension: it takes the next ports of a server's NICs, those ahead before those back."""
    first, torus = 0, plan.numbers.mesh
    for scope in torus.scopes:
        ends = torus.pairs(scope)
        links = len(ends.a) // torus.switches
        ahead = first + np.tile(np.arange(links), torus.switches)
        yield _scope(plan, scope, ends, (ahead, ahead + links))
        first += 2 * links


def _scope(plan: FabricPlan, scope: str, ends: LinkEnds, ports: tuple[Ints, Ints]) -> CabledKinds:
    nic, before = plan.numbers.fabric.nic, plan.before
    lanes = parse_split(nic.split).ports
    rows = plan.rows("server", "server", scope=scope)
    near, far = (at_slots(port, lanes, before.cages + 1) for port in ports)
    (a_nic, a_port), (b_nic, b_port) = (np.divmod(port, nic.ports_per_nic) for port in ports)
    cabled = CabledLinks(
        kind=KINDS.index(scope),
        a=ends.a,
        a_nic=before.nics + a_nic + 1,
        a_nic_port=a_port + 1,
        near=near,
        b=ends.b,
        far=far,
        gbps=float(nic.gbps),
        run_m=plan.runs.of(scope, ends.a, ends.b),
        assemblies=plan.assemblies(rows, (lanes, lanes)),
        row=np.full(len(ends.a), UNMADE),
        stage=np.zeros(len(ends.a), dtype=np.int64),
        b_nic=before.nics + b_nic + 1,
        b_nic_port=b_port + 1,
    )
    return plan.cabled([plan.dealt(cabled, rows, (lanes, lanes))])
