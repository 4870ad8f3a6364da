"""How switches and hosts call their ports, and which of the plan's that is.

Cages count from 1, lanes from 0. Cumulus Linux says ``swp1s0``, InfiniBand counts over all cages. EOS says the first
signalling lane: the ports of a cage with eight that is split in two are ``Ethernet1/1`` and ``Ethernet1/5``. SONiC
counts lanes of the ASIC: ``Ethernet0`` is cage 1; where a cage is split, ``Ethernet4`` may be its second port. An
adapter of a host is ``mlx5_N``, from 0, or ``HCA-N``, from 1, in the order of its ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fabopt.inspect.planned import PlannedDevice

_CUMULUS = re.compile(r"swp(\d+)(?:s(\d+))?")
_SLASHED = re.compile(r"(?:Ethernet|Et)?(\d+)/(\d+)")
_NUMBERED = re.compile(r"(?:Ethernet|Et)(\d+)")
_ALIAS = re.compile(r"etp(\d+)([a-h])?")
_ADAPTER = re.compile(r"([a-z]+\d*)_(\d+)|HCA-(\d+)")
# A slash after the number of an InfiniBand adapter with two ports says which.
_TWIN = re.compile(r"(.+)/([12])")
# Lanes of the ASIC that a cage has by its form factor, where they are not eight.
_LANES = {"QSFP28": 4, "QSFP56": 4, "QSFP112": 4, "QSFP+": 4, "SFP28": 1, "SFP56": 1}
_ALL_LANES = 8


class PortNumbers(NamedTuple):
    """How a switch numbers its ports.

    ``first``, ``step``: the first number of SONiC, and by how many the cages are apart; a step of 0 where the number
    after ``Ethernet`` is that of the cage. ``signals``: lanes of a cage where the number after a slash is one of them,
    as EOS has it; 0 where it counts ports.
    """

    first: int
    step: int
    signals: int = 0


CAGES = PortNumbers(1, 0)


def numbering(names: Iterable[str], device: PlannedDevice, form_factor: str) -> PortNumbers:
    """How a switch numbers its ports, told by all names of ports that are seen of it."""
    texts = list(names)
    numbers = sorted({int(match[1]) for match in map(_NUMBERED.fullmatch, texts) if match})
    slashed = [match for match in map(_SLASHED.fullmatch, texts) if match]
    if slashed:
        signals = _LANES.get(form_factor, _ALL_LANES)
        ports = ((int(match[2]) - 1, _lanes_of_port(device, int(match[1]), signals)) for match in slashed)
        return CAGES._replace(signals=0 if any(lane % lanes for lane, lanes in ports) else signals)
    if not numbers:
        return CAGES
    step = _LANES.get(form_factor, _ALL_LANES)
    least = step // max(1, device.most_lanes) or 1
    firsts = [first for first in (0, 1) if all(number % least == first % least for number in numbers)]
    if not firsts or (least == 1 and numbers[-1] < len(device.lanes)):
        return CAGES
    if least == 1:
        return PortNumbers(0, step)
    return PortNumbers(firsts[0], step)


def switch_port(name: str, device: PlannedDevice, numbers: PortNumbers) -> str:
    """What the plan calls a port of a switch; empty where the name is none of a port with a cage."""
    if name in device.ports.values():
        return name
    if match := _CUMULUS.fullmatch(name):
        return device.name_of(int(match[1]), int(match[2] or 0)) if match[2] or not _is_split(device, match) else name
    if match := _ALIAS.fullmatch(name):
        return device.name_of(int(match[1]), ord(match[2] or "a") - ord("a"))
    if match := _SLASHED.fullmatch(name):
        lanes = _lanes_of_port(device, int(match[1]), numbers.signals) if numbers.signals else 1
        return device.name_of(int(match[1]), (int(match[2]) - 1) // lanes)
    if match := _NUMBERED.fullmatch(name):
        return _numbered(int(match[1]), device, numbers)
    return ""


def _lanes_of_port(device: PlannedDevice, cage: int, signals: int) -> int:
    """Signalling lanes of a port of a cage that has so many."""
    return max(1, signals // device.lanes.get(cage, device.most_lanes))


def _is_split(device: PlannedDevice, match: re.Match[str]) -> bool:
    return device.lanes.get(int(match[1]), 1) > 1


def _numbered(number: int, device: PlannedDevice, numbers: PortNumbers) -> str:
    if not numbers.step:
        return device.name_of(number, 0)
    cage, lane = divmod(number - numbers.first, numbers.step)
    split = device.lanes.get(cage + 1, device.most_lanes)
    return device.name_of(cage + 1, lane * split // numbers.step)


def infiniband_port(number: int, device: PlannedDevice) -> str:
    """What the plan calls a port of an InfiniBand switch that is counted over cages: twin cages have two each."""
    cage, lane = divmod(number - 1, device.most_lanes)
    return device.name_of(cage + 1, lane)


def adapter_of(name: str) -> tuple[str, int] | None:
    """Style and number, from 0, of an adapter's name: ``mlx5_3`` is 3, ``HCA-3`` is 2; None for another name.

    Of an adapter with two ports, ``mlx5_1/1`` is 2 and ``mlx5_1/2`` is 3.
    """
    twin = _TWIN.fullmatch(name)
    match = _ADAPTER.fullmatch(twin[1] if twin else name)
    if match is None:
        return None
    style, number = ("HCA", int(match[3]) - 1) if match[3] else (match[1], int(match[2]))
    return (f"{style}/", 2 * number + int(twin[2]) - 1) if twin else (style, number)


class HostPorts(NamedTuple):
    """Planned ports of a host in order: all those of a protocol, and those in the networks that files are of."""

    of_protocol: tuple[str, ...]
    of_networks: tuple[str, ...]


class AdapterOrder(NamedTuple):
    """Which port of a host each adapter is. ``ports``: by style of name and ports of the host, then by number."""

    ports: Mapping[tuple[str, HostPorts], Mapping[int, str]]

    def port(self, name: str, ports: HostPorts) -> str:
        """The port of a host that an adapter is; empty where that is not known."""
        adapter = adapter_of(name)
        return "" if adapter is None else self.ports.get((adapter[0], ports), {}).get(adapter[1], "")


def adapter_order(seen: Iterable[tuple[HostPorts, str]]) -> AdapterOrder:
    """The order of adapters by all that was seen, as pairs of a planned host's ports and the name of an adapter.

    Hosts with the same ports are taken to be alike. Where no number goes beyond the ports of the protocol they are the
    ports. Where as many numbers are seen as there are such ports, or ports in the networks that files are of, they are
    these in order. Else nothing is known of them.
    """
    numbers: dict[tuple[str, HostPorts], set[int]] = {}
    for ports, name in seen:
        adapter = adapter_of(name)
        if adapter is not None:
            numbers.setdefault((adapter[0], ports), set()).add(adapter[1])
    return AdapterOrder({key: _ordered(key[1], used) for key, used in numbers.items()})


def _ordered(ports: HostPorts, used: set[int]) -> dict[int, str]:
    if max(used) < len(ports.of_protocol):
        return {number: ports.of_protocol[number] for number in used}
    for order in ports:
        if len(order) == len(used):
            return dict(zip(sorted(used), order, strict=True))
    return {}
