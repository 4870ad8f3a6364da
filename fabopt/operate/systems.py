"""The system of each device: the case's word, else the first system that its product's catalog entry names."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.errors import Fault, fault
from fabopt.operate.model import SWITCHES, Numbered
from fabopt.operate.roles import system_kind
from fabopt.schema.catalog import Switch
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring


def systems_of(embedded: Embedded, devices: Sequence[Numbered], wiring: Wiring, faults: list[Fault]) -> list[str]:
    """The system of every device; empty where the catalog names none. An impossible word of the case is a fault."""
    protocols = dict(zip(wiring.fabrics, wiring.protocols, strict=True))
    said = embedded.case.operate.systems
    by_product: dict[str, str] = {}
    for product in dict.fromkeys(device.product for device in devices if device.role in SWITCHES):
        nos = embedded.part(product, Switch).nos
        by_product[product] = said.get(product) or (nos[0] if nos else "")
        if nos and by_product[product] not in nos:
            where = f"operate.systems.{product}"
            problem = "the catalog does not say that this runs there"
            faults.append(fault(embedded.design.case.name, where, problem, said[product], allowed=", ".join(nos)))
    return [
        system_kind(device.role, protocols.get(device.fabric, "")) or by_product[device.product] for device in devices
    ]
