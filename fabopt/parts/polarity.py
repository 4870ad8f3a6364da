"""Whether light and plugs meet where fibres, panels and trunks stand between two modules: polarity, pins, polish.

Light crosses from position 1 to the last one in each piece of Type B, and in each adapter of a panel that holds both
keys on one side; a cassette says from which position of a leg to which of a port it goes. What is sent arrives where
the other module receives if it crosses an odd number of times: with one lead of Type B; with two panels alike if all
three pieces are of Type B. Of two plugs that meet one has pins: modules and trunks do, jumpers do not. Polishes are
equal, since an angled face (APC) does not touch a flat one (UPC).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from fabopt.parts.channels import plug_of
from fabopt.schema.catalog import Fibre, Panel, Transceiver, Trunk
from fabopt.schema.passive import CassetteBack, Polarity
from fabopt.units import grouped

POLISHES = ("APC", "UPC", "PC")
OTHER: dict[Polarity, Polarity] = {"A": "B", "B": "A"}
# Positions of eight fibres in a row of twelve.
OUTER = (1, 2, 3, 4, 9, 10, 11, 12)


class Mistake(NamedTuple):
    """A piece that does not go where it is: its id, why, and what to buy in its place."""

    piece: str
    why: str
    instead: str


class Mated(NamedTuple):
    """What is wrong with a channel, and what is not known of it; both empty: it works."""

    wrong: tuple[Mistake, ...] = ()
    unknown: tuple[str, ...] = ()


class MatingPlug(NamedTuple):
    """A plug that meets another: whose it is, its kind, and whether it has pins (None: not known)."""

    piece: str
    connector: str
    pinned: bool | None


def form_of(connector: str) -> str:
    """A connector without its polish, as adapters of panels are named: ``MPO-12-APC`` is ``MPO-12``."""
    form, _, polish = plug_of(connector).rpartition("-")
    return form if polish in POLISHES else plug_of(connector)


def polish_of(connector: str) -> str | None:
    """The polish that a connector's name says: ``APC`` of ``MPO-12-APC``; None where it says none."""
    polish = connector.rpartition("-")[2]
    return polish if polish in POLISHES else None


def jumper_connector(fibre: Fibre) -> str | None:
    """The connector at both ends of a fibre that is a jumper: straight, of several fibres without pins and with a known
    type; None of any other.
    """
    connector = fibre.both_ends[0].connector
    suits = not _has_many(connector) or (fibre.pinned is False and fibre.polarity is not None)
    return connector if fibre.is_straight and not fibre.loss_db and suits else None


def trunk_goes(trunk: Trunk, fibre: Fibre, panel: Panel) -> bool:
    """Whether a trunk goes with jumpers that go into a panel: same fibre, polish and pins mate, and light crosses.

    Rules ``ends_mate`` and ``polarity_crosses``: Type B pieces of the link, two jumpers and a leg, are odd in number.
    """
    back, connector = panel.back, fibre.both_ends[0].connector
    if back is not None:
        mates = {trunk.pinned, back.pinned} == {True, False} and far_ports(back, trunk.polarity) is not None
        return (trunk.fibre, trunk.connector) == (fibre.fibre, back.connector) and mates and not _dark(trunk, back)
    suits = not _has_many(connector) or (trunk.pinned is True and trunk.polarity == "B")
    return (trunk.fibre, trunk.connector) == (fibre.fibre, connector) and suits


def panel_goes(panel: Panel, connector: str) -> bool:
    """Whether jumpers with a connector go into a panel: into feed-through adapters whatever their polish."""
    if panel.back is not None:
        return panel.connector == connector and (panel.pinned is True or not _has_many(connector))
    return panel.connector == form_of(connector)


