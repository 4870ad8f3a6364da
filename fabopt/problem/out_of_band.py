"""Out-of-band: the ports of management of everything in the cluster, as attachments of its fabric.

Servers have theirs built in. Everything else has one attachment each: ``appliances`` (devices attached to any fabric),
``pdus``, and ``switches`` of all fabrics, its own too, of which only the designed fabrics tell how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Case, Fabric
from fabopt.schema.product import Cage
from fabopt.schema.server import Server
from fabopt.units import ceil_div

SWITCHES, PDUS, APPLIANCES = "switches", "pdus", "appliances"
COUNTED = (APPLIANCES, PDUS, SWITCHES)


# Ports that there are at every stage.
ByStage = tuple[int, ...]


def counted_ports(case: Case, fabric: Fabric, servers: Sequence[int], per_rack: int | None) -> dict[str, ByStage]:
    """Ports of management that no design changes, by attachment and stage.

    ``servers``: at every stage; ``per_rack``: of a rack, if that is known.
    """
    if fabric.oob is None:
        return {}
    appliances = sum(one.boxes for other in case.fabrics if other.role != "oob" for one in other.attachments)
    pdus_per_rack = fabric.oob.pdus_per_rack
    pdus = tuple(0 if per_rack is None else pdus_per_rack * ceil_div(number, per_rack) for number in servers)
    if fabric.oob.pdus is not None:
        pdus = (fabric.oob.pdus,) * len(servers)
    counted = ((APPLIANCES, (appliances,) * len(servers)), (PDUS, pdus))
    return {name: ports for name, ports in counted if ports[-1]}


def added(ports: ByStage) -> ByStage:
    """What each stage adds."""
    return tuple(now - before for now, before in zip(ports, (0, *ports), strict=False))


def port_cage(server: Server, nic_cages: Mapping[str, tuple[Cage, ...]]) -> Cage:
    """The cage of any port of management: as that of the server's controller. Raises ``LookupError`` without one."""
    own = next(one for one in server.nics if one.role == "oob")
    return (own.cages or nic_cages[own.id])[0]


def as_attachment(name: str, ports: ByStage, cage: Cage) -> Attachment:
    """Ports of management as an attachment."""
    return Attachment(
        name=name,
        ports=ports[-1],
        form_factor=cage.form_factor,
        split=cage.splits[0],
        lane_gbps=cage.lane_gbps,
        boxes=ports[-1],
        adds=added(ports) if ports[0] < ports[-1] else (),
    )
