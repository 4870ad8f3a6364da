"""Rules of direct networks by their links: the pairs of devices joined, and the capacity between halves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.units import MBPS_PER_GBPS, exact, gbps, some
from fabopt.verify.bandwidth import LAST_DIGIT
from fabopt.verify.link_kinds import LEAF_SPINE
from fabopt.verify.mesh_counts import MeshLinks
from fabopt.verify.proof import Proof, combined, counts_of, repeated
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import NOTHING, Ints

# The most switches for which longest paths are found on the graph, by a search from each.
MOST_SEARCHED = 600
GLOBAL = "global"


def switches_are_numbered(proof: Proof, cabling: FabricCabling) -> None:
    """Switches of a plane count from 1; the first G x r have servers, each (group, rail) once and in order.

    In a dragonfly and a dragonfly+ leaves and spines have the numbers of their groups, which follow each other. Source:
    docs/formulation/wiring.md.
    """
    clos, devices, mesh = cabling.clos, cabling.devices, cabling.fabric.mesh
    switches = cabling.devices_of("leaf")
    within = within_plane(cabling)
    for role, count in mesh.tiers:
        of_plane = counts_of(devices.plane[cabling.devices_of(role)])
        proof.equal(f"{role}s of each plane", of_plane.tolist(), [count] * clos.planes)
        rows = cabling.devices_of(role)
        group = mesh.group_of(within[rows])
        wrong = devices.pod[rows] != np.where(group == NOTHING, NOTHING, group + 1)
        proof.equal("switches with the number of another group", int(wrong.sum()), 0)
    place = within[switches]
    used = place < clos.leaves
    for what, column, number in (
        ("group", devices.group, place // clos.rails),
        ("rail", devices.rail, place % clos.rails),
    ):
        wrong = column[switches] != np.where(used, number + 1, NOTHING)
        proof.equal(f"switches of another {what}", int(wrong.sum()), 0)
    proof.note(f"{some(clos.planes, 'plane')} of {some(clos.groups, 'group')} x {some(clos.rails, 'rail')}")


def within_plane(cabling: FabricCabling) -> Ints:
    """Number of every joined device within its plane, from 0, shape (devices,).

    Leaves come first, then spines; or servers. Others have ``NOTHING``.
    """
    within, before = np.full(len(cabling.devices), NOTHING), 0
    for role, count in cabling.fabric.mesh.devices:
        number = cabling.numbers(role)
        within = np.where(number >= 0, before + number % count, within)
        before += count
    return np.asarray(within, dtype=np.int64)


def switches_are_joined(proof: Proof, cabling: FabricCabling) -> None:
    """The switches of a plane are joined as the family says, over the links of the wiring.

    HyperX: any two that differ in coordinate i alone, by m_i links. Torus: those a step apart in coordinate i, round
    the ring. Dragonfly: any two of a group by m; any two groups by as many global links, or one more; a group has t,
    its switches as many each, or one more. Dragonfly+: each leaf and each spine of a group by m; groups as in a
    dragonfly, by their spines. No other pair is joined. Source: docs/formulation/direct-networks.md.
    """
    fabric = cabling.fabric
    for scope in fabric.scopes:
        rows = cabling.of(scope.name)
        proof.equal(f"{scope.name} links", len(rows), cabling.clos.planes * scope.links)
        a, b = _ends_of(cabling, rows)
        strays = int((~fabric.mesh.are_neighbours(scope.name, a, b)).sum())
        proof.equal(f"{scope.name}: links between others", strays, 0)
        (_groups_are_joined if scope.name == GLOBAL else _pairs_are_joined)(proof, cabling, scope)
        proof.note(f"{scope.name} {some(len(rows), 'link')}")
    if len(fabric.mesh.tiers) > 1:
        _leaves_reach_spines(proof, cabling)


def _pairs_are_joined(proof: Proof, cabling: FabricCabling, scope: MeshLinks) -> None:
    """Every pair that the scope joins, by as many links."""
    rows = cabling.of(scope.name)
    a, b = _ends_of(cabling, rows)
    plane = cabling.devices.plane[cabling.links.a[rows]]
    of_pair = counts_of(combined(plane, np.minimum(a, b), np.maximum(a, b)))
    proof.equal(f"{scope.name}: joined pairs", len(of_pair), cabling.clos.planes * scope.pairs)
    proof.equal(
        f"{scope.name}: pairs without {some(scope.links_of_pair, 'link')}",
        int((of_pair != scope.links_of_pair).sum()),
        0,
    )


def _leaves_reach_spines(proof: Proof, cabling: FabricCabling) -> None:
    """Every leaf and every spine of a group, by m links; no link leads to another group's."""
    rows, mesh = cabling.of(LEAF_SPINE), cabling.fabric.mesh
    spines, links = mesh.spines_of_leaf
    a, b = (mesh.group_of(end) for end in _ends_of(cabling, rows))
    proof.equal("links to a spine of another group", int((a != b).sum()), 0)
    of_pair = counts_of(combined(cabling.links.a[rows], cabling.links.b[rows]))
    proof.equal("joined leaves and spines", len(of_pair), cabling.clos.planes * mesh.leaves * spines)
    proof.equal(f"leaves and spines without {some(links, 'link')}", int((of_pair != links).sum()), 0)
    proof.note(f"leaf-spine {some(len(rows), 'link')}")


def _ends_of(cabling: FabricCabling, rows: Ints) -> tuple[Ints, Ints]:
    within = within_plane(cabling)
    return within[cabling.links.a[rows]], within[cabling.links.b[rows]]


