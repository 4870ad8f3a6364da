"""Served models in cases: what is asked of the network is the least that keeps their limits; refusals of bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.serving import served_words, serving
from fabopt.problem.demand import case_service
from fabopt.schema.design import Design
from fabopt.schema.prediction import ServingUse
from fabopt.solution.changes import later_tokens
from fabopt.verify import verify
from fabopt.verify.jobs import RecountedService
from fabopt.workload.needs import Reach, flat, tapered
from fabopt.workload.remarks import service_notes
from fabopt.workload.served import least_of
from fabopt.workload.service import Service
from tests.mutations import document_of, rehashed
from tests.samples.shipped import shipped

Json = dict[str, Any]
NAME = "deepseek-v3-serving-256"


def case_of(**workload: object) -> Json:
    """The shipped case with other keys of its workload; None takes one away."""
    known: Json = {
        "model": "deepseek-v3", "task": "serving", "prompt_tokens": 4096, "output_tokens": 1024, "ttft_ms": 2000,
        "tpot_ms": 60, "plan": {"expert": 64}, "prefill": {"expert": 32}, **workload,
    }  # fmt: skip
    return {
        "name": "serves", "server": "nvidia-dgx-h100", "gpus": 256, "fabrics": [{"name": "compute"}],
        "workload": {key: value for key, value in known.items() if value is not None},
    }  # fmt: skip


def service_of(**workload: object) -> Service:
    inputs = inputs_from_objects(case_of(**workload))
    server = next(one for one in inputs.catalog.servers if one.id == inputs.case.server)
    service = case_service(inputs.case, server)
    assert service is not None
    return service


def use_of(design: Design) -> ServingUse:
    assert design.serving is not None
    return design.serving


def test_the_network_keeps_what_is_asked_and_no_less_would() -> None:
    """Of the shipped case: the least bandwidth, and the most ratio, are met by the search and by the recount."""
    use, service = use_of(shipped(NAME)), service_of()
    least, counted = least_of(service, Reach()), RecountedService(service)
    assert use.needs.min_gbps_per_gpu == least / 1000
    for keeps in (service.keeps, counted.keeps):
        assert keeps(flat(least, Reach())) and not keeps(flat(least - 1, Reach()))
    leaf = Fraction(str(use.needs.max_oversubscription["leaf"]))
    assert service.keeps(tapered(400_000, leaf, Fraction(1), Reach()))
    assert not service.keeps(tapered(400_000, leaf + Fraction(1, 1000), Fraction(1), Reach()))
    fabric = shipped(NAME).fabrics[0]
    assert fabric.oversubscription["leaf"] <= leaf and use.ttft_s <= 2 and use.tpot_s <= 0.06


def test_a_recount_by_ranks_agrees_on_any_network() -> None:
    """Both times, with GPUs of their own and with the same ones, at bandwidths that hold and that do not."""
    for prefill in ({"expert": 32}, None):
        service = service_of(prefill=prefill)
        counted = RecountedService(service)
        for mbps, ratio in ((400_000, 1), (100_000, 3), (20_000, 1)):
            network = tapered(mbps, Fraction(ratio), Fraction(1), Reach())
            assert counted.waits_s(network) == (service.ttft_s(network), service.tpot_s(network))


def test_limits_are_loosened_one_by_one_in_what_else() -> None:
    changes = [(one.what, one.value, dict(one.keys)) for one in later_tokens(inputs_from_objects(case_of()).case)]
    assert changes == [("ttft_ms", "4000", {"workload.ttft_ms": 4000}), ("tpot_ms", "120", {"workload.tpot_ms": 120})]
    assert not [*later_tokens(inputs_from_objects(case_of(ttft_ms=None, tpot_ms=None)).case)]


def test_times_grow_with_the_ratio() -> None:
    tapers = use_of(shipped(NAME)).tapers
    assert [one.leaf_ratio for one in tapers] == [1, 2, 4]
    for times in (
        [one.ttft_s for one in tapers],
        [one.tpot_s for one in tapers],
        [one.kv_send_s or 0 for one in tapers],
    ):
        assert times == sorted(set(times))


def test_the_answer_says_what_users_wait_for() -> None:
    design = shipped(NAME)
    told, statement = served_words(use_of(design)), serving(design)
    assert "tokens/s, the first after" in told and "expert binds" in told
    assert statement is not None and "128 GPUs that read (tensor 1, expert 32)" in statement.about


EDITS: dict[str, Callable[[Json], object]] = {
    "ttft_s": lambda use: use.update(ttft_s=use["ttft_s"] / 2),
    "kv_bytes_per_prompt": lambda use: use.update(kv_bytes_per_prompt=1),
    "tpot_limit_s": lambda use: use.update(tpot_limit_s=1),
    "decode": lambda use: use["decode"].update(at_once=4000),
    "tapers": lambda use: use["tapers"].pop(),
    "needs": lambda use: use["needs"].update(min_gbps_per_gpu=100),
    "binding": lambda use: use["needs"].update(binding="tensor"),
    "rate above leaves": lambda use: use["needs"].update(leaf_gbps_per_gpu=use["needs"]["leaf_gbps_per_gpu"] + 1),
    "ratio": lambda use: use["needs"]["max_oversubscription"].update(leaf=2),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_a_file_says_of_it_is_counted_again(edit: str) -> None:
    document = document_of(shipped(NAME))
    EDITS[edit](document["serving"])
    checks = verify(Design.model_validate_json(json.dumps(rehashed(document))))
    assert {check.name for check in checks if not check.ok} & {"service_needs_are_met", "service_is_recounted"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"model": "qwen3-32b", "prompt_tokens": 50_000, "plan": None, "prefill": None},
         r"50,000 \+ 1,024 = 51,024 tokens, and qwen3-32b is made for 40,960"),
        ({"ttft_ms": 100}, r"ttft_ms: no network keeps this: a prompt takes \d+.* ms of computation"),
        # 68 ms of computation on eight tensor ways; on two, which do more a second, 257
        ({"model": "llama3-70b", "prompt_tokens": 2048, "output_tokens": 512, "plan": None, "prefill": "auto",
          "ttft_ms": 50}, r"a prompt takes [67]\d\.\d+ ms of computation"),
        ({"tpot_ms": 5, "plan": {"micro_batch": 64, "expert": 64}}, "tpot_ms: no network keeps this"),
        ({"plan": {"micro_batch": 5000, "expert": 64}}, "5,000 sequences of 5,120 tokens a replica are more than"),
        ({"plan": {"expert": 48}}, "256 experts / 48 ways is no whole number"),
        ({"plan": {"pipeline": 2}}, "a plan of `task: serving` has no `pipeline`"),
        ({"prefill": {"gpus": 256}}, "256 of 256 GPUs, in servers of 8"),
        ({"prefill": {"gpus": 100}}, "a multiple of 8 up to 248"),
        ({"gpu_utilization": 0.4}, "`gpu_utilization` is of steps of training"),
        ({"task": None}, "`prompt_tokens` goes with `task: serving`"),
        ({"output_tokens": None}, "`task: serving` needs `output_tokens`"),
        ({"model": "megatron-1t", "plan": None, "prefill": {"gpus": 8}}, "GB of weights"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_refused(changed: Json, told: str) -> None:
    with pytest.raises(InputError, match=told):
        inputs_from_objects(case_of(**changed))


def test_a_cluster_is_split_where_both_kinds_can_hold_their_experts() -> None:
    """The nearest numbers of GPUs may leave room for few ways of the experts, and so for few sequences."""
    service = service_of(plan=None, prefill="auto", tpot_ms=40)
    assert service.reading.gpus + service.writing.gpus == 256
    assert service.writing.plan.expert >= 16 and service.sequences > 40


def test_a_ratio_of_utilization_is_refused() -> None:
    with pytest.raises(InputError, match="utilization is of steps of training"):
        inputs_from_objects(case_of() | {"objective": "usd_per_effective_gpu"})


def test_keys_that_ask_for_less_than_is_needed_are_told() -> None:
    use = use_of(shipped(NAME))
    assert list(service_notes(use)) == []
    (told,) = service_notes(use.model_copy(update={"ttft_s": 3}))
    assert "3,000 ms, and 2,000 is the limit" in told


def test_a_model_in_one_server_asks_for_little_but_its_prompts() -> None:
    """Experts of H200s fit a server: only keys and values leave it, and their bytes over the time are what is asked."""
    service = service_of(plan={"tensor": 8, "expert": 8}, prefill=None, model="gpt-oss-20b")
    assert least_of(service, Reach()) == 0
    apart = service_of(plan={"expert": 8}, prefill={"expert": 8, "gpus": 128}, model="gpt-oss-20b", ttft_ms=None)
    kept = apart.writing.kv_bytes
    network = flat(least_of(apart, Reach()), Reach())
    assert apart.sends_s(network) == kept * 8 / (network.server_mbps * 10**6)
    assert 0 < network.server_mbps < 400_000
