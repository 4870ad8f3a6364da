"""Bandwidth figures of a Clos, per GPU.

Bisection is injection over the product of the ratios above 1. With E server ports in a plane, each sending rho evenly
to all others, a leaf with e ports sends e rho (E-e)/(E-1) upwards, a pod likewise: that limits all-to-all. Around a
ring only the last server of a group, or of a pod, sends upwards. With uneven stripes no figure is above what the worst
cut into halves carries; see ``fabopt.topology.clos.stripes``. Source: docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from fabopt.network.graph.leaves import LeafClass, matched_links, mean_switches
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.stripes import alltoall_rate, half_rate, ring_rate
from fabopt.topology.design import Figures, single_flow
from fabopt.workload.prediction import gpus_below, network_of, ratio_left
from fabopt.workload.timing import FabricBandwidth

HOPS_BY_TIERS = {1: 1, 2: 3, 3: 5}


def oversubscription(clos: ClosNetwork) -> dict[str, Fraction]:
    """d*v / (u*w) at each tier boundary, nominal speeds; d: most ports below a switch of the tier that count."""
    parts, shape = clos.parts, clos.shape
    ratios: dict[str, Fraction] = {}
    if parts.leaf_up is not None:
        down, up = parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps
        ratios["leaf"] = Fraction(clos.down_ports * down, int(shape.u) * up)
        if shape.has_own_last:
            ratios["leaf"] = max(ratios["leaf"], Fraction(clos.last_ports * down, int(shape.own_u) * up))
    if parts.spine_up is not None and parts.spine_down is not None:
        ratios["spine"] = Fraction(
            clos.spine_ports * parts.spine_down.lane.port_mbps, int(shape.x) * parts.spine_up.lane.port_mbps
        )
    return ratios


def figures_of(clos: ClosNetwork, gpus: int) -> Figures:
    """The figures of a Clos; ``gpus``: of the whole cluster."""
    ratios = oversubscription(clos)
    injection = bisection = clos.parts.nic.injection
    for ratio in ratios.values():
        bisection /= max(Fraction(1), ratio)
    most = clos.parts.nic.crosses_any_cut
    across = half_rate(clos.parts, clos.shape)
    if across is not None:
        most = min(most, _per_gpu(clos, gpus, across))
    return Figures(
        oversubscription=ratios,
        injection=injection,
        bisection=min(bisection, most),
        alltoall=_alltoall(clos, gpus),
        max_switch_hops=HOPS_BY_TIERS[clos.tiers if clos.numbers.pods > 1 else min(clos.tiers, 2)],
        permutation=min(_permutation(clos, gpus), most),
        allreduce=allreduce(clos, gpus),
        mean_switch_hops=Fraction(1) if clos.tiers == 1 else mean_switches(leaf_classes(clos)),
        single_flow=single_flow(clos.parts.nic, *_uplink_speeds(clos)),
    )


def _uplink_speeds(clos: ClosNetwork) -> Iterator[int]:
    """Mb/s of a link of every boundary between tiers."""
    uplinks = (clos.parts.leaf_up, clos.parts.spine_up)[: clos.tiers - 1]
    yield from (use.lane.port_mbps for use in uplinks if use is not None)


def step_network(clos: ClosNetwork, gpus: int, server_gpus: int) -> FabricBandwidth:
    """Bandwidth of each GPU in a step of a model."""
    parts, shape = clos.parts, clos.shape
    below = gpus_below(clos.tiers, int(shape.g) * server_gpus, int(shape.groups_per_pod), gpus)
    return network_of(parts.nic.injection, oversubscription(clos), below, parts.reduces, without_spine(clos))


def without_spine(clos: ClosNetwork) -> Fraction | None:
    """The ratio at the leaves once each has lost the spine that it has most links to; None without spines."""
    parts, shape = clos.parts, clos.shape
    if parts.leaf_up is None:
        return None
    leaves = [(clos.down_ports, shape), *([(clos.last_ports, shape.of_last)] if shape.has_own_last else [])]
    ratios = [Fraction(*map(int, ratio_left(down, int(leaf.u), int(leaf.links_to_spines(1))))) for down, leaf in leaves]
    return max(ratios) * Fraction(parts.leaf_down.lane.port_mbps, parts.leaf_up.lane.port_mbps)


def _per_gpu(clos: ClosNetwork, gpus: int, port_rate: Fraction) -> Fraction:
    """Mb/s of a GPU (a server, where they have none) if each of its ports sends ``port_rate``, at most its
    injection.
    """
    servers = int(clos.shape.servers)
    ports = servers * clos.shape.ports * clos.parts.nic.planes
    return min(clos.parts.nic.injection, port_rate * ports / (gpus or servers))


def leaf_classes(clos: ClosNetwork) -> tuple[LeafClass, ...]:
    """The leaves of a plane by their pods and server ports, for two tiers and more."""
    shape = clos.shape
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.last_k)
    rails = int(shape.rails) if shape.rail_pods else 1
    leaves = int(shape.leaves_of_a_group)
    of_last = int(shape.leaves_of_last_group) if shape.has_own_last else leaves
    full_pods, rest = int(shape.pods) - rails, int(shape.rest_group * shape.k)
    return (
        LeafClass(0, full_pods, int(shape.groups_per_pod) * leaves, full),
        LeafClass(1, rails, (int(shape.last_pod_groups) - 1 - (rest > 0)) * leaves, full),
        LeafClass(1, rails, of_last, last),
        *([LeafClass(1, rails, leaves, rest)] if rest else []),
    )


def _permutation(clos: ClosNetwork, gpus: int) -> Fraction:
    """Throughput upper bound of the worst permutation: capacity both ways over links of the heaviest matching."""
    parts, shape = clos.parts, clos.shape
    matched = 0 if parts.leaf_up is None else matched_links(leaf_classes(clos))
    if not matched or parts.leaf_up is None:
        return _per_gpu(clos, gpus, Fraction(parts.nic.port.lane.port_mbps))
    capacity = int(shape.uplinks) * parts.leaf_up.lane.port_mbps
    if parts.spine_up is not None:
        capacity += int(shape.pods * shape.spines * shape.x) * parts.spine_up.lane.port_mbps
    return _per_gpu(clos, gpus, Fraction(2 * capacity, matched))


def allreduce(clos: ClosNetwork, gpus: int) -> Fraction:
    """Mb/s per GPU where every port sends to the same port of the next server."""
    parts, shape = clos.parts, clos.shape
    rate = Fraction(parts.nic.port.lane.port_mbps)
    if parts.leaf_up is not None and shape.groups > 1:
        rate = min(rate, Fraction(int(shape.u) * parts.leaf_up.lane.port_mbps, int(shape.k)))
        rate = min(rate, Fraction(int(shape.last_u) * parts.leaf_up.lane.port_mbps, int(shape.last_k)))
    if parts.spine_up is not None and shape.groups > shape.groups_per_pod:
        leaving = int(shape.k * shape.leaves_of_a_group)
        rate = min(rate, Fraction(int(shape.spines * shape.x) * parts.spine_up.lane.port_mbps, leaving))
    striped = ring_rate(parts, shape) if shape.groups > 1 else None
    if striped is not None:
        rate = min(rate, striped)
    return _per_gpu(clos, gpus, rate)


def _alltoall(clos: ClosNetwork, gpus: int) -> Fraction:
    parts, shape = clos.parts, clos.shape
    port_rate = Fraction(parts.nic.port.lane.port_mbps)
    ports = shape.servers * shape.ports
    for inside, capacity in _cuts(clos):
        outside = ports - inside
        if inside and outside:
            port_rate = min(port_rate, Fraction(capacity * (ports - 1), inside * outside))
    striped = alltoall_rate(parts, shape)
    if striped is not None:
        port_rate = min(port_rate, striped)
    return _per_gpu(clos, gpus, port_rate)


def _cuts(clos: ClosNetwork) -> Iterable[tuple[int, int]]:
    """(server ports below, Mb/s upwards) of every kind of leaf and pod."""
    parts, shape = clos.parts, clos.shape
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.last_k)
    if parts.leaf_up is not None:
        if shape.groups > 1:
            yield full, int(shape.u) * parts.leaf_up.lane.port_mbps
        yield last, int(shape.last_u) * parts.leaf_up.lane.port_mbps
    if parts.spine_up is not None:
        up = int(shape.spines) * int(shape.x) * parts.spine_up.lane.port_mbps
        # ports of a server in a pod: those of one rail, or all
        ports = int(shape.k * shape.leaves_of_a_group)
        servers = int(shape.groups_per_pod * shape.g)
        if shape.groups > shape.groups_per_pod:
            yield servers * ports, up
        yield int((shape.last_pod_groups - 1) * shape.g + shape.last_group) * ports, up
