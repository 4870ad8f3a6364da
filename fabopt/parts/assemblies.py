"""What joins two cages: cables with their ends on, or transceivers and fibre.

An ``Assembly`` is one way to realise the links between a near and a far kind of cage. Its mode says how many
wires (cables or fibres) a number of links takes:

``LINK``   one wire for each link
``PAIR``   a wire carries ``ports_per_cable`` ports, all of one pair of boxes; unused heads are paid
``NEAR``   a splitter or breakout with its single head at the near cage: one for each ``ports_per_cable`` of its ports
``FAR``    the same with its single head at the far cage
``WHOLE``  a splitter with its single head at a near cage, all of whose ports go to one box

Sources: contract, section Fit; the lane-rate rule is the hardware's: passive copper cannot join 50G and 100G lanes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from fabopt.parts.items import Item, ItemTable
from fabopt.parts.port_types import PortType, PortTypes, form_factor_fits, vendors_agree
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Cable, CableEnd, Catalog, Fibre, Transceiver


class Mode(Enum):
    """How wires are counted; see the module."""

    LINK = "link"
    PAIR = "pair"
    NEAR = "near"
    FAR = "far"
    WHOLE = "whole"

    # Enum's own works in Python; assemblies are looked up by the thousand
    __hash__ = object.__hash__


class Assembly(NamedTuple):
    """One way to join a near and a far cage. ``near``/``far`` are transceivers' items, or None for a cable."""

    name: str
    medium: str
    mode: Mode
    ports_per_cable: int
    near: Item | None
    cable: Item
    far: Item | None
    length_m: float

    @property
    def items(self) -> tuple[Item, ...]:
        """Everything in it, once each."""
        return tuple(item for item in (self.near, self.cable, self.far) if item is not None)


@dataclass(frozen=True)
class _Module:
    """A transceiver at one split."""

    item: Item
    product: Transceiver
    standard: str
    ports_per_connector: int

    @property
    def optics(self) -> tuple[str, str, str, int]:
        """What the far end and the fibre see of it."""
        return self.standard, self.product.fibre, self.product.connector, self.ports_per_connector


@dataclass(frozen=True)
class _FibreKind:
    """What makes two fibre assemblies interchangeable."""

    fibre: str
    near: str
    near_count: int
    far: str
    far_count: int


class _Join(NamedTuple):
    """An assembly but for its length. ``made``: its name, medium, mode and ports of a wire."""

    made: tuple[str, str, Mode, int]
    product_id: str
    reach_m: float | None
    near: Item | None = None
    far: Item | None = None


