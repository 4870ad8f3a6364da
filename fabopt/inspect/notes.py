"""Notes on the files of a comparison: cables not looked at, unknown ports, speeds not compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabopt.inspect.comparison import Comparison
from fabopt.units import some

# Of devices with other names, so many are named.
MOST_NAMES = 10


def notes_of(comparison: Comparison) -> list[str]:
    """Sentences without a full stop; none where there is nothing to say."""
    return [
        *_strange_reports(comparison),
        *_not_looked_at(comparison),
        *_speeds(comparison),
        *_host_ports(comparison),
        *_by_place(comparison),
        *_unseen(comparison),
        *_dark_hosts(comparison),
        *_other_names(comparison),
    ]


def _strange_reports(comparison: Comparison) -> Iterator[str]:
    names = comparison.cabling.strangers
    if names:
        shown = ", ".join(sorted(names)[:MOST_NAMES])
        what = f"{some(len(names), 'report')} of LLDP of devices that are not planned ({shown})"
        yield f"{what}; a file is called after its device, compute-leaf-001.json"


def _not_looked_at(comparison: Comparison) -> Iterator[str]:
    looked_at = comparison.cabling.networks
    others = Counter(link.fabric for link in comparison.plan.links if link.network not in looked_at)
    for fabric, links in others.items():
        yield f"not looked at, for no file names a switch of theirs: {some(links, 'link')} of {fabric}"


def _speeds(comparison: Comparison) -> Iterator[str]:
    if comparison.simulated_gbps is not None:
        rate = f"{comparison.simulated_gbps:g} Gb/s"
        yield f"no link is faster than {rate}, as in a simulator: speeds are compared with that, not with the plan"


def _host_ports(comparison: Comparison) -> Iterator[str]:
    number = comparison.cabling.unresolved_host_ports
    if number:
        what = some(number, "end")
        told = "not the name of a planned port but a MAC or an interface"
        yield f"{what} of cables at hosts: {told}, so the host is checked, not the port; --names or --guids tell it"


def _by_place(comparison: Comparison) -> Iterator[str]:
    shared = comparison.cabling.shared_names
    if shared:
        yield f"several devices are called {', '.join(shared[:MOST_NAMES])}, so that the name tells none of them"
    number = comparison.cabling.ends_by_place
    if number:
        what = f"{some(number, 'end')} of devices that give no name of their own"
        yield f"{what}: taken for the planned ones, as their ports are called; name these devices to be sure"


def _unseen(comparison: Comparison) -> Iterator[str]:
    number = comparison.cabling.mates_unseen
    if number:
        what = f"{some(number, 'cable')} that no file sees: taken for the other one of an exchange"
        yield f"{what}, of which a file sees one; look at both before a move"


def _dark_hosts(comparison: Comparison) -> Iterator[str]:
    """A note on hosts with all of several cables missing, which are more likely off."""
    links: Counter[str] = Counter()
    dark: Counter[str] = Counter()
    peers = comparison.cabling.peers
    absent = {link for link in comparison.wrong if not peers(link.a) and not peers(link.b)}
    for link in comparison.links:
        if comparison.plan.devices[link.a.device].is_host:
            links[link.a.device] += 1
            dark[link.a.device] += link in absent
    off = [host for host, number in dark.items() if number == links[host] > 1]
    for host in off[:MOST_NAMES]:
        yield f"{host}: none of its {some(links[host], 'cable')} is seen; is it on?"
    if len(off) > MOST_NAMES:
        yield f"and {some(len(off) - MOST_NAMES, 'host')} more of which no cable is seen"


def _other_names(comparison: Comparison) -> Iterator[str]:
    """A note on unplanned names of devices in the places of planned ones."""
    places: Counter[tuple[str, str]] = Counter()
    for link in comparison.links:
        stranger = None if comparison.seen(link) is not None else comparison.presumed(link)
        if stranger is not None and stranger not in comparison.cabling.unnamed:
            own = link.b if comparison.sole_peers.get(link.a) == stranger else link.a
            places[stranger.device, own.device] += 1
    shown = places.most_common(MOST_NAMES)
    for (name, planned), links in shown:
        yield f"{name} is where {planned} is planned, at {some(links, 'port')}; if that is its name, --names maps it"
    if len(places) > len(shown):
        yield f"and {some(len(places) - len(shown), 'device')} more of other names in planned places"
