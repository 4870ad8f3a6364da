"""Planes and rails: how ports of NICs are dealt over disjoint networks, and the traffic that then crosses inside
servers.

Where each rail is a network of its own, traffic for a GPU on another rail first moves inside the source's domain to a
GPU on the destination's rail. Of uniform traffic over r rails that is the share (r - 1) / r, and as much arrives from
the others, so a GPU needs that share of its injection in each direction. Source: Wang et al., "Rail-only: A Low-Cost
High-Performance Network for Training LLMs with Trillion Parameters", arXiv 2307.12169, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from fabopt.schema.case import Fabric
from fabopt.schema.server import Server
from fabopt.units import ceil_div, mbps, plain_fraction

FEWEST_RAILS = 2
RAIL_ONLY = "rail-only"


class Division(NamedTuple):
    """How the ports of NICs are dealt over networks that share no switch: fields as in ``NicOption``."""

    planes: int
    topology: str = "clos"
    apart: bool = False


def divisions(fabric: Fabric, nics_per_server: int, ports_per_nic: int) -> Iterable[Division]:
    """The ways that the case's topologies and planes allow; rails of their own are two at least."""
    allowed = set(fabric.topologies)
    planes = _planes(fabric, ports_per_nic)
    if allowed - {RAIL_ONLY}:
        if fabric.planes != "rails":
            yield from (Division(number) for number in planes)
        if fabric.planes in ("rails", "any") and nics_per_server >= FEWEST_RAILS and allowed & {"clos", "any"}:
            yield Division(nics_per_server, apart=True)
    if allowed & {RAIL_ONLY, "any"} and nics_per_server >= FEWEST_RAILS:
        yield from (Division(nics_per_server * number, RAIL_ONLY, True) for number in planes)


def _planes(fabric: Fabric, ports_per_nic: int) -> list[int]:
    wanted = fabric.planes
    if wanted == "rails":
        return [1]
    if wanted == "any":
        options: Iterable[int] = range(1, ports_per_nic + 1)
    else:
        options = (wanted,) if isinstance(wanted, int) else sorted(set(wanted))
    # Rule ``planes_are_disjoint``: every NIC has equally many ports in each plane
    return [planes for planes in options if ports_per_nic % planes == 0]


def forwarded(injection: Fraction, rails: int) -> Fraction:
    """Uniform traffic that a GPU forwards, in the unit of its injection."""
    return injection * (rails - 1) / rails


def cannot_forward(server: Server, rails: int, injection_mbps: Fraction) -> str | None:
    """Why a server's scale-up domain cannot carry the traffic between rails, with the arithmetic; None if it can."""
    if server.scale_up is None:
        return f"{server.id} has no `scale_up` domain to move traffic between its {rails} rails"
    gpus = server.scale_up.domain_gpus
    if gpus < server.gpus:
        return (
            f"a scale-up domain of {server.id} has {gpus} of its {server.gpus} GPUs, "
            f"which are on {ceil_div(gpus * rails, server.gpus)} of {rails} rails"
        )
    needed = forwarded(injection_mbps, rails)
    if mbps(server.scale_up.gbps_per_gpu) < needed:
        shown = [plain_fraction(rate_mbps / 1000) for rate_mbps in (injection_mbps, needed)]
        return (
            f"{server.id} forwards ({rails} - 1)/{rails} x {shown[0]} = {shown[1]} Gb/s per GPU between {rails} rails, "
            f"and its scale-up domain carries {server.scale_up.gbps_per_gpu:g}"
        )
    return None