def far_ports(back: CassetteBack, leg: Polarity | None) -> tuple[int, ...] | None:
    """The port, from 1, to which each port of a cassette leads over a leg of a type, in such a cassette at its far end.

    Position j of m arrives at m + 1 - j of that port, so that with two jumpers alike light crosses; None: it does not.
    """
    if leg is None:
        return None
    arrived = [tuple(place if leg == "A" else back.fibres + 1 - place for place in port) for port in back.positions]
    number = {port[::-1]: at for at, port in enumerate(back.positions, start=1)}
    return tuple(number[port] for port in arrived) if number.keys() >= {*arrived} else None


def _dark(trunk: Trunk, back: CassetteBack) -> list[int]:
    """Positions of ports of a cassette at which a leg has no fibre, as far as that is known: eight in a row of twelve
    are the outer ones.
    """
    fibres, used = trunk.fibres // trunk.legs, {position for port in back.positions for position in port}
    lit = range(1, back.fibres + 1) if fibres >= back.fibres else OUTER if (fibres, back.fibres) == (8, 12) else ()
    return sorted(used - {*lit})


def alike(panels: Iterable[Panel]) -> list[list[Panel]]:
    """Panels any two of which may stand at the ends of a trunk: of one product, or whose keys are known to be alike;
    of cassettes those that differ in number alone.
    """

    def kind(panel: Panel) -> object:
        return (panel.keys or panel.id) if panel.back is None else (panel.back, panel.pinned, panel.loss_db)

    return list(grouped((kind(panel), panel) for panel in panels).values())


def crossings(pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel] = ()) -> int | None:
    """How often light crosses, less what panels of one product do in pairs; None where a type or keys are not known."""
    keys = [panel.keys for panel in _unpaired(panels)]
    if any(piece.polarity is None for piece in pieces) or None in keys:
        return None
    return sum(piece.polarity == "B" for piece in pieces) + keys.count("aligned")


def _unpaired(panels: Sequence[Panel]) -> list[Panel]:
    """Panels of products of which there is an odd number, one each: two of one product undo each other."""
    products = {panel.id: panel for panel in panels}
    return [panel for id_, panel in products.items() if sum(other.id == id_ for other in panels) % 2]


def mated(
    modules: tuple[Transceiver, Transceiver], pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel] = ()
) -> Mated:
    """Whether a channel works: between the pieces stand the panels, one less, and the modules at the ends.

    Plugs of one fibre (``LC-duplex``) have no pins and no type.
    """
    wrong, unknown = list[Mistake](), list[str]()
    for near, far in pairwise(_faces(modules, pieces, panels)):
        _meet(near, far, wrong, unknown)
    adapters = [panel for panel in panels if panel.back is None]
    for panel, (near_piece, far_piece) in zip(panels, pairwise(pieces), strict=True):
        for piece, end in ((near_piece, 1), (far_piece, 0)) if panel in adapters else ():
            form = form_of(_connector(piece, end))
            if form != form_of(panel.connector):
                wrong.append(
                    Mistake(panel.id, f"holds {panel.connector}, not the {form} of {piece.id}", f"a panel for {form}")
                )
    if len(adapters) < len(panels):
        _through_cassettes(pieces, panels, wrong, unknown)
    elif all(_has_many(_connector(piece, end)) for piece in pieces for end in (0, 1)):
        _cross(pieces, panels, wrong, unknown)
    return Mated(tuple(dict.fromkeys(wrong)), tuple(dict.fromkeys(unknown)))


def _through_cassettes(
    pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel], wrong: list[Mistake], unknown: list[str]
) -> None:
    """What is wrong where trunks lie between cassettes: these differ, or light does not cross to one port."""
    trunks = [(piece, panels[at - 1], panels[at]) for at, piece in enumerate(pieces) if isinstance(piece, Trunk)]
    for trunk, near, far in trunks:
        if near.back is None or near.back != far.back:
            wrong.append(Mistake(far.id, f"does not lead fibres as {near.id} does", f"one as {near.id}"))
        elif dark := _dark(trunk, near.back):
            places = ", ".join(map(str, dark))
            wrong.append(Mistake(trunk.id, f"has no fibre at {places}, where {near.id} has", "one with all fibres"))
        elif trunk.polarity is None:
            unknown.append(f"type of {trunk.id}")
        elif far_ports(near.back, trunk.polarity) is None:
            other = OTHER[trunk.polarity]
            why = f"leads ports of {near.id} to no port of it with light crossed"
            crosses = far_ports(near.back, other) is not None
            wrong.append(Mistake(trunk.id, why, f"the same of Type {other}" if crosses else "other cassettes"))


