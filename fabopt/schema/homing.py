"""How the ports of a server lie on leaves, and what joins these: as a case asks, or a role where it says nothing."""

from __future__ import annotations

from typing import Final, Literal

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
