"""A pod in the wiring of what it joins: spines or cores by their names there, its cables in their free cages.

A design counts cages of these as if they were empty; what it adds takes the free ones, in their order, and the
first free names and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.in_service import JoinedByBase, in_service_of, named, named_devices
from fabopt.wiring.model import NOTHING, Ints, Wiring
from fabopt.wiring.tables import cable_name

# Cages of a device by the numbers that they would have if none were in use.
Cages = dict[int, int]


def joined_wiring(design: Design, wiring_of: Callable[[Design], Wiring]) -> Wiring | None:
    """The wiring of what a pod joins, as it was found; None where it joins nothing.

    Raises ``LookupError`` or ``ValueError`` where the file does not hold together.
    """
    there = in_service_of(Embedded(design).case.joins, wiring_of)
    return None if there is None else there.wiring


def joined_by(design: Design, live: Wiring | None) -> JoinedByBase:
    """What a base joins, of which its design goes on; ``live``: its wiring, None where it joins nothing."""
    embedded = Embedded(design)
    joins = embedded.case.joins
    if joins is None or live is None:
        return JoinedByBase()
    free = free_cages(live, joins.tiers, lambda part: embedded.part(part, Switch))
    names = live.devices.name
    return JoinedByBase(names, live.cables.name, {names[row]: groups for row, groups in free.items()})


def beside(design: Design, wiring: Wiring, live: Wiring) -> Wiring:
    """The wiring of a pod, as its design counts, in that of what it joins.

    Raises ``ValueError`` where there are other such switches, or too few of their cages are free.
    """
    embedded = Embedded(design)
    joins = embedded.case.joins
    tiers = joins.tiers if joins is not None else set()
    device_of = np.full(len(wiring.devices), NOTHING)
    theirs = grouped(_joined(live, tiers))
    for where, rows in grouped(_joined(wiring, tiers)).items():
        if len(theirs.get(where, ())) != len(rows):
            raise ValueError(f"{where[0]} has other {where[1]}s than are in service")
        device_of[rows] = theirs[where]
    there = free_cages(live, tiers, lambda part: embedded.part(part, Switch))
    rows = np.flatnonzero(device_of != NOTHING).tolist()
    free = {
        row: {number: cage for group in there[int(device_of[row])] for number, cage in group.items()} for row in rows
    }
    in_free = partial(_in_free_cages, free)
    links, modules, lent, cables = wiring.links, wiring.modules, wiring.lent, wiring.cables
    label = partial(cable_name, len(cables) + len(live.cables))
    labels = named(np.full(len(cables), NOTHING), live.cables.name, label, cables.stage)
    return replace(
        wiring,
        devices=replace(wiring.devices, name=named_devices(wiring, live, device_of)),
        links=replace(links, a_cage=in_free(links.a, links.a_cage), b_cage=in_free(links.b, links.b_cage)),
        modules=replace(modules, cage=in_free(modules.device, modules.cage)),
        lent=replace(lent, b_cage=in_free(lent.b, lent.b_cage)),
        cables=replace(cables, name=labels),
    )


def _joined(wiring: Wiring, tiers: Collection[tuple[str, str]]) -> Iterator[tuple[tuple[str, str, int], int]]:
    """Rows of the switches of some tiers, by fabric and role; each with these and its plane."""
    devices = wiring.devices
    for row, tier in enumerate(zip(devices.fabric, devices.role, strict=True)):
        if tier in tiers:
            yield (*tier, int(devices.plane[row])), row


def free_cages(
    wiring: Wiring, tiers: Collection[tuple[str, str]], switch_of: Callable[[str], Switch]
) -> dict[int, list[Cages]]:
    """By switch of some tiers (fabric and role), by its row: for each group of its cages, by their numbers as if none
    were in use, those without a module or a link.
    """
    links, modules = wiring.links, wiring.modules
    free: dict[int, list[Cages]] = {}
    used = {row: set[int]() for _, row in _joined(wiring, tiers)}
    for devices, cages in ((links.a, links.a_cage), (links.b, links.b_cage), (modules.device, modules.cage)):
        for device, cage in zip(devices.tolist(), cages.tolist(), strict=True):
            if device in used:
                used[device].add(cage)
    for row, in_use in used.items():
        first, free[row] = 1, []
        for group in switch_of(wiring.devices.product[row]).cages:
            numbers = range(first, first + group.count)
            free[row].append(dict(zip(numbers, (cage for cage in numbers if cage not in in_use), strict=False)))
            first += group.count
    return free


def _in_free_cages(free: dict[int, Cages], device: Ints, cage: Ints) -> Ints:
    """The cages of devices, those of switches in service among the free ones, all of shape (rows,)."""
    pairs = list(zip(device.tolist(), cage.tolist(), strict=True))
    if any(one in free and number not in free[one] for one, number in pairs):
        raise ValueError("a switch in service has fewer free cages than the pod takes")
    return np.array([free[one][number] if one in free else number for one, number in pairs], dtype=np.int64)
