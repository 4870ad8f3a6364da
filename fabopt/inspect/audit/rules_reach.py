"""A0: servers reach each other, and every leaf reaches the tier above it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabopt.inspect.audit.context import HandContext, HandNetwork
from fabopt.inspect.audit.findings import AuditFinding
from fabopt.inspect.audit.hand_made import Role
from fabopt.network.components import components
from fabopt.units import plural, some

_ABOVE: tuple[tuple[Role, Role], ...] = (("leaf", "spine"), ("spine", "core"))
NUMBERS = re.compile(r"\d+")


def servers_are_joined(context: HandContext) -> Iterator[AuditFinding]:
    """A0: links join all servers, a port of the same name of each, and switches to the tiers above and below."""
    islands = _islands(context)
    below = [finding for near, above in _ABOVE for finding in _below_nothing(context, near, above)]
    below += [finding for near, above in _ABOVE for finding in _above_nothing(context, near, above)]
    yield from islands
    if not islands:
        yield from _ports_apart(context, {finding.where for finding in below})
    yield from below


def servers_are_all_there(context: HandContext) -> Iterator[AuditFinding]:
    """A0: a file has as many servers as its case has at some stage."""
    stages = () if context.embedded is None else context.embedded.case.stages or ()
    wanted = [stage.servers for stage in stages if stage.servers]
    if context.servers and wanted and context.servers not in wanted:
        text = f"{some(context.servers, 'server')} here, {wanted[-1]:,} in the case"
        yield AuditFinding("A0", "servers", str(context.servers), str(wanted[-1]), text)


# -- all servers ----------------------------------------------------------------------------------------------------


def _islands(context: HandContext) -> list[AuditFinding]:
    """Servers, with the switches on which they are, that no link joins to most of the others."""
    parts: dict[str, list[str]] = defaultdict(list)
    root = components(context.roles, ((link.a, link.b) for link in context.hand.links))  # servers pass on what they get
    for name, role in context.roles.items():
        if role == "server":
            parts[root[name]].append(name)
    findings = []
    for top, servers in sorted(parts.items(), key=lambda part: -len(part[1]))[1:]:
        switches = [name for name in context.switches() if root[name] == top]
        where = f" on {_listed(switches)}" if switches else ""
        text = f"{some(len(servers), 'server')}{where} reach no other: {_listed(servers)}"
        total = sum(map(len, parts.values()))
        findings.append(AuditFinding("A0", servers[0], str(len(servers)), str(total), text))
    return findings


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


# -- ports of a name ------------------------------------------------------------------------------------------------


def _ports_apart(context: HandContext, told_of: set[str]) -> Iterator[AuditFinding]:
    """Servers whose port of a name is on switches that reach none of those on which it is of most servers.

    Not where it is told of all these switches that they reach no tier above.
    """
    by_port: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for server in (name for name, role in context.roles.items() if role == "server"):
        for port, far, _ in context.peer_links(server):
            if far in context.network_of:
                by_port[port][context.network_of[far].number].add(server)
    told: set[tuple[int, int]] = set()
    for port, networks in by_port.items():
        usual, *others = sorted(networks, key=lambda number: (-len(networks[number]), number))
        for number in others:
            switches = {name for names in context.networks[number].tiers.values() for name in names}
            if (usual, number) not in told and not switches <= told_of:
                told.add((usual, number))
                yield _apart(context, port, networks[number], number, networks[usual])


def _apart(context: HandContext, port: str, servers: Iterable[str], number: int, others: Iterable[str]) -> AuditFinding:
    switches = [name for names in context.networks[number].tiers.values() for name in names]
    own, usual = sorted(servers), len(set(others))
    text = (
        f"{port} of {some(len(own), 'server')} ({_listed(own)}) is on {_listed(switches)}, which no switch joins to "
        f"those that {port} of {some(usual, 'server')} is on"
    )
    return AuditFinding("A0", switches[0], str(len(own)), str(len(own) + usual), text)


# -- tiers ----------------------------------------------------------------------------------------------------------


def _below_nothing(context: HandContext, near: Role, above: Role) -> Iterator[AuditFinding]:
    """Switches of a tier without a link to the tier above, where others of their kind have some."""
    alike: set[str] = set()
    alone: list[str] = []
    for name in context.switches(near):
        if any(context.roles[far] == above for _, far, _ in context.peer_links(name)):
            alike.add(_kind_of(context, name))
        else:
            alone.append(name)
    tops = context.switches(above)
    for name in alone:
        if _kind_of(context, name) in alike or (tops and not alike and _is_below(context, name, tops)):
            text = f"{name} has no link to a {above}, and {some(len(tops), above)} are there"
            yield AuditFinding("A0", name, "0", "1", text)


def _above_nothing(context: HandContext, near: Role, above: Role) -> Iterator[AuditFinding]:
    """Spines without a link to a leaf, and cores without one to a spine."""
    below = context.switches(near)
    for name in context.switches(above) if below else ():
        if not any(context.roles[far] == near for _, far, _ in context.peer_links(name)):
            text = f"{name} has no link to a {near}, and {some(len(below), near)} are there"
            yield AuditFinding("A0", name, "0", "1", text)


def _kind_of(context: HandContext, name: str) -> str:
    """What switches of one fabric have in common: its name in the case, else their own without numbers."""
    network: HandNetwork = context.network_of[name]
    return network.fabric.name if network.fabric is not None else NUMBERS.sub("", name)


def _is_below(context: HandContext, name: str, tops: Sequence[str]) -> bool:
    """Whether switches above are of the fabric of a switch: called as it is, or of no fabric that the case has."""
    own, others = context.network_of[name].fabric, {context.network_of[top].fabric for top in tops}
    return own in others


def counted_uplinks(numbers: Mapping[str, int | None], nics: int | None) -> Iterator[AuditFinding]:
    """A0 of numbers alone: every switch of a tier has a link to the tier above.

    ``numbers``: of switches and links by name, None where they are not said; ``nics``: ports of a server, each of which
    may have a leaf of its own.
    """
    for near, above, links in (("leaf", "spine", "leaf_spine"), ("spine", "core", "spine_core")):
        switches, tops, joined = numbers.get(near) or 0, numbers.get(above), numbers.get(links)
        if tops == 0 and joined:
            text = f"{some(joined, 'link')} from {some(switches, near)} to {plural(above)}, and no {above} is there"
            yield AuditFinding("A0", above, "0", "1 at least", text)
        elif tops and joined is not None and joined < switches:
            text = f"{some(joined, 'link')} from {some(switches, near)} to {some(tops, above)}"
            text += f": {switches - joined:,} have none"
            yield AuditFinding("A0", f"{near} - {above}", str(joined), f"{switches} at least", text)
    leaves, spines = numbers.get("leaf") or 0, numbers.get("spine")
    if nics and leaves > nics and not spines and not numbers.get("leaf_spine"):
        text = f"{leaves:,} leaves for {nics} ports of a server and no spine: servers of some leaves reach no other"
        yield AuditFinding("A0", "leaf", str(leaves), f"{nics} at most, or spines", text)
