"""Subnets that a pod shares with what is in service, counted on the wiring of both."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

import numpy as np

from fabopt.parts.lookup import Lookup
from fabopt.schema.attachment import Attachment
from fabopt.schema.catalog import Switch
from fabopt.schema.installed import all_live
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import KINDS, TO_ATTACHMENTS, Wiring
from fabopt.wiring.together import together


class SubnetInService(NamedTuple):
    """What a pod finds in each subnet: ports of NICs and of attachments, those of hosts of management among them, and
    switches below those that are joined by product, over all subnets.
    """

    nodes: int
    hosts: int
    role: Literal["leaf", "spine", "core"]
    below: Counter[str]


def subnet_in_service(fabric: FabricEvidence) -> SubnetInService | None:
    """What is in service in each subnet of a fabric that joins another; None where it joins none."""
    joins, name = fabric.evidence.case.joins, fabric.designed.name
    joined = None if joins is None else joins.of(name)
    if joined is None:
        return None
    live = _live(fabric.evidence)
    links, devices = live.links, live.devices
    own = links.fabric == live.fabrics.index(name)
    of_servers = int((own & (links.kind == KINDS.index("server-leaf"))).sum())
    attached = own & np.isin(links.kind, TO_ATTACHMENTS)
    names = {host.name for host in hosts_in_service(fabric)}
    hosts = sum(devices.product[row] in names for row in links.a[attached].tolist())
    roles = ("leaf", "spine")[: 1 if joined.role == "spine" else 2]
    below = (row for row, role in enumerate(devices.role) if role in roles and devices.fabric[row] == name)
    return SubnetInService(
        of_servers // fabric.designed.planes + int(attached.sum()),
        hosts if fabric.designed.planes == 1 else 0,
        joined.role,
        Counter(devices.product[row] for row in below),
    )


def hosts_in_service(fabric: FabricEvidence) -> list[Attachment]:
    """Attachments in service of a fabric that may run a subnet manager."""
    cases = (Embedded(live).case for _, live in all_live(fabric.evidence.case.joins))
    there = (one for case in cases for one in case.fabrics if one.name == fabric.designed.name)
    return [attachment for one in there for attachment in one.attachments if attachment.kind == "management"]


def switch_of(fabric: FabricEvidence, id_: str) -> Switch:
    """A switch of the file, or of what it joins; ``LookupError`` where neither has it."""
    return Embedded(fabric.evidence.design).switch_there(id_)


def of_both(cabling: FabricCabling) -> FabricCabling:
    """The cables of a fabric with those of the one that it joins; unchanged where it joins none."""
    evidence, name = cabling.fabric.evidence, cabling.fabric.designed.name
    joins = evidence.case.joins
    if joins is None or joins.of(name) is None:
        return cabling
    whole = together(cabling.cabled.wiring, _live(evidence))
    return FabricCabling(cabling.fabric, CabledDesign(evidence, whole), whole.fabrics.index(name))


def _live(evidence: Evidence) -> Wiring:
    """The wiring of what a pod joins; ``ValueError`` where there is none."""
    live = _LIVE.of(evidence, None, lambda: joined_wiring(evidence.design, wiring_of))
    if live is None:
        raise ValueError("the file does not say what it joins")
    return live


# Both rules of managers look at the wiring in service.
_LIVE: Lookup[Evidence, None, Wiring | None] = Lookup()
