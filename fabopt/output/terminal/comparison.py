"""What compares, in a few lines: alternatives worth a look with what each loses, and what would flip the choice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabopt.output.names import product_name
from fabopt.output.what_else import name_of
from fabopt.output.words import dollars, power
from fabopt.parts.price_basis import PRICES
from fabopt.schema.default_rules import NIC_PAIRING, ONE_GENERATION, ONE_PORT, SLOT_SPEED, SUBNET_MANAGER, TESTED_NICS
from fabopt.schema.design import Alternative, Design

MOST_ALTERNATIVES = 2
# Letters of another design, and of how it serves; of longer words the first are shown, or none.
MOST_LETTERS = 100
# What other prices would choose, as the note on prices says it.
_FLIPS = re.compile(r"(with estimates .*?) another design would be (the cheapest|cheaper): (.*)")
# Rows that are no choice of the reader's, or that save by paying later.
_NO_CHOICE = ("flat runs", "part numbers")
# What a row takes away, by what it changes.
LOST_WITH = {
    "redundancy": "redundancy by default",
    TESTED_NICS: "NICs that the server is sold or tested with",
    SLOT_SPEED: "slots that carry all ports of their NICs",
    ONE_PORT: "one port for a GPU",
    NIC_PAIRING: "NICs that pair with GPUs",
    ONE_GENERATION: "one generation of switches",
    SUBNET_MANAGER: "a switch that manages the subnet",
    "topologies": "paths between rails outside the servers",
    "recabling": "cables that stay where they are",
    "separation": "the separation of fabrics asked for",
    "growth": "payment by stages",
}


def worth_a_look(design: Design) -> Iterator[str]:
    """The alternatives that save most, then the one that is nearest in cost, each with what it loses."""
    rows = [row for row in design.alternatives if row.finished and row.objective_delta is not None]
    rows = [row for row in rows if _changed(design, row) not in _NO_CHOICE]
    saving = sorted((row for row in rows if _delta(row) < 0), key=_delta)
    others = sorted((row for row in rows if _delta(row) >= 0 and not row.summary.startswith("nothing")), key=_delta)
    for row in (saving + others[:1])[:MOST_ALTERNATIVES]:
        yield f"{named(design, name_of(row))}: {'; '.join(_said(design, row))}"


def _delta(row: Alternative) -> float:
    return row.objective_delta or 0


def _changed(design: Design, row: Alternative) -> str:
    """What a row changes, without the fabric that it changes it in."""
    for fabric in design.fabrics:
        if row.what.startswith(f"{fabric.name} "):
            return row.what.removeprefix(f"{fabric.name} ")
    return row.what


def _said(design: Design, row: Alternative) -> Iterator[str]:
    """Cost and power against the answer's, and what is lost."""
    more, watts = row.capex_delta_usd or 0, row.power_delta_w or 0
    cost = f"saves {dollars(-more)}" if more < 0 else f"costs {dollars(more)} more" if more else "costs the same"
    yield cost + (f" ({'+' if watts > 0 else '-'}{power(abs(watts))})" if watts else "")
    what, _, service = _changed(design, row), *row.summary.partition("; ")[1:]
    at_cliff = {"oversubscription": f"at {row.value}", "bandwidth": f"{row.value} asked for",
                "servers": f"{row.value} in all", "attachments": row.value}  # fmt: skip
    lost = LOST_WITH.get(what, _first(service) if what in ("planes", "rails", "striping", "topology", "groups") else "")
    if what in at_cliff:
        yield at_cliff[what]
    elif lost:
        yield f"lost: {lost}" if what in LOST_WITH else lost
    if row.rules_left_out:
        yield f"leaves out {', '.join(left.name for left in row.rules_left_out)}"


def _first(words: str) -> str:
    """The first parts of a list, as far as they are short."""
    while len(words) > MOST_LETTERS and ", " in words:
        words = words.rpartition(", ")[0]
    return words


def flip_line(design: Design) -> Iterator[str]:
    """What other prices would choose, and the cliff just below the demand."""
    for note in design.notes:
        if note.startswith(PRICES) and "; " in note:
            verdict = note.partition("; ")[2]
            other = _FLIPS.fullmatch(verdict)
            if other is not None:
                rival = other[3] if len(other[3]) <= MOST_LETTERS else "another design"
                verdict = f"{other[1]}: {rival} would be {other[2]}"
            yield named(design, verdict)


def named(design: Design, text: str) -> str:
    """Text with the names of products of the design in place of their ids."""
    names = {id_: product_name(part, id_) for id_, part in design.parts.items() if id_ != "facts"}
    if not names:
        return text
    ids = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w-])({ids})(?![\w-])", lambda found: names[found[0]], text)
