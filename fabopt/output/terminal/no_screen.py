"""The screen of a case without a design, in 15 lines: the limit, the nearest design, levers, and what to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from rich.console import RenderableType

from fabopt.io.design import design_in
from fabopt.io.keys import value_at
from fabopt.output.terminal.answer import BUDGET, conflict_quantity, infeasible_lines
from fabopt.output.terminal.comparison import LOST_WITH, named
from fabopt.output.terminal.first_screen import (
    LEFT_OUT,
    LETTERS,
    LOST,
    MOST_NAMED,
    ScreenRow,
    grid,
    labelled,
    network_words,
    short,
)
from fabopt.output.words import Number, dollars, limit_name, listed, measured, plain, power
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.conflict import WOULD_HELP
from fabopt.schema.design import Conflict, Design, Needed
from fabopt.schema.labour import LABOUR
from fabopt.units import some

MOST_LINES, MOST_LEVERS = 15, 5
# Letters of a row, and of the longest.
MOST_LETTERS, MOST_OF_WHY = 3 * LETTERS, 6 * LETTERS
_SPENDING = {"budget_usd": "the budget", "power_w": "the limit of power", "rack_units": "the limit of rack units"}
_USED = {"budget_usd": "capex_usd", "power_w": "power_w", "rack_units": "rack_units"}
_RULES, _CATALOG = "rules.", "catalog."
# Limits of a whole floor, such as how many racks it has free: no line of a case says them.
_WHOLE = ("site.floor", "site.halls[*]")


def no_screen(design: Design) -> RenderableType:
    """All that is below the sentence that there is no design."""
    return grid(no_rows(design))


def no_rows(design: Design) -> list[ScreenRow]:
    """The rows: a limit on spending that would do is what to write alone; of other levers there are as many as fit."""
    if design.status == "unknown":
        return list(labelled("Open", map(short, _open(design))))
    before = [*_limit(design), *_nearest(design)]
    after = [*_paste(design), *_unfinished(design)]
    changes = ordered(design)
    is_pasted = bool(changes) and _is_spending(changes[0].limit)
    others, label = (changes[1:], "Or") if is_pasted else (changes, "Change")
    levers = list(labelled(label, (lever_words(design, conflict) for conflict in others[:MOST_LEVERS])))
    while len(levers) > 1 and sum(map(_lines, [*before, *levers, *after])) >= MOST_LINES:
        levers.pop()
    return [*before, *levers, *after]


def _lines(row: ScreenRow) -> int:
    """Lines that a row takes at 100 columns, at most."""
    return -(-len(row.words) // LETTERS)


def _open(design: Design) -> list[str]:
    """What was found of a case for which neither a design nor the proof that there is none was found."""
    return [line.strip() for line in infeasible_lines(design)[1:]][:MOST_LEVERS] or list(design.notes[-2:])


def _is_spending(limit: str) -> bool:
    return "limits." in limit and limit.rpartition(".")[2] in _SPENDING


def ordered(design: Design) -> list[Conflict]:
    """The changes that each give a design: of limits on spending first, which take nothing away, then by price."""
    levers = [one for one in design.conflicts if one.needed is not None and one.limit not in _WHOLE]
    return sorted(levers, key=lambda conflict: (not _is_spending(conflict.limit), _price(conflict) or inf))


def _price(conflict: Conflict) -> float | None:
    """The cost of the design that a change gives, in US dollars; None where it is not known."""
    price = conflict.needed if conflict.limit == BUDGET and not conflict.together else conflict.capex_usd
    return price if isinstance(price, int | float) else None


def _limit(design: Design) -> Iterator[ScreenRow]:
    """The limits that cannot be met: those on spending where there are such, else all that clash."""
    lacking = [conflict for conflict in design.conflicts if conflict.limit.startswith(_CATALOG)]
    others = [conflict for conflict in design.conflicts if conflict not in lacking]
    stated = [conflict for conflict in others if conflict.limit != NO_SINGLE_LIMIT]
    spending = [conflict for conflict in stated if _is_spending(conflict.limit)]
    if spending:
        limits = [needed.limit for one in spending for needed in one.together] or [spending[0].limit]
        values = list(_values(design, limits))
        yield ScreenRow("Not met", listed(values), LOST)
        return
    if stated:
        keys = dict.fromkeys(needed.limit for one in stated for needed in changes_of(one))
        together = "together: " if len(keys) > 1 else ""
        shown = [limit_name(key) + ("" if key in _WHOLE else f" {_value_of(design, key)}") for key in keys]
        yield ScreenRow("Not met", short(together + "; ".join(shown)), LOST)
    parts = next((conflict.detail.split("; ") for conflict in others if conflict.detail), [])
    begin = next((number for number, part in enumerate(parts) if part.startswith("fabric ")), 0)
    is_below = bool(ordered(design))
    why = "; ".join(part for part in parts[begin:] if not (is_below and part.startswith(WOULD_HELP)))
    if why:
        yield ScreenRow("Why", named(design, short(why, MOST_OF_WHY)))
    yield from labelled("Missing", (named(design, short(conflict.detail)) for conflict in lacking if conflict.detail))


def changes_of(conflict: Conflict) -> tuple[Needed, ...]:
    """The changes that a conflict asks for: of its limit alone, or of several."""
    return conflict.together or (Needed(limit=conflict.limit, needed=conflict.needed),)


def _values(design: Design, keys: Sequence[str]) -> Iterator[str]:
    """Limits on spending with their values: ``a budget of $1,500,000``."""
    words = {"budget_usd": "a budget of", "power_w": "power of", "rack_units": "rack units:"}
    for key in dict.fromkeys(keys):
        where = key.removesuffix(f"limits.{key.rpartition('.')[2]}").removeprefix("stages.").strip(".")
        noun = words.get(key.rpartition(".")[2], key)
        yield f"{noun} {_value_of(design, key)}{f' at stage {where}' if where else ''}"


def _value_of(design: Design, key: str) -> str:
    """The value of a key of the case in words."""
    return conflict_quantity(key, _stated(design, key))


def _stated(design: Design, key: str) -> int | float | str | None:
    """The value of a key in the case, as its conflict says it; of limits as the case has it."""
    stated = next((one.value for one in design.conflicts if one.limit == key), None)
    return value_at(design.case.content, key) if stated is None else stated


# -- the nearest design -----------------------------------------------------------------------------------------------


def _nearest(design: Design) -> Iterator[ScreenRow]:
    """The cheapest design that keeps every rule, and by how much it is over each limit."""
    nearest = design.nearest
    if nearest is None:
        return
    words = [dollars(nearest.capex_usd), power(nearest.power_w), measured(nearest.rack_units, "rack unit")]
    whole = None if nearest.design is None else design_in(nearest.design, "nearest.design")
    texts = [nearest.summary] if whole is None else ["; ".join(network_words(whole, most)) for most in (MOST_NAMED, 0)]
    what = next((f": {text}" for text in texts if len(text) <= MOST_LETTERS), "")
    labour = 0 if whole is None else round(sum(row.total_usd for row in whole.bom if row.id.startswith(LABOUR)), 2)
    yield ScreenRow("Cheapest", f"{', '.join([*words, *_over(design, labour)])}; all else as asked{what}")


def _over(design: Design, labour_usd: Number) -> Iterator[str]:
    """By how much the nearest design, with its labour, exceeds each limit of the case: ``$1 over the budget``."""
    limits = design.case.content.get("limits") or {}
    shown = {"budget_usd": dollars, "power_w": power, "rack_units": plain}
    for key, name in _SPENDING.items():
        most = limits.get(key)
        rest = 0 if most is None else round(getattr(design.nearest, _USED[key]) - most, 2)
        if rest > 0:
            told = f" (labour is {dollars(labour_usd)} of the price)" if labour_usd and key == "budget_usd" else ""
            yield f"{shown[key](rest)} over {name}{told}"


# -- levers -----------------------------------------------------------------------------------------------------------


def lever_words(design: Design, conflict: Conflict) -> str:
    """What is given up, the price, and what to write."""
    price, lost = _price(conflict), _lost(design, conflict)
    cost = "" if price is None else f"{dollars(price)} with "
    line = f"{cost}{' and '.join(map(_said_line, changes_of(conflict)))}"
    return f"give up {lost}: {line}" if lost else line


def _lost(design: Design, conflict: Conflict) -> str:
    """All that the changes of a conflict take away, in words."""
    lost = (lost_with(design, change) for change in changes_of(conflict))
    return listed(list(dict.fromkeys(text for text in lost if text)))


# What a smaller, larger or other value takes away, by the last words of its key.
_LOST_VALUES = {
    "min_gbps_per_gpu": "{less}{was} Gb/s for every GPU",
    "min_gbps_per_server": "{less}{was} Gb/s for every server",
    "min_bisection_gbps_per_gpu": "a bisection of {was} Gb/s a GPU",
    "min_alltoall_gbps_per_gpu": "all-to-all of {was} Gb/s a GPU",
    "max_oversubscription": "{was}:1",
    "max_oversubscription.leaf": "{was}:1 at the leaves",
    "max_oversubscription.spine": "{was}:1 at the spines",
    "max_oversubscription.hall": "{was}:1 out of each hall",
    "switches.leaf": "leaves of {was}",
    "switches.spine": "spines of {was}",
    "switches.core": "cores of {was}",
    "tiers": "the limit to {was} tiers",
    "planes": "the limit to {was} planes",
    "nics_per_server": "the number of NICs a server ({was})",
    "rails": "{was} rails",
    "striping": "{was} stripes",
    "max_switch_hops": "paths of at most {was} switches",
    "max_latency_us": "round trips of at most {was} us",
    "optical_margin_db": "{less}{was} dB of margin on every optical link",
    "price_basis": "prices of these kinds alone: {was}",
    "only_priced_by": "prices of {was} alone",
    "only_orderable": "an order code and a price for each part",
    "max_exposed_communication": "waits of at most {was} of the time",
    "every_s": "a sending every {was} s",
    "lead_time_weeks": "",
    "supply": "",
    "lengths": "",
    "order_from_month": "",
    "month": "the date",
}


def lost_with(design: Design, change: Needed) -> str:
    """What a change takes away, in words; empty where it takes money, power, room or a vendor's word alone."""
    key, needed = change.limit, change.needed
    word = key.rpartition(".")[2]
    was = _stated(design, key)
    if key == "base.move":
        return "that what is in service stays as it is"
    if _is_spending(key) or was is None or ".plan.overlap." in key:
        return ""
    if key.startswith(_RULES) or word in LOST_WITH:
        return LOST_WITH.get(word, f"rule {word}")
    if word in ("gpus", "servers") and isinstance(was, int | float) and isinstance(needed, int | float):
        return some(was - needed, "GPU" if word == "gpus" else "server")
    last_words = ".".join(key.split(".")[-2:])
    words = _LOST_VALUES.get(last_words) or _LOST_VALUES.get(word, f"{word.replace('_', ' ')} {{was}}")
    less = ""
    if isinstance(was, int | float) and isinstance(needed, int | float) and 0 < needed < was:
        less = f"{plain(was - needed)} of "
    return named(design, words.format(was=conflict_quantity(key, was), less=less))


