"""The formulation that states the structure in CP-SAT agrees with the brute force and with fabopt."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.oracles.brute_force import solve
from tests.oracles.direct_cpsat import is_shuffle, solve_direct
from tests.paths import ROOT
from tests.samples.adapter import outline, run
from tests.samples.lengths import USUAL
from tests.samples.random_cases import generate
from tests.solution.test_brute_force import cage as a_cage, card, case, catalog, switch

REFERENCE = ROOT / "catalogs" / "reference"
TIME_LIMIT_S = 60
Json = dict[str, Any]


def reduced(seed: int) -> tuple[Json, Json]:
    """A random case within the scope of the direct formulation."""
    parts, wanted = generate("linear", seed)
    fabric = wanted["fabrics"][0]
    for key in ("striping", "rails"):
        fabric.pop(key, None)
    wanted.pop("include_servers", None)
    return parts, wanted | {"objective": "capex_usd"}


@pytest.mark.long(but=("18", "4"))
@pytest.mark.parametrize("seed", range(20))
def test_random_cases_agree(seed: int) -> None:
    parts, wanted = reduced(seed)
    status, cents, _ = solve_direct(parts, wanted, TIME_LIMIT_S)
    found = solve(parts, wanted)
    assert (status, cents) == (("infeasible", None) if found is None else ("optimal", found.capex_cents))
    theirs = outline(run(parts, wanted))
    assert cents == (None if theirs is None else theirs["capex"])


def test_counts_of_two_tiers() -> None:
    # 2 down, 2 up on 4 ports: 3 leaves for 5 servers; 2 spines with one link to each leaf.
    status, cents, counts = solve_direct(catalog(), case(5, {"tiers": [1, 2]}), TIME_LIMIT_S)
    assert (status, cents) == ("optimal", (5000 + 500 + 50 + 6 * 20) * 100)
    assert [counts[name] for name in ("leaves", "spines", "u", "m", "S")] == [3, 2, 2, 1, 2]


def test_planes_are_counted() -> None:
    parts = catalog(nics=[card("card", a_cage(2, "1x100"))])
    wanted = case(4, {"planes": 2, "min_gbps_per_gpu": 200, "tiers": [1, 2]})
    status, cents, counts = solve_direct(parts, wanted, TIME_LIMIT_S)
    assert (status, cents, counts["leaves"]) == ("optimal", 248_000, 2)


@pytest.mark.parametrize(
    "change",
    [{"objective": "power_w"}, {"limits": {"power_w": 1}}, {"include_servers": True}, {"fabrics": [{"name": "a"}]}],
)
def test_what_is_out_of_scope_is_refused(change: Json) -> None:
    with pytest.raises(ValueError, match="outside the direct formulation"):
        solve_direct(catalog(), case(4, {"tiers": 1}) | change, TIME_LIMIT_S)


def test_breaks_are_out_of_scope() -> None:
    parts = catalog(switches=[switch("switch", a_cage(4, "1x100"), stock=1)])
    with pytest.raises(ValueError, match="stock"):
        solve_direct(parts, case(4, {"tiers": 1}), TIME_LIMIT_S)


def reference() -> Json:
    """The reference catalog as plain Python, without shuffles, which one plane does not take."""
    parts: Json = dict(yaml.safe_load((REFERENCE / "catalog.yaml").read_text()) or {})
    for kind in ("switches", "nics", "transceivers", "cables", "fibres", "servers"):
        files = sorted((REFERENCE / kind).glob("*.yaml"))
        parts[kind] = [{"id": file.stem} | yaml.safe_load(file.read_text()) for file in files]
    parts["fibres"] = [fibre for fibre in parts["fibres"] if not is_shuffle(fibre)]
    return parts


@pytest.mark.long
@pytest.mark.slow
def test_1024_gpus_on_infiniband_of_the_reference_catalog() -> None:
    parts = reference()
    fabric = {"name": "compute", "tiers": [1, 2], "protocol": "infiniband"}
    wanted = {
        "name": "pod", "catalog": ["reference"], "server": "nvidia-dgx-h100", "servers": 128, "fabrics": [fabric],
        "rules": {"subnet-manager": False}, "site": {"distances_m": USUAL},
    }  # fmt: skip
    status, cents, _ = solve_direct(parts, wanted, TIME_LIMIT_S)
    theirs = outline(run(parts, wanted))
    assert theirs is not None
    assert (status, cents) == ("optimal", theirs["capex"])
