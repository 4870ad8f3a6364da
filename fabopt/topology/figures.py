"""Bandwidth figures of a design, per GPU in Gb/s; formulas here are those of a Clos.

Injection is what a GPU can send into the fabric. Bisection is the one-way capacity of the worst balanced cut divided by
half the GPUs: injection over the product of the ratios above 1. All-to-all is the largest equal rate of uniform
traffic: with E server ports in a plane, each sending rho evenly to all others, a leaf with e ports sends
e rho (E-e)/(E-1) upwards, a pod likewise. Worst permutation is its throughput upper bound: all capacity over the
links that the heaviest matching of leaves takes. Ring all-reduce is the rate at which every port can send to the same
port of the next server. Hops are switches on the longest shortest path. Source: docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fabopt.network.graph.leaves import LeafClass, matched_links, mean_switches
from fabopt.schema.case import Failing
from fabopt.schema.design import Failed, Failure, Metrics
from fabopt.topology.clos.candidates import Clos
from fabopt.topology.clos.failures import bandwidth_left, failures_of, servers_cut_off
from fabopt.topology.direct import failures as direct
from fabopt.topology.direct import server_failures as servers
from fabopt.topology.direct.design import Direct, Flat
from fabopt.topology.direct.graph_figures import measured
from fabopt.topology.direct.server_torus import Switchless
from fabopt.topology.dragonfly_plus import failures as groups
from fabopt.topology.dragonfly_plus.design import Grouped
from fabopt.units import MBPS_PER_GBPS, plain_fraction

HOPS_BY_TIERS = {1: 1, 2: 3, 3: 5}
# Digits behind the point that files have of ratios and figures.
FILE_DIGITS = 6


@dataclass(frozen=True)
class Figures:
    """All in Mb/s per GPU, exact; ``oversubscription`` by boundary. None: not worked out, or the graph is too large."""

    oversubscription: dict[str, Fraction]
    injection: Fraction
    bisection: Fraction
    alltoall: Fraction
    permutation: Fraction | None
    allreduce: Fraction | None
    max_switch_hops: int
    mean_switch_hops: Fraction | None
    max_nic_hops: int | None = None

    def ratios(self) -> dict[str, int | float]:
        """Oversubscription as files have it."""
        return {name: plain_fraction(ratio, FILE_DIGITS) for name, ratio in self.oversubscription.items()}

    def metrics(self) -> Metrics:
        """The other figures as files have them, in Gb/s."""
        return Metrics(
            injection_gbps_per_gpu=_gbps(self.injection),
            bisection_gbps_per_gpu=_gbps(self.bisection),
            alltoall_gbps_per_gpu=_gbps(self.alltoall),
            max_switch_hops=self.max_switch_hops,
            permutation_gbps_per_gpu=None if self.permutation is None else _gbps(self.permutation),
            allreduce_gbps_per_gpu=None if self.allreduce is None else _gbps(self.allreduce),
            mean_switch_hops=None
            if self.mean_switch_hops is None
            else plain_fraction(self.mean_switch_hops, FILE_DIGITS),
            max_nic_hops=self.max_nic_hops,
        )


def _gbps(rate_mbps: Fraction) -> int | float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS, FILE_DIGITS)


def oversubscription(clos: Clos) -> dict[str, Fraction]:
    """d*v / (u*w) at each tier boundary, nominal speeds, d the most endpoints on any switch of the tier."""
    parts, shape = clos.parts, clos.shape
    ratios: dict[str, Fraction] = {}
    if parts.leaf_up is not None:
        ratios["leaf"] = Fraction(
            clos.down_ports * parts.leaf_down.lane.port_mbps, int(shape.u) * parts.leaf_up.lane.port_mbps
        )
    if parts.spine_up is not None and parts.spine_down is not None:
        ratios["spine"] = Fraction(
            int(shape.spine_down) * parts.spine_down.lane.port_mbps, int(shape.x) * parts.spine_up.lane.port_mbps
        )
    return ratios


def ratios_asked(design: Clos | Direct, gpus: int) -> dict[str, Fraction]:
    """The least ``max_oversubscription`` with which a design meets its demand, by boundary."""
    if isinstance(design, Direct):
        made = design.bandwidth(gpus)
        return {"leaf": made.injection / min(made.bisection, made.alltoall)}
    return oversubscription(design)


def figures(clos: Clos | Direct, gpus: int) -> Figures:
    """All figures of a candidate that have a formula: those of a direct network lack three."""
    if isinstance(clos, Direct):
        made = clos.bandwidth(gpus)
        return Figures(
            made.oversubscription, made.injection, made.bisection, made.alltoall, None, None, made.max_switch_hops,
            None, clos.passed_on,
        )  # fmt: skip
    ratios = oversubscription(clos)
    injection = clos.parts.nic.injection
    bisection = injection
    for ratio in ratios.values():
        bisection /= max(Fraction(1), ratio)
    bisection = min(bisection, clos.parts.nic.crosses_any_cut)
    return Figures(
        ratios,
        injection,
        bisection,
        _alltoall(clos, gpus),
        min(_permutation(clos, gpus), clos.parts.nic.crosses_any_cut),
        _allreduce(clos, gpus),
        HOPS_BY_TIERS[clos.tiers],
        Fraction(1) if clos.tiers == 1 else mean_switches(leaf_classes(clos)),
    )


def all_figures(design: Clos | Direct, gpus: int) -> Figures:
    """Figures of a design that is answered, those without a formula too, which may take seconds."""
    found = figures(design, gpus)
    made = measured(design, gpus) if isinstance(design, Direct) else None
    return found if made is None else replace(found, **made._asdict())


def left_after(design: Clos | Direct, gpus: int, failed: Failed, count: int) -> Fraction:
    """Mb/s per GPU (``gpus`` of a server) after so many failures of a kind."""
    if isinstance(design, Flat):
        return direct.bandwidth_left(design, gpus, failed, count)
    if isinstance(design, Grouped) and count == 1:
        return groups.bandwidth_left(design, gpus, failed)
    if isinstance(design, Switchless) and count == 1:
        return servers.bandwidth_left(design, gpus, failed)
    if isinstance(design, Direct):
        raise ValueError(f"{count} failures of {failed} in a {type(design).__name__} are not looked at")
    left = bandwidth_left(design.parts, design.shape, design.down_ports, gpus, failed, count)
    assert isinstance(left, Fraction)  # of one candidate
    return left


def failures_left(design: Clos | Direct, gpus: int, asked: Sequence[tuple[Failing, int]]) -> tuple[Failure, ...]:
    """What is left when one box or link of each kind fails, and after the failures that the case asks about.

    ``gpus``: of a server. What is not known of a graph that is too large is left out.
    """
    found = []
    told: list[tuple[Failed, int]] = [(failed, 1) for failed in _kinds_told(design)]
    for failed, count in dict.fromkeys([*told, *asked]):
        left = left_after(design, gpus, failed, count)
        cut_off = _cut_off(design, failed) if count == 1 else None
        rate = plain_fraction(left / MBPS_PER_GBPS)
        found.append(Failure(failed=failed, count=count, gbps_per_gpu=rate, servers_cut_off=cut_off))
    return tuple(found)


def _kinds_told(design: Clos | Direct) -> Sequence[Failed]:
    if isinstance(design, Flat):
        return direct.kinds_told(design)
    if isinstance(design, Grouped):
        return groups.kinds_told(design)
    if isinstance(design, Switchless):
        return servers.kinds_told(design)
    return () if isinstance(design, Direct) else failures_of(design.parts)


def _cut_off(design: Clos | Direct, failed: Failed) -> int | None:
    if isinstance(design, Flat):
        return direct.servers_cut_off(design, failed)
    if isinstance(design, Grouped):
        return groups.servers_cut_off(design, failed)
    if isinstance(design, Switchless):
        return servers.CUT_OFF
    if isinstance(design, Direct):
        return None
    return servers_cut_off(design.parts, design.shape, failed)


def _per_gpu(clos: Clos, gpus: int, port_rate: Fraction) -> Fraction:
    """What a GPU gets if each of its ports sends so much, at most its injection."""
    ports = clos.shape.servers * clos.shape.ports * clos.parts.nic.planes
    return min(clos.parts.nic.injection, port_rate * ports / gpus) if gpus else Fraction(0)


def leaf_classes(clos: Clos) -> tuple[LeafClass, ...]:
    """The leaves of a plane by their pods and server ports, for two tiers and more."""
    shape = clos.shape
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.k)
    rails = int(shape.rails) if shape.rail_pods else 1
    each = int(shape.leaves_of_a_group)
    full_pods = int(shape.pods) - rails
    return (
        LeafClass(0, full_pods, int(shape.groups_per_pod) * each, full),
        LeafClass(1, rails, (int(shape.last_pod_groups) - 1) * each, full),
        LeafClass(1, rails, each, last),
    )


def _permutation(clos: Clos, gpus: int) -> Fraction:
    """Throughput upper bound of the worst permutation: capacity both ways / links that the heaviest matching takes."""
    parts, shape = clos.parts, clos.shape
    matched = 0 if parts.leaf_up is None else matched_links(leaf_classes(clos))
    if not matched or parts.leaf_up is None:
        return _per_gpu(clos, gpus, Fraction(parts.nic.port.lane.port_mbps))
    capacity = int(shape.leaves * shape.u) * parts.leaf_up.lane.port_mbps
    if parts.spine_up is not None:
        capacity += int(shape.pods * shape.spines * shape.x) * parts.spine_up.lane.port_mbps
    return _per_gpu(clos, gpus, Fraction(2 * capacity, matched))


def _allreduce(clos: Clos, gpus: int) -> Fraction:
    """Every port sends to the same port of the next server: only a group's, or pod's, last server sends upwards."""
    parts, shape = clos.parts, clos.shape
    rate = Fraction(parts.nic.port.lane.port_mbps)
    if parts.leaf_up is not None and shape.groups > 1:
        rate = min(rate, Fraction(int(shape.u) * parts.leaf_up.lane.port_mbps, int(shape.k)))
    if parts.spine_up is not None and shape.groups > shape.groups_per_pod:
        leaving = int(shape.k * shape.leaves_of_a_group)
        rate = min(rate, Fraction(int(shape.spines * shape.x) * parts.spine_up.lane.port_mbps, leaving))
    return _per_gpu(clos, gpus, rate)


def _alltoall(clos: Clos, gpus: int) -> Fraction:
    parts, shape = clos.parts, clos.shape
    port_rate = Fraction(parts.nic.port.lane.port_mbps)
    ports = shape.servers * shape.ports
    for inside, capacity in _cuts(clos):
        outside = ports - inside
        if inside and outside:
            port_rate = min(port_rate, Fraction(capacity * (ports - 1), inside * outside))
    return _per_gpu(clos, gpus, port_rate)


def _cuts(clos: Clos) -> Iterable[tuple[int, int]]:
    """(server ports below, Mb/s upwards) of every kind of leaf and pod."""
    parts, shape = clos.parts, clos.shape
    full, last = int(shape.g * shape.k), int(shape.last_group * shape.k)
    if parts.leaf_up is not None:
        up = int(shape.u) * parts.leaf_up.lane.port_mbps
        yield from ((full, up), (last, up)) if shape.groups > 1 else ((last, up),)
    if parts.spine_up is not None:
        up = int(shape.spines) * int(shape.x) * parts.spine_up.lane.port_mbps
        per_group = 1 if shape.rail_pods else int(shape.rails)
        last_pod = ((int(shape.last_pod_groups) - 1) * full + last) * per_group
        if shape.groups > shape.groups_per_pod:
            yield int(shape.groups_per_pod) * full * per_group, up
        yield last_pod, up
