"""How switches and hosts call their ports, and which of the plan's that is.

Cages count from 1, lanes from 0. Cumulus Linux says ``swp1s0``, EOS ``Ethernet1/1``, InfiniBand counts over all cages.
SONiC counts lanes of the ASIC: ``Ethernet0`` is cage 1; where a cage is split, ``Ethernet4`` may be its second port. An
adapter of a host is ``mlx5_N``, from 0, or ``HCA-N``, from 1, in the order of its ports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fabopt.inspect.planned import CablePlan, PlannedDevice

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


class SonicNumbers(NamedTuple):
    """How a switch with SONiC numbers its ports: the first, and by how many the cages are apart.

    ``step`` is 0 where the number after ``Ethernet`` is that of the cage, as EOS has it.
    """

    first: int
    step: int


CAGES = SonicNumbers(1, 0)


def numbering(names: Iterable[str], device: PlannedDevice, form_factor: str) -> SonicNumbers:
    """How a switch numbers its ports, told by all names of ports that are seen of it."""
    texts = list(names)
    numbers = sorted({int(match[1]) for match in map(_NUMBERED.fullmatch, texts) if match})
    if not numbers or any(_SLASHED.fullmatch(name) for name in texts if name.startswith("Et")):
        return CAGES
    step = _LANES.get(form_factor, _ALL_LANES)
    least = step // max(1, device.most_lanes) or 1
    firsts = [first for first in (0, 1) if all(number % least == first % least for number in numbers)]
    if not firsts or (least == 1 and numbers[-1] < len(device.lanes)):
        return CAGES
    if least == 1:
        return SonicNumbers(0, step)
    return SonicNumbers(firsts[0], step)


def switch_port(name: str, device: PlannedDevice, numbers: SonicNumbers) -> str:
    """What the plan calls a port of a switch; empty where the name is none of a port with a cage."""
    if name in device.ports.values():
        return name
    if match := _CUMULUS.fullmatch(name):
        return device.name_of(int(match[1]), int(match[2] or 0)) if match[2] or not _is_split(device, match) else name
    if match := _ALIAS.fullmatch(name):
        return device.name_of(int(match[1]), ord(match[2] or "a") - ord("a"))
    if match := _SLASHED.fullmatch(name):
        return device.name_of(int(match[1]), int(match[2]) - 1)
    if match := _NUMBERED.fullmatch(name):
        return _numbered(int(match[1]), device, numbers)
    return ""


def _is_split(device: PlannedDevice, match: re.Match[str]) -> bool:
    return device.lanes.get(int(match[1]), 1) > 1


def _numbered(number: int, device: PlannedDevice, numbers: SonicNumbers) -> str:
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


class AdapterOrder(NamedTuple):
    """Which port of a host each adapter is: numbers as they are, or by their place among all that were seen.

    ``ranks``: by style of name and ports of the host; a style that is not there says nothing.
    """

    ranks: Mapping[tuple[str, int], Mapping[int, int]]

    def port(self, name: str, ports: Sequence[str]) -> str:
        """The port of a host that an adapter is; empty where that is not known."""
        adapter = adapter_of(name)
        if adapter is None:
            return ""
        rank = self.ranks.get((adapter[0], len(ports)), {}).get(adapter[1])
        return "" if rank is None else ports[rank]


def adapter_order(
    seen: Iterable[tuple[str, str]], plan: CablePlan, ports_of: Callable[[str], Sequence[str]]
) -> AdapterOrder:
    """The order of adapters by all that was seen, as pairs of a planned host and the name of an adapter.

    Hosts with as many ports are taken to be alike. Where no number goes beyond the ports they are the ports; where as
    many numbers are seen as there are ports, they are the ports in order; else nothing is known of them.
    """
    numbers: dict[tuple[str, int], set[int]] = {}
    for host, name in seen:
        adapter = adapter_of(name)
        if adapter is not None and host in plan.devices:
            numbers.setdefault((adapter[0], len(ports_of(host))), set()).add(adapter[1])
    ranks: dict[tuple[str, int], dict[int, int]] = {}
    for (style, ports), used in numbers.items():
        if max(used) < ports:
            ranks[style, ports] = {number: number for number in used}
        elif len(used) == ports:
            ranks[style, ports] = {number: rank for rank, number in enumerate(sorted(used))}
    return AdapterOrder(ranks)
