"""How links of a device are spread over trunks and panels, counted over legs and ports as they are dealt."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabopt.units import ceil_div, some
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.structured import has_trunks
from fabopt.verify.wiring import CabledDesign
from fabopt.wiring.dealing import TrunkRoom
from fabopt.wiring.model import Ints
from fabopt.wiring.structured import PulledTrunk


class _Passing(NamedTuple):
    """A link through a trunk or panel: its device at the near end and its stage."""

    device: int
    stage: int
    piece: str


def _shares(numbers: Mapping[int, int], rooms: Mapping[str, int]) -> dict[tuple[int, str], int]:
    """Most links of each device in each of some pieces; ``numbers``: its links, ``rooms``: legs or ports."""
    whole, shares = sum(rooms.values()), dict[tuple[int, str], int]()
    for piece, room in rooms.items():
        parts = {device: ceil_div(number * room, whole) for device, number in numbers.items()}
        elsewhere = sum(max(1, numbers[device] - part) for device, part in parts.items() if numbers[device] > 1)
        for device, part in parts.items():
            fewer = numbers[device] > 1 and elsewhere <= whole - room
            shares[device, piece] = min(part, numbers[device] - fewer)
    return shares


def _are_spread(proof: Proof, names: Sequence[str], rooms: Mapping[str, TrunkRoom], passing: Sequence[_Passing]) -> int:
    """Hold that no piece has more than its share of the links of a device; return the most that one has.

    ``rooms``: of each piece. What an earlier stage has plugged in stays, so that a later
    one may go over the share where all other pieces are full, or have theirs.
    """
    first = min((link.stage for link in passing), default=0)
    for stage in sorted({link.stage for link in passing}):
        by_now = [link for link in passing if link.stage <= stage]
        there = {piece: number for piece, room in rooms.items() if (number := room.at(stage))}
        numbers, full = Counter(link.device for link in by_now), Counter(link.piece for link in by_now)
        on, shares = Counter((link.device, link.piece) for link in by_now), _shares(numbers, there)
        for device, piece in {(link.device, link.piece) for link in by_now if link.stage == stage}:
            number, share = on[device, piece], shares[device, piece]
            has_no_other = stage > first and all(
                full[other] >= room or on[device, other] >= shares[device, other]
                for other, room in there.items() if other != piece
            )  # fmt: skip
            told = f"{piece}: {some(number, 'link')} of {names[device]}, its share is {share}"
            proof.holds(number <= share or has_no_other, told)
    return max(Counter((link.device, link.piece) for link in passing).values(), default=0)


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def trunks_spread_leaves(proof: Proof, cabled: CabledDesign) -> None:
    """No trunk carries more than its share of the links of a device at their near end, so that its loss takes no more.

    Of u links of a device on a route: on a trunk <= ceil(u x its legs / legs of all trunks of the route), with D equal
    ones ceil(u / D), and < u > 1 where the others have legs for one of each device and all beyond shares; counted over
    the legs as they are dealt, stage by stage. Of legs between cassettes those in use count, each for its ports.
    Source: design file, ``structured``; catalog, ``legs``.
    """
    links, laid = cabled.wiring.links, cabled.laid
    routes: dict[tuple[str, ...], list[PulledTrunk]] = defaultdict(list)
    for trunk in laid.trunks:
        routes[trunk.fabric, trunk.kind, *trunk.racks].append(trunk)
    most = [0]
    for trunks in routes.values():
        passing = [_Passing(int(links.a[link]), int(links.stage[link]), trunk.name)
                   for trunk in trunks for leg in trunk.legs for _, link in leg.lit]  # fmt: skip
        rooms = {trunk.name: _room(trunk, links.stage) for trunk in trunks}
        most.append(_are_spread(proof, cabled.wiring.devices.name, rooms, passing))
    proof.note(f"{some(len(laid.trunks), 'trunk')}, no device has more than {some(max(most), 'link')} on one")


def _room(trunk: PulledTrunk, stages: Ints) -> TrunkRoom:
    """Room of a trunk for links: its legs; of several links each those in use, from the stage of its first link on."""
    if len(trunk.far_ports) == 1:
        return TrunkRoom(len(trunk.legs), trunk.stage)
    since_ = (min(int(stages[link]) for _, link in leg.lit) for leg in trunk.legs if leg.lit)
    return TrunkRoom(0, trunk.stage, tuple((stage, len(trunk.far_ports)) for stage in since_))


@since("0.3.0", "case.content.site.cabling")
@where(has_trunks)
def panels_spread_leaves(proof: Proof, cabled: CabledDesign) -> None:
    """No panel in the rack of a device has more than its share of its links up, so that its loss takes no more.

    As ``trunks_spread_leaves``, with the ports of a kind's panels in the rack; in the other rack too where all links of
    the device end in it. Legs between cassettes are spread in place of links, each as its first link. Source: design
    file, ``structured``; catalog, ``ports``.
    """
    links, laid = cabled.wiring.links, cabled.laid
    about, most = {panel.name: panel for panel in laid.panels}, [0]
    patched = cabled.patched
    far: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    for row, way in patched.items():
        far[way.trunk.fabric, way.trunk.kind, int(links.a[row])].add(about[way.far.panel].rack)
    passing: dict[tuple[str, str, str], list[_Passing]] = defaultdict(list)
    for row, way in ((row, way) for row, way in patched.items() if way.leg.lit[0][1] == row):
        device, stage = int(links.a[row]), int(links.stage[row])
        is_all = len(far[way.trunk.fabric, way.trunk.kind, device]) == 1
        for port in (way.near, way.far) if is_all else (way.near,):
            panel = about[port.panel]
            passing[panel.fabric, panel.kind, panel.rack].append(_Passing(device, stage, panel.name))
    for key, ways in passing.items():
        own = [panel for panel in laid.panels if (panel.fabric, panel.kind, panel.rack) == key]
        rooms = {panel.name: TrunkRoom(panel.legs, panel.stage) for panel in own}
        most.append(_are_spread(proof, cabled.wiring.devices.name, rooms, ways))
    unit = "leg" if any(panel.has_cassettes for panel in laid.panels) else "link"
    proof.note(f"{some(len(laid.panels), 'panel')}, no device has more than {some(max(most), unit)} on one")
