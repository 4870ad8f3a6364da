"""How the rows of a design file make links: which wire carries how many, and where its single head is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.schema.design import LinkPart, LinkRow
from fabopt.wiring.design_file import Embedded, divide


class Carries(Enum):
    """What a wire carries: one link; several between the same two boxes; or those of one cage, to several boxes."""

    LINK = "one link"
    PAIR = "links of one pair of boxes"
    NEAR = "links of one near cage"
    FAR = "links of one far cage"


@dataclass(frozen=True)
class Way:
    """How a row's links are made. ``ports``: links that a wire carries; ``cables``: (part id, metres, how many)."""

    carries: Carries
    ports: int
    medium: str
    near_module: str
    far_module: str
    cables: tuple[tuple[str, float, int], ...]
    near_heads: int = 1
    far_heads: int = 1


def way_of(embedded: Embedded, row: LinkRow, near_ports: int, far_ports: int, host: Way | None = None) -> Way:
    """Read a row whose near and far cages are split into so many ports.

    ``host``: the way whose modules (splitters, breakout fibres) at the far cages serve a row that has none of its own.
    Raises ``LookupError`` for a part that is not embedded.
    """
    modules = {part.end: part.id for part in row.parts if part.end is not None}
    lengths = [part for part in row.parts if part.end is None]
    near, far = modules.get("from", ""), modules.get("to", "")
    if host is not None and not lengths:  # on free legs of the host's splitters or breakout fibres
        return replace(host, medium=row.medium, near_module=near)
    if not row.parts:
        return Way(Carries.LINK, 1, row.medium, "", "", ())
    cable_id = lengths[0].id if lengths else ""
    if cable_id and embedded.kind(cable_id) == "cable":
        return _cable_way(embedded.part(cable_id, Cable), row, lengths, near_ports, far_ports)
    far = far or (host.far_module if host is not None else "")
    per_near = ports_per_connector(embedded, near, near_ports)
    per_far = ports_per_connector(embedded, far, far_ports)
    heads = max((end.count for end in embedded.part(cable_id, Fibre).both_ends), default=1) if cable_id else 1
    carries, ports = _fibre_carries(per_near, per_far, heads, near)
    ends = {Carries.NEAR: (1, heads), Carries.FAR: (heads, 1)}.get(carries, (1, 1))
    return Way(carries, ports, row.medium, near, far, _cables(lengths), *ends)


def _cable_way(cable: Cable, row: LinkRow, lengths: list[LinkPart], near_ports: int, far_ports: int) -> Way:
    heads = max(end.count for end in cable.ends)
    cables = _cables(lengths)
    if heads == 1:
        carries = Carries.LINK if near_ports == 1 else Carries.PAIR
        return Way(carries, near_ports, row.medium, "", "", cables)
    if far_ports == 1:
        return Way(Carries.NEAR, near_ports, row.medium, "", "", cables, 1, heads)
    return Way(Carries.FAR, far_ports, row.medium, "", "", cables, heads, 1)


def _cables(lengths: list[LinkPart]) -> tuple[tuple[str, float, int], ...]:
    ordered = sorted(lengths, key=lambda part: part.length_m or 0)
    return tuple((part.id, float(part.length_m or 0), part.quantity) for part in ordered)


def _fibre_carries(per_near: int, per_far: int, heads: int, near: str) -> tuple[Carries, int]:
    if not near and per_far > 1:  # somebody else's module: the fibre tells what it does
        return (Carries.PAIR, per_far) if heads == 1 else (Carries.FAR, per_far)
    if not near and heads > 1:  # a breakout whose single head is at that module
        return Carries.NEAR, heads
    if per_near == per_far:
        return (Carries.LINK, 1) if per_near == 1 else (Carries.PAIR, per_near)
    return (Carries.NEAR, per_near) if per_far == 1 else (Carries.FAR, per_far)


def ports_per_connector(embedded: Embedded, module: str, ports: int) -> int:
    """Ports that leave a module's cage through one connector; 1 without a module."""
    if not module:
        return 1
    return divide(
        ports, embedded.part(module, Transceiver).connectors, f"connectors of {module} share its ports evenly"
    )
