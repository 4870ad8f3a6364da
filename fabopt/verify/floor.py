"""Rules of the floor: places of servers and switches, from the explicit list of devices."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import ceil

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import servers_in_rack
from fabopt.schema.catalog import Nic, Transceiver
from fabopt.schema.floor import Floor
from fabopt.units import ceil_div, exact, milliwatts, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import EDITIONS, Proof, named_edition
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
