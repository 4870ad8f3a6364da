"""Oversubscription that a fabric may have, by the boundary that its traffic crosses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Ratios:
    """The most oversubscription of what leaves a leaf, a pod, and a hall; ``hall``: None: any."""

    leaf: Fraction
    spine: Fraction
    hall: Fraction | None = None

    @property
    def are_one(self) -> bool:
        """Whether one number says them all."""
        return self.leaf == self.spine and self.hall is None

    def at_most(self, leaf: Fraction | None = None, spine: Fraction | None = None) -> Ratios:
        """These, and no more than ``leaf`` and ``spine``, where they are given."""
        return Ratios(
            self.leaf if leaf is None else min(self.leaf, leaf),
            self.spine if spine is None else min(self.spine, spine),
            self.hall,
        )
