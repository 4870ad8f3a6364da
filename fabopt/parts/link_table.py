"""The assemblies that a catalog has for two kinds of cages: cables with their ends on, transceivers and fibre between.

Sources: docs/catalog.md; the lane-rate rule is the hardware's: passive copper cannot join 50G and 100G lanes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import NamedTuple

from fabopt.parts.assemblies import Assembly, Mode, dominates, undominated
from fabopt.parts.channels import ChannelLimits
from fabopt.parts.item_table import ItemTable
from fabopt.parts.items import Item
from fabopt.parts.latency import LinkTime
from fabopt.parts.lookup import Lookup
from fabopt.parts.port_types import PortType, cage_power_w, drives, vendors_agree
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Cable, CableEnd, Catalog, Fibre, Transceiver
from fabopt.units import grouped


@dataclass(frozen=True)
class _Module:
    """A transceiver at one split."""

    item: Item
    product: Transceiver
    split: str
    standard: str
    ports_per_connector: int

    @property
    def connector(self) -> str:
        """The connector that a fibre for its ports needs."""
        return self.product.connector_of(self.split)

    @property
    def optics(self) -> tuple[str, str, str, int, str]:
        """The optical properties that the far end and the fibre have to match."""
        product = self.product
        return self.standard, product.fibre, self.connector, self.ports_per_connector, product.retiming


@dataclass(frozen=True)
class _FibreKind:
    """Key of interchangeable fibre assemblies: mode of fibre, connectors and their counts."""

    fibre: str
    near: str
    near_count: int
    far: str
    far_count: int


class _Join(NamedTuple):
    """An assembly but for its length. ``kind``: its name, medium, mode and ports of a cable."""

    kind: tuple[str, str, Mode, int]
    product_id: str
    reach_m: float | None
    near: Item | None = None
    far: Item | None = None


class _Ends(NamedTuple):
    """Two kinds of cages that are to be joined; ``all_``: see ``LinkTable.assemblies``."""

    near: PortType
    far: PortType
    protocol: str
    all_: bool


class LinkTable:
    """The assemblies of a catalog, worked out on demand.

    ``prune`` drops an assembly that another one of the same mode dominates in every part's price and power; parts whose
    price depends on the quantity, or that are in stock or short, are never dropped for that, nor faster ones where that
    counts. ``limits``: what channels may lose and take.
    """

    def __init__(self, catalog: Catalog, item_table: ItemTable, limits: ChannelLimits, prune: bool = True) -> None:
        self._catalog = catalog
        self._item_table = item_table
        self.limits = limits
        self._prune = prune

    def assemblies(
        self, near: PortType, far: PortType, run_m: float, protocol: str, all_: bool = False, longer: bool = False
    ) -> tuple[Assembly, ...]:
        """Every useful assembly between two cages over a run in metres, sorted by name; empty if there is none.

        ``all_``: with dominated ones, which may still win by sharing a cage with other links. ``longer``: over this run
        or any longer one, for bounds: a longer length may be the cheaper one.
        """
        run_m = self.length_on_sale_m(run_m)
        ends = _Ends(near, far, protocol, all_)
        return _ASSEMBLIES.of(self, (ends, run_m, longer), self._assemblies, ends, run_m, longer)

    def _assemblies(self, ends: _Ends, run_m: float, longer: bool) -> tuple[Assembly, ...]:
        joins = self._joins(ends)  # many cages take the same parts
        return _OF_JOINS.of(self, (joins, run_m, longer, ends.all_), self._of_joins, joins, run_m, longer, ends.all_)

    def _of_joins(self, joins: tuple[_Join, ...], run_m: float, longer: bool, all_: bool) -> tuple[Assembly, ...]:
        assemblies = [each for join in joins for each in self._over(join, run_m, longer)]
        kept = undominated(assemblies) if self._prune and not all_ else assemblies
        return tuple(sorted(kept, key=lambda assembly: (assembly.name, assembly.length_m)))

    def in_all_lengths(self, near: PortType, far: PortType, protocol: str) -> tuple[Assembly, ...]:
        """Every assembly between two cages, in every length within reach: for bounds over several runs."""
        joins = self._joins(_Ends(near, far, protocol, False))
        return _IN_ALL_LENGTHS.of(self, joins, self._in_all_lengths, joins)

    def _in_all_lengths(self, joins: tuple[_Join, ...]) -> tuple[Assembly, ...]:
        return tuple([each for join in joins for each in self._over(join, 0.0, longer=True)])

    def _over(self, join: _Join, run_m: float, longer: bool) -> list[Assembly]:
        """An assembly in the lengths that are bought for a run; ``longer``: in all within reach."""
        cables, time = self._lengths_on_sale(join.product_id, run_m, join.reach_m, longer), self._time(join)
        return [Assembly(*join.kind, join.near, cable, join.far, cable.length_m or 0.0, time) for cable in cables]

    def _time(self, join: _Join) -> LinkTime | None:
        """How long its links take, where the case limits the time of paths."""
        if self.limits.delays is None:
            return None
        ends = (join.near, join.far)
        return _TIMES.of(self, join, self.limits.delays.link_of, self._catalog, join.product_id, ends)

    def fewest_together(self, near: PortType, far: PortType, run_m: float, protocol: str) -> int:
        """Fewest ports of one cable, where cables join a pair of devices only; 1 where some cable splits.

        Over this run or a longer one; 0 if no assembly joins them.
        """
        ends, run_m = _Ends(near, far, protocol, False), self.length_on_sale_m(run_m)
        return _TOGETHER.of(self, (ends, run_m), self._fewest_together, ends, run_m)

    def _fewest_together(self, ends: _Ends, run_m: float) -> int:
        ports = (
            ports_per_cable if mode is Mode.PAIR else 1
            for (_, _, mode, ports_per_cable), product_id, reach_m, *_ in self._joins(ends)
            if self._lengths_on_sale(product_id, run_m, reach_m)
        )
        return min(ports, default=0)

    def _joins(self, ends: _Ends) -> tuple[_Join, ...]:
        """Assemblies without length between two cages, over any run."""
        # Rule ``speeds_agree``
        if ends.near.lane.port_mbps != ends.far.lane.port_mbps:
            return ()
        return _JOINS.of(self, ends, lambda: (*self._cables(ends), *self._optics(ends)))

    def length_on_sale_m(self, run_m: float) -> float:
        """The shortest length on sale that covers a run, infinite if there is none: runs with the same one have equal
        assemblies.
        """
        place = bisect_left(self._lengths_m, run_m)
        return self._lengths_m[place] if place < len(self._lengths_m) else inf

    @cached_property
    def _lengths_m(self) -> Sequence[float]:
        return [float(length_m) for length_m in self._item_table.lengths_m]

    @cached_property
    def has_shuffles(self) -> bool:
        """Whether a shuffle is on offer."""
        return any(fibre.crosses > 1 for fibre in self._catalog.fibres)

    def crosses(self, near: PortType, far: PortType, protocol: str) -> bool:
        """Whether a shuffle joins two cages over some run."""
        return any(join.kind[2] is Mode.CROSS for join in self._joins(_Ends(near, far, protocol, False)))

    def longest_m(self, near: PortType, far: PortType, protocol: str) -> float:
        """The longest run over which an assembly joins two cages, in metres; 0 if none does."""
        return max(
            (
                item.length_m or 0.0
                for join in self._joins(_Ends(near, far, protocol, False))
                for item in self._lengths_on_sale(join.product_id, 0.0, join.reach_m, longer=True)
            ),
            default=0.0,
        )

    def longest_of(self, assembly: Assembly) -> float:
        """The longest length of an assembly's cable that is within reach of all its parts, in metres."""
        ids = {item.id for item in assembly.items}
        fibres = [fibre for fibre in self._catalog.fibres if fibre.id in ids]
        modules = [module for module in self._catalog.transceivers if module.id in ids]
        reaches = [
            min(self._reach_m(fibre, module, standard) for standard in module.standard_by_split.values())
            for fibre in fibres
            for module in modules
        ]
        reaches += [cable.reach_m for cable in self._catalog.cables if cable.id in ids and cable.reach_m is not None]
        reach_m = min(reaches, default=None)
        return self._lengths_on_sale(assembly.cable.id, 0.0, reach_m, longer=True)[-1].length_m or 0.0

    def _reach_m(self, fibre: Fibre, module: Transceiver, standard: str) -> float:
        """Longest run of a module over a fibre in metres, each worked out once."""
        key = fibre.id, module.id, standard
        return _REACHES.of(self, key, self.limits.reach_m, fibre, module, standard)

    @cached_property
    def _cables_by_lanes(self) -> Mapping[frozenset[Lane], Sequence[Cable]]:
        cables = self._catalog.cables
        return grouped((frozenset(parse_split(end.split) for end in cable.ends), cable) for cable in cables)

    def _cables(self, ends: _Ends) -> Iterator[_Join]:
        near, far = ends.near, ends.far
        for cable in self._cables_by_lanes.get(frozenset((near.lane, far.lane)), ()):
            if cable.protocols and ends.protocol not in cable.protocols:
                continue
            modes = {
                mode
                for both in (cable.ends, cable.ends[::-1])
                if _cable_joins(cable, *both, near, far)
                for mode in _cable_modes(*both, near, far)
            }
            for mode, ports in sorted(modes, key=lambda pair: pair[0].value):
                yield _Join((cable.id, cable.medium, mode, ports), cable.id, cable.reach_m)

    def modules(self, port: PortType, protocol: str, all_: bool = False) -> tuple[_Module, ...]:
        """Transceivers that fit a cage at its split; ``all_``: with dominated ones."""
        return _MODULES.of(self, (port, protocol, all_), self._modules, port, protocol, all_)

    def hungriest_mw(self, port: PortType, protocol: str) -> int:
        """Power in milliwatts of the module that takes most in a cage at its split; 0 if none fits."""
        return max((module.item.power_mw for module in self.modules(port, protocol, True)), default=0)

    def _modules(self, port: PortType, protocol: str, all_: bool) -> tuple[_Module, ...]:
        of_lane = self._modules_by_lane.get(port.lane, ())
        fitting = [module for module in of_lane if _module_fits(module, port, protocol)]
        return tuple(_useful(fitting, self.limits) if self._prune and not all_ else fitting)

    @cached_property
    def _modules_by_lane(self) -> Mapping[Lane, Sequence[_Module]]:
        offered = ((self._item_table.item(product.id), product) for product in self._catalog.transceivers)
        return grouped(
            (parse_split(split), _Module(item, product, split, standard, product.ports_per_connector(split)))
            for item, product in offered
            if item is not None
            for split, standard in product.standard_by_split.items()
        )

    @cached_property
    def _fibres(self) -> Mapping[_FibreKind, Sequence[Fibre]]:
        by_kind: dict[_FibreKind, list[Fibre]] = defaultdict(list)
        for fibre in self._catalog.fibres:
            for near, far in (fibre.both_ends, fibre.both_ends[::-1]):
                kind = _FibreKind(fibre.fibre, near.connector, near.count, far.connector, far.count)
                if fibre not in by_kind[kind]:
                    by_kind[kind].append(fibre)
        return dict(by_kind)

    def _optics(self, ends: _Ends) -> Iterator[_Join]:
        far_modules = self.modules(ends.far, ends.protocol, ends.all_)
        for near in self.modules(ends.near, ends.protocol, ends.all_):
            for far in far_modules:
                # Rule ``optics_speak_alike``
                alike = near.standard == far.standard and near.product.fibre == far.product.fibre
                # a signal that one end does not retime reaches the other end's device
                if alike and drives(ends.far, near.product) and drives(ends.near, far.product):
                    yield from self._over_fibre(near, far, ends.protocol)

    def _over_fibre(self, near: _Module, far: _Module, protocol: str) -> Iterator[_Join]:
        for mode, ports, near_count, far_count in _fibre_modes(near.ports_per_connector, far.ports_per_connector):
            kind = _FibreKind(near.product.fibre, near.connector, near_count, far.connector, far_count)
            for fibre in self._fibres.get(kind, ()):
                if fibre.protocols and protocol not in fibre.protocols:
                    continue
                name = f"{near.item.id}|{fibre.id}|{far.item.id}"
                reach_m = min(self._reach_m(fibre, end.product, end.standard) for end in (near, far))
                yield _Join((name, near.product.fibre, mode, ports), fibre.id, reach_m, near.item, far.item)

    def near_only(self, port: PortType, run_m: float, protocol: str) -> tuple[Assembly, ...]:
        """Transceivers at a near cage with straight fibre, for a far end that is not described."""
        return tuple(
            sorted(set(self._near_only(port, run_m, protocol)), key=lambda assembly: (assembly.name, assembly.length_m))
        )

    def _near_only(self, port: PortType, run_m: float, protocol: str) -> Iterator[Assembly]:
        for module in self.modules(port, protocol, True):
            if module.ports_per_connector != 1:
                continue
            straight = (module.product.fibre, module.connector, 1, 1)
            for kind, fibres in self._fibres.items():
                if (kind.fibre, kind.near, kind.near_count, kind.far_count) != straight:
                    continue
                for fibre in (own for own in fibres if not own.protocols or protocol in own.protocols):
                    reach_m = self._reach_m(fibre, module.product, module.standard)
                    for cable in self._lengths_on_sale(fibre.id, run_m, reach_m):
                        name, medium = f"{module.item.id}|{fibre.id}|", module.product.fibre
                        yield Assembly(name, medium, Mode.LINK, 1, module.item, cable, None, cable.length_m or 0.0)

    def _lengths_on_sale(
        self, product_id: str, run_m: float, reach_m: float | None, longer: bool = False
    ) -> list[Item]:
        """The shortest priced length that covers the run, none if it is past the reach, and longer ones that may be
        bought in its place to save part numbers; ``longer``: all within reach.

        Rule ``cables_fit_reach``.
        """
        cables: list[Item] = []
        for item in self._item_table.lengths(product_id):
            length_m = item.length_m or 0.0
            if reach_m is not None and length_m > reach_m:
                break
            if length_m >= run_m and (longer or not cables or item.stands_in_for(cables[0])):
                cables.append(item)
                if not (longer or item.sold_by.counted):
                    break
        return cables


