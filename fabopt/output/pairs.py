"""Bandwidth of fabrics whose servers are on two switches, with both and without one of them, in words."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import plain
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, MULTIHOMING


def pair_lines(design: Design) -> Iterator[str]:
    """A line for each fabric whose servers are on two switches."""
    for fabric in design.fabrics:
        left = _without_a_leaf(fabric)
        if fabric.homing == "pair" and left is not None:
            whole = plain(fabric.metrics.injection_gbps_per_gpu)
            yield (
                f"{fabric.name}: every server is on two switches{_joined(fabric)}, whose ports together give {whole} "
                f"Gb/s per GPU; without the worst leaf {plain(left)} are left"
            )


def _joined(fabric: FabricDesign) -> str:
    """The pairing of the two switches of a server, in words; empty where there is none."""
    if fabric.peer_links is not None:
        return f" that {CABLES_OF_PEER_LINK} cables of {plain(fabric.peer_links.gbps)} Gb/s join"
    return " that run EVPN multihoming" if fabric.pairing == MULTIHOMING else ""


def _without_a_leaf(fabric: FabricDesign) -> int | float | None:
    """Gb/s per GPU of the worst-hit server without a leaf; None where the file does not say."""
    return next((row.gbps_per_gpu for row in fabric.failures if (row.failed, row.count) == ("leaf", 1)), None)
