"""Plans that fit: picked by the predicted step, nearest to what was asked, and a case that leaves it open."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fabopt.io.catalog import read_catalog
from fabopt.io.library import names
from fabopt.io.workload import read_model, with_plan
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.model import Experts, Model, Overlap, PlanChanges
from fabopt.schema.server import Server
from fabopt.schema.workload import Workload
from fabopt.workload.checks import wrongs_of
from fabopt.workload.memory import GIB, likely_memory
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least_mbps
from fabopt.workload.plans import (
    COMPARED_MBPS,
    difference,
    fastest_plan,
    fits,
    keeps,
    nearest_plan,
    plans_of,
    sharded_in_groups,
)
from fabopt.workload.ranks import ranks_of
from fabopt.workload.timing import step_on, workload_of
from tests.samples.workload_samples import H100, MIDDLE, middle_model, tiny_model

GPUS = 64


def small(gigabytes: float) -> Server:
    return H100.model_copy(update={"gpu_memory_gb": gigabytes})


def step_s(model: Model, plan: Any, server: Server) -> Any:
    run = workload_of(model, ranks_of(model, plan, GPUS), server, None)
    return step_on(run, flat(COMPARED_MBPS, Reach(8))).step_s


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_plans_leave_no_gpu_idle(every: int) -> None:
    routed = middle_model(batch=256).model_copy(
        update={"architecture": MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2)})}
    )
    known = list(plans_of(routed, routed.plan, H100, GPUS))
    assert len(known) > 100
    for plan in known[::every]:
        assert wrongs_of(Workload(model=routed.model_copy(update={"plan": plan}), max_exposed_communication=1),
                         routed.model_copy(update={"plan": plan}), H100, GPUS) == []  # fmt: skip


@pytest.mark.long("80")
@pytest.mark.parametrize("gigabytes", [80, 8])
def test_the_fastest_plan_is_the_fastest_that_fits(gigabytes: float) -> None:
    """Against timing all of them."""
    model, server = middle_model(), small(gigabytes)
    best = fastest_plan(model, model.plan, server, GPUS)
    assert best is not None
    plain = [
        plan
        for plan in plans_of(model, model.plan, server, GPUS)
        if (plan.recomputation, plan.zero_stage) == ("none", 1)
        and likely_memory(model, ranks_of(model, plan, GPUS)).total <= gigabytes * GIB
    ]
    assert step_s(model, best, server) == min(step_s(model, plan, server) for plan in plain)


@pytest.mark.parametrize(("megabytes", "group"), [(10, 8), (2.5, 16), (2.3, 32), (2.15, None)])
def test_what_is_sharded_may_be_in_groups(megabytes: float, group: int | None) -> None:
    """Of a tiny model latency counts, the shorter the smaller the group is: the smallest that fits is picked."""
    model, server = tiny_model(zero_stage=3, batch=128), small(megabytes / 1024)
    kept = ("tensor", "pipeline", "context", "micro_batch", "recomputation")
    best = fastest_plan(model, model.plan, server, GPUS, kept=kept)
    assert best is not None and best.shard_group == group
    ways = [best.model_copy(update={"shard_group": size}) for size in (8, 16, 32, None)]
    room = Fraction(megabytes) * 2**20
    fitting = [one for one in ways if likely_memory(model, ranks_of(model, one, GPUS)).total <= room]
    assert step_s(model, best, server) == min(step_s(model, one, server) for one in fitting)
    alone = fastest_plan(model, model.plan, server, GPUS, kept=(*kept, "shard_group"))
    assert alone is not None and alone.shard_group is None


@pytest.mark.long(but=("0-3",))
@pytest.mark.parametrize(("overlap", "sharding"), [(0, 1), (0, 3), (1, 1), (0.5, 2)])
def test_no_faster_groups_are_skipped(overlap: float, sharding: int) -> None:
    """Against timing all plans, with groups that share or without; experts' copies may be in one domain."""
    model = middle_model(zero_stage=sharding, batch=128, overlap=Overlap(data=overlap))
    routed = MIDDLE.model_copy(update={"experts": Experts(count=4, top_k=2)})
    model = model.model_copy(update={"architecture": routed})
    kept = {"pipeline": 2, "micro_batch": 1, "recomputation": "none", "zero_stage": sharding}
    model = model.model_copy(update={"plan": model.plan.model_copy(update=kept)})
    best = fastest_plan(model, model.plan, small(80), GPUS, kept=kept)
    alone = [
        one for one in plans_of(model, model.plan, H100, GPUS) if all(getattr(one, k) == v for k, v in kept.items())
    ]
    known = [*alone, *(other for one in alone for other in sharded_in_groups(model, one, H100, GPUS))]
    assert best is not None and len(known) > len(alone)
    assert step_s(model, best, H100) == min(step_s(model, one, H100) for one in known)


def test_what_is_given_stays() -> None:
    model = middle_model(tensor=4)
    best = fastest_plan(model, model.plan, small(80), GPUS, kept=("tensor",))
    assert best is not None and best.tensor == 4
    assert fastest_plan(model, model.plan, small(0.01), GPUS) is None


