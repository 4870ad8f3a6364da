"""Sides of a comparison in words, for every output that shows one: verdict, rows, causes, lines of bills, cables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from textwrap import shorten
from typing import NamedTuple

from fabopt.inspect.differences.compare import IN_SERVICE, SERVERS, SPARES, STOCK, Against, BillChange, Contrast, Reason
from fabopt.inspect.differences.figures import GROUPS, Difference, Fact, Name
from fabopt.inspect.differences.sides import Compared, Ordered
from fabopt.output.statements import moving_line
from fabopt.output.terminal.workload import duration
from fabopt.output.words import (
    KIND_NAMES,
    count,
    dollars,
    gpus_in_servers,
    listed,
    measured,
    money,
    percent,
    plain,
    power,
    sentence,
    signed_money,
)
from fabopt.schema.design import Number
from fabopt.schema.in_service import Base
from fabopt.units import some, usd

LETTERS = "ABCD"
BETTER = "*"
NOT_KNOWN = "not stated"
WORDS: Mapping[str, Callable[[Number], str]] = {
    "usd": dollars,
    "w": power,
    "s": duration,
    "share": percent,
    "gbps": lambda gbps: f"{plain(gbps)} Gb/s",
    "ratio": lambda ratio: f"{plain(ratio)}:1",
    "weeks": lambda weeks: measured(weeks, "week"),
}
_POWER = Name("power and space", "", "power of the network")
_SPEEDS = ("to each GPU", "bisection per GPU", "all-to-all per GPU")
_LONGEST = 60


def cell(figure: Fact) -> str:
    """A figure with its unit."""
    value = figure.value
    if value is None:
        return NOT_KNOWN
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else shorten(value, _LONGEST, placeholder=" ...")
    if figure.unit == "fabric":
        return "not there" if value else "there"
    if figure.unit == "rule":
        return "left out" if value else "kept"
    return WORDS.get(figure.unit, plain)(value)


def marked(row: Difference, number: int) -> str:
    """A figure of a side, with a mark where that has the best."""
    return f"{cell(row.figures[number])}{f' {BETTER}' if number in row.better else ''}"


def name_of(name: Name) -> str:
    """A figure's name, with its fabric where there are several."""
    return f"{name.what} ({name.fabric})" if name.fabric else name.what


def grouped(contrast: Contrast) -> Iterator[tuple[str, list[Difference]]]:
    """The rows that differ, by group; those that none of the sides lacks."""
    for group in GROUPS:
        rows = [row for row in contrast.rows if row.name.group == group]
        if rows:
            yield group, rows


def names_of(contrast: Contrast) -> list[str]:
    """The sides as they were asked for, without their folders where that tells them apart."""
    names = [side.name for side in contrast.sides]
    files = [PurePath(name).name for name in names]
    return files if len({*files}) == len({*names}) else names


# -- the verdict ------------------------------------------------------------------------------------------------------


def verdict(contrast: Contrast) -> str:
    """What is lost, money, power and bandwidth of each side against the first, as a paragraph."""
    return " ".join(paragraphs(contrast))


def paragraphs(contrast: Contrast) -> list[str]:
    """The verdict on each side."""
    if contrast.is_equal:
        names = listed([f"{letter} ({name})" for letter, name in zip(LETTERS, names_of(contrast), strict=False)])
        return [f"{names} are equal: the same design, case, prices and bill."]
    first = names_of(contrast)[0]
    return [
        " ".join(map(sentence, _sentences(contrast, number, against, f"A ({first})" if number == 1 else "A")))
        for number, against in enumerate(contrast.against, 1)
    ]


