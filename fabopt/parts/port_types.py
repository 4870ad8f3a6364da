"""Kinds of ports: cages with what fits them, at one split. Two that nothing tells apart are one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from fabopt.parts.lookup import Lookup
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Catalog
from fabopt.schema.product import Cage

OSFP = "OSFP"
OSFP_TOPS = frozenset({"OSFP-IHS", "OSFP-RHS"})
# Stands for the vendor of a device whom no part names.
OTHER_VENDOR = ""


@dataclass(frozen=True)
class PortType:
    """A kind of cage in use, as parts see it. Made by ``PortTypes`` only.

    ``fits``: form factors of parts that go in; ``vendor``: the device's where some part asks for it, ``OTHER_VENDOR``
    where parts ask for others only, None where it is not known; ``works_with``: vendors that the device asks for.
    """

    fits: frozenset[str]
    lane: Lane
    lane_gbps: float | None
    vendor: str | None
    works_with: frozenset[str]

    @property
    def ports(self) -> int:
        """Ports of one cage."""
        return self.lane.ports

    def serves_as(self, other: PortType) -> bool:
        """Whether every part that goes with ``other`` goes with this one too."""
        return (
            self.lane == other.lane
            and self.lane_gbps in (None, other.lane_gbps)
            and self.works_with == other.works_with
            and other.vendor in (self.vendor, OTHER_VENDOR)
            and self.fits >= other.fits
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.fits, self.lane, self.lane_gbps, self.vendor, self.works_with))

    def __hash__(self) -> int:
        """Port types key every table of the search: hashed once."""
        return self._hash


class PortTypes:
    """The port types of a catalog's devices: cages that no part of the catalog tells apart are of one type.

    So what is worked out for one switch holds for every switch that looks like it.
    """

    def __init__(self, catalog: Catalog) -> None:
        form_factors: dict[Lane, set[str]] = defaultdict(set)
        vendors: dict[tuple[Lane, str], set[str]] = defaultdict(set)
        for lane, form_factor, works_with in _ends_of_parts(catalog):
            form_factors[lane].add(form_factor)
            vendors[lane, form_factor].update(works_with)
        self._form_factors = MappingProxyType({lane: frozenset(names) for lane, names in form_factors.items()})
        # by lane and form factor: vendors whose devices some part asks for
        self._vendors = MappingProxyType({key: frozenset(names) for key, names in vendors.items()})

    def of(self, cage: Cage, split: str, vendor: str | None = None, works_with: Iterable[str] = ()) -> PortType:
        """The port type of a cage group used at a split. ``vendor``: the device's, None where it is not known."""
        lane, accepts = parse_split(split), frozenset(cage.accepts)
        part_form_factors = self._form_factors.get(lane, frozenset())
        fits = frozenset(one for one in part_form_factors if form_factor_fits(one, cage.form_factor, accepts))
        if vendor is not None and not any(vendor in self._vendors[lane, one] for one in fits):
            vendor = OTHER_VENDOR
        port = PortType(fits, lane, cage.lane_gbps, vendor, frozenset(works_with))
        # equal port types are one object, so that look-ups end at the first comparison
        return _PORTS.table(self).setdefault(port, port)


_PORTS: Lookup[PortTypes, PortType, PortType] = Lookup()


def _ends_of_parts(catalog: Catalog) -> Iterator[tuple[Lane, str, Sequence[str]]]:
    """Lane, form factor, and vendors that it works with, of every end of a part that goes into a cage."""
    for transceiver in catalog.transceivers:
        for split in transceiver.standard_by_split:
            yield parse_split(split), transceiver.form_factor, transceiver.works_with
    for cable in catalog.cables:
        for end in cable.ends:
            yield parse_split(end.split), end.form_factor, cable.works_with


def form_factor_fits(part: str, cage: str, accepts: frozenset[str]) -> bool:
    """A part fits a cage of its own form factor, or one that accepts it; plain OSFP meets both tops."""
    if part == cage or part in accepts:
        return True
    return (part == OSFP and cage in OSFP_TOPS) or (cage == OSFP and part in OSFP_TOPS)


def vendors_agree(part_vendor: str | None, part_works_with: Sequence[str], port: PortType) -> bool:
    """Where both sides say something about vendors, they agree."""
    if part_works_with and port.vendor is not None and port.vendor not in part_works_with:
        return False
    return not (port.works_with and part_vendor is not None and part_vendor not in port.works_with)