def test_the_nearest_plan_changes_least() -> None:
    """Of 7 GB one key is enough: split over two tensor ranks."""
    model, server = middle_model(), small(7)
    assert not fits(model, model.plan, server, GPUS)
    near = nearest_plan(model, model.plan, server, GPUS)
    assert near is not None and fits(model, near, server, GPUS)
    changed = [key for key in type(near).model_fields if getattr(near, key) != getattr(model.plan, key)]
    assert len(changed) == 1


def test_a_case_may_leave_the_plan_open() -> None:
    """The word alone, or with keys that stay; the design file has what was picked."""
    model, server = middle_model(), small(7)
    for plan in ("auto", {"auto": True, "micro_batch": 2}):
        changes = plan if isinstance(plan, str) else PlanChanges.model_validate(plan)
        case = Case(name="x", server="h100", gpus=GPUS, workload=Workload(model=model, plan=changes))
        found = with_plan(case, Catalog(servers=(server,))).workload
        assert found is not None and not found.plan.auto
        assert fits(model, found.plan.on(model.plan), server, GPUS)
        assert found.plan.micro_batch == 2 or plan == "auto"
        assert "auto" not in found.plan.model_dump()


def test_a_picked_plan_says_how_experts_are_split() -> None:
    """Where the model's file says it, which a case cannot unsay: what is picked is what the case then has."""
    routed = MIDDLE.model_copy(update={"experts": Experts(count=4, top_k=2)})
    model = middle_model(expert=4, expert_tensor=1, batch=128).model_copy(update={"architecture": routed})
    changes = PlanChanges.model_validate({"auto": True, "tensor": 2, "expert": 1})
    case = Case(name="x", server="h100", gpus=GPUS, workload=Workload(model=model, plan=changes))
    found = with_plan(case, Catalog(servers=(small(80),))).workload
    most = Fraction(1, 20)
    best = fastest_plan(model, changes.on(model.plan), small(80), GPUS, kept=changes.given, most_exposed=most)
    assert found is not None and best is not None and found.plan.on(model.plan) == best
    near = nearest_plan(model, model.plan.model_copy(update={"expert": 1}), small(6), GPUS)
    assert near is not None and near.expert_tensor is not None


@pytest.mark.long
def test_a_picked_plan_keeps_the_limit_where_one_does() -> None:
    """Of a model whose fastest plan sends tokens between servers: with a limit one that does not, which a refusal of
    the model's own plan names with its step.
    """
    routed = MIDDLE.model_copy(update={"experts": Experts(count=16, top_k=4, feed_forward=512)})
    model = middle_model(expert=16, batch=512).model_copy(update={"architecture": routed})
    fastest, most = fastest_plan(model, model.plan, H100, GPUS), Fraction(1, 20)
    kept = fastest_plan(model, model.plan, H100, GPUS, most_exposed=most)
    assert fastest is not None and kept is not None
    runs = [workload_of(model, ranks_of(model, plan, GPUS), H100, None) for plan in (model.plan, fastest, kept)]
    assert [keeps(run, most) for run in runs] == [False, False, True]
    assert step_s(model, fastest, H100) < step_s(model, kept, H100)
    [wrong] = wrongs_of(Workload(model=model, max_exposed_communication=0.05), model, H100, GPUS)
    assert wrong.path == "max_exposed_communication" and "`plan: auto`" in wrong.allowed
    assert wrong.allowed.endswith(difference(model.plan, kept))
    [wrong] = wrongs_of(Workload(model=model, max_exposed_communication=0.0001), model, H100, GPUS)
    assert wrong.allowed.endswith("no plan keeps it")


@pytest.mark.long
@pytest.mark.parametrize("name", names("models"))
def test_shipped_models_have_a_plan_that_keeps_the_limit(name: str) -> None:
    """On 1,024 H100 with 400G each, whatever their own plan does."""
    servers = read_catalog(["reference"], Path(), "library", "").servers
    server = next(one for one in servers if one.id == "nvidia-dgx-h100")
    model = read_model(name, Path())
    best = fastest_plan(model, model.plan, server, 1024, most_exposed=Fraction(1, 20))
    assert best is not None
    assert keeps(workload_of(model, ranks_of(model, best, 1024), server, None), Fraction(1, 20))


# Models whose own plans wait too long for latency alone on DGX H100, as their experts send little at a time.
LATE = ("gpt-oss-120b", "qwen3-235b-a22b", "qwen3-next-80b-a3b")


