"""What links through trunks take beside what the rows of links list: jumpers at far ends, trunks, panels."""

from __future__ import annotations

from collections import Counter

from fabopt.schema.design import FabricDesign
from fabopt.schema.structured import PanelPlace, TrunkRow
from fabopt.verify.evidence import Evidence

# The stage that installs an item; its kind, id and length in metres.
TrunkItem = tuple[int, tuple[str, str, float | None]]


def parts_of_trunks(evidence: Evidence, designed: FabricDesign) -> Counter[TrunkItem]:
    """Units of each item by the stage that installs it, as the file's kinds of links through trunks say."""
    used: Counter[TrunkItem] = Counter()
    for kind in designed.structured:
        for stage, far in enumerate(kind.far_by_stage or (kind.far_jumpers,)):
            used[stage, (evidence.kind(kind.jumper), kind.jumper, kind.jumper_m)] += far
        for trunk in kind.trunks:
            used[stage_of(evidence, trunk), (evidence.kind(trunk.id), trunk.id, trunk.length_m)] += trunk.count
        for place in kind.panels:
            used[stage_of(evidence, place), (evidence.kind(place.id), place.id, None)] += 1
    return used


def stage_of(evidence: Evidence, part: TrunkRow | PanelPlace) -> int:
    """The number of the stage that installs trunks or a panel."""
    return 0 if part.stage is None else evidence.stage_names.index(part.stage)
