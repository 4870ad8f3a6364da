"""Cables of one wiring that stay, move or go when another takes its place, and the ones that come, rack by rack."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from fabopt.units import summed
from fabopt.wiring.model import KINDS, NOTHING, Wiring

# A part and the length bought, and the ports at all ends of its links.
Model = tuple[str, float]
Ends = tuple[tuple[str, str], ...]


class Laid(NamedTuple):
    """A cable with the place where it is counted: the rack of its end nearer the servers, else the kind of its
    links.
    """

    model: Model
    ends: Ends
    place: str
    label: str = ""


class Changes(NamedTuple):
    """Cables of a place that stay as they are, that another place or port needs, that go, and that come."""

    stay: int = 0
    move: int = 0
    go: int = 0
    come: int = 0


def cable_changes(before: Wiring, after: Wiring, by_label: bool = False) -> dict[str, Changes]:
    """What becomes of the cables, by place; a cable that moves is counted where it goes.

    A cable stays that has the same part, length and ports; ``by_label``: and label, as where moves are paid by it. Of
    the others, one is moved for each that comes of the
    same part and length, those first that keep an end.
    """
    old, new = (Counter(_laid(one, by_label)) for one in (before, after))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for cable, number in (old & new).items():
        counts[cable.place]["stay"] += number
    leaves, arrives = list((old - new).elements()), list((new - old).elements())
    spare = summed((cable.model, 1) for cable in leaves)
    kept_end = {(cable.model, end) for cable in leaves for end in cable.ends}
    arrives.sort(key=lambda cable: not any((cable.model, end) in kept_end for end in cable.ends))
    moved: Counter[Model] = Counter()
    for cable in arrives:
        is_moved = spare[cable.model] > moved[cable.model]
        moved[cable.model] += is_moved
        counts[cable.place]["move" if is_moved else "come"] += 1
    for cable in leaves:
        taken = moved[cable.model] > 0
        moved[cable.model] -= taken
        counts[cable.place]["go"] += not taken
    return {
        place: Changes(**{name: counts[place][name] for name in Changes._fields})
        for place in sorted(counts)
        if counts[place].total()
    }


def _laid(wiring: Wiring, by_label: bool) -> Iterator[Laid]:
    """Every cable of a wiring."""
    links, devices, cables = wiring.links, wiring.devices, wiring.cables
    ends: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    place: dict[int, str] = {}
    columns = (links.cable.tolist(), links.a.tolist(), links.b.tolist(), wiring.a_port, wiring.b_port)
    for cable, a, b, a_port, b_port in zip(*columns, strict=True):
        if cable != NOTHING:
            ends[cable] += ((devices.name[a], a_port), (devices.name[b], b_port))
            place.setdefault(cable, devices.rack[a])
    lengths, kinds = cables.length_m.tolist(), cables.kind.tolist()
    for cable, ports in ends.items():
        model = cables.part[cable], lengths[cable]
        label = cables.name[cable] if by_label else ""
        yield Laid(model, tuple(sorted(set(ports))), place[cable] or KINDS[kinds[cable]], label)