class LinkTable:
    """All assemblies of a catalog, found on demand and remembered.

    ``prune`` drops an assembly that another one of the same mode beats in every part's price and power; parts whose
    price depends on the quantity, or that are in stock or short, are never dropped for that.
    """

    def __init__(self, catalog: Catalog, item_table: ItemTable, prune: bool = True) -> None:
        self._catalog = catalog
        self._item_table = item_table
        self._prune = prune
        self._found: dict[tuple[PortType, PortType, float, str, bool, bool], tuple[Assembly, ...]] = {}
        self._joining: dict[tuple[PortType, PortType, str, bool], tuple[_Join, ...]] = {}
        self._fitting: dict[tuple[PortType, str, bool], tuple[_Module, ...]] = {}

    def assemblies(
        self, near: PortType, far: PortType, run_m: float, protocol: str, all_: bool = False, longer: bool = False
    ) -> tuple[Assembly, ...]:
        """Every useful way to join two cages over a run, sorted by name; empty if there is none.

        ``all_``: with those that others beat, which may still win by sharing a cage with other links. ``longer``: over
        this run or any longer one, for bounds: a longer length may be the cheaper one.
        """
        key = (near, far, run_m, protocol, all_, longer)
        if key not in self._found:
            found = [
                Assembly(*one.made, one.near, cable, one.far, cable.length_m or 0.0)
                for one in self._joins(near, far, protocol, all_)
                for cable in self._lengths_on_sale(one.product_id, run_m, one.reach_m, longer)
            ]
            kept = undominated(found) if self._prune and not all_ else found
            self._found[key] = tuple(sorted(kept, key=lambda one: (one.name, one.length_m)))
        return self._found[key]

    def _joins(self, near: PortType, far: PortType, protocol: str, all_: bool) -> tuple[_Join, ...]:
        """What joins two cages over some run."""
        key = (near, far, protocol, all_)
        if key not in self._joining:
            found: list[_Join] = []
            if near.lane.port_mbps == far.lane.port_mbps:
                found = [*self._cables(near, far, protocol), *self._optics(near, far, protocol, all_)]
            self._joining[key] = tuple(found)
        return self._joining[key]

    def longest_m(self, near: PortType, far: PortType, protocol: str) -> float:
        """The longest run over which two cages can be joined; 0 if nothing joins them."""
        return max(
            (
                item.length_m or 0.0
                for one in self._joins(near, far, protocol, False)
                for item in self._lengths_on_sale(one.product_id, 0.0, one.reach_m, longer=True)
            ),
            default=0.0,
        )

    @cached_property
    def _cables_by_speed(self) -> dict[int, list[Cable]]:
        by_speed: dict[int, list[Cable]] = defaultdict(list)
        for cable in self._catalog.cables:
            by_speed[parse_split(cable.ends[0].split).port_mbps].append(cable)
        return by_speed

    def _cables(self, near: PortType, far: PortType, protocol: str) -> Iterable[_Join]:
        for cable in self._cables_by_speed[near.lane.port_mbps]:
            if cable.protocols and protocol not in cable.protocols:
                continue
            modes = {
                mode
                for ends in (cable.ends, cable.ends[::-1])
                if _cable_joins(cable, ends[0], ends[1], near, far)
                for mode in _cable_modes(ends[0], ends[1], near, far)
            }
            for mode, ports in sorted(modes, key=lambda pair: pair[0].value):
                yield _Join((cable.id, cable.medium, mode, ports), cable.id, cable.reach_m)

    def modules(self, port: PortType, protocol: str, all_: bool = False) -> tuple[_Module, ...]:
        """Transceivers that fit a cage at its split; ``all_``: with those that others beat."""
        key = (port, protocol, all_)
        if key not in self._fitting:
            fitting = [one for one in self._modules_by_lane[port.lane] if _module_fits(one.product, port, protocol)]
            self._fitting[key] = tuple(_useful(fitting) if self._prune and not all_ else fitting)
        return self._fitting[key]

    @cached_property
    def _modules_by_lane(self) -> dict[Lane, list[_Module]]:
        by_lane: dict[Lane, list[_Module]] = defaultdict(list)
        for product in self._catalog.transceivers:
            item = self._item_table.item(product.id)
            if item is None:
                continue
            for split, standard in product.standard_by_split.items():
                lane = parse_split(split)
                by_lane[lane].append(_Module(item, product, standard, lane.ports // product.connectors))
        return by_lane

    @cached_property
    def _fibres(self) -> dict[_FibreKind, list[Fibre]]:
        kinds: dict[_FibreKind, list[Fibre]] = defaultdict(list)
        for fibre in self._catalog.fibres:
            for one, other in (fibre.both_ends, fibre.both_ends[::-1]):
                kind = _FibreKind(fibre.fibre, one.connector, one.count, other.connector, other.count)
                if fibre not in kinds[kind]:
                    kinds[kind].append(fibre)
        return kinds

    def _optics(self, near: PortType, far: PortType, protocol: str, all_: bool) -> Iterable[_Join]:
        far_modules = self.modules(far, protocol, all_)
        for one in self.modules(near, protocol, all_):
            for other in far_modules:
                if one.standard == other.standard and one.product.fibre == other.product.fibre:
                    yield from self._over_fibre(one, other)

    def _over_fibre(self, near: _Module, far: _Module) -> Iterable[_Join]:
        counted = _fibre_mode(near.ports_per_connector, far.ports_per_connector)
        if counted is None:
            return
        mode, ports, near_count, far_count = counted
        kind = _FibreKind(near.product.fibre, near.product.connector, near_count, far.product.connector, far_count)
        reach_m = min(near.product.reach_m, far.product.reach_m)
        for fibre in self._fibres.get(kind, ()):
            name = f"{near.item.id}|{fibre.id}|{far.item.id}"
            yield _Join((name, near.product.fibre, mode, ports), fibre.id, reach_m, near.item, far.item)

    def near_only(self, port: PortType, run_m: float, protocol: str) -> tuple[Assembly, ...]:
        """Transceiver at a near cage and straight fibre, for a far end that is somebody else's and not described."""
        found = []
        for module in self.modules(port, protocol, True):
            if module.ports_per_connector != 1:
                continue
            connector = module.product.connector
            for kind, fibres in self._fibres.items():
                if (kind.fibre, kind.near, kind.near_count, kind.far_count) != (module.product.fibre, connector, 1, 1):
                    continue
                for fibre in fibres:
                    for cable in self._lengths_on_sale(fibre.id, run_m, module.product.reach_m):
                        name = f"{module.item.id}|{fibre.id}|"
                        found.append(
                            Assembly(
                                name,
                                module.product.fibre,
                                Mode.LINK,
                                1,
                                module.item,
                                cable,
                                None,
                                cable.length_m or 0.0,
                            )
                        )
        return tuple(sorted(set(found), key=lambda one: one.name))

    def _lengths_on_sale(
        self, product_id: str, run_m: float, reach_m: float | None, longer: bool = False
    ) -> list[Item]:
        """The shortest priced length that covers the run, none if it is past the reach; ``longer``: all within it."""
        cables = []
        for item in self._item_table.lengths(product_id):
            length_m = item.length_m or 0.0
            if reach_m is not None and length_m > reach_m:
                break
            if length_m >= run_m:
                cables.append(item)
                if not longer:
                    break
        return cables


def _cable_joins(cable: Cable, near_end: CableEnd, far_end: CableEnd, near: PortType, far: PortType) -> bool:
    for end, port in ((near_end, near), (far_end, far)):
        if parse_split(end.split) != port.lane or end.form_factor not in port.fits:
            return False
        if not vendors_agree(cable.vendor, cable.works_with, port):
            return False
    near_rate, far_rate = (end.lane_gbps or cable.lane_gbps for end in (near_end, far_end))
    if near_rate is None and far_rate is None:
        return near.lane_gbps is None or far.lane_gbps is None or near.lane_gbps == far.lane_gbps
    return all(
        rate is None or port.lane_gbps is None or rate == port.lane_gbps
        for rate, port in ((near_rate, near), (far_rate, far))
    )


def _cable_modes(near_end: CableEnd, far_end: CableEnd, near: PortType, far: PortType) -> Iterable[tuple[Mode, int]]:
    if near_end.count == far_end.count == 1:
        yield (Mode.LINK, 1) if near.ports == 1 else (Mode.PAIR, near.ports)
    elif near_end.count == 1 and far.ports == 1:
        yield Mode.NEAR, near.ports
    elif far_end.count == 1 and near.ports == 1:
        yield Mode.FAR, far.ports


def _module_fits(product: Transceiver, port: PortType, protocol: str) -> bool:
    return (
        (not product.protocols or protocol in product.protocols)
        and product.form_factor in port.fits
        and (product.lane_gbps is None or port.lane_gbps is None or product.lane_gbps == port.lane_gbps)
        and vendors_agree(product.vendor, product.works_with, port)
    )


def _useful(modules: Sequence[_Module]) -> list[_Module]:
    """Drop a transceiver where another one with the same optics reaches as far and costs and draws no more."""
    kept: list[_Module] = []
    for one in sorted(modules, key=lambda module: (module.item.unit_cents, module.item.power_mw, module.item.id)):
        if not any(
            other.optics == one.optics
            and other.product.reach_m >= one.product.reach_m
            and dominates(other.item, one.item)
            for other in kept
        ):
            kept.append(one)
    return kept


def _fibre_mode(near_ports: int, far_ports: int) -> tuple[Mode, int, int, int] | None:
    """Mode, ports per wire and connector counts, from the ports of one connector at each end."""
    if near_ports == far_ports:
        mode = Mode.LINK if near_ports == 1 else Mode.PAIR
        return mode, near_ports, 1, 1
    if far_ports == 1:
        return Mode.NEAR, near_ports, 1, near_ports
    if near_ports == 1:
        return Mode.FAR, far_ports, far_ports, 1
    return None


def whole_only(assembly: Assembly) -> Assembly:
    """At a server, a splitter's single head needs a cage all of whose ports go to one leaf."""
    if assembly.mode is Mode.NEAR and assembly.near is None:
        return assembly._replace(mode=Mode.WHOLE)
    return assembly


def dominates(one: Item | None, other: Item | None) -> bool:
    """``one`` costs and draws no more than ``other`` at any stage, whatever the quantity."""
    if one is other:
        return True
    if one is None or other is None:
        return one is None
    return (
        not one.varies
        and not other.varies
        and all(mine <= theirs for mine, theirs in zip(one.unit_cents, other.unit_cents, strict=True))
        and one.power_mw <= other.power_mw
    )


def undominated(assemblies: Sequence[Assembly]) -> list[Assembly]:
    """Drop what another assembly of the same mode beats in every part; of equals the first by name stays.

    A splitter does not stand for a breakout fibre: at a server it needs ports that all go to one leaf.
    """
    kept: dict[Hashable, list[Assembly]] = {}
    order = sorted(
        assemblies, key=lambda one: (*map(sum, zip(*(i.unit_cents for i in one.items), strict=True)), one.name)
    )
    found = []
    for one in order:
        rivals = (other for key in _keys_of_rivals(one) for other in kept.get(key, ()))
        if not any(
            (one.mode is not Mode.NEAR or (other.near is None) == (one.near is None))
            and dominates(other.near, one.near)
            and dominates(other.cable, one.cable)
            and dominates(other.far, one.far)
            for other in rivals
        ):
            kept.setdefault(_key(one, _looked_at(one.near), _looked_at(one.far)), []).append(one)
            found.append(one)
    return found


def _keys_of_rivals(one: Assembly) -> Iterator[Hashable]:
    """Keys of all that may beat an assembly: a part that varies is beaten by itself only, or where there is none."""
    for near in dict.fromkeys((None, _looked_at(one.near))):
        for far in dict.fromkeys((None, _looked_at(one.far))):
            yield _key(one, near, far)


def _key(one: Assembly, near: Hashable, far: Hashable) -> Hashable:
    return one.mode, one.ports_per_cable, near, _looked_at(one.cable), far


def _looked_at(item: Item | None) -> Hashable:
    """The item itself where nothing else can beat it; of all others the same word; None where there is none."""
    return item if item is None or item.varies else "plain"


__all__ = [
    "Assembly",
    "LinkTable",
    "Mode",
    "PortType",
    "PortTypes",
    "form_factor_fits",
    "undominated",
    "vendors_agree",
    "whole_only",
]
