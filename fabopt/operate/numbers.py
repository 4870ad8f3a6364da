"""Numbers and addresses of devices: management, loopbacks, autonomous systems. Assigned in the order of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabopt.errors import Fault
from fabopt.operate.model import SWITCHES, Numbered, PoolUse
from fabopt.operate.pools import BITS, Addresses, NumberRange, dotted
from fabopt.schema.operate import Operate

# The network's own address, and the gateway's after it.
_KEPT_FIRST = 2


@dataclass(frozen=True)
class DeviceNumbers:
    """By row of the device: its management address, its loopback where it routes, its autonomous system or 0."""

    management: Sequence[str]
    loopback: Sequence[str]
    asn: Sequence[int]
    pools: Sequence[PoolUse]


def device_numbers(
    case: str, operate: Operate, devices: Sequence[Numbered], order: Sequence[int], routed: Sequence[str],
    faults: list[Fault],
) -> DeviceNumbers:  # fmt: skip
    """Number all devices. ``order``: rows by stage; ``routed``: fabrics whose switches route.

    Pools that are too small are added to ``faults``; devices beyond them have no address then.
    """
    management = Addresses("management", operate.management, BITS, _KEPT_FIRST)
    loopbacks = Addresses("loopbacks", operate.loopbacks, BITS)
    asns = NumberRange("asns", operate.asns)
    routers = [row for row in order if devices[row].role in SWITCHES and devices[row].fabric in routed]
    systems = list(dict.fromkeys(_system_key(devices[row]) for row in routers))
    faults += management.lack(case, len(order), "device")
    faults += loopbacks.lack(case, len(routers), "loopback")
    faults += asns.lack(case, len(systems), "autonomous system")
    number = {system: asns.first + index for index, system in enumerate(systems)}
    own, asn = [""] * len(devices), [0] * len(devices)
    for row in routers:
        asn[row] = number[_system_key(devices[row])]
    for row, address in zip(routers, loopbacks.starts(len(routers)), strict=True):
        own[row] = dotted(address)
    managed = [""] * len(devices)
    for row, address in zip(order, management.starts(len(order)), strict=True):
        managed[row] = dotted(address)
    uses = [
        PoolUse("management", operate.management, len(order), management.size),
        PoolUse("loopbacks", operate.loopbacks, len(routers), loopbacks.size),
        PoolUse("asns", operate.asns, len(systems), asns.size),
    ]
    return DeviceNumbers(managed, own, asn, uses)


def _system_key(device: Numbered) -> tuple[object, ...]:
    """The key of devices that share an autonomous system: a leaf has its own, the spines of a pod one, and the cores of
    a plane one.

    So no path goes up again after it came down. Spines of a rail-only fabric have one for each rail.
    Source: RFC 7938, section 5.2.
    """
    if device.role == "leaf":
        return device.fabric, device.device
    return device.fabric, device.role, device.plane, device.pod, device.rail
