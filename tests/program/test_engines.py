"""Four engines, one optimum, one design; and the written program means the same to another solver."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabopt.program.solvers import ENGINES, pulp
from fabopt.solution.formulation_text import formulation_text
from tests.paths import ROOT
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, product, solved

Maker = Callable[[], tuple[Json, Json]]
OTHERS = [engine for engine in ENGINES if engine != "cp-sat"]


def with_limit() -> tuple[Json, Json]:
    """A power limit between the leanest design and the cheapest, so that it decides."""
    cheapest, leanest = solved(case()), solved(case(objective="power_w"))
    assert cheapest.totals is not None and leanest.totals is not None
    limit = int((cheapest.totals.power_w + leanest.totals.power_w) / 2)
    assert leanest.totals.power_w < limit < cheapest.totals.power_w
    return case(limits={"power_w": limit}), catalog()


def with_breaks() -> tuple[Json, Json]:
    """Breaks near the quantities needed: more is bought than is used where that is cheaper."""
    parts = catalog()
    product(parts, "dr4-hot")["price_usd"] = [{"from": 1, "usd": 600}, {"from": 30, "usd": 450}]
    product(parts, "dr4")["price_usd"] = [{"from": 1, "usd": 700}, {"from": 28, "usd": 490}]
    product(parts, "nic-400")["price_usd"] = [{"from": 1, "usd": 1500}, {"from": 14, "usd": 1250}]
    return case(), parts


def with_stock() -> tuple[Json, Json]:
    """One switch lies in store, and of the cheap transceiver few can be had: kinds are mixed."""
    parts = catalog()
    product(parts, "large")["stock"] = 1
    product(parts, "dr4-hot")["supply"] = 13
    return case(), parts


def short_in_two_stages() -> tuple[Json, Json]:
    """Twice eight links between switches, and six of a cheaper kind: which of the two stages has them is a tie."""
    parts = catalog()
    product(parts, "dr4-hot")["supply"] = 13
    stages = [{"name": "first", "month": 0, "servers": 4}, {"name": "second", "month": 12, "servers": 8}]
    return case(stages=stages), parts


def with_ties() -> tuple[Json, Json]:
    """Twins under other names: every tie is broken by the order, not by the engine."""
    parts = catalog()
    for kind, names in (("switches", ["small", "large"]), ("transceivers", ["dr4-hot"]), ("nics", ["nic-400"])):
        parts[kind] += [{**product(parts, name), "id": f"{name}-twin"} for name in names]
    return case({"striping": "any", "rails": "any"}), parts


def three_tiers() -> tuple[Json, Json]:
    return case({"tiers": 3, "max_oversubscription": {"leaf": 2, "spine": 3}}, servers=16), catalog()


def by_cost_of_ownership() -> tuple[Json, Json]:
    return case(objective="tco_usd", finance={"energy_usd_per_kwh": 0.37}), catalog()


def with_servers() -> tuple[Json, Json]:
    """Servers count: their price at a break in the objective, their power in the limit and in the energy paid."""
    parts = catalog()
    product(parts, "gpu-4")["price_usd"] = [{"from": 1, "usd": 100000}, {"from": 9, "usd": 85000}]
    counted: Json = {"include_servers": True, "objective": "tco_usd", "servers": 8}
    cheapest = solved(case(**counted), parts)
    assert cheapest.totals is not None and cheapest.totals.cluster_power_w is not None
    return case(**counted, limits={"power_w": cheapest.totals.cluster_power_w}), parts


def two_fabrics() -> tuple[Json, Json]:
    """Two fabrics that share a budget and the slots of a server."""
    content = case({"nics_per_server": 2}, limits={"budget_usd": 200000})
    content["fabrics"].append(
        {"name": "storage", "role": "storage", "min_gbps_per_gpu": 100, "max_oversubscription": 2}
    )
    return content, catalog()


MAKERS = [
    with_limit, with_breaks, with_stock, short_in_two_stages, with_ties, three_tiers, by_cost_of_ownership,
    with_servers, two_fabrics,
]  # fmt: skip


@pytest.mark.long(but=("with_ties-scip", "by_cost_of_ownership-highs", "with_servers-scip", "two_fabrics-cbc"))
@pytest.mark.parametrize(
    ("make", "engine"),
    [
        # one other engine for each, in turn; all others take long
        pytest.param(make, engine, marks=[] if number == at % len(OTHERS) else [pytest.mark.long])
        for at, make in enumerate(MAKERS)
        for number, engine in enumerate(OTHERS)
    ],
)
def test_engines_agree(make: Maker, engine: str) -> None:
    content, parts = make()
    first, other = solved(content, parts), solved(content, parts, engine=engine)
    assert_proven(first)
    assert_proven(other)
    assert comparable(other) == comparable(first)


def test_servers_count_in_price_power_and_energy() -> None:
    content, parts = with_servers()
    counted = solved(content, parts)
    alone = solved({**content, "include_servers": False}, parts)
    assert counted.totals is not None and alone.totals is not None
    server = next(row for row in counted.bom if row.kind == "server")
    # nine servers at 85,000 USD are less than eight at 100,000
    assert (server.quantity, server.in_use, server.total_usd, server.power_w) == (9, 8, 765_000, 32_000)
    assert counted.totals.capex_usd == alone.totals.capex_usd + 765_000
    assert counted.totals.power_w == alone.totals.power_w
    assert counted.totals.cluster_power_w == alone.totals.power_w + 32_000
    # 32 kW for 5 years at a PUE of 1.4 and 0.10 USD
    assert counted.totals.tco_usd == pytest.approx(alone.totals.tco_usd + 765_000 + 32 * 6132, abs=0.01)


def test_breaks_buy_more_than_is_used() -> None:
    """The twin of ``with_breaks``: the scenario is worth its name only if a break is reached by buying more."""
    design = solved(*with_breaks())
    assert any(row.quantity > row.in_use for row in design.bom)


def test_short_supply_mixes_parts() -> None:
    design = solved(*with_stock())
    bought = {row.id: row.quantity for row in design.bom}
    assert 0 < bought["dr4-hot"] <= 13
    assert sum(1 for row in design.fabrics[0].links if row.from_ == "leaf") > 1


@pytest.mark.long("with_limit")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_written_program_has_the_same_optimum(make: Maker, tmp_path: Path) -> None:
    """Another reader of the MPS and LP text finds the design's objective, offset included (variable ``fixed``)."""
    content, parts = make()
    design = solved(content, parts)
    assert design.objective.value is not None
    mps, lp = tmp_path / "program.mps", tmp_path / "program.lp"
    mps.write_text(formulation_text(inputs(content, parts), "mps"))
    lp.write_text(formulation_text(inputs(content, parts), "lp"))
    found = optimum_of_mps(mps)
    assert found == pytest.approx(optimum_of_text(lp), rel=1e-9)
    if content.get("objective", "capex_usd") == "capex_usd":
        assert found / 100 == pytest.approx(design.objective.value, abs=0.004)


