"""Comparison of a quote with the bill of a design: missing and surplus units, other lengths, other products.

Quoted switches with the wrong airflow: the right product, by a part number of other fans.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

from fabopt.inspect.stand_ins import StandIns, stand_ins
from fabopt.io.recognition import bare
from fabopt.parts.names import order_code, wanted_airflow
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.catalog import Catalog, Transceiver
from fabopt.schema.design import Design
from fabopt.units import CENTS_PER_USD, exact, rounded, some, usd


class OtherAirflow(NamedTuple):
    """A line of a quote whose part number is that of an airflow other than planned; ``planned_code`` may be unknown."""

    line: QuoteLine
    code: str
    airflow: str
    planned: str
    planned_code: str | None

    @property
    def text(self) -> str:
        """The fault in a sentence."""
        planned = f"{self.planned_code}, {self.planned}," if self.planned_code else self.planned
        return (
            f"{self.line.id} is quoted as {self.code}, {self.airflow}: planned is {planned} and it blows the other way"
        )


def other_airflows(quote: Quote, design: Design) -> Iterator[OtherAirflow]:
    """Lines with the code of another airflow than the bill's.

    The bill's airflow is ``site.rack_rules.airflow`` of the case, else that of the servers, else of its part number.
    """
    wanted = wanted_airflow(design.case.content, design.parts)
    for line in quote.with_status("matched"):
        body = design.parts.get(line.id, {})
        codes = body.get("airflows") or {}
        beside = wanted.beside if wanted.beside in codes else None
        planned = wanted.asked or beside or _airflow_of([str(body.get("part_number") or "")], codes)
        quoted = _airflow_of([*line.part.split(" / "), line.description], codes)
        if planned and quoted and planned != quoted:
            yield OtherAirflow(line, codes[quoted], quoted, planned, codes.get(planned))


def _airflow_of(texts: list[str], codes: dict[str, str | None]) -> str | None:
    """The airflow whose code ends one of the texts; None if none or several do."""
    named = {airflow for airflow, code in codes.items() if code for text in texts if bare(text).endswith(bare(code))}
    return named.pop() if len(named) == 1 else None


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
    """A deviation from the plan. ``planned``, ``quoted``: units; ``usd``: its amount.

    ``sheet``, ``row``: the line of the quote; empty without one. A remark is no fault of the quote.
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
    """Purchases of a product, or of one length, over all stages and fabrics of a bill.

    ``cents``: without ``expedite_cents``, the surcharge of expedited units, which no quote has in its prices.
    """

    kind: str
    part_number: str
    description: str
    quantity: int
    cents: int
    expedite_cents: int = 0

    @property
    def unit_usd(self) -> float:
        """The average unit price in USD, to the cent."""
        return usd(rounded(Fraction(self.cents, self.quantity)))


@dataclass(frozen=True)
class Quoted:
    """Offers of a product in a quote: lines, units (None if a line states none), unit price."""

    lines: tuple[QuoteLine, ...]
    quantity: int | None
    unit_usd: float


@dataclass(frozen=True)
class QuoteSums:
    """Sums in USD: the bill as planned and at the quote's prices, the quoted units, and the missing units."""

    bill_usd: float
    bill_at_quote_usd: float
    quoted_usd: float
    missing_usd: float

    @property
    def completed_usd(self) -> float:
        """The quoted and the missing units together, in USD."""
        return round(self.quoted_usd + self.missing_usd, 2)


@dataclass(frozen=True)
class QuoteComparison:
    """A quote compared with a bill, with findings in the order of their kinds."""

    planned: Mapping[Key, Planned]
    quoted: Mapping[Key, Quoted]
    findings: tuple[QuoteFinding, ...]
    sums: QuoteSums


def planned_of(design: Design) -> dict[Key, Planned]:
    """Purchases of a design's bill, by product and length, with order codes."""
    planned: dict[Key, Planned] = {}
    wanted = wanted_airflow(design.case.content, design.parts)
    for row in design.bom:
        if row.kind == _OWN_WORK or not row.quantity:
            continue
        key = row.id, None if row.length_m is None else float(row.length_m)
        code = order_code(design.parts.get(row.id, {}), row.length_m, *wanted).code
        before = planned.get(key, Planned(row.kind, code, row.description, 0, 0))
        surcharge = row.quantity * rounded(exact(row.expedite_usd or 0) * CENTS_PER_USD)
        planned[key] = before._replace(
            quantity=before.quantity + row.quantity,
            cents=before.cents + rounded(exact(row.total_usd) * CENTS_PER_USD) - surcharge,
            expedite_cents=before.expedite_cents + surcharge,
        )
    return planned