_ASSEMBLIES: Lookup[LinkTable, tuple[_Ends, float, bool], tuple[Assembly, ...]] = Lookup()
_OF_JOINS: Lookup[LinkTable, tuple[tuple[_Join, ...], float, bool, bool], tuple[Assembly, ...]] = Lookup()
_IN_ALL_LENGTHS: Lookup[LinkTable, tuple[_Join, ...], tuple[Assembly, ...]] = Lookup()
_TIMES: Lookup[LinkTable, _Join, LinkTime] = Lookup()
_TOGETHER: Lookup[LinkTable, tuple[_Ends, float], int] = Lookup()
_JOINS: Lookup[LinkTable, _Ends, tuple[_Join, ...]] = Lookup()
_REACHES: Lookup[LinkTable, tuple[str, str, str], float] = Lookup()
_MODULES: Lookup[LinkTable, tuple[PortType, str, bool], tuple[_Module, ...]] = Lookup()


def _cable_joins(cable: Cable, near_end: CableEnd, far_end: CableEnd, near: PortType, far: PortType) -> bool:
    """Rule ``parts_fit_cages``: form factor, split, lane rate, vendor and coding fit at both ends, which equalise."""
    for end, port in ((near_end, near), (far_end, far)):
        if parse_split(end.split) != port.lane or end.form_factor not in port.fits:
            return False
        if not (vendors_agree(cable, port) and drives(port, cable)):
            return False
    near_rate, far_rate = (end.lane_gbps or cable.lane_gbps for end in (near_end, far_end))
    if near_rate is None and far_rate is None:
        return near.lane_gbps is None or far.lane_gbps is None or near.lane_gbps == far.lane_gbps
    return all(
        rate is None or port.lane_gbps is None or rate == port.lane_gbps
        for rate, port in ((near_rate, near), (far_rate, far))
    )


