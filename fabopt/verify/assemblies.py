"""What links are made of in the explicit wiring: a wire, and the modules that it plugs into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.verify.evidence import Evidence
from fabopt.verify.link_rows import Kind, heads, ports_per_connector
from fabopt.wiring.model import Ints


@dataclass(frozen=True, eq=False)
class Assembly:
    """Links of one kind that are made of the same parts: which rows of ``FabricCabling.links``, and the parts."""

    kind: Kind
    rows: Ints
    cable_or_fibre: Cable | Fibre
    near: Transceiver | None
    far: Transceiver | None

    @property
    def name(self) -> str:
        """For the reader of a check."""
        return f"{self.kind.name}: {self.cable_or_fibre.id}"

    @property
    def parts(self) -> tuple[str, str, str]:
        """(Near module, wire, far module); empty for none."""
        return self.near.id if self.near else "", self.cable_or_fibre.id, self.far.id if self.far else ""

    @cached_property
    def ports(self) -> tuple[int, int]:
        """Ports that one connector of the wire carries at the near and at the far end.

        A cable's connector is its head, which takes a whole cage. What is in an attachment's cage may be somebody
        else's: then a straight fibre carries what the other end gives it, and of a breakout the end with a single head
        carries a port for each of the others.
        """
        near, far = self.kind.near.end.lane, self.kind.far.end.lane
        if isinstance(self.cable_or_fibre, Cable):
            return near.ports, far.ports
        far_ports = ports_per_connector(self.far, far) if self.far else 1
        if self.near is not None:
            return ports_per_connector(self.near, near), far_ports
        many = heads(self.cable_or_fibre)
        if many == 1:
            return far_ports, far_ports
        return (many if far_ports == 1 else 1), far_ports

    @cached_property
    def heads(self) -> set[tuple[int, int]]:
        """Connectors that the wire may have at the near and the far end: one and one, or one and several."""
        if isinstance(self.cable_or_fibre, Cable):
            splits = self.kind.near.end.split, self.kind.far.end.split
            ways = (self.cable_or_fibre.ends, self.cable_or_fibre.ends[::-1])
            return {
                (near.count, far.count)
                for near, far in ways
                if all(end.split == split or not split for end, split in zip((near, far), splits, strict=True))
            }
        (near, far), many = self.ports, heads(self.cable_or_fibre)
        if near == far:
            return {(1, 1)}
        return {(1, many)} if near > far else {(many, 1)}


def cable_of(evidence: Evidence, part: str) -> Cable | Fibre:
    """The embedded cable or fibre; raises ``LookupError`` for anything else."""
    return evidence.part(part, Cable) if evidence.kind(part) == "cable" else evidence.part(part, Fibre)
