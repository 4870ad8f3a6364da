"""Published workloads: sizes, operations, volumes and factors of ``tests/published/workloads.yaml``, and step times."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from pydantic import ValidationError

from fabopt.io.workload import read_model
from fabopt.schema.workload import Software, Within, Workload
from fabopt.workload.architecture import flops, parameters
from fabopt.workload.collectives import factor
from fabopt.workload.ends import allowed, placed
from fabopt.workload.gpus import GPUS
from fabopt.workload.prediction import Prediction
from fabopt.workload.ranks import ranks_of
from fabopt.workload.stages import LONG_TOKENS, LONGER_BAND, SOFTWARE_FACTORS, at_scale, band, slow_end_s
from fabopt.workload.timing import step_on
from fabopt.workload.volumes import gpu_parameters, traffic_of
from tests.published_runs import (
    CALIBRATION,
    CONCERNS,
    FURTHER_DATA,
    FURTHER_PAGE,
    KINDS,
    PAGE,
    Run,
    by_generation,
    calibrated,
    changed_terms,
    data,
    errors,
    fitted_runs,
    held_out,
    latest_runs,
    latest_table,
    mean_error,
    run_of,
    runs,
    scalings,
    summary,
    table,
    terms_table,
)
from tests.samples.workload_samples import (
    A100,
    H100,
    HPN,
    LLAMA,
    LLAMA_CLUSTER,
    MEGATRON,
    NCCL,
    llama,
    megatron,
    network,
    on,
)

BILLION, GIGA = 10**9, 10**9
MEMBERS = (2, 3, 8, 64, 1000)


def digits(number: float) -> int:
    """Decimals that a number is printed with."""
    return len(repr(number).partition(".")[2])


@pytest.mark.parametrize("row", MEGATRON["cases"], ids=lambda row: f"{row['parameters_b']}B")
def test_parameters_of_megatron(row: dict[str, Any]) -> None:
    """Narayanan et al. 2021, table 1, to the printed digit; its formula exactly, but for the last norm's 2 h."""
    model = megatron(row)
    found, (layers, h) = parameters(model.architecture).total, (row["layers"], row["hidden"])
    printed = row["parameters_b"]
    assert round(found / BILLION, digits(printed) if isinstance(printed, float) else 0) == printed
    published = 12 * layers * h**2 * (1 + Fraction(13, 12 * h) + Fraction(51200 + 2048, 12 * layers * h))
    assert found - published == 2 * h


@pytest.mark.parametrize("row", MEGATRON["cases"], ids=lambda row: f"{row['parameters_b']}B")
def test_operations_of_megatron(row: dict[str, Any]) -> None:
    """The same, section 5.1: 96 B s l h^2 (1 + s/(6 h) + V/(16 l h)), exactly."""
    model, (layers, h) = megatron(row), (row["layers"], row["hidden"])
    published = 96 * 2048 * layers * h**2 * (1 + Fraction(2048, 6 * h) + Fraction(51200, 16 * layers * h))
    assert flops(model, "full").hardware == published
    assert on(model, A100, row["gpus"]).gpu_flops(hardware=True) * row["gpus"] == row["batch"] * published


@pytest.mark.parametrize(
    ("name", "billions", "active"),
    [
        ("gpt3-175b", 175, None),  # Brown et al. 2020, table 2.1: 175.0B, with the embeddings that we count: 174.6B
        ("llama3-8b", 8, None),  # The Llama 3 Herd of Models, table 3
        ("llama3-70b", 70, None),
        ("llama3-405b", 405, None),
        ("mixtral-8x22b", 141, 39),  # mistral.ai/news/mixtral-8x22b
        ("deepseek-v3", 671, 37),  # arXiv 2412.19437: 671B, 37B of them for a token
        ("megatron-1t", 1008, None),
    ],
)
def test_parameters_of_the_library(name: str, billions: int, active: int | None) -> None:
    """A published name may be cut off instead of rounded: 405.85 billion are called 405B."""
    model = read_model(name, Path())
    found = parameters(model.architecture)
    assert model.parameters_b == billions and model.active_parameters_b == active
    assert billions in (int(found.total / BILLION), round(found.total / BILLION))
    assert active is None or active in (int(found.active / BILLION), round(found.active / BILLION))