def line_of(change: Needed) -> tuple[str, str]:
    """The line of a case that makes a change, and below which entry of a list: ``limits: {budget_usd: 1500000}``;
    ``tiers: any`` of ``fabric compute``.
    """
    words, value = change.limit.split("."), _written(change.needed)
    nouns = {"fabrics": "fabric ", "stages": "stage ", "catalog": "catalog: "}
    if words[0] in nouns and len(words) > 2:
        return _nested(words[2:], value), f"{nouns[words[0]]}{words[1]}"
    if words[:2] == ["site", "halls[*]"]:
        return _nested(words[2:], value), "each hall"
    if words[:2] == ["workload", "jobs"]:
        return _nested(words[3:], value), f"job {words[2]}"
    return _nested(words, value), ""


def _said_line(change: Needed) -> str:
    line, where = line_of(change)
    return f"{line} in {where}" if where else line


def _nested(words: Sequence[str], value: str) -> str:
    """Words as nested keys, on one line."""
    for word in reversed(words[1:]):
        value = f"{{{word}: {value}}}"
    return f"{words[0]}: {value}"


def _written(value: object) -> str:
    """A value as a case writes it."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _paste(design: Design) -> Iterator[ScreenRow]:
    """The lines to write for the lever that keeps everything else, else for the first one; and what they do."""
    for conflict in ordered(design)[:1]:
        changes = changes_of(conflict)
        yield from labelled("Paste", dict.fromkeys(_whole_line(design, conflict, change) for change in changes))
        lost = _lost(design, conflict)
        raised = [
            f"{_SPENDING[change.limit.rpartition('.')[2]]} to {conflict_quantity(change.limit, change.needed)}"
            for change in changes
            if _is_spending(change.limit)
        ]
        places = dict.fromkeys(where for change in changes if (where := line_of(change)[1]))
        does = [f"in {listed(list(places))}"] if places else []
        price = _price(conflict)
        least = conflict.limit != BUDGET and not conflict.together
        cost = f", the least with which there is a design ({dollars(price)})" if price is not None and least else ""
        does += [f"raises {listed(raised)}{cost}"] if raised else []
        does.append(f"gives up {lost}" if lost else "all else is kept")
        yield ScreenRow("", f"# {'; '.join(does)}")


def _whole_line(design: Design, conflict: Conflict, change: Needed) -> str:
    """The line of a change, with what else the case says under the same key of limits or rules."""
    key, _, word = change.limit.partition(".")
    if key not in ("limits", "rules", "base") or "." in word or not word:
        return line_of(change)[0]
    said = design.case.content.get(key)
    if key == "base" and isinstance(said, Mapping):
        said = {name: value for name, value in said.items() if name in ("file", "keep")}
    kept = {name: value for name, value in said.items() if value is not None} if isinstance(said, Mapping) else {}
    needed = {
        one.limit.removeprefix(f"{key}."): one.needed for one in changes_of(conflict) if one.limit.startswith(key)
    }
    values = ", ".join(f"{name}: {_written(value)}" for name, value in {**kept, **needed}.items())
    return f"{key}: {{{values}}}"


def _unfinished(design: Design) -> Iterator[ScreenRow]:
    if not design.alternatives_complete and design.notes:
        yield ScreenRow("Cut short", design.notes[-1], LEFT_OUT)
