"""Links of servers and attachments to the leaves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabopt.network.clos_links import padded, server_leaf
from fabopt.schema.base import parse_split
from fabopt.units import ceil_of
from fabopt.wiring.assembly import padding
from fabopt.wiring.attachment_links import attached, attached_above
from fabopt.wiring.cages import at_slots
from fabopt.wiring.fabric_plan import FabricPlan
from fabopt.wiring.join import UNMADE, CabledLinks
from fabopt.wiring.model import Ints
from fabopt.wiring.tables import CabledKinds


def to_leaves(plan: FabricPlan) -> Iterable[CabledKinds]:
    """Links of servers and attachments to leaves, together as they may share cages; then of attachments to spines."""
    servers = _of_servers(plan)
    yield plan.cabled([servers, *attached(plan, servers)])
    for above in attached_above(plan):
        yield plan.cabled([above])


def _of_servers(plan: FabricPlan) -> CabledLinks:
    numbers, tier, clos = plan.numbers, plan.tier("leaf"), plan.numbers.clos
    lanes = parse_split(numbers.fabric.nic.split).ports, parse_split(tier.down.split).ports
    rows = plan.rows("server", "leaf")
    assemblies = plan.assemblies(rows, lanes)
    per_cable = padding(assemblies)
    links, nic, port = server_leaf(clos, per_cable)
    near = at_slots(links.a_slot, lanes[0], plan.before.cages + 1)
    if not clos.shared_cages:
        _, together = clos.ports_of_servers(links.a)
        slots = clos.ports_per_nic // together * padded(together, per_cable)
        near = near._replace(cage=near.cage + nic * ceil_of(slots, lanes[0]))
    far = plan.down_cages("leaf", links.b, links.b_slot)
    a, b = links.a, _devices_of_leaves(plan, links.b)
    cabled = CabledLinks(
        kind=0,
        a=a,
        a_nic=plan.before.nics + nic + 1,
        a_nic_port=port + 1,
        near=near,
        b=b,
        far=far,
        gbps=float(tier.gbps_down),
        run_m=plan.runs.of("server-leaf", a, b),
        assemblies=assemblies,
        row=np.full(len(a), UNMADE),
        stage=numbers.installed.stages_of_links("server-leaf", links),
    )
    return plan.dealt(cabled, rows, lanes)


def _devices_of_leaves(plan: FabricPlan, leaf: Ints) -> Ints:
    """Devices of the leaves of servers, which may not be all leaves of a plane."""
    plane, within = np.divmod(leaf, plan.numbers.clos.leaves)
    of_plane = plan.tier("leaf").count // plan.numbers.clos.planes
    return np.asarray(plan.first["leaf"] + plane * of_plane + within)