@pytest.mark.parametrize("row", LLAMA["cases"], ids=lambda row: str(row["gpus"]))
def test_llama_plan(row: dict[str, Any]) -> None:
    """The Llama 3 Herd of Models, table 4: the same replicas, 16M tokens a step, MFU = Tflop/s over the peak.

    Of the second row the quotient is 0.404, printed as 0.41: the Tflop/s are rounded too (400 stands for up to 405).
    """
    model = llama(row)
    ranks = ranks_of(model, model.plan, row["gpus"])
    assert (model.plan.tensor, model.plan.pipeline, ranks.data) == (row["tp"], row["pp"], row["dp"])
    assert model.architecture.sequence == row["sequence"]
    assert model.plan.batch * row["sequence"] == 2**24
    peak = H100.gpu_peak_tflops["bf16"]
    assert round((row["tflops_per_gpu"] - 5) / peak, 2) <= row["mfu"] <= round((row["tflops_per_gpu"] + 5) / peak, 2)


def test_volumes_of_hpn() -> None:
    """Alibaba HPN, SIGCOMM 2024, table 3: 5.5 GB to reduce, 6 MB from stage to stage.

    By hand: 175e9 / 64 x 2 bytes = 5.47 GB; 2,048 x 12,288 x 2 bytes / 8 = 6.29 MB. The 560 MB of tensor traffic are
    eleven vectors of 50.3 MB; the paper does not say over how many layers, so there is nothing to compare.
    """
    row = HPN["cases"][0]
    model = read_model("gpt3-175b", Path())
    assert (model.plan.tensor, model.plan.pipeline) == (row["tp"], row["pp"])
    ranks = ranks_of(model, model.plan, row["tp"] * row["pp"] * row["dp"])
    held = gpu_parameters(model, model.plan)["data"]
    assert round(float(held * 2 / GIGA), 1) == row["dp_allreduce_gb"]
    data, send = (
        next(one for one in traffic_of(model, ranks) if one.communicator == name) for name in ("data", "pipeline")
    )
    assert (data.message * data.calls, data.operation, data.group.size) == (held * 2, "all-reduce", row["dp"])
    assert data.calls == 6  # buckets of 512 million parameters, one for each million and rank, of 2.7 billion
    assert round(float(send.message / 10**6)) == row["pp_sendrecv_mb"]


@pytest.mark.parametrize("members", MEMBERS)
def test_bus_bandwidth_factors(members: int) -> None:
    """nccl-tests, doc/PERFORMANCE.md: bus over algorithm bandwidth."""
    once = Fraction(members - 1, members)
    values = {"2(n-1)/n": 2 * once, "(n-1)/n": once, 1: 1}
    published = {name: values[rule] for name, rule in NCCL["busbw_over_algbw"].items()}
    assert factor("all-reduce", "ring", members) == published["all_reduce"]
    assert factor("reduce-scatter", "ring", members) == published["reduce_scatter"]
    assert factor("all-gather", "ring", members) == published["all_gather"]
    assert factor("all-to-all", "direct", members) == published["all_to_all"]
    assert factor("all-reduce", "in-network", members) == published["reduce"] == published["broadcast"]


# -- step times -------------------------------------------------------------------------------------------------------

MEAN_ERRORS = {"tuned": 0.10, "typical": 0.15, "experts": 0.25}


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_as_published(kind: str) -> None:
    """The mean error of each kind of run keeps what docs/workloads.md promises; two in three are in the band."""
    found = [run for run in runs() if run.kind == kind]
    assert mean_error(found, kind) <= MEAN_ERRORS[kind]
    inside = [run for run in found if abs(run.error) <= band(run.work.model, run.work.roof.software, False)]
    assert 3 * len(inside) >= 2 * len(found)


