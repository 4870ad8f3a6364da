"""Out-of-band: the ports of management of everything that stands in the cluster, as attachments of its fabric.

Servers have theirs built in. Everything else has one attachment each: ``appliances`` (boxes attached to any fabric),
``pdus``, and ``switches`` of all fabrics, its own too, of which only the designed fabrics tell how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabopt.schema.case import Attachment, Case, Fabric
from fabopt.schema.catalog import Cage, Server
from fabopt.units import ceil_div

SWITCHES, PDUS, APPLIANCES = "switches", "pdus", "appliances"
COUNTED = (APPLIANCES, PDUS, SWITCHES)


def counted_ports(case: Case, fabric: Fabric, servers: int, per_rack: int | None) -> dict[str, int]:
    """Ports of management that no design changes, by attachment. ``per_rack``: servers of a rack, if that is known."""
    if fabric.oob is None:
        return {}
    pdus = fabric.oob.pdus
    if pdus is None:
        pdus = 0 if per_rack is None else fabric.oob.pdus_per_rack * ceil_div(servers, per_rack)
    appliances = sum(one.boxes for other in case.fabrics if other.role != "oob" for one in other.attachments)
    return {name: count for name, count in ((APPLIANCES, appliances), (PDUS, pdus)) if count}


def port_cage(server: Server, nic_cages: Mapping[str, tuple[Cage, ...]]) -> Cage:
    """The cage of any port of management: as that of the server's controller. Raises ``LookupError`` without one."""
    own = next(one for one in server.nics if one.role == "oob")
    return (own.cages or nic_cages[own.id])[0]


def as_attachment(name: str, ports: int, cage: Cage) -> Attachment:
    """Ports of management as an attachment."""
    return Attachment(
        name=name,
        ports=ports,
        form_factor=cage.form_factor,
        split=cage.splits[0],
        lane_gbps=cage.lane_gbps,
        boxes=ports,
    )
