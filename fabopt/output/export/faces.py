"""The side of a rack that a device has its ports on, and the one at which it takes air in.

Racks take air in at the front. Servers are put in so; a switch beside them has its ports on their side, a switch in a
rack without servers is put in so that it takes air in at the front. What the catalog does not say is unknown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fabopt.output.export.orders import code_of
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.product import Airflow
from fabopt.schema.server import PortsSide
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

UNKNOWN: Final = "unknown"
_OTHER: Final[dict[PortsSide, PortsSide]] = {"front": "rear", "rear": "front"}
_SWITCHES: Final = ("leaf", "spine", "core")


class Faces(NamedTuple):
    """Sides of a rack, None where they are not known: of the ports of a device, and of its intake of air."""

    ports: PortsSide | None = None
    intake: PortsSide | None = None

    @property
    def words(self) -> tuple[str, str]:
        """Both sides as tables have them."""
        return self.ports or UNKNOWN, self.intake or UNKNOWN


NO_FACES: Final = Faces()


def faces_of(design: Design, wiring: Wiring) -> list[Faces]:
    """The faces of every device; none of attachments."""
    devices, embedded = wiring.devices, Embedded(design)
    side = embedded.server.ports_side
    with_servers = {rack for role, rack in zip(devices.role, devices.rack, strict=True) if role == "server"}
    ways = {product: _way(design, embedded, product) for product in set(_switches(wiring))}
    faces = []
    for role, product, rack in zip(devices.role, devices.product, devices.rack, strict=True):
        if role == "server":
            faces.append(Faces(side, "front" if side else None))
        elif role in _SWITCHES:
            faces.append(_of_switch(ways[product], side if rack in with_servers else None, rack in with_servers))
        else:
            faces.append(NO_FACES)
    return faces


def _switches(wiring: Wiring) -> list[str]:
    devices = wiring.devices
    return [product for role, product in zip(devices.role, devices.product, strict=True) if role in _SWITCHES]


def _way(design: Design, embedded: Embedded, product: str) -> Airflow | None:
    """The airflow that a switch is ordered in: by its code, or the only one that it is sold with."""
    sold = embedded.part(product, Switch).airflows
    code = code_of(design, product, None).code
    ways = [way for way, own in sold.items() if len(sold) == 1 or (own is not None and own == code)]
    return ways[0] if ways else None


def _of_switch(way: Airflow | None, ports: PortsSide | None, beside_servers: bool) -> Faces:
    if ports is None and not beside_servers and way is not None:
        ports = "front" if way == "port-side-intake" else "rear"
    if ports is None or way is None:
        return Faces(ports)
    return Faces(ports, ports if way == "port-side-intake" else _OTHER[ports])