def _faces(
    modules: tuple[Transceiver, Transceiver], pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel]
) -> list[tuple[MatingPlug, MatingPlug]]:
    """Both plugs of all that stands in a row; of a module the one that is seen, of a panel those of its cassettes."""
    ends = [MatingPlug(module.id, plug_of(module.connector), True) for module in modules]
    inner = [(_plug(pieces[0], 0), _plug(pieces[0], 1))]
    for panel, piece in zip(panels, pieces[1:], strict=True):
        if panel.back is not None:
            front = MatingPlug(panel.id, panel.connector, panel.pinned)
            back = MatingPlug(panel.id, panel.back.connector, panel.back.pinned)
            inner.append((front, back) if isinstance(piece, Trunk) else (back, front))
        inner.append((_plug(piece, 0), _plug(piece, 1)))
    return [(ends[0], ends[0]), *inner, (ends[1], ends[1])]


def _plug(piece: Fibre | Trunk, end: int) -> MatingPlug:
    return MatingPlug(piece.id, plug_of(_connector(piece, end)), piece.pinned)


def _connector(piece: Fibre | Trunk, end: int) -> str:
    return piece.connector if isinstance(piece, Trunk) else piece.both_ends[end].connector


def _has_many(connector: str) -> bool:
    """Whether a plug has a row of fibres, and so pins and a type."""
    return plug_of(connector).startswith("MPO")


def _meet(
    before: tuple[MatingPlug, MatingPlug],
    after: tuple[MatingPlug, MatingPlug],
    wrong: list[Mistake],
    unknown: list[str],
) -> None:
    """What is wrong where the far plug of one meets the near plug of the next."""
    near, far = before[1], after[0]
    if form_of(near.connector) != form_of(far.connector):
        wrong.append(Mistake(far.piece, f"{far.connector} does not meet the {near.connector} of {near.piece}",
                             f"one with {near.connector}"))  # fmt: skip
    elif polish_of(near.connector) != polish_of(far.connector):
        polish = polish_of(near.connector)
        wrong.append(Mistake(far.piece, f"{far.connector} does not touch the {near.connector} of {near.piece}",
                             f"the same with polish {polish}"))  # fmt: skip
    elif _has_many(near.connector):
        if None in (near.pinned, far.pinned):
            unknown += [f"pins of {plug.piece}" for plug in (near, far) if plug.pinned is None]
        elif near.pinned == far.pinned:
            has, wants = ("pins on both sides", "without") if near.pinned else ("pins on neither side", "with")
            wrong.append(Mistake(far.piece, f"meets {near.piece}, {has}", f"the same {wants} pins"))


def _cross(pieces: Sequence[Fibre | Trunk], panels: Sequence[Panel], wrong: list[Mistake], unknown: list[str]) -> None:
    """What is wrong with how often light crosses: the piece of the rarer type, else the last, is of the other type."""
    times = crossings(pieces, panels)
    if times is None:
        unknown += [f"type of {piece.id}" for piece in pieces if piece.polarity is None]
        unknown += [f"keys of {panel.id}" for panel in _unpaired(panels) if panel.keys is None]
    elif times % 2 == 0:
        types = [piece.polarity for piece in pieces]
        piece = min(reversed(pieces), key=lambda one: types.count(one.polarity))
        assert piece.polarity is not None
        wrong.append(Mistake(piece.id, f"light crosses {times} times, and has to an odd number of times",
                             f"the same of Type {OTHER[piece.polarity]}"))  # fmt: skip
