"""A model in a case: what it sets, what the design file says of it, what verify accepts, and what is noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.keys import changed_inputs, content_of
from fabopt.output.export.design import design_bytes
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design, FrontPoint
from fabopt.solution import optimize
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.verify import verify
from fabopt.workload.remarks import workload_notes
from tests.paths import ERRORS
from tests.samples.bases import designed
from tests.samples.small import Json, assert_proven
from tests.samples.workload_samples import MODEL

FOLDER = ERRORS


def case(workload: Json | None = None, **keys: Any) -> Json:
    return {
        "name": "pod",
        "catalog": [str(FOLDER / "_fast.yaml")],
        "server": "acme-fast",
        "servers": 8,
        "workload": {"model": MODEL, "gpu_utilization": 0.5, **(workload or {})},
        "fabrics": [{"name": "compute", **keys}],
        "resilience": "none",
    }


def solved(workload: Json | None = None, **keys: Any) -> Design:
    return designed(None, case(workload, **keys))


@pytest.fixture(scope="module")
def design() -> Design:
    found = solved()
    assert_proven(found)
    return found


def fabric_content(design: Design) -> Json:
    found: Json = design.case.content["fabrics"][0]
    return found


def test_a_model_sets_what_the_fabric_leaves_out(design: Design) -> None:
    assert design.workload is not None
    needs, content = design.workload.needs, fabric_content(design)
    ratios = ("max_oversubscription.leaf", "max_oversubscription.spine")
    assert needs.sets == ("min_gbps_per_gpu", *ratios, "min_allreduce_gbps_per_gpu")
    assert content["min_gbps_per_gpu"] == needs.min_gbps_per_gpu
    assert content["max_oversubscription"] == needs.max_oversubscription
    assert design.workload.exposed_communication <= 0.05


def test_the_file_needs_no_model_folder(design: Design) -> None:
    """The whole model is embedded, and the file is proven from itself alone."""
    again = Design.model_validate_json(design_bytes(design))
    assert again.case.content["workload"]["model"]["architecture"]["layers"] == 8
    assert all(check.ok for check in verify(again))
    names = [check.name for check in verify(again)]
    assert names[-2:] == ["workload_needs_are_met", "workload_is_recomputed"]


def test_own_keys_go_first() -> None:
    design = solved(min_gbps_per_gpu=400, max_oversubscription={"leaf": 1})
    assert design.workload is not None
    needs = design.workload.needs
    assert needs.sets == ("max_oversubscription.spine", "min_allreduce_gbps_per_gpu")
    assert fabric_content(design)["min_gbps_per_gpu"] == 400
    assert needs.max_oversubscription["leaf"] == 1 and needs.max_oversubscription["spine"] > 1
    assert all(check.ok for check in design.checks)


def test_a_tighter_limit_needs_more(design: Design) -> None:
    tight = solved({"max_exposed_communication": 0.01})
    assert tight.workload is not None and design.workload is not None
    assert tight.workload.needs.min_gbps_per_gpu > design.workload.needs.min_gbps_per_gpu


def test_too_little_of_ones_own_is_noted() -> None:
    keys = {"gpu_utilization": 1, "max_exposed_communication": 0.01}
    design = solved(keys, min_gbps_per_gpu=50, max_oversubscription=8, tiers=2)
    assert design.workload is not None and design.workload.exposed_communication > 0.01
    assert any("more than the 1 % of max_exposed_communication" in note for note in design.notes)


def test_a_tensor_group_beyond_the_domain_is_said_loudly() -> None:
    """Sixteen ranks in domains of eight: allowed, and the note says what it costs."""
    design = solved({"plan": {"tensor": 16}, "max_exposed_communication": 0.99})
    assert design.workload is not None
    tensor = next(one for one in design.workload.communicators if one.communicator == "tensor")
    assert tensor.place != "domain"
    note = next(note for note in design.notes if "larger than the scale-up domain of 8" in note)
    assert note.startswith("tensor groups of 16 GPUs") and " GB a step over the network" in note


def test_a_model_that_stays_in_its_domain_needs_no_network() -> None:
    design = solved({"model": {**MODEL, "task": "inference"}, "plan": {"tensor": 8}})
    assert design.workload is not None
    assert design.workload.needs.min_gbps_per_gpu == 0
    assert fabric_content(design)["min_gbps_per_gpu"] == 0.001
    assert any("sends nothing beyond its scale-up domains of 8 GPUs" in note for note in design.notes)
    assert all(check.ok for check in design.checks)


def test_only_the_first_computing_fabric_carries_the_model() -> None:
    inputs = inputs_from_objects(
        {**case(), "fabrics": [{"name": "storage", "role": "storage"}, {"name": "one"}, {"name": "two"}]}
    )
    problem = problem_of(inputs.case, inputs.catalog)
    assert problem.needs is not None and problem.needs.fabric == "one"
    assert [fabric.gpu_mbps for fabric in problem.fabrics if fabric.name != "one"] == [25_000, 400_000]


def test_racks_that_share_leaves_tolerate_more() -> None:
    """Four servers of a rack are on the same leaves for certain, and reduce together before they go up."""
    content = {**case(min_gbps_per_gpu=400), "site": {"servers_per_rack": 4}}
    ratios = []
    for group in ("any", "rack"):
        content["fabrics"] = [{"name": "compute", "min_gbps_per_gpu": 400, "group_by": group}]
        inputs = inputs_from_objects(content)
        problem = problem_of(inputs.case, inputs.catalog)
        assert problem.needs is not None
        ratios.append((problem.needs.leaf_gpus, problem.fabrics[0].ratios.leaf))
    assert [gpus for gpus, _ in ratios] == [8, 32]
    assert ratios[0][1] < ratios[1][1]


def test_growth_takes_the_plan_of_the_last_stage() -> None:
    stages = [{"name": "first", "month": 0, "servers": 3}, {"name": "second", "month": 12, "servers": 8}]
    content = {key: value for key, value in case().items() if key != "servers"}
    design = optimize.solve(inputs_from_objects({**content, "stages": stages}), alternatives_s=0)
    assert design.workload is not None and design.workload.plan.data == 64
    assert all(check.ok for check in design.checks)


def test_servers_that_count_are_paid_once() -> None:
    whole = optimize.solve(inputs_from_objects({**case(), "include_servers": True}), alternatives_s=0)
    assert whole.workload is not None and whole.totals is not None
    per_gpu = whole.totals.capex_usd / (64 * whole.workload.gpu_utilization)
    assert whole.workload.usd_per_effective_gpu == pytest.approx(per_gpu, rel=1e-5)
    assert all(check.ok for check in whole.checks)


def test_effective_gpus_by_hand(design: Design) -> None:
    """(8 servers of $200,000 and the network) / (64 GPUs x utilization)."""
    assert design.workload is not None and design.totals is not None
    spent = 8 * 200_000 + design.totals.capex_usd
    assert design.workload.usd_per_effective_gpu == pytest.approx(
        spent / 64 / design.workload.gpu_utilization, rel=1e-5
    )


def test_keys_of_the_plan_can_be_swept() -> None:
    inputs = inputs_from_objects(case())
    changed = changed_inputs(inputs, content_of(inputs.case), {("workload", "plan", "tensor"): 8})
    problems = [problem_of(one.case, one.catalog) for one in (inputs, changed)]
    assert [one.needs is not None for one in problems] == [True, True]
    assert problems[0].needs != problems[1].needs


# -- fronts -----------------------------------------------------------------------------------------------------------


def points(*maximize: str) -> list[FrontPoint]:
    inputs = inputs_from_objects(case({"gpu_utilization": 1, "max_exposed_communication": 0.5}))
    objectives = objectives_of(["capex_usd"], maximize, None)
    found = pareto_front(inputs, objectives, None, Settings(), Clock(None), lambda met: None)
    assert found.complete
    return list(found.points)


@pytest.mark.long
def test_front_of_utilization_is_that_of_bisection_seen_through_the_model() -> None:
    """More bisection never means less utilization; where it means no more, the cheaper design is the point."""
    best: dict[float, float] = {}
    for point in points("bisection_gbps_per_gpu"):
        best.setdefault(point.values["least_gpu_utilization"], point.values["capex_usd"])
    trade = [
        (point.values["least_gpu_utilization"], point.values["capex_usd"]) for point in points("least_gpu_utilization")
    ]
    assert trade == sorted(best.items())
    assert len(trade) > 1


@pytest.mark.long
def test_points_say_what_is_predicted() -> None:
    """What is sure is no more than what is predicted for how the groups fall."""
    for point in points("least_gpu_utilization"):
        assert point.values["least_gpu_utilization"] <= point.values["gpu_utilization"]
        assert point.values["usd_per_effective_gpu"] > 0 and point.values["step_s"] > 0


def test_utilization_figure_demands_a_model() -> None:
    inputs = inputs_from_objects({**case(), "workload": None})
    objectives = objectives_of(["capex_usd"], ["least_gpu_utilization"], None)
    with pytest.raises(InputError) as refusal:
        pareto_front(inputs, objectives, None, Settings(), Clock(None), lambda met: None)
    assert str(refusal.value) == (
        "--maximize: the case has no model to predict this of; found 'least_gpu_utilization'; "
        "write workload: {model: ...}, see `fabopt models`"
    )


# -- what verify refuses ----------------------------------------------------------------------------------------------


def failed(content: Json) -> set[str]:
    return {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}


def number_keys(content: Json) -> list[str]:
    return [key for key, value in content.items() if isinstance(value, int | float) and not isinstance(value, bool)]


@pytest.mark.long
def test_a_wrong_figure_is_found(design: Design) -> None:
    """Each number of the workload, and of its communicators, a little larger."""
    good = json.loads(design_bytes(design))
    assert failed(good) == set()
    for key in number_keys(good["workload"]):
        bad = json.loads(json.dumps(good))
        bad["workload"][key] += 1
        assert "workload_is_recomputed" in failed(bad), key
    for key in number_keys(good["workload"]["communicators"][0]):
        bad = json.loads(json.dumps(good))
        bad["workload"]["communicators"][0][key] += 1
        assert failed(bad) == {"workload_is_recomputed"}, key


def test_wrong_needs_are_found(design: Design) -> None:
    good = json.loads(design_bytes(design))
    changes: list[tuple[str, Any]] = [
        ("min_gbps_per_gpu", 1), ("offered_gbps_per_gpu", 4000), ("leaf_gpus", 16), ("in_network_reduction", True),
        ("binding", "tensor"), ("max_oversubscription", {"leaf": 1, "spine": 1}),
    ]  # fmt: skip
    for key, value in changes:
        bad = json.loads(json.dumps(good))
        bad["workload"]["needs"][key] = value
        assert "workload_needs_are_met" in failed(bad), key


def test_a_workload_that_is_left_out_is_missed(design: Design) -> None:
    bad = json.loads(design_bytes(design))
    bad["workload"] = None
    assert failed(bad) == {"workload_needs_are_met", "workload_is_recomputed"}


def experts(**plan: Any) -> Json:
    """The model with sixteen experts, split over so many ways."""
    architecture = {**MODEL["architecture"], "experts": {"count": 16, "top_k": 2}}
    return {**MODEL, "architecture": architecture, "plan": {**MODEL["plan"], **plan}}


@pytest.mark.long
def test_figures_are_set_for_what_crosses_the_network() -> None:
    """All-to-all of sixteen expert ranks leaves domains of eight GPUs; of eight it does not. Gradients always do."""
    found = {}
    for ways in (8, 16):
        design = solved({"model": experts(expert=ways), "max_exposed_communication": 0.3})
        assert design.workload is not None and all(check.ok for check in design.checks)
        needs, content = design.workload.needs, fabric_content(design)
        assert content["min_allreduce_gbps_per_gpu"] == pytest.approx(needs.pod_gbps_per_gpu, abs=0.002)
        assert content["min_allreduce_gbps_per_gpu"] < needs.pod_gbps_per_gpu
        found[ways] = content["min_alltoall_gbps_per_gpu"]
        assert ("min_alltoall_gbps_per_gpu" in needs.sets) == (found[ways] is not None)
        metrics = design.fabrics[0].metrics
        assert metrics.alltoall_gbps_per_gpu >= (found[ways] or 0)
    assert found[8] is None and found[16] is not None


def test_a_figure_of_ones_own_goes_first() -> None:
    workload = {"model": experts(expert=16), "max_exposed_communication": 0.3}
    design = solved(workload, min_alltoall_gbps_per_gpu=399, min_allreduce_gbps_per_gpu=1)
    assert design.workload is not None and design.fabrics[0].metrics.alltoall_gbps_per_gpu >= 399
    assert not {"min_alltoall_gbps_per_gpu", "min_allreduce_gbps_per_gpu"} & set(design.workload.needs.sets)


@pytest.mark.long
@pytest.mark.parametrize("keys", [{}, {"tiers": 2}, {"tiers": 3}, {"rails": "any"}, {"nics_per_server": 2}])
def test_a_clos_within_its_ratios_has_the_figures_anyway(keys: Json) -> None:
    """So that setting them changes no Clos: what is asked for beside the ratios is met by every design."""
    workload = {"model": experts(expert=16), "max_exposed_communication": 0.4}
    design = solved(workload, **keys)
    assert design.workload is not None and "min_alltoall_gbps_per_gpu" in design.workload.needs.sets
    free = solved(workload, **keys, min_alltoall_gbps_per_gpu=0.001, min_allreduce_gbps_per_gpu=0.001)
    assert design.status == free.status == "optimal"
    assert (design.fabrics, design.bom) == (free.fabrics, free.bom)


@pytest.mark.long(but=("hyperx",))
@pytest.mark.parametrize("topology", ["hyperx", "torus", "dragonfly"])
def test_other_families_meet_the_models_demand_on_their_own_graph(topology: str) -> None:
    design = solved({"model": experts(expert=16), "max_exposed_communication": 0.3}, topologies=[topology])
    assert design.workload is not None and design.status == "optimal"
    assert design.workload.exposed_communication <= 0.3
    wanted = fabric_content(design)["min_alltoall_gbps_per_gpu"]
    assert design.fabrics[0].metrics.alltoall_gbps_per_gpu >= wanted > 0
    assert all(check.ok for check in design.checks)


@pytest.mark.long
def test_what_would_help_is_told_in_ratios_not_in_figures_that_follow_from_them() -> None:
    """24 servers with two ports on two tiers of 8-port switches: at most 8 leaves, so 6 ports down and 2 up, 3:1."""
    workload = {"model": experts(expert=16, batch=1536), "max_exposed_communication": 0.4}
    content = case(workload, tiers=2, nics_per_server=2, min_gbps_per_gpu=100) | {
        "servers": 24,
        "rules": {"lengths": False},
    }
    design = optimize.solve(inputs_from_objects(content))
    assert design.status == "infeasible"
    needed = {one.limit: one.needed for one in design.conflicts}
    assert needed["fabrics.compute.max_oversubscription.leaf"] == 3
    assert not [limit for limit in needed if "alltoall" in limit or "allreduce" in limit]


def test_folded_experts_are_proven_from_the_ranks() -> None:
    """Sixteen experts over two tensor and eight data ranks of a stage; the file says the plan as it was taken."""
    plan = {"tensor": 2, "expert": 16, "expert_tensor": 1, "order": ["tensor", "context", "data", "pipeline"]}
    design = solved({"model": experts(), "plan": plan, "max_exposed_communication": 0.9})
    assert design.workload is not None
    taken = design.workload.plan
    assert (taken.data, taken.expert_tensor, taken.sequence_parallel, taken.fused_attention) == (32, 1, True, True)
    assert all(check.ok for check in verify(Design.model_validate_json(design_bytes(design))))


def test_a_plan_that_is_left_open_is_in_the_file() -> None:
    """What was picked is embedded, so that the file is proven without picking again."""
    design = solved({"plan": "auto", "max_exposed_communication": 0.9})
    assert design.workload is not None
    again = Design.model_validate_json(design_bytes(design))
    assert again.case.content["workload"]["plan"]["tensor"] == design.workload.plan.tensor
    assert all(check.ok for check in verify(again))


def test_a_tight_plan_is_noted(design: Design) -> None:
    """What it is likely to take is more than a GPU has, the least is not."""
    assert design.workload is not None
    memory = design.workload.memory.model_copy(update={"least_gb": 60, "likely_gb": 90, "gpu_gb": 80})
    use = design.workload.model_copy(update={"memory": memory})
    inputs = inputs_from_objects(case())
    server = inputs.catalog.servers[0]
    (note,) = (note for note in workload_notes(use, inputs.case, server, 32) if "likely to need" in note)
    assert "90 GB" in note and "has 80 GB; it can do with 60 GB" in note
    roomy = use.model_copy(update={"memory": memory.model_copy(update={"gpu_gb": 100})})
    assert not any("likely to need" in note for note in workload_notes(roomy, inputs.case, server, 32))


@pytest.mark.long("0.66-False")
@pytest.mark.parametrize(("used", "is_told"), [(0.66, False), (0.67, True)])
def test_a_utilization_above_the_band_of_tuned_software_is_told(used: float, is_told: bool) -> None:
    """Llama 3 405B on H100: 59.6 % of bf16 is predicted, 66.2 % at the upper end; more than 80.3 % is refused."""
    fabric = {"name": "compute", "protocol": "infiniband"}
    workload = {"model": "llama3-405b", "gpu_utilization": used}
    content = {"name": "busy", "server": "nvidia-dgx-h100", "gpus": 1024, "workload": workload, "fabrics": [fabric]}
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    told = [note for note in design.notes if note.startswith("warning: `workload.gpu_utilization`")]
    assert (len(told) == 1) == is_told
