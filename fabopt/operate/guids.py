"""GUIDs of an InfiniBand fabric: made up from names until a discovery file has the real ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from fabopt.errors import InputError, fault
from fabopt.inspect.ibnetdiscover import discovered
from fabopt.inspect.sightings import SeenEnd
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, OperationPlan
from fabopt.units import some

# Locally administered, so that no vendor's GUID is like them; the digits after it are of the name's hash.
MADE_UP = "02fab0"
_DIGITS = 16 - len(MADE_UP)
_SHOWN = 3
# A switch by its name; an adapter of a host by its name and its port.
Node = tuple[str, str]
NOBODY = SeenEnd("")


def made_up(nodes: Iterable[Node]) -> dict[Node, str]:
    """A GUID of sixteen digits for each node, by its name alone: the same at every stage, no two alike."""
    guids: dict[Node, str] = {}
    taken: set[str] = set()
    for node in nodes:
        text = "\n".join(node)
        while (guid := MADE_UP + sha256(text.encode()).hexdigest()[:_DIGITS]) in taken:
            text += "+"
        taken.add(guid)
        guids[node] = guid
    return guids


def nodes_of(plan: OperationPlan, links: Sequence[NamedLink]) -> list[Node]:
    """The switches and adapters of links, adapters first."""
    ends = [end for link in links for end in (link.a, link.b)]
    hosts = [(plan.device_at[end.device].device, end.port) for end in ends if not _is_switch(plan, end.device)]
    switches = [(plan.device_at[end.device].device, "") for end in ends if _is_switch(plan, end.device)]
    return list(dict.fromkeys([*hosts, *switches]))


def _is_switch(plan: OperationPlan, row: int) -> bool:
    return plan.device_at[row].role in SWITCHES


def discovered_guids(plan: OperationPlan, links: Sequence[NamedLink], text: str, file: str) -> dict[Node, str]:
    """The GUIDs seen by ``ibnetdiscover``: of switches by their names, of adapters by the switch port at their far end.

    ``InputError`` for nodes that it did not see, and for ports joined to a host of another name.
    """
    switches, joined = _discovered_nodes(text, file)
    guids: dict[Node, str] = {}
    lacking, other = [], []
    for link in links:
        for end, far in ((link.a, link.b), (link.b, link.a)):
            device, peer = plan.device_at[end.device], plan.device_at[far.device]
            if device.role in SWITCHES:
                guid = next((switches[name] for name in _announced_names(device) if name in switches), None)
                port = ""
            else:
                seen = next(
                    (joined[name, far.name] for name in _announced_names(peer) if (name, far.name) in joined), NOBODY
                )
                guid, port = seen.guid or None, end.port
                if guid and seen.device.lower() not in _announced_names(device):
                    other.append(f"{seen.device} is where {device.name} is to be, at {peer.name} {far.name}")
            if guid is None:
                lacking.append(device.name)
            else:
                guids[device.device, port] = guid
    _require(file, list(dict.fromkeys(lacking)), other)
    return guids


def _announced_names(device: NamedDevice) -> tuple[str, str]:
    """The names by which a device may announce itself, in small letters."""
    return device.name.lower(), device.device.lower()


def _discovered_nodes(text: str, file: str) -> tuple[dict[str, str], dict[tuple[str, str], SeenEnd]]:
    """GUIDs of switches by name, and the far end of each of their ports; names in small letters."""
    switches: dict[str, str] = {}
    joined: dict[tuple[str, str], SeenEnd] = {}
    for sighting in discovered(text, file).sightings:
        for near, far in ((sighting.near, sighting.far), (sighting.far, sighting.near)):
            if near.number is not None:
                switches[near.device.lower()] = near.node
                joined[near.device.lower(), str(near.number)] = far
    return switches, joined


def _require(file: str, lacking: Sequence[str], other: Sequence[str]) -> None:
    faults = []
    if lacking:
        rest = len(lacking) - _SHOWN
        shown = ", ".join(lacking[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
        faults.append(fault(file, "", f"{some(len(lacking), 'device')} without a GUID there: {shown}",
                            hint="`fabopt as-built` says what is cabled otherwise"))  # fmt: skip
    faults += [fault(file, "", problem) for problem in other[:_SHOWN]]
    if faults:
        raise InputError(faults)
