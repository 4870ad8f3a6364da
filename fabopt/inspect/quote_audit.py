"""A quote against the bill of a design: what is missing or too much, of another length, or of another product."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

from fabopt.inspect.quote_airflow import other_airflows
from fabopt.inspect.stand_ins import StandIns, stand_ins
from fabopt.parts.part_numbers import order_code, wanted_airflow
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.catalog import Catalog, Transceiver
from fabopt.schema.design import Design
from fabopt.units import CENTS_PER_USD, exact, rounded, some, usd

# What is done by one's own people is nothing to be quoted.
_OWN_WORK = "other"
Key = tuple[str, float | None]
FindingKind = Literal[
    "missing", "surplus", "wrong-length", "wrong-airflow", "does-not-mate", "stand-in", "not-matched", "unpriced",
    "in-doubt", "no-quantity", "above-planned", "above-best", "ends-early", "read-as",
]  # fmt: skip
Severity = Literal["fault", "remark"]


@dataclass(frozen=True)
class QuoteFinding:
    """One thing that is not as planned. ``planned``, ``quoted``: units; ``usd``: what it is about in dollars.

    ``sheet``, ``row``: the line of the quote; empty for what it does not have. A remark is no fault of the quote.
    """

    kind: FindingKind
    text: str
    severity: Severity = "fault"
    id: str = ""
    length_m: float | None = None
    sheet: str = ""
    row: int | None = None
    planned: int | None = None
    quoted: int | None = None
    usd: float | None = None


class Planned(NamedTuple):
    """What a bill has of a product, or of a length of it, over all stages and fabrics.

    ``cents``: without the surcharge of what is expedited, ``expedite_cents``, which no quote has in its prices.
    """

    kind: str
    part_number: str
    description: str
    quantity: int
    cents: int
    expedite_cents: int = 0

    @property
    def unit_usd(self) -> float:
        """What one costs on average, to the cent."""
        return usd(rounded(Fraction(self.cents, self.quantity)))


@dataclass(frozen=True)
class Quoted:
    """What a quote has of a product: its lines, units (None where a line does not say), dollars for one."""

    lines: tuple[QuoteLine, ...]
    quantity: int | None
    unit_usd: float


@dataclass(frozen=True)
class QuoteSums:
    """Dollars: the bill as planned and at the quote's prices, what is quoted, and what is missing from it."""

    bill_usd: float
    bill_at_quote_usd: float
    quoted_usd: float
    missing_usd: float

    @property
    def completed_usd(self) -> float:
        """What is quoted with what is missing."""
        return round(self.quoted_usd + self.missing_usd, 2)


@dataclass(frozen=True)
class QuoteComparison:
    """A quote beside a bill, with findings in the order of their kinds."""

    planned: Mapping[Key, Planned]
    quoted: Mapping[Key, Quoted]
    findings: tuple[QuoteFinding, ...]
    sums: QuoteSums


def planned_of(design: Design) -> dict[Key, Planned]:
    """What a design's bill buys, by product and length, with the codes that order it."""
    planned: dict[Key, Planned] = {}
    wanted = wanted_airflow(design.case.content)
    for row in design.bom:
        if row.kind == _OWN_WORK or not row.quantity:
            continue
        key = row.id, None if row.length_m is None else float(row.length_m)
        code = order_code(design.parts.get(row.id, {}), row.length_m, wanted).code
        before = planned.get(key, Planned(row.kind, code, row.description, 0, 0))
        surcharge = row.quantity * rounded(exact(row.expedite_usd or 0) * CENTS_PER_USD)
        planned[key] = before._replace(
            quantity=before.quantity + row.quantity,
            cents=before.cents + rounded(exact(row.total_usd) * CENTS_PER_USD) - surcharge,
            expedite_cents=before.expedite_cents + surcharge,
        )
    return planned


