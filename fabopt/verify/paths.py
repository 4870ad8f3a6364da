"""Rules of paths through the explicit wiring: rails, stripes, connectivity and the bisection by maximum flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from fabopt.network.components import first_joined
from fabopt.units import MBPS_PER_GBPS, ceil_div, exact, gbps, some
from fabopt.verify.clos_counts import ClosCounts
from fabopt.verify.link_kinds import LEAF_SPINE, SERVER_LEAF, SPINE_CORE
from fabopt.verify.mixed_spines import links_are_in_proportion
from fabopt.verify.proof import Proof, combined, counts_of, distinct, since
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Ints

Mask = NDArray[np.bool_]
# From node, to node and Mb/s.
Arcs = tuple[Ints, Ints, Ints]


def rails_reach_leaves(proof: Proof, cabling: FabricCabling) -> None:
    """Every server has every rail: port by port on the leaf of its group, plane and rail.

    With pp = p / P: port i of NIC j of server s leads to plane i // pp, group s // g, rail (j x pp + i mod pp) // k,
    all from 0, NICs of the fabric alone. So a server has k ports on each of r leaves a plane, and the same port of all
    servers of a group is on one leaf. In a rail-only fabric the network of NIC j of c is (i // pp) x c + j, and the
    leaf of the group in it (i mod pp) // k. Of dual-homed NICs the rail is ((i mod pp) x c + j) // k. Source:
    docs/formulation/wiring.md.
    """
    clos, links, devices = cabling.clos, cabling.links, cabling.devices
    rows = cabling.of(SERVER_LEAF)
    server, leaf = cabling.numbers("server")[links.a[rows]], links.b[rows]
    is_of_last = _in_own_last_group(clos, server)
    per_leaf = np.where(is_of_last, clos.own_k, clos.k)
    nic_number, port = links.a_nic[rows] - cabling.server_before.nics - 1, links.a_nic_port[rows] - 1
    of_nic = cabling.fabric.designed.nic.ports_per_nic // cabling.fabric.nic_networks
    plane, place = port // of_nic, port % of_nic
    if cabling.fabric.networks.apart:
        plane = plane * cabling.fabric.designed.nic.per_server + nic_number
    else:
        nics = cabling.fabric.designed.nic.per_server
        place = place * nics + nic_number if cabling.fabric.wanted.homing == "dual" else nic_number * of_nic + place
    for what, column, number in (
        ("group", devices.group, clos.group_of_server(server)),
        ("plane", devices.plane, plane),
        ("rail", devices.rail, place // per_leaf),
    ):
        wrong = int((column[leaf] != number + 1).sum())
        proof.equal(f"server ports on a leaf of another {what}", wrong, 0)
    pair = combined(server, leaf)
    of_pair, first = counts_of(pair), np.unique(pair, return_index=True)[1]
    more = (clos.last_rails - clos.rails) * clos.last_group
    proof.equal("(server, leaf) pairs", len(of_pair), (clos.servers * clos.rails + more) * clos.planes)
    proof.equal(f"pairs without {some(clos.k, 'link')}", int((of_pair != per_leaf[first]).sum()), 0)
    proof.note(f"{some(clos.rails, 'rail')} a plane, {some(clos.k, 'port')} of every server on each")


def _in_own_last_group(clos: ClosCounts, server: Ints) -> Mask:
    """Whether each server is of a last group unlike the others; both arrays have shape (servers asked,)."""
    return np.asarray((clos.group_of_server(server) == clos.before_own) & clos.has_own_last)


@since("0.2.0")
def rails_use_same_ports(proof: Proof, cabling: FabricCabling) -> None:
    """Server n of a group is at the same port of each of its leaves, and of those of every other group.

    Its links to a leaf, in the order of its NICs and their ports, take the same cages and lanes there on all leaves; a
    last group unlike the others is compared by itself. Attachments come after the servers, and may be at any port: of a
    logical fabric the servers at different ports are counted in a note. With a base they were there first, so that
    servers that come to their leaves take ports that are free; those at other ports, as cables in service were found,
    are counted in a note. Source: docs/formulation/wiring.md.
    """
    clos, rows, attached = cabling.clos, cabling.of(SERVER_LEAF), cabling.of("attachment-leaf")
    base = cabling.fabric.evidence.case.base
    if base is not None:
        rows = rows[~np.isin(cabling.links.b[rows], cabling.links.b[attached])]
    is_of_last = _in_own_last_group(clos, cabling.numbers("server")[cabling.links.a[rows]])
    kinds = rows[~is_of_last], rows[is_of_last]
    others = sum(_at_other_ports(cabling, of_kind, clos.places_in_groups) for of_kind in kinds)
    if base is None or base.found_cables is None:
        proof.equal("servers at another port on some leaf", others, 0)
    elif others:
        proof.note(f"{others} at different ports, as cables in service were found")
    proof.note(f"{some(clos.servers, 'server')}, each at the same {some(clos.k, 'port')} of all its leaves")
    for name in cabling.fabric.logical:
        other = _at_other_ports(cabling, attached[cabling.attached_names[attached] == name], np.asarray)
        proof.note(f"{name}: {other} at different ports")


def _at_other_ports(cabling: FabricCabling, rows: Ints, place_of: Callable[[Ints], Ints]) -> int:
    """Servers with a link at another port of a leaf than most servers of their number in a group, ``place_of``."""
    links = cabling.links
    rows = rows[np.lexsort((links.a_nic_port[rows], links.a_nic[rows], links.b[rows], links.a[rows]))]
    server = cabling.numbers("server")[links.a[rows]]
    _, first, pair = np.unique(combined(server, links.b[rows]), return_index=True, return_inverse=True)
    place = np.arange(len(rows)) - first[pair.ravel()]
    alike = np.unique(combined(place_of(server), place), return_inverse=True)[1].ravel()
    ports, port, count = np.unique(
        combined(alike, links.b_cage[rows], links.b_lane[rows]), return_inverse=True, return_counts=True
    )
    holder = np.zeros(len(ports), dtype=np.int64)
    holder[port.ravel()] = alike
    by_use = np.lexsort((-count, holder))
    usual = by_use[np.unique(holder[by_use], return_index=True)[1]]
    return len(distinct(server[port.ravel() != usual[alike]]))


def leaves_reach_spines(proof: Proof, cabling: FabricCabling) -> None:
    """Every leaf reaches every spine of its pod, by the same number of links.

    u links a leaf, all within its plane and pod; to each spine u / S (even, or with a last group of its own), in
    proportion to the weights of two types of spines, or counts that differ by one at most, as do the down links of a
    pod's spines (any); or counts equal for leaves of one rail, and down links of a pod's spines that differ by its
    groups at most (rail). Source: case file, ``striping``.
    """
    clos, links, devices = cabling.clos, cabling.links, cabling.devices
    rows = cabling.of(LEAF_SPINE)
    if clos.tiers == 1:
        proof.equal("uplinks of one tier", len(rows), 0)
        proof.note("one tier has no spines")
        return
    leaf, spine = links.a[rows], links.b[rows]
    strays = (devices.plane[leaf] != devices.plane[spine]) | (devices.pod[leaf] != devices.pod[spine])
    proof.equal("links to a spine of another pod", int(strays.sum()), 0)
    leaves = cabling.devices_of("leaf")
    is_of_last = clos.has_own_last & (devices.group[leaves] == clos.before_own + 1)
    uplinks = np.bincount(leaf, minlength=len(devices))[leaves]
    wanted = np.where(is_of_last, clos.own_u, clos.u)
    proof.equal(f"leaves without {some(clos.u, 'uplink')}", int((uplinks != wanted).sum()), 0)
    of_pair = counts_of(combined(leaf, spine))
    proof.equal("(leaf, spine) pairs", len(of_pair), clos.planes * clos.leaves * clos.spines)
    if clos.to_spines:
        links_are_in_proportion(proof, cabling, leaf, spine, np.isin(leaf, leaves[is_of_last]))
        proof.note(f"{some(len(of_pair), 'pair')} in proportion to two types of spines")
        return
    low, high = _fewest_and_most(clos, combined(leaf, spine), np.isin(leaf, leaves[is_of_last]))
    most_difference = 0 if cabling.fabric.wanted.striping == "even" or clos.has_own_last else 1
    proof.holds(high - low <= most_difference, f"{low} to {high} links between a leaf and a spine of its pod")
    if clos.by_rail and not clos.has_own_last:
        _rails_are_alike(proof, cabling, leaf, spine)
        most_difference = clos.groups_per_pod
    _spines_are_even(proof, cabling, spine, most_difference)
    proof.note(f"{some(len(of_pair), 'pair')} of {f'{low} or ' if high > low else ''}{some(high, 'link')}")


def _fewest_and_most(clos: ClosCounts, pairs: Ints, is_of_last: Mask) -> tuple[int, int]:
    """Fewest and most links of a leaf and a spine; leaves of a last group unlike the others as if they had m for m'."""
    of_pair, last = counts_of(pairs[~is_of_last]), counts_of(pairs[is_of_last])
    if clos.has_own_last:
        wanted = clos.own_u // clos.spines
        of_pair = np.concatenate([of_pair, last - wanted + clos.links_per_pair])
    return int(of_pair.min(initial=clos.u)), int(of_pair.max(initial=0))


def _rails_are_alike(proof: Proof, cabling: FabricCabling, leaf: Ints, spine: Ints) -> None:
    """Leaves of one rail, plane and pod have as many links to each spine."""
    devices = cabling.devices
    pairs, links = np.unique(combined(leaf, spine), return_index=True)[1], counts_of(combined(leaf, spine))
    rails = combined(devices.rail[leaf[pairs]], spine[pairs])
    kinds = np.unique(np.stack([rails, links]), axis=1)
    proof.equal("(rail, spine) pairs with different links", kinds.shape[1] - len(np.unique(rails)), 0)


def _spines_are_even(proof: Proof, cabling: FabricCabling, spine: Ints, most_difference: int) -> None:
    devices, spines = cabling.devices, cabling.devices_of("spine")
    loads = np.bincount(spine, minlength=len(devices))[spines]
    pod = np.unique(combined(devices.plane[spines], devices.pod[spines]), return_inverse=True)[1].ravel()
    low, high = np.full(len(spines), len(spine)), np.zeros(len(spines), dtype=np.int64)
    np.minimum.at(low, pod, loads)
    np.maximum.at(high, pod, loads)
    widest = int((high - low).max(initial=0))
    proof.holds(widest <= most_difference, f"down links of a pod's spines differ by {widest}")


def spines_reach_cores(proof: Proof, cabling: FabricCabling) -> None:
    """Every spine reaches every core of its group, and every core q spines of every pod.

    m2 links to each of C cores; spines of a plane fall into S / q sets by their cores; q x m2 links between a core and
    each of the n pods. Source: docs/formulation/clos.md.
    """
    clos, links, devices = cabling.clos, cabling.links, cabling.devices
    rows = cabling.of(SPINE_CORE)
    if clos.tiers < 3:
        proof.equal("links to cores", len(rows), 0)
        proof.note(f"no cores in {some(clos.tiers, 'tier')}")
        return
    spine, core = links.a[rows], links.b[rows]
    proof.equal("links to another plane's core", int((devices.plane[spine] != devices.plane[core]).sum()), 0)
    pairs, of_pair = np.unique(np.stack([spine, core]), axis=1, return_counts=True)
    wrong = int((of_pair != clos.m2).sum())
    proof.equal(f"(spine, core) pairs without {some(clos.m2, 'link')}", wrong, 0)
    spines = clos.planes * clos.pods * clos.spines
    proof.equal("(spine, core) pairs", pairs.shape[1], spines * clos.cores_per_group)
    groups = np.unique(pairs[1].reshape(spines, clos.cores_per_group), axis=0)
    proof.equal("sets of cores that spines share", len(groups), clos.planes * clos.core_groups)
    to_pod = counts_of(combined(core, devices.pod[spine]))
    wanted = clos.q * clos.m2
    proof.equal(f"(core, pod) pairs without {some(wanted, 'link')}", int((to_pod != wanted).sum()), 0)
    proof.equal("(core, pod) pairs", len(to_pod), clos.switches()[2] * clos.pods)
    cores = f"{some(len(groups), 'group')} of {some(clos.cores_per_group, 'core')}"
    proof.note(f"{cores}, {some(wanted, 'link')} from each core to each pod")


def planes_are_connected(proof: Proof, cabling: FabricCabling) -> None:
    """Every server reaches every other one in every plane, through switches only.

    The switches of a plane are one component of the graph of switch links (so P components in all; of one tier each
    switch is one), and every server has a link to a leaf of each; servers forward no traffic. Source:
    docs/formulation/wiring.md.
    """
    clos, links, devices = cabling.clos, cabling.links, cabling.devices
    above = cabling.between_switches
    component = first_joined(len(devices), links.a[above], links.b[above])
    switches = np.concatenate([cabling.devices_of(tier.role) for tier in cabling.tiers()])
    alone = clos.tiers == 1 and not cabling.fabric.is_direct
    number = clos.planes * (clos.leaves if alone else 1)
    proof.equal("connected sets of switches", len(distinct(component[switches])), number)
    places = distinct(combined(component[switches], devices.plane[switches]))
    proof.equal("sets of switches by plane", len(places), number)
    rows = cabling.of(SERVER_LEAF)
    reached = distinct(combined(links.a[rows], component[links.b[rows]]))
    proof.equal("(server, set) pairs that are joined", len(reached), clos.servers * number)
    planes = f"{some(len(switches), 'switch')} in {some(clos.planes, 'connected plane')}"
    proof.note(f"{planes}, {some(clos.servers, 'server')} on each")


def bisection_carries_claim(proof: Proof, cabling: FabricCabling) -> None:
    """One half of the servers can send to the other the bisection that the file states, over the links of the wiring.

    Cuts: servers 1 .. a against the rest, for a = N // 2 and the ends of the group and of the pod nearest to it. For
    each, maximum flow >= claimed bisection per GPU x GPUs of the smaller side. A server sends or takes at most its
    injection, a link carries its speed each way, no server forwards. Worse cuts of uneven stripes are found by
    ``figures_hold_on_graph``.

    Proven are these cuts, and as links run both ways, for both ways. Not proven: other ways to part the servers, and
    that routing finds the flow. Source: docs/formulation/bandwidth.md; Ford and Fulkerson, "Maximal flow through a
    network", 1956 (max-flow min-cut).
    """
    clos, fabric = cabling.clos, cabling.fabric
    per_server = exact(fabric.designed.metrics.bisection_gbps_per_gpu) * MBPS_PER_GBPS * fabric.evidence.sharers
    for first in _cuts(clos):
        needed = min(first, clos.servers - first) * (per_server.numerator // per_server.denominator)
        flow = _flow(cabling, first)
        where = f"{gbps(flow)} Gb/s between {some(first, 'server')} and {clos.servers - first}, {gbps(needed)} claimed"
        proof.shows(flow >= needed, where)
    if clos.servers == 1:
        proof.note("one server has no halves")


def _cuts(clos: ClosCounts) -> list[int]:
    """Servers on the first side of each cut: half of them, or groups or pods nearest to half."""
    half = clos.servers // 2
    sizes = (1, clos.g, clos.g * clos.groups_per_pod)
    cuts = {max(size, (half + size // 2) // size * size) for size in sizes}
    return sorted(cut for cut in cuts if 0 < cut < clos.servers)


def _flow(cabling: FabricCabling, cut: int) -> int:
    """Mb/s that the first servers can send to the others.

    Servers with the same links and side are one node, which takes nothing from any flow: its flow can be shared among
    them equally.
    """
    links, devices, fabric = cabling.links, len(cabling.devices), cabling.fabric
    injection = fabric.injection * fabric.evidence.sharers
    source, sink = devices, devices + 1
    per_server = ceil_div(injection.numerator, injection.denominator)
    sets, sizes, leaves = _equal_servers(cabling, cut)
    nodes, sends = devices + 2 + np.arange(len(sets)), sets < cut
    ports = np.repeat(nodes, leaves.shape[1]), leaves.ravel()
    up = np.repeat(sends, leaves.shape[1])
    share = np.repeat(sizes * fabric.nic_lane.port_mbps, leaves.shape[1])
    one_way = (
        (np.where(sends, source, nodes), np.where(sends, nodes, sink), sizes * per_server),
        (np.where(up, ports[0], ports[1]), np.where(up, ports[1], ports[0]), share),
    )
    above = cabling.between_switches
    _, first, pair = np.unique(combined(links.a[above], links.b[above]), return_index=True, return_inverse=True)
    capacity = np.bincount(pair.ravel(), weights=cabling.mbps(above), minlength=len(first)).astype(np.int64)
    return flow_through(one_way, (links.a[above][first], links.b[above][first], capacity), source, sink)


def flow_through(one_way: Iterable[Arcs], both_ways: Arcs, source: int, sink: int) -> int:
    """Mb/s from a source to a sink of a graph: ends and Mb/s of its arcs have shape (arcs,).

    Raises ``ValueError`` where what carries both ways, which are cables, has no speed.
    """
    from ortools.graph.python import max_flow  # only two rules need it

    a, b, speed = both_ways
    if speed.min(initial=0) < 0:
        raise ValueError("there are links without a speed")
    graph = max_flow.SimpleMaxFlow()
    for arcs in (*one_way, (a, b, speed), (b, a, speed)):
        graph.add_arcs_with_capacity(*arcs)
    status = graph.solve(source, sink)
    if status != graph.OPTIMAL:
        raise RuntimeError(f"the flow has no optimum: {status}")
    return int(graph.optimal_flow())


def _equal_servers(cabling: FabricCabling, cut: int) -> tuple[Ints, Ints, Ints]:
    """Servers of one side with the same leaves: (first server of each set, size of each, leaves of every port)."""
    links, rows = cabling.links, cabling.of(SERVER_LEAF)
    server = cabling.numbers("server")[links.a[rows]]
    order = np.lexsort((links.b[rows], server))
    leaves = links.b[rows][order].reshape(cabling.clos.servers, -1)
    sides = np.column_stack([np.arange(len(leaves)) >= cut, leaves])
    kept, first, sizes = np.unique(sides, axis=0, return_index=True, return_counts=True)
    return first, sizes, kept[:, 1:]
