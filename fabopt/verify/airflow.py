"""Rules of airflow: switches are sold in the direction that the case wants, or in that of the servers, and no rack has
devices that blow against each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fabopt.rules.defaults import AIRFLOW, RACK_RULES, is_kept
from fabopt.schema.catalog import Switch
from fabopt.schema.product import Airflow
from fabopt.units import some
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign

INTAKE, EXHAUST = "port-side-intake", "port-side-exhaust"


def wants_airflow(fabric: FabricEvidence) -> bool:
    """Whether the case states the direction of air in its racks."""
    case = fabric.evidence.case
    return case.site.rack_rules.airflow is not None and is_kept(case.rules, RACK_RULES)


@since("0.2.0", "case.content.site.rack_rules")
@where(wants_airflow)
def airflows_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """Every switch, twins among them, is sold with the airflow that the case wants, or its airflow is not known.

    Source: case file, ``site.rack_rules.airflow``; catalog, ``airflows``.
    """
    wanted = fabric.evidence.case.site.rack_rules.airflow
    for switch in _switches(fabric):
        sold = sorted(switch.airflows)
        proof.holds(not sold or wanted in sold, f"{switch.id} is sold with {' and '.join(sold)}, not with {wanted}")
        proof.note(f"{switch.id} {wanted if sold else 'not known'}")


def _switches(fabric: FabricEvidence) -> Iterator[Switch]:
    managers = fabric.designed.subnet_manager
    twins = () if managers is None else managers.twins
    ids = [*(tier.id for tier, _ in fabric.switch_types), *(twin.id for twin in twins)]
    return (fabric.evidence.part(id_, Switch) for id_ in dict.fromkeys(ids))


def has_ports_on_a_side(evidence: Evidence) -> bool:
    """Whether it is known where servers have their ports, and the case wants no airflow by name."""
    kept = is_kept(evidence.case.rules, AIRFLOW)
    return kept and evidence.case.site.rack_rules.airflow is None and evidence.server.ports_side is not None


@since("0.3.0", "parts.ports_side")
@where(has_ports_on_a_side)
def airflow_follows_servers(proof: Proof, evidence: Evidence) -> None:
    """Switches that are sold in the airflow of the servers are ordered in it.

    Air goes in at the front: of servers with ports at the rear, switches beside them blow out at theirs. A switch that
    is sold the other way only is named: it needs a rack of its own, its ports to the other aisle. On a floor with one
    all switches that are sold so are ordered as it blows. Source: catalog, ``ports_side``, ``airflows``; design file,
    ``bom.part_number``.
    """
    wanted: Airflow = "port-side-exhaust" if evidence.server.ports_side == "rear" else "port-side-intake"
    bought = {
        row.id: evidence.part(row.id, Switch)
        for row in evidence.design.bom
        if row.kind == "switch" and row.charge is None
    }
    if evidence.case.site.has_floor:
        one_way = {way for switch in bought.values() for way in switch.airflows if wanted not in switch.airflows}
        wanted = next(iter(one_way), wanted)
    for row in evidence.design.bom:
        switch = bought.get(row.id) if row.charge is None else None
        code = None if switch is None else switch.airflows.get(wanted)
        if code:
            proof.equal(f"part_number of {row.id}, {wanted}", row.part_number, code)
        elif switch is not None and wanted in switch.airflows:
            others = {other for other in switch.airflows.values() if other}
            proof.holds(row.part_number not in others, f"{row.part_number} of {row.id} is not {wanted}")
        elif switch is not None and switch.airflows and wanted not in switch.airflows:
            proof.note(f"{row.id} {' and '.join(switch.airflows)} only")
    proof.note(wanted)


@since("0.3.0", "parts.ports_side")
@where(lambda evidence: is_kept(evidence.case.rules, AIRFLOW))
def racks_blow_one_way(proof: Proof, cabled: CabledDesign) -> None:
    """No rack has two devices that are known to blow against each other, their ports being on one side.

    Servers with ports at the rear blow out there, with ports at the front they take air in; a switch blows as it is
    sold, or as the part number says that is ordered. Sold both ways without one of these numbers, and where nothing is
    known, it goes with all. Source: catalog, ``ports_side``, ``airflows``; design file, ``bom.part_number``.
    """
    evidence, devices = cabled.evidence, cabled.wiring.devices
    ordered = {row.id: row.part_number for row in evidence.design.bom if row.kind == "switch" and row.charge is None}
    of_servers = {"rear": EXHAUST, "front": INTAKE}.get(evidence.server.ports_side or "")
    ways: dict[str, set[str]] = defaultdict(set)
    for role, product, rack in zip(devices.role, devices.product, devices.rack, strict=True):
        if not rack:
            continue
        if role == "server" and of_servers is not None:
            ways[rack].add(of_servers)
        elif role in ("leaf", "spine", "core"):
            sold = evidence.part(product, Switch).airflows
            named = [way for way, code in sold.items() if len(sold) == 1 or (code and code == ordered.get(product))]
            ways[rack].update(named[:1])
    for rack, of_rack in ways.items():
        proof.holds(len(of_rack) <= 1, f"{rack}: devices of {' and '.join(sorted(of_rack))}")
    proof.note(f"{some(sum(map(bool, ways.values())), 'rack')} with devices of known airflow")
