"""Rules on how servers are joined to leaves: A10 and A20."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction

from fabopt.inspect.audit.context import HandContext, HandNetwork
from fabopt.inspect.audit.findings import AuditFinding
from fabopt.inspect.audit.rules_network import WiredByHand
from fabopt.inspect.audit.rules_reach import NUMBERS
from fabopt.schema.case import Fabric
from fabopt.units import some

_MAJORITY = Fraction(3, 5)
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
    ports: dict[str, set[str]] = defaultdict(set)
    for _, far, link in context.peer_links(leaf):
        if context.roles[far] == "server":
            ports[far].add(link.b_port if link.b == far else link.a_port)
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
    each network that it is on, and of all, as each rail may be a network.
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
            fewer |= {one.where: one for one in _fewer(f" of {network.name}", links)}
    yield from ({one.where: one for one in _fewer("", in_all)} | fewer).values()


def _uneven(network: HandNetwork, server: str, leaves: Counter[str]) -> AuditFinding:
    leaves = +leaves
    least, most = min(leaves.values()), max(leaves.values())
    text = f"{server}: {some(leaves.total(), 'link')} of {network.name} on {len(leaves)} leaves, {least} to {most} each"
    return AuditFinding("A20", server, f"{least} to {most}", "equal", text)


def _fewer(of_network: str, links: Mapping[str, int]) -> Iterator[AuditFinding]:
    """Servers with fewer links to leaves than most that are called alike."""
    alike: dict[str, list[str]] = defaultdict(list)
    for server in links:
        alike[NUMBERS.sub("", server)].append(server)
    for servers in alike.values():
        usual, number = Counter(links[server] for server in servers).most_common(1)[0]
        for server in servers if number >= _MAJORITY * len(servers) else ():
            if links[server] < usual:
                told = f"{some(links[server], 'link')}{of_network} to leaves"
                text = f"{server}: {told}, where {number} servers have {usual}"
                yield AuditFinding("A20", server, str(links[server]), str(usual), text)
