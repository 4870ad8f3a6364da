"""Rule ``base_stays``: what is in service stays as it is, device by device, port by port, cable by cable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping

from fabopt.io.tables import COLUMNS, rows_of
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE, Base
from fabopt.schema.installed import base_of, nics_at
from fabopt.units import some
from fabopt.verify.evidence import Evidence
from fabopt.verify.moves import but_for_moves
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.build import wiring_of
from fabopt.wiring.in_service import base_wiring
from fabopt.wiring.model import NOTHING, Wiring, wiring_at

Rows = Counter[Hashable]


def has_base(evidence: Evidence) -> bool:
    """Whether the case goes on from what is in service."""
    return evidence.case.base is not None


@since("0.3.0", "case.content.base")
@where(has_base)
def base_stays(proof: Proof, cabled: CabledDesign) -> None:
    """What the base's file has in service is there at every stage, with its names, places, ports, cables and modules.

    Both wirings are made again, each from its own numbers; at the first stage there is nothing else. Where cables were
    found in other ports than the design has, just those are in service. Where the case prices moves, just those that
    the design states are otherwise, none of them of a kind that never moves. The parts that cost nothing are those of
    the base's wiring, with its spares. Source: case file, ``base``.
    """
    case = cabled.evidence.case
    design = base_of(case)
    if case.base is None or design is None:
        proof.holds(False, "the file does not say what its base is")
        return
    base = base_wiring(cabled.evidence.design, wiring_of)
    assert base is not None
    _is_as_found(proof, case.base, base)
    if case.base.move is not None:
        but_for_moves(proof, cabled, design, base)
        _owns_its_parts(proof, case, design, base)
        return
    first, last = _seen(wiring_at(cabled.wiring, 0)), _seen(cabled.wiring)
    for what, there in _seen(base).items():
        gone, other = there - last[what], (there - first[what]) + (first[what] - there)
        proof.holds(not gone, f"{some(gone.total(), what)} in service not there at last: {next(iter(gone), '')}")
        proof.holds(not other, f"the first stage has another {what} than is in service: {next(iter(other), '')}")
        proof.note(some(there.total(), what))
    servers, stages = base.devices.role.count("server"), [one.name for one in design.stages[: case.base.stage + 1]]
    own = {one.name: nics_at(one, [IN_SERVICE], servers) for one in cabled.evidence.design.fabrics}
    for fabric in design.fabrics:
        proof.equal(f"NICs of {fabric.name}", own.get(fabric.name), nics_at(fabric, stages, servers))
    _owns_its_parts(proof, cabled.evidence.case, design, base)


def _is_as_found(proof: Proof, said: Base, base: Wiring) -> None:
    """Where cables were found, just those are in service, from port to port."""
    if said.found_cables is None:
        return
    listed: Rows = Counter(
        frozenset(((a.lower(), a_port), (b.lower(), b_port)))
        for _, (a, a_port, b, b_port) in rows_of(said.found_cables, said.found or "", COLUMNS)
    )
    names = [name.lower() for name in base.devices.name]
    ends = zip(base.links.a.tolist(), base.a_port, base.links.b.tolist(), base.b_port, strict=True)
    there: Rows = Counter(frozenset(((names[a], a_port), (names[b], b_port))) for a, a_port, b, b_port in ends)
    other = (listed - there) + (there - listed)
    proof.holds(not other, f"cables in service are not those that were found: {next(iter(other), '')}")
    proof.note(f"{some(listed.total(), 'cable')} as found")


def _owns_its_parts(proof: Proof, case: Case, design: Design, base: Wiring) -> None:
    """The parts that cost nothing are those of the base's wiring, with its spares."""
    assert case.base is not None
    stages = [entry.name for entry in design.stages[: case.base.stage + 1]]
    in_use, in_stock = _parts(design, base, stages), _spares(design, stages)
    owned: Rows = Counter()
    for part, units in case.base.owned.items():
        for length_m, count in units.items() if isinstance(units, dict) else [(None, units)]:
            owned[part, length_m] = count * (part != case.server_id)
    wrong = (owned - in_use - in_stock) + (in_use + in_stock - owned)
    proof.holds(not wrong, f"parts in service are not those of its wiring: {next(iter(wrong), '')}")


def _seen(wiring: Wiring) -> Mapping[str, Rows]:
    """Devices, links, cables and modules by all that names and places them."""
    devices, links, cables, modules = wiring.devices, wiring.links, wiring.cables, wiring.modules
    a, b, holder = ([devices.name[row] for row in rows.tolist()] for rows in (links.a, links.b, modules.device))
    cable = [cables.name[row] if row != NOTHING else "" for row in links.cable.tolist()]
    places = devices.role, devices.product, devices.fabric, devices.rack, devices.unit.tolist()
    return {
        "device": Counter(zip(devices.name, *places, strict=True)),
        "link": Counter(zip(a, wiring.a_port, b, wiring.b_port, links.gbps.tolist(), cable, strict=True)),
        "cable": Counter(zip(cables.name, cables.part, cables.length_m.tolist(), strict=True)),
        "module": Counter(zip(holder, modules.cage.tolist(), modules.part, strict=True)),
    }


def _parts(design: Design, wiring: Wiring, stages: Collection[str]) -> Rows:
    """The parts of a wiring at some stages by (id, length in metres): switches, NICs, modules and cables."""
    devices, cables = wiring.devices, wiring.cables
    servers = devices.role.count("server")
    switches = (part for part, role in zip(devices.product, devices.role, strict=True) if role in _SWITCHES)
    parts: Rows = Counter((part, None) for part in (*switches, *wiring.modules.part))
    parts.update(zip(cables.part, cables.length_m.tolist(), strict=True))
    for fabric in design.fabrics:
        if not fabric.nic.built_in:
            parts.update({(id_, None): count for id_, count in nics_at(fabric, stages, servers).items()})
    return parts


_SWITCHES = ("leaf", "spine", "core")


def _spares(design: Design, stages: Collection[str]) -> Rows:
    spares: Rows = Counter()
    for row in design.bom:
        if row.stage in stages and row.kind not in ("other", "server"):
            spares[row.id, row.length_m] += row.spares
    return spares