def quoted_of(quote: Quote, planned: Mapping[Key, Planned]) -> dict[Key, Quoted]:
    """What a quote's matched lines offer, by product and length; of prices by quantity that of what is planned."""
    quoted: dict[Key, Quoted] = {}
    for line in quote.with_status("matched"):
        lines = (*(quoted[line.key].lines if line.key in quoted else ()), line)
        numbers = [other.quantity for other in lines]
        total = None if None in numbers else sum(number or 0 for number in numbers)
        number = planned[line.key].quantity if line.key in planned else total
        quoted[line.key] = Quoted(lines, total, quote.unit_usd_at(line, number) or 0)
    return quoted


def compared(quote: Quote, design: Design, catalog: Catalog) -> QuoteComparison:
    """Compare a quote with a design's bill. ``catalog``: what its lines were matched with."""
    planned = planned_of(design)
    quoted = quoted_of(quote, planned)
    counts = _Counts(planned, quoted, {line.key for line in quote.with_status("unpriced")})
    counts.pair_lengths()
    counts.pair_stand_ins(stand_ins(design, counts.missing_optics(), counts.other_optics(catalog)))
    findings = (*counts.findings, *_airflows(quote, design), *counts.rest(), *_lines(quote, planned), *_doubts(quote),
                *_prices(planned, quoted), *_charges(quote, design), *_remarks(quote))  # fmt: skip
    return QuoteComparison(planned, quoted, findings, _sums(planned, quoted, counts.lacking()))


@dataclass
class _Counts:
    """Units that are missing (below zero) or too many, by product and length, while they are accounted for."""

    planned: Mapping[Key, Planned]
    quoted: Mapping[Key, Quoted]
    unpriced: Collection[Key]
    findings: list[QuoteFinding] = field(default_factory=list)

    def __post_init__(self) -> None:
        keys = [*self.planned, *(key for key in self.quoted if key not in self.planned)]
        self.left = {key: (self._offered(key) or 0) - self._wanted(key) for key in keys if self._is_counted(key)}

    def _offered(self, key: Key) -> int | None:
        return self.quoted[key].quantity if key in self.quoted else 0

    def _wanted(self, key: Key) -> int:
        return self.planned[key].quantity if key in self.planned else 0

    def _is_counted(self, key: Key) -> bool:
        return self._offered(key) is not None

    def _with_sign(self, sign: int) -> list[Key]:
        return [key for key, number in self.left.items() if number * sign > 0]

    def finding(
        self, kind: FindingKind, text: str, key: Key, severity: Severity = "fault", number: int | None = None
    ) -> QuoteFinding:
        """A finding on ``number`` units of a product, or on all that are left of it."""
        line = self.quoted[key].lines[0] if key in self.quoted else None
        unit_usd = self.quoted[key].unit_usd if key in self.quoted else self.planned[key].unit_usd
        dollars = round((abs(self.left.get(key, 0)) if number is None else number) * unit_usd, 2)
        sheet, row = ("", None) if line is None else (line.sheet, line.row)
        return QuoteFinding(
            kind, text, severity, *key, sheet, row, self._wanted(key), self._offered(key), dollars or None
        )

    def pair_lengths(self) -> None:
        """What is quoted in another length than planned, as far as units go.

        A cable that is longer will do: the longest run without one has the shortest that reaches it. One that is too
        short leaves the planned one missing.
        """
        for is_longer in (True, False):
            for planned in sorted(self._with_sign(-1), key=_metres, reverse=True):
                for other in sorted(self._with_sign(1), key=_metres, reverse=not is_longer):
                    if planned[0] == other[0] and (_metres(other) > _metres(planned)) == is_longer:
                        self._pair_length(planned, other, is_longer)

    def _pair_length(self, planned: Key, other: Key, is_longer: bool) -> None:
        number = min(-self.left[planned], self.left[other])
        if number <= 0 or planned[1] is None or other[1] is None:
            return
        what = "longer than it has to be" if is_longer else "too short for its run"
        text = f"{number:,} x {planned[0]} of {planned[1]:g} m are planned, {other[1]:g} m is quoted: {what}"
        self.findings.append(self.finding("wrong-length", text, other, number=number))
        self.left[planned] += number if is_longer else 0
        self.left[other] -= number

    def missing_optics(self) -> list[str]:
        """Transceivers of which some are missing."""
        return [key[0] for key in self._with_sign(-1) if self.planned[key].kind == "transceiver"]

    def other_optics(self, catalog: Catalog) -> list[Transceiver]:
        """Transceivers that are quoted and not on the bill."""
        ids = {key[0] for key in self._with_sign(1) if key not in self.planned}
        return [module for module in catalog.transceivers if module.id in ids]

    def pair_stand_ins(self, found_out: StandIns) -> None:
        """Transceivers that are quoted in place of planned ones: which of them fit, and why others do not."""
        for other, planned in found_out.fits.items():
            short, long = (planned, None), (other, None)
            number = min(-self.left[short], self.left[long])
            text = f"{number:,} x {other} are quoted in place of {planned}: they fit, but are not what was planned"
            self.findings.append(self.finding("stand-in", text, long, number=number))
            self.left[short] += number
            self.left[long] -= number
        for other, (planned, reason) in found_out.misfits.items():
            text = f"{other} is quoted where {planned} is planned, and does not fit: {reason}"
            self.findings.append(self.finding("does-not-mate", text, (other, None)))
            self.left[other, None] = 0

    def lacking(self) -> dict[Key, int]:
        """Units that are planned, and that nothing which is quoted can stand for."""
        return {key: -self.left[key] for key in self._with_sign(-1)}

    def rest(self) -> Iterator[QuoteFinding]:
        """What is missing and what is too much after all that."""
        for key in self._with_sign(-1):
            quoted = f"{self._offered(key):,} quoted" if key in self.quoted else "none quoted"
            priced = " with a price" if key in self.unpriced else ""
            text = f"{-self.left[key]:,} x {named(key)} missing: {self._wanted(key):,} planned, {quoted}{priced}"
            yield self.finding("missing", text, key)
        for key in self._with_sign(1):
            planned = f"{self._wanted(key):,} planned" if key in self.planned else "not on the bill"
            text = f"{self.left[key]:,} x {named(key)} too many: {self._offered(key):,} quoted, {planned}"
            yield self.finding("surplus", text, key)
        for key in self.quoted:
            if not self._is_counted(key):
                yield self.finding("no-quantity", f"{named(key)} is quoted without a quantity", key, "remark")


