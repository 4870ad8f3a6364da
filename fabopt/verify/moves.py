"""Moves: what of a fabric in service a design moves or takes out, counted again in both wirings, and its price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable

from fabopt.schema.attachment import SWITCHES
from fabopt.schema.case import Case
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE, Design, FabricDesign
from fabopt.schema.in_service import CABLE_KINDS, CableKind, DeviceKind
from fabopt.units import some
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.model import KINDS, NOTHING, Wiring, wiring_at

# What one sees of a link on a cable: kind, device and port at both ends.
Link = tuple[str, str, str, str, str]


def moves_of(evidence: Evidence, designed: FabricDesign) -> Counter[tuple[int, str]]:
    """Moves that the file states of a fabric, by stage and line of the bill."""
    moves: Counter[tuple[int, str]] = Counter()
    for stage in designed.growth:
        moves[evidence.stage_names.index(stage.stage), MOVED_CABLE] += stage.moved_cables
    if designed.moves is not None:
        cables, devices = sum(designed.moves.cables.values()), sum(designed.moves.devices.values())
        moves.update({(0, MOVED_CABLE): cables, (0, MOVED_DEVICE): devices})
    return moves


def usd_of_a_move(case: Case, line: str) -> float:
    """The price of a move in US dollars; raises ``ValueError`` where the case lets nothing of its kind move."""
    if case.base is None or case.base.move is None:
        return case.growth.usd_per_moved_cable
    price = case.base.move.cable if line == MOVED_CABLE else case.base.move.device
    if price is None:
        raise ValueError(f"{line} is billed, and the case lets nothing of its kind move")
    return price


def but_for_moves(proof: Proof, cabled: CabledDesign, service: Design, base: Wiring) -> None:
    """All that is in service is there at the first stage, but for the cables and devices that the design states as
    moved or taken out; later stages only add.
    """
    said, wiring = cabled.evidence.case.base, wiring_at(cabled.wiring, 0)
    assert said is not None
    for fabric in cabled.evidence.design.fabrics:
        there = next(one for one in service.fabrics if one.name == fabric.name)
        cables, devices = _moved_cables(wiring, base, fabric.name), _moved_devices(wiring, base, fabric.name)
        cards = _moved_cards(there, fabric, base.devices.role.count("server"))
        devices.update({"nic": cards} if cards else {})
        stated = fabric.moves
        if stated is None:
            proof.holds(False, f"{fabric.name} does not say what moves")
            continue
        proof.equal(f"cables of {fabric.name} that move, by kind", dict(stated.cables), dict(cables))
        proof.equal(f"devices of {fabric.name} that move, by kind", dict(stated.devices), dict(devices))
        for kind in (*cables, *devices):
            proof.holds(said.may_move(kind), f"{kind} moves, and the case lets none of them move")
        proof.note(f"{fabric.name}: {some(cables.total(), 'cable')} and {some(devices.total(), 'device')} move")
    servers = (set(_servers(one)) for one in (base, wiring))
    proof.holds(next(servers) <= next(servers), "servers in service are not there")
    counted = {fabric.name for fabric in cabled.evidence.case.fabrics if fabric.role == "oob"}
    ports = (_ports_of_attachments(one, counted) for one in (base, wiring))
    gone = next(ports) - next(ports)
    proof.holds(not gone, f"{some(gone.total(), 'port')} of attachments in service not there: {next(iter(gone), '')}")


def _servers(wiring: Wiring) -> list[tuple[str, str]]:
    devices = wiring.devices
    rows = zip(devices.name, devices.product, devices.role, strict=True)
    return [(name, product) for name, product, role in rows if role == "server"]


def _ports_of_attachments(wiring: Wiring, counting: Collection[str]) -> Counter[tuple[str, str]]:
    """Device and port of every link of an attachment, without those of switches, of which ``counting`` fabrics have
    fewer where there are fewer switches.
    """
    devices, ends = wiring.devices, zip(wiring.links.a.tolist(), wiring.a_port, strict=True)
    return Counter(
        (devices.name[a], port)
        for a, port in ends
        if devices.role[a] == "attachment" and not (devices.product[a] == SWITCHES and devices.fabric[a] in counting)
    )


def _moved_devices(wiring: Wiring, base: Wiring, fabric: str) -> Counter[DeviceKind]:
    """Switches in service that are not there with their name, role and product, by role."""
    there, planned = (Counter(_switches(one, fabric)) for one in (base, wiring))
    gone: Counter[DeviceKind] = Counter()
    for _, role, _ in (there - planned).elements():
        gone[role] += 1
    return gone


def _switches(wiring: Wiring, fabric: str) -> list[tuple[str, DeviceKind, str]]:
    devices = wiring.devices
    rows = zip(devices.name, devices.role, devices.product, devices.fabric, strict=True)
    return [(name, _ROLES[role], product) for name, role, product, own in rows if own == fabric and role in _ROLES]


_ROLES: dict[str, DeviceKind] = {"leaf": "leaf", "spine": "spine", "core": "core"}


def _moved_cards(there: FabricDesign, planned: FabricDesign, servers: int) -> int:
    """NICs in service that leave their servers."""
    if there.nic.built_in:
        return 0
    kept = min(there.nic.per_server, planned.nic.per_server) if there.nic.id == planned.nic.id else 0
    return servers * (there.nic.per_server - kept)


def _moved_cables(wiring: Wiring, base: Wiring, fabric: str) -> Counter[CableKind]:
    """Cables in service some link of which is not there from port to port, by the first kind of their links."""
    moved: Counter[CableKind] = Counter()
    planned = _links_of_cables(wiring, fabric)
    for cable, links in _links_of_cables(base, fabric).items():
        if not links <= planned.get(cable, set()):
            kinds = {kind for kind, *_ in links}
            moved[next(known for known in CABLE_KINDS if known in kinds)] += 1
    return moved


def _links_of_cables(wiring: Wiring, fabric: str) -> dict[Hashable, set[Link]]:
    """Links by the cable that they are on; a port of an attachment for which none is bought has one of its own."""
    links, cables, devices = wiring.links, wiring.cables, wiring.devices
    names = [f"{name} {product}" for name, product in zip(devices.name, devices.product, strict=True)]
    of_cables: dict[Hashable, set[Link]] = {}
    own = wiring.fabrics.index(fabric)
    ends = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, strict=True)
    columns = zip(links.fabric.tolist(), links.kind.tolist(), links.cable.tolist(), ends, strict=True)
    for of, kind, row, (a, a_port, b, b_port) in columns:
        if of == own:
            label = (
                (names[a], a_port, 0.0)
                if row == NOTHING
                else (cables.name[row], cables.part[row], float(cables.length_m[row]))
            )
            of_cables.setdefault(label, set()).add((KINDS[kind], names[a], a_port, names[b], b_port))
    return of_cables