def _groups_are_joined(proof: Proof, cabling: FabricCabling, scope: MeshLinks) -> None:
    """Any two groups by as many links, or one more; all groups have equally many in all, and their switches too, to
    one.
    """
    mesh, planes, rows = cabling.fabric.mesh, cabling.clos.planes, cabling.of(scope.name)
    groups, outside = mesh.groups, 2 * scope.links // mesh.groups
    plane = cabling.devices.plane[cabling.links.a[rows]]
    x, y = (mesh.group_of(end) for end in _ends_of(cabling, rows))
    of_pair = counts_of(combined(plane, np.minimum(x, y), np.maximum(x, y)))
    fewest, more = divmod(outside, groups - 1)
    proof.equal("pairs of groups that are joined", len(of_pair), planes * groups * (groups - 1) // 2)
    low, high = int(of_pair.min(initial=fewest)), int(of_pair.max(initial=0))
    proof.holds(low == fewest and high <= fewest + (more > 0), f"{low} to {high} links between two groups")
    of_group = counts_of(combined(np.tile(plane, 2), np.concatenate([x, y])))
    wrong = int((of_group != outside).sum()) + planes * groups - len(of_group)
    proof.equal(f"groups without {outside} global links", wrong, 0)
    ends = np.bincount(np.concatenate([cabling.links.a[rows], cabling.links.b[rows]]), minlength=len(cabling.devices))
    of_switch = ends[cabling.devices_of(cabling.fabric.equals)]
    low, high = int(of_switch.min(initial=len(rows))), int(of_switch.max(initial=0))
    proof.holds(high - low <= 1, f"{low} to {high} global links of a switch")
    proof.note(f"{some(len(of_pair), 'pair')} of groups")


def cages_keep_one_kind(proof: Proof, cabling: FabricCabling) -> None:
    """A cage of a switch has links of one kind: to servers, or of one kind to other switches.

    Source: docs/formulation/direct-networks.md.
    """
    links = cabling.links
    device, cage = np.concatenate([links.a, links.b]), np.concatenate([links.a_cage, links.b_cage])
    code = combined(device, cage)
    kinds = np.tile(links.kind, 2)
    cages, first = np.unique(code, return_index=True)
    mixed = np.unique(combined(code, kinds), return_index=True)[1]
    proof.equal("cages with links of two kinds", len(mixed) - len(first), 0)
    proof.equal("ports with two links", repeated(combined(code, np.concatenate([links.a_lane, links.b_lane]))), 0)
    proof.note(f"{some(len(cages), 'cage')} in use")


def cuts_carry_claim(proof: Proof, cabling: FabricCabling) -> None:
    """The links between the halves of every dimension (or of the groups) carry the bisection that the file states.

    capacity of the links between >= stated bisection per GPU (which is written to six decimals) x GPUs of the side with
    fewer. Source: docs/formulation/direct-networks.md.
    """
    fabric = cabling.fabric
    written = exact(fabric.designed.metrics.bisection_gbps_per_gpu) - LAST_DIGIT / 2
    claimed = written * MBPS_PER_GBPS * fabric.evidence.sharers
    above = cabling.between_switches
    a, b = _ends_of(cabling, above)
    place, whole_server = _endpoints(cabling)
    for what, side in fabric.mesh.halves:
        capacity = int(cabling.mbps(above[side[a] != side[b]]).sum())
        ports = int(side[place].sum())
        fewer = Fraction(min(ports, len(place) - ports), whole_server)
        shown = f"{what}: {gbps(capacity)} Gb/s, {float(claimed * fewer / MBPS_PER_GBPS):g} claimed"
        proof.shows(capacity >= claimed * fewer, shown)


def _endpoints(cabling: FabricCabling) -> tuple[Ints, int]:
    """(Device of every endpoint, endpoints of a server): server ports on switches, or the servers themselves."""
    if not cabling.fabric.has_switches:
        return np.arange(cabling.fabric.mesh.switches), 1
    leaf = within_plane(cabling)[cabling.links.b[cabling.of("server-leaf")]]
    return leaf, cabling.fabric.designed.planes * cabling.clos.ports


def paths_are_as_long(proof: Proof, cabling: FabricCabling) -> None:
    """The longest shortest path between two switches with servers has as many switches as the file states.

    Up to ``MOST_SEARCHED`` switches by breadth-first search from each; beyond, in a HyperX a step in every dimension,
    in a torus half way round each, in a dragonfly at most local, global, local, in a dragonfly+ leaf, spine, spine,
    leaf. Source: design file, ``max_switch_hops``; where servers are joined to each other, ``max_nic_hops``, which
    leaves out both ends.
    """
    mesh = cabling.fabric.mesh
    claimed = mesh.hops_claimed(cabling.fabric.designed.metrics)
    if mesh.switches <= MOST_SEARCHED:
        longest = _devices_on_longest_path(cabling)
        proof.equal("devices on the longest path", claimed, longest)
        proof.note(f"{some(longest, 'device')} on the longest path, searched")
        return
    fewest, most = mesh.hops
    proof.holds(fewest <= claimed <= most, f"{some(claimed, 'device')} on the longest path, it has {fewest} to {most}")
    proof.note(f"{some(claimed, 'device')} on the longest path")


def _devices_on_longest_path(cabling: FabricCabling) -> int:
    """Devices on the longest shortest path of the first plane; one more than its switches if they are not
    all joined.
    """
    switches, used = cabling.fabric.mesh.switches, cabling.clos.leaves
    above = cabling.between_switches
    plane = cabling.devices.plane[cabling.links.a[above]]
    a, b = _ends_of(cabling, above[plane <= 1])
    near = np.zeros((switches, switches), dtype=np.float32)
    near[a, b] = near[b, a] = 1
    reached = np.eye(switches, dtype=np.bool_)
    for steps in range(1, switches + 1):
        if reached[:used, :used].all():
            return steps
        reached = reached | (reached.astype(np.float32) @ near > 0)
    return switches + 1
