"""Passive elements of a catalog: fibres, trunks that are pulled between racks, and the panels that they end in."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Count, Metres, Strict, Word, is_empty, is_open
from fabopt.schema.facts import Grade
from fabopt.schema.product import CableBody, OtherNumbers, PriceSource, Product, Protocol, Purchasable

# Types of TIA-568: light into position 1 of an end comes out at 1 of the other (A), or at the last one (B).
Polarity = Literal["A", "B"]
# How an adapter of a panel holds the keys of both plugs: on one side, so that position 1 meets the last, or opposed.
Keys = Literal["aligned", "opposed"]


class CableLength(Purchasable):
    """One length that is sold.

    Attributes:
        m: Length, in metres.
        part_number: Part number of this length.
        other_part_numbers: Other part numbers that order this length.
        source: Where its price comes from, where that is not `provenance.lengths`.
    """

    m: Metres
    part_number: Word | None = None
    other_part_numbers: OtherNumbers = ()
    source: Annotated[PriceSource | None, Field(exclude_if=is_open)] = None


Lengths = Annotated[tuple[CableLength, ...], Field(min_length=1)]


def check_lengths(lengths: tuple[CableLength, ...]) -> None:
    """No length is listed twice; else ``ValueError``."""
    if len({length.m for length in lengths}) != len(lengths):
        raise ValueError("a length is listed twice")


class FibreEnd(Strict):
    """One end of a fibre assembly.

    Attributes:
        connector: Kind of connector.
        count: Number of connectors.
    """

    connector: Word
    count: Count = 1


class Fibre(CableBody, Product, defer_build=False):
    """A passive element between ports: straight (``connectors``), a breakout or a shuffle (``ends`` with counts).

    A shuffle has n connectors at both ends, of n ports each: port i of connector j leads to port j of connector i.

    Attributes:
        fibre: Kind of fibre, such as `smf`, `om4`.
        connectors: Connectors of a straight one, at both ends.
        ends: Ends of a breakout; of a shuffle, with the same number of connectors at both.
        lengths: Lengths that are sold.
        loss_db: Loss of the connections inside it, in dB, beside those at the modules and that of the glass.
        grade: How well its plugs are made, which sets what they lose. Absent is not known.
        protocols: Protocols that it is used with. Empty is any.
        polarity: Type of a straight one of several fibres. Absent is not known.
        pinned: Whether its plugs have pins, and so go into those without. Absent is not known.
    """

    fibre: Word
    connectors: tuple[Word, Word] | None = None
    ends: tuple[FibreEnd, FibreEnd] | None = None
    lengths: Lengths
    loss_db: Annotated[float | None, Field(ge=0, le=100, exclude_if=is_open)] = None
    grade: Annotated[Grade | None, Field(exclude_if=is_open)] = None
    protocols: Annotated[tuple[Protocol, ...], Field(exclude_if=is_empty)] = ()
    polarity: Annotated[Polarity | None, Field(exclude_if=is_open)] = None
    pinned: Annotated[bool | None, Field(exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.connectors is None) == (self.ends is None):
            raise ValueError("give either `connectors: [A, B]` or `ends` with counts")
        near, far = (end.count for end in self.both_ends)
        if min(near, far) != 1 and near != far:
            raise ValueError(
                f"`ends` with {near} and {far} connectors: a shuffle has the same `count` at both, a breakout 1 at one"
            )
        check_lengths(self.lengths)
        return self

    @property
    def both_ends(self) -> tuple[FibreEnd, FibreEnd]:
        """The two ends with their counts: both written forms as one."""
        if self.ends is not None:
            return self.ends
        assert self.connectors is not None
        near, far = self.connectors
        return FibreEnd(connector=near), FibreEnd(connector=far)

    @property
    def is_straight(self) -> bool:
        """Whether it has one connector at each end, both of one kind."""
        near, far = self.both_ends
        return near == far and near.count == 1

    @property
    def crosses(self) -> int:
        """n of a shuffle: its connectors at each end; 1 of any other."""
        return min(end.count for end in self.both_ends)


class Trunk(CableBody, Product, defer_build=False):
    """A cable of many fibres between the panels of two racks, with equal connectors at both ends: its legs.

    Attributes:
        fibre: Kind of fibre, such as `smf`, `om4`.
        connector: Connector of a leg, at both ends, such as `MPO-12-APC`.
        legs: Connectors at each end; a link takes one, or several together.
        fibres: Fibres of all legs.
        lengths: Lengths that are sold.
        grade: How well its plugs are made, which sets what they lose. Absent is not known.
        polarity: Type of each leg. Absent is not known.
        pinned: Whether its plugs have pins, as those behind a panel do. Absent is not known.
    """

    fibre: Word
    connector: Word
    legs: Count
    fibres: Count
    lengths: Lengths
    grade: Grade | None = None
    polarity: Polarity | None = None
    pinned: bool | None = None

    @model_validator(mode="after")
    def _legs_are_alike(self) -> Self:
        if self.fibres % self.legs:
            raise ValueError(f"`fibres` {self.fibres} do not spread evenly over {self.legs} `legs`")
        check_lengths(self.lengths)
        return self


class CassetteBack(Strict):
    """What is behind the front ports of a cassette: the connector of a leg, whose fibres they share.

    Attributes:
        connector: Connector of a leg behind it, such as `MPO-12-APC`.
        pinned: Whether its plugs have pins, and so go into legs without. Absent is not known.
        positions: Of each port in front the positions of a leg that it has, in the order of its own; adapters included.
    """

    connector: Word
    pinned: bool | None = None
    positions: Annotated[tuple[tuple[Count, ...], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _positions_are_apart(self) -> Self:
        taken, sizes = [place for port in self.positions for place in port], {len(port) for port in self.positions}
        twice = sorted({place for place in taken if taken.count(place) > 1})
        if twice:
            raise ValueError(f"`positions` has {', '.join(map(str, twice))} twice: give each to one port")
        if len(sizes) > 1 or not taken:
            told = " and ".join(map(str, sorted(sizes)))
            raise ValueError(f"ports in `positions` have {told} positions: give as many to each, one at least")
        if max(taken) > self.fibres:
            raise ValueError(f"`positions` has {max(taken)}, and `{self.connector}` has positions up to {self.fibres}")
        return self

    @property
    def fibres(self) -> int:
        """Positions of its connector: 12 of ``MPO-12-APC``; as many as it has ports for where the name says none."""
        said = next((int(word) for word in self.connector.split("-") if word.isdigit()), 0)
        return said or max(position for port in self.positions for position in port)


def _positions_of(connector: str) -> tuple[int, ...]:
    """How many positions of a leg a port with a connector may have; empty where its name does not say."""
    form, *more = connector.split("-")
    if form != "MPO":
        return (2,) if "duplex" in more else ()
    said = next((int(word) for word in more if word.isdigit()), None)
    return () if said is None else (8, 12) if said == 12 else (said,)


class Panel(Product, Purchasable, defer_build=False):
    """A panel of feed-through adapters, a trunk's leg behind and a jumper in front of each; or of cassettes, which lead
    a leg to several ports in front.

    Attributes:
        connector: Form of its adapters, without a polish: `MPO-12`; of cassettes the connector in front as jumpers have
            it.
        ports: Adapters in front, with those of all the modules that it is sold with.
        rack_units: Height in rack units.
        keys: How its adapters hold the keys of both plugs. Absent is not known; not of cassettes.
        back: What is behind the ports of cassettes. Absent of feed-through adapters.
        pinned: Whether plugs in front of cassettes have pins, and so take jumpers without. Absent is not known.
        loss_db: What its maker says that a cassette loses at most, in dB. Absent, its pairs of plugs are counted.
    """

    connector: Word
    ports: Count
    rack_units: Annotated[float, Field(gt=0, le=1000)] = 1
    keys: Keys | None = None
    back: Annotated[CassetteBack | None, Field(exclude_if=is_open)] = None
    pinned: Annotated[bool | None, Field(exclude_if=is_open)] = None
    loss_db: Annotated[float | None, Field(ge=0, le=100, exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _cassettes_are_whole(self) -> Self:
        if self.back is None and (self.pinned, self.loss_db) != (None, None):
            raise ValueError("`pinned` and `loss_db` are of cassettes: give `back`")
        if self.back is not None and self.keys is not None:
            raise ValueError("cassettes have no `keys`: `back.positions` says where light goes, adapters included")
        if self.back is not None:
            given, fit = len(self.back.positions[0]), _positions_of(self.connector)
            if fit and given not in fit:
                told = " or ".join(map(str, fit))
                raise ValueError(f"`back.positions`: a port with `{self.connector}` has {told} positions, not {given}")
        if self.ports % self.links_per_leg:
            raise ValueError(
                f"`ports` {self.ports} are not those of whole cassettes: give a multiple of {self.links_per_leg}, the "
                "ports in `back.positions`"
            )
        return self

    @property
    def links_per_leg(self) -> int:
        """Ports in front of a leg."""
        return 1 if self.back is None else len(self.back.positions)

    @property
    def legs(self) -> int:
        """Legs that it has room for behind."""
        return self.ports // self.links_per_leg
