"""What a torus of servers still gives when a server or a cable fails at the worst place.

Left per GPU of the worst-hit server: what its NICs still inject over the ports that lead anywhere, at most what it can
send over any cut into halves, ``f N/2``: f is what all N servers left can have pair by pair through each other, over
equal-cost shortest paths of what is left. At most what there is without failures. See docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from fabopt.network.graph.pair_flow import port_rate
from fabopt.network.graph.survival import ServerPorts
from fabopt.topology.direct.failures import MOST_WORK, worst_flow
from fabopt.topology.direct.hyperx import halves
from fabopt.topology.direct.server_torus import Switchless

Lost = Literal["server", "cable"]
KINDS: tuple[Lost, ...] = ("server", "cable")
# A torus holds together without any one server or link, as every side has three at least.
CUT_OFF = 0


def kinds_told(design: Switchless) -> tuple[Lost, ...]:
    """What can fail alone; nothing where the graph takes minutes."""
    return KINDS if 2 * design.links * design.servers <= MOST_WORK else ()


def bandwidth_left(design: Switchless, gpus: int, failed: str) -> Fraction:
    """Mb/s per GPU (``gpus`` of a server) after one failure."""
    nic, speed, sharers = design.parts.nic, design.link_mbps, max(1, gpus)
    top = nic.injection * sharers / nic.nics_per_server / speed
    ports = ServerPorts(nic.nics_per_server, nic.ports_per_nic, 1, nic.ports_per_server, top)
    lost = max(halves(design.numbers)[1]) if failed == "server" else 1
    return min(nic.injection * ports.without_cables(lost), _carried(design, failed) / sharers)


def _carried(design: Switchless, failed: str) -> Fraction:
    """Mb/s of a server across any cut into halves."""
    speed, servers = design.link_mbps, design.servers - (failed == "server")
    whole = design.kin.flow(design.numbers) * speed * design.servers / 2
    flow = worst_flow(design.mesh, "leaf" if failed == "server" else "link") * speed
    return min(whole, port_rate(flow, servers, 1, speed * design.parts.nic.ports_per_server))
