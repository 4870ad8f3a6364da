"""The topology families by name, and what of a case each cannot design yet.

What designs a family is in ``fabopt.topology.families``, under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fabopt.schema.case import Case, Fabric


class Feature(NamedTuple):
    """Something that a case may ask for. ``words``: what it is; ``key``: path in the fabric, or from the case's top."""

    words: str
    key: str
    of_fabric: bool
    is_asked: Callable[[Case, Fabric], bool]


FLOOR = Feature("a floor plan", "site.floor", False, lambda case, fabric: case.site.floor is not None)
GROWTH = Feature("growth in stages", "stages", False, lambda case, fabric: len(case.stages or ()) > 1)
ATTACHMENTS = Feature("attachments", "attachments", True, lambda case, fabric: bool(fabric.attachments))
RESILIENCE = Feature(
    "bandwidth left after failures", "resilience", True, lambda case, fabric: fabric.resilience is not None
)
RESILIENCE_OF_RAILS = Feature(
    "bandwidth left after failures with planes that are rails",
    "resilience",
    True,
    lambda case, fabric: fabric.resilience is not None and fabric.planes == "rails",
)
OWN_RAILS = Feature("planes that are rails", "planes", True, lambda case, fabric: fabric.planes == "rails")
DUAL_HOMING = Feature("dual homing", "homing", True, lambda case, fabric: fabric.homing == "dual")

# What each family cannot do. A family that is designed is a line here and one in ``fabopt.topology.families``.
UNSUPPORTED: Mapping[str, tuple[Feature, ...]] = {
    "clos": (RESILIENCE_OF_RAILS,),
    "rail-only": (RESILIENCE,),
    "hyperx": (FLOOR, GROWTH, ATTACHMENTS, RESILIENCE, OWN_RAILS, DUAL_HOMING),
    "torus": (FLOOR, GROWTH, ATTACHMENTS, RESILIENCE, OWN_RAILS, DUAL_HOMING),
    "dragonfly": (FLOOR, GROWTH, ATTACHMENTS, RESILIENCE, OWN_RAILS, DUAL_HOMING),
}
DESIGNED = tuple(UNSUPPORTED)
# Those with leaves and spines, whose tiers can be counted.
TIERED = ("clos", "rail-only")


def refused(case: Case, fabric: Fabric, topology: str) -> Iterator[Feature]:
    """Yield what a case asks for that a family cannot do."""
    for feature in UNSUPPORTED[topology]:
        if feature.is_asked(case, fabric):
            yield feature


def families_of(case: Case, fabric: Fabric) -> tuple[str, ...]:
    """The families to look at, in the order of ``DESIGNED``; ``any`` is all that can do what the case asks for."""
    if "any" in fabric.topologies:
        return tuple(name for name in DESIGNED if not any(refused(case, fabric, name)))
    return tuple(name for name in DESIGNED if name in fabric.topologies)
