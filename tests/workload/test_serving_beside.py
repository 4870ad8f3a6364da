"""A job that serves beside jobs that train: what it asks, what its users wait for, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from fabopt.errors import InputError
from fabopt.inspect.decisions.decide import Decision, SolvedSide
from fabopt.io.case import inputs_from_objects
from fabopt.output.decisions import differences_of
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.workload import duration, job_lines, steps_words
from fabopt.problem.demand import services_of
from fabopt.problem.problem import problem_of
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.units import exact
from fabopt.verify import verify
from fabopt.verify.evidence import Evidence
from fabopt.verify.workload import fabric_named, network_on
from fabopt.workload.jobs import ServedJob
from fabopt.workload.needs import Reach, flat
from fabopt.workload.prediction import seconds
from fabopt.workload.served import least_of
from tests.oracles.brute_jobs import crossing, filled, placements
from tests.paths import ERRORS
from tests.samples.once import once
from tests.samples.small import Json, assert_proven
from tests.samples.workload_samples import MODEL
from tests.workload.test_jobs import TRAINED, small_case

GPUS = 128
ARCHITECTURE: Json = {**MODEL["architecture"], "max_sequence": 4096}
CHAT: Json = {
    "name": "chat", "model": MODEL | {"architecture": ARCHITECTURE}, "gpus": 32, "task": "serving",
    "prompt_tokens": 2048, "output_tokens": 256, "ttft_ms": 100, "tpot_ms": 20, "prefill": "auto",
}  # fmt: skip
WEIGHTS: Json = {"name": "weights", "sends_gb": 4, "of": "acme-8", "to": "chat", "every_s": 60}


def parts() -> Json:
    parts: Json = yaml.safe_load((ERRORS / "_fast.yaml").read_text())
    parts["servers"][0]["gpu_memory_gb"] = 80
    return parts


def _case(*jobs: Json, **keys: Any) -> Json:
    case = small_case([{**TRAINED, "share": 0.5}, *jobs], **keys)
    return {key: value for key, value in case.items() if key != "catalog"}


def _solved(case: Json) -> Design:
    return once(lambda: optimize.solve(inputs_from_objects(case, parts()), alternatives_s=0), case, "memory")


def _service(case: Json) -> ServedJob:
    read = inputs_from_objects(case, parts())
    problem = problem_of(read.case, read.catalog)
    (job,) = services_of(problem.case, problem.server)
    return job


MIX = _case(CHAT, WEIGHTS)


def test_a_service_beside_a_job_that_trains_is_proven_and_recounted() -> None:
    design = _solved(MIX)
    assert_proven(design)
    use = design.workload
    assert use is not None
    (row,) = use.services
    assert ([job.name for job in use.jobs], row.name, row.service.gpus) == (["acme-8"], "chat", 32)
    assert row.service.ttft_s <= 0.1 and row.service.tpot_s <= 0.02 and row.service.disaggregated
    assert use.needs.min_gbps_per_gpu == max(row.min_gbps_per_gpu, use.jobs[0].min_gbps_per_gpu)
    # its GPUs are none that work in a step
    assert use.usd_per_effective_gpu is None
    assert use.gpu_utilization == pytest.approx(use.jobs[0].gpu_utilization * (1 - use.jobs[0].paused) / 2, rel=1e-4)


def test_a_service_needs_the_least_that_keeps_its_limits_or_takes_what_is_sent() -> None:
    alone, beside = _service(_case(CHAT)), _service(MIX)
    assert alone.need_mbps == least_of(alone.service, Reach(8)) > 0
    assert alone.service.keeps(flat(alone.need_mbps, Reach(8)))
    assert not alone.service.keeps(flat(alone.need_mbps - 1, Reach(8)))
    (sent,) = beside.pauses
    assert beside.need_mbps == max(alone.need_mbps, sent.least_mbps(exact(0.05)))
    often = _service(_case(CHAT, WEIGHTS | {"every_s": 0.5}))
    assert often.need_mbps == often.pauses[0].least_mbps(exact(0.05)) > alone.need_mbps


def test_users_wait_as_in_the_worst_of_all_placements() -> None:
    """Of every way in which servers of both jobs can lie in leaves of the design, and beside the others."""
    design = _solved(MIX)
    assert design.workload is not None
    job, (row,) = _service(MIX), design.workload.services
    evidence = Evidence(design)
    network = network_on(evidence, fabric_named(evidence, "compute"))
    beside = job.placing.beside
    assert beside is not None and beside.gpus == GPUS > network.leaf_gpus
    sizes, needs = ([of[place] for of in beside.jobs] for place in (0, 1))
    has = {}
    for name, block, mbps in (
        ("leaf", network.leaf_gpus, network.leaf_mbps),
        ("pod", network.pod_gpus, network.pod_mbps),
    ):
        worst = [
            filled(out, needs, beside.own, mbps * block)
            for inside in placements(sizes, GPUS, block, 8)
            if (out := crossing(sizes, inside))[beside.own]
        ] if block < GPUS else []  # fmt: skip
        has[name] = min([network.server_mbps, *worst])
    there = replace(network, leaf_mbps=has["leaf"], pod_mbps=has["pod"], leaf_gpus=8, pod_gpus=8)
    assert (row.service.ttft_s, row.service.tpot_s) == tuple(
        map(seconds, (job.service.ttft_s(there), job.service.tpot_s(there)))
    )
    assert row.gbps_per_gpu["leaf"] == pytest.approx(float(has["leaf"]) / 1000)


def test_what_users_wait_for_is_said() -> None:
    design = _solved(MIX)
    use = design.workload
    assert use is not None
    service = use.services[0].service
    told = "\n".join(job_lines(use))
    assert f"first token after {duration(service.ttft_s)}" in told and "chat (acme-8, serving) on 32 GPUs" in told
    assert f"chat: first token after {duration(service.ttft_s)}" in steps_words(use)
    side = SolvedSide("one", {}, design)
    rows = {what: one for what, one, _ in differences_of(Decision("tiers", (side, side), "capex_usd", "", 0, 0, ()))}
    assert rows["first token of chat"] == duration(service.ttft_s)
    assert rows["each further token of chat"] == duration(service.tpot_s)
    assert rows["tokens a second of chat"] == f"{round(service.tokens_per_s):,}"


@pytest.mark.parametrize("forged", [("ttft_s", 0.01), ("tokens_per_s", 10**6), ("gpus", 64)])
def test_a_forged_service_is_refused(forged: tuple[str, object]) -> None:
    content = json.loads(design_bytes(_solved(MIX)))
    content["workload"]["services"][0]["service"][forged[0]] = forged[1]
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert failed & {"jobs_are_recounted", "workload_is_recomputed"}


def test_without_a_limit_on_steps_a_service_keeps_its_own() -> None:
    """Training may wait as long as it likes; users may not, whatever it takes meanwhile."""
    case = _case(CHAT) | {"workload": {"jobs": [{**TRAINED, "share": 0.5}, CHAT], "max_exposed_communication": 1}}
    design = _solved(case)
    assert_proven(design)
    assert design.workload is not None
    assert design.workload.services[0].service.ttft_s <= 0.1
    assert design.workload.needs.min_gbps_per_gpu == design.workload.services[0].min_gbps_per_gpu


@pytest.mark.long("jobs0-words0", "jobs1-words1")
@pytest.mark.parametrize(("jobs", "words"), [
    ([CHAT | {"prompt_tokens": 4000}], ["workload.jobs[1].prompt_tokens", "4,000 + 256 = 4,256 tokens", "4,096"]),
    ([CHAT | {"gpus": 256}], ["workload.jobs[1].gpus", "larger than the cluster", "up to 128"]),
    ([CHAT | {"gpus": 96}], ["64 + 96 = 160 GPUs", "up to 128"]),
    ([CHAT | {"gpus": None, "share": 0.7}], ["50 % + 70 % = 120 %"]),
    ([CHAT | {"gpus": 8}], ["workload.jobs[1].prefill", "one server"]),
    ([CHAT | {"ttft_ms": 0.01}], ["workload.jobs[1].ttft_ms", "no network keeps this"]),
    ([{key: value for key, value in CHAT.items() if key != "output_tokens"}], ["needs `output_tokens`"]),
    ([CHAT | {"task": "training"}], ["`prompt_tokens` goes with `task: serving`"]),
    ([CHAT | {"plan": {"pipeline": 2}}], ["has no `pipeline`"]),
    ([CHAT | {"gpu_utilization": 0.4}], ["`gpu_utilization` is of steps of training"]),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_the_arithmetic(jobs: list[Json], words: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        optimize.solve(inputs_from_objects(_case(*jobs), parts()))
    for word in words:
        assert word in str(refused.value)


def test_services_alone_and_a_ratio_of_utilization_are_refused_with_what_to_do() -> None:
    for case, words in (
        (_case() | {"workload": {"jobs": [CHAT]}}, "`task: serving` of the workload"),
        (_case(CHAT, objective="usd_per_effective_gpu"), "a service has times as limits"),
    ):
        with pytest.raises(InputError, match=words):
            inputs_from_objects(case, parts())
