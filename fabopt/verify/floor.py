"""Rules of the floor: places of servers and switches, from the explicit list of devices, and what a hall takes: heat to
air by rack and row, weight by rack and square metre, a breaker's share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import servers_in_rack
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.catalog import Nic, Switch, Transceiver
from fabopt.schema.floor import Floor
from fabopt.schema.server import Server
from fabopt.units import ceil_div, exact, milliwatts, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import EDITIONS, Proof, named_edition, since, where
from fabopt.verify.purchases import unit_milliwatts
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import Wiring

POLICIES = ("top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks", "anywhere")


def servers_fill_racks(proof: Proof, cabled: CabledDesign) -> None:
    """Servers fill usable racks of the floor one after another, bottom up.

    ceil(N / servers per rack) racks, none twice, none blocked or reserved; servers per rack as the case says, else the
    most that fit; every switch has one place if the case has a floor, none if it has not. Source: case file,
    ``site.floor``; design file, ``floor``.
    """
    evidence = cabled.evidence
    floor, used = evidence.case.site.floor, evidence.design.floor
    proof.equal("a floor in the design", used is not None, floor is not None)
    for fabric in evidence.design.fabrics:
        proof.equal(f"{fabric.name} has places", fabric.placement is not None, floor is not None)
        if fabric.placement is not None:
            proof.holds(fabric.placement.policy in POLICIES, f"unknown placement {fabric.placement.policy}")
            counts = {str(tier.role): tier.count for tier in fabric.tiers}
            for role in ("leaf", "spine", "core"):
                places = len(getattr(fabric.placement, role))
                proof.equal(f"places of {fabric.name} {role} switches", places, counts.get(role, 0))
    if floor is None or used is None:
        proof.note("no floor plan")
        return
    plan = FloorPlan(floor)
    racks = [plan.rack_index(rack) for rack in used.server_racks]
    proof.equal("racks of servers", len(racks), ceil_div(evidence.servers, used.servers_per_rack))
    proof.equal("racks named once", len(set(racks)), len(racks))
    proof.holds(bool(plan.usable[racks].all()), "servers in a rack that is blocked or reserved")
    given = evidence.case.site.servers_per_rack
    if evidence.server.rack is not None:
        given = evidence.server.rack.servers
    elif counts_nics(evidence):
        given = servers_in_rack(evidence.case, evidence.server)
    proof.holds(
        given is None or used.servers_per_rack == given, f"{some(used.servers_per_rack, 'server')} a rack, not {given}"
    )
    lengths = list(used.length_classes_m)
    proof.equal("length classes rise", lengths, sorted(set(lengths)))
    proof.note(f"{some(evidence.servers, 'server')} in {some(len(racks), 'rack')}")


def boxes_fit_racks(proof: Proof, cabled: CabledDesign) -> None:
    """No two devices fill one rack unit, and no rack is higher or uses more than the floor allows.

    For every rack: units of its devices are disjoint and within 1 .. rack_units; power of servers and of the NICs that
    are bought for them, switches, modules in both, and attachments <= rack_power_w. Source: case file, ``site.floor``;
    catalog, ``rack_units`` and ``power_w``.
    """
    floor = cabled.evidence.case.site.floor
    if floor is None:
        proof.note("no floor plan")
        return
    plan, devices = FloorPlan(floor), cabled.wiring.devices
    taken: dict[str, Counter[int]] = defaultdict(Counter)
    for rack, unit, height in zip(devices.rack, devices.unit.tolist(), devices.height_u.tolist(), strict=True):
        if rack:
            taken[rack].update(range(unit, unit + max(1, int(np.ceil(height)))))
    for rack, others in frames(cabled.evidence).items():
        taken[rack].update(others)
    for rack, units in taken.items():
        proof.holds(bool(plan.usable[plan.rack_index(rack)]), f"{rack} is blocked or reserved")
        proof.holds(min(units) >= 1 and max(units) <= floor.rack_units, f"{rack}: units {min(units)} to {max(units)}")
        proof.holds(max(units.values()) == 1, f"{rack}: two devices in one unit")
    placed = sum(role != "attachment" and not rack for role, rack in zip(devices.role, devices.rack, strict=True))
    proof.equal("devices without a rack", placed, 0)
    limits_power = floor.rack_power_w is not None
    for rack, used_mw in rack_milliwatts(cabled.evidence, cabled.wiring).items() if limits_power else ():
        limit = usable_milliwatts(floor.part_of(rack))
        told = f"{rack} uses {used_mw / 1000:g} W of {float(limit or 0) / 1000:g}"
        proof.holds(limit is None or used_mw <= limit, told)
    proof.note(
        f"{some(len(taken), 'rack')} in use, at most {some(max(len(units) for units in taken.values()), 'unit')}"
    )


def usable_milliwatts(floor: Floor) -> Fraction | None:
    """What a feed gives a rack of a hall for long: of a breaker's rating its share; None: any."""
    if floor.rack_power_w is None:
        return None
    return exact(floor.rack_power_w) * exact(floor.breaker_share or 1) * 1000


