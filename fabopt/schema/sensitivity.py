"""The sensitivity file: how far prices can move before the answer to a case changes, and what it changes to.

Money is in dollars with at most two decimals. A factor is of today's price: 1.2 is 20 % more.
"""

from fabopt.schema.base import Strict
from fabopt.schema.design import CaseRecord, Conflict, Number, Objective, Status


class Takeover(Strict):
    """What is best at the first step past an end of a range.

    Attributes:
        factor: Factor on the price at that step.
        summary: The design in one line.
        changes: What is different from the answer, a line each.
        objective: What it comes to there. Null where nothing is left within the budget.
        answer_objective: What the answer would come to there.
    """

    factor: Number
    summary: str
    changes: tuple[str, ...] = ()
    objective: Number | None = None
    answer_objective: Number


class PriceRange(Strict):
    """How far the prices of a kind, or of one part, can move alone while the answer stays.

    Attributes:
        kind: The kind of part, of a range of a kind.
        part: The part, of a range of one part.
        unit_price_usd: Price of a part bought at one price, in US dollars.
        factor_low: Lowest factor on the price at which the answer stays; 0 at any lower price.
        factor_high: Highest factor at which the answer stays. Null up to the file's `most_factor`.
        price_low_usd: Price at the lowest factor, in US dollars.
        price_high_usd: Price at the highest factor, in US dollars.
        low: What takes over below. Null where nothing does.
        high: What takes over above. Null where nothing does.
        proven: Whether both ends are exact to a step, and what takes over is the best there is.
        low_known: Whether the low end was found before the work was stopped.
        high_known: Whether the high end was found before the work was stopped.
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
    """A whole file of price ranges.

    Attributes:
        fabopt: Version of fabopt that wrote it.
        case: The case.
        catalog_sha256: Hash of the products and their prices as applied.
        status: Status of the answer.
        objective: Objective of the answer.
        summary: The answer in one line.
        step: Step of factors.
        most_factor: Largest factor that was looked at.
        complete: Whether all ranges are known.
        conflicts: Why there is no answer.
        notes: What a reader must know.
        ranges: Ranges of kinds and parts.
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
