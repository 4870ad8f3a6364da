"""A candidate as the integer program sees it: the devices that it needs, and the open choices of parts for its
links.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, Literal, NamedTuple

from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import CABLE_KINDS, Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.switches import SwitchType
from fabopt.parts.trunks import TrunkedKind
from fabopt.problem.attachments import AttachmentDemand
from fabopt.schema.design import DeviceRole
from fabopt.schema.in_service import FabricMoves
from fabopt.schema.subnet_manager import TwinUse
from fabopt.topology.design import EVEN, Evenness, NetworkDesign, Role, StandIn
from fabopt.topology.link_parts import Need, Quantities
from fabopt.units import Number, beats, ceil_of, largest, summed

End = Literal["from", "to"]
# The roles that links join.
Ends = tuple[DeviceRole, DeviceRole]


class PartUse(NamedTuple):
    """A quantity of one item in a row of links; ``end``: the end at which a transceiver sits."""

    item: Item
    quantity: int
    end: End | None


class RowShare(NamedTuple):
    """Links of one kind that one unit of an option realises. ``assembly``: None where nothing is bought.

    ``runs_m``: on a floor the length class of each link of a cage; empty where all links are made at once.
    ``stage``: number of the stage that installs these parts; ``stages``: that of each link of a cage, if there are
    several. ``scope``: which links between switches of one role these are; None where the roles say it.
    """

    near: DeviceRole
    far: DeviceRole
    attachment: str | None
    assembly: Assembly | None
    links: int
    near_cages: int
    far_cages: int
    parts: tuple[PartUse, ...]
    runs_m: tuple[float, ...] | None = None
    stage: int = 0
    stages: tuple[int, ...] | None = None
    scope: str | None = None

    @property
    def longest_m(self) -> float:
        """The longest cable that is bought for it in metres; 0 if none is."""
        return max((part.item.length_m or 0.0 for part in self.parts), default=0.0)


# How many of each item every stage adds, by (number of the stage, item).
Uses = Mapping[tuple[int, Item], int]


def over_stages(uses: Uses) -> dict[Item, int]:
    """Quantities by item, summed over all stages."""
    return summed((item, count) for (_, item), count in uses.items())


class DeviceUse(NamedTuple):
    """A device that a stage installs, as one product; ``kind``: ids of the products that it may be."""

    stage: int
    item: Item
    kind: tuple[str, ...]


class NicPurchase(NamedTuple):
    """NICs that a stage buys as one vendor's offer, of a product that several sell."""

    stage: int
    item: Item
    units: int


class OpenTier(NamedTuple):
    """A tier whose switches may be of several ``products`` with the same ports; by stage, as is how many are ``added``.

    ``switch``: the product that the candidate was sized with; ``standing``: switches in service beside, by product.
    """

    role: Role
    switch: SwitchType
    products: tuple[tuple[SwitchType, ...], ...]
    added: tuple[int, ...]
    standing: tuple[tuple[SwitchType, int], ...] = ()

    def kind(self, stage: int) -> tuple[str, ...]:
        """Ids of the products at a stage, equal for tiers that share a choice."""
        return tuple(switch.id for switch in self.products[stage])


