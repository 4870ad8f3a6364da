"""Rules on how servers are joined to leaves, and leaves to their peers: A2, A10 and A20.

A0: servers reach each other, and every leaf reaches the tier above it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from fabopt.inspect.audit.context import HandContext, HandNetwork
from fabopt.inspect.audit.rules_network import WiredByHand
from fabopt.inspect.audit.tables import AuditFinding, Role
from fabopt.network.components import components
from fabopt.schema.case import Fabric
from fabopt.units import first_of, grouped, plural, sets, some

_ABOVE: tuple[tuple[Role, Role], ...] = (("leaf", "spine"), ("spine", "core"))
NUMBERS = re.compile(r"\d+")
MOST_NAMED = 3


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
    root = components(context.roles, ((link.a, link.b) for link in context.hand.links))  # servers pass on what they get
    parts = grouped((root[name], name) for name, role in context.roles.items() if role == "server")
    findings = []
    for top, servers in sorted(parts.items(), key=lambda part: -len(part[1]))[1:]:
        switches = [name for name in context.switches() if root[name] == top]
        where = f" on {first_of(switches, MOST_NAMED)}" if switches else ""
        text = f"{some(len(servers), 'server')}{where} reach no other: {first_of(servers, MOST_NAMED)}"
        total = sum(map(len, parts.values()))
        findings.append(AuditFinding("A0", servers[0], str(len(servers)), str(total), text))
    return findings


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
        f"{port} of {some(len(own), 'server')} ({first_of(own, MOST_NAMED)}) is on {first_of(switches, MOST_NAMED)}, "
        f"which no switch joins to those that {port} of {some(usual, 'server')} is on"
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


_MAJORITY = Fraction(3, 5)
# Between the leaves of a pair in our designs.
_PEER_LINKS = 2
_Ports = Mapping[str, tuple[str, ...]]


def _is_aligned(fabric: Fabric | None) -> bool:
    """Whether rails are asked for, as far as that is known."""
    return fabric is None or (fabric.rails == "aligned" and fabric.role == "compute")


def rails_do_not_cross(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A10: all servers have the same ports on a leaf, as most of them have."""
    context = wired.context
    for network in context.networks:
        leaves = network.tiers.get("leaf", ()) if _is_aligned(network.fabric) else ()
        ports = {leaf: _ports_on(context, leaf) for leaf in leaves}
        pure = sum(len(set(own.values())) <= 1 for own in ports.values())
        for leaf, own in ports.items():
            yield from _crossed(leaf, own, pure >= _MAJORITY * len(ports))


def _ports_on(context: HandContext, leaf: str) -> _Ports:
    """By server its ports on a leaf."""
    ports = sets(
        (far, link.b_port if link.b == far else link.a_port)
        for _, far, link in context.peer_links(leaf)
        if context.roles[far] == "server"
    )
    return {server: tuple(sorted(own)) for server, own in ports.items()}


def _crossed(leaf: str, ports: _Ports, is_pure: bool) -> Iterator[AuditFinding]:
    """Servers whose ports on a leaf are not those of most; ``is_pure``: most leaves have one set of ports alone."""
    usual, number = Counter(ports.values()).most_common(1)[0] if ports else ((), 0)
    if not ports or (Fraction(number, len(ports)) < _MAJORITY and not is_pure):
        return
    for server, own in ports.items():
        if own != usual:
            text = f"{server} has {', '.join(own)} on {leaf}, where {some(number, 'server')} have {', '.join(usual)}"
            yield AuditFinding("A10", f"{server} - {leaf}", ", ".join(own), ", ".join(usual), text)


def nics_divide_over_leaves(wired: WiredByHand) -> Iterator[AuditFinding]:
    """A20: a server has the same number of links to each leaf that it is on, and as many to leaves as its fellows: of
    each network that it is on, and of all, as each rail may be a network. So with links to other devices, as switches
    of management out of band are.
    """
    context = wired.context
    leaves_of: dict[int, dict[str, Counter[str]]] = defaultdict(dict)
    for server in (name for name, role in context.roles.items() if role == "server"):
        for _, far, _ in context.peer_links(server):
            if far in context.network_of:
                own = leaves_of[context.network_of[far].number].setdefault(server, Counter())
                own[far] += context.roles[far] == "leaf"
    fewer: dict[str, AuditFinding] = {}
    in_all: Counter[str] = Counter()
    for place, leaves in leaves_of.items():
        network = context.networks[place]
        if _is_aligned(network.fabric):
            for server, own in leaves.items():
                if len({*(+own).values()}) > 1:
                    yield _uneven(network, server, own)
        # a cable without its end, which A8 tells of, may be the one that a server lacks
        if not context.hand.half:
            links = {server: own.total() for server, own in leaves.items()}
            in_all.update(links)
            fewer |= {one.where: one for one in _fewer("A20", f" of {network.name} to leaves", links)}
    yield from ({one.where: one for one in _fewer("A20", " to leaves", in_all)} | fewer).values()
    yield from _fewer_to_others(context)


