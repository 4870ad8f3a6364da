"""What compares, in a few lines: alternatives worth a look with what each loses, and what would flip the choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fabopt.output.words import dollars, listed, plain, power, switched_off
from fabopt.parts.names import with_names
from fabopt.parts.price_basis import PRICES, RESTS_ON
from fabopt.rules.defaults import DEFAULT_RULES, RULES_KEPT
from fabopt.schema.design import Alternative, Design
from fabopt.schema.servers import BESIDE, SERVER
from fabopt.schema.topologies import OWN_RAILS
from fabopt.units import some

MOST_ALTERNATIVES = 2
# With more fabrics than these, which take many lines, there is one.
MOST_FABRICS = 2
# Less of the objective is not worth a look.
LEAST_SHARE = 0.001
# How a row says the service of its design, and of the answer.
_PAIRS = re.compile(r"same-rail pairs on one leaf ([\d.]{1,12}) % \(here ([\d.]{1,12}) %\)")
_BY_A_LEAF = r"((?:degraded to ([\d.]{1,12}) of )?[^()]{1,60})"
_MOVED = re.compile(r"([\d,]{1,12} cables? in place) moved \(here ([\d,]{1,12})\)")
_WITHOUT_A_LEAF = re.compile(rf"without a leaf {_BY_A_LEAF} \(here {_BY_A_LEAF}\)")
# Rows by what they change, in words.
_NAMES = {
    "topologies": "{value}",
    "redundancy": "without redundancy",
    "oversubscription": "{value} oversubscription",
    "bandwidth": "{value} a GPU",
    "servers": "{value}",
    SERVER: "with {value} instead",
    "protocol": "{value}",
    "leaf switch": "leaf switch {value}",
    "growth": "{value}",
    "trunks": "trunks {value}",
    "cabling": "{value} cabling",
    **{name: f"without rule {name}" for name, rule in DEFAULT_RULES.items() if rule.lost},
}
# Rows that ask less of the network, in place of another design that does what the case asks for.
_ASK_LESS = ("servers", "oversubscription", "bandwidth", "attachments")
# Rows that say nothing without the other devices.
_WITH_DEVICES = ("leaf switch", "planes", "protocol", "port speed", "tiers", "groups")
# Letters of another design of several fabrics; of a longer one these are named.
MOST_LETTERS = 140
# What other prices would choose, as the note on prices says it.
_FLIPS = re.compile(
    r"(with estimated and derived prices .*?) another design would be ((?:the cheapest|cheaper)[^:]*): (.*)"
)
# Rows that are no choice of the reader's, or that save by paying later.
_NO_CHOICE = ("flat runs", "part numbers")
# What a row takes away, by what it changes.
LOST_WITH = {
    "redundancy": "the rules by which any one switch may fail",
    **{name: rule.lost for name, rule in DEFAULT_RULES.items() if rule.lost},
    "topologies": "paths between rails outside the servers",
    "recabling": "cables that stay where they are",
    "separation": "the separation of fabrics asked for",
    "growth": "payment by stages",
    "cabling": "panels and trunks",
    "bandwidth": "the bandwidth asked for",
    "attachments": "ports of attachments asked for",
}


class Look(NamedTuple):
    """An alternative worth a look in words, whether it asks less of the network, and the keys of the case for it."""

    asks_less: bool
    words: str
    change: Mapping[str, Any]


def worth_a_look(design: Design) -> Iterator[Look]:
    """The alternatives that save most, then the one that is nearest in cost, each with what it loses; those that do
    what is asked first.
    """
    rows = [row for row in design.alternatives if row.finished and row.objective_delta is not None]
    rows = [row for row in rows if _changed(design, row) not in (*_NO_CHOICE, RULES_KEPT)]
    least = LEAST_SHARE * (design.objective.value or 0)
    servers = sorted((row for row in rows if row.what == SERVER), key=_delta)
    rows = [row for row in rows if row.what != SERVER]
    saving = sorted((row for row in rows if _delta(row) < -least), key=_delta)
    # of rows with the same design the first
    saving = [row for number, row in enumerate(saving) if not any(_is_alike(row, one) for one in saving[:number])]
    others = sorted((row for row in rows if _delta(row) >= 0 and not row.summary.startswith("nothing")), key=_delta)
    most = MOST_ALTERNATIVES if len(design.fabrics) <= MOST_FABRICS else 1
    shown = servers[:1] + (saving + others[:1])[:most]
    for asks_less in (False, True):
        for row in shown:
            if (_changed(design, row) in _ASK_LESS) == asks_less:
                words = f"{_name(design, row)}: {'; '.join(_said(design, row))}"
                yield Look(asks_less, named(design, words), row.change)


def _is_alike(row: Alternative, other: Alternative) -> bool:
    return row.capex_usd is not None and (row.capex_usd, row.power_w) == (other.capex_usd, other.power_w)


def _delta(row: Alternative) -> float:
    return row.objective_delta or 0


def _changed(design: Design, row: Alternative) -> str:
    """What a row changes, without the fabric that it changes it in."""
    return row.what.removeprefix(f"{_fabric(design, row)} ")


def _fabric(design: Design, row: Alternative) -> str:
    """The fabric that a row names, where there are several; else empty."""
    names = (fabric.name for fabric in design.fabrics)
    return next((name for name in names if row.what.startswith(f"{name} ")), "")


def _name(design: Design, row: Alternative) -> str:
    """What a row changes, as people say it."""
    what, fabric = _changed(design, row), _fabric(design, row)
    words = _NAMES.get(what, f"{what}: {{value}}" if row.value else what).format(value=row.value)
    other = row.in_names.removeprefix(f"{fabric}: ")
    if what == "oversubscription":
        of_row = [one for one in design.fabrics if one.name == fabric] or design.fabrics
        words += f" in place of {plain(max(of_row[0].oversubscription.values()))}:1"
    if other and what in _WITH_DEVICES:
        words = f"{other}, {row.value}" if what == "leaf switch" else f"{words} ({other})"
    return f"{fabric} {words}" if fabric else words


def _said(design: Design, row: Alternative) -> Iterator[str]:
    """Cost and power against the answer's, and what is lost."""
    more, watts = row.capex_delta_usd or 0, row.power_delta_w or 0
    cost = f"saves {dollars(-more)}" if more < 0 else f"costs {dollars(more)} more" if more else "costs the same"
    yield cost + (f" ({'+' if watts > 0 else '-'}{power(abs(watts))})" if watts else "")
    beside = row.summary.partition(BESIDE)[2] if row.what == SERVER else ""
    if beside:
        yield beside
    kept = {left.name for left in design.rules_left_out} - {left.name for left in row.rules_left_out}
    if row.what == SERVER and kept:
        yield f"keeps {', '.join(sorted(kept))}"
    lost = _lost(design, row)
    if lost:
        yield f"lost: {lost}"
    here = {left.name for left in design.rules_left_out}
    if moved := _MOVED.search(row.summary):
        yield f"{moved[1]} moved, not {moved[2]}"
    left_out = [left.name for left in row.rules_left_out if left.name not in here]
    if left_out:
        yield f"leaves out {', '.join(left_out)}"


