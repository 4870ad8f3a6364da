"""Jobs side by side against all designs of small random cases, with their servers in every placement."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.demand import jobs_of
from fabopt.problem.problem import problem_of
from fabopt.units import exact, rounded, usd
from tests.oracles.brute_jobs import Job, least_capex, least_ratio
from tests.samples.random_cases import generate
from tests.samples.small import Json
from tests.search.test_cost_per_gpu import ARCHITECTURE, LEAST, OPEN, solved

# Of one to three jobs; what a job of one server sends, as in seed 2, has no way over uplinks in the oracle.
CAPEX = (1, 5, 2, 16, 17, 18, 22, 23, 29)
RATIO = (5, 8, 0, 16, 18, 22, 23, 29)
MEGABITS_OF_GB = 8000


def mixed(seed: int, effective: bool) -> tuple[Json, Json]:
    """A random catalog, and a case of jobs whose servers are fewer than there are, some of which send."""
    parts, content = generate("linear", seed)
    dice = random.Random(f"mix {seed}")
    (server,) = [one for one in parts["servers"] if one["id"] == content["server"]]
    server |= {
        "price_usd": dice.choice([500, 5_000, 50_000]) * server["gpus"],
        "gpu_peak_tflops": {"bf16": dice.choice([100, 400, 1000])},
        "scale_up": {"domain_gpus": server["gpus"], "gbps_per_gpu": 3600},
    }
    jobs: list[Json] = []
    left = content["servers"]
    while left and len(jobs) < 3:
        servers = dice.randint(1, left if jobs else max(1, left - 1))
        left -= servers
        gpus = servers * server["gpus"]
        plan = {
            "batch": 8 * gpus,
            "pipeline": dice.choice([way for way in (1, 2, 4) if gpus % way == 0]),
            "overlap": {"data": dice.choice([0, 0.5, 1])},
        }
        name = f"acme-{len(jobs)}"
        model = {"name": name, "architecture": ARCHITECTURE, "plan": plan, "sources": [{"url": "a test"}]}
        hours = dice.choice([24, 24, 6])
        jobs.append({"model": model, "gpus": gpus, "gpu_utilization": dice.choice([0.05, 0.2, 0.5]), "hours": hours})
    if dice.random() < 0.5:
        jobs.append({"name": "sent", "sends_gb": dice.choice([1, 30]), "of": "acme-0", "every_s": 200})
    fabric = {key: value for key, value in content["fabrics"][0].items() if key not in OPEN}
    workload: Json = {"jobs": jobs} if effective else {"jobs": jobs, "max_exposed_communication": 0.2}
    case = {**content, "fabrics": [fabric], "workload": workload, "objective": "capex_usd"}
    if effective:
        case |= {"fabrics": [fabric | OPEN], "objective": "usd_per_effective_gpu"}
        case["rules"] = {**content.get("rules", {}), **LEAST}
    return parts, case


def jobs_in(parts: Json, case: Json) -> list[Job]:
    """The jobs of a case, each by itself."""
    read = inputs_from_objects(case, parts)
    problem = problem_of(read.case, read.catalog)
    sent = [job for job in case["workload"]["jobs"] if "sends_gb" in job]
    jobs = []
    for row in jobs_of(problem.case, problem.server):
        gpus = row.run.ranks.gpus
        sends = [Fraction(MEGABITS_OF_GB) * job["sends_gb"] / gpus / job["every_s"] for job in sent]
        alone = replace(row.run, placing=replace(row.run.placing, beside=None))
        sends_s = sum(sends, Fraction(0)) if row.job.title == "acme-0" else Fraction(0)
        jobs.append(Job(alone, gpus, row.need_mbps, exact(row.job.hours) / 24, sends_s))
    return jobs


@pytest.mark.long
@pytest.mark.parametrize("seed", CAPEX)
def test_no_design_that_gives_jobs_what_they_need_costs_less(seed: int) -> None:
    parts, case = mixed(seed, effective=False)
    jobs = jobs_in(parts, case)
    asked = {"min_gbps_per_gpu": max(1, *(job.need for job in jobs)) / 1000, "max_oversubscription": 10**6}
    least = least_capex(parts, {**case, "fabrics": [case["fabrics"][0] | asked]}, jobs)
    design = solved(case, parts)
    assert [check.detail for check in design.checks if not check.ok] == []
    if least is None:
        assert design.status == "infeasible"
        return
    assert design.status == "optimal" and design.objective.value is not None
    assert design.objective.value == usd(least)


@pytest.mark.long(but_every=9)
@pytest.mark.parametrize("seed", RATIO)
def test_no_design_has_a_lower_cost_of_a_working_gpu(seed: int) -> None:
    parts, case = mixed(seed, effective=True)
    least = usd(rounded(least_ratio(parts, case, jobs_in(parts, case))))
    design = solved(case, parts)
    assert [check.detail for check in design.checks if not check.ok] == []
    assert design.status == "optimal" and design.objective.value is not None
    assert design.objective.value == least
