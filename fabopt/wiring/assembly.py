"""Assemblies of the rows of a design file: links of each cable, and the end with its single connector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.schema.design import LinkPart, LinkRow
from fabopt.wiring.design_file import Embedded, divide


class Carries(Enum):
    """Links that a cable carries: one; several between the same two devices; those of one cage, to several devices; or
    those of several connectors at both ends.
    """

    LINK = "one link"
    PAIR = "links of one pair of devices"
    NEAR = "links of one near cage"
    FAR = "links of one far cage"
    CROSS = "links of several connectors at both ends"


@dataclass(frozen=True)
class RowAssembly:
    """The assembly of a row's links. ``ports``: links that a cable carries, of a shuffle those of one connector;
    ``cables``: (part id, metres, count).
    """

    carries: Carries
    ports: int
    medium: str
    near_module: str
    far_module: str
    cables: tuple[tuple[str, float, int], ...]
    near_connectors: int = 1
    far_connectors: int = 1


def assembly_of(
    embedded: Embedded, row: LinkRow, near_ports: int, far_ports: int, host: RowAssembly | None = None
) -> RowAssembly:
    """The assembly of a row whose near and far cages are split into ``near_ports`` and ``far_ports``.

    ``host``: the assembly whose modules (splitters, breakout fibres) at the far cages serve a row that has none of its
    own. Raises ``LookupError`` for a part that is not embedded.
    """
    modules = {part.end: part.id for part in row.parts if part.end is not None}
    lengths = [part for part in row.parts if part.end is None]
    near, far = modules.get("from", ""), modules.get("to", "")
    if host is not None and not lengths:  # on free ends of the host's splitters or breakout fibres
        return replace(host, medium=row.medium, near_module=near)
    if not row.parts:
        return RowAssembly(Carries.LINK, 1, row.medium, "", "", ())
    cable_id = lengths[0].id if lengths else ""
    if cable_id and embedded.kind(cable_id) == "cable":
        return _of_cable(embedded.part(cable_id, Cable), row, lengths, near_ports, far_ports)
    far = far or (host.far_module if host is not None else "")
    per_near = ports_per_connector(embedded, near, near_ports)
    per_far = ports_per_connector(embedded, far, far_ports)
    fibre = embedded.part(cable_id, Fibre) if cable_id else None
    connectors = max(end.count for end in fibre.both_ends) if fibre is not None else 1
    if fibre is not None and fibre.crosses > 1:
        size = fibre.crosses
        return RowAssembly(Carries.CROSS, size, row.medium, near, far, _cables(lengths), size, size)
    carries, ports = _fibre_carries(per_near, per_far, connectors, near)
    ends = {Carries.NEAR: (1, connectors), Carries.FAR: (connectors, 1)}.get(carries, (1, 1))
    return RowAssembly(carries, ports, row.medium, near, far, _cables(lengths), *ends)


def _of_cable(cable: Cable, row: LinkRow, lengths: list[LinkPart], near_ports: int, far_ports: int) -> RowAssembly:
    connectors = max(end.count for end in cable.ends)
    cables = _cables(lengths)
    if connectors == 1:
        carries = Carries.LINK if near_ports == 1 else Carries.PAIR
        return RowAssembly(carries, near_ports, row.medium, "", "", cables)
    if far_ports == 1:
        return RowAssembly(Carries.NEAR, near_ports, row.medium, "", "", cables, 1, connectors)
    return RowAssembly(Carries.FAR, far_ports, row.medium, "", "", cables, connectors, 1)


def _cables(lengths: list[LinkPart]) -> tuple[tuple[str, float, int], ...]:
    ordered = sorted(lengths, key=lambda part: part.length_m or 0)
    return tuple((part.id, float(part.length_m or 0), part.quantity) for part in ordered)


def _fibre_carries(per_near: int, per_far: int, connectors: int, near: str) -> tuple[Carries, int]:
    if not near and per_far > 1:  # somebody else's module: the fibre tells its mode
        return (Carries.PAIR, per_far) if connectors == 1 else (Carries.FAR, per_far)
    if not near and connectors > 1:  # a breakout whose single connector is at that module
        return Carries.NEAR, connectors
    if per_near == per_far:
        return (Carries.LINK, 1) if per_near == 1 else (Carries.PAIR, per_near)
    return (Carries.NEAR, per_near) if per_far == 1 else (Carries.FAR, per_far)


def ports_per_connector(embedded: Embedded, module: str, ports: int) -> int:
    """Ports that leave a module's cage through one connector; 1 without a module."""
    if not module:
        return 1
    connectors = embedded.part(module, Transceiver).connectors
    return 1 if connectors > ports else divide(ports, connectors, f"connectors of {module} share its ports evenly")


def crosses(assemblies: Sequence[RowAssembly]) -> int:
    """n of the shuffles that make all links of a kind; 1 without."""
    return assemblies[0].ports if assemblies[0].carries is Carries.CROSS else 1


def padding(assemblies: Sequence[RowAssembly]) -> int:
    """Links of one cable between the same devices; 1 where several rows are mixed in whole cages."""
    return assemblies[0].ports if len(assemblies) == 1 and assemblies[0].carries is Carries.PAIR else 1
