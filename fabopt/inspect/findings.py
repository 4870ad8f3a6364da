"""Findings on the cables of a fabric: every difference from the plan, as one finding of one kind.

A plan and found cables side by side: present, missing and invisible links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from fabopt.inspect.cabling import FoundCabling
from fabopt.inspect.planned import NO_PORT, CablePlan, PlannedLink, PortName
from fabopt.inspect.repairs import Pair
from fabopt.inspect.sightings import Joined
from fabopt.units import some

# No link between switches is as slow as the port of a simulator: 4xSDR.
_SIMULATED_GBPS = 10.0


@dataclass(frozen=True)
class Comparison:
    """A plan compared with found cables, link by link."""

    plan: CablePlan
    cabling: FoundCabling

    @cached_property
    def links(self) -> list[PlannedLink]:
        """The planned links of the networks that files are of."""
        return [link for link in self.plan.links if link.network in self.cabling.networks]

    @cached_property
    def crowded(self) -> frozenset[PortName]:
        """Ports of planned devices at which several ends are seen."""
        return frozenset(
            port
            for port, joined in self.cabling.joined_at.items()
            if len(joined) > 1 and port.device in self.plan.devices
        )

    @cached_property
    def simulated_gbps(self) -> float | None:
        """The one speed of all links, where it is lower than any that is planned: of a simulator; else None."""
        rates = [joined.gbps for joined in self.cabling.joined.values() if joined.gbps is not None]
        fastest = max(rates, default=0.0)
        is_slow = fastest <= _SIMULATED_GBPS < min((link.gbps for link in self.links), default=0.0)
        return fastest if rates and is_slow else None

    def seen(self, link: PlannedLink) -> Joined | None:
        """The found cable between the planned ends of a link; None without one."""
        return self.cabling.joined.get((link.a, link.b)) or self.cabling.joined.get((link.b, link.a))

    def is_slow(self, link: PlannedLink) -> bool:
        """Whether a link runs slower than planned, or than the others where all speeds are of a simulator."""
        seen = self.seen(link)
        wanted = link.gbps if self.simulated_gbps is None else self.simulated_gbps
        return seen is not None and seen.gbps is not None and seen.gbps < wanted

    def presumed(self, link: PlannedLink) -> PortName | None:
        """The end that is taken for one of a link, whatever it is called; None without one.

        An end without a name stands for a planned port that is seen nowhere, another name that is not planned for a
        device that is seen nowhere.
        """
        for own, other in ((link.a, link.b), (link.b, link.a)):
            peer = self.sole_peers.get(own)
            if peer is None or peer.device in self.plan.devices or self.cabling.peers(other):
                continue
            if peer in self.cabling.unnamed or other.device not in self.cabling.devices:
                return peer
        return None

    def is_right(self, link: PlannedLink) -> bool:
        """Whether a link is as planned and as fast, and nothing else is seen at its ports."""
        return self.seen(link) is not None and not self.is_slow(link) and self.crowded.isdisjoint((link.a, link.b))

    @cached_property
    def sole_peers(self) -> dict[PortName, PortName]:
        """The peer of each port at which a single end is seen."""
        return {port: joined[0].other(port) for port, joined in self.cabling.joined_at.items() if len(joined) == 1}

    @cached_property
    def silent(self) -> dict[str, list[PlannedLink]]:
        """Devices that say nothing, and the links of which nobody else does."""
        silent: dict[str, list[PlannedLink]] = {}
        for link in self.links:
            if (
                link.network in self.cabling.whole
                or self.cabling.joined_at.get(link.a)
                or self.cabling.joined_at.get(link.b)
            ):
                continue
            for device in self._silent_at(link):
                silent.setdefault(device, []).append(link)
        return silent

    def _silent_at(self, link: PlannedLink) -> list[str]:
        """Ends of a link that does not show, about which nothing can be said."""
        quiet = [port.device for port in (link.a, link.b) if port.device not in self.cabling.reporters]
        unseen = [device for device in quiet if device not in self.cabling.devices]
        if len(quiet) < 2:
            return unseen
        switches = [device for device in quiet if not self.plan.devices[device].is_host]
        return list(dict.fromkeys([*unseen, *switches])) or quiet

    def is_unverified(self, link: PlannedLink) -> bool:
        """Whether nobody who reports could see a link that does not show."""
        if (
            link.network in self.cabling.whole
            or self.cabling.joined_at.get(link.a)
            or self.cabling.joined_at.get(link.b)
        ):
            return False
        return bool(self._silent_at(link))

    @cached_property
    def wrong(self) -> list[PlannedLink]:
        """Links that are not there, or of which an end is joined to something else."""
        return [
            link for link in self.links
            if self.seen(link) is None and not self.is_unverified(link) and self.presumed(link) is None
        ]  # fmt: skip

    @cached_property
    def strange(self) -> list[Pair]:
        """Found pairs that are not planned."""
        planned = {pair for link in self.plan.links for pair in ((link.a, link.b), (link.b, link.a))}
        presumed = {
            frozenset((own, unnamed))
            for link in self.links
            if self.seen(link) is None and (unnamed := self.presumed(link)) is not None
            for own in (link.a, link.b)
        }
        return [pair for pair in self.cabling.joined if pair not in planned and frozenset(pair) not in presumed]


FindingKind = Literal[
    "missing", "wrong-peer", "swapped", "wrong-port", "slow", "unexpected", "unknown-device", "silent-device",
    "several-neighbours", "crossed-rail", "swapped-in-cage",
]  # fmt: skip
KINDS: tuple[FindingKind, ...] = (
    "swapped", "swapped-in-cage", "crossed-rail", "wrong-port", "wrong-peer", "missing", "unexpected", "unknown-device",
    "several-neighbours", "slow", "silent-device",
)  # fmt: skip


class Finding(NamedTuple):
    """A difference. ``a`` and ``b``: planned ends, or what is joined where nothing is planned; ``NO_PORT``: none.

    seen     what was seen at ``a``, then at ``b``; of a swapped pair the ends of the other cable
    detail   what is wrong, in words
    """

    kind: FindingKind
    a: PortName
    b: PortName
    seen: tuple[PortName, ...]
    detail: str


def findings_of(comparison: Comparison, swaps: Mapping[PortName, object]) -> list[Finding]:
    """All differences, kind by kind, each in the order of the plan.

    ``swaps``: what tells each pair of exchanged cables from others, by the near ends of their links.
    """
    findings = [
        *_crowded(comparison),
        *_of_links(comparison, swaps),
        *_of_strangers(comparison),
        *_slow(comparison),
        *_silent(comparison),
    ]
    return sorted(findings, key=lambda finding: KINDS.index(finding.kind))


def _crowded(comparison: Comparison) -> Iterator[Finding]:
    for port in sorted(comparison.crowded):
        peers = tuple(sorted(comparison.cabling.peers(port)))
        detail = f"{len(peers)} neighbours are seen at one port"
        yield Finding("several-neighbours", port, comparison.plan.peer(port), peers, detail)


def _of_links(comparison: Comparison, swaps: Mapping[PortName, object]) -> Iterator[Finding]:
    told: set[object] = set()
    for link in comparison.links:
        if comparison.seen(link) is not None or comparison.is_unverified(link):
            continue
        if {link.a, link.b} & comparison.crowded:
            continue
        stranger = comparison.presumed(link)
        if stranger is not None:
            has_name = "without a name" if stranger in comparison.cabling.unnamed else "of another name"
            detail = f"a device {has_name} is here, {_words(stranger)}; what is planned here is seen nowhere else"
            yield Finding("unknown-device", link.a, link.b, (stranger,), detail)
        elif link.a in swaps:
            if swaps[link.a] not in told:
                told.add(swaps[link.a])
                yield _swapped(comparison, link)
        else:
            yield _wrong(comparison, link)


def _swapped(comparison: Comparison, link: PlannedLink) -> Finding:
    """A pair of cables that are exchanged, told by the first one; of one server, its rails are crossed."""
    plan = comparison.plan
    at_a, at_b = comparison.sole_peers[link.a], comparison.sole_peers[link.b]
    detail = f"exchanged with the cable {_words(at_a)} - {_words(at_b)}"
    of_one_server = plan.devices[link.a.device].is_host and link.a.device == at_b.device
    if of_one_server and _crosses(plan, link, at_a):
        return Finding("crossed-rail", link.a, link.b, (at_a, at_b), f"{detail} of the same server")
    in_one_cage = plan.cage(link.b) == plan.cage(at_a) or plan.cage(link.a) == plan.cage(at_b)
    kind: FindingKind = "swapped-in-cage" if in_one_cage else "swapped"
    return Finding(kind, link.a, link.b, (at_a, at_b), f"{detail} in the same cage" if in_one_cage else detail)


def _wrong(comparison: Comparison, link: PlannedLink) -> Finding:
    plan, cabling = comparison.plan, comparison.cabling
    at_a, at_b = cabling.peers(link.a), cabling.peers(link.b)
    seen = (*at_a, *at_b)
    if not seen:
        return Finding("missing", link.a, link.b, (), "nothing is joined to either end")
    kind: FindingKind = "wrong-peer"
    if any(port.device not in plan.devices for port in seen):
        kind = "unknown-device"
    elif any(peer.device == link.b.device for peer in at_a) or any(peer.device == link.a.device for peer in at_b):
        kind = "wrong-port"
    elif at_a and _crosses(plan, link, at_a[0]):
        kind = "crossed-rail"
    told = [
        f"{_words(own)} is joined to {_words(peer)}"
        for own, peers in ((link.a, at_a), (link.b, at_b))
        for peer in peers
    ]
    dark = [f"nothing to {_words(own)}" for own, peers in ((link.a, at_a), (link.b, at_b)) if not peers]
    return Finding(kind, link.a, link.b, seen, ", ".join([*told, *dark]))


def _crosses(plan: CablePlan, link: PlannedLink, peer: PortName) -> bool:
    """Whether the NIC of a link is joined to a leaf of another rail."""
    wanted, there = plan.devices[link.b.device], plan.devices.get(peer.device)
    if there is None or not plan.devices[link.a.device].is_host:
        return False
    return bool(there.role == wanted.role and wanted.rail and there.rail and there.rail != wanted.rail)


def _of_strangers(comparison: Comparison) -> Iterator[Finding]:
    """What is joined to ports for which nothing is planned."""
    plan = comparison.plan
    for x, y in comparison.strange:
        if x in plan.link_at or y in plan.link_at or {x, y} & comparison.crowded:
            continue
        known, other = (x, y) if x.device in plan.devices else (y, x)
        if other.device in plan.devices:
            yield Finding("unexpected", known, other, (), "no such cable is planned")
        else:
            yield Finding("unknown-device", known, other, (other,), "no such cable is planned, and no such device")


def _slow(comparison: Comparison) -> Iterator[Finding]:
    for link in comparison.links:
        seen = comparison.seen(link)
        if seen is not None and comparison.is_slow(link):
            detail = f"runs at {seen.gbps:g} Gb/s, planned are {link.gbps:g}"
            yield Finding("slow", link.a, link.b, (link.b, link.a), detail)


def _silent(comparison: Comparison) -> Iterator[Finding]:
    """Devices that say nothing; with the ends of the link where one alone is dark at a device that reports."""
    for device, links in comparison.silent.items():
        what = "no file is of it" if device in comparison.cabling.devices else "no file is of it, and nobody sees it"
        detail = f"{what}: {some(len(links), 'link')} of it could not be looked at, and none of them is called wrong"
        ends = [(link.a, link.b) if link.a.device == device else (link.b, link.a) for link in links]
        dark = [pair for pair in ends if pair[1].device in comparison.cabling.reporters]
        a, b = dark[0] if len(dark) == 1 else (PortName(device, ""), NO_PORT)
        yield Finding("silent-device", a, b, (), f"{detail}; nothing is seen at {_words(b)}" if b.port else detail)


def _words(port: PortName) -> str:
    return f"{port.device} {port.port}".strip()
