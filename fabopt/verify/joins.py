"""Rule ``pod_joins_spines``: a pod is joined to all spines, or cores, in service, on ports that are free there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator

import numpy as np

from fabopt.schema.catalog import Switch
from fabopt.schema.in_service import Joins
from fabopt.units import sets, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.joined import joined_wiring
from fabopt.wiring.model import KINDS, Wiring


def joins_any(evidence: Evidence) -> bool:
    """Whether the case joins what is in service."""
    return evidence.case.joins is not None


@since("0.3.0", "case.content.joins")
@where(joins_any)
def pod_joins_spines(proof: Proof, cabled: CabledDesign) -> None:
    """The spines of a pod, or the cores above it, are all those in service, and its cables are in cages that are free.

    Both wirings are made again, each from its own numbers. Names of devices and labels of cables that the pod brings
    are in neither twice. No cage of these is used by both, and both together have no more ports than the switch
    drives. These are all that costs nothing, and no more of their cages were counted on than are
    free on each. Spines reach just the sets of cores that those in service reach.
    Source: case file, ``joins``.
    """
    joins, design = cabled.evidence.case.joins, cabled.evidence.design
    live = joined_wiring(design, wiring_of)
    if joins is None or live is None:
        proof.holds(False, "the file does not say what it joins")
        return
    pod, tiers = cabled.wiring, joins.tiers
    there, ours = _joined(live, tiers), _joined(pod, tiers)
    proof.equal("switches in service", Counter(ours.values()), Counter(there.values()))
    counted = {key: units for key, units in joins.owned.items() if units}
    proof.equal("switches that cost nothing", counted, dict(Counter(product for product, *_ in there.values())))
    own = [name for row, name in enumerate(pod.devices.name) if row not in ours]
    for what, new, old in (("device", own, live.devices.name), ("cable", pod.cables.name, live.cables.name)):
        both = Counter(new) & Counter(old)
        proof.holds(not both, f"{what} {next(iter(both), '')} is in service already")
    _cages_are_free(proof, cabled, joins, live)
    for name in (one.fabric for one in joins.switches if one.role == "core"):
        proof.equal(f"sets of cores of {name}", _core_groups(pod, name), _core_groups(live, name))
    proof.note(f"{some(len(there), 'switch')} in service, {some(len(pod.cables), 'cable')} beside {len(live.cables):,}")


def _joined(wiring: Wiring, tiers: Collection[tuple[str, str]]) -> dict[int, tuple[Hashable, ...]]:
    """What is told of the switches of some tiers, by row; ``tiers``: fabric and role."""
    devices = wiring.devices
    told = zip(devices.role, devices.product, devices.name, devices.fabric, devices.plane.tolist(), strict=True)
    return {
        row: (product, name, fabric, plane)
        for row, (role, product, name, fabric, plane) in enumerate(told)
        if (fabric, role) in tiers
    }


def _core_groups(wiring: Wiring, fabric: str) -> set[frozenset[str]]:
    """The cores that spines of a fabric reach, as sets."""
    links, devices = wiring.links, wiring.devices
    rows = np.flatnonzero((links.kind == KINDS.index("spine-core")) & (links.fabric == wiring.fabrics.index(fabric)))
    ends = zip(links.a[rows].tolist(), links.b[rows].tolist(), strict=True)
    return set(map(frozenset, sets((spine, devices.name[core]) for spine, core in ends).values()))


def _ports(wiring: Wiring, rows: Collection[int]) -> Iterator[tuple[str, int, int]]:
    """Each cage in use of some devices once: the device's name, the cage, and the ports that it is split into."""
    links, modules, names = wiring.links, wiring.modules, wiring.devices.name
    lanes: dict[tuple[int, int], int] = dict.fromkeys(
        zip(modules.device.tolist(), modules.cage.tolist(), strict=True), 0
    )
    for device, cage, split in ((links.a, links.a_cage, links.a_lanes), (links.b, links.b_cage, links.b_lanes)):
        ends = zip(device.tolist(), cage.tolist(), strict=True)
        lanes |= dict(zip(ends, split.tolist(), strict=True))
    yield from ((names[row], cage, split) for (row, cage), split in lanes.items() if row in rows)


def _cages_are_free(proof: Proof, cabled: CabledDesign, joins: Joins, live: Wiring) -> None:
    """No cage is used by both, and no more were counted on than are free."""
    parts = Embedded(cabled.evidence.design)
    for joined in joins.switches:
        switch = parts.part(joined.id, Switch)
        bounds, first = [], 1
        for cage in switch.cages:
            bounds.append(range(first, first + cage.count))
            first += cage.count
        before, after = (
            list(_ports(wiring, _joined(wiring, [(joined.fabric, joined.role)]))) for wiring in (live, cabled.wiring)
        )
        shared = {(name, cage) for name, cage, _ in before} & {(name, cage) for name, cage, _ in after}
        proof.holds(
            not shared, f"{some(len(shared), 'cage')} of switches in service used twice: {next(iter(shared), '')}"
        )
        ports = Counter[str]()
        for name, _, split in (*before, *after):
            ports[name] += split
        proof.holds(
            max(ports.values(), default=0) <= switch.most_ports,
            f"{max(ports.values(), default=0)} ports of a switch that drives {switch.most_ports}",
        )
        for group, cages in enumerate(bounds):
            most = max(Counter(name for name, cage, _ in before if cage in cages).values(), default=0)
            said = joined.cages[group] if group < len(joined.cages) else 0
            proof.holds(said <= len(cages) - most, f"{said} free cages counted on, {len(cages) - most} are free")
