"""What ``ibtopodiff`` says of a fabric: the program that is given for what ``fabopt as-built`` does."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from fabopt.inspect.planned import PortName
from tests.samples.discoveries import Link, ib_number, is_switch, nic_of
from tests.samples.system_parts import require

# Debian's ibtopodiff writes one letter more than a buffer holds, which its own guard then ends it for.
GUARD = """
#include <stdarg.h>
#include <stdio.h>
int __sprintf_chk(char *text, int flag, size_t room, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int length = vsnprintf(text, room, format, rest);
  va_end(rest);
  return length;
}
"""
# One wording where both devices are the right ones, another where they are not.
_WRONG = re.compile(r"Mismatch: port:? ?(\S+) should be connected to:(\S+) but connects to:?(?: port:)? ?(\S+)")
_MISSING = re.compile(r"Missing cable between (\S+) and (\S+)")
_ALONE = re.compile(r"Topology Host CA (\S+)/U(\d+) does not appear")
_MATCHED = re.compile(r"[Mm]atched (\d+) (?:leaf|more) switches")


def compared(folder: Path, topo: Path, subnet: Path) -> str:
    """What ibtopodiff says of a topology and what OpenSM found."""
    require(["ibtopodiff", "cc"])
    (folder / "guard.c").write_text(GUARD)
    words = ["cc", "-shared", "-fPIC", "-fno-builtin", "-U_FORTIFY_SOURCE", "-o", "guard.so", "guard.c"]
    subprocess.run(words, cwd=folder, check=True)
    own = {**os.environ, "IBDM_IBNL_PATH": str(topo.parent / "ibnl"), "LD_PRELOAD": str(folder / "guard.so")}
    words = ["ibtopodiff", "-e", "-t", str(topo), "-d", str(subnet)]
    return subprocess.run(words, cwd=folder, env=own, capture_output=True, text=True, check=False).stdout


def named_ports(said: str) -> set[str]:
    """Ports that the program names: those of wrong and missing cables, and of adapters that are not found."""
    named = {port for match in _WRONG.finditer(said) for port in match.groups()}
    named |= {port for match in _MISSING.finditer(said) for port in match.groups()}
    return named | {f"{host}/P{adapter}" for host, adapter in _ALONE.findall(said)}


def matched_switches(said: str) -> int:
    """How many switches the program could tell apart."""
    return sum(map(int, _MATCHED.findall(said)))


def named(port: PortName) -> str:
    """A port as the program names it."""
    return f"{port.device}/P{ib_number(port) if is_switch(port) else nic_of(port) + 1}"


def subnet_text(links: Iterable[Link]) -> str:
    """Links as OpenSM lists them in ``opensm-subnet.lst``: both ends of each cable, a line each way."""
    numbers: dict[tuple[str, int], int] = {}

    def end(port: PortName) -> str:
        nic = 0 if is_switch(port) else nic_of(port) + 1
        lid = numbers.setdefault((port.device, nic), len(numbers) + 1)
        guid = 0x02FAB00000000000 + 16 * lid
        kind, ports, name = ("CA", 1, f"{port.device} HCA-{nic}") if nic else ("SW", 128, port.device)
        return (
            f"{{ {kind} Ports:{ports:02X} SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid + nic:016x} "
            f"VenID:0002C9 DevID:1021 Rev:000000A1 {{{name}}} LID:{lid:04X} PN:{ib_number(port):02X} }}"
        )

    pairs = (pair for link in links for pair in (link, link[::-1]))
    return "".join(f"{end(near)} {end(far)} PHY=4x LOG=ACT SPD=2.5\n" for near, far in pairs)