def frames(evidence: Evidence) -> dict[str, set[int]]:
    """Units that a whole rack fills besides its servers, by rack."""
    whole, height = evidence.server.rack, ceil(evidence.server.rack_units or 1)
    if whole is None:
        return {}
    unit, servers = 1, set[int]()
    for devices in whole.devices:
        above = unit + devices.count * (devices.rack_units or height)
        servers |= set(range(unit, above)) if devices.is_servers else set()
        unit = above
    return dict.fromkeys(evidence.design.racks.server_racks, set(range(1, whole.rack_units + 1)) - servers)


def rack_milliwatts(evidence: Evidence, wiring: Wiring) -> Counter[str]:
    """Power in milliwatts of servers, switches, their modules, and attachments without modules, by rack."""
    used = whole_racks_milliwatts(evidence)
    for rack, used_mw in zip(wiring.devices.rack, device_milliwatts(evidence, wiring), strict=True):
        if rack:
            used[rack] += used_mw
    return used


def whole_racks_milliwatts(evidence: Evidence) -> Counter[str]:
    """Power of rack-scale systems, by rack."""
    if evidence.server.rack is None:
        return Counter()
    return Counter(dict.fromkeys(evidence.design.racks.server_racks, unit_milliwatts(evidence.server)))


def device_milliwatts(evidence: Evidence, wiring: Wiring) -> list[int]:
    """Power in milliwatts of every device with its modules, of attachments without; of a server in a rack-scale system
    that of its NICs.
    """
    devices, modules = wiring.devices, wiring.modules
    attachment_w = {
        (name, attachment.name): attachment.power_w
        for name, fabric in evidence.wanted.items()
        for attachment in fabric.attachments
    }
    of_product = {
        product: unit_milliwatts(evidence.product(product))
        for role, product in set(zip(devices.role, devices.product, strict=True))
        if role != "attachment"
    }
    if evidence.server.rack is not None:
        of_product[evidence.server.id] = 0
    if counts_nics(evidence):
        of_product[evidence.server.id] += _nics_milliwatts(evidence)
    used = [
        milliwatts(attachment_w[fabric, product] or 0) if role == "attachment" else of_product[product]
        for role, product, fabric in zip(devices.role, devices.product, devices.fabric, strict=True)
    ]
    roles = {"leaf", "spine", "core"} | ({"server"} if counts_nics(evidence) else set())
    for device, part in zip(modules.device.tolist(), modules.part, strict=True):
        if devices.role[device] in roles:
            used[device] += milliwatts(evidence.part(part, Transceiver).power_w or 0)
    return used


def counts_nics(evidence: Evidence) -> bool:
    """Whether NICs and their modules count in the power of racks: in files of the first two versions they did not."""
    return named_edition(evidence.design) not in EDITIONS[:2]


def _nics_milliwatts(evidence: Evidence) -> int:
    """Power in milliwatts of the NICs bought for a server."""
    fabrics = evidence.design.fabrics
    nics = [
        nic
        for fabric in fabrics
        for nic in (fabric.nic, *(logical.nic for logical in fabric.logical))
        if not nic.built_in
    ]
    return sum(
        nic.per_server
        * max(unit_milliwatts(evidence.part(id_, Nic)) for id_ in (nic.id, *(s.id for s in nic.stand_ins)))
        for nic in nics
    )


def has_floor(evidence: Evidence) -> bool:
    """Whether the case or the design has a floor."""
    site = evidence.design.case.content.get("site")
    given = isinstance(site, dict) and (site.get("floor") is not None or bool(site.get("halls")))
    return given or evidence.design.floor is not None or any(designed.placement for designed in evidence.design.fabrics)


# -- what a hall takes: heat, weight, a breaker's share ---------------------------------------------------------------


OUTLET_KEYS = {"C14": "outlets_c13", "C16": "outlets_c15", "C20": "outlets_c19"}
NETWORK_KEYS = {key: f"network_{key}" for key in OUTLET_KEYS.values()}
OF_OUTLETS = (*NETWORK_KEYS, *NETWORK_KEYS.values())
KEYS = ("rack_air_w", "row_air_w", "rack_kg", "floor_kg_m2", "breaker_share", *OF_OUTLETS)
SWITCHES = ("leaf", "spine", "core")