def quoted_of(quote: Quote, planned: Mapping[Key, Planned]) -> dict[Key, Quoted]:
    """Offers of a quote's matched lines, by product and length; price breaks at the planned quantity."""
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
        """A finding on ``number`` units of a product, or on all its unpaired units."""
        line = self.quoted[key].lines[0] if key in self.quoted else None
        unit_usd = self.quoted[key].unit_usd if key in self.quoted else self.planned[key].unit_usd
        dollars = round((abs(self.left.get(key, 0)) if number is None else number) * unit_usd, 2)
        sheet, row = ("", None) if line is None else (line.sheet, line.row)
        return QuoteFinding(
            kind, text, severity, *key, sheet, row, self._wanted(key), self._offered(key), dollars or None
        )

    def pair_lengths(self) -> None:
        """Pair quoted units with planned ones of another length.

        A longer cable fits: the longest planned length gets the shortest that reaches it. A shorter one leaves the
        planned unit missing.
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
        """Ids of transceivers with missing units."""
        return [key[0] for key in self._with_sign(-1) if self.planned[key].kind == "transceiver"]

    def other_optics(self, catalog: Catalog) -> list[Transceiver]:
        """Transceivers that are quoted and not on the bill."""
        ids = {key[0] for key in self._with_sign(1) if key not in self.planned}
        return [module for module in catalog.transceivers if module.id in ids]

    def pair_stand_ins(self, found_out: StandIns) -> None:
        """Pair transceivers quoted in place of planned ones, with findings on those that fit and those that do not."""
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
        """Planned units without a quoted substitute."""
        return {key: -self.left[key] for key in self._with_sign(-1)}

    def rest(self) -> Iterator[QuoteFinding]:
        """Findings on unpaired missing and surplus units."""
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
    """Remarks on the reading of lines and on their conditions."""
    for line in quote.lines:
        if remarks := [remark for remark in line.remarks if remark not in line.doubts]:
            text = f"{named(line.key) if line.id else line.part or line.description}: {'; '.join(remarks)}"
            yield QuoteFinding("read-as", text, "remark", *line.key, line.sheet, line.row, None, line.quantity)


def _doubts(quote: Quote) -> Iterator[QuoteFinding]:
    """Findings on accepted prices that words, sums or known prices contradict."""
    for line in quote.lines:
        if line.doubts:
            text = f"{named(line.key)}: {'; '.join(line.doubts)}"
            yield QuoteFinding("in-doubt", text, "fault", *line.key, line.sheet, line.row, None, line.quantity)
    for doubt in quote.doubts:
        yield QuoteFinding("in-doubt", doubt)


def _airflows(quote: Quote, design: Design) -> Iterator[QuoteFinding]:
    """Findings on switches with the part number of the wrong airflow; they count as planned units."""
    for other in other_airflows(quote, design):
        line = other.line
        dollars = round((quote.unit_usd(line) or 0) * (line.quantity or 0), 2) or None
        yield QuoteFinding(
            "wrong-airflow", other.text, "fault", *line.key, line.sheet, line.row, None, line.quantity, dollars
        )


def _lines(quote: Quote, planned: Mapping[Key, Planned]) -> Iterator[QuoteFinding]:
    """Findings on lines that were not matched, and on planned products without a price."""
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
    """Findings on prices above the design's."""
    for key, offer in quoted.items():
        if key not in planned or offer.unit_usd <= planned[key].unit_usd:
            continue
        more = round((offer.unit_usd - planned[key].unit_usd) * planned[key].quantity, 2)
        text = f"{named(key)} at ${offer.unit_usd:,.2f}, planned at ${planned[key].unit_usd:,.2f}: ${more:,.2f} more"
        line = offer.lines[0]
        yield QuoteFinding("above-planned", text, "remark", *key, line.sheet, line.row, planned[key].quantity,
                           offer.quantity, more)  # fmt: skip


def _charges(quote: Quote, design: Design) -> Iterator[QuoteFinding]:
    """Findings on charges above the bill's or missing there; unit prices, the first year's share included."""
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
    """Sums in USD. Offers without a quantity count the planned one; the bill includes expediting."""
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
    """The numbers of faults and remarks in words."""
    faults = sum(finding.severity == "fault" for finding in findings)
    remarks = len(findings) - faults
    return f"{some(faults, 'fault')}, {some(remarks, 'remark')}"
