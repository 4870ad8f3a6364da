"""A step, or a service, on the network's own latency in place of what NCCL's constants count for switches and cables.

The search keeps the constants, as lengths and parts of links are not known before a design is picked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.schema.prediction import PathTimes, Place
from fabopt.units import NS_PER_US, plain_fraction
from fabopt.workload.prediction import Prediction, seconds
from fabopt.workload.service import Service
from fabopt.workload.timing import PLACES, FabricBandwidth

# One way over switches and cables that the constants stand for: those clusters on which predictions are calibrated have
# two tiers or three of InfiniBand; 3 switches of 130 ns, 4 links with modules of 100 ns, 80 m of 4.96 ns.
COUNTED_NS = 3 * 130 + 4 * 100 + Fraction(80 * 496, 100)
_NS = 10**9


class PlacePath(NamedTuple):
    """The path of calls that stay below a boundary. ``ns``: one way over switches and cables; ``unknown``: its parts
    without a figure.
    """

    place: Place
    ns: Fraction
    unknown: tuple[str, ...]


def on_paths(network: FabricBandwidth, paths: Sequence[PlacePath]) -> FabricBandwidth:
    """The network with the latency of these paths, one for each place beyond the scale-up domain."""
    further_s = {path.place: (path.ns - COUNTED_NS) / _NS for path in paths}
    return replace(network, further_s=tuple(further_s.get(place, Fraction(0)) for place in PLACES))


def step_times(prediction: Prediction, paths: Sequence[PlacePath]) -> PathTimes:
    """The predicted step on these paths; no times where a part has no figure."""
    own = replace(prediction, network=on_paths(prediction.network, paths))
    step = own.step
    return _told(
        paths,
        step_s=seconds(step.step_s),
        exposed_communication=plain_fraction(step.exposed_share),
        gpu_utilization=plain_fraction(own.utilization),
    )


def service_times(service: Service, network: FabricBandwidth, paths: Sequence[PlacePath]) -> PathTimes:
    """What users of a service wait for on these paths; no times where a part has no figure."""
    own = on_paths(network, paths)
    return _told(paths, ttft_s=seconds(service.ttft_s(own)), tpot_s=seconds(service.tpot_s(own)))


def _told(paths: Iterable[PlacePath], **times: int | float) -> PathTimes:
    by_place = {path.place: plain_fraction(path.ns / NS_PER_US, 6) for path in paths}
    unknown = tuple(dict.fromkeys(part for path in paths for part in path.unknown))
    told = {} if unknown else times
    return PathTimes(counted_us=plain_fraction(COUNTED_NS / NS_PER_US, 6), one_way_us=by_place, unknown=unknown, **told)
