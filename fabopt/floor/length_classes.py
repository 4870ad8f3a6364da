"""Length classes: a run counts as the shortest length on sale that covers it.

Arrays ``lengths_m`` hold all lengths on sale, rising, in metres, shape (classes,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fabopt.floor.racks import Floats, Ints

# Runs are rounded to a nanometre: a length covers a run that is longer by less.
_TOLERANCE_M = 1e-9


def classes_of_runs(lengths_m: Floats, run_m: ArrayLike) -> Ints:
    """Index of the class of every run, shape of ``run_m``; the number of classes where no length is enough."""
    return np.asarray(np.searchsorted(lengths_m, np.asarray(run_m) - _TOLERANCE_M))


def counted_m(lengths_m: Floats, run_m: float) -> float:
    """The shortest length on sale, in metres, that covers a run; the run itself if none does."""
    length_class = int(classes_of_runs(lengths_m, run_m))
    return float(lengths_m[length_class]) if length_class < len(lengths_m) else run_m
