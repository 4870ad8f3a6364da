"""A fabric as it was built against its plan: what is right, what is wrong, and what puts it right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabopt.errors import Fault, fault, nearest
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
    """What was found of a plan.

    plan             what it was compared with
    planned, right   cables of the networks that files are of, and those that are as planned and as fast
    findings         in the order of kinds, then of the plan
    repairs          in walking order
    shares           whether a connector of several links is among those that repairs are looked for, as of splitters
    notes            what else is to be known of what was read
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
        """Whether nothing was found."""
        return not self.findings


def as_built(design: Design, wiring: Wiring, discoveries: Iterable[Discovery], names: Names, stage: int) -> AsBuilt:
    """Compare what files say with the wiring of a design as it is to be at a stage, from 0.

    Raises ``InputError`` where the files are of another fabric.
    """
    plan = plan_of(wiring, stage)
    cabling = cabling_of(discoveries, plan, names, SystemNames(design, wiring))
    return _verdict(Walk(wiring, plan), Comparison(plan, cabling))


def require_planned(names: Mapping[str, str], plan: Wiring, file: str) -> None:
    """Raise ``InputError`` where a map names what is not in the plan: neither a device, nor with a port, nor a port."""
    ports = set(plan.a_port) | set(plan.b_port)
    devices = set(plan.devices.name)
    faults: list[Fault] = []
    for planned in dict.fromkeys(names.values()):
        device, _, port = planned.partition(" ")
        if planned not in ports and (device not in devices or (port and port not in ports)):
            close = nearest(device, devices)
            hint = f"did you mean `{close}`?" if close else ""
            allowed = "a device of the design, `device port`, or a port"
            faults.append(fault(file, "", "this name is not in the design", planned, allowed=allowed, hint=hint))
    if faults:
        raise refuse(faults)


def _verdict(walk: Walk, comparison: Comparison) -> AsBuilt:
    """What a comparison comes to."""
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
    """Links by cable; one without a cable stands alone."""
    cables: dict[object, list[PlannedLink]] = {}
    for link in links:
        cables.setdefault(link.cable or link, []).append(link)
    return list(cables.values())


def _open(comparison: Comparison) -> tuple[list[PlannedLink], list[Pair]]:
    """Links and found pairs of all cables of which something is wrong, without those that cannot be decided."""
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
    """What tells each pair of exchanged cables from others, by the near ends of their links.

    Two links are exchanged where what is found joins each end of the one to an end of the other.
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
