"""What a fabric must survive: the default rule of its role, losses that the case names, or none.

How the ports of a server lie on leaves, and what joins these: as a case asks, or a role where it says nothing.
"""

import re
from typing import Annotated, Final, Literal, NamedTuple, Self, cast

from pydantic import AfterValidator, model_validator

from fabopt.rules.defaults import (
    MOST_ON_ONE_SWITCH,
    PAIR,
    PAIRING,
    RACK_SPREAD,
    REDUNDANCY,
    TWO_LEAVES,
    TWO_SWITCHES,
    YIELDING,
    Rules,
    is_asked_for,
    is_kept,
)
from fabopt.schema.base import Gbps, Strict

# any     as ports come
# single  all ports that a server has in a plane are on one leaf
# dual    both ports that every NIC has in a plane are on two leaves
# pair    every server is on two switches at least, over all planes; on one tier a plane then has one switch or two
Homing = Literal["any", "single", "dual", "pair"]
PAIRED_ROLES: Final = ("storage", "in-band")
# peer-link    the two leaves of a pair are joined by links of their own (MLAG)
# multihoming  no link joins them: both run EVPN multihoming
# none         nothing is asked of them
Pairing = Literal["peer-link", "multihoming", "none"]
PEER_LINK: Final = "peer-link"
MULTIHOMING: Final = "multihoming"
UNJOINED: Final = "none"
# What a switch that can be in such a pair has among its ``features``.
FEATURE_OF_PAIRING: Final = {PEER_LINK: "mlag", MULTIHOMING: "evpn-multihoming"}
# Cables of a peer link.
CABLES_OF_PEER_LINK: Final = 2


def asks_for_pair(role: str, homing: Homing | None) -> bool:
    """Whether the default rule of pairs is about a fabric: of such a role, and its case says nothing else."""
    return homing is None and role in PAIRED_ROLES


def may_be_pairs(role: str, homing: Homing | None) -> bool:
    """Whether two switches that no link joins may be all of a fabric: each of its servers is on both."""
    return role in PAIRED_ROLES and homing in (None, "any")


def in_pairs(role: str, homing: Homing | None) -> bool:
    """Whether pairs of ports may carry what a GPU must get together, since every server is, or may be, on two
    switches.
    """
    return homing in ("dual", "pair") or may_be_pairs(role, homing)


def asks_for_pairing(role: str, homing: Homing | None, pairing: Pairing | None) -> bool:
    """Whether the default rule of pairing is about a fabric: in-band, on pairs, and its case says nothing else."""
    return pairing is None and role == "in-band" and homing in (None, "pair", "dual")


def check_pairs(homing: Homing | None, pairing: Pairing | None) -> None:
    """Raise ``ValueError`` where a case joins pairs of leaves and puts servers on no such pairs."""
    if pairing in FEATURE_OF_PAIRING and homing in ("any", "single"):
        raise ValueError(
            f"`pairing: {pairing}` joins the two leaves of every server, and `homing` is {homing}: write "
            "`homing: pair` or `dual`, or leave it out"
        )


# What is lost with a rack of a floor, and with one of the feeds of power of all racks.
FromOutside = Literal["rack", "feed"]
Failing = Literal["leaf", "spine", "core", "plane", "cable", "switch"]
Surviving = Failing | FromOutside
# The same, and a server of those that are joined to each other.
Failed = Literal["leaf", "spine", "core", "plane", "cable", "switch", "server", "rack", "feed"]
RACK: Final = "rack"
FEED: Final = "feed"
SURVIVED = re.compile(r"([1-9][0-9]{0,3}) (leaf|leaves|spines?|cores?|planes?|cables?|switch|switches)")
PLURALS: dict[str, Failing] = {"leaves": "leaf", "switches": "switch", "spines": "spine", "cores": "core",
                               "planes": "plane", "cables": "cable"}  # fmt: skip
# Racks and feeds are lost one at a time.
FROM_OUTSIDE = re.compile(r"([0-9]{1,9}) (rack|feed)s?")
DEFAULT_RULE: Final = "default"
NO_RULE: Final = "none"


def _check_survived(text: str) -> str:
    outside = FROM_OUTSIDE.fullmatch(text)
    if outside is not None and outside[1] != "1":
        raise ValueError(f"{outside[2]}s are lost one at a time: write `1 {outside[2]}`")
    if outside is None and SURVIVED.fullmatch(text) is None:
        kinds = "leaf, spine, core, plane, cable, switch, rack or feed"
        raise ValueError(f"write a number and what fails, as in `1 leaf`: {kinds}")
    return text


