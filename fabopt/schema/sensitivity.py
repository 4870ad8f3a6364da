"""The sensitivity file: how far prices can move before the answer to a case changes, and what it changes to.

Money is in dollars with at most two decimals. A factor is of today's price: 1.2 is 20 % more.
"""

from __future__ import annotations

from fabopt.schema.base import Strict
from fabopt.schema.design import CaseRecord, Conflict, Number, Objective, Status


class Takeover(Strict):
    """What is best at ``factor``, the first step past an end of a range.

    ``objective``: what it comes to there, ``answer_objective``: what the answer would come to; ``changes``: what is
    different from the answer, a line each. Where nothing is left within the budget, ``objective`` is None.
    """

    factor: Number
    summary: str
    changes: tuple[str, ...] = ()
    objective: Number | None = None
    answer_objective: Number


class PriceRange(Strict):
    """How far the prices of a kind, or of one part, can move alone while the answer stays: one of the two is named.

    ``factor_low`` is 0 where it stays at any lower price, then ``low`` is None; ``factor_high`` and ``high`` are None
    where it stays up to the file's ``most_factor``. ``unit_price_usd``: of a part bought at one price. ``proven``: both
    ends are exact to a step of the file's ``step``, and what takes over is the best there is. ``low_known``,
    ``high_known``: False for an end that was not found before the work was stopped; its factor is 1.
    """

    kind: str | None = None
    part: str | None = None
    unit_price_usd: Number | None = None
    factor_low: Number
    factor_high: Number | None
    price_low_usd: Number | None = None
    price_high_usd: Number | None = None
    low: Takeover | None = None
    high: Takeover | None = None
    proven: bool
    low_known: bool = True
    high_known: bool = True


class Sensitivity(Strict):
    """A whole file. ``status``, ``objective`` and ``summary`` are those of the answer; ``complete`` is False if the
    work was stopped before all ranges were known; ``conflicts`` say why there is no answer.
    """

    fabopt: str
    case: CaseRecord
    catalog_sha256: str = ""
    status: Status
    objective: Objective
    summary: str = ""
    step: Number
    most_factor: Number
    complete: bool = True
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    ranges: tuple[PriceRange, ...] = ()
