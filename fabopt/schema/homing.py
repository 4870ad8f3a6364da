"""How the ports of a server lie on leaves: what a case asks for, and what a role asks for where a case says nothing."""

from __future__ import annotations

from typing import Final, Literal

# any     as ports come
# single  all ports that a server has in a plane are on one leaf
# dual    both ports that every NIC has in a plane are on two leaves
# pair    every server is on two switches at least, over all planes; on one tier a plane then has one switch or two
Homing = Literal["any", "single", "dual", "pair"]
PAIRED_ROLES: Final = ("storage", "in-band")


def asks_for_pair(role: str, homing: Homing | None) -> bool:
    """Whether the default rule of pairs is about a fabric: of such a role, and its case says nothing else."""
    return homing is None and role in PAIRED_ROLES


def is_usual(homing: object) -> bool:
    """Whether ports lie on leaves as they come, which is not written."""
    return homing == "any"
