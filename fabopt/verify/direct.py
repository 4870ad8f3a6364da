"""Rules of networks of equal switches: what takes the place of leaves, spines and cores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.structure import DragonflyPlusStructure, DragonflyStructure, HyperxStructure, TorusStructure
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.verify.bandwidth import LAST_DIGIT
from fabopt.verify.direct_counts import Mesh
from fabopt.verify.dragonfly_plus import Groups
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import LEAF_SPINE
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import Cabling, combined, counts_of, repeated
from fabopt.wiring.model import KINDS, NOTHING, Ints

# Longest paths are found on the graph itself up to so many switches; it takes a search from each.
MOST_SEARCHED = 600


def mesh_of(fabric: FabricEvidence) -> Mesh:
    """The network of a fabric; raises ``ValueError`` for a Clos."""
    if fabric.mesh is None:
        raise ValueError(f"{fabric.made.name} is a Clos")
    return fabric.mesh


# -- by numbers ---------------------------------------------------------------------------------------------------


def switches_form_network(proof: Proof, fabric: FabricEvidence) -> None:
    """There are as many switches as the family's numbers make, enough for all servers, no side or group too many.

    HyperX: product of sides >= 2; torus: of sides >= 3; dragonfly: a x G, a group's global links t >= G - 1, t G even;
    dragonfly+: (L + S) x G, L >= 2, u = S m, t as in a dragonfly. Source: docs/formulation/direct-networks.md.
    """
    mesh, made, leaves = mesh_of(fabric), fabric.made, fabric.clos.leaves
    proof.holds(mesh.leaves >= leaves, f"{leaves} switches have servers, there are {mesh.leaves}")
    proof.holds(leaves >= 2, f"{leaves} switch with servers")
    proof.holds(mesh.smallest, f"{mesh.leaves} switches for {leaves} with servers: fewer would do")
    for role, count in mesh.tiers:
        tier = fabric.tier(role)
        proof.equal(f"{role} count", tier.count, made.planes * count)
        proof.equal(f"{role} up_ports", tier.up_ports, mesh.up_ports(role))
        proof.holds(tier.up is not None, f"no cages of a {role} for links between switches")
    if isinstance(mesh, Groups):
        proof.equal("spine down_ports", fabric.tier("spine").down_ports, mesh.boxes(1)[1].links)
    proof.note(f"{mesh.switches} switches a plane, {leaves} with servers, {mesh.most_ports} links of each to others")


def flow_carries_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """Bisection and uniform all-to-all of every GPU are its injection over the most oversubscription, at least.

    What the network carries counts, so that a ratio below 1 can ask for more than a card takes. Source: case file,
    ``max_oversubscription``; docs/formulation/direct-networks.md.
    """
    wanted = fabric.injection / fabric.oversubscription_limits["leaf"]
    for what, endpoint_mbps in (("bisection", cut(fabric)), ("all-to-all", _spread(fabric))):
        rate = endpoint_mbps * _endpoints_of_gpu(fabric)
        shown = f"{what} {_shown(rate)} of {_shown(wanted)} Gb/s per GPU demanded"
        proof.holds(rate >= wanted, shown)
        proof.note(shown)


def _shown(rate_mbps: Fraction) -> float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS)


def oversubscription(fabric: FabricEvidence) -> dict[str, Fraction]:
    """Server ports of the busiest switch over its links to other switches, by speed; in a dragonfly+ by tier."""
    mesh = mesh_of(fabric)
    return (
        mesh.ratios(fabric.clos.most_endpoints * fabric.down("leaf").port_mbps, _speeds(fabric)) if mesh.tiers else {}
    )


def bisection(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU, of the worst cut into halves, at most what a port and a card take."""
    return _of_gpu(fabric, cut(fabric))


def all_to_all(fabric: FabricEvidence) -> Fraction:
    """Mb/s per GPU, of traffic that every endpoint spreads evenly over all others, at most what a card takes."""
    return _of_gpu(fabric, _spread(fabric))