def _sentences(contrast: Contrast, number: int, against: Against, first: str) -> Iterator[str]:
    who = f"{LETTERS[number]} ({names_of(contrast)[number]})"
    lost, gained = ([*_changes(contrast, number, sign)] for sign in (1, -1))
    if lost:
        yield f"with {who} this is lost against {first}: {listed(lost)}"
        who, first = LETTERS[number], "A"
    if notes := against.side.notes:
        yield f"{who} is not what was asked for: {notes[0]}{f', and {len(notes) - 1} more' if len(notes) > 1 else ''}"
        who = LETTERS[number]
    goes_on = against.side.goes_on_from(contrast.sides[0])
    yield f"{who} {_money(contrast.sides[0], against.side, first, goes_on)}"
    yield from _cabled(against) if goes_on else _beside(contrast.sides[0], against.side, LETTERS[number])
    if against.side.offer is None:
        yield f"it {_power(contrast, number)}; {_bandwidth(contrast, number)}"
    if goes_on:
        gained = [*_joining(contrast.sides[0], against.side), *gained]
    if gained:
        yield f"gained: {listed(gained)}"
    if keys := [row.name.what for row in contrast.rows if row.name.group == "case" and _differs(row, number)]:
        shown = [*keys[:3], *([f"{len(keys) - 3} more"] if len(keys) > 3 else [])]
        yield f"the cases differ in {listed(shown)}"


def _differs(row: Difference, number: int) -> bool:
    return row.figures[number].value != row.figures[0].value


def _changes(contrast: Contrast, number: int, sign: int) -> Iterator[str]:
    """What is lost (sign 1) or gained (sign -1) against the first side: fabrics, rules, devices that cut off."""
    for row in contrast.rows:
        old, new = row.figures[0].value, row.figures[number].value
        if row.name.group != "rules and failures" or not isinstance(old, int) or not isinstance(new, int):
            continue
        if (new - old) * sign > 0 and row.figures[0].unit == "rule":
            of = f" of {row.name.fabric}" if row.name.fabric else ""
            yield f"{row.name.what}{of} is {'left out' if sign > 0 else 'kept'}"
        elif (new - old) * sign > 0 and row.figures[0].unit == "fabric":
            yield f"{row.name.what} is {cell(row.figures[number])}"
        elif (new - old) * sign > 0 and row.figures[0].unit == "count":
            yield f"{row.name.what}: {count(new)} instead of {count(old)}"


def _beside(first: Compared, side: Compared, letter: str) -> Iterator[str]:
    """What money is beside, of sides that do not go on from the same; and the stage of A to ask for, if that is it."""
    bases = {"A": first.base, letter: side.base}
    for own, base in bases.items() if first.base != side.base else ():
        if base is not None:
            yield f"what {own} costs is beside what is in service ({base.file})"
    if isinstance(side.base, Base) and (number := side.stage_of(first)) is not None:
        stage = first.design.stages[number].name
        yield f"of A the stage {stage} is in service: with `{first.name.partition('@')[0]}@{stage}` for A all is told"


def _cabled(against: Against) -> Iterator[str]:
    """What becomes of the cables in service, and how long moving them takes."""
    sums = [sum(of) for of in zip(*(against.cables or {}).values(), strict=True)]
    if sums:
        stay, move, go, come = sums
        hours = moving_line(against.side.design)
        told = f"of {some(stay + move + go, 'cable')} {count(stay)} stay, {count(move)} move and {count(go)} go"
        yield f"{told}, and {count(come)} are new{f'; {hours}' if hours else ''}"


def _joining(first: Compared, side: Compared) -> Iterator[str]:
    """Servers and GPUs that join those in service."""
    before, after = first.stages[-1], side.stages[-1]
    if after.servers > before.servers:
        joining = some(after.servers - before.servers, "server")
        yield f"{joining} with {some(after.gpus - before.gpus, 'GPU')}"


def _money(first: Compared, side: Compared, name: str, goes_on: bool) -> str:
    more = side.cents - first.cents
    gpus = [compared.stages[-1].gpus if compared.stages else 0 for compared in (side, first)]
    size = "" if gpus[0] == gpus[1] else f", for {some(gpus[0], 'GPU')} against {count(gpus[1])}"
    if goes_on:
        return f"goes on from {name}: {dollars(usd(side.cents))} beside the {dollars(usd(first.cents))} spent{size}"
    if not more:
        return f"costs the same as {name} ({dollars(usd(side.cents))}){size}"
    share = f", {100 * more / first.cents:+,.1f} %" if first.cents else ""
    amount = f"{dollars(usd(abs(more)))} {'more' if more > 0 else 'less'}"
    return f"costs {amount} than {name} ({dollars(usd(side.cents))} against {dollars(usd(first.cents))}{share}){size}"