def test_stragglers_grow_from_where_a_run_was_measured() -> None:
    """By hand: a tenth of 1 - 0.995^N is lost on N servers. Published runs on more servers are nearer with it."""
    model = read_model("llama3-70b", Path())
    wanted = Workload(model=model, gpu_utilization=0.42, measured_gpus=64)
    lost = [1 + 0.1 * (1 - 0.995**servers) for servers in (8, 256)]
    found = at_scale(wanted, H100, 2048)
    assert found is not None and abs(float(found) - 0.42 * lost[0] / lost[1]) < 1e-9
    for same in ({"measured_gpus": None}, {"measured_gpus": 2048}, {"software": "tuned"}):
        assert at_scale(wanted.model_copy(update=same), H100, 2048) == Fraction(42, 100)
    assert at_scale(Workload(model=model), H100, 2048) is None
    with pytest.raises(ValidationError, match="goes with `gpu_utilization`"):
        Workload(model=model, measured_gpus=64)
    without, grown = zip(*scalings(), strict=True)
    assert len(grown) >= 12
    assert fmean(map(abs, grown)) < 0.02 < fmean(map(abs, without))


def test_bands_widen_where_terms_are_weak() -> None:
    """Two in three runs of long samples, and two in three of short steps, are in the band that is wider for them."""
    known = [run for run in (*held_out(), *latest_runs()) if run.kind != "experts"]
    long = [run for run in known if run.work.model.architecture.sequence > LONG_TOKENS]
    short = [run for run in known if run.published_s < 0.5]
    assert len(long) >= 30 and len(short) >= 16
    for these in (long, short):
        assert 3 * sum(map(in_band, these)) >= 2 * len(these)
    assert all(
        run.work.band == LONGER_BAND * band(llama(LLAMA["cases"][0]), run.work.roof.software, False) for run in long
    )
    assert slow_end_s(Fraction(10), Fraction(1, 10)) == 11 and slow_end_s(Fraction(1, 10), Fraction(1, 10)) == Fraction(
        15, 100
    )


def in_band(run: Run) -> bool:
    """Whether a published step lies within what its design file would say."""
    step_s, off = run.step.step_s, run.work.band
    return float(step_s * (1 - off)) <= run.published_s <= float(slow_end_s(step_s, off))


@pytest.mark.parametrize("software", sorted(SOFTWARE_FACTORS))
def test_factors_of_software_come_from_other_runs(software: Software) -> None:
    """The median over runs that predictions are not tested on, in hundredths."""
    assert SOFTWARE_FACTORS[software] == round(Fraction(calibrated(software)), 2)
    tested = {(run.name, run.published_s) for run in runs()}
    known = [run_of(row, CALIBRATION["architectures"]) for row in CALIBRATION["cases"]]
    assert not tested & {(run.name, run.published_s) for run in known}


@pytest.mark.long("experts")
@pytest.mark.parametrize("kind", KINDS)
def test_further_steps_are_as_published(kind: str) -> None:
    """The same promise for all runs that no constant comes from."""
    assert mean_error(held_out(), kind) <= MEAN_ERRORS[kind]


@pytest.mark.long(but=("GB300",))
@pytest.mark.parametrize("gpu", ["B200", "GB200", "GB300"])
def test_pace_of_gpus_comes_from_other_runs(gpu: str) -> None:
    """The median over the dense runs on that GPU that predictions are not tested on."""
    found = [run for run in fitted_runs() if run.kind == "tuned" and run.name.endswith(f" {gpu}")]
    found = [run for run in found if run.work.model.precision.compute != "fp4"]
    needed = median(run.factor / float(SOFTWARE_FACTORS["tuned"]) for run in found)
    assert abs(needed - float(GPUS[gpu].pace)) < 0.02, needed


def test_share_of_fp4_and_launches_come_from_other_runs() -> None:
    """Runs in FP4 are right on the mean; runs with experts are no better with all or none of the other launches."""
    fitted = fitted_runs()
    assert abs(fmean(run.error for run in fitted if run.work.model.precision.compute == "fp4")) < 0.04
    assert mean_error(fitted, "experts") < 0.16


@pytest.mark.long
def test_further_runs_are_no_others() -> None:
    others = [*runs(), *fitted_runs(), *(run_of(row, CALIBRATION["architectures"]) for row in CALIBRATION["cases"])]
    known = [run.key for run in others]
    assert not [run.name for run in held_out() if run.key in known]
    known += [run.key for run in held_out()]
    assert not [run.name for run in latest_runs() if run.key in known]


