"""Notes on cliffs just below the demand, from the rows of *what else* that ``solution.cliff`` found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.problem.problem import Problem
from fabopt.schema.alternative import Alternative
from fabopt.schema.cliff import CLIFF

RATIO, BANDWIDTH, SERVERS, ATTACHMENTS = "oversubscription", "bandwidth", "servers", "attachments"


def cliff_notes(problem: Problem, alternatives: Sequence[Alternative]) -> Iterator[str]:
    """A note on each cliff just below the demand of the case."""
    several = len(problem.fabrics) > 1
    for row in alternatives:
        name = next((fabric.name for fabric in problem.fabrics if row.what.startswith(f"{fabric.name} ")), "")
        what = row.what.removeprefix(f"{name} ") if several else row.what
        if what in (RATIO, BANDWIDTH, SERVERS, ATTACHMENTS) and (row.capex_delta_usd or 0) < 0:
            of_fabric = f" of {name}" if several and what != SERVERS else ""
            counts = row.summary.partition(":")[0]
            yield f"{CLIFF} at {row.value}{of_fabric}: {counts}, -${-(row.capex_delta_usd or 0):,.0f}"