def _metres(key: Key) -> float:
    return key[1] or 0


def _remarks(quote: Quote) -> Iterator[QuoteFinding]:
    """How lines were read, and words on them that a buyer must know."""
    for line in quote.lines:
        if remarks := [remark for remark in line.remarks if remark not in line.doubts]:
            text = f"{named(line.key) if line.id else line.part or line.description}: {'; '.join(remarks)}"
            yield QuoteFinding("read-as", text, "remark", *line.key, line.sheet, line.row, None, line.quantity)


def _doubts(quote: Quote) -> Iterator[QuoteFinding]:
    """What words, sums and known prices say against prices that are taken."""
    for line in quote.lines:
        if line.doubts:
            text = f"{named(line.key)}: {'; '.join(line.doubts)}"
            yield QuoteFinding("in-doubt", text, "fault", *line.key, line.sheet, line.row, None, line.quantity)
    for doubt in quote.doubts:
        yield QuoteFinding("in-doubt", doubt)


def _airflows(quote: Quote, design: Design) -> Iterator[QuoteFinding]:
    """Switches by the part number of the other airflow: they are those that are planned, so that no number is short."""
    for other in other_airflows(quote, design):
        line = other.line
        dollars = round((quote.unit_usd(line) or 0) * (line.quantity or 0), 2) or None
        yield QuoteFinding(
            "wrong-airflow", other.text, "fault", *line.key, line.sheet, line.row, None, line.quantity, dollars
        )


