"""Sums of a quote: subtotals, taxes, discounts on all lines; and their differences from the lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from fabopt.io.quote.currencies import alternatives, pattern, without_currencies
from fabopt.io.quote.facts import is_option
from fabopt.io.quote.headings import PRICES, Header
from fabopt.io.quote.matching import CHARGE
from fabopt.io.quote.prices import plain
from fabopt.io.quote.values import Sheet, amount_of, number_in
from fabopt.parts.quotes import REQUEST_SHEET, VENDOR_ASKED, QuoteLine
from fabopt.units import exact

_TAX = re.compile(
    r"\b(?:vat|mwst|ust|umsatzsteuer|mehrwertsteuer|tva|gst|iva|btw|moms|"
    r"(?:sales )?tax(?:es)?|icms)\b|税额|增值税|消費税|부가세",
    re.IGNORECASE,
)
_WITHIN = re.compile(rf"\W*(?:inkl|incl|{alternatives('within')})\b", re.IGNORECASE)
_LESS = re.compile(
    r"discount|rebate|credit|\bless\b|rabatt|nachlass|skonto|remise|rabais|ristourne|escompte|descuento|sconto|korting|"
    r"desconto|折扣|优惠|値引|割引|할인",
    re.IGNORECASE,
)
_OF_TOTAL = re.compile(
    r"\b(?:\w*total\w*|\w*summe|\w*betrag|sum|brutto|gross|due|montant)\b|合计|总计|合計|総計", re.IGNORECASE
)
_PERCENT = re.compile(r"([0-9]{1,2}(?:[.,][0-9]{1,3})?)\s?%")
# Rates of value-added tax in use in 2026, in percent.
_RATES = tuple(map(exact, [
    "5", "6", "7", "7.7", "8", "8.1", "9", "10", "13", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24",
    "25", "25.5", "27",
]))  # fmt: skip
# A number, and what makes it none of money; smaller ones may count something.
_NUMBER = re.compile(r"[0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?")
_UNIT = re.compile(r"\s?(?:%|[a-zA-Z]{1,6}\b)")
_LEAST_SAID = 100
# Of more sums than these nothing is said: such a file is no quote.
_MOST_SUMS = 300
_CENT = Fraction(1, 100)


@dataclass(frozen=True)
class _Entry:
    """A row with an amount: a line, a charge or a discount, a tax, or a sum."""

    row: int
    kind: str
    amounts: tuple[Fraction, ...]
    text: str
    is_maybe: bool = False

    @property
    def amount(self) -> Fraction | None:
        return self.amounts[0] if self.amounts else None


@dataclass(frozen=True)
class HeldLines:
    """Lines with what sums say of them; ``doubts``: sums that do not fit, ``notes``: how others were read."""

    lines: tuple[QuoteLine, ...]
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def with_sums(sheet: Sheet, read: Sequence[tuple[QuoteLine, Header]], mark: str, is_all: bool) -> HeldLines:
    """Hold the sums of a sheet against its lines; a discount on all that they prove is taken off each price.

    ``is_all``: no other sheet has lines, so that a total which a text of this one says is of these.
    """
    entries = [entry for line, header in read if (entry := _entry(sheet, line, header, mark)) is not None]
    lines = tuple(line for line, _ in read)
    if sum(entry.kind == "sum" for entry in entries) > _MOST_SUMS:
        return HeldLines(lines)
    doubts: list[str] = []
    notes: list[str] = []
    for index, entry in enumerate(entries):
        if entry.kind in ("sum", "tax"):
            said, is_doubt = _judged(entries[:index], entry)
            (doubts if is_doubt else notes).extend([said] if said else [])
    for entry in _in_prose(sheet, read, mark) if is_all else ():
        said, is_doubt = _judged(entries, entry)
        doubts.extend([said] if is_doubt else [])
    return HeldLines(_less_discounts(lines, entries), tuple(doubts), tuple(notes))


def _entry(sheet: Sheet, line: QuoteLine, header: Header, mark: str) -> _Entry | None:
    cells = sheet.rows.get(line.row, {})
    text = " ".join(cells[column].text for column in sorted(cells) if isinstance(cells[column].value, str))
    totals = [cells[column] for column in header.columns("total") if column in cells]
    stated = tuple(amount.value for cell in totals if (amount := amount_of(cell, mark)) is not None)
    if line.status == "subtotal":
        others = [cells[column] for role in PRICES for column in header.columns(role) if column in cells]
        beside = tuple(amount.value for cell in others if (amount := amount_of(cell, mark)) is not None)
        amounts = stated or beside or tuple(_in_text(text, mark))
        return _Entry(line.row, "tax" if _TAX.search(text) and not _OF_TOTAL.search(text) else "sum", amounts, text)
    if line.status not in ("matched", "left over", "charge"):
        return None
    if not stated and line.unit_price is not None:
        stated = (line.unit_price * (1 if line.quantity is None else line.quantity),)
    is_part = bool(line.id or line.suggestion or line.part) and not line.reason.startswith(CHARGE)
    is_less = not is_part and bool(_LESS.search(text))
    amounts = tuple(-abs(amount) if is_less else amount for amount in stated)
    is_uncounted = line.quantity is None and bool(line.id or line.suggestion) and not totals
    is_unseen = any(word in line.reason for word in ("hidden", "struck through"))
    is_maybe = is_option(text) or is_uncounted or is_unseen
    return _Entry(line.row, "line" if is_part else "charge", amounts, text, is_maybe)


def _in_prose(sheet: Sheet, read: Sequence[tuple[QuoteLine, Header]], mark: str) -> Iterator[_Entry]:
    """Totals of the quote that texts above, below and between its lines say."""
    spoken_for = {line.row for line, _ in read if line.status != "note"}
    for row in sorted(sheet.rows.keys() - spoken_for):
        text = " ".join(cell.text for _, cell in sorted(sheet.rows[row].items()))
        yield from (_Entry(row, "sum", (value,), text) for value in _in_text(text, mark))


def _in_text(text: str, mark: str) -> Iterator[Fraction]:
    """The amount in the text of a sum right after its name, unless it counts another thing."""
    match = pattern("said_total").search(text)
    rest = without_currencies(text[match.end() :]).lstrip(" \t\u00a0:：=(") if match else ""
    number = _NUMBER.match(rest)
    value = number_in(number[0], mark) if number and not _UNIT.match(rest, number.end()) else None
    if value is not None and value >= _LEAST_SAID:
        yield value


def _judged(before: Sequence[_Entry], entry: _Entry) -> tuple[str, bool]:
    """A remark on a sum, and whether it is a doubt."""
    amount = entry.amount
    if amount is None or not any(one.kind == "line" for one in before):
        return "", False
    known = _candidates(before)
    if not known:
        return f"row {entry.row}: `{entry.text[:60]}` is not checked, as not all lines have a total", False
    slack = _CENT * (len(before) + 1) + (
        Fraction(1, 2) if all(value.denominator == 1 for value in entry.amounts) else 0
    )
    share = _percent(entry.text)
    if entry.kind == "tax":
        return _judged_tax(before, entry, amount, known, share, slack)
    if any(abs(value - candidate) <= slack for value in entry.amounts for candidate in known):
        if pattern("taxed").search(entry.text) and not any(one.kind == "tax" for one in before):
            return f"row {entry.row}: `{entry.text[:60]}` is the sum of the prices: are these with tax?", True
        return "", False
    rates = [share / 100] if share is not None else [rate / 100 for rate in _RATES]
    for rate, candidate in product(rates, known):
        if candidate > 0 and any(abs(candidate * (1 + rate) - value) <= slack for value in entry.amounts):
            return f"row {entry.row}: `{entry.text[:60]}` is with {float(rate * 100):g} % tax", False
    nearest = min(known, key=lambda candidate: abs(amount - candidate))
    difference = amount - nearest
    said = "more" if difference > 0 else "less"
    return (
        f"row {entry.row}: `{entry.text[:60]}` is {plain(amount)}, but the lines above come to {plain(nearest)}: "
        f"{plain(abs(difference))} {said}",
        True,
    )


def _judged_tax(
    before: Sequence[_Entry],
    entry: _Entry,
    amount: Fraction,
    known: Sequence[Fraction],
    share: Fraction | None,
    slack: Fraction,
) -> tuple[str, bool]:
    rates = [rate / 100 for rate in (_RATES if share is None else (share,))]
    if share is not None and any(abs(candidate * share / 100 - amount) <= slack for candidate in known):
        return "", False
    is_said = share is not None or _WITHIN.match(entry.text) or pattern("taxed").search(entry.text)
    if is_said and _is_within(amount, before, rates, slack):
        return f"row {entry.row}: `{entry.text[:60]}` is in the sum of the prices: these are with tax", True
    if share is None:
        return "", False
    due = known[0] * share / 100
    return (
        f"row {entry.row}: `{entry.text[:60]}` is {plain(amount)}, but {float(share):g} % of {plain(known[0])} "
        f"are {plain(due)}: {plain(abs(amount - due))} {'more' if amount > due else 'less'}",
        True,
    )


def _is_within(amount: Fraction, before: Sequence[_Entry], rates: Sequence[Fraction], slack: Fraction) -> bool:
    """Whether an amount is the tax in the prices of the lines at one of the rates, and no sum has it on top of them."""
    prices = sum((one.amount or Fraction(0) for one in before if one.kind == "line"), Fraction(0))
    on_top = any(abs(value - prices - amount) <= slack for one in before if one.kind == "sum" for value in one.amounts)
    return not on_top and any(abs(prices * rate / (1 + rate) - amount) <= slack for rate in rates)


def _percent(text: str) -> Fraction | None:
    match = _PERCENT.search(text)
    return exact(match[1].replace(",", ".")) if match else None


def _candidates(before: Sequence[_Entry]) -> list[Fraction]:
    """What a sum may be of: lines since an earlier sum, with or without charges, taxes and options; or earlier sums."""
    starts = [0, *(index + 1 for index, entry in enumerate(before) if entry.kind == "sum")]
    sums: dict[Fraction, None] = {}
    for start in reversed(starts):
        part = [entry for entry in before[start:] if entry.kind != "sum"]
        if not any(entry.kind == "line" for entry in part):
            continue
        if any(entry.amount is None for entry in part if entry.kind == "line" and not entry.is_maybe):
            continue
        for charges, taxes, maybe in product((True, False), (False, True), (True, False)):
            kept = ("line", *(["charge"] if charges else []), *(["tax"] if taxes else []))
            amounts = (one.amount or 0 for one in part if one.kind in kept and (maybe or not one.is_maybe))
            sums[Fraction(sum(amounts))] = None
    sums |= dict.fromkeys(_of_sums(before, starts))
    return list(sums)


def _of_sums(before: Sequence[_Entry], starts: Sequence[int]) -> Iterator[Fraction]:
    """Earlier sums added up, from any of them on; and the last one with what stands below it."""
    total = Fraction(0)
    earlier = [entry for entry in before if entry.kind == "sum" and entry.amount is not None]
    for entry in reversed(earlier):
        total += entry.amount or 0
        yield total
    below = before[starts[-1] :]
    if earlier and not any(entry.kind == "line" for entry in below):
        for kinds in (("charge",), ("tax",), ("charge", "tax")):
            more = sum(one.amount or 0 for one in below if one.kind in kinds)
            yield Fraction((earlier[-1].amount or 0) + more)


def _less_discounts(lines: tuple[QuoteLine, ...], entries: Sequence[_Entry]) -> tuple[QuoteLine, ...]:
    """The lines less a discount on all that its share and the next sum prove; its own row is then a sum."""
    for index, entry in enumerate(entries):
        share, amount = _percent(entry.text), entry.amount
        if entry.kind != "charge" or share is None or amount is None or amount >= 0 or not _LESS.search(entry.text):
            continue
        above = entries[:index]
        starts = [0, *(i + 1 for i, one in enumerate(above) if one.kind == "sum")]
        after = next((one for one in entries[index + 1 :] if one.kind == "sum" and one.amount is not None), None)
        for start in starts:
            part = [one for one in above[start:] if one.kind == "line"]
            whole = sum((one.amount or Fraction(0) for one in part), Fraction(0))
            slack = _CENT * (len(part) + 1)
            proven = after is not None and any(abs(value - whole - amount) <= slack for value in after.amounts)
            if part and proven and abs(whole * share / 100 + amount) <= slack:
                return _taken_off(lines, entry.row, {one.row for one in part}, share)
    return lines


def _taken_off(lines: Sequence[QuoteLine], discount: int, rows: set[int], share: Fraction) -> tuple[QuoteLine, ...]:
    remark = f"less {float(share):g} % on all lines, as row {discount} and the sum below it say"
    left = 1 - share / 100
    reason = f"a discount of {float(share):g} % on all lines, which is taken off each price"
    return tuple(
        replace(line, status="subtotal", reason=reason) if line.row == discount
        else replace(line, unit_price=line.unit_price * left, remarks=(*line.remarks, remark),
                     breaks=tuple((start, price * left) for start, price in line.breaks))
        if line.row in rows and line.status == "matched" and line.unit_price is not None else line for line in lines
    )  # fmt: skip


# -- awards -----------------------------------------------------------------------------------------------------------


def vendor_asked(sheets: Iterable[Sheet]) -> str:
    """Whom a request asked, by its sheet of facts; empty where that is not said."""
    facts = next((sheet for sheet in sheets if sheet.name == REQUEST_SHEET), None)
    rows = facts.rows.values() if facts else ()
    texts = ([cell.text for _, cell in sorted(row.items())] for row in rows)
    return next((row[1] for row in texts if len(row) > 1 and row[0] == VENDOR_ASKED), "")


def with_awards(lines: Sequence[QuoteLine]) -> tuple[QuoteLine, ...]:
    """The lines with awarded units, if any were awarded: other lines are then no offers."""
    if not any(line.awarded for line in lines):
        return tuple(replace(line, awarded=None) for line in lines)
    return tuple(map(_with_award, lines))


def _with_award(line: QuoteLine) -> QuoteLine:
    """A line by its award: none is no offer; one that cannot be bought, or at no price, is doubted."""
    if not line.awarded:
        line = replace(line, doubts=())
        if line.status != "matched":
            return line
        reason = "nothing of it is awarded"
        return replace(line, status="unpriced", reason=reason, id="", length_m=None, suggestion=line.id)
    said = [f"{line.awarded:,} are awarded: no more is bought there"] if line.status == "matched" else []
    doubts = [f"{line.awarded:,} are awarded, and no price is stated"] if line.status == "unpriced" else []
    if line.status == "matched" and line.minimum_order is not None and line.awarded < line.minimum_order:
        doubts.append(f"its smallest order, {line.minimum_order:,}, is more than the {line.awarded:,} that are awarded")
    return replace(line, remarks=(*line.remarks, *said, *doubts), doubts=(*line.doubts, *doubts))