def limits_halls(evidence: Evidence) -> bool:
    """Whether the case limits heat to air, weight or outlets."""
    floor = evidence.case.site.floor
    return floor is not None and any(getattr(floor, key) is not None for key in KEYS)


@since("0.3.0", *(f"case.content.site.floor.{key}" for key in KEYS))
@where(limits_halls)
def loads_fit_racks(proof: Proof, cabled: CabledDesign) -> None:
    """No rack gives the air, weighs or draws more than the hall takes, nor does a row.

    Heat to air: power of each device with its NICs and modules, of a switch the larger of it and ``power_max_w`` where
    ``rack_rules.power`` is ``largest``, less ``liquid_share`` of it; what is not known counts whole. Sum of a rack <=
    ``rack_air_w``, of a row <= ``row_air_w``. Sum of ``weight_kg``, 0 where not known, <= ``rack_kg``, and over
    ``rack_pitch_m`` x ``rack_depth_m`` <= ``floor_kg_m2``. Sum of ``inlets`` of a type of servers and switches, of a
    rack-scale system those of the rack, <= outlets for it, of racks without servers ``network_outlets`` where they are
    given. Source: case file, ``site.floor``; catalog.
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
    for rack, inlets in inlets_by_rack(cabled).items():
        for inlet, number in inlets.items():
            most = _outlets(cabled.evidence, rack, OUTLET_KEYS[inlet])
            _at_most(proof, rack, Fraction(number), most, f"inlets {inlet}")
    proof.note(_told(floor, air_mw, rows, kg))


def _at_most(proof: Proof, where_: str, used: Fraction, most: float | None, unit: str) -> None:
    proof.holds(most is None or used <= exact(most), f"{where_}: {float(used):,.7g} {unit} of {most or 0:,.7g}")


def _outlets(evidence: Evidence, rack: str, key: str) -> int | None:
    """Outlets of a type in a rack, by the key of those that all racks have; None: any number."""
    floor = evidence.plan.floor.part_of(rack)
    own: int | None = getattr(floor, NETWORK_KEYS[key])
    has_servers = rack in evidence.design.racks.server_racks
    everywhere: int | None = getattr(floor, key)
    return everywhere if has_servers or own is None else own


def _told(floor: Floor, air_mw: Counter[str], rows: Counter[str], kg: dict[str, Fraction]) -> str:
    told = []
    if floor.rack_air_w is not None or floor.row_air_w is not None:
        most = max(air_mw.values(), default=0), max(rows.values(), default=0)
        told.append(f"up to {most[0] / 1000:,.7g} W to the air in a rack, {most[1] / 1000:,.7g} in a row")
    if floor.rack_kg is not None or floor.floor_kg_m2 is not None:
        told.append(f"up to {float(max(kg.values(), default=0)):,.7g} kg known in a rack")
    if any(getattr(floor, key) is not None for key in OF_OUTLETS):
        told.append(f"outlets for all known cords of {some(len(air_mw), 'rack')}")
    return "; ".join(told) or f"{some(len(air_mw), 'rack')} on {floor.breaker_share:g} of a breaker"


def inlets_by_rack(cabled: CabledDesign) -> dict[str, Counter[str]]:
    """Known inlets of power cords of the devices of every rack, by type."""
    evidence, devices = cabled.evidence, cabled.wiring.devices
    inlets: dict[str, Counter[str]] = defaultdict(Counter)
    for role, product, rack in zip(devices.role, devices.product, devices.rack, strict=True):
        if role in SWITCHES:
            inlets[rack].update(evidence.part(product, Switch).inlets)
        elif role == "server" and evidence.server.rack is None:
            inlets[rack].update(evidence.server.inlets)
    for rack in evidence.design.racks.server_racks if evidence.server.rack is not None else ():
        inlets[rack].update(evidence.server.inlets)
    return inlets


def air_by_rack(cabled: CabledDesign) -> Counter[str]:
    """Heat to air of every rack, in milliwatts."""
    evidence, devices = cabled.evidence, cabled.wiring.devices
    case, own_mw = evidence.case, 0 if evidence.server.rack else unit_milliwatts(evidence.server)
    largest = case.site.rack_rules.power == "largest" and is_kept(case.rules, RACK_RULES)
    whole = whole_racks_milliwatts(evidence).items()
    heat = Counter({rack: used_mw - _to_liquid(evidence.server, used_mw) for rack, used_mw in whole})
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
