"""Jobs beside each other: the worst placement against all placements, one job of all GPUs, and what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.inspect.decisions.decide import Decision, SolvedSide
from fabopt.io.case import inputs_from_objects
from fabopt.output.decisions import differences_of
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.workload import cost_of_ratio, duration
from fabopt.output.what_else import columns_of
from fabopt.output.words import percent
from fabopt.schema.alternative import Alternative, JobStep
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.verify.mixes import level_mbps
from fabopt.workload.many import FabricBandwidths, StepTimes
from fabopt.workload.placement import JobMix
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import FabricBandwidth, step_on, workload_of
from tests.oracles.brute_jobs import crossing, filled, placements
from tests.paths import ERRORS, ROOT
from tests.samples.once import once
from tests.samples.small import Json, assert_proven
from tests.samples.workload_samples import H100, MODEL, middle_model

NUM_MIXES = 400


def _mixes() -> Iterator[tuple[JobMix, int]]:
    """Random jobs of servers of 8 GPUs, and blocks of one server up to all but one."""
    for seed in range(NUM_MIXES):
        dice = random.Random(seed)
        needs = [0, 50, 100, 100, 400, dice.randint(1, 400)]
        jobs = tuple((8 * dice.randint(1, 5), dice.choice(needs)) for _ in range(dice.randint(1, 4)))
        servers = sum(gpus for gpus, _ in jobs) // 8 + dice.choice([0, 0, 1, 3])
        if servers > 1:
            block = dice.choice([servers - 1, dice.randint(1, servers - 1)])
            yield JobMix(jobs, dice.randrange(len(jobs)), 8 * servers, 8), 8 * block


def _sizes(beside: JobMix) -> list[int]:
    return [gpus for gpus, _ in beside.jobs]


def test_demand_is_that_of_the_worst_of_all_placements() -> None:
    """The sum of what the GPUs of a block need; nothing crosses of a job that is all in it."""
    several = 0
    for beside, block in _mixes():
        every = [
            sum(gpus * need for gpus, (_, need) in zip(crossing(_sizes(beside), inside), beside.jobs, strict=True))
            for inside in placements(_sizes(beside), beside.gpus, block, beside.server_gpus)
        ]
        assert beside.demand_mbps(block) == Fraction(max(every), block)
        assert beside.demand_mbps(np.array([block]))[0] == pytest.approx(max(every) / block)
        for last in range(8, min(block, beside.gpus - block) + 1, 8):  # a last block has as many uplinks
            assert beside.demand_mbps(last) * last <= max(every)
        several += len(every) > 1
    assert several > NUM_MIXES // 2
    assert beside.demand_mbps(beside.gpus) == 0


def test_a_job_has_what_the_worst_of_all_placements_leaves() -> None:
    """Exactly, in floating point, and as the check counts it; no job less than a fair part of the block."""
    more = 0
    for beside, block in _mixes():
        mbps = Fraction(120)
        shares = [
            filled(out, [need for _, need in beside.jobs], beside.own, mbps * block)
            for inside in placements(_sizes(beside), beside.gpus, block, beside.server_gpus)
            if (out := crossing(_sizes(beside), inside))[beside.own]
        ]
        if not shares:
            continue
        share = beside.share_mbps(mbps, block)
        assert share == min(shares) >= mbps
        assert level_mbps(beside, mbps, block) == share
        assert beside.share_mbps(np.array([120.0]), np.array([block]))[0] == pytest.approx(float(share))
        more += share > mbps
    assert more > 5


def test_all_have_what_they_need_where_the_demand_is_met() -> None:
    """The least that a block must give is the least with which every job in its own worst block has its need."""
    for beside, block in _mixes():
        asked = beside.demand_mbps(block)
        out = [job for job, (gpus, need) in enumerate(beside.jobs) if gpus > beside.server_gpus and need]
        if not asked or not out:
            continue
        for more, is_enough in ((Fraction(1), True), (Fraction(999, 1000), False)):
            has = [beside.of(job).share_mbps(asked * more, block) >= beside.jobs[job][1] for job in out]
            assert all(has) == is_enough


def test_steps_beside_others_are_alike_in_floating_point() -> None:
    model = middle_model(tensor=2)
    run = workload_of(model, ranks_of(model, model.plan, 32), H100, None)
    beside = JobMix(((32, 90_000), (64, 10_000)), 0, 128, 8)
    run = replace(run, placing=replace(run.placing, placement="scattered", beside=beside))
    alone = replace(run, placing=replace(run.placing, beside=None))
    for block in (32, 64, 96):
        network = FabricBandwidth(Fraction(400_000), Fraction(50_000), Fraction(50_000), block, 128)
        arrays = FabricBandwidths(4e5, np.array([5e4]), np.array([5e4]), np.array([block]), np.array([128]), False)
        seconds = step_on(run, network).step_s
        assert StepTimes(run).step_s(arrays)[0] == pytest.approx(float(seconds))
        fair = replace(network, leaf_gpus=16, pod_gpus=16, leaf_mbps=beside.share_mbps(Fraction(50_000), block))
        assert seconds == step_on(alone, replace(fair, pod_mbps=Fraction(400_000))).step_s


# -- cases ------------------------------------------------------------------------------------------------------------

TRAINED: Json = {"model": MODEL, "gpu_utilization": 0.5}
GPUS = 128
THOUSANDTH_GBPS = 0.001


def small_case(jobs: list[Json], **keys: Any) -> Json:
    return {
        "name": "jobs",
        "catalog": [str(ERRORS / "_fast.yaml")],
        "server": "acme-fast",
        "gpus": GPUS,
        "workload": {"jobs": jobs},
        "fabrics": [{"name": "compute"}],
        "resilience": "none",
        **keys,
    }


def _solved(case: Json) -> Design:
    return once(lambda: optimize.solve(inputs_from_objects(case), alternatives_s=0), case)


MIX = small_case(
    [
        {**TRAINED, "share": 0.5},
        {"name": "tune", "model": MODEL, "gpus": 16, "plan": {"tensor": 2, "batch": 64}, "hours": 12},
        {"name": "checkpoint", "sends_gb": 90, "of": "acme-8", "every_s": 1800},
        {"name": "weights", "sends_gb": 4, "of": "acme-8", "to": "tune", "every_s": 60},
    ]
)


@pytest.mark.long
@pytest.mark.parametrize("keys", [{}, pytest.param({"objective": "usd_per_effective_gpu"}, marks=pytest.mark.long)])
def test_one_job_of_all_gpus_is_the_model(keys: Json) -> None:
    """The same design and the same words, by number, share, or what is left."""
    case = small_case([], **keys) | {"workload": TRAINED}
    plain = _solved(case)
    for size in ({}, {"share": 1}, {"gpus": 128}):
        one = _solved(small_case([TRAINED | size], **keys))
        assert one.workload == plain.workload
        assert one.fabrics == plain.fabrics
        assert one.notes == plain.notes
        assert (one.objective.value, one.objective.decision) == (plain.objective.value, plain.objective.decision)
        assert_proven(one)


RACKS: Json = {
    "name": "racks", "server": "nvidia-gb200-nvl72-tray", "gpus": 256, "fabrics": [{"name": "compute"}],
    "workload": {
        "jobs": [
            {"name": "a", "model": "llama3-70b", "gpus": 128, "plan": {"batch": 256, "tensor": 4}},
            {"name": "b", "model": "llama3-8b", "gpus": 64, "plan": {"batch": 64}},
        ],
        "gpus_per_domain": 64, "max_exposed_communication": 0.5,
    },
}  # fmt: skip


@pytest.mark.long
def test_jobs_on_racks_have_spares() -> None:
    """64 of 72 at work: shares are of these, and four racks are bought for 256."""
    design = _solved(RACKS)
    assert design.workload is not None
    assert (design.stages[-1].servers, [row.gpus for row in design.workload.jobs]) == (72, [128, 64])
    assert any("counted with 64 of the 72" in note and "32 GPUs in all are spares" in note for note in design.notes)
    assert_proven(design)


def test_one_job_of_all_gpus_of_racks_has_the_spares_of_the_model() -> None:
    plan = {"pipeline": 4, "virtual_stages": 4, "expert": 64, "batch": 4096}
    model = {"model": "deepseek-v3", "software": "tuned", "max_exposed_communication": 0.9, "plan": plan}
    plain, one = (
        inputs_from_objects(asked).case
        for asked in (RACKS | {"workload": model}, _as_jobs(RACKS | {"workload": model}))
    )
    assert plain.workload is not None and one.workload is not None
    assert plain.workload.gpus_per_domain == one.workload.gpus_per_domain == 64


def _as_jobs(case: Json) -> Json:
    """The case with its model as the only job."""
    wanted = dict(case["workload"])
    job = {key: wanted.pop(key) for key in ("model", "plan", "gpu_utilization") if key in wanted}
    return case | {"workload": wanted | {"jobs": [job]}}


def _hold_alike(case: Json) -> None:
    plain, one = (optimize.solve(inputs_from_objects(asked)) for asked in (case, _as_jobs(case)))
    assert (one.status, one.totals, one.bom, one.workload) == (plain.status, plain.totals, plain.bom, plain.workload)
    assert (one.fabrics, one.notes, one.alternatives) == (plain.fabrics, plain.notes, plain.alternatives)
    assert all(check.ok for design in (plain, one) for check in verify(design))
    assert (one.objective.value, one.objective.bound) == (plain.objective.value, plain.objective.bound)


@pytest.mark.long
@pytest.mark.parametrize("name", ["llama3-405b-8192-gpus", "racks"])
def test_one_job_of_all_gpus_is_the_shipped_case(name: str) -> None:
    racks = {
        "name": "racks", "server": "nvidia-gb200-nvl72-tray", "gpus": 576, "objective": "usd_per_effective_gpu",
        "workload": {"model": "llama3-70b", "software": "tuned", "plan": {"batch": 1152, "tensor": 4, "pipeline": 2}},
        "fabrics": [{"name": "compute", "protocol": "infiniband"}],
    }  # fmt: skip
    _hold_alike(racks if name == "racks" else yaml.safe_load((ROOT / "cases" / f"{name}.yaml").read_text()))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_one_job_of_all_gpus_is_the_model_in_random_cases(seed: int) -> None:
    """Plans, limits, ratios, redundancy and objectives; with and without a design."""
    dice = random.Random(seed)
    tensor, pipeline = dice.choice([1, 2, 4, 8]), dice.choice([1, 2, 4])
    fabric = dice.choice([{}, {"max_oversubscription": 2}, {"min_gbps_per_gpu": 100}, {"tiers": 2}, {"planes": "any"}])
    wanted: Json = {**TRAINED, "plan": {"tensor": tensor, "pipeline": pipeline}}
    wanted |= {"max_exposed_communication": dice.choice([0.02, 0.05, 0.2]), "other_jobs": dice.choice([0, 0.25])}
    case = small_case([], fabrics=[{"name": "compute", **fabric}], gpus=dice.choice([64, 128, 256]))
    case |= {"workload": wanted, "resilience": dice.choice(["none", "default"])}
    _hold_alike(case | ({"objective": "usd_per_effective_gpu"} if seed % 3 == 0 else {}))


def test_a_mix_is_proven_and_recounted() -> None:
    design = _solved(MIX)
    assert_proven(design)
    use = design.workload
    assert use is not None
    assert [(row.name, row.gpus) for row in use.jobs] == [("acme-8", 64), ("tune", 16)]
    assert use.needs.min_gbps_per_gpu == max(row.min_gbps_per_gpu for row in use.jobs)
    working = [row.gpus * row.gpu_utilization * (1 - row.paused) for row in use.jobs]
    assert use.gpu_utilization == pytest.approx((working[0] + working[1] / 2) / GPUS, rel=1e-4)
    # a replica has two GPUs, each of which takes half
    assert use.jobs[1].paused == pytest.approx(4 * 8 / 2 / use.jobs[1].gbps_per_gpu["leaf"] / 60, rel=1e-3)


def test_every_job_is_named_where_figures_of_steps_are() -> None:
    """By hand: the step at 3:1 over that at 1:1; no figure of a step without the name of its job."""
    design = _solved(MIX)
    side = SolvedSide("one", {}, design)
    rows = {what: one for what, one, _ in differences_of(Decision("tiers", (side, side), "capex_usd", "", 0, 0, ()))}
    use = design.workload
    assert use is not None
    for job in use.jobs:
        at = job.tapers["leaf"]
        assert rows[f"3:1 costs {job.name}"] == f"{100 * (at['3:1'] / at['1:1'] - 1):.2g} % of a step at the leaf"
        assert rows[f"step of {job.name}"] == duration(job.step_s)
        assert rows[f"tokens a second of {job.name}"] == f"{round(job.tokens_per_s):,}"
    assert rows["utilization of all jobs"] == percent(use.gpu_utilization)
    assert not {"step", "tokens a second", "utilization"} & set(rows)
    assert cost_of_ratio({}, 3) == "nothing"
    jobs = {job.name: JobStep(step_s=1, tokens_per_s=job.tokens_per_s, gpu_utilization=0.3) for job in use.jobs}
    row = Alternative(what="a", value="b", summary="c", capex_usd=1, gpu_utilization=0.25, jobs=jobs)
    told = {column.title: column.cell(row) for column in columns_of(design.model_copy(update={"alternatives": (row,)}))}
    assert told["utilization of all jobs"] == percent(0.25)
    assert [told[f"tokens/s of {job.name}"] for job in use.jobs] == [f"{round(job.tokens_per_s):,}" for job in use.jobs]
    assert not {"step", "tokens/s", "utilization"} & set(told)


def test_less_is_bought_for_a_mix_than_for_its_hungriest_job_alone() -> None:
    """GPUs that need less leave uplinks to those that need more, but for jobs that fill a leaf."""
    alone, mixed = (_solved(small_case([job])) for job in (TRAINED, {**TRAINED, "gpus": 16}))
    assert alone.totals is not None
    assert mixed.totals is not None
    assert mixed.totals.capex_usd < alone.totals.capex_usd


def test_a_part_of_the_cluster_beside_nothing() -> None:
    design = _solved(small_case([{**TRAINED, "gpus": 64}]))
    assert design.workload is not None
    assert [row.gpus for row in design.workload.jobs] == [64]
    assert_proven(design)


def test_a_job_of_all_gpus_for_a_part_of_the_day_is_proven() -> None:
    """Its needs are those of the model, its GPUs work for half of the day."""
    whole, half = (_solved(small_case([{**TRAINED, "hours": hours}])) for hours in (24, 12))
    assert_proven(half)
    assert half.workload is not None and whole.workload is not None
    assert half.workload.jobs[0].min_gbps_per_gpu == whole.workload.needs.min_gbps_per_gpu
    assert half.workload.gpu_utilization == pytest.approx(whole.workload.gpu_utilization / 2, rel=1e-4)


@pytest.mark.long
def test_without_a_limit_jobs_ask_for_nothing_and_what_is_waited_for_is_said() -> None:
    """A job that can do nothing but send is proven too."""
    jobs = [
        job if job.get("name") != "checkpoint" else {**job, "sends_gb": 9_000_000} for job in MIX["workload"]["jobs"]
    ]
    design = _solved(MIX | {"workload": {"jobs": jobs, "max_exposed_communication": 1}})
    assert_proven(design)
    assert design.workload is not None and design.workload.needs.min_gbps_per_gpu <= THOUSANDTH_GBPS
    assert design.workload.jobs[0].paused > 1
    assert [note for note in design.notes if "acme-8 waits" in note and "for what is sent" in note]


@pytest.mark.long
def test_the_number_of_servers_that_a_no_names_is_one_on_which_the_model_runs() -> None:
    """Sixteen servers of eight GPUs; the batch of 1,024 comes out in powers of two."""
    whole = _solved(small_case([], workload={"model": MODEL}))
    assert whole.totals is not None
    case = small_case([], workload={"model": MODEL}, limits={"budget_usd": whole.totals.capex_usd - 1})
    sizes = {one.limit: one.needed for one in _solved(case).conflicts}
    assert sizes["gpus"] == GPUS // 2
    assert _solved(case | {"gpus": GPUS // 2}).status == "optimal"


def _failing(content: Json) -> set[str]:
    return {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}


@pytest.mark.long(but=("forged0",))
@pytest.mark.parametrize("forged", [
    ("gpus", 128), ("step_s", 1), ("gbps_per_gpu", {"leaf": 399}), ("paused", 0.4), ("min_gbps_per_gpu", 1),
])  # fmt: skip
def test_a_forged_job_is_refused(forged: tuple[str, object]) -> None:
    content = json.loads(design_bytes(_solved(MIX)))
    content["workload"]["jobs"][1][forged[0]] = forged[1]
    assert _failing(content) & {"jobs_are_recounted", "workload_is_recomputed"}


def test_a_forged_demand_is_refused() -> None:
    content = json.loads(design_bytes(_solved(MIX)))
    content["workload"]["demanded_gbps_per_gpu"]["leaf"] = 1
    assert "jobs_are_recounted" in _failing(content)


@pytest.mark.parametrize(("jobs", "words"), [
    ([{**TRAINED, "share": 0.6}, {"name": "b", **TRAINED, "share": 0.6}], ["60 % + 60 % = 120 %"]),
    ([{**TRAINED, "gpus": 256}], ["workload.jobs[0].gpus", "larger than the cluster", "up to 128"]),
    ([{**TRAINED, "gpus": 128}, {"name": "b", **TRAINED, "gpus": 64}], ["128 + 64 = 192", "up to 128"]),
    ([{**TRAINED, "gpus": 37}], ["workload.jobs[0]", "37 GPUs are no whole servers"]),
    ([{**TRAINED, "gpus": 48}], ["workload.jobs[0].plan.batch", "does not divide the batch"]),
    ([{**TRAINED, "gpus": 64, "share": 0.5}], ["either `gpus` or `share`"]),
    ([TRAINED, {"name": "c", "sends_gb": 3, "of": "nobody", "every_s": 3}], ["no job 'nobody'", "acme-8"]),
    ([TRAINED, {"name": "c", "sends_gb": 3}], ["`of`", "`every_s`"]),
    ([TRAINED, {"name": "c", "sends_gb": 1e8, "of": "acme-8", "every_s": 1}], ["1e+08 GB of 128 GPUs", "Gb/s a GPU"]),
    ([TRAINED, {"name": "c", "sends_gb": 1, "of": "acme-8", "to": "acme-8", "every_s": 1}], ["'acme-8' to itself"]),
    ([TRAINED, TRAINED], ["two jobs are 'acme-8'"]),
    ([{"model": "no-such-model"}], ["workload.jobs[0].model", "unknown model"]),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_the_arithmetic(jobs: list[Json], words: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        optimize.solve(inputs_from_objects(small_case(jobs)))
    for word in words:
        assert word in str(refused.value)


def test_keys_of_one_job_do_not_go_beside_jobs() -> None:
    for key, value in (("model", MODEL), ("placement", "packed"), ("task", "training")):
        with pytest.raises(InputError) as refused:
            inputs_from_objects(small_case([]) | {"workload": {"jobs": [TRAINED], key: value}})
        assert f"`{key}`" in str(refused.value)


def test_families_that_are_not_timed_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        inputs_from_objects(
            small_case([TRAINED | {"gpus": 64}], fabrics=[{"name": "compute", "topologies": ["dragonfly"]}])
        )
    assert "`workload.jobs` asks for" in str(refused.value)


IN_GROUPS: Json = {
    "name": "in-groups", "server": "nvidia-dgx-h100", "gpus": 512,
    "fabrics": [{"name": "compute", "protocol": "infiniband"}],
    "workload": {"jobs": [{"name": name, "model": "llama3-8b", "gpus": 16, "plan": "auto"} for name in ("a", "b")]},
}  # fmt: skip


@pytest.mark.long
def test_no_boundary_above_small_jobs_has_more_than_the_ratio_of_the_rule() -> None:
    """Two jobs of two servers ask next to nothing of leaves of 32; whatever comes after them asks for more."""
    held, free = (_solved(IN_GROUPS | {"rules": rules}) for rules in ({}, {"robust-designs": False}))
    leaves = [next(tier for tier in design.fabrics[0].tiers if tier.role == "leaf") for design in (held, free)]
    ratios = [leaf.down_ports / leaf.up_ports for leaf in leaves]
    assert ratios[0] <= 8 < ratios[1]
    assert held.workload is not None and held.workload.needs.max_oversubscription == {"leaf": 8, "spine": 8}
    assert any("`rules: {robust-designs: false}`" in note for note in held.notes)
    assert not any("robust-designs" in note for note in free.notes)
    assert held.totals is not None and free.totals is not None
    assert held.totals.capex_usd > free.totals.capex_usd
    for design in (held, free):
        assert_proven(design)


@pytest.mark.long
def test_a_budget_that_only_a_leaner_network_keeps_is_refused_with_the_rule() -> None:
    """The rule never gives way to a limit; its key is named with the price that solving the case with it gives."""
    free = _solved(IN_GROUPS | {"rules": {"robust-designs": False}})
    assert free.totals is not None
    refused = _solved(IN_GROUPS | {"limits": {"budget_usd": free.totals.capex_usd}})
    assert refused.status == "infeasible"
    prices = {conflict.limit: conflict.capex_usd for conflict in refused.conflicts}
    assert prices["rules.robust-designs"] == free.totals.capex_usd
