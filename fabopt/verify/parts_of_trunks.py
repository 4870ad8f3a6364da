"""What links through trunks take beside what the rows of links list: jumpers at far ends, trunks, panels."""

from __future__ import annotations

from collections import Counter

from fabopt.schema.design import FabricDesign
from fabopt.verify.evidence import Evidence

# The stage that installs an item; its kind, id and length in metres.
TrunkItem = tuple[int, tuple[str, str, float | None]]


def parts_of_trunks(evidence: Evidence, designed: FabricDesign) -> Counter[TrunkItem]:
    """Units of each item by the stage that installs it, as the file's kinds of links through trunks say."""
    used: Counter[TrunkItem] = Counter()
    for kind in designed.structured:
        used[0, (evidence.kind(kind.jumper), kind.jumper, kind.jumper_m)] += kind.far_jumpers
        for trunk in kind.trunks:
            stage = 0 if trunk.stage is None else evidence.stage_names.index(trunk.stage)
            used[stage, (evidence.kind(trunk.id), trunk.id, trunk.length_m)] += trunk.count
        for place in kind.panels:
            used[0, (evidence.kind(place.id), place.id, None)] += 1
    return used