@dataclass(frozen=True)
class Option:
    """One way to realise a unit of links; or one product for a device, ``device``.

    ``leaf_cages``: most cages of a leaf that it takes, and of a leaf of a differing last group, where attachments share
    them; else empty.
    """

    rows: tuple[RowShare, ...]
    device: DeviceUse | None = None
    leaf_cages: tuple[int, ...] = ()

    @cached_property
    def uses(self) -> dict[tuple[int, Item], int]:
        """Quantities of a unit by (stage number, item)."""
        sums: dict[tuple[int, Item], int] = {}
        if self.device is not None:
            sums[self.device.stage, self.device.item] = 1
        for row in self.rows:
            for part in row.parts:
                key = (row.stage, part.item)
                sums[key] = sums.get(key, 0) + part.quantity
        return sums

    @cached_property
    def items(self) -> dict[Item, int]:
        """Quantities of a unit by item, over all stages."""
        return over_stages(self.uses)

    @cached_property
    def name(self) -> tuple[tuple[str, float], ...]:
        """(assembly id, length) of each row, for ties; of a device (id, stage)."""
        if self.device is not None:
            return ((self.device.item.id, float(self.device.stage)),)
        return tuple((row.assembly.name, row.assembly.length_m) for row in self.rows if row.assembly is not None)

    @property
    def cages(self) -> tuple[int, ...]:
        """Cages taken at the near and the far end (or of leaves): the fewer, the more room is left for other links."""
        return self.leaf_cages or (sum(row.near_cages for row in self.rows), sum(row.far_cages for row in self.rows))

    @cached_property
    def longest_m(self) -> Mapping[Ends, float]:
        """The longest cable that is bought for links between two roles."""
        return largest(((row.near, row.far), row.longest_m) for row in self.rows if row.longest_m)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Cents (at the unit price of one) and milliwatts that each stage adds, and cables: the order of ties."""
        stages = max((len(item.offers) for item in self.items), default=1)
        cents = [0] * max((len(item.unit_costs) for item in self.items), default=1)
        power_mw = [0] * stages
        for (stage, item), count in self.uses.items():
            for place in range(stage, len(cents), stages):
                cents[place] += item.unit_costs[place] * count
            power_mw[stage] += item.power_mw * count
        return *cents, *power_mw, sum(count for item, count in self.items.items() if item.kind in CABLE_KINDS)


@dataclass(frozen=True)
class Choice:
    """``count`` equal units of links, each realised by one of ``options``. Equal ``key``s have equal options."""

    key: Hashable
    count: int
    options: tuple[Option, ...]


class Clash(NamedTuple):
    """Two options, each a choice's key and the option's place, that exclude each other in a candidate."""

    below: tuple[Hashable, int]
    above: tuple[Hashable, int]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A sized design of a fabric, at all its stages.

    ``devices``: switches and NICs that each stage adds (and paid ``moves`` of those in service). ``order``:
    rank in ties. ``counted``: switches of all fabrics that it has ports for at each stage, if it is out-of-band.
    ``logical_fabrics``: attachments of those on it, with their NICs. ``nic_purchases``: NICs by vendor, once decided.
    ``twins``: managed switches that ``devices`` have in place of those of ``design``. ``open_tiers``: tiers whose
    products the program decides. ``trunked``: links through trunks, with parts among ``devices``. ``evenness``: ties.
    """

    fabric: str
    topology: str
    design: NetworkDesign
    devices: Uses
    choices: tuple[Choice, ...]
    order: tuple[Any, ...] = field(repr=False)
    nic_slots: int = 0
    clashes: tuple[Clash, ...] = ()
    counted: tuple[int, ...] = ()
    logical_fabrics: tuple[AttachmentDemand, ...] = ()
    twins: tuple[TwinUse, ...] = ()
    open_tiers: tuple[OpenTier, ...] = ()
    nic_purchases: tuple[NicPurchase, ...] = ()
    trunked: tuple[TrunkedKind, ...] = ()
    moves: FabricMoves | None = None
    evenness: Evenness = EVEN

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """Switches of other products than the one that their tier is named for."""
        return tuple(stand_in for tier in self.design.file_part().tiers for stand_in in tier.stand_ins)

    @property
    def equipment(self) -> tuple[AttachmentDemand, ...]:
        """Attachments of logical fabrics that are ports of servers."""
        return tuple(demand for demand in self.logical_fabrics if demand.nic is not None)

    def switches(self, stage: int) -> int:
        """Number of switches that are installed at a stage."""
        known = sum(count for (when, item), count in self.devices.items() if item.kind == "switch" and when <= stage)
        return known + sum(sum(tier.added[: stage + 1]) for tier in self.open_tiers)

    @cached_property
    def fixed(self) -> dict[Item, int]:
        """Devices of the last stage by item."""
        return over_stages(self.devices)


def part_uses(assembly: Assembly, near: int, cables: int, far: int) -> tuple[PartUse, ...]:
    """Quantities of an assembly's near ends, cables and far ends, without parts that it does not have."""
    counted: tuple[tuple[Item | None, int, End | None], ...] = (
        (assembly.near, near, "from"),
        (assembly.cable, cables, None),
        (assembly.far, far, "to"),
    )
    return tuple(PartUse(item, int(number), end) for item, number, end in counted if item is not None and number)


def row_share(
    ends: tuple[DeviceRole, DeviceRole],
    assembly: Assembly,
    links: Number,
    parts: Quantities,
    attachment: str | None = None,
) -> RowShare:
    """A row of links realised by one assembly."""
    return RowShare(
        *ends, attachment, assembly, int(links), int(parts.near), int(parts.far),
        part_uses(assembly, int(parts.near), int(parts.cables), int(parts.far)),
    )  # fmt: skip


class _Unit(NamedTuple):
    """Links that are bought together, of one cage or one bundle. ``near``, ``far``: cages at its ends."""

    what: Literal["cage", "bundle"]
    links: int
    near: int
    far: int

    def cables(self, assembly: Assembly) -> int:
        """Cables of an assembly for one unit."""
        return self.links if assembly.mode is Mode.LINK else int(ceil_of(self.links, assembly.ports_per_cable))


