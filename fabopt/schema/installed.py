"""A fabric of a design file as it is installed at one of its stages."""

from __future__ import annotations

import json

from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.fabric_design import FabricDesign, StageStructure
from fabopt.schema.tiers import TierUse


def fabric_at(designed: FabricDesign, number: int) -> FabricDesign:
    """A fabric of the file at a stage, from 0; as the file has it where it does not grow."""
    return as_installed(designed, designed.growth[number]) if designed.growth else designed


def as_installed(designed: FabricDesign, stage: StageStructure) -> FabricDesign:
    """A fabric of the file with the numbers that it states for a stage."""
    structure = designed.clos
    uplinks = designed.tiers[0].up_ports
    if stage.spines_per_pod != structure.spines_per_pod:
        uplinks = stage.spines_per_pod * stage.links_per_pair
    groups_per_pod = min(structure.groups_per_pod, stage.groups)
    counts = {"leaf": (stage.leaves, uplinks), "spine": (stage.spines, 0), "core": (stage.cores, 0)}
    if stage.cores:
        counts["spine"] = (stage.spines, stage.cores_per_group * stage.links_per_core_pair)
    tiers = [_tier(tier, *counts[tier.role]) for tier in designed.tiers if counts[tier.role][0]]
    installed = structure.model_copy(
        update={
            "tiers": len(tiers),
            "groups": stage.groups,
            "links_per_pair": stage.links_per_pair,
            "pods": stage.pods,
            "spines_per_pod": stage.spines_per_pod,
            "groups_per_pod": groups_per_pod,
            "leaves_per_pod": structure.leaves_per_pod // max(1, structure.groups_per_pod) * groups_per_pod,
            "links_per_core_pair": stage.links_per_core_pair,
            "spines_per_core_group": structure.spines_per_core_group if stage.cores else 0,
            "cores_per_group": stage.cores_per_group,
            "pod_of": structure.pod_of if stage.cores else "groups",
        }
    )
    return designed.model_copy(
        update={
            "structure": installed,
            "tiers": tuple(tiers),
            "oversubscription": stage.oversubscription,
            "metrics": stage.metrics,
        }
    )


def _tier(tier: TierUse, count: int, up_ports: int) -> TierUse:
    """A tier with ``count`` switches; without uplinks at the top."""
    update: dict[str, object] = {"count": count, "up_ports": up_ports}
    if not up_ports:
        update |= {"up": None, "gbps_up": 0}
    return tier.model_copy(update=update)


def base_of(case: Case) -> Design | None:
    """The design that a case goes on from, at its last stage."""
    given = None if case.base is None else case.base.design
    return None if given is None else Design.model_validate_json(json.dumps(given))
