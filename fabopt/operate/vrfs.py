"""Links between switches as VRFs have them: tagged with the VLAN of a network, two addresses and a session each.

So no packet of a network leaves its VRF between leaves, and no route is announced to another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from fabopt.errors import Fault
from fabopt.operate.addresses import PAIR, RoutedLink
from fabopt.operate.model import NamedLink, NamedNetwork, PoolUse
from fabopt.operate.pools import Addresses, dotted
from fabopt.schema.operate import Operate
from fabopt.wiring.port_names import tagged_port


class VrfLinks(NamedTuple):
    """Links of VRFs at a stage, and use of their pool over all stages."""

    links: Sequence[NamedLink]
    pools: Sequence[PoolUse]


def vrf_links(
    case: str, operate: Operate, routed: Sequence[RoutedLink], planned: Sequence[NamedLink],
    networks: Sequence[NamedNetwork], systems: Sequence[str], faults: list[Fault],
) -> VrfLinks:  # fmt: skip
    """Assign addresses to each VRF's subinterfaces on links of its fabric between switches.

    ``routed``: links in the order of stages; ``planned``: those of the stage; ``systems``: of every device. A pool that
    is too small is added to ``faults``.
    """
    vrfs: dict[str, list[NamedNetwork]] = defaultdict(list)
    for network in networks:
        if network.vrf and network.routed:
            vrfs[network.fabric].append(network)
    rows = [link.row for link in routed if not link.of_host for _ in vrfs[link.network]]
    pool = Addresses("vrf_links", operate.vrf_links, PAIR)
    faults += pool.lack(case, len(rows), "VRF link")
    starts: dict[int, list[int]] = defaultdict(list)
    for row, start in zip(rows, pool.starts(len(rows)), strict=True):
        starts[row].append(start)
    links = [
        _tagged(link, network, start, systems)
        for link in planned for network, start in zip(vrfs[link.network], starts[link.row], strict=False)
    ]  # fmt: skip
    return VrfLinks(links, [PoolUse("vrf_links", operate.vrf_links, len(rows), pool.size)] if rows else [])


def _tagged(link: NamedLink, network: NamedNetwork, start: int, systems: Sequence[str]) -> NamedLink:
    """A link as a VRF has it: the even address is of the end farther from the servers."""
    a, b = (
        port._replace(
            name=tagged_port(systems[port.device], port.name, network.vlan),
            address=f"{dotted(address)}/{PAIR}",
            alias="",
        )
        for port, address in ((link.a, start + 1), (link.b, start))
    )
    return link._replace(network=network.name, a=a, b=b, subnet=f"{dotted(start)}/{PAIR}")