def choices_of(
    table: LinkTable,
    need: Need,
    assemblies: Sequence[Assembly],
    ends: Ends,
    kind: Hashable,
    mixes: bool,
    prune: bool,
    attachment: str | None = None,
) -> tuple[Choice, ...] | None:
    """Choices of parts for all links of a need; None if they cannot be made. ``table``: holds the assemblies.

    Rule ``cages_close``: cage by cage where one end has single-port cages; else bundle by bundle where ``mixes`` says
    that whole cages meet; else everything at once.
    """
    if need.links == 0:
        return ()
    # links of other candidates of the kind may run farther, and take other cables
    kind = kind, tuple((assembly.name, assembly.length_m) for assembly in assemblies)
    if not need.one_sided and not mixes:
        choice = _whole_choice(need, assemblies, ends, kind, attachment)
        choices = [Choice(choice.key, 1, undominated(choice.options)) if prune else choice]
    else:
        choices, straight = [], tuple(assembly for assembly in assemblies if assembly.mode is not Mode.CROSS)
        for unit, count in _units(need).items():
            asked = unit, straight, ends, attachment, prune
            options = _OPTIONS.of(table, asked, _options_of, *asked)
            choices.append(Choice((kind, attachment, unit.what, unit.links), count, options))
    return None if any(not choice.options for choice in choices) else tuple(choices)


# what a unit of links can be made of, for all candidates
_OPTIONS: Lookup[LinkTable, Hashable, tuple[Option, ...]] = Lookup()


def _units(need: Need) -> dict[_Unit, int]:
    """Number of units of each kind in a need: cages by their ports in use, the fullest first; or bundles."""
    ports = need.near.ports_per_cage
    if not need.one_sided:
        return {_Unit("bundle", ports, 1, 1): int(need.links) // ports}
    cages_by_ports = summed((int(used), int(cages)) for cages, used in need.big.cage_fill() if cages and used)
    near_is_big = ports > 1
    return {
        _Unit("cage", used, *((1, used) if near_is_big else (used, 1))): cages
        for used, cages in sorted(cages_by_ports.items(), reverse=True)
    }


def _options_of(
    unit: _Unit, assemblies: Sequence[Assembly], ends: Ends, attachment: str | None, prune: bool
) -> tuple[Option, ...]:
    rows = (
        row_share(ends, assembly, unit.links, Quantities(unit.near, unit.cables(assembly), unit.far, True), attachment)
        for assembly in assemblies
    )
    options = tuple(Option((row,)) for row in rows)
    return undominated(options) if prune else options


def _whole_choice(
    need: Need,
    assemblies: Sequence[Assembly],
    ends: tuple[DeviceRole, DeviceRole],
    kind: Hashable,
    attachment: str | None,
) -> Choice:
    options = []
    for assembly in assemblies:
        parts = need.quantities(assembly)
        if parts.fits:
            options.append(Option((row_share(ends, assembly, need.links, parts, attachment),)))
    return Choice((kind, attachment, "whole", tuple(option.rows for option in options)), 1, tuple(options))


def all_choices(parts: Iterable[Sequence[Choice] | None]) -> tuple[Choice, ...] | None:
    """The choices of all kinds of links; None as soon as the links of one kind cannot be made."""
    choices: list[Choice] = []
    for choices_of_kind in parts:
        if choices_of_kind is None:
            return None
        choices.extend(choices_of_kind)
    return tuple(choices)


def undominated(options: Sequence[Option]) -> tuple[Option, ...]:
    """Drop an option where another one is cheaper, or has less power or fewer cables, and is in nothing worse: cable
    lengths and cages at each end too, and how long links take where that is limited.

    Lengths count since a pool may hold the data in flight on a shorter cable only; cages count since other links of the
    switch may need the room.
    """
    kept: list[Option] = []
    special = [option for option in options if any(item.varies for item in option.items)]
    plain = [option for option in options if not any(item.varies for item in option.items)]
    for option in sorted(plain, key=lambda option: (option.numbers, option.name)):
        if not any(
            beats(other.numbers, option.numbers)
            and _is_no_longer(other, option)
            and all(own <= theirs for own, theirs in zip(other.cages, option.cages, strict=True))
            and _is_no_slower(other, option)
            for other in kept
        ):
            kept.append(option)
    return tuple(sorted([*kept, *special], key=lambda option: option.name))


def _is_no_longer(option: Option, other: Option) -> bool:
    longest_m = other.longest_m
    return all(length_m <= longest_m.get(ends, inf) for ends, length_m in option.longest_m.items())


def _is_no_slower(option: Option, other: Option) -> bool:
    """Whether the links of no row of an option take longer than those of the same row of another one."""
    pairs = [(own, own.assembly, row, row.assembly) for own, row in zip(option.rows, other.rows, strict=False)]
    return len(option.rows) == len(other.rows) and all(
        not one or not another or one.is_no_slower(another, own.longest_m, row.longest_m)
        for own, one, row, another in pairs
    )


def by_fabric(candidates: Sequence[Candidate]) -> dict[str, dict[int, Candidate]]:
    """Candidates by fabric name, then by index in ``candidates``."""
    groups: dict[str, dict[int, Candidate]] = {}
    for place, candidate in enumerate(candidates):
        groups.setdefault(candidate.fabric, {})[place] = candidate
    return groups
