"""Proposed planned names for devices with other names, by their neighbours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fabopt.inspect.cabling import FoundCabling, Names, cabling_of
from fabopt.inspect.planned import CablePlan, plan_of
from fabopt.inspect.port_names import SystemNames
from fabopt.inspect.sightings import Discovery
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring


def proposed_names(
    design: Design, wiring: Wiring, discoveries: Iterable[Discovery], names: Names, stage: int
) -> list[tuple[str, str]]:
    """Names that are found, each with the planned device in whose place its device stands; sorted.

    A device is the one that is planned for most of the ports at which it is seen, if no other is as likely, and no
    other device is as likely to be that one. What is told so tells of its neighbours, until nothing new is told.
    Raises ``InputError`` where hardly any name is planned.
    """
    plan, reports = plan_of(wiring, stage), list(discoveries)
    systems = SystemNames(design, wiring)
    told: dict[str, str] = {}
    while True:
        known = Names({**names.planned, **{name.lower(): planned for name, planned in told.items()}}, names.ends)
        cabling = cabling_of(reports, plan, known, systems)
        new = _places(cabling, plan, set(told.values()))
        if not new:
            return sorted(told.items())
        told |= new


def _places(cabling: FoundCabling, plan: CablePlan, taken: set[str]) -> dict[str, str]:
    """Unplanned devices by the planned ones whose places they have."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for port, joined in cabling.joined_at.items():
        wanted = plan.peer(port).device
        for link in joined:
            far = link.other(port)
            strange = far.device and far.device not in plan.devices and far not in cabling.unnamed
            if strange and wanted and wanted not in cabling.devices and wanted not in taken:
                votes[far.device][wanted] += 1
    best = {name: _sole_best(own) for name, own in votes.items()}
    rivals = Counter(planned for planned in best.values() if planned)
    return {name: planned for name, planned in best.items() if planned and rivals[planned] == 1}


def _sole_best(votes: Mapping[str, int]) -> str:
    """The name with most votes; empty where several have as many."""
    ranked: Sequence[tuple[str, int]] = Counter(votes).most_common(2)
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else ""
