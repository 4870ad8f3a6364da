"""A plan and found cables side by side: present, missing and invisible links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabopt.inspect.cabling import FoundCabling
from fabopt.inspect.joined import Joined
from fabopt.inspect.planned import CablePlan, PlannedLink, PortName
from fabopt.inspect.repairs import Pair

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
