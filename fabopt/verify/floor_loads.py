"""Rules of what a hall takes: heat to air by rack and row, weight by rack and square metre, a breaker's share."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.catalog import Switch
from fabopt.schema.floor import Floor
from fabopt.schema.server import Server
from fabopt.units import exact, milliwatts, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor import device_milliwatts, whole_racks_milliwatts
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.purchases import unit_milliwatts
from fabopt.verify.wiring import CabledDesign

KEYS = ("rack_air_w", "row_air_w", "rack_kg", "floor_kg_m2", "breaker_share")
SWITCHES = ("leaf", "spine", "core")


def limits_halls(evidence: Evidence) -> bool:
    """Whether the case limits heat to air or weight."""
    floor = evidence.case.site.floor
    return floor is not None and any(getattr(floor, key) is not None for key in KEYS)


@since("0.3.0", *(f"case.content.site.floor.{key}" for key in KEYS))
@where(limits_halls)
def loads_fit_racks(proof: Proof, cabled: CabledDesign) -> None:
    """No rack gives the air, weighs or draws more than the hall takes, nor does a row.

    Heat to air: power of each device with its NICs and modules, of a switch the larger of it and ``power_max_w`` where
    ``rack_rules.power`` is ``largest``, less ``liquid_share`` of it; what is not known counts whole. Sum of a rack <=
    ``rack_air_w``, of a row <= ``row_air_w``. Sum of ``weight_kg``, 0 where not known, <= ``rack_kg``, and over
    ``rack_pitch_m`` x ``rack_depth_m`` <= ``floor_kg_m2``. Source: case file, ``site.floor``; catalog.
    """
    floor = cabled.evidence.plan.floor
    air_mw, kg = air_by_rack(cabled), kg_by_rack(cabled)
    rows: Counter[str] = Counter()
    for rack, used_mw in air_mw.items():
        rows[rack.rstrip("0123456789")] += used_mw
        _at_most(proof, rack, Fraction(used_mw, 1000), floor.part_of(rack).rack_air_w, "W to the air")
    for row, used_mw in rows.items():
        _at_most(proof, f"row {row}", Fraction(used_mw, 1000), floor.part_of(row).row_air_w, "W to the air")
    for rack, weight in kg.items():
        part = floor.part_of(rack)
        base = exact(part.rack_pitch_m) * exact(part.rack_depth_m)
        _at_most(proof, rack, weight, part.rack_kg, "kg")
        _at_most(proof, rack, weight / base, part.floor_kg_m2, "kg/m2")
    proof.note(_told(floor, air_mw, rows, kg))


def _at_most(proof: Proof, where_: str, used: Fraction, most: float | None, unit: str) -> None:
    proof.holds(most is None or used <= exact(most), f"{where_}: {float(used):,.7g} {unit} of {most or 0:,.7g}")


def _told(floor: Floor, air_mw: Counter[str], rows: Counter[str], kg: dict[str, Fraction]) -> str:
    told = []
    if floor.rack_air_w is not None or floor.row_air_w is not None:
        most = max(air_mw.values(), default=0), max(rows.values(), default=0)
        told.append(f"up to {most[0] / 1000:,.7g} W to the air in a rack, {most[1] / 1000:,.7g} in a row")
    if floor.rack_kg is not None or floor.floor_kg_m2 is not None:
        told.append(f"up to {float(max(kg.values(), default=0)):,.7g} kg known in a rack")
    return "; ".join(told) or f"{some(len(air_mw), 'rack')} on {floor.breaker_share:g} of a breaker"


def air_by_rack(cabled: CabledDesign) -> Counter[str]:
    """Heat to air of every rack, in milliwatts."""
    evidence, devices = cabled.evidence, cabled.wiring.devices
    case, own_mw = evidence.case, 0 if evidence.server.rack else unit_milliwatts(evidence.server)
    largest = case.site.rack_rules.power == "largest" and is_kept(case.rules, RACK_RULES)
    heat: Counter[str] = Counter()
    for rack, used_mw in whole_racks_milliwatts(evidence).items():
        heat[rack] += used_mw - _to_liquid(evidence.server, used_mw)
    columns = zip(devices.role, devices.product, devices.rack, device_milliwatts(evidence, cabled.wiring), strict=True)
    for role, product, rack, used_mw in columns:
        if role in SWITCHES:
            switch = evidence.part(product, Switch)
            most_mw = max(used_mw, milliwatts(switch.power_max_w or 0)) if largest else used_mw
            heat[rack] += most_mw - _to_liquid(switch, most_mw)
        elif rack:
            heat[rack] += used_mw - (_to_liquid(evidence.server, own_mw) if role == "server" else 0)
    return heat


def _to_liquid(product: Switch | Server, used_mw: int) -> int:
    return int(used_mw * exact(product.liquid_share or 0))


def kg_by_rack(cabled: CabledDesign) -> dict[str, Fraction]:
    """Known weight of every rack, in kilograms, exact."""
    evidence, devices = cabled.evidence, cabled.wiring.devices
    attachment_kg = {
        (name, attachment.name): attachment.weight_kg
        for name, fabric in evidence.wanted.items()
        for attachment in fabric.attachments
    }
    weight: dict[str, Fraction] = defaultdict(Fraction)
    if evidence.server.rack is not None:
        weight |= dict.fromkeys(evidence.design.racks.server_racks, exact(evidence.server.weight_kg or 0))
    for role, product, rack, fabric in zip(devices.role, devices.product, devices.rack, devices.fabric, strict=True):
        if role == "attachment":
            weight[rack] += exact(attachment_kg[fabric, product] or 0)
        elif role in SWITCHES:
            weight[rack] += exact(evidence.part(product, Switch).weight_kg or 0)
        elif evidence.server.rack is None:
            weight[rack] += exact(evidence.server.weight_kg or 0)
    return {rack: kg for rack, kg in weight.items() if rack}