def _power(contrast: Contrast, number: int) -> str:
    row = next((row for row in contrast.rows if row.name == _POWER), None)
    old, new = (None, None) if row is None else (row.figures[0].value, row.figures[number].value)
    if not isinstance(old, int | float) or not isinstance(new, int | float) or old == new:
        return "draws the same power"
    amount = f"{power(abs(new - old))} {'more' if new > old else 'less'}"
    return f"draws {amount} ({power(new)} against {power(old)})"


def _bandwidth(contrast: Contrast, number: int) -> str:
    goes_on = contrast.sides[number].goes_on_from(contrast.sides[0])
    rows = (
        row
        for row in contrast.rows
        if row.name.group == "bandwidth" and (row.name.what in _SPEEDS or (goes_on and row.figures[0].unit == "ratio"))
    )
    told = [
        f"{cell(row.figures[number])} {name_of(row.name)} against {cell(row.figures[0])}"
        for row in rows
        if _differs(row, number) and None not in (row.figures[0].value, row.figures[number].value)
    ]
    return f"it gives {listed(told)}" if told else "bandwidth is the same"


# -- money, bills, cables ---------------------------------------------------------------------------------------------


def step_words(step: Reason) -> str:
    """The cause of a part of a difference in price."""
    if step.cause == "terms":
        return "terms: price breaks and surcharges"
    if step.cause == "case":
        words = {STOCK: "units from own stock", IN_SERVICE: "units in service", SPARES: "spares",
                 SERVERS: "servers that are counted"}  # fmt: skip
        return f"case: {words[step.what]} (key {step.what})"
    return f"{step.cause}: {KIND_NAMES.get(step.what, step.what)}"


def waterfall_rows(first: Compared, against: Against) -> Iterator[tuple[str, str]]:
    """The price of the first side, each cause, and the price of the other."""
    yield "A", money(usd(first.cents))
    yield from ((step_words(step), signed_money(usd(step.cents))) for step in against.steps)


class BillCells(NamedTuple):
    """A line of two bills in words."""

    what: str
    part: str
    before: str
    after: str
    more: str


def bill_cells(change: BillChange) -> BillCells:
    """``gone``, ``added``, ``more``, ``less`` or ``price``, the part, units and unit price of both sides."""
    old, new = change.before, change.after
    what = "added" if not _has(old) else "gone" if not _has(new) else "price"
    counts = (old.units, new.units) if old.units != new.units else (old.owned, new.owned)
    if what == "price" and counts[0] != counts[1]:
        what = "more" if counts[1] > counts[0] else "less"
    row = change.row
    length = "" if row.length_m is None else f", {plain(row.length_m)} m"
    more = signed_money(usd(new.cents - old.cents))
    return BillCells(what, f"{row.part_number or row.id}{length}", _units(old), _units(new), more)


def _has(bought: Ordered) -> bool:
    return bool(bought.units or bought.owned)


def _units(bought: Ordered) -> str:
    owned = ((bought.in_service, "in service"), (bought.from_stock, "in stock"))
    told = [f"{count(units)} {where}" for units, where in owned if units]
    if bought.units:
        told.insert(0, f"{count(bought.units)} at {money(round(bought.cents / bought.units) / 100)}")
    return " + ".join(told) or "-"


CABLE_TITLES = ("where", "stay", "move", "go", "come")


def cable_rows(against: Against) -> list[tuple[str, ...]]:
    """Cables by rack (by kind of links without a floor), the sum last."""
    if not against.cables:
        return []
    rows = [(place, *map(count, changes)) for place, changes in against.cables.items()]
    sums = (count(sum(numbers)) for numbers in zip(*against.cables.values(), strict=True))
    return [*rows, ("all", *sums)]


def moves_any(against: Against) -> bool:
    """Whether any cable does not stay; False where cables are not listed."""
    return any(changes.move or changes.go or changes.come for changes in (against.cables or {}).values())


def about(name: str, side: Compared) -> str:
    """A side, by its name, in a line: its case, stage, size and price."""
    stage = side.stages[-1] if side.stages else None
    size = f", {gpus_in_servers(stage)}" if stage is not None else ""
    at_stage = "" if stage is None or side.is_whole else f" as of {stage.name}"
    quoted = " as quoted" if side.offer is not None else ""
    return f"{name}: {side.design.case.name}{at_stage}{quoted}{size}, {dollars(usd(side.cents))}"