@pytest.mark.long("llama3-8b")
@pytest.mark.long("deepseek-v3", "deepseek-v3.2", "llama3-70b", "llama4-maverick")
@pytest.mark.long("glm-4.5", "kimi-k2")
@pytest.mark.long(
    "qwen3-next-80b-a3b", "gpt-oss-120b", "gpt-oss-20b", "llama4-scout", "qwen3-235b-a22b", "mixtral-8x22b"
)
@pytest.mark.parametrize("name", names("models"))
def test_shipped_models_run_on_1024_gpus(name: str) -> None:
    """Their own plans fit DGX H100 and keep 5 % of exposed communication on 400G, but for those that no network lets
    keep it, for which there are others that do; picked ones keep it too, or are faster.
    """
    servers = read_catalog(["reference"], Path(), "library", "").servers
    server = next(one for one in servers if one.id == "nvidia-dgx-h100")
    model = read_model(name, Path())
    assert fits(model, model.plan, server, 1024)
    best = fastest_plan(model, model.plan, server, 1024)
    assert best is not None and fits(model, best, server, 1024)
    own, picked = (workload_of(model, ranks_of(model, plan, 1024), server, None) for plan in (model.plan, best))
    needed, of_picked = (least_mbps(run, Fraction(1, 20), Reach(8)) for run in (own, picked))
    assert (needed is None) == (name in LATE)
    if needed is None:
        assert step_on(own, flat(MOST_MBPS, Reach(8))).exposed_share > Fraction(1, 20)
        kept = fastest_plan(model, model.plan, server, 1024, most_exposed=Fraction(1, 20))
        assert kept is not None
        needed = least_mbps(workload_of(model, ranks_of(model, kept, 1024), server, None), Fraction(1, 20), Reach(8))
    assert needed is not None and (needed <= COMPARED_MBPS or name in LATE)
    own_s, picked_s = (step_on(run, flat(COMPARED_MBPS, Reach(8))).step_s for run in (own, picked))
    assert picked_s <= own_s or (of_picked is not None and of_picked <= COMPARED_MBPS)


def refusals(model: Model, plan: Any, gpus: int, server: Server = H100) -> list[tuple[str, str, str]]:
    """Path, problem and what is allowed of every fault of a case, its plan picked where that is left open."""
    case = Case(
        name="x", server="h100", gpus=gpus, workload=Workload(model=model, plan=plan, max_exposed_communication=1)
    )
    wanted = with_plan(case, Catalog(servers=(server,))).workload
    assert wanted is not None
    return [(one.path, one.problem, one.allowed) for one in wrongs_of(wanted, model, server, gpus)]


def test_an_open_plan_that_does_not_come_out_is_refused_as_such() -> None:
    """On 8 x 17 GPUs: 17 divides neither heads, layers, tokens nor the batch; on 128 GPUs one fits."""
    model = middle_model(batch=128)
    [(path, problem, allowed)] = refusals(model, "auto", 8 * 17)
    assert path == "plan" and "all 136 GPUs" in problem and "batch of 128" in problem
    assert allowed == "another number of GPUs, such as 128, or another batch"
    assert refusals(model, "auto", 128) == []


def test_an_open_plan_is_held_against_the_keys_that_were_given() -> None:
    """Three tensor ways divide 48 heads, but not 64 GPUs: on 72 some plan has them. Five divide no 48 heads."""
    model = middle_model(batch=48)
    model = model.model_copy(update={"architecture": MIDDLE.model_copy(update={"heads": 48, "head_dim": 64})})
    [(path, _, allowed)] = refusals(model, PlanChanges(auto=True, tensor=3), 64)
    assert (path, allowed) == ("plan", "another number of GPUs, such as 72, or another batch")
    assert refusals(model, PlanChanges(auto=True, tensor=3), 72) == []
    [(path, problem, _)] = refusals(model, PlanChanges(auto=True, tensor=5), 64)
    assert path == "plan.tensor" and problem == "48 heads / 5 ways is no whole number"


def test_an_open_plan_names_the_groups_that_were_given() -> None:
    """Groups of 24 come out of no number of ranks that divides 64."""
    changes = PlanChanges.model_validate({"auto": True, "zero_stage": 3, "shard_group": 24})
    [(path, problem, _)] = refusals(tiny_model(batch=128), changes, GPUS)
    assert path == "plan" and problem.endswith("groups of 24 (shard_group) come out of context x data")


def test_a_model_too_large_says_how_many_gpus_would_do() -> None:
    """The number that is named has a plan that fits, half of it has none."""
    model, server = middle_model(batch=64), small(2)
    [(path, _, allowed)] = refusals(model, {}, 8, server)
    enough = int(allowed.split("with ")[1].split(" GPUs")[0])
    known = {gpus: any(fits(model, one, server, gpus) for one in plans_of(model, model.plan, server, gpus))
             for gpus in (enough // 2, enough)}  # fmt: skip
    assert path == "plan" and known == {enough // 2: False, enough: True}


def test_experts_that_are_not_dealt_name_the_key_that_was_given() -> None:
    """64 ranks of a stage over 8 experts: 8 are left for the ways of each."""
    routed = middle_model(batch=256, expert=8).model_copy(
        update={"architecture": MIDDLE.model_copy(update={"experts": Experts(count=8, top_k=2)})}
    )
    [(path, problem, allowed)] = refusals(routed, PlanChanges(expert_tensor=3), GPUS)
    assert (path, allowed) == ("plan.expert_tensor", "a divisor of 8")
    assert "64 ranks of a stage are not dealt evenly to 8 expert x 3 expert_tensor" in problem
