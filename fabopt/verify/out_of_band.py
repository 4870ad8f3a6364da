"""The rule of out-of-band fabrics: every device of the cluster has its port of management, and no others are cabled."""

from __future__ import annotations

from collections import Counter

from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.design import Design, LinkRow
from fabopt.schema.installed import base_of
from fabopt.units import ceil_div, some
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import FIRST, Proof, named_edition, where


def counts_ports(evidence: Evidence) -> bool:
    """Whether the case asks for an out-of-band fabric."""
    return any(fabric.role == "oob" for fabric in evidence.case.fabrics)


@where(counts_ports)
def oob_covers_boxes(proof: Proof, evidence: Evidence) -> None:
    """An out-of-band fabric has ports for exactly the installed devices, at every stage.

    Links to its leaves of ``switches`` = ports of a switch x switches of all fabrics of the file, its own too; of
    ``pdus`` = strips of a rack x racks of servers, of attachments and of switches alone, or those of the site; of
    ``rack-devices`` = ports of the devices in whole racks; of ``appliances`` = devices attached to other fabrics. Racks
    of switches without strips are told. With several stages, the ports that each adds. Source: design file, ``tiers``,
    ``growth``, ``placement``; case file, ``oob``, ``attachments[].boxes``; catalog, ``rack``.
    """
    for fabric in evidence.fabrics:
        if fabric.designed.role == "oob":
            _strips_are_counted(proof, evidence, fabric)
            for name, ports in _wanted(evidence, fabric).items():
                rows = [row for row in fabric.designed.links if row.attachment == name]
                proof.equal(f"ports of {name} on {fabric.designed.name}", sum(row.count for row in rows), ports[-1])
                _stage_by_stage(proof, evidence, rows, name, ports)
                proof.note(f"{', '.join(map(str, ports))} {name}")


def _stage_by_stage(proof: Proof, evidence: Evidence, rows: list[LinkRow], name: str, ports: list[int]) -> None:
    """Every row's links come with the stage that it names, or all at first."""
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
    others = [fabric_of_case for fabric_of_case in evidence.case.fabrics if fabric_of_case.role != "oob"]
    appliances = sum(attachment.boxes for fabric_of_case in others for attachment in fabric_of_case.attachments)
    wanted = {
        "switches": [_switches(evidence, stage) * asked.ports_per_switch for stage in stages],
        "appliances": [appliances for _ in stages],
    }
    whole, numbers = evidence.server.rack, evidence.servers_by_stage
    if whole is not None:
        of_rack = sum(devices.count * devices.management_ports for devices in whole.devices)
        wanted["rack-devices"] = [of_rack * ceil_div(number, whole.servers) for number in numbers]
    per_rack = evidence.design.racks.servers_per_rack or evidence.case.site.servers_per_rack
    if asked.pdus is not None:
        wanted["pdus"] = [asked.pdus for _ in stages]
    elif per_rack is not None:
        without_servers = len(_racks_of_attachments(evidence)) + (asked.switch_racks or 0)
        more = without_servers if _counts_all_racks(evidence) else 0
        wanted["pdus"] = [asked.pdus_per_rack * (ceil_div(number, per_rack) + more) for number in numbers]
    base = base_of(evidence.case)
    if base is not None and evidence.case.base is not None:
        there = _in_service(base, evidence.case.base.stage, fabric.designed.name)
        if evidence.case.moving is None:
            return {name: [there[name], *ports[1:]] for name, ports in wanted.items()}
        # switches may be taken out, strips and devices not
        least = {name: there[name] * (name != "switches") for name in wanted}
        return {name: [max(least[name], now) for now in ports] for name, ports in wanted.items()}
    return wanted


def _in_service(base: Design, stage: int, name: str) -> Counter[str]:
    """Links in service of every attachment of a fabric, as its file lists them."""
    stages = [one.name for one in base.stages]
    there: Counter[str] = Counter()
    for row in (row for fabric in base.fabrics if fabric.name == name for row in fabric.links if row.attachment):
        coming = row.stages or stages[:1]
        there[row.attachment or ""] += row.count * sum(one in stages[: stage + 1] for one in coming) // len(coming)
    return there


def _counts_all_racks(evidence: Evidence) -> bool:
    """Whether strips of racks without servers count: not in files of the first version."""
    return is_kept(evidence.case.rules, RACK_RULES) and named_edition(evidence.design) != FIRST


def _racks_of_attachments(evidence: Evidence) -> set[str]:
    """Racks of attachments alone: hosts that stand with switches are in racks that count as those of switches."""
    places = [designed.places for designed in evidence.design.fabrics]
    switches = {rack for of_fabric in places for rack, _ in (*of_fabric.leaf, *of_fabric.spine, *of_fabric.core)}
    of_attachments = (of_one for of_fabric in places for of_one in of_fabric.attachments.values())
    return {rack for of_one in of_attachments for rack, _ in of_one} - switches


def _strips_are_counted(proof: Proof, evidence: Evidence, fabric: FabricEvidence) -> None:
    """Racks of switches without servers are no more than counted, or a note tells them."""
    asked, placed = fabric.wanted.oob, [designed.places for designed in evidence.design.fabrics]
    if asked is None or asked.pdus is not None or not asked.pdus_per_rack or not _counts_all_racks(evidence):
        return
    switches = {rack for places in placed for rack, _ in (*places.leaf, *places.spine, *places.core)}
    missing = len(switches - set(evidence.design.racks.server_racks)) - (asked.switch_racks or 0)
    start = f"{fabric.designed.name}: PDUs of {some(missing, 'rack')} of switches have no port"
    is_told = any(note.startswith(start) for note in evidence.design.notes)
    proof.holds(missing <= 0 or is_told, f"no note says: {start}")


def _switches(evidence: Evidence, stage: int) -> int:
    """Switches of all fabrics at a stage; those of the tiers, where the file has no growth."""
    switches = 0
    for designed in evidence.design.fabrics:
        if stage == len(evidence.servers_by_stage) - 1 or not designed.growth:
            switches += sum(tier.count for tier in designed.tiers)
        else:
            grown = designed.growth[stage]
            switches += grown.leaves + grown.spines + grown.cores
    return switches
