"""The rule of out-of-band fabrics: every box of the cluster has its port of management, and no more are cabled."""

from __future__ import annotations

from fabopt.units import ceil_div
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import Proof


def counts_ports(evidence: Evidence) -> bool:
    """Whether the case asks for an out-of-band fabric."""
    return any(fabric.role == "oob" for fabric in evidence.case.fabrics)


def oob_covers_boxes(proof: Proof, evidence: Evidence) -> None:
    """An out-of-band fabric has ports for just the boxes that there are.

    Links to its leaves of ``switches`` = ports of a switch x switches of all fabrics of the file, its own too; of
    ``pdus`` = strips of a rack x racks of servers, or those of the site; of ``appliances`` = boxes attached to other
    fabrics. Source: design file, ``tiers``; case file, ``oob``, ``attachments[].boxes``.
    """
    for fabric in evidence.fabrics:
        if fabric.made.role == "oob":
            for name, ports in _wanted(evidence, fabric).items():
                rows = [row for row in fabric.made.links if row.attachment == name]
                proof.equal(f"ports of {name} on {fabric.made.name}", sum(row.count for row in rows), ports)
                proof.note(f"{ports} {name}")


def _wanted(evidence: Evidence, fabric: FabricEvidence) -> dict[str, int]:
    asked = fabric.wanted.oob
    if asked is None:
        raise ValueError("the embedded case does not resolve what an out-of-band fabric counts")
    switches = sum(tier.count for made in evidence.design.fabrics for tier in made.tiers)
    others = [one for one in evidence.case.fabrics if one.role != "oob"]
    wanted = {
        "switches": switches * asked.ports_per_switch,
        "appliances": sum(attachment.boxes for one in others for attachment in one.attachments),
    }
    per_rack = evidence.case.site.servers_per_rack
    if evidence.design.floor is not None:
        per_rack = evidence.design.floor.servers_per_rack
    if asked.pdus is not None:
        wanted["pdus"] = asked.pdus
    elif per_rack is not None:
        wanted["pdus"] = asked.pdus_per_rack * ceil_div(evidence.servers, per_rack)
    return wanted
