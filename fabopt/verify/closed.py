"""Conditions before a wiring is made or read: tables of a damaged file could have any size."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.units import some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import all_kinds
from fabopt.wiring.model import NOTHING, Wiring


def require_closed(fabric: FabricEvidence) -> None:
    """Raise ``ValueError`` for a fabric whose counts disagree."""
    kinds = all_kinds(fabric)
    if fabric.is_direct:
        _require_mesh(fabric)
    else:
        _require_clos(fabric)
    for kind in kinds:
        listed = sum(row.listed.count for row in kind.rows)
        if listed != kind.count:
            raise ValueError(f"{fabric.designed.name}: {listed} {kind.name} links are listed, recounted {kind.count}")


def _require_clos(fabric: FabricEvidence) -> None:
    counts = [fabric.tier(tier.role).count for tier in fabric.designed.tiers]
    if counts != list(fabric.clos.switches()):
        raise ValueError(f"{fabric.designed.name} has {counts} switches, recounted {list(fabric.clos.switches())}")
    for part, whole in _parts(fabric):
        if not 1 <= part <= whole:
            raise ValueError(f"{fabric.designed.name}: {part} is not within 1 to {whole}")


def _parts(fabric: FabricEvidence) -> Iterator[tuple[int, int]]:
    """Pairs (number, limit) of a Clos: each number is at least 1 and at most its limit."""
    clos = fabric.clos
    yield clos.g, clos.servers
    yield clos.groups_per_pod, clos.groups
    yield clos.k, clos.ports
    if fabric.designed.clos.last_group is not None:
        yield clos.own_k, clos.ports
        yield clos.spines, clos.own_u
        yield clos.own_u, clos.planes * clos.uplinks
    if clos.tiers > 1:
        yield clos.spines, clos.u
    if clos.tiers > 2:
        yield clos.q, clos.spines
        yield clos.m2, clos.x
        yield fabric.designed.clos.cores_per_group, clos.cores_per_group


def _require_mesh(fabric: FabricEvidence) -> None:
    clos, mesh = fabric.clos, fabric.mesh
    if not fabric.has_switches and fabric.evidence.servers != mesh.switches:
        raise ValueError(f"{fabric.designed.name} joins {mesh.switches} of {some(fabric.evidence.servers, 'server')}")
    listed = [(tier.role, tier.count) for tier in fabric.designed.tiers]
    wanted = [(role, clos.planes * count) for role, count in mesh.tiers]
    if listed != wanted or clos.leaves > mesh.leaves:
        raise ValueError(f"{fabric.designed.name} has switches {listed}, recounted {wanted}")
    if not (1 <= clos.g <= clos.servers and 1 <= clos.k <= clos.ports):
        raise ValueError(
            f"{fabric.designed.name}: groups of {some(clos.g, 'server')}, {some(clos.k, 'port')} on a leaf"
        )


def require_rows(wiring: Wiring) -> None:
    """Raise ``ValueError`` for tables that refer to missing rows."""
    links, devices = wiring.links, len(wiring.devices)
    for what, column, lowest, rows in (
        ("links lead to devices", links.a, 0, devices),
        ("links lead to devices", links.b, 0, devices),
        ("links have cables", links.cable, NOTHING, len(wiring.cables)),
        ("modules are in devices", wiring.modules.device, 0, devices),
        ("links are lent", wiring.lent.link, 0, len(links)),
        ("links are lent to devices", wiring.lent.b, 0, devices),
    ):
        if len(column) and not lowest <= int(column.min()) <= int(column.max()) < rows:
            raise ValueError(f"{what} that are not listed")
