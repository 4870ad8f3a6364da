"""Which racks have the servers of a layout. See docs/formulation/floor.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Ints


def racks_of_servers(plan: FloorPlan, usable: Ints, for_switches: Ints, needed: int, air_mw: int) -> Iterator[Ints]:
    """``needed`` racks for servers, shape (needed,), where there are so many: as the case names them, else in the order
    of the floor, pinned ones only if others are too few. ``usable``, ``for_switches``: racks, each of shape (racks
    listed,). ``air_mw``: heat of a rack's servers; where rows limit it, a row has as many racks as it takes, or one
    fewer, which leaves some to switches.
    """
    if plan.server_racks is not None:
        own = plan.server_racks[np.isin(plan.server_racks, usable)][:needed]
        yield from (own,) if len(own) == needed else ()
        return
    left = usable[~np.isin(usable, for_switches)]
    is_pinned = plan.pinned[left]
    ordered = np.concatenate([left[~is_pinned], left[is_pinned]])
    seen: set[bytes] = set()
    for spared in (0,) if plan.row_air_mw is None else (0, 1):
        taken = ordered if plan.row_air_mw is None else _in_cool_rows(plan, ordered, air_mw, spared)
        racks = np.sort(taken[:needed])
        if len(racks) == needed and racks.tobytes() not in seen:
            seen.add(racks.tobytes())
            yield racks


def _in_cool_rows(plan: FloorPlan, racks: Ints, air_mw: int, spared: int) -> Ints:
    """The first racks of each row of which it takes the heat, ``spared`` left out, in the order given."""
    assert plan.row_air_mw is not None
    left = (plan.row_air_mw // max(1, air_mw) - spared).tolist()
    kept = []
    for rack in racks.tolist():
        left[plan.row[rack]] -= 1
        if left[plan.row[rack]] >= 0:
            kept.append(rack)
    return np.array(kept, dtype=np.int64)
