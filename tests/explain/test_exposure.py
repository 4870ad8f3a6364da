"""Models for which no bandwidth is enough: it is said why, and what would do; a bandwidth that stands for it never."""

from __future__ import annotations

from typing import Any

import pytest

import fabopt
from fabopt.output.terminal.answer import infeasible_lines
from fabopt.output.terminal.no_screen import line_of
from fabopt.output.terminal.workload import needs_line
from fabopt.schema.conflict import Needed
from tests.workload.test_jobs import TRAINED, small_case

CASE: dict[str, Any] = {
    "name": "waits",
    "server": "nvidia-dgx-h100",
    "gpus": 8192,
    "workload": {"model": "gpt3-175b"},
    "fabrics": [{"name": "compute"}],
}


@pytest.mark.long
def test_micro_batches_are_named() -> None:
    """1,536 sequences over 8,192 / 64 = 128 replicas are 12 micro-batches of one each."""
    design = fabopt.solve(CASE, alternatives_s=0).design
    told = "\n".join(infeasible_lines(design))
    assert "1,000,000" not in told and "1e+06" not in told
    assert "each of 128 replicas works on 12 micro-batches a step, too few to hide it behind" in told
    assert {one.limit for one in design.conflicts} == {
        "workload.max_exposed_communication",
        "workload.plan.batch",
        "fabrics.compute.protocol",
    }


@pytest.mark.long
def test_every_lever_of_a_model_does_and_a_share_less_does_not() -> None:
    """Of sequences a step less is one more micro-batch of each of 128 replicas."""
    told = {one.limit: one for one in fabopt.solve(CASE, alternatives_s=0).design.conflicts}
    share, batch = told["workload.max_exposed_communication"].needed, told["workload.plan.batch"].needed
    assert isinstance(share, float) and isinstance(batch, int)
    assert told["workload.plan.batch"].minimal and told["workload.plan.batch"].value == 1536
    for workload, status in (
        ({"max_exposed_communication": share}, "optimal"),
        ({"max_exposed_communication": round(share - 0.0001, 4)}, "infeasible"),
        ({"plan": {"batch": batch}}, "optimal"),
        ({"plan": {"batch": batch - 128}}, "infeasible"),
    ):
        case = {**CASE, "workload": {"model": "gpt3-175b", **workload}}
        assert fabopt.solve(case, alternatives_s=0).status == status, workload


@pytest.mark.long
def test_bandwidth_that_the_case_says_goes_first_and_no_other_is_shown() -> None:
    design = fabopt.solve({**CASE, "fabrics": [{"name": "compute", "min_gbps_per_gpu": 400}]}, alternatives_s=0).design
    assert design.status == "optimal" and design.workload is not None
    assert "however fast the network is" in needs_line(design.workload)
    assert not any("1e+06" in note for note in design.notes)


@pytest.mark.long
@pytest.mark.parametrize("tried", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_sending_that_no_nic_carries_is_named_with_its_job_and_levers(tried: bool) -> None:
    """By hand: 90 GB of 64 GPUs are 11.25 Gb a GPU, in a twentieth of 0.3 s 750 Gb/s; NICs of 400 want 0.5625 s."""
    sent = {"name": "checkpoint", "sends_gb": 90, "of": "acme-8", "every_s": 0.3}
    case = small_case([{**TRAINED, "gpus": 64}, sent])
    told = {one.limit: one for one in fabopt.solve(case, alternatives_s=0).design.conflicts}
    asks = "job checkpoint asks for it: 64 GPUs of acme-8 send 90 GB every 0.3 s, 11.25 Gb a GPU in 5 % of that time"
    assert asks in told["fabrics.compute.min_gbps_per_gpu"].detail
    assert (told["workload.jobs.checkpoint.every_s"].needed, told["workload.jobs.checkpoint.every_s"].minimal) == (
        1,
        True,
    )
    share = told["workload.max_exposed_communication"].needed
    assert share == pytest.approx(11.25 / 400 / 0.3, abs=1e-4)
    for workload in ({"jobs": [{**TRAINED, "gpus": 64}, {**sent, "every_s": 1}]},
                     {"max_exposed_communication": share, "jobs": case["workload"]["jobs"]})[: 2 * tried]:  # fmt: skip
        assert fabopt.solve(case | {"workload": workload}, alternatives_s=0).status == "optimal"


def test_the_line_that_sends_less_often_is_of_its_job() -> None:
    change = Needed(limit="workload.jobs.checkpoint.every_s", needed=8)
    assert line_of(change) == ("every_s: 8", "job checkpoint")
