"""What joins two cages: cables with their ends on, or transceivers and fibre.

An ``Assembly`` is one way to realise the links between a near and a far kind of cage. Its mode says how many cables
(or fibres) a number of links takes:

``LINK``   one cable for each link
``PAIR``   a cable carries ``ports_per_cable`` ports, all of one pair of devices; unused connectors are paid
``NEAR``   a splitter or breakout with its single end at the near cage: one for each ``ports_per_cable`` of its ports
``FAR``    the same with its single end at the far cage
``WHOLE``  a splitter with its single end at a near cage, all of whose ports go to one device
``CROSS``  a shuffle: n connectors of n ports at each end, port i of connector j to port j of connector i, n x n links
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from math import isqrt
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.latency import LinkTime


class Mode(Enum):
    """How cables are counted; see the module."""

    LINK = "link"
    PAIR = "pair"
    NEAR = "near"
    FAR = "far"
    WHOLE = "whole"
    CROSS = "cross"

    # Enum's own works in Python; assemblies are looked up by the thousand
    __hash__ = object.__hash__


class Assembly(NamedTuple):
    """A way to join a near and a far cage. ``near``/``far`` are transceivers' items, or None for a cable.

    ``time``: how long its links take, where a case limits that.
    """

    name: str
    medium: str
    mode: Mode
    ports_per_cable: int
    near: Item | None
    cable: Item
    far: Item | None
    length_m: float
    time: LinkTime | None = None

    @property
    def crosses(self) -> int:
        """n of a shuffle: its connectors at each end; 1 of any other assembly."""
        return isqrt(self.ports_per_cable) if self.mode is Mode.CROSS else 1

    @property
    def items(self) -> tuple[Item, ...]:
        """Items of the assembly, once each."""
        return tuple(item for item in (self.near, self.cable, self.far) if item is not None)

    def is_no_slower(self, other: Assembly, own_m: float, others_m: float) -> bool:
        """Whether its links of a length take no longer than those of another one, where that counts."""
        if self.time is None or other.time is None:
            return True
        return self.time.is_no_slower(own_m, other.time, others_m)


def whole_only(assembly: Assembly) -> Assembly:
    """An assembly at a server: a splitter's single end needs a cage all of whose ports go to one leaf."""
    if assembly.mode is Mode.NEAR and assembly.near is None:
        return assembly._replace(mode=Mode.WHOLE)
    return assembly


def dominates(item: Item | None, other: Item | None) -> bool:
    """Whether ``item`` takes no more money and power than ``other`` at any stage, whatever the quantity."""
    if item is other:
        return True
    if item is None or other is None:
        return item is None
    return (
        not item.varies
        and not other.varies
        and all(own <= theirs for own, theirs in zip(item.unit_costs, other.unit_costs, strict=True))
        and item.power_mw <= other.power_mw
    )


def undominated(assemblies: Sequence[Assembly]) -> list[Assembly]:
    """Drop an assembly where another one of the same mode is cheaper in some part and no dearer in the others.

    Of equals all stay, as one of them may be a part number that is in use elsewhere. A splitter does not stand for a
    breakout fibre: at a server it needs ports that all go to one leaf.
    """
    kept: dict[_RivalKey, list[Assembly]] = {}
    cheapest_first = sorted(
        assemblies,
        key=lambda assembly: (*map(sum, zip(*(i.unit_costs for i in assembly.items), strict=True)), assembly.name),
    )
    useful = []
    for assembly in cheapest_first:
        rivals = (other for key in _keys_of_rivals(assembly) for other in kept.get(key, ()))
        if not any(
            (assembly.mode is not Mode.NEAR or (other.near is None) == (assembly.near is None))
            and dominates(other.near, assembly.near)
            and dominates(other.cable, assembly.cable)
            and dominates(other.far, assembly.far)
            and other.is_no_slower(assembly, other.length_m, assembly.length_m)
            and not _equal(other, assembly)
            for other in rivals
        ):
            kept.setdefault(_key(assembly, _looked_at(assembly.near), _looked_at(assembly.far)), []).append(assembly)
            useful.append(assembly)
    return useful


def _equal(assembly: Assembly, other: Assembly) -> bool:
    """Whether assemblies of different parts take equal money and power, part by part."""
    parts = ((assembly.near, other.near), (assembly.cable, other.cable), (assembly.far, other.far))
    alike = (dominates(part, another) and dominates(another, part) for part, another in parts)
    return assembly.items != other.items and all(alike)


# Key of assemblies that may dominate each other: mode, ports of a cable, near part, cable, far part.
_RivalKey = tuple[Mode, int, Item | bool, Item | bool, Item | bool]


def _keys_of_rivals(assembly: Assembly) -> Iterator[_RivalKey]:
    """Keys of the assemblies that may dominate an assembly: a part that varies is dominated by itself only, or by no
    part.
    """
    for near in dict.fromkeys((False, _looked_at(assembly.near))):
        for far in dict.fromkeys((False, _looked_at(assembly.far))):
            yield _key(assembly, near, far)


def _key(assembly: Assembly, near: Item | bool, far: Item | bool) -> _RivalKey:
    return assembly.mode, assembly.ports_per_cable, near, _looked_at(assembly.cable), far


def _looked_at(item: Item | None) -> Item | bool:
    """The item itself where no other can dominate it; else whether there is one."""
    return item if item is not None and item.varies else item is not None
