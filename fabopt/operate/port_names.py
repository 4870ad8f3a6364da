"""What systems call the ports of a switch: by its cage from 1, the lane from 0, and the lanes of the cage.

Sources: SONiC's device folders (first port and step of each platform); for EOS, arista.com, EOS Layer 1 Profiles: a
cage shows an interface for each of its signalling lanes; for InfiniBand, ports are counted over all cages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from fabopt.parts.lanes import signal_lanes
from fabopt.schema.catalog import Switch
from fabopt.schema.operate import SonicPorts

# Letters of a name of an interface of Linux.
LONGEST = 15


class OwnName(NamedTuple):
    """What a system calls a port; ``alias``: how SONiC also does, empty where that is not known."""

    name: str
    alias: str = ""


Namer = Callable[[int, int, int], OwnName]


def cumulus(cage: int, lane: int, lanes: int) -> OwnName:
    """``swp1``, ``swp1s0``."""
    return OwnName(f"swp{cage}s{lane}" if lanes > 1 else f"swp{cage}")


def infiniband(most_lanes: int, cage: int, lane: int, lanes: int) -> OwnName:
    """Numbers over all cages: two to a cage where any cage of the switch has two."""
    return OwnName(str(most_lanes * (cage - 1) + lane + 1))


def sonic(ports: SonicPorts, cage: int, lane: int, lanes: int) -> OwnName:
    """``Ethernet8``; raises ``ValueError`` for a split that the step cannot number."""
    if ports.step % lanes:
        raise ValueError(f"SONiC cannot number {lanes} ports of a cage in steps of {ports.step}")
    name = f"Ethernet{ports.first + ports.step * (cage - 1) + lane * (ports.step // lanes)}"
    return OwnName(name, _sonic_alias(ports, cage, lane, lanes))


def _sonic_alias(ports: SonicPorts, cage: int, lane: int, lanes: int) -> str:
    """``etp1b``, counted on from the first cage's; empty where a platform's is not known."""
    known = re.fullmatch(r"(.*?)(\d+)", ports.alias or "")
    if known is None or (lanes > 1 and known[1] != "etp"):
        return ""
    return f"{known[1]}{int(known[2]) + cage - 1}{'abcdefgh'[lane] if lanes > 1 else ''}"


def eos(signal_lanes: dict[int, int], cage: int, lane: int, lanes: int) -> OwnName:
    """``Ethernet1/5``: the first signalling lane of the port. ``signal_lanes``: of each cage."""
    signals = signal_lanes[cage]
    if signals == 1:
        return OwnName(f"Ethernet{cage}")
    if signals % lanes:
        raise ValueError(f"EOS cannot number {lanes} ports of a cage with {signals} lanes")
    return OwnName(f"Ethernet{cage}/{1 + lane * (signals // lanes)}")


def tagged_port(system: str, name: str, vlan: int) -> str:
    """What a VRF has of a port: ``swp1.100``, ``Eth1000.1000`` of SONiC where the long form has too many letters."""
    tagged = f"{name}.{vlan}"
    return tagged.replace("Ethernet", "Eth") if system == "sonic" and len(tagged) > LONGEST else tagged


def namer_of(system: str, switch: Switch, most_lanes: int) -> Namer | None:
    """How a system names the ports of a switch; None where that is not known. ``most_lanes``: of its cages in use."""
    if system == "infiniband":
        return partial(infiniband, most_lanes)
    if system == "eos":
        return partial(eos, signal_lanes(switch))
    if system == "sonic":
        return partial(sonic, switch.sonic_ports) if switch.sonic_ports and len(switch.cages) == 1 else None
    return cumulus
