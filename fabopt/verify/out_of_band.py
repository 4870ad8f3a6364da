"""The rule of out-of-band fabrics: every box of the cluster has its port of management, and no more are cabled."""

from __future__ import annotations

from collections import Counter

from fabopt.schema.design import LinkRow
from fabopt.units import ceil_div
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import Proof


def counts_ports(evidence: Evidence) -> bool:
    """Whether the case asks for an out-of-band fabric."""
    return any(fabric.role == "oob" for fabric in evidence.case.fabrics)


def oob_covers_boxes(proof: Proof, evidence: Evidence) -> None:
    """An out-of-band fabric has ports for just the boxes that there are, at every stage.

    Links to its leaves of ``switches`` = ports of a switch x switches of all fabrics of the file, its own too; of
    ``pdus`` = strips of a rack x racks of servers, or those of the site; of ``appliances`` = boxes attached to other
    fabrics. With several stages, what each of them adds. Source: design file, ``tiers``, ``growth``; case file,
    ``oob``, ``attachments[].boxes``.
    """
    for fabric in evidence.fabrics:
        if fabric.made.role == "oob":
            for name, ports in _wanted(evidence, fabric).items():
                rows = [row for row in fabric.made.links if row.attachment == name]
                proof.equal(f"ports of {name} on {fabric.made.name}", sum(row.count for row in rows), ports[-1])
                _stage_by_stage(proof, evidence, rows, name, ports)
                proof.note(f"{', '.join(map(str, ports))} {name}")


def _stage_by_stage(proof: Proof, evidence: Evidence, rows: list[LinkRow], name: str, ports: list[int]) -> None:
    """Every row's links come with the stage that it names, all at first where it names none."""
    coming: Counter[int] = Counter()
    for row in rows:
        stages = [evidence.stage_names.index(stage) for stage in row.stages or evidence.stage_names[:1]]
        for stage in stages:
            coming[stage] += row.count // len(stages)
    there = [sum(coming[stage] for stage in range(until + 1)) for until in range(len(ports))]
    proof.equal(f"ports of {name} at each stage", there, ports)


def _wanted(evidence: Evidence, fabric: FabricEvidence) -> dict[str, list[int]]:
    """Ports at each stage."""
    asked = fabric.wanted.oob
    if asked is None:
        raise ValueError("the embedded case does not resolve what an out-of-band fabric counts")
    stages = range(len(evidence.servers_by_stage))
    others = [one for one in evidence.case.fabrics if one.role != "oob"]
    boxes = sum(attachment.boxes for one in others for attachment in one.attachments)
    wanted = {
        "switches": [_switches(evidence, stage) * asked.ports_per_switch for stage in stages],
        "appliances": [boxes for _ in stages],
    }
    per_rack = evidence.design.racks.servers_per_rack or evidence.case.site.servers_per_rack
    if asked.pdus is not None:
        wanted["pdus"] = [asked.pdus for _ in stages]
    elif per_rack is not None:
        wanted["pdus"] = [asked.pdus_per_rack * ceil_div(number, per_rack) for number in evidence.servers_by_stage]
    return wanted


def _switches(evidence: Evidence, stage: int) -> int:
    """Switches of all fabrics that stand at a stage; those of the tiers, where the file does not say how it grows."""
    found = 0
    for made in evidence.design.fabrics:
        if stage == len(evidence.servers_by_stage) - 1 or not made.growth:
            found += sum(tier.count for tier in made.tiers)
        else:
            grown = made.growth[stage]
            found += grown.leaves + grown.spines + grown.cores
    return found
