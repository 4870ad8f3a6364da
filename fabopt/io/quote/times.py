"""Times in cells of a quote: lead times as weeks, and dates in the forms of several languages.

Ambiguous texts are not read.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from fabopt.io.quote.currencies import REMEMBERED
from fabopt.io.quote.values import Cell
from fabopt.units import exact

_DAYS_OF = (
    (
        re.compile(
            r"(?:business|working|arbeits)[\s-]*(?:days?|tagen?|tage)|(?<![a-z])[wb]d\b|werktagen?|werktage|工作日|営業日|영업일|"
            r"d[ií]as (?:hábiles|laborables|úteis)|jours ouvr\w+|dni robocz\w+"
        ),
        Fraction(7, 5),
    ),
    (
        re.compile(
            r"weeks?|(?<![a-z])wks?\b|wochen?|(?<![a-z])wo\b|semaines?|semanas?|settimane|weken|(?<![a-z])w\b|周|星期|週|주|tygodni|veckor|uker|uger"
        ),
        Fraction(7),
    ),
    (
        re.compile(
            r"months?|(?<![a-z])mo\b|monaten?|monate?|mois|\bm[eê]s(?:es)?\b|\bmesi\b|个月|か月|ヶ月|개월|miesi\w+|månader"
        ),
        Fraction(365, 12),
    ),
    (
        re.compile(r"days?|tagen?|tage|jours?|d[ií]as?|(?<![a-z])d\b|giorni|dagen|天|日|일|\bdni\b|dagar|dager|dage"),
        Fraction(1),
    ),
)
_SPAN = re.compile(
    r"([0-9]{1,6}(?:[.,][0-9]{1,6})?)\s*(?:(?:-|–|—|to|bis|\.\.|/|à|a)\s*([0-9]{1,6}(?:[.,][0-9]{1,6})?))?"
)
_IN_STOCK = re.compile(
    r"\b(?:in stock|ex stock|stock|(?:ab|auf) lager|lagernd|vorrätig|en stock|disponible|en existencia|disponibile|"
    r"op voorraad|immediate(?:ly)?|inmediat[oa]|sofort|immédiate?(?:ment)?|"
    r"prompt|ready to ship|from stock|pronta entrega|"
    r"pronto|subito|direkt|available now|lieferbar)\b|"
    r"现货|有货|即納|即日|在庫(?:あり|有)|当日|재고|즉시"
)
_NOT = re.compile(
    r"\b(?:not|no|non|nicht|kein|out of|pas|sin|niet|if|when|back ?order|bientôt|nächst\w*)\b|無|无|なし|缺货|품절"
)
_CALENDAR_WEEK = re.compile(r"\b(?:kw|cw|wk|week)\s*[0-9]")


class Wait(NamedTuple):
    """A lead time in weeks, with a remark on its reading."""

    weeks: float
    remark: str = ""


def days_of_unit(text: str) -> Fraction | None:
    """Days of the unit of time that a text names."""
    return next((days for pattern, days in _DAYS_OF if pattern.search(text.lower())), None)


@lru_cache(maxsize=REMEMBERED)
def wait_of(cell: Cell, heading: str) -> Wait | None:
    """The lead time that a cell states; of a span its end. None where it has no unit, neither there nor above."""
    text = cell.text.lower()
    if isinstance(cell.value, date) or _CALENDAR_WEEK.search(text):
        return None
    spans = _SPAN.findall(text)
    if not spans and _IN_STOCK.search(text) and not _NOT.search(text):
        return Wait(0, f"`{cell.text}` is read as a lead time of 0 weeks; nothing is taken for stock of one's own")
    days = days_of_unit(text) or days_of_unit(heading)
    if len(spans) != 1 or days is None:
        return None
    first, last = (word.replace(",", ".") for word in spans[0])
    weeks = round(float(exact(last or first) * days / 7), 2)
    remark = f"lead time `{cell.text}` is read as its end, {weeks:g} weeks" if last else ""
    return Wait(weeks, remark) if weeks <= 5200 else None


_NAMES_OF_MONTHS = (
    "jan ene gen", "feb fév fev", "mar mär mrz mrt", "apr avr abr", "may mai mei mag maj", "jun juin giu",
    "jul juil lug", "aug août ago", "sep set", "oct okt ott out", "nov", "dec dez déc dic des",
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_NAMES_OF_MONTHS, start=1) for name in names.split()}
# With the year first no other order of month and day is in use.
_ISO = re.compile(r"(?<![0-9])(20[0-9]{2})(?:-|/|\.\s?)([0-9]{1,2})(?:-|/|\.\s?)([0-9]{1,2})(?![0-9])")
_CHINESE = re.compile(r"(20[0-9]{2})\s?[年년]\s?([0-9]{1,2})\s?[月월]\s?([0-9]{1,2})\s?[日일]")
_POINTS = re.compile(r"(?<![0-9])([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?(20[0-9]{2})(?![0-9])")
_SLASHES = re.compile(r"(?<![0-9])([0-9]{1,2})[/-]([0-9]{1,2})[/-](20[0-9]{2})(?![0-9])")
_DAY_FIRST = re.compile(
    r"(?<![0-9])([0-9]{1,2})\.?(?:st|nd|rd|th)?[\s-]+(?:de\s+)?([^\W\d_]{3,10})\.?,?[\s-]+(?:del?\s+)?(20[0-9]{2})(?![0-9])"
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,9})\.?\s+([0-9]{1,2})(?:st|nd|rd|th)?,?\s+(20[0-9]{2})(?![0-9])")


_FIRST = date(1899, 12, 30)
# Numbers that are days of 2020 to 2099 where dates are not shown as such (ECMA-376 part 1, 18.17.4).
_SERIAL = range(43831, 73051)
# Ways to write a date, with the groups of its year, month and day.
_DATES = (
    (_ISO, (1, 2, 3)), (_CHINESE, (1, 2, 3)), (_POINTS, (3, 2, 1)), (_SLASHES, (3, 2, 1)), (_DAY_FIRST, (3, 2, 1)),
    (_MONTH_FIRST, (3, 1, 2)),
)  # fmt: skip


def date_in(text: str) -> date | None:
    """The first date in a text; None where there is none, or one of two readings, such as 03/04/2026."""
    written = [(match, parts) for pattern, parts in _DATES if (match := pattern.search(text))]
    if not written:
        return None
    match, (year, month, day) = min(written, key=lambda entry: entry[0].start())
    if match.re is _SLASHES:
        first, second, own_year = match.groups()
        readings = {_date(own_year, first, second), _date(own_year, second, first)} - {None}
        return readings.pop() if len(readings) == 1 else None
    return _date(match.group(year), _month(match.group(month)), match.group(day))


def day_of(cell: Cell) -> date | None:
    """The day that a cell of a column of days states; of a number, as spreadsheets count days from 1900."""
    if isinstance(cell.value, date):
        return cell.value
    if isinstance(cell.value, float):
        return _FIRST + timedelta(days=int(cell.value)) if cell.value in _SERIAL else None
    return date_in(cell.text)


def _month(name: str) -> str:
    name = name.lower()
    return (
        name
        if name.isdigit()
        else str(next((number for short, number in _MONTHS.items() if name.startswith(short)), 0))
    )


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