def cut(fabric: FabricEvidence) -> Fraction:
    """Mb/s of an endpoint: a port of a server, or a server that is joined to others itself."""
    endpoints = 1 if fabric.is_switchless else fabric.clos.most_endpoints
    return mesh_of(fabric).cut(endpoints, _speeds(fabric))


def _spread(fabric: FabricEvidence) -> Fraction:
    """Mb/s of an endpoint, as ``cut``."""
    mesh, speeds, servers = mesh_of(fabric), _speeds(fabric), fabric.evidence.servers
    if fabric.is_switchless:
        return mesh.spread(1, servers, speeds)
    return mesh.spread(fabric.clos.most_endpoints, servers * fabric.clos.ports_per_server, speeds)


def _speeds(fabric: FabricEvidence) -> list[int]:
    """Mb/s of a link upwards from each tier; of servers that are joined to each other, that of a link."""
    if fabric.is_switchless:
        return [fabric.nic_lane.port_mbps]
    return [fabric.up(role).port_mbps for role, _ in mesh_of(fabric).tiers]


def _endpoints_of_gpu(fabric: FabricEvidence) -> Fraction:
    ports = 1 if fabric.is_switchless else fabric.made.planes * fabric.clos.ports_per_server
    return Fraction(ports, fabric.evidence.sharers)


def _of_gpu(fabric: FabricEvidence, endpoint_mbps: Fraction) -> Fraction:
    top = endpoint_mbps if fabric.is_switchless else Fraction(fabric.nic_lane.port_mbps)
    rate = min(endpoint_mbps, top) * _endpoints_of_gpu(fabric)
    return min(fabric.injection, rate)


def figures_are_recomputed(proof: Proof, fabric: FabricEvidence) -> None:
    """The file's ratio and bandwidth figures are those of its structure.

    Injection, bisection, all-to-all in Gb/s per GPU and the ratio to six decimals. Source:
    docs/formulation/direct-networks.md.
    """
    made, metrics = fabric.made, fabric.made.metrics
    ratios = {name: plain_fraction(ratio) for name, ratio in oversubscription(fabric).items()}
    proof.equal("oversubscription", made.oversubscription, ratios)
    for name, exact_mbps in (
        ("injection_gbps_per_gpu", fabric.injection),
        ("bisection_gbps_per_gpu", bisection(fabric)),
        ("alltoall_gbps_per_gpu", all_to_all(fabric)),
    ):
        recomputed = _shown(exact_mbps)
        proof.equal(name, getattr(metrics, name), recomputed)
        proof.note(f"{name} {recomputed}")


# -- by links -----------------------------------------------------------------------------------------------------


