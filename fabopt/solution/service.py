"""Words on the service of a network compared with another one, and on its last leaf group."""

from __future__ import annotations

from fractions import Fraction

from fabopt.problem.problem import Problem
from fabopt.schema.structure import AnyStructure, Structure
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.design import NetworkDesign
from fabopt.units import MBPS_PER_GBPS, plain_fraction, some

RAIL_ONLY = "rail-only"


def carries(design: NetworkDesign, gpus: int) -> str:
    """Bandwidth figures in words, for families are not compared by cost alone."""
    metrics = design.figures(gpus).metrics()
    return (
        f"bisection {metrics.bisection_gbps_per_gpu:g}, all-to-all {metrics.alltoall_gbps_per_gpu:g} Gb/s per GPU, "
        f"at most {some(metrics.max_switch_hops, 'switch')} on a path"
        + ("" if metrics.max_nic_hops is None else f", {some(metrics.max_nic_hops, 'server')} to pass through")
    )


def service_beside(other: NetworkDesign, design: NetworkDesign, problem: Problem) -> str:
    """Words on the service of a Clos compared with another one: same-rail pairs on one leaf, bandwidth without a leaf,
    the worst traffic between leaves if it differs, and rails that meet in no switch; empty unless both are Clos.
    """
    if not isinstance(other, ClosDesign) or not isinstance(design, ClosDesign):
        return ""
    near, own_near = (f"{100 * _pairs_on_a_leaf(one):.3g}" for one in (other, design))
    words = f"; same-rail pairs on one leaf {near} % (here {own_near} %)"
    left, own_left = (_without_a_leaf(one, problem.server.gpus) for one in (other, design))
    words += f", without a leaf {left} (here {own_left})"
    worst, own_worst = (_worst_between_leaves(one, problem.gpus) for one in (other, design))
    if worst != own_worst and None not in (worst, own_worst):
        words += f", worst traffic of leaves with leaves {worst} Gb/s per GPU (here {own_worst})"
    if other.nic.topology == RAIL_ONLY and other.nic.scale_up is not None:
        words += f", between rails inside servers alone, at {_gbps(other.nic.scale_up)} Gb/s per GPU"
    return words


def _pairs_on_a_leaf(design: ClosDesign) -> float:
    """The share of all pairs of servers with their ports of a rail on one leaf: pairs within a group."""
    shape = design.network.shape
    servers, group, last = int(shape.servers), int(shape.g), int(shape.last_group)
    return ((servers - last) * (group - 1) + last * (last - 1)) / (servers * max(1, servers - 1))


def _without_a_leaf(design: ClosDesign, server_gpus: int) -> str:
    """What a Clos has left without a leaf: servers cut off, or Gb/s per GPU of what there are with all leaves."""
    failures = design.failures(server_gpus)
    cut_off = failures.servers_cut_off("leaf")
    if cut_off:
        return f"{some(cut_off, 'server')} cut off"
    left, whole = (_gbps(failures.bandwidth_left("leaf", count)) for count in (1, 0))
    return f"degraded to {left} of {whole} Gb/s a GPU"


def _worst_between_leaves(design: ClosDesign, gpus: int) -> int | float | None:
    """Gb/s per GPU in the worst permutation; None where that is not known."""
    worst = design.figures(gpus).permutation
    return None if worst is None else _gbps(worst)


def _gbps(rate_mbps: Fraction) -> int | float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS, 1)


def last_group_words(structure: AnyStructure) -> str:
    """Words on a differing last leaf group, and on the loss of one of its leaves."""
    last = structure.last_group if isinstance(structure, Structure) else None
    if last is None:
        return ""
    ports = last.ports_per_server_per_leaf
    lost = ", lost with it" if last.leaves == 1 else f", each with {ports} of a server's ports" if ports > 1 else ""
    return f"; the last {some(last.servers, 'server')} on {some(last.leaves, 'leaf')}{lost}"
