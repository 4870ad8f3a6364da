"""Comparison of a fabric as built with its plan: right cables, findings and repairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.inspect.cabling import Names, cabling_of
from fabopt.inspect.comparison import Comparison
from fabopt.inspect.findings import Finding, findings_of
from fabopt.inspect.notes import notes_of
from fabopt.inspect.planned import NO_PORT, CablePlan, PlannedLink, PortName, plan_of
from fabopt.inspect.port_names import SystemNames
from fabopt.inspect.repairs import Move, Pair, fewest_moves, renumbered
from fabopt.inspect.sightings import Discovery
from fabopt.inspect.walking import Walk
from fabopt.io.faults import refuse
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring


@dataclass(frozen=True)
class AsBuilt:
    """The comparison of found cables with a plan.

    plan             the plan
    planned, right   numbers of cables of the networks in the files, and of those with planned ends and speed
    findings         in the order of kinds, then of the plan
    repairs          in walking order
    shares           whether repairs touch a connector of several links, as of splitters
    notes            on the files
    """

    plan: CablePlan
    planned: int
    right: int
    findings: Sequence[Finding]
    repairs: Sequence[Move]
    shares: bool
    notes: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings


def as_built(design: Design, wiring: Wiring, discoveries: Iterable[Discovery], names: Names, stage: int) -> AsBuilt:
    """Compare the cables in files with the wiring of a design at a stage, from 0.

    Raises ``InputError`` where the files are of another fabric.
    """
    plan = plan_of(wiring, stage)
    cabling = cabling_of(discoveries, plan, names, SystemNames(design, wiring))
    return _verdict(Walk(wiring, plan), Comparison(plan, cabling))


def require_planned(names: Mapping[str, str], plan: Wiring, file: str) -> None:
    """Raise ``InputError`` where a map names neither a device, nor a device's port, nor a port of the plan."""
    ports = set(plan.a_port) | set(plan.b_port)
    devices = set(plan.devices.name)
    faults: list[Fault] = []
    for planned in dict.fromkeys(names.values()):
        device, _, port = planned.partition(" ")
        if planned not in ports and (device not in devices or (port and port not in ports)):
            hint = did_you_mean(device, devices)
            allowed = "a device of the design, `device port`, or a port"
            faults.append(fault(file, "", "this name is not in the design", planned, allowed=allowed, hint=hint))
    if faults:
        raise refuse(faults)


def _verdict(walk: Walk, comparison: Comparison) -> AsBuilt:
    """The result of a comparison."""
    links, pairs = _open(comparison)
    slot = comparison.plan.slot
    moves = fewest_moves(links, pairs, slot, walk.steps)
    touched = {port for link in links for port in (link.a, link.b)}.union(*pairs)
    shares = any(len(slot(port)) > 1 for port in touched)
    ordered = sorted(moves, key=lambda move: (walk.key(move.source), walk.key(move.target)))
    cables = _by_cable(comparison.links)
    right = sum(all(map(comparison.is_right, members)) for members in cables)
    findings = findings_of(comparison, _swaps(comparison))
    return AsBuilt(comparison.plan, len(cables), right, findings, renumbered(ordered), shares, notes_of(comparison))


def _by_cable(links: Iterable[PlannedLink]) -> list[list[PlannedLink]]:
    """Links by cable; a link without a cable by itself."""
    cables: dict[object, list[PlannedLink]] = {}
    for link in links:
        cables.setdefault(link.cable or link, []).append(link)
    return list(cables.values())


def _open(comparison: Comparison) -> tuple[list[PlannedLink], list[Pair]]:
    """Links and found pairs of all wrong cables, without undecidable ones."""
    crowded, joined, plan = comparison.crowded, comparison.cabling.joined, comparison.plan
    unclear = crowded | comparison.cabling.unnamed
    doubtful = {port for pair in joined if not unclear.isdisjoint(pair) for port in pair} | unclear
    pairs = [pair for pair in comparison.strange if unclear.isdisjoint(pair)]
    wrong = [link for link in comparison.wrong if doubtful.isdisjoint((link.a, link.b))]
    touched = {port for pair in pairs for own in pair for port in plan.slot(own)}
    labels = {link.cable for link in wrong} - {""}
    labels |= {link.cable for link in comparison.links if link.cable and not touched.isdisjoint((link.a, link.b))}
    held = [link for link in comparison.links if link.cable in labels and comparison.seen(link) is not None]
    return [*wrong, *held], [*pairs, *((min(link.a, link.b), max(link.a, link.b)) for link in held)]


def _swaps(comparison: Comparison) -> dict[PortName, tuple[object, ...]]:
    """A key of each pair of exchanged cables, by the near ends of their links.

    Two links are exchanged if found cables join each end of the one to an end of the other.
    """
    plan, there = comparison.plan, comparison.sole_peers
    swaps: dict[PortName, tuple[object, ...]] = {}
    for link in comparison.wrong:
        other = plan.link_at.get(there.get(link.a, NO_PORT))
        if other is None or (mate := plan.links[other]) == link:
            continue
        if there.get(link.b) == mate.other(there[link.a]):
            swaps[link.a] = tuple(sorted((link.cable or str(link.a), mate.cable or str(mate.a))))
    return swaps
