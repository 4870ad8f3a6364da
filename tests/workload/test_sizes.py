"""Numbers of servers and of GPUs that are named, or searched: the model of the case, or each job, runs on them."""

from __future__ import annotations

import re
from itertools import product

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.io.workload import runs_on
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.server import ScaleUp
from fabopt.schema.workload import Workload
from fabopt.study.sweep.budgets import MostServers
from fabopt.workload.checks import wrongs_of
from tests.samples.small import Json
from tests.samples.workload_samples import H100, MODEL, middle_model
from tests.workload.test_jobs import TRAINED, small_case

NEAR = re.compile(r"such as ([0-9 or]+)$")


def _servers_that_run(content: Json, most: int) -> list[int]:
    read = inputs_from_objects(content)
    problem = problem_of(read.case, read.catalog)
    return [servers for servers in range(1, most + 1) if runs_on(problem.asked, problem.server, servers)]


@pytest.mark.parametrize("jobs", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_budget_buys_servers_that_the_model_runs_on(jobs: bool) -> None:
    """A batch of 1,024 on servers of 8 GPUs: powers of two of them; of a job beside a half of them, too."""
    given: Json = {"jobs": [TRAINED | {"share": 0.5}]} if jobs else {"model": MODEL}
    content = small_case([], workload=given, maximize="servers")
    running = _servers_that_run(content, 16)
    assert running == ([2, 3, 4, 5, 8, 9, 16] if jobs else [1, 2, 4, 8, 16])
    read = inputs_from_objects(content)
    sizes = MostServers(problem_of(read.case, read.catalog), Settings(), Clock(None))
    costs = {servers: graded.grades["capex_usd"] for servers in (7, 8, 15) if (graded := sizes.at(servers)[1])}
    sizes = MostServers(sizes.problem, Settings(), Clock(None))
    for enough, servers in ((7, 5 if jobs else 4), (8, 8), (15, 9 if jobs else 8)):
        assert sizes.buy(costs[enough]).problem.servers == servers


def test_numbers_of_gpus_that_a_refusal_names_run_the_plan() -> None:
    """Of every plan and number of GPUs that do not come out; 96 GPUs of a batch of 64 in replicas of 16 would not."""
    named = 0
    for tensor, pipeline, gpus in product((1, 2, 8), (1, 2, 3), range(8, 264, 8)):
        model = middle_model(tensor=tensor, pipeline=pipeline)
        wanted = Workload(model=model, max_exposed_communication=1)
        for wrong in wrongs_of(wanted, model, H100, gpus):
            if near := NEAR.search(wrong.allowed) if wrong.path == "plan" else None:
                for number in map(int, near[1].split(" or ")):
                    named += 1
                    assert number % 8 == 0 and not wrongs_of(wanted, model, H100, number)
    assert named > 20


def test_parts_of_domains_that_a_refusal_names_run_the_plan() -> None:
    """A batch of 64 is no multiple of 96 or 104 data ranks."""
    server = H100.model_copy(update={"scale_up": ScaleUp(domain_gpus=16, gbps_per_gpu=3600)})
    [wrong] = wrongs_of(Workload(model=middle_model(), gpus_per_domain=8), middle_model(), server, 100)
    assert wrong.path == "gpus_per_domain" and wrong.allowed == "a multiple of 8 GPUs, such as 64"
