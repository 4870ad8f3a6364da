"""The devices of a design by name, with their numbers and places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, repeat
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import NO_GROUP
from fabopt.schema.attachment import Attachment
from fabopt.schema.catalog import Switch
from fabopt.schema.design import FabricDesign, Place, TierUse
from fabopt.schema.subnet_manager import twins_of
from fabopt.wiring.design_file import Embedded, divide
from fabopt.wiring.model import NOTHING, Devices, Ints, Role
from fabopt.wiring.numbers import Numbers

LEAST_DIGITS = {"server": 4, "attachment": 2, "leaf": 3, "spine": 3, "core": 3}
NOWHERE: Place = ("", 0)


class Device(NamedTuple):
    """A row of ``Devices``."""

    name: str
    role: Role
    product: str
    fabric: str = ""
    plane: int = NOTHING
    pod: int = NOTHING
    group: int = NOTHING
    rail: int = NOTHING
    rack: str = ""
    unit: int = 0
    height_u: float = 0.0
    stage: int = 0


def table_of(devices: list[Device]) -> Devices:
    """Devices as columns."""

    def numbers(column: str) -> Ints:
        return np.array([getattr(device, column) for device in devices], dtype=np.int64)

    return Devices(
        name=[device.name for device in devices],
        role=[device.role for device in devices],
        product=[device.product for device in devices],
        fabric=[device.fabric for device in devices],
        plane=numbers("plane"),
        pod=numbers("pod"),
        group=numbers("group"),
        rail=numbers("rail"),
        rack=[device.rack for device in devices],
        unit=numbers("unit"),
        height_u=np.array([device.height_u for device in devices], dtype=float),
        stage=numbers("stage"),
    )


def server_devices(embedded: Embedded) -> list[Device]:
    """The servers, in the order in which they fill the racks."""
    server, racks = embedded.server, embedded.design.racks
    ends = [embedded.servers_of(stage) for stage in embedded.case.stages or ()][:-1]
    height = float(server.rack_units or 1)
    units = server.units_in_rack(racks.servers_per_rack)
    places = placed((rack, unit) for rack in racks.server_racks for unit in units)
    devices = []
    for index, (rack, unit) in enumerate(islice(places, embedded.servers)):
        name = numbered("server", "server", index)
        stage = sum(index >= end for end in ends)
        devices.append(Device(name, "server", server.id, rack=rack, unit=unit, height_u=height, stage=stage))
    return devices


def placed(places: Iterator[Place]) -> Iterator[Place]:
    """Places in their order, then ``NOWHERE`` without end."""
    return chain(places, repeat(NOWHERE))


def units_of(height_u: float) -> int:
    """Integer rack units that a device blocks."""
    return max(1, int(-(-height_u // 1)))


def numbered(prefix: str, role: str, index: int) -> str:
    """``compute-leaf`` and 6 give ``compute-leaf-007``; digits grow only past the last name that fits."""
    return f"{prefix}-{index + 1:0{LEAST_DIGITS[role]}d}"


def fabric_devices(numbers: Numbers) -> Iterator[Device]:
    """Attachments, leaves, spines and cores of a fabric, each role counted plane by plane."""
    for attachment in numbers.attachments:
        if attachment.name not in numbers.logical:
            yield from _attached(attachment, numbers.fabric)
    for tier in numbers.fabric.tiers:
        yield from _switches(numbers, tier)


def _switches(numbers: Numbers, tier: TierUse) -> Iterator[Device]:
    fabric, number, clos = numbers.fabric, np.arange(tier.count), numbers.clos
    heights = {own.id: float(numbers.embedded.part(own.id, Switch).rack_units) for own in tier.types}
    places = placed(iter(getattr(fabric.places, tier.role)))
    of_network = divide(tier.count, clos.planes, f"networks of {fabric.name} share its {tier.role} switches evenly")
    network, within = np.divmod(number, of_network)
    plane, apart = np.divmod(network, clos.planes // fabric.planes)
    pod, group, rail = _numbers_of(numbers, tier.role, within)
    stage = numbers.installed.stages_of(tier.role, number)
    products = _products(numbers, tier, network, stage)
    for index, (rack, unit) in zip(number.tolist(), places, strict=False):
        words = [fabric.name, *([f"p{plane[index] + 1}"] if fabric.planes > 1 else ())]
        of_rail = int(rail[index])
        if fabric.topology == "rail-only":
            words.append(f"r{apart[index] + 1}")
            of_rail = int(apart[index]) * clos.rails + max(1, of_rail)
        yield Device(
            numbered("-".join([*words, tier.role]), tier.role, int(within[index])), tier.role, products[index],
            fabric.name,
            int(plane[index]) + 1, int(pod[index]), int(group[index]), of_rail, rack, unit,
            heights.get(products[index], heights[tier.id]), int(stage[index]),
        )  # fmt: skip


def _products(numbers: Numbers, tier: TierUse, network: Ints, stage: Ints) -> list[str]:
    """The product of each switch of a tier: in every network those installed first are exchanged for their twin; of
    each stage those installed last are of products that stand in.

    ``network``, ``stage``: of each switch, shape (switches,).
    """
    products = [tier.id] * tier.count
    if tier.other is not None:
        for index in np.flatnonzero(numbers.is_other(tier, np.arange(tier.count))).tolist():
            products[index] = tier.other.id
    stages = [entry.name for entry in numbers.embedded.design.stages]
    installed = {name: np.flatnonzero(stage == index).tolist() for index, name in enumerate(stages)}
    for stand_in in tier.stand_ins:
        for _ in range(stand_in.count):
            products[installed[stand_in.stage].pop()] = stand_in.id
    for twin in twins_of(numbers.fabric.subnet_manager, tier.role):
        of_network = divide(twin.count, numbers.clos.planes, f"networks share the {twin.role} twins evenly")
        by_stage = np.lexsort((stage, network)).reshape(numbers.clos.planes, -1)
        for index in by_stage[:, :of_network].flatten().tolist():
            products[index] = twin.id
    return products


def _attached(attachment: Attachment, fabric: FabricDesign) -> Iterator[Device]:
    """The devices of an attachment, numbered if there are several, in their racks."""
    places = placed(iter(fabric.places.attachments.get(attachment.name, ())))
    name, height = f"{fabric.name}-{attachment.name}", attachment.rack_units or 0.0
    first = next((stage for stage, ports in enumerate(attachment.adds) if ports), 0)
    for index, (rack, unit) in enumerate(islice(places, attachment.devices)):
        own = name if attachment.devices == 1 else numbered(name, "attachment", index)
        yield Device(
            own, "attachment", attachment.name, fabric.name, rack=rack, unit=unit, height_u=height, stage=first
        )


def _numbers_of(numbers: Numbers, role: str, within: Ints) -> tuple[Ints, Ints, Ints]:
    """(pod, group, rail) from 1 of switches by their numbers in their plane; only leaves with servers have a group."""
    pods = numbers.installed.pods_of(role, within)
    clos = numbers.clos
    group = np.minimum(within // clos.rails, clos.groups - 1) if clos.has_own_last else within // clos.rails
    rail = within - group * clos.rails
    with_servers = (group < clos.groups) & (role == "leaf")
    pod = np.where(pods == NO_GROUP, NOTHING, pods + 1)
    return pod, np.where(with_servers, group + 1, NOTHING), np.where(with_servers, rail + 1, NOTHING)