def optimum_of_mps(path: Path) -> float:
    """The optimum by PuLP's reader and CBC."""
    _, program = pulp.LpProblem.fromMPS(str(path))
    assert program.solve(pulp.PULP_CBC_CMD(msg=False, gapRel=0, gapAbs=0)) == pulp.LpStatusOptimal
    return float(pulp.value(program.objective))


def optimum_of_text(path: Path) -> float:
    """The optimum by CBC's own reader."""
    command = [
        pulp.PULP_CBC_CMD().path,
        str(path),
        "ratio",
        "0",
        "allow",
        "0",
        "solve",
        "solu",
        str(path.with_suffix(".sol")),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    first = path.with_suffix(".sol").read_text().splitlines()[0]
    assert first.startswith("Optimal"), first
    return float(first.rsplit(maxsplit=1)[-1])


def test_ortools_is_imported_before_pulp_and_pandas_is_not() -> None:
    """Decision record: OR-Tools first. HiGHS comes with OR-Tools; the package highspy cannot share its process."""
    loaded = "[name for name in sys.modules if name in ('ortools', 'pulp', 'highspy', 'pandas')]"
    code = f"import sys, fabopt.solution.optimize; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['ortools', 'pulp']"


def test_highspy_is_not_needed() -> None:
    assert importlib.util.find_spec("highspy") is None
    for package in ("ortools", "pulp"):
        plain = [one for one in importlib.metadata.requires(package) or () if "extra ==" not in one]
        assert not any(one.lower().startswith("highspy") for one in plain)


@pytest.mark.long
def test_cp_sat_survives_equal_ways_under_a_limit() -> None:
    """Of this case's last tie, eight equal candidates and two equal ways to join under a power limit, it once died."""
    code = (
        "from tests.samples import random_cases, small; parts, wanted = random_cases.generate('limited', 500053); "
        "print(small.solved(wanted, parts).status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.strip()) == (0, "optimal"), done.stderr
