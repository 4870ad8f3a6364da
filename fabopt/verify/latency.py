"""Rule of latency: the base round trip between the farthest servers, counted again from the file."""

from __future__ import annotations

from fabopt.units import NS_PER_US, exact
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, since, where
from fabopt.wiring.latency import paths_of


@since("0.3.0", "case.content.fabrics.max_latency_us")
@where(lambda fabric: fabric.wanted.max_latency_us is not None)
def paths_keep_latency(proof: Proof, fabric: FabricEvidence) -> None:
    """Every path has a known base round trip, no longer than the case allows.

    2 x (switches + metres + modules + FEC of one direction) + both NICs + sending a packet and its answer <=
    ``max_latency_us``, over the slowest switch of each tier and the slowest link of each kind in its longest length.
    Source: case file, ``max_latency_us``; catalog, ``latency_ns``, ``facts.latency``; docs/optics.md, latency.
    """
    most_us = fabric.wanted.max_latency_us
    assert most_us is not None
    paths = list(paths_of(fabric.evidence, fabric.designed))
    proof.holds(bool(paths), "how long servers take to pass traffic on is not known")
    for path in paths:
        proof.holds(not path.unknown, f"{path.name}: no figure for {', '.join(path.unknown)}")
        shown = f"{path.name}: {path.round_trip_ns / NS_PER_US:.3f} us of {most_us:g}"
        proof.holds(path.exact_round_trip_ns <= exact(most_us) * NS_PER_US, shown)
        proof.note(shown)
