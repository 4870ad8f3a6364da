"""Bandwidth of a Clos whose leaves have more links to some spines than to others.

Two tiers have the rate of their worst cut into halves. Of three tiers it is the rate that every traffic can have: any
two leaves of a pod share ``ClosShape.shared_links`` links, and spines with the same index meet in their cores; so a
leaf sends and takes as if it had no more uplinks than those, and spines pass on as much of that as their ratio allows.
Proofs: docs/formulation/clos.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.stripes import least_half
from fabopt.problem.fabric import FabricProblem, FigureDemands
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.family import Batch


def half_rate(parts: Parts, shape: Shape) -> Fraction | None:
    """Mb/s of every server port across the worst cut into halves; None where stripes are even."""
    if not _is_uneven(parts, shape):
        return None
    if parts.tiers == 2:
        return _worst_half(parts, shape)
    full = min(int(shape.g), int(shape.servers)) * int(shape.k)
    return min(_port(parts), Fraction(_shared(parts, shape), full)) / _above_spines(parts, shape)


def alltoall_rate(parts: Parts, shape: Shape) -> Fraction | None:
    """Mb/s of every server port, equally to all others; None where stripes are even.

    Of two tiers: the rate of such traffic over the worst cut into halves.
    """
    if not _is_uneven(parts, shape):
        return None
    ports = int(shape.servers) * shape.ports
    if parts.tiers == 2:
        return _worst_half(parts, shape) * Fraction(ports - 1, ports - ports // 2)
    rate = _port(parts)
    for inside in {min(int(shape.g), int(shape.servers)) * int(shape.k), int(shape.last_group) * int(shape.k)}:
        rate = min(rate, Fraction(_shared(parts, shape) * (ports - 1), inside * (ports - inside)))
    return rate / _above_spines(parts, shape)


def ring_rate(parts: Parts, shape: Shape) -> Fraction | None:
    """Mb/s of every server port to the same port of the next server; None where stripes are even.

    Of two tiers: the links that leaves with the same place in one group and the next share, and in the last and the
    first. Of three, spread over the links that leaves share, the last group of a pod sends its spines no more than they
    pass on.
    """
    if not _is_uneven(parts, shape):
        return None
    if parts.tiers == 2:
        speed = parts.leaf_up.lane.port_mbps if parts.leaf_up is not None else 0
        shared = min(_links_of_both(shape, groups) for groups in (1, int(shape.groups) - 1))
        return Fraction(shared * speed, int(shape.k))
    links = int(shape.u if shape.by_rail else shape.shared_links)
    rate = Fraction(links * parts.uplink.lane.port_mbps, int(shape.k))
    if shape.groups > shape.groups_per_pod and parts.spine_up is not None:
        leaving = int(shape.k * shape.leaves_of_a_group * (shape.links_per_pair + 1))
        rate = min(rate, Fraction(int(shape.x) * links * parts.spine_up.lane.port_mbps, leaving))
    return rate


def figures_are_met(fabric: FabricProblem, batch: Batch[Parts, Shape], gpus: int) -> NDArray[np.bool_]:
    """Candidates with uneven stripes that meet the demanded figures, exactly, shape (size,).

    Others are True: figures of even stripes are least uplinks. ``gpus``: of a server. Rules ``figures_meet_demand``,
    ``failures_leave_bandwidth``.
    """
    met, demands = np.ones(len(batch), dtype=bool), fabric.figure_demands or FigureDemands(Fraction(1))
    if batch.parts.spine is None:
        return met
    bisection = max([demands.bisection, *(Fraction(survival.least_mbps) for survival in fabric.resilience)])
    wanted = ((half_rate, bisection), (alltoall_rate, demands.alltoall), (ring_rate, demands.allreduce))
    of_port = Fraction(max(1, gpus), batch.shape.ports * batch.shape.planes)
    for place in np.flatnonzero(np.broadcast_to(batch.shape.is_uneven, len(batch))).tolist():
        shape = batch.shape.row(place)
        for rate, least in wanted:
            given = rate(batch.parts, shape) if least else None
            met[place] &= given is None or given >= least * of_port
    return met


def across_halves(parts: Parts, shape: Shape, gpus: int) -> Fraction | None:
    """Mb/s per GPU (``gpus`` of a server) across the worst cut into halves; None where stripes are even."""
    rate = half_rate(parts, shape)
    return None if rate is None else rate * shape.ports * shape.planes / max(1, gpus)


def _is_uneven(parts: Parts, shape: Shape) -> bool:
    return parts.tiers > 1 and shape.groups * shape.rails > 1 and bool(shape.is_uneven)


def _port(parts: Parts) -> Fraction:
    return Fraction(parts.nic.port.lane.port_mbps)


def _worst_half(parts: Parts, shape: Shape) -> Fraction:
    hosts = int(shape.g * shape.k), int(shape.last_group * shape.k)
    speeds = parts.nic.port.lane.port_mbps, parts.uplink.lane.port_mbps
    rails = int(shape.rails)
    return least_half(
        int(shape.leaves), rails, hosts, int(shape.spines), int(shape.u), speeds, rails if shape.by_rail else 0
    )


def _shared(parts: Parts, shape: Shape) -> int:
    """Mb/s of the links that any two leaves of a pod share."""
    return int(shape.shared_links) * parts.uplink.lane.port_mbps


def _above_spines(parts: Parts, shape: Shape) -> Fraction:
    """The ratio at the spines, at least 1."""
    if parts.spine_up is None or parts.spine_down is None:
        return Fraction(1)
    below = int(shape.spine_down) * parts.spine_down.lane.port_mbps
    return max(Fraction(1), Fraction(below, int(shape.x) * parts.spine_up.lane.port_mbps))


def _links_of_both(shape: Shape, groups: int) -> int:
    """Links that two leaves of one rail share, their groups being ``groups`` apart."""
    if shape.by_rail:
        return int(shape.u)
    base, extra = divmod(int(shape.u), int(shape.spines))
    apart = groups * int(shape.rails) * extra % int(shape.spines)
    return base * int(shape.spines) + max(0, extra - apart) + max(0, extra + apart - int(shape.spines))
