"""Port types: cages with the parts that fit them, at one split; cages that no part distinguishes share a type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType

from fabopt.parts.lookup import Lookup
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Cable, Catalog, Nic, Switch, Transceiver
from fabopt.schema.product import Cage

# Two names under which a part of one goes into a cage of the other: plain OSFP meets both tops, and QSFP112-DD is what
# some makers print on QSFP-DD800.
_ALIKE = frozenset(map(frozenset, (("OSFP", "OSFP-IHS"), ("OSFP", "OSFP-RHS"), ("QSFP112-DD", "QSFP-DD800"))))
# The eight lanes of QSFP112-DD run at 50G too, as QSFP-DD has them. Source: docs/catalog.md, vocabulary.
_EIGHT_LANES, _EIGHT_SLOWER_LANES, _SLOWER_GBPS = "QSFP112-DD", "QSFP-DD", 50
# Stands for the vendor of a device whom no part names.
OTHER_VENDOR = ""
# Parts that ask nothing of their cages.
RETIMED = "full"
# Media of parts without a retimer; by `equalises` of a cage, the media that it drives.
_COPPER, _OPTICS = "copper", "optics"
_ACTIVE_COPPER = "ACC"
_EQUALISED: Mapping[bool | str, frozenset[str]] = MappingProxyType(
    {False: frozenset(), _COPPER: frozenset({_COPPER}), True: frozenset({_COPPER, _OPTICS})}
)


@dataclass(frozen=True, eq=False)
class PortType:
    """A kind of cage in use, as parts see it. Made by ``PortTypes`` only, each once, so it is equal to itself only.

    ``fits``: form factors of parts that go in; ``vendor``: the device's where some part asks for it, ``OTHER_VENDOR``
    where parts ask for others only, None where it is not known; ``works_with``: vendors that the device asks for;
    ``coding``: codings it accepts, empty: any; ``module_power_w``: most power of a module, None: not known;
    ``equalises``: media it drives without a retimer, of ``_COPPER`` and ``_OPTICS``; ``qualified``: parts that may go
    in, None: any.
    """

    fits: frozenset[str]
    lane: Lane
    lane_gbps: float | None
    vendor: str | None
    works_with: frozenset[str]
    coding: frozenset[str] = frozenset()
    module_power_w: float | None = None
    equalises: frozenset[str] = frozenset()
    qualified: frozenset[str] | None = None

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
            and (not self.coding or self.coding >= other.coding > frozenset())
            and (self.module_power_w or inf) >= (other.module_power_w or inf)
            and self.equalises >= other.equalises
            and (self.qualified is None or (other.qualified is not None and self.qualified >= other.qualified))
        )


class PortTypes:
    """The port types of a catalog's devices: cages that no part of the catalog distinguishes are of one type.

    So a result for one switch holds for every switch with the same port types.
    """

    def __init__(self, catalog: Catalog, qualified: Mapping[str, frozenset[str]] | None = None) -> None:
        form_factors: dict[Lane, set[str]] = defaultdict(set)
        vendors: dict[tuple[Lane, str], set[str]] = defaultdict(set)
        for lane, form_factor, works_with in _ends_of_parts(catalog):
            form_factors[lane].add(form_factor)
            vendors[lane, form_factor].update(works_with)
        self._form_factors = MappingProxyType({lane: frozenset(names) for lane, names in form_factors.items()})
        # by lane and form factor: vendors whose devices some part asks for
        self._vendors = MappingProxyType({key: frozenset(names) for key, names in vendors.items()})
        plugged: tuple[Transceiver | Cable, ...] = (*catalog.transceivers, *catalog.cables)
        self._is_coded = any(part.coded_for for part in plugged)
        self._linear = frozenset(_signal(part) for part in plugged if part.retiming != RETIMED)
        self._qualified = MappingProxyType(dict(qualified or {}))
        self._most_power_w = max(map(cage_power_w, catalog.transceivers), default=0.0)

    def of(self, cage: Cage, split: str, device: Switch | Nic | None = None) -> PortType:
        """The port type of a cage group used at a split. ``device``: None where it is not known."""
        vendor = None if device is None else device.vendor
        lane = parse_split(split)
        part_form_factors = self._form_factors.get(lane, frozenset())
        fits = frozenset(form_factor for form_factor in part_form_factors if form_factor_fits(form_factor, cage))
        if vendor is not None and not any(vendor in self._vendors[lane, form_factor] for form_factor in fits):
            vendor = OTHER_VENDOR
        looks = (
            fits,
            lane,
            cage.lane_gbps,
            vendor,
            frozenset(device.works_with if device else ()),
            frozenset(device.accepts_coding if device and self._is_coded else ()),
            cage.module_power_w if self._most_power_w > (cage.module_power_w or inf) else None,
            _EQUALISED[cage.equalises] & self._linear,
            None if device is None else self._qualified.get(device.id),
        )
        return _PORTS.of(self, looks, PortType, *looks)


# The fields of a port type, as parts see a cage.
_Looks = tuple[
    frozenset[str], Lane, float | None, str | None, frozenset[str], frozenset[str], float | None, frozenset[str],
    frozenset[str] | None,
]  # fmt: skip
_PORTS: Lookup[PortTypes, _Looks, PortType] = Lookup()


def _ends_of_parts(catalog: Catalog) -> Iterator[tuple[Lane, str, Sequence[str]]]:
    """Lane, form factor, and vendors that it works with, of every end of a part that goes into a cage."""
    for transceiver in catalog.transceivers:
        for split in transceiver.standard_by_split:
            yield parse_split(split), transceiver.form_factor, transceiver.works_with
    for cable in catalog.cables:
        for end in cable.ends:
            yield parse_split(end.split), end.form_factor, cable.works_with


def form_factor_fits(part: str, cage: Cage) -> bool:
    """A part fits a cage of its own form factor or of the same by another name, or one that accepts it.

    QSFP-DD goes into QSFP112-DD, unless that states other lanes than those of QSFP-DD.
    """
    if part == cage.form_factor or part in cage.accepts or frozenset((part, cage.form_factor)) in _ALIKE:
        return True
    is_slower = (part, cage.form_factor) == (_EIGHT_SLOWER_LANES, _EIGHT_LANES)
    return is_slower and cage.lane_gbps in (None, _SLOWER_GBPS)


def vendors_agree(part: Transceiver | Cable, port: PortType) -> bool:
    """Where both sides say something about vendors, or about coding, they agree; rule ``pairs_are_qualified``."""
    if port.qualified is not None and part.id not in port.qualified:
        return False
    if part.works_with and port.vendor is not None and port.vendor not in part.works_with:
        return False
    if part.coded_for and port.coding and port.coding.isdisjoint(part.coded_for):
        return False
    return not (port.works_with and part.vendor is not None and part.vendor not in port.works_with)


def cage_power_w(module: Transceiver) -> float:
    """Power that a cage has to give a module: its maximum where that is known, its typical power at least."""
    return max(module.power_max_w or 0.0, module.power_w or 0.0)


def drives(port: PortType, part: Transceiver | Cable) -> bool:
    """Whether a cage recovers the signal of a part that does not do so itself."""
    return part.retiming == RETIMED or _signal(part) in port.equalises


def _signal(part: Transceiver | Cable) -> str:
    return _COPPER if isinstance(part, Cable) and part.medium == _ACTIVE_COPPER else _OPTICS
