"""Rows of links as the file gives them: the parts of a link, and its kind.

A *kind* is a pair of tiers (or one attachment and the leaves) with the properties common to all its links: the cages at
both ends, the run, the number of links and their distribution over cages. A kind has one row for each assembly that
realises some of its links.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.schema.base import Lane
from fabopt.schema.catalog import Cable, Fibre, Transceiver
from fabopt.schema.design import LinkPart, LinkRow
from fabopt.schema.product import Cage, Product
from fabopt.units import some
from fabopt.verify.evidence import Evidence

NO_MEDIUM = "none"


@dataclass(frozen=True)
class CageEnd:
    """The cages at one end of a kind, and their products.

    ``cages`` is empty where the case leaves an attachment's cage open.
    """

    cages: tuple[Cage, ...]
    split: str
    lane: Lane
    products: tuple[Product, ...]


@dataclass(frozen=True)
class ListedRow:
    """A row of the file with its parts read: a cable; two transceivers and a fibre; or nothing bought.

    ``lengths``: the cable or fibre in each length bought, several only on a floor; ``run_part``: all together, with the
    longest length.
    """

    listed: LinkRow
    cable: Cable | None = None
    near: Transceiver | None = None
    far: Transceiver | None = None
    fibre: Fibre | None = None
    near_part: LinkPart | None = None
    far_part: LinkPart | None = None
    run_part: LinkPart | None = None
    lengths: tuple[LinkPart, ...] = ()

    @property
    def cable_or_fibre(self) -> Cable | Fibre | None:
        """The cable or the fibre."""
        return self.cable if self.cable is not None else self.fibre

    @property
    def ids(self) -> tuple[str, str, str]:
        """(Near module, cable or fibre, far module); empty for none."""
        near, far = (module.id if module else "" for module in (self.near, self.far))
        return near, self.cable_or_fibre.id if self.cable_or_fibre else "", far

    @property
    def medium(self) -> str:
        """The cable's medium, or the fibre that the transceivers light."""
        if self.cable is not None:
            return self.cable.medium
        return self.far.fibre if self.far is not None else NO_MEDIUM


@dataclass(frozen=True)
class LinkKind:
    """The links between two tiers, or between one attachment (``attachment``: its name) and the leaves or spines."""

    name: str
    near: CageEnd
    far: CageEnd
    count: int
    run_m: float
    rows: tuple[ListedRow, ...]
    buys: str = "both"
    attachment: str | None = None
    host: str = "leaf"


def ports_per_connector(module: Transceiver, lane: Lane) -> int:
    """Ports that leave a module through one connector; 1 where it has more connectors than ports."""
    if module.connectors > lane.ports:
        return 1
    if lane.ports % module.connectors:
        raise ValueError(
            f"{module.id}: {some(lane.ports, 'port')} cannot spread over {some(module.connectors, 'connector')}"
        )
    return lane.ports // module.connectors


def most_connectors(fibre: Fibre) -> int:
    """Connectors at the wider end of a fibre: 1 if it is straight."""
    return max(end.count for end in fibre.both_ends)


def read_row(evidence: Evidence, listed: LinkRow) -> ListedRow:
    """Sort a row's parts by kind; raises ``ValueError`` where they make no whole link."""
    ends: dict[str, LinkPart] = {}
    lengths: list[LinkPart] = []
    for part in listed.parts:
        is_module = evidence.kind(part.id) == "transceiver"
        if is_module == (part.end is None) or is_module == (part.length_m is not None):
            raise ValueError(f"part {part.id!r}: a transceiver has an end and no length, a cable or fibre a length")
        if part.end is None:
            lengths.append(part)
        elif part.end in ends:
            raise ValueError(f"parts {ends[part.end].id!r} and {part.id!r} have the same place")
        else:
            ends[part.end] = part
    near, far, cable_or_fibre = ends.get("from"), ends.get("to"), _as_one_cable(lengths, listed)
    row = ListedRow(
        listed,
        near=evidence.part(near.id, Transceiver) if near else None,
        far=evidence.part(far.id, Transceiver) if far else None,
        near_part=near,
        far_part=far,
        run_part=cable_or_fibre,
        lengths=tuple(lengths),
    )
    if cable_or_fibre is None:
        return row
    if evidence.kind(cable_or_fibre.id) == "cable":
        return ListedRow(**{**vars(row), "cable": evidence.part(cable_or_fibre.id, Cable)})
    return ListedRow(**{**vars(row), "fibre": evidence.part(cable_or_fibre.id, Fibre)})


def _as_one_cable(lengths: list[LinkPart], listed: LinkRow) -> LinkPart | None:
    """The cables of a row as one; ``ValueError`` unless they are one product, on a floor in rising lengths."""
    if len(lengths) <= 1:
        return lengths[0] if lengths else None
    metres = [part.length_m or 0 for part in lengths]
    if len({part.id for part in lengths}) > 1 or metres != sorted(set(metres)):
        raise ValueError(f"parts {lengths[0].id!r} and {lengths[1].id!r} have the same place")
    total = sum(part.quantity for part in lengths)
    return lengths[-1].model_copy(update={"quantity": total})
