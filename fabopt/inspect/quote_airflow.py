"""Quoted switches with the wrong airflow: the right product, by a part number of other fans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fabopt.io.recognition import bare
from fabopt.parts.part_numbers import wanted_airflow
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.design import Design


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

    The bill's airflow is ``site.rack_rules.airflow`` of the case, else that of its part number.
    """
    wanted = wanted_airflow(design.case.content)
    for line in quote.with_status("matched"):
        body = design.parts.get(line.id, {})
        codes = body.get("airflows") or {}
        planned = wanted or _airflow_of([str(body.get("part_number") or "")], codes)
        quoted = _airflow_of([*line.part.split(" / "), line.description], codes)
        if planned and quoted and planned != quoted:
            yield OtherAirflow(line, codes[quoted], quoted, planned, codes.get(planned))


def _airflow_of(texts: list[str], codes: dict[str, str | None]) -> str | None:
    """The airflow whose code ends one of the texts; None if none or several do."""
    named = {airflow for airflow, code in codes.items() if code for text in texts if bare(text).endswith(bare(code))}
    return named.pop() if len(named) == 1 else None
