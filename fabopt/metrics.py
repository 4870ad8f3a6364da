"""Bandwidth figures of a Clos, per GPU in Gb/s.

Injection is what a GPU can send into the fabric. Bisection is the one-way capacity of the worst balanced cut divided by
half the GPUs: injection over the product of the ratios above 1. All-to-all is the largest equal rate of uniform
traffic: with E server ports in a plane, each sending rho evenly to all others, a leaf with e ports sends
e rho (E-e)/(E-1) upwards, a pod likewise. Hops are switches on the longest shortest path. Source: contract, section
Design file; docs/formulation.md, "Figures".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from fabopt.topology.clos.candidates import Clos

HOPS_BY_TIERS = {1: 1, 2: 3, 3: 5}


@dataclass(frozen=True)
class Figures:
    """All in Mb/s per GPU, exact; ``oversubscription`` by boundary."""

    oversubscription: dict[str, Fraction]
    injection: Fraction
    bisection: Fraction
    alltoall: Fraction
    max_switch_hops: int


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


def figures(clos: Clos, gpus: int) -> Figures:
    """All figures of a candidate."""
    ratios = oversubscription(clos)
    injection = clos.parts.nic.injection
    bisection = injection
    for ratio in ratios.values():
        bisection /= max(Fraction(1), ratio)
    bisection = min(bisection, clos.parts.nic.crosses_any_cut)
    return Figures(ratios, injection, bisection, _alltoall(clos, gpus), HOPS_BY_TIERS[clos.tiers])


def _alltoall(clos: Clos, gpus: int) -> Fraction:
    parts, shape = clos.parts, clos.shape
    port_rate = Fraction(parts.nic.port.lane.port_mbps)
    ports = shape.servers * shape.ports
    for inside, capacity in _cuts(clos):
        outside = ports - inside
        if inside and outside:
            port_rate = min(port_rate, Fraction(capacity * (ports - 1), inside * outside))
    per_gpu = port_rate * parts.nic.planes * ports / gpus if gpus else Fraction(0)
    return min(parts.nic.injection, per_gpu)


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
