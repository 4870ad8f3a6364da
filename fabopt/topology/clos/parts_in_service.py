"""Rule ``base_stays``: links in service keep their parts, also where those of one kind are of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from fabopt.problem.live import InService
from fabopt.schema.fabric_design import LinkRow
from fabopt.topology.candidate import Choice, Option, RowShare
from fabopt.units import grouped

# Links, cages at either end and parts of a unit, or of several.
Sizes = tuple[int, ...]


def with_parts_in_service(there: InService, choices: Sequence[Choice]) -> tuple[Choice, ...] | None:
    """Choices with the options that leave the parts in service where they are; None where one has none.

    Of links of several parts as many units are of each as in service; None too where it is open which of them share
    cages with new links.
    """
    kept: list[Choice] = []
    for numbers, alike in grouped((_rows_of(there, choice), choice) for choice in choices).items():
        rows = [there.fabric.links[number] for number in numbers]
        lots = grouped((_parts_of(row), row) for row in rows)
        own = [replace(choice, options=_options_of(there, choice, rows)) for choice in alike]
        dealt = own if len(lots) < 2 else _dealt(there, list(lots.values()), own)
        if not dealt:
            return None
        kept += dealt
    return tuple(kept) if all(choice.options for choice in kept) else None


def _rows_of(there: InService, choice: Choice) -> tuple[int, ...]:
    """Numbers of the rows of the file that links in service of a choice may be of: those with its ends and runs."""
    share = next(map(_live, choice.options), None)
    if share is None:
        return ()
    ends, runs = (share.near, share.far, share.attachment, share.scope), [*map(there.counted_m, share.runs_m or ())]
    if runs and share.stages:
        runs = [run for run, stage in zip(runs, share.stages, strict=True) if stage == 0]
    return tuple(
        number
        for number, row in enumerate(there.fabric.links)
        if (row.from_, row.to, row.attachment, row.scope) == ends and there.runs_of(row) == runs
        if row.stages is None or not set(row.stages).isdisjoint(there.stages)
    )


def _live(option: Option) -> RowShare | None:
    """What of an option is in service."""
    return next((row for row in option.rows if row.stage == 0 and row.links), None)


def _options_of(there: InService, choice: Choice, rows: Sequence[LinkRow]) -> tuple[Option, ...]:
    """Options whose parts in service are those of some row of the file, in their lengths; all if none are."""
    shares = ((option, _live(option)) for option in choice.options)
    return tuple(
        option for option, share in shares if share is None or any(_is_of(share, row, there.is_whole) for row in rows)
    )


def _is_of(share: RowShare, row: LinkRow, are_all: bool) -> bool:
    """Whether some parts are those of a row of the file; ``are_all``: whether all of the row is in service."""
    own, parts = frozenset((part.item.id, part.item.length_m, part.end) for part in share.parts), _parts_of(row)
    products = [{(part, end) for part, _, end in of_one} for of_one in (own, parts)]
    return own == parts if are_all else own <= parts and products[0] == products[1]


def _parts_of(row: LinkRow) -> frozenset[tuple[str, float | None, str | None]]:
    return frozenset((part.id, part.length_m, part.end) for part in row.parts)


# -- links of several parts -------------------------------------------------------------------------------------------


def _dealt(there: InService, lots: Sequence[Sequence[LinkRow]], choices: Sequence[Choice]) -> list[Choice]:
    """Choices with their units dealt to the parts in service, ``lots`` of rows of the file; none where it is open how.

    Cages with as many ports in service are alike. Those that new links share are of one lot, whatever may be dealt.
    """
    shares = [(choice, share) for choice in choices for share in map(_live, choice.options[:1]) if share is not None]
    kinds = sorted(grouped((share.links, choice) for choice, share in shares).values(), key=_units)
    own = [[[_options_of(there, choice, lot) for choice in alike] for lot in lots] for alike in kinds]
    sizes = [[_sizes(options[0][0]) if options[0] else () for options in of_kind] for of_kind in own]
    ways = list(islice(_ways([*map(_units, kinds)], sizes, [_sizes_of(lot) for lot in lots]), 2))
    share_cages = [any(map(_grows, alike)) for alike in kinds]
    dealt: list[Choice] = []
    for kind, counts in enumerate(zip(*ways[0], strict=True) if ways else ()):
        alike, parted = kinds[kind], [lot for lot, count in enumerate(counts) if count]
        if share_cages[kind] and (len(parted) > 1 or len(ways) > 1):
            return []
        for lot in parted:
            for choice, options in zip(alike, own[kind][lot], strict=True):
                units = counts[lot] if len(parted) > 1 else choice.count
                dealt.append(Choice((choice.key, "in service", lot), units, options))
    return dealt


def _units(choices: Sequence[Choice]) -> int:
    return sum(choice.count for choice in choices)


def _grows(choice: Choice) -> bool:
    """Whether new links come to cages in service."""
    return any(row.stage for option in choice.options for row in option.rows)


def _sizes(option: Option) -> Sizes:
    share = _live(option)
    assert share is not None
    return share.links, share.near_cages, share.far_cages, sum(part.quantity for part in share.parts)


def _sizes_of(rows: Sequence[LinkRow]) -> Sizes:
    of_rows = ((row.count, row.from_cages, row.to_cages, sum(part.quantity for part in row.parts)) for row in rows)
    return tuple(map(sum, zip(*of_rows, strict=True)))


def _ways(units: Sequence[int], sizes: Sequence[Sequence[Sizes]], wanted: Sequence[Sizes]) -> Iterator[list[list[int]]]:
    """Ways to deal units of each kind to lots, which ``wanted`` so much; ``sizes``: of a unit by kind and lot, if any.

    Shape (lots, kinds).
    """
    if not wanted:
        yield from [] if any(units) else [[]]
        return
    for taken in _taken(units, [of_kind[0] for of_kind in sizes], wanted[0]):
        left = [count - own for count, own in zip(units, taken, strict=True)]
        for rest in _ways(left, [of_kind[1:] for of_kind in sizes], wanted[1:]):
            yield [taken, *rest]


def _taken(units: Sequence[int], sizes: Sequence[Sizes], wanted: Sizes) -> Iterator[list[int]]:
    """Units of each kind whose sizes add up to what is wanted."""
    if not units:
        yield from [] if any(wanted) else [[]]
        return
    most = min((lack // size for lack, size in zip(wanted, sizes[0], strict=False) if size), default=0)
    most = min(most, units[0])
    for count in range(most, -1 if len(units) > 1 else most - 1, -1):
        left = tuple(lack - count * size for lack, size in zip(wanted, sizes[0] or (0,) * len(wanted), strict=True))
        for rest in _taken(units[1:], sizes[1:], left):
            yield [count, *rest]
