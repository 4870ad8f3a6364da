"""Out-of-band: the management ports of all devices of a cluster, as attachments of its fabric.

Servers have theirs built in. There is an attachment for each kind of other devices: ``appliances`` (devices attached to
any fabric), ``pdus``, ``rack-devices`` (of whole racks, beside their servers), and ``switches`` of all fabrics, its own
too, counted once the fabrics are designed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabopt.floor.appliances import racks_of_appliances
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.attachment import APPLIANCES, COUNTED, PDUS, RACK_DEVICES, Attachment
from fabopt.schema.case import Case, Fabric
from fabopt.schema.product import Cage
from fabopt.schema.server import Server
from fabopt.units import ceil_div

# Ports that there are at every stage.
ByStage = tuple[int, ...]


class ServersInRacks(NamedTuple):
    """``servers`` of a kind at every stage; ``per_rack``: of a rack, if that is known."""

    server: Server
    servers: Sequence[int]
    per_rack: int | None


def is_counted(fabric: Fabric, attachment: str) -> bool:
    """Whether ports of an attachment of a fabric are counted, and come stage by stage."""
    return fabric.role == "oob" and attachment in COUNTED


def counted_ports(case: Case, fabric: Fabric, racks: ServersInRacks) -> dict[str, ByStage]:
    """Ports of management that no design changes, by attachment and stage.

    Strips of racks without servers are counted where rule ``rack-rules`` holds. At the stage of what is in service they
    are those of its file, and never fewer later.
    """
    if fabric.oob is None:
        return {}
    appliances = sum(
        attachment.boxes for other in case.fabrics if other.role != "oob" for attachment in other.attachments
    )
    server, servers, per_rack = racks
    pdus_per_rack, others = fabric.oob.pdus_per_rack, 0
    if is_kept(case.rules, RACK_RULES):
        others = racks_of_appliances(case) + (fabric.oob.switch_racks or 0)
    pdus = tuple(0 if per_rack is None else pdus_per_rack * (ceil_div(count, per_rack) + others) for count in servers)
    if fabric.oob.pdus is not None:
        pdus = (fabric.oob.pdus,) * len(servers)
    of_rack = 0 if server.rack is None else server.rack.management_ports
    in_racks = tuple(of_rack * server.sold_for(count) for count in servers)
    counted = {APPLIANCES: (appliances,) * len(servers), PDUS: pdus, RACK_DEVICES: in_racks}
    if case.base is not None:
        there = case.base.attached(fabric.name)
        if case.moving is not None:
            counted = {name: tuple(max(there.get(name, 0), now) for now in ports) for name, ports in counted.items()}
        else:
            counted = {name: from_those(there.get(name, 0), ports) for name, ports in counted.items()}
    return {name: ports for name, ports in counted.items() if ports[-1]}


def from_those(there: int, ports: ByStage) -> ByStage:
    """Ports by stage of which ``there`` are in service at the first one."""
    return (there, *(max(there, later) for later in ports[1:]))


def added(ports: ByStage) -> ByStage:
    """Ports that each stage adds; ``ports``: running totals by stage."""
    return tuple(now - before for now, before in zip(ports, (0, *ports), strict=False))


def port_cage(server: Server, nic_cages: Mapping[str, tuple[Cage, ...]]) -> Cage:
    """The cage of a management port: that of the server's controller. Raises ``LookupError`` if its NIC is unknown."""
    own = next(nic for nic in server.nics if nic.role == "oob")
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
