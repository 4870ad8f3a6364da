"""Findings about a fabric as built: kind by kind, the repairs in walking order, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType, group
from rich.table import Table
from rich.text import Text

from fabopt.inspect.as_built import AsBuilt
from fabopt.inspect.findings import KINDS, Finding
from fabopt.inspect.planned import NO_PORT, PortName
from fabopt.inspect.repairs import Move
from fabopt.inspect.to_do import CHANGES, Change
from fabopt.output.export.as_built import Shown
from fabopt.output.terminal.summary import left_out
from fabopt.output.words import count, printable
from fabopt.units import some

# Lines of findings and of repairs that a terminal shows; files have all.
MOST_LINES = 60
MOVES = {"move": "move an end", "lay": "lay a cable", "remove": "take a cable away"}


@group()
def as_built_report(shown: Shown) -> Iterator[RenderableType]:
    """Findings, repairs, notes and the verdict."""
    result = shown.result
    if result.findings:
        yield Text("findings", style="bold")
        yield _findings(shown)
        yield from left_out(len(result.findings), MOST_LINES, "finding")
    if result.repairs:
        yield Text(f"repairs, in walking order: {moves_words(result)}", style="bold")
        yield _repairs(shown)
        yield from left_out(len(result.repairs), MOST_LINES, "move")
    if result.to_do or result.devices_to_do:
        yield Text(f"to do: {to_do_words(result)}", style="bold")
        yield _to_do(shown)
        rows = len(result.to_do or ()) + len(result.devices_to_do)
        yield from left_out(rows, MOST_LINES, "row", "--json and --html have all")
    yield from (Text(f"note: {printable(note)}") for note in result.notes)
    yield _verdict(shown)


def moves_words(result: AsBuilt) -> str:
    """Count of moves of a list of repairs, and the lists among which it is proven to be the shortest."""
    moves = some(len(result.repairs), "move")
    if not result.shares:
        return f"{moves}, and no fewer do"
    return f"{moves}; of lists that lay and take away as few cables none is shorter, splitters told by the plan"


def _findings(shown: Shown) -> Table:
    grid = Table.grid(padding=(0, 2))
    for finding in shown.result.findings[:MOST_LINES]:
        grid.add_row(finding.kind, printable(planned_words(finding)), printable(finding.detail))
    return grid


def planned_words(finding: Finding) -> str:
    """The ends of a finding: ``server-0001 nic1p1 - compute-leaf-001 1/1``."""
    return " - ".join(port_words(port) for port in (finding.a, finding.b) if port != NO_PORT)


def port_words(port: PortName) -> str:
    """``compute-leaf-001 1/1``; a device alone without its port."""
    return f"{port.device} {port.port}".strip()


def _repairs(shown: Shown) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("", "chain", "cable", "from", "to", "other end", style="dim")
    for number, move in enumerate(shown.result.repairs[:MOST_LINES], 1):
        grid.add_row(f"{number}.", str(move.chain), *map(printable, repair_words(shown, move)))
    return grid


def repair_words(shown: Shown, move: Move) -> tuple[str, str, str, str]:
    """The cable and kind of a repair, then its ports: from, to, and at the cable's other end."""
    what = f"{MOVES[move.move]}{f' of {move.cable}' if move.move == 'move' and move.cable else ''}"
    if move.move != "move" and move.cable:
        what = f"{what}: {move.cable}"
    stays = "" if move.stays == NO_PORT else placed_words(shown, move.stays)
    return what, placed_words(shown, move.source), placed_words(shown, move.target), stays


def placed_words(shown: Shown, port: PortName) -> str:
    """``A01 U12 compute-leaf-001 1/1``; without a floor plan only device and port."""
    rack, unit = shown.place(port)
    return f"{rack} U{unit} {port_words(port)}" if rack else port_words(port)


def to_do_words(result: AsBuilt) -> str:
    """``2 devices are new, 6 cables are new, 4 cables move``."""
    devices = Counter(device.change for device in result.devices_to_do)
    counts = [(devices[change], "device", change) for change in CHANGES if devices[change]]
    counts += [(number, "cable", change) for change, number in result.cables_to_do.items()]
    return ", ".join(f"{some(number, noun)} {_DOING[change][number != 1]}" for number, noun, change in counts)


_DOING: dict[Change, tuple[str, str]] = {
    "new": ("is new", "are new"),
    "moved": ("moves", "move"),
    "gone": ("goes", "go"),
}


def to_do_rows(shown: Shown) -> list[tuple[str, str, str, str]]:
    """Devices, then links: what becomes of it, part or cable, where it is to be, and where it was."""
    rows = [
        (device.change, device.part, [PortName(device.name, "")], [PortName(device.before, "")] * bool(device.before))
        for device in shown.result.devices_to_do
    ]
    rows += [
        (link.change, link.cable, [link.a, link.b], [port for port in link.before if port != NO_PORT])
        for link in shown.result.to_do or ()
    ]
    words = [
        (change, name, *(" - ".join(placed_words(shown, port) for port in ports) for ports in (there, before)))
        for change, name, there, before in rows
    ]
    return [
        (change, name, "", there) if change == "gone" else (change, name, there, was)
        for change, name, there, was in words
    ]


def _to_do(shown: Shown) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("", "what", "where it is to be", "where it was", style="dim")
    for row in to_do_rows(shown)[:MOST_LINES]:
        grid.add_row(*map(printable, row))
    return grid


def _verdict(shown: Shown) -> Text:
    result, name = shown.result, printable(shown.design.case.name)
    cables = f"{count(result.right)} of {some(result.planned, 'cable')} are as planned"
    if result.to_do or result.devices_to_do:
        cables = f"{cables}; to do: {to_do_words(result)}"
    if result.ok:
        return Text(f"{name}: {cables}", style="bold green")
    return Text(f"{name}: {cables}; {kinds_words(result.findings)}", style="bold red")


def kinds_words(findings: Sequence[Finding]) -> str:
    """``3 findings: 2 swapped, 1 missing``."""
    numbers = Counter(finding.kind for finding in findings)
    told = ", ".join(f"{count(numbers[kind])} {kind}" for kind in KINDS if numbers[kind])
    return f"{some(len(findings), 'finding')}: {told}"