def _cable_modes(near_end: CableEnd, far_end: CableEnd, near: PortType, far: PortType) -> Iterator[tuple[Mode, int]]:
    if near_end.count == far_end.count == 1:
        yield (Mode.LINK, 1) if near.ports == 1 else (Mode.PAIR, near.ports)
    elif near_end.count == 1 and far.ports == 1:
        yield Mode.NEAR, near.ports
    elif far_end.count == 1 and near.ports == 1:
        yield Mode.FAR, far.ports


def _module_fits(module: _Module, port: PortType, protocol: str) -> bool:
    """Rule ``parts_fit_cages``: protocol, form factor, lane rate, vendor, coding and power fit, the cage equalises."""
    product = module.product
    return (
        product.runs(module.split, protocol)
        and product.form_factor in port.fits
        and (product.lane_gbps is None or port.lane_gbps is None or product.lane_gbps == port.lane_gbps)
        and vendors_agree(product, port)
        and drives(port, product)
        and (port.module_power_w or inf) >= cage_power_w(product)
    )


def _useful(modules: Sequence[_Module], limits: ChannelLimits) -> list[_Module]:
    """Drop a transceiver where another one with the same optics has the reach and takes no more money and power, and
    has the same lanes where they decide how long a link takes.
    """

    def allowed_db(module: _Module) -> float:
        return limits.budget_db(module.product, module.standard)

    kept: list[_Module] = []
    for module in sorted(modules, key=lambda module: (module.item.unit_costs, module.item.power_mw, module.item.id)):
        if not any(
            other.optics == module.optics
            and (limits.delays is None or other.product.lane_gbps == module.product.lane_gbps)
            and other.product.reach_m >= module.product.reach_m
            and allowed_db(other) >= allowed_db(module)
            and dominates(other.item, module.item)
            for other in kept
        ):
            kept.append(module)
    return kept


def _fibre_modes(near_ports: int, far_ports: int) -> Iterator[tuple[Mode, int, int, int]]:
    """Modes, ports per cable and connector counts, from the ports of one connector at each end."""
    if near_ports == far_ports:
        yield Mode.LINK if near_ports == 1 else Mode.PAIR, near_ports, 1, 1
        if near_ports > 1:
            yield Mode.CROSS, near_ports * near_ports, near_ports, near_ports
    elif far_ports == 1:
        yield Mode.NEAR, near_ports, 1, near_ports
    elif near_ports == 1:
        yield Mode.FAR, far_ports, far_ports, 1