class Resilience(Strict):
    """What must be left for each GPU when devices or links of one kind fail at the worst places.

    Attributes:
        survive: What fails, a number and a kind, as `1 leaf`, `2 spines`, `1 rack` or `1 feed`.
        min_gbps_per_gpu: Bandwidth that each GPU must still get, in Gb/s; of `1 feed`, which takes nothing, it may be
            left out.
    """

    survive: Annotated[str, AfterValidator(_check_survived)]
    min_gbps_per_gpu: Gbps | None = None

    @model_validator(mode="after")
    def _bandwidth_is_said(self) -> Self:
        if self.min_gbps_per_gpu is None and self.failures[0] != FEED:
            raise ValueError("`min_gbps_per_gpu` is missing: what each GPU must have left")
        return self

    @property
    def failures(self) -> tuple[Surviving, int]:
        """What fails, and how many."""
        number, name = self.survive.split()
        kind = PLURALS.get(name, name.removesuffix("s"))
        return cast(Surviving, kind), int(number)

    @property
    def least_gbps(self) -> float:
        """The least per GPU that must be left, in Gb/s; 0 where that is not said."""
        return self.min_gbps_per_gpu or 0.0


Default = Literal["default"]
AnyResilience = Default | Literal["none"] | Resilience | tuple[Default | Resilience, ...]


def _said(resilience: AnyResilience | None) -> tuple[str | Resilience, ...]:
    return () if resilience is None else resilience if isinstance(resilience, tuple) else (resilience,)


def losses_of(resilience: AnyResilience | None) -> tuple[Resilience, ...]:
    """The losses that it names."""
    return tuple(one for one in _said(resilience) if isinstance(one, Resilience))


def survives_loss_of(resilience: AnyResilience | None, what: FromOutside) -> bool:
    """Whether it asks that the loss of a rack, or of a feed, be survived."""
    return any(one.failures[0] == what for one in losses_of(resilience))


def keeps_default(resilience: AnyResilience | None) -> bool:
    """Whether the default rule of the role is part of it."""
    return DEFAULT_RULE in _said(resilience)


class Homed(NamedTuple):
    """What a case says of a fabric that parts of the default rule follow from; ``gpus``: of all servers at last;
    ``carries_pairs``: whether what it carries for others is on pairs of switches by default.
    """

    role: str
    homing: Homing | None
    pairing: Pairing | None
    gpus: int
    carries_pairs: bool = False


def redundancy_of(asked: Homed) -> tuple[str, ...]:
    """The names of the parts that the default rule has for a fabric."""
    role, homing, pairing, gpus, carries_pairs = asked
    has = {
        TWO_LEAVES: role in PAIRED_ROLES,
        PAIR: carries_pairs or asks_for_pair(role, homing),
        TWO_SWITCHES: role == "compute" and gpus > MOST_ON_ONE_SWITCH,
        PAIRING: asks_for_pairing(role, homing, pairing),
    }
    return tuple(rule for rule in REDUNDANCY if has.get(rule, True))


def redundancy_kept(rules: Rules, resilience: AnyResilience | None, asked: Homed) -> tuple[str, ...]:
    """The parts of the default rule of resilience that hold for a fabric: as ``rules`` say, else as ``resilience``."""
    by_name = {} if isinstance(rules, str) else rules
    by_default = dict.fromkeys(redundancy_of(asked), keeps_default(resilience))
    if asked.carries_pairs:  # by the words of what it carries
        by_default[PAIR] = True
    return tuple(rule for rule, kept in by_default.items() if by_name.get(rule, kept))


def rules_of_fabric(rules: Rules, resilience: AnyResilience | None, asked: Homed) -> tuple[str, ...]:
    """Rules that hold for a fabric of a role and may be left out; and parts of that of resilience, even if they are
    asked for by name. Others that are asked for are part of its space.
    """
    others = (rule for rule in YIELDING if rule not in (RACK_SPREAD, *REDUNDANCY))
    may_yield = (rule for rule in others if is_kept(rules, rule) and not is_asked_for(rules, rule))
    return (*redundancy_kept(rules, resilience, asked), *may_yield)
