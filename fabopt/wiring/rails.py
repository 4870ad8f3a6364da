"""Which rails the servers in service are without while cables change, step by step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from fabopt.network.changing_parts import ChangingParts, PartChange
from fabopt.units import grouped
from fabopt.wiring.model import NOTHING, Wiring

# A link from port to port: names of device and port at both ends.
Link = tuple[str, str, str, str]
# A port of a server in service, by the names of both.
Rail = tuple[str, str]


class RailsOfServers:
    """Which ports of the servers in service reach the others of their plane.

    A rail is lost while it is unplugged, or on a leaf that is not in the part of the network in which most ports of its
    own name are; of parts with as many, the one of the port that was plugged in first. ``most_lost``: most rails that a
    server is without; ``lost_before``: at first.
    """

    def __init__(self, base: Wiring, planned: Wiring, links: Iterable[Link]) -> None:
        (self._servers, there), (_, new) = map(_servers_and_switches, (base, planned))
        self._switches = there | new
        self._parts = ChangingParts[str]()
        at_first = list(links)
        self._of_port = grouped((port, (a, port)) for a, port, *_ in at_first if a in self._servers)
        self._rails = {rail for rails in self._of_port.values() for rail in rails}
        self._on_leaf: defaultdict[str, set[Rail]] = defaultdict(set)
        # by name of port: leaves of its rails, in the order of plugging, and how many are in each part
        self._leaf: dict[str, dict[Rail, str]] = {port: {} for port in self._of_port}
        self._in_part: dict[str, Counter[int]] = {port: Counter() for port in self._of_port}
        self._best = dict.fromkeys(self._of_port, NOTHING)
        self._lost = set(self._rails)
        self._lost_of = Counter(server for server, _ in self._rails)
        self._servers_without = Counter(self._lost_of.values())
        # links between switches first: then every rail comes to the part where it stays
        self.plug(sorted(at_first, key=lambda link: link[0] in self._servers))
        self.lost_before = self.most_lost

    @property
    def most_lost(self) -> int:
        """Most rails that a server is without."""
        return max((lost for lost, servers in self._servers_without.items() if servers), default=0)

    def are_of_servers(self, links: Iterable[Link]) -> bool:
        """Whether links lead to servers in service."""
        return any(a in self._servers for a, *_ in links)

    def plug(self, links: Iterable[Link]) -> None:
        """Plug links in."""
        rails = set[Rail]()
        for a, port, b, _ in links:
            if a in self._switches:
                rails |= self._in_other_parts(self._parts.join(a, b))
            elif (a, port) in self._rails:
                self._count((a, port), b, 1)
                rails.add((a, port))
        self._settle(rails)

    def unplug(self, links: Iterable[Link]) -> None:
        """Unplug links."""
        rails = set[Rail]()
        for a, port, b, _ in links:
            if a in self._switches:
                rails |= self._in_other_parts(self._parts.cut(a, b))
            elif (a, port) in self._rails:
                self._count((a, port), b, -1)
                rails.add((a, port))
        self._settle(rails)

    def _count(self, rail: Rail, leaf: str, by: int) -> None:
        """Count a rail on a leaf in or out."""
        leaves = self._leaf[rail[1]]
        if by > 0:
            leaves[rail] = leaf
            self._on_leaf[leaf].add(rail)
        else:
            del leaves[rail]
            self._on_leaf[leaf].remove(rail)
        self._tally(rail[1], self._parts.part_of(leaf), by)

    def _tally(self, port: str, part: int, by: int) -> None:
        """Count a rail of a name in a part in or out."""
        counts = self._in_part[port]
        counts[part] += by
        if not counts[part]:
            del counts[part]

    def _in_other_parts(self, change: PartChange[str] | None) -> set[Rail]:
        """Rails on leaves that came to another part."""
        if change is None:
            return set()
        rails = {rail for leaf in change.things if leaf in self._on_leaf for rail in self._on_leaf[leaf]}
        for _, port in rails:
            self._tally(port, change.before, -1)
            self._tally(port, change.now, 1)
        return rails

    def _settle(self, rails: set[Rail]) -> None:
        """Say of rails whether they are lost; of all of a name where their best part is another one."""
        for port in {port for _, port in rails}:
            best = self._best_of(port)
            if best != self._best[port]:
                self._best[port] = best
                rails = rails.union(self._of_port[port])
        for rail in rails:
            leaf = self._leaf[rail[1]].get(rail)
            is_lost = leaf is None or self._parts.part_of(leaf) != self._best[rail[1]]
            if is_lost != (rail in self._lost):
                self._lost.symmetric_difference_update((rail,))
                self._servers_without[self._lost_of[rail[0]]] -= 1
                self._lost_of[rail[0]] += 1 if is_lost else -1
                self._servers_without[self._lost_of[rail[0]]] += 1

    def _best_of(self, port: str) -> int:
        """The part with most rails of a name, of parts with as many that of the first one; none without any."""
        counts = self._in_part[port]
        most = max(counts.values(), default=0)
        parts = [part for part, count in counts.items() if count == most]
        if len(parts) < 2:
            return next(iter(parts), NOTHING)
        return next(part for part in map(self._parts.part_of, self._leaf[port].values()) if part in parts)


def _servers_and_switches(wiring: Wiring) -> tuple[set[str], set[str]]:
    """Names of servers, and of switches."""
    named = grouped(zip(wiring.devices.role, wiring.devices.name, strict=True))
    servers, _ = (set(named.pop(role, ())) for role in ("server", "attachment"))
    return servers, {name for names in named.values() for name in names}