def switches_are_numbered(proof: Proof, cabling: Cabling) -> None:
    """Switches of a plane count from 1; the first G x r have servers, each (group, rail) once and in order.

    In a dragonfly+ leaves and spines have the numbers of their groups, L leaves and S spines after each other. Source:
    docs/formulation/wiring.md.
    """
    clos, devices, mesh = cabling.clos, cabling.devices, mesh_of(cabling.fabric)
    switches = cabling.boxes("leaf")
    within = within_plane(cabling)[switches]
    for role, count in mesh.tiers:
        each = counts_of(devices.plane[cabling.boxes(role)])
        proof.equal(f"{role}s of each plane", each.tolist(), [count] * clos.planes)
    used = within < clos.leaves
    for what, column, number in (
        ("group", devices.group, within // clos.rails),
        ("rail", devices.rail, within % clos.rails),
    ):
        wrong = column[switches] != np.where(used, number + 1, NOTHING)
        proof.equal(f"switches of another {what}", int(wrong.sum()), 0)
    if isinstance(mesh, Groups):
        above = np.concatenate([switches, cabling.boxes("spine")])
        wrong = devices.pod[above] != mesh.group_of(within_plane(cabling)[above]) + 1
        proof.equal("switches with the number of another group", int(wrong.sum()), 0)
    proof.note(f"{clos.planes} planes of {clos.groups} groups x {clos.rails} rails")


def within_plane(cabling: Cabling) -> Ints:
    """For every box its number among those of its plane that are joined, from 0: leaves, then spines, or servers."""
    if cabling.fabric.is_switchless:
        return cabling.numbers("server")
    found, before = np.full(len(cabling.devices), NOTHING), 0
    for role, count in mesh_of(cabling.fabric).tiers:
        number = cabling.numbers(role)
        found = np.where(number >= 0, before + number % count, found)
        before += count
    return np.asarray(found, dtype=np.int64)


def switches_are_joined(proof: Proof, cabling: Cabling) -> None:
    """The switches of a plane are joined as the family says, over the links that are there.

    HyperX: any two that differ in coordinate i alone, by m_i links. Torus: those a step apart in coordinate i, round
    the ring. Dragonfly: any two of a group by m; any two groups by as many global links, or one more; a group has t,
    its switches as many each, or one more. Dragonfly+: each leaf and each spine of a group by m; groups as in a
    dragonfly, by their spines. No other pair is joined. Source: docs/formulation/direct-networks.md.
    """
    mesh = mesh_of(cabling.fabric)
    for scope in mesh.scopes:
        rows = cabling.of(scope.name)
        proof.equal(f"{scope.name} links", len(rows), cabling.clos.planes * scope.links)
        a, b = _ends_of(cabling, rows)
        plane = cabling.devices.plane[cabling.links.a[rows]]
        each = counts_of(combined(plane, np.minimum(a, b), np.maximum(a, b)))
        if scope.name != "global":
            proof.equal(f"{scope.name}: joined pairs", len(each), cabling.clos.planes * scope.pairs)
            proof.equal(f"{scope.name}: pairs without {scope.each} links", int((each != scope.each).sum()), 0)
        strays = int((~_are_neighbours(mesh, scope.name, a, b)).sum())
        proof.equal(f"{scope.name}: links between others", strays, 0)
        proof.note(f"{scope.name} {len(rows)} links")
    if isinstance(mesh, Groups):
        _leaves_reach_spines(proof, cabling, mesh)
    if isinstance(mesh.structure, DragonflyStructure | DragonflyPlusStructure):
        _groups_are_joined(proof, cabling, mesh.structure)


def _leaves_reach_spines(proof: Proof, cabling: Cabling, mesh: Groups) -> None:
    """Every leaf and every spine of a group, by m links; no link leads to another group's."""
    rows, (leaves, _) = cabling.of(LEAF_SPINE), mesh.boxes(cabling.clos.planes)
    a, b = (mesh.group_of(one) for one in _ends_of(cabling, rows))
    proof.equal("links to a spine of another group", int((a != b).sum()), 0)
    each = counts_of(combined(cabling.links.a[rows], cabling.links.b[rows]))
    proof.equal("joined leaves and spines", len(each), leaves.count * mesh.structure.spines_per_group)
    links = mesh.structure.links_per_pair
    proof.equal(f"leaves and spines without {links} links", int((each != links).sum()), 0)
    proof.note(f"leaf-spine {len(rows)} links")


def _ends_of(cabling: Cabling, rows: Ints) -> tuple[Ints, Ints]:
    within = within_plane(cabling)
    return within[cabling.links.a[rows]], within[cabling.links.b[rows]]


def _are_neighbours(mesh: Mesh, scope: str, a: Ints, b: Ints) -> NDArray[np.bool_]:
    """Whether links of a scope may join these switches."""
    one = mesh.structure
    if isinstance(one, DragonflyStructure):
        same = a // one.switches_per_group == b // one.switches_per_group
        return np.asarray(same & (a != b) if scope == "local" else ~same)
    if isinstance(mesh, Groups):
        return np.asarray((np.minimum(a, b) >= mesh.leaves) & (mesh.group_of(a) != mesh.group_of(b)))
    assert isinstance(one, HyperxStructure | TorusStructure)
    at = int(scope.removeprefix("dim-")) - 1
    here = there = np.ones(len(a), dtype=np.bool_)
    for number, side in enumerate(one.sides):
        x, y = a % side, b % side
        a, b = a // side, b // side
        if number != at:
            here = here & (x == y)
        elif isinstance(one, HyperxStructure):
            there = x != y
        else:
            there = (np.abs(x - y) == 1) | (np.abs(x - y) == side - 1)
    return np.asarray(here & there)


def _groups_are_joined(proof: Proof, cabling: Cabling, one: DragonflyStructure | DragonflyPlusStructure) -> None:
    planes, groups, mesh = cabling.clos.planes, one.switch_groups, mesh_of(cabling.fabric)
    rows = cabling.of("global")
    a, b = _ends_of(cabling, rows)
    plane = cabling.devices.plane[cabling.links.a[rows]]
    x, y = (_group_of(mesh, end) for end in (a, b))
    each = counts_of(combined(plane, np.minimum(x, y), np.maximum(x, y)))
    fewest, more = divmod(one.global_links_per_group, groups - 1)
    proof.equal("pairs of groups that are joined", len(each), planes * groups * (groups - 1) // 2)
    low, high = int(each.min(initial=fewest)), int(each.max(initial=0))
    proof.holds(low == fewest and high <= fewest + (more > 0), f"{low} to {high} links between two groups")
    out = np.tile(plane, 2)
    of_group = counts_of(combined(out, np.concatenate([x, y])))
    wrong = int((of_group != one.global_links_per_group).sum()) + planes * groups - len(of_group)
    proof.equal(f"groups without {one.global_links_per_group} global links", wrong, 0)
    ends = np.bincount(np.concatenate([cabling.links.a[rows], cabling.links.b[rows]]), minlength=len(cabling.devices))
    of_switch = ends[cabling.boxes(mesh.role)]
    low, high = int(of_switch.min(initial=len(rows))), int(of_switch.max(initial=0))
    proof.holds(high - low <= 1, f"{low} to {high} global links of a switch")
    proof.note(f"{len(each)} pairs of groups")


def _group_of(mesh: Mesh, switch: Ints) -> Ints:
    if isinstance(mesh, Groups):
        return mesh.group_of(switch)
    assert isinstance(mesh.structure, DragonflyStructure)
    return np.asarray(switch // mesh.structure.switches_per_group)


def cages_keep_one_kind(proof: Proof, cabling: Cabling) -> None:
    """A cage of a switch has links of one kind: to servers, or of one kind to other switches.

    Source: docs/formulation/direct-networks.md.
    """
    links = cabling.links
    box, cage = np.concatenate([links.a, links.b]), np.concatenate([links.a_cage, links.b_cage])
    code = combined(box, cage)
    kinds = np.tile(links.kind, 2)
    cages, first = np.unique(code, return_index=True)
    mixed = np.unique(combined(code, kinds), return_index=True)[1]
    proof.equal("cages with links of two kinds", len(mixed) - len(first), 0)
    proof.equal("ports with two links", repeated(combined(code, np.concatenate([links.a_lane, links.b_lane]))), 0)
    proof.note(f"{len(cages)} cages in use")


def cuts_carry_claim(proof: Proof, cabling: Cabling) -> None:
    """Between the halves of every dimension (or of the groups) run links for what the file claims as bisection.

    capacity of the links between >= claimed bisection per GPU (which is written to six decimals) x GPUs of the side
    with fewer. Source: docs/formulation/direct-networks.md.
    """
    fabric, mesh = cabling.fabric, mesh_of(cabling.fabric)
    written = exact(fabric.made.metrics.bisection_gbps_per_gpu) - LAST_DIGIT / 2
    claimed = written * MBPS_PER_GBPS * fabric.evidence.sharers
    above = np.flatnonzero(cabling.links.kind > KINDS.index("attachment-leaf"))
    a, b = _ends_of(cabling, above)
    leaf, whole_server = _endpoints(cabling)
    for what, side in _halves(mesh):
        capacity = int(cabling.mbps(above[side[a] != side[b]]).sum())
        ports = int(side[leaf].sum())
        fewer = Fraction(min(ports, len(leaf) - ports), whole_server)
        shown = f"{what}: {gbps(capacity)} Gb/s, {float(claimed * fewer / MBPS_PER_GBPS):g} claimed"
        proof.holds(capacity >= claimed * fewer, shown)
        proof.note(shown)


def _endpoints(cabling: Cabling) -> tuple[Ints, int]:
    """(Box of every endpoint, endpoints of a server): server ports on switches, or the servers themselves."""
    if cabling.fabric.is_switchless:
        return np.arange(mesh_of(cabling.fabric).switches), 1
    leaf = within_plane(cabling)[cabling.links.b[cabling.of("server-leaf")]]
    return leaf, cabling.fabric.made.planes * cabling.clos.ports_per_server


def _halves(mesh: Mesh) -> list[tuple[str, NDArray[np.bool_]]]:
    """Sets of switches of a plane that part it along each dimension, or between groups."""
    one, switch = mesh.structure, np.arange(mesh.switches)
    if isinstance(one, DragonflyStructure):
        place = switch % one.switches_per_group
        return [
            ("half of the groups", switch // one.switches_per_group < one.switch_groups // 2),
            ("half of every group", place < one.switches_per_group // 2),
        ]
    if isinstance(mesh, Groups):
        place = np.where(switch < mesh.leaves, switch % mesh.structure.leaves_per_group, switch - mesh.leaves)
        half = np.where(switch < mesh.leaves, mesh.structure.leaves_per_group, mesh.structure.spines_per_group) // 2
        inner = np.where(switch < mesh.leaves, place, place % mesh.structure.spines_per_group) < half
        return [
            ("half of the groups", mesh.group_of(switch) < mesh.structure.switch_groups // 2),
            ("half of every group", inner),
        ]
    assert isinstance(one, HyperxStructure | TorusStructure)
    halves = []
    for number, side in enumerate(one.sides, 1):
        halves.append((f"half of dimension {number}", switch % side < side // 2))
        switch = switch // side
    return halves


def paths_are_as_long(proof: Proof, cabling: Cabling) -> None:
    """The longest shortest path between two switches with servers has as many switches as the file says.

    Up to ``MOST_SEARCHED`` switches by breadth-first search from each; beyond, in a HyperX a step in every dimension,
    in a torus half way round each, in a dragonfly at most local, global, local, in a dragonfly+ leaf, spine, spine,
    leaf. Source: design file, ``max_switch_hops``; where servers are joined to each other, ``max_nic_hops``, which
    leaves out both ends.
    """
    mesh, metrics = mesh_of(cabling.fabric), cabling.fabric.made.metrics
    claimed, one = metrics.max_switch_hops, mesh.structure
    if cabling.fabric.is_switchless:
        proof.equal("max_switch_hops", claimed, 0)
        claimed = 2 + (-1 if metrics.max_nic_hops is None else metrics.max_nic_hops)
    if mesh.switches <= MOST_SEARCHED:
        longest = _longest(cabling, mesh)
        proof.equal("boxes on the longest path", claimed, longest)
        proof.note(f"{longest} boxes on the longest path, searched")
        return
    if isinstance(one, DragonflyStructure):
        proof.holds(3 <= claimed <= 4, f"max_switch_hops is {claimed}")
    elif isinstance(one, DragonflyPlusStructure):
        proof.equal("max_switch_hops", claimed, 4)
    elif isinstance(one, HyperxStructure):
        proof.equal("max_switch_hops", claimed, 1 + len(one.sides))
    elif isinstance(one, TorusStructure):
        proof.equal("max_switch_hops", claimed, 1 + sum(side // 2 for side in one.sides))
    proof.note(f"{claimed} switches on the longest path")


def _longest(cabling: Cabling, mesh: Mesh) -> int:
    """Switches on the longest shortest path of the first plane; one more than there are if they are not all joined."""
    switches, used = mesh.switches, cabling.clos.leaves
    above = np.flatnonzero(cabling.links.kind > KINDS.index("attachment-leaf"))
    if not cabling.fabric.is_switchless:
        above = above[cabling.devices.plane[cabling.links.a[above]] == 1]
    a, b = _ends_of(cabling, above)
    near = np.zeros((switches, switches), dtype=np.float32)
    near[a, b] = near[b, a] = 1
    reached = np.eye(switches, dtype=np.bool_)
    for steps in range(1, switches + 1):
        if reached[:used, :used].all():
            return steps
        reached = reached | (reached.astype(np.float32) @ near > 0)
    return switches + 1