def test_a_changed_term_leaves_other_runs_as_they_were() -> None:
    """As recorded at each change: no run that the term does not concern is worse by more than a point. What the last
    change left of a run's error is its error now.
    """
    recorded, last = changed_terms(), dict[tuple[str, str], set[float]]()
    assert {row["term"] for row in recorded} == set(CONCERNS)
    for row in recorded:
        was, now = (abs(float(row[side])) for side in ("before_percent", "after_percent"))
        assert row["concerns"] == "yes" or now <= was + 1, row
        last.setdefault((row["run"], row["published_s"]), set()).add(float(row["after_percent"]))
    now = errors()
    assert not {run: found for run, found in last.items() if not found & set(now[run])}


def test_docs_have_the_predictions() -> None:
    """Pages and data show what is computed, errors and all."""
    assert table(runs()) in PAGE.read_text()
    assert by_generation(held_out()) in PAGE.read_text()
    for shown in (summary(held_out()), terms_table(), latest_table()):
        assert shown in FURTHER_PAGE.read_text()
    assert data() == FURTHER_DATA.read_text(), "run `make predictions`"


@pytest.mark.long("8192")
@pytest.mark.parametrize("row", LLAMA["cases"], ids=lambda row: str(row["gpus"]))
def test_one_to_seven_above_pods_of_llama(row: dict[str, Any]) -> None:
    """The Llama 3 Herd of Models, section 3.3.1: pods of 3,072 GPUs, 1:7 above them, for servers anywhere in a pod.

    By hand: groups of data ranks have a member in every 128 GPUs, 24 in a pod, where 1 of 24 of their bytes leaves.
    """
    work = on(llama(row), H100, row["gpus"])
    limit = Fraction(1, 20)
    for placement, bears in ((Within(within="pod"), True), ("scattered", False)):
        there = placed(work, placement)
        step = step_on(there, LLAMA_CLUSTER)
        assert (allowed(Prediction(there, LLAMA_CLUSTER, None, limit))["spine"] >= 7) == bears
        assert (step.exposed_share <= limit) == bears
        for cost in step.costs:
            if cost.traffic.communicator == "data" and bears:
                assert cost.bytes_over["pod"] == cost.bytes_over["server"] / 24


def test_what_leaves_a_pod_of_hpn() -> None:
    """Qian et al. 2024: pods of 15,360 GPUs, a member of data groups in every 64 of them: 1 of 240 bytes leaves.

    Up to 240:1 above pods no step is longer for servers anywhere in a pod, the 15:1 that was built included; for
    scattered ones that is far too much.
    """
    row, built = HPN["cases"][0], HPN["above_pods"]
    gpus = row["tp"] * row["pp"] * row["dp"]
    model = read_model(row["model"], Path())
    ways = {"tensor": row["tp"], "pipeline": row["pp"], "batch": 16 * row["dp"]}
    work = on(model.model_copy(update={"plan": model.plan.model_copy(update=ways)}), H100, gpus)
    ratios = (1, built["oversubscription"], 240, 241)
    there = [network(400_000, built["leaf_gpus"], built["pod_gpus"], spine=ratio) for ratio in ratios]
    within = placed(work, Within(within="pod"))
    steps = [step_on(within, one).step_s for one in there]
    assert steps[0] == steps[1] == steps[2] < steps[3]
    scattered = [step_on(placed(work, "scattered"), one) for one in there[:2]]
    assert scattered[1].step_s > 2 * scattered[0].step_s


def test_published_ratios_above_pods_are_in_the_docs() -> None:
    """What the page says of them: how much longer a step is than at 1:1, in pods and scattered."""
    assert (LLAMA["above_pods"]["pod_gpus"], LLAMA["above_pods"]["oversubscription"]) == (3072, 7)
    work = on(llama(LLAMA["cases"][1]), H100, LLAMA["cases"][1]["gpus"])
    longer = [
        step_on(placed(work, placement), network(400_000, 16, 3072, spine=7)).step_s
        / step_on(placed(work, placement), network(400_000, 16, 3072)).step_s
        - 1
        for placement in (Within(within="pod"), "scattered")
    ]
    [line] = [one for one in PAGE.read_text().splitlines() if one.startswith("| Llama 3 405B, pods of 3,072")]
    assert [cell.strip() for cell in line.split("|")[3:5]] == [f"{100 * float(one):.0f} %" for one in longer]
