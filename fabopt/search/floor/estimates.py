"""Candidates on floors too large for proofs: the best by typical runs, with measured runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fabopt.search.coefficients import least_of
from fabopt.topology.batch import AnyBatch, Sizing
from fabopt.topology.candidate import Candidate
from fabopt.topology.link_parts import Floats

# How far from the best estimate candidates are looked at, how many in a layout, and how many of them all are kept.
ESTIMATES_WITHIN = 0.02
MOST_MEASURED = 12
MOST_KEPT = 8


def likely(
    sizings: Iterable[Sizing], measure: Callable[[AnyBatch, int], tuple[Candidate, ...]], weights: Floats
) -> list[Candidate]:
    """The cheapest among the best candidates of every layout; ``weights``: of the items, shape (items,).

    ``measure``: the candidates of a size with switches in place.
    """
    measured: list[tuple[float, int, Candidate]] = []
    for sizing in sizings:
        places = [
            (batch.bound(index), number, index)
            for number, batch in enumerate(sizing.batches)
            for index in range(len(batch))
        ]
        for _, number, index in sorted(places)[:MOST_MEASURED]:
            for candidate in measure(sizing.batches[number], index):
                measured.append((least_of(candidate, weights), len(measured), candidate))
    return [candidate for *_, candidate in sorted(measured)[:MOST_KEPT]]