def _lines(quote: Quote, planned: Mapping[Key, Planned]) -> Iterator[QuoteFinding]:
    """Lines that could not be taken, and what is on the bill and has no price."""
    for line in quote.lines:
        name = line.part or line.description or "a line"
        whole = quote.line_usd(line)
        if line.status == "left over":
            hint = f" (near: {line.suggestion})" if line.suggestion and line.suggestion not in line.reason else ""
            text = f"{name}: {line.reason}{hint}"
            yield QuoteFinding("not-matched", text, "fault", "", None, line.sheet, line.row, None, line.quantity, whole)
        elif line.status == "unpriced":
            severity: Severity = "fault" if line.key in planned else "remark"
            text = f"{name}: {line.reason}"
            yield QuoteFinding(
                "unpriced", text, severity, line.id, line.length_m, line.sheet, line.row, None, line.quantity
            )


def _prices(planned: Mapping[Key, Planned], quoted: Mapping[Key, Quoted]) -> Iterator[QuoteFinding]:
    """Prices above those that the design was chosen at."""
    for key, offer in quoted.items():
        if key not in planned or offer.unit_usd <= planned[key].unit_usd:
            continue
        more = round((offer.unit_usd - planned[key].unit_usd) * planned[key].quantity, 2)
        text = f"{named(key)} at ${offer.unit_usd:,.2f}, planned at ${planned[key].unit_usd:,.2f}: ${more:,.2f} more"
        line = offer.lines[0]
        yield QuoteFinding("above-planned", text, "remark", *key, line.sheet, line.row, planned[key].quantity,
                           offer.quantity, more)  # fmt: skip


def _charges(quote: Quote, design: Design) -> Iterator[QuoteFinding]:
    """Charges above those of the bill, or that it does not have; a price is of one, the first year's share included."""
    for line in quote.with_status("charge"):
        rows = [row for row in design.bom if row.charge is not None and row.id == line.part]
        number, dollars = sum(row.quantity for row in rows), quote.unit_usd(line) or 0
        if not number:
            text = f"{line.part}: a charge that is not on the bill"
            yield QuoteFinding("surplus", text, "fault", "", None, line.sheet, line.row, 0, line.quantity, dollars)
            continue
        cents = sum(rounded(exact(row.total_usd + (row.yearly_usd or 0)) * CENTS_PER_USD) for row in rows)
        unit_usd = usd(rounded(Fraction(cents, number)))
        if dollars > unit_usd:
            more = round((dollars - unit_usd) * number, 2)
            text = f"{line.part} at ${dollars:,.2f}, planned at ${unit_usd:,.2f}: ${more:,.2f} more"
            yield QuoteFinding("above-planned", text, "remark", "", None, line.sheet, line.row, number,
                               line.quantity, more)  # fmt: skip


def _sums(planned: Mapping[Key, Planned], quoted: Mapping[Key, Quoted], lacking: Mapping[Key, int]) -> QuoteSums:
    """Sums in dollars. What has no quantity counts as many as are planned; the bill is with what expediting costs."""
    units = {key: Fraction(row.cents, row.quantity) for key, row in planned.items()}
    units |= {key: exact(offer.unit_usd) * CENTS_PER_USD for key, offer in quoted.items()}
    offered = {key: planned[key].quantity if key in planned else 0 for key in quoted}
    offered |= {key: offer.quantity for key, offer in quoted.items() if offer.quantity is not None}
    wanted = {key: row.quantity for key, row in planned.items()}
    at_quote, quoted_cents, missing = (
        sum(rounded(units[key] * number) for key, number in numbers.items()) for numbers in (wanted, offered, lacking)
    )
    surcharges = sum(row.expedite_cents for row in planned.values())
    bill = sum(row.cents for row in planned.values()) + surcharges
    return QuoteSums(usd(bill), usd(at_quote + surcharges), usd(quoted_cents), usd(missing))


def named(key: Key) -> str:
    """A product, with its length if it has one."""
    return key[0] if key[1] is None else f"{key[0]} {key[1]:g} m"


def verdict(findings: Sequence[QuoteFinding]) -> str:
    """How many faults and remarks there are."""
    faults = sum(finding.severity == "fault" for finding in findings)
    remarks = len(findings) - faults
    return f"{some(faults, 'fault')}, {some(remarks, 'remark')}"
