"""From a design file to its wiring: names and places of devices, every link, cable and module.

The same file always gives the same wiring. docs/formulation/wiring.md has the rules of numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from fabopt.network.clos_links import padded, server_leaf
from fabopt.network.direct_links import LinkEnds
from fabopt.schema.base import parse_split
from fabopt.schema.design import Design
from fabopt.schema.structure import AnyStructure
from fabopt.units import ceil_of
from fabopt.wiring.assembly import padding
from fabopt.wiring.attachment_links import attached, attached_above
from fabopt.wiring.cage_pairs import in_pairs
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.fabric_plan import FabricPlan, fabric_devices, first_rows, server_devices, table_of
from fabopt.wiring.in_service import in_service_of, kept, parts_in_service, stays_whole
from fabopt.wiring.join import UNMADE, CabledLinks, LiveParts, at_slots
from fabopt.wiring.joined import beside, joined_by, joined_wiring
from fabopt.wiring.model import KINDS, Ints, Wiring
from fabopt.wiring.numbers import Numbers, logical_before, nics_before
from fabopt.wiring.runs import runs_of
from fabopt.wiring.switch_links import between_equals, between_peers, between_tiers
from fabopt.wiring.tables import CabledKinds, tables_of

# -- links of servers and attachments to the leaves -------------------------------------------------------------------


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
        stage=numbers.expanded.stages_of_links("server-leaf", links),
    )
    return plan.dealt(cabled, rows, lanes)


def _devices_of_leaves(plan: FabricPlan, leaf: Ints) -> Ints:
    """Devices of the leaves of servers, which may not be all leaves of a plane."""
    plane, within = np.divmod(leaf, plan.numbers.clos.leaves)
    of_plane = plan.tier("leaf").count // plan.numbers.clos.planes
    return np.asarray(plan.first["leaf"] + plane * of_plane + within)


# -- links between servers that are joined to each other, without switches --------------------------------------------


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


# -- from a design file to its wiring ---------------------------------------------------------------------------------


Cabler = Callable[[FabricPlan], Iterable[CabledKinds]]


def cablers_of(structure: AnyStructure) -> tuple[Cabler, ...]:
    """The kinds of links of a family, in the order of their rows."""
    if not structure.has_switches:
        return (between_servers,)
    return to_leaves, between_tiers, between_equals if structure.is_direct else between_peers


def wiring_of(design: Design) -> Wiring:
    """The wiring of a design that has fabrics.

    Raises ``LookupError`` or ``ValueError`` where the file does not hold together.
    """
    wiring, there = _counted(design), in_service_of(Embedded(design).case.base, wiring_of)
    live = joined_wiring(design, wiring_of)
    if there is None:
        return wiring if live is None else beside(design, wiring, live)
    base = there.designed
    if not stays_whole(design):
        from fabopt.wiring.moved import with_moves

        return there.ports.of(with_moves(design, wiring, base))
    if parts := parts_in_service(design, wiring, base, _counted):
        wiring = _counted(design, parts)
    return there.ports.of(kept(design, wiring, base, _counted, joined_by(design, live)))


def _counted(design: Design, live: LiveParts | None = None) -> Wiring:
    """The wiring of a design as it counts its devices, cages and cables itself, whatever is in service but ``live``."""
    embedded = Embedded(design)
    fabrics = [Numbers(embedded, fabric) for fabric in design.fabrics]
    devices, first = list(server_devices(embedded)), []
    for numbers in fabrics:
        start = len(devices)
        devices.extend(fabric_devices(numbers))
        first.append(first_rows(devices, start, numbers.fabric.name))
    table, before, logical = table_of(devices), nics_before(fabrics), logical_before(fabrics)
    plans = [
        FabricPlan(
            numbers, index, first[index], runs_of(embedded, numbers.fabric, table), before[index], logical, live or {}
        )
        for index, numbers in enumerate(fabrics)
    ]
    cabled = [kinds for plan in plans for cabler in cablers_of(plan.numbers.fabric.structure) for kinds in cabler(plan)]
    names = tuple(fabric.name for fabric in design.fabrics)
    protocols = tuple(fabric.protocol for fabric in design.fabrics)
    links, cables, modules, lent = tables_of(cabled)
    links, modules, lent = in_pairs(plans, (links, modules, lent))
    return Wiring(names, protocols, table, links, cables, modules, lent)