def _fewer_to_others(context: HandContext) -> Iterator[AuditFinding]:
    """Servers with fewer links to devices that are no servers, nor switches of the networks, than their fellows."""
    others = {
        server: [far for _, far, _ in context.peer_links(server) if context.roles[far] == "attachment"]
        for server, role in context.roles.items()
        if role == "server"
    }
    known = sorted({far for own in others.values() for far in own})
    if known and not context.hand.half:
        what = f" to devices such as {known[0]}"
        yield from _fewer("A20", what, {server: len(own) for server, own in others.items()})


def peers_are_joined_alike(context: HandContext) -> Iterator[AuditFinding]:
    """A2: the two leaves of a pair have as many links to each other as most pairs that are called alike, and as in the
    best design.

    Leaves that are joined to several others are no pairs: these may be of a torus, a HyperX or a dragonfly.
    """
    peers = {
        leaf: Counter(far for _, far, _ in context.peer_links(leaf) if context.roles[far] == "leaf" and far != leaf)
        for leaf in context.switches("leaf")
    }
    if context.hand.half or any(len(own) > 1 for own in peers.values()):
        return
    links = {(leaf, far): number for leaf, own in peers.items() for far, number in own.items() if leaf < far}
    if not links and not any(_has_peer_links(context, leaf) for leaf in peers):
        return
    links |= dict.fromkeys(_lone_pairs(context, [leaf for leaf, own in peers.items() if not own]), 0)
    planned = {pair: number for pair, number in links.items() if _has_peer_links(context, pair[0])}
    for (leaf, far), number in planned.items():
        if number < _PEER_LINKS:
            text = f"{leaf} - {far}: {some(number, 'link')} between peers, where the best design has {_PEER_LINKS}"
            yield AuditFinding("A2", f"{leaf} - {far}", str(number), str(_PEER_LINKS), text)
    others = {f"{leaf} - {far}": number for (leaf, far), number in links.items() if (leaf, far) not in planned}
    yield from _fewer("A2", " between peers", others)


def _has_peer_links(context: HandContext, leaf: str) -> bool:
    design = context.design_of(context.network_of[leaf].fabric)
    return design is not None and design.peer_links is not None


def _lone_pairs(context: HandContext, lone: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Leaves without a peer, in pairs of those that most servers are on both of."""
    servers = {leaf: {far for _, far, _ in context.peer_links(leaf) if context.roles[far] == "server"} for leaf in lone}
    left = dict.fromkeys(sorted(lone))
    for leaf in sorted(lone):
        if leaf in left:
            del left[leaf]
            shared = Counter(far for server in servers[leaf] for _, far, _ in context.peer_links(server) if far in left)
            if shared:
                far = min(shared, key=lambda other: (-shared[other], other))
                del left[far]
                yield leaf, far


def _uneven(network: HandNetwork, server: str, leaves: Counter[str]) -> AuditFinding:
    leaves = +leaves
    least, most = min(leaves.values()), max(leaves.values())
    text = f"{server}: {some(leaves.total(), 'link')} of {network.name} on {len(leaves)} leaves, {least} to {most} each"
    return AuditFinding("A20", server, f"{least} to {most}", "equal", text)


def _fewer(rule: str, what: str, links: Mapping[str, int]) -> Iterator[AuditFinding]:
    """Servers, or pairs of leaves, with fewer links than most that are called alike; ``what``: which links."""
    alike = grouped((NUMBERS.sub("", name), name) for name in links)
    for names in alike.values():
        usual, number = Counter(links[name] for name in names).most_common(1)[0]
        for name in names if number >= _MAJORITY * len(names) else ():
            if links[name] < usual:
                of_what = "pairs" if rule == "A2" else "servers"
                text = f"{name}: {some(links[name], 'link')}{what}, where {number} {of_what} have {usual}"
                yield AuditFinding(rule, name, str(links[name]), str(usual), text)