def _lost(design: Design, row: Alternative) -> str:
    """What a row takes away; empty where nothing that is measured gets worse."""
    what = _changed(design, row)
    if what == "servers":
        number = int(re.sub(r"\D", "", row.value) or 0)
        return some(design.stages[-1].servers - number, "server")
    if what == SERVER:
        return ""
    if what == "planes" and OWN_RAILS.words in row.in_names:
        what = "topologies"
    if what in LOST_WITH:
        return LOST_WITH[what]
    pairs, leaf = _PAIRS.search(row.summary), _WITHOUT_A_LEAF.search(row.summary)
    worse = []
    if pairs is not None and float(pairs[1]) < float(pairs[2]):
        worse.append(f"one switch between {pairs[1]} % of server pairs, not {pairs[2]} %")
    if leaf is not None and leaf[1].endswith("cut off") and leaf[1] != leaf[3]:
        worse.append(f"without a leaf {leaf[1]}")
    elif leaf is not None and leaf[2] and leaf[4] and float(leaf[2]) < float(leaf[4]):
        worse.append(f"without a leaf {leaf[1]}, not {leaf[4]}")
    shape = {"rails": "aligned rails", "striping": "even stripes"}.get(what, "")
    return f"{shape} ({'; '.join(worse)})" if shape and worse else shape or "; ".join(worse)


def price_of_rules(design: Design) -> Iterator[str]:
    """What it costs to keep the rules that the case turns off, all of them together, where that was found."""
    off = switched_off(design)
    together = "" if [word.partition(" ")[0] for word in off] == ["rule"] else " together"
    for row in design.alternatives:
        if row.what == RULES_KEPT and row.finished:
            yield named(design, f"{listed(off)}{together}: {'; '.join(_said(design, row))}")


def flip_line(design: Design) -> Iterator[str]:
    """What other prices would choose, and the cliff just below the demand."""
    for note in design.notes:
        if note.startswith(PRICES) and "; " in note:
            verdict = note.partition("; ")[2]
            other = _FLIPS.fullmatch(verdict)
            if other is not None:
                verdict = f"{other[1]}: {_rival(design, other[3])} would be {other[2]}"
            yield named(design, verdict)
        elif note.startswith(RESTS_ON) and "; " in note:
            yield named(design, note.partition("; ")[2])


def _rival(design: Design, words: str) -> str:
    """Another design as a note has it; of a long one the fabrics that are others."""
    others = [fabric.name for fabric in design.fabrics if f"{fabric.name}: " in words]
    if len(words) <= MOST_LETTERS or not others:
        return words
    return f"another design of {listed(others)}"


def named(design: Design, text: str) -> str:
    """Text with the names of products of the design in place of their ids."""
    return with_names({id_: part for id_, part in design.parts.items() if id_ != "facts"}, text)
