"""Neighbours that LLDP found, as text: of ``lldpctl``, and the tables of SONiC, Cumulus Linux and EOS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fabopt.errors import refusal
from fabopt.inspect.lldp_json import remote
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, cut_off

_KEY = re.compile(r"lldp\.(.+?)\.(via|chassis|port)(?:\.([\w.-]+))?=(.*)")
_ANY_KEY = re.compile(r"lldp\.[^=]+=.*")
_RULE = re.compile(r"\s*-[-\u2026 ]*")
_SPEED = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)G")
# What a shell writes below a table, as in `admin@leaf-1:~$`.
_PROMPT = re.compile(r"[\w.-]+@[\w.-]+(?::\S*)?[$#>]|[\w.-]+(?:\([^)]*\))?[#>]\s*$")
_TOTAL = re.compile(r"Total entries displayed:\s*(\d{1,15})\s*")
# Titles of the columns: port, neighbour, its port, and what else may name that.
_SONIC = ("LocalPort", "RemoteDevice", "RemotePortID", "RemotePortDescr")
_CUMULUS = ("Interface", "Remote Host", "Remote Port", "Speed")
_EOS = ("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL")
# Of blocks of `lldpctl`: the line that begins one, and its keys.
_BLOCK, _LINE = (
    re.compile(r"Interface:\s+(\S+?),.*"),
    re.compile(r"\s+(SysName|ChassisID|PortID|PortDescr|TTL):\s+(.*)"),
)


# -- keyvalue -------------------------------------------------------------------------------------------------------


def key_values(text: str, file: str, device: str) -> Discovery:
    """The neighbours of a device in text of ``lldpctl -f keyvalue``."""
    entries: list[tuple[str, dict[str, str]]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        match = _KEY.fullmatch(line)
        if match:
            port, section, key, value = match.groups()
            if not entries or section == "via" or entries[-1][0] != port:
                entries.append((port, {}))
            entries[-1][1][f"{section}.{key}"] = value.strip()
        elif line.startswith("lldp.") and not _ANY_KEY.fullmatch(line):
            if number == len(lines):
                raise cut_off(file, number, "its last line has no value")
            raise refusal(file, f"line {number}", "not a line of `lldpctl -f keyvalue`", line)
    sightings = [Sighting(SeenEnd(device, (port,)), _neighbour(values)) for port, values in entries]
    return Discovery(file, sightings, frozenset([device]), is_whole=False)


def _neighbour(values: dict[str, str]) -> SeenEnd:
    name = values.get("chassis.name") or values.get("chassis.mac") or values.get("chassis.local") or ""
    return remote(name, *(values.get(f"port.{key}", "") for key in ("ifname", "local", "ifalias", "mac", "descr")))


# -- blocks ---------------------------------------------------------------------------------------------------------


def blocks(text: str, file: str, device: str) -> Discovery:
    """The neighbours of a device in text of ``lldpctl``, also of ``nv show interface lldp-detail``."""
    entries: list[tuple[str, dict[str, str]]] = []
    lines = text.rstrip().splitlines()
    for line in lines:
        if begun := _BLOCK.fullmatch(line):
            entries.append((begun[1], {}))
        elif entries and (match := _LINE.fullmatch(line)):
            entries[-1][1].setdefault(match[1], match[2].strip())
    if not any(map(_RULE.fullmatch, lines[-1:])):
        raise cut_off(file, len(lines), "the last neighbour has no line of dashes below it")
    sightings = [Sighting(SeenEnd(device, (port,)), _in_block(values)) for port, values in entries]
    return Discovery(file, sightings, frozenset([device]), is_whole=False)


def _in_block(values: dict[str, str]) -> SeenEnd:
    """The far end; identities are written with their kind, as in ``mac 94:...``."""
    chassis, port = (values.get(key, "").partition(" ")[2].strip() for key in ("ChassisID", "PortID"))
    return remote(values.get("SysName", "") or chassis, port, values.get("PortDescr", ""))


# -- tables ---------------------------------------------------------------------------------------------------------


def table(text: str, file: str, device: str) -> Discovery:
    """The neighbours of a device in a table: of ``show lldp table`` of SONiC, ``nv show interface lldp`` of Cumulus
    Linux, or ``show lldp neighbors`` of EOS.
    """
    lines = text.splitlines()
    rule = next((row for row, line in enumerate(lines) if _is_rule(line)), 0)
    titles = _cells(lines[rule - 1], lines[rule]) if rule else []
    columns = next((columns for columns in (_SONIC, _EOS) if columns[0] in titles), _CUMULUS)
    missing = [title for title in columns[:3] if title not in titles]
    if missing:
        raise refusal(
            file,
            f"line {rule}",
            f"a table without {', '.join(missing)}",
            allowed=", or ".join(f"columns {', '.join(one[:3])}" for one in (_SONIC, _CUMULUS, _EOS)),
        )
    rows = list(_rows(lines, rule, titles, columns))
    is_whole = columns is not _SONIC or _has_all_rows(lines, file, len(rows))
    if not is_whole and not text.endswith("\n"):
        rows = rows[:-1]  # it may be cut off anywhere
    sightings = [
        Sighting(
            SeenEnd(device, (row[0],)),
            remote(row[1], row[2], row[3] if columns is _SONIC else ""),
            _gbps(row, columns),
        )
        for row in rows
    ]
    return Discovery(file, sightings, frozenset([device] if is_whole else ()), is_whole=False)


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line)) and len(line.split()) > 2


def _cells(line: str, rule: str) -> list[str]:
    """The cells of a line below the dashes of a rule; a longer cell reaches up to the next dashes."""
    starts = [match.start() for match in re.finditer(r"\S+", rule)]
    return [line[start:end].strip() for start, end in pairwise([*starts, max(len(line), len(rule)) + 1])]


def _rows(lines: Sequence[str], rule: int, titles: list[str], columns: Sequence[str]) -> Iterator[list[str]]:
    """The rows of a table with a port and a neighbour."""
    places = [titles.index(column) if column in titles else None for column in columns]
    for line in lines[rule + 1 :]:
        if _RULE.fullmatch(line) or _TOTAL.fullmatch(line) or _PROMPT.match(line):
            return
        cells = _cells(line.removeprefix("+ "), lines[rule])
        row = ["" if place is None else cells[place] for place in places]
        if row[0] and (row[1] or row[2]):
            yield row


def _gbps(row: Sequence[str], columns: Sequence[str]) -> float | None:
    match = _SPEED.fullmatch(row[3]) if columns is _CUMULUS else None
    return float(match[1]) if match else None


def _has_all_rows(lines: Sequence[str], file: str, rows: int) -> bool:
    """Whether a table is known to be complete, by its total of rows; else unlisted ports may not be dark.

    Raises ``InputError`` if the stated total differs from the rows.
    """
    totals = [int(match[1]) for match in map(_TOTAL.fullmatch, lines) if match]
    if totals and totals[-1] != rows:
        raise cut_off(file, len(lines), f"{totals[-1]} entries are said to be displayed, and {rows} are there")
    return bool(totals) or not any("Capability codes" in line for line in lines)
