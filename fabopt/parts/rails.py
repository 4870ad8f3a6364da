"""Rails that do not meet: what the scale-up domain must carry, so that every GPU still reaches every other one.

Where each rail is a network of its own, traffic for a GPU on another rail first moves inside the source's domain to a
GPU on the destination's rail. Of uniform traffic over r rails that is the share (r - 1) / r, and as much arrives from
the others, so a GPU needs that share of its injection in each direction. Source: Wang et al., "Rail-only: A Low-Cost
High-Performance Network for Training LLMs with Trillion Parameters", arXiv 2307.12169, section 3.
"""

from __future__ import annotations

from fractions import Fraction

from fabopt.schema.catalog import Server
from fabopt.units import ceil_div, mbps, plain_fraction

FEWEST_RAILS = 2


def forwarded(injection: Fraction, rails: int) -> Fraction:
    """What a GPU forwards of uniform traffic, in the unit of its injection."""
    return injection * (rails - 1) / rails


def cannot_forward(server: Server, rails: int, injection_mbps: Fraction) -> str | None:
    """Why a server's scale-up domain cannot carry what goes from rail to rail, with the arithmetic; None if it can."""
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
        shown = [plain_fraction(one / 1000) for one in (injection_mbps, needed)]
        return (
            f"{server.id} forwards ({rails} - 1)/{rails} x {shown[0]} = {shown[1]} Gb/s per GPU between {rails} rails, "
            f"and its scale-up domain carries {server.scale_up.gbps_per_gpu:g}"
        )
    return None
