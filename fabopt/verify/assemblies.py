"""The parts of links in the explicit wiring: a cable, and the modules that it plugs into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.verify.evidence import Evidence
from fabopt.verify.link_kinds import LinkKind, ListedRow, most_connectors, ports_per_connector
from fabopt.wiring.model import Ints


@dataclass(frozen=True, eq=False)
class CabledAssembly:
    """Links of one kind made of the same parts. ``rows``: their rows of ``FabricCabling.links``, shape (links,)."""

    kind: LinkKind
    rows: Ints
    cable_or_fibre: Cable | Fibre
    near: Transceiver | None
    far: Transceiver | None

    @property
    def name(self) -> str:
        """Name of the links and their part, for the reader of a check."""
        return f"{self.kind.name}: {self.cable_or_fibre.id}"

    @property
    def parts(self) -> tuple[str, str, str]:
        """(Near module, cable, far module); empty for none."""
        return self.near.id if self.near else "", self.cable_or_fibre.id, self.far.id if self.far else ""

    @cached_property
    def row(self) -> ListedRow:
        """The parts as a row of the file has them."""
        part = self.cable_or_fibre
        cable, fibre = (part, None) if isinstance(part, Cable) else (None, part)
        return ListedRow(self.kind.rows[0].listed, cable, self.near, self.far, fibre)

    @cached_property
    def ports(self) -> tuple[int, int]:
        """Ports that one connector of the cable carries at the near and at the far end.

        A cable's own end takes a whole cage. The module in an attachment's cage may not be on the bill: then a straight
        fibre carries as many ports as at its other end, and of a breakout the single connector carries a port for each
        of the others.
        """
        near, far = self.kind.near.lane, self.kind.far.lane
        if isinstance(self.cable_or_fibre, Cable):
            return near.ports, far.ports
        far_ports = ports_per_connector(self.far, far) if self.far else 1
        if self.near is not None:
            return ports_per_connector(self.near, near), far_ports
        most = most_connectors(self.cable_or_fibre)
        if most == 1:
            return far_ports, far_ports
        return (most if far_ports == 1 else 1), far_ports

    @property
    def crosses(self) -> int:
        """n of a shuffle: its connectors at each end; 1 of any other cable."""
        return self.cable_or_fibre.crosses if isinstance(self.cable_or_fibre, Fibre) else 1

    @cached_property
    def connectors(self) -> set[tuple[int, int]]:
        """Connectors that the cable may have at the near and the far end: one and one, one and several, n and n."""
        if isinstance(self.cable_or_fibre, Cable):
            splits = self.kind.near.split, self.kind.far.split
            ways = (self.cable_or_fibre.ends, self.cable_or_fibre.ends[::-1])
            return {
                (near.count, far.count)
                for near, far in ways
                if all(end.split == split or not split for end, split in zip((near, far), splits, strict=True))
            }
        (near, far), most = self.ports, most_connectors(self.cable_or_fibre)
        if near == far:
            return {(self.crosses, self.crosses)}
        return {(1, most)} if near > far else {(most, 1)}


def cable_of(evidence: Evidence, part: str) -> Cable | Fibre:
    """The embedded cable or fibre; raises ``LookupError`` for another product."""
    return evidence.part(part, Cable) if evidence.kind(part) == "cable" else evidence.part(part, Fibre)
