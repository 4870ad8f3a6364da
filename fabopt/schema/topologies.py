"""The topology families by name, and what of a case each cannot design yet.

What designs a family is in ``fabopt.topology.families``, under the same name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fabopt.schema.case import EFFECTIVE, Case, Fabric
from fabopt.schema.resilience import losses_of
from fabopt.schema.workload import DEFAULT_PLACEMENT


class Feature(NamedTuple):
    """Something that a case may ask for. ``words``: what it is; ``key``: path in the fabric, or from the case's top."""

    words: str
    key: str
    of_fabric: bool
    is_asked: Callable[[Case, Fabric], bool]


FLOOR = Feature("a floor plan", "site.floor", False, lambda case, fabric: case.site.floor is not None)
GROWTH = Feature("growth in stages", "stages", False, lambda case, fabric: len(case.own_stages) > 1)
BASE = Feature(
    "going on from what is in service", "base", False,
    lambda case, fabric: len(case.stages or ()) > len(case.own_stages),
)  # fmt: skip
ATTACHMENTS = Feature("attachments", "attachments", True, lambda case, fabric: bool(fabric.attachments))
SIZED_ATTACHMENTS = Feature(
    "attachments other than on free ports of any switch and outside the ratio, as of `kind: management`",
    "attachments",
    True,
    lambda case, fabric: any(one.placed_on != "any" or one.counts for one in fabric.attachments),
)
COUNTED = Feature("ports that are counted", "role", True, lambda case, fabric: fabric.role == "oob")
ALLREDUCE = Feature(
    "a least all-reduce bandwidth",
    "min_allreduce_gbps_per_gpu",
    True,
    lambda case, fabric: fabric.min_allreduce_gbps_per_gpu is not None,
)


def _asks_for_several(case: Case, fabric: Fabric) -> bool:
    """Whether several of what is tried one by one on the graph are to fail at once."""
    asked = [one.failures for one in losses_of(case.resilience_of(fabric))]
    return any(count > 1 and failed in ("leaf", "switch", "cable") for failed, count in asked)


RESILIENCE = Feature(
    "bandwidth left after failures",
    "resilience",
    True,
    lambda case, fabric: bool(losses_of(case.resilience_of(fabric))),
)
SEVERAL_FAILURES = Feature(
    "bandwidth left after several switches or cables fail", "resilience", True, _asks_for_several
)
RATIO = Feature(
    "the objective usd_per_effective_gpu", "objective", False, lambda case, fabric: case.objective == EFFECTIVE
)
PLACED = Feature(
    "ranks that are put together within leaves or pods",
    "workload.placement",
    False,
    lambda case, fabric: (
        case.workload is not None
        and fabric.role == "compute"
        and case.workload.placement not in (None, DEFAULT_PLACEMENT)
    ),
)
SEVERAL_JOBS = Feature(
    "jobs beside each other, for which every design is timed", "workload.jobs", False,
    lambda case, fabric: case.workload is not None and fabric.role == "compute" and bool(case.workload.jobs),
)  # fmt: skip
OWN_RAILS = Feature("planes that are rails", "planes", True, lambda case, fabric: fabric.planes == "rails")
DUAL_HOMING = Feature("dual homing", "homing", True, lambda case, fabric: fabric.homing == "dual")

_OF_EQUALS = (
    RATIO,
    PLACED,
    SEVERAL_JOBS,
    FLOOR,
    BASE,
    GROWTH,
    SIZED_ATTACHMENTS,
    COUNTED,
    SEVERAL_FAILURES,
    OWN_RAILS,
    DUAL_HOMING,
)
# What each family cannot do. A family that is designed is a line here and one in ``fabopt.topology.families``.
UNSUPPORTED: Mapping[str, tuple[Feature, ...]] = {
    "clos": (),
    "rail-only": (),
    "hyperx": _OF_EQUALS,
    "torus": _OF_EQUALS,
    "dragonfly": _OF_EQUALS,
    "dragonfly+": (
        RATIO,
        PLACED,
        SEVERAL_JOBS,
        FLOOR,
        BASE,
        GROWTH,
        ATTACHMENTS,
        COUNTED,
        ALLREDUCE,
        RESILIENCE,
        OWN_RAILS,
        DUAL_HOMING,
    ),
}
DESIGNED = tuple(UNSUPPORTED)
# In notes on a fabric: of numbers of planes, of a tier that parts for split uplinks would save, of ports of NICs.
EQUAL_PLANES, SAVED_TIER = "cost the same; with", "two tiers could do with uplinks as"
FINER = "is split finer than its planes,"
# Those with leaves and spines, whose tiers can be counted.
TIERED = ("clos", "rail-only")


def refused(case: Case, fabric: Fabric, topology: str) -> Iterator[Feature]:
    """Yield what a case asks for that a family cannot do."""
    for feature in UNSUPPORTED[topology]:
        if feature.is_asked(case, fabric):
            yield feature


def can_be_asked(case: Case, fabric: Fabric, **keys: object) -> bool:
    """Whether all families of a fabric can do what some other keys of it ask for."""
    changed = fabric.model_copy(update=keys)
    return not any(feature for name in families_of(case, fabric) for feature in refused(case, changed, name))


def families_of(case: Case, fabric: Fabric) -> tuple[str, ...]:
    """The families to look at, in the order of ``DESIGNED``; ``any`` is all that can do what the case asks for."""
    if "any" in fabric.topologies:
        return tuple(name for name in DESIGNED if not any(refused(case, fabric, name)))
    return tuple(name for name in DESIGNED if name in fabric.topologies)
