"""The boxes of a design by name, with their numbers and places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_stages import of_cores, of_leaves, of_spines
from fabopt.network.direct_links import Dragonfly, Spines
from fabopt.schema.case import Attachment
from fabopt.schema.catalog import Switch
from fabopt.schema.design import FabricDesign, Place
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import NOTHING, Devices, Ints, Role
from fabopt.wiring.numbers import Numbers

LEAST_DIGITS = {"server": 4, "attachment": 2, "leaf": 3, "spine": 3, "core": 3}
NOWHERE: Place = ("", 0)
_STAGES_OF = {"leaf": of_leaves, "spine": of_spines, "core": of_cores}


class Box(NamedTuple):
    """One row of ``Devices``."""

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


def table_of(boxes: list[Box]) -> Devices:
    """Boxes as columns."""

    def numbers(column: str) -> Ints:
        return np.array([getattr(box, column) for box in boxes], dtype=np.int64)

    return Devices(
        name=[box.name for box in boxes],
        role=[box.role for box in boxes],
        product=[box.product for box in boxes],
        fabric=[box.fabric for box in boxes],
        plane=numbers("plane"),
        pod=numbers("pod"),
        group=numbers("group"),
        rail=numbers("rail"),
        rack=[box.rack for box in boxes],
        unit=numbers("unit"),
        height_u=np.array([box.height_u for box in boxes], dtype=float),
        stage=numbers("stage"),
    )


def server_boxes(embedded: Embedded) -> list[Box]:
    """The servers, in the order in which they fill the racks."""
    server, floor = embedded.server, embedded.design.floor
    ends = [embedded.servers_of(stage) for stage in embedded.case.stages or ()][:-1]
    height = float(server.rack_units or 1)
    boxes = []
    for index in range(embedded.servers):
        rack, unit = NOWHERE
        if floor is not None:
            rack = floor.server_racks[index // floor.servers_per_rack]
            unit = 1 + index % floor.servers_per_rack * units_of(height)
        name = numbered("server", "server", index)
        stage = sum(index >= end for end in ends)
        boxes.append(Box(name, "server", server.id, rack=rack, unit=unit, height_u=height, stage=stage))
    return boxes


def units_of(height_u: float) -> int:
    """Whole rack units that a box blocks."""
    return max(1, int(-(-height_u // 1)))


def numbered(prefix: str, role: str, index: int) -> str:
    """``compute-leaf`` and 6 give ``compute-leaf-007``; digits grow only past the last name that fits."""
    return f"{prefix}-{index + 1:0{LEAST_DIGITS[role]}d}"


def fabric_boxes(numbers: Numbers) -> Iterator[Box]:
    """Attachments, leaves, spines and cores of a fabric, each role counted plane by plane."""
    made = numbers.made
    for one in numbers.attachments:
        if one.name not in numbers.logical:
            yield from _attached_boxes(one, made)
    places = made.placement
    for tier in made.tiers:
        height = float(numbers.embedded.part(tier.id, Switch).rack_units)
        stands = getattr(places, tier.role) if places is not None else ()
        when = np.zeros(tier.count, dtype=np.int64)
        if numbers.mesh is None:
            when = _STAGES_OF[tier.role](numbers.clos, numbers.stages, np.arange(tier.count))
        for index in range(tier.count):
            network, within = divmod(index, tier.count // numbers.clos.planes)
            plane, apart = divmod(network, numbers.clos.planes // made.planes)
            pod, group, rail = _numbers_of(numbers, tier.role, within)
            words = [made.name, *([f"p{plane + 1}"] if made.planes > 1 else ())]
            if made.topology == "rail-only":
                words.append(f"r{apart + 1}")
                rail = apart * numbers.clos.rails + max(1, rail)
            rack, unit = stands[index] if stands else NOWHERE
            name = numbered("-".join([*words, tier.role]), tier.role, within)
            yield Box(
                name, tier.role, tier.id, made.name, plane + 1, pod, group, rail, rack, unit, height, int(when[index])
            )


def _attached_boxes(one: Attachment, made: FabricDesign) -> Iterator[Box]:
    """The boxes of an attachment that are told apart, numbered if there are several, in their racks."""
    places = made.placement.attachments.get(one.name, ()) if made.placement is not None else ()
    name, height = f"{made.name}-{one.name}", one.rack_units or 0.0
    for index in range(one.devices):
        own = name if one.devices == 1 else numbered(name, "attachment", index)
        rack, unit = places[index] if index < len(places) else NOWHERE
        first = next((stage for stage, ports in enumerate(one.adds) if ports), 0)
        yield Box(own, "attachment", one.name, made.name, rack=rack, unit=unit, height_u=height, stage=first)


def _numbers_of(numbers: Numbers, role: str, within: int) -> tuple[int, int, int]:
    """(pod, group, rail) from 1 of a switch by its number in its plane."""
    three = len(numbers.made.tiers) > 2
    if numbers.mesh is not None:
        return _numbers_in_mesh(numbers, role, within)
    if role == "leaf":
        group, rail = divmod(within, numbers.clos.rails)
        pod = int(numbers.clos.pod_of_leaf(np.array([within]))[0]) + 1 if three else NOTHING
        return pod, group + 1, rail + 1
    if role == "spine" and three:
        return within // numbers.clos.spines + 1, NOTHING, NOTHING
    return NOTHING, NOTHING, NOTHING


def _numbers_in_mesh(numbers: Numbers, role: str, within: int) -> tuple[int, int, int]:
    """Those of a switch where switches are joined to each other; without servers it has neither group nor rail."""
    mesh, (group, rail) = numbers.mesh, divmod(within, numbers.clos.rails)
    size = mesh.group if isinstance(mesh, Dragonfly | Spines) else 0
    if isinstance(mesh, Spines) and role == "leaf":
        size = numbers.pods.pod_groups
    pod = within // size + 1 if size else NOTHING
    return (pod, group + 1, rail + 1) if role == "leaf" and group < numbers.clos.groups else (pod, NOTHING, NOTHING)
