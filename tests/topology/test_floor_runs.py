"""What is kept of a floor for sizes that come again: each value is what is worked out afresh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fabopt.floor.placement import place
from fabopt.parts.lookup import Lookup
from fabopt.solution import optimize
from fabopt.topology.clos import floor_runs
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.floor_runs import LayoutRuns, RunClasses
from tests.paths import few_or_many
from tests.samples.small import Json, case, catalog, inputs

KEPT = {id(value): name for name, value in vars(floor_runs).items() if isinstance(value, Lookup)}
FLOOR = {"rows": 2, "racks_per_row": 8, "rack_units": 42, "rack_pitch_m": 0.6}


def values_of(kept: Any) -> Any:
    """Positions and classes as lists; of counted runs the shares, which are all that is asked of them."""
    if isinstance(kept, RunClasses):
        return kept.classes.tolist(), (kept.counts / kept.counts.sum()).round(12).tolist()
    if isinstance(kept, np.ndarray):
        return kept.tolist()
    if isinstance(kept, tuple):
        return [values_of(one) for one in kept]
    return kept if kept is None or isinstance(kept, int | float) else values_of(tuple(vars(kept).values()))


@pytest.mark.drawn_longer
@pytest.mark.long(but=("4-fabric0", "9-fabric1"))
@pytest.mark.parametrize(
    ("servers", "fabric"),
    [
        (4, {"tiers": 2, "planes": "any", "max_oversubscription": 2}),
        (9, {"tiers": 2, "rails": "any", "striping": "any"}),
        (11, {"tiers": 3, "rails": "any"}),
        (10, {"tiers": 2, "planes": "any", "max_oversubscription": 2}),
    ],
)
def test_what_is_kept_is_what_is_worked_out_again(monkeypatch: pytest.MonkeyPatch, servers: int, fabric: Json) -> None:
    """Of every size and other setting that is looked at; in `make long` its rows of what else among them."""
    compared: Counter[str] = Counter()
    of, positions = Lookup.of, LayoutRuns._positions

    def checked(self: Any, owner: Any, key: Any, work_out: Callable[..., Any], *args: Any, **others: Any) -> Any:
        name, is_known = KEPT.get(id(self)), key in self.table(owner)
        value = of(self, owner, key, work_out, *args, **others)
        if name is not None and is_known:
            compared[name] += 1
            assert values_of(value) == values_of(work_out(*args, **others)), name
        return value

    def placed(self: LayoutRuns, key: Any, nic: Any, shape: Any) -> Any:
        value = positions(self, key, nic, shape)
        compared["placed"] += 1
        assert values_of(value) == values_of(place(self.layout, numbers_of(nic, shape), key.sizes))
        return value

    monkeypatch.setattr(Lookup, "of", checked)
    monkeypatch.setattr(LayoutRuns, "_positions", placed)
    parts = catalog()
    parts["servers"][0] |= {"rack_units": 8, "scale_up": {"domain_gpus": 4, "gbps_per_gpu": 3600}}
    content = case(fabric, servers=servers) | {"site": {"servers_per_rack": 3, "floor": FLOOR}}
    design = optimize.solve(inputs(content, parts), alternatives_s=few_or_many(0, 60))
    assert design.status == "optimal"
    assert {"_LEAVES", "_TO_LEAVES", "_TO_SPINES", "placed"} <= set(compared)
