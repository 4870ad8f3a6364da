"""Plans that take a part of each scale-up domain: 64 of the 72 GPUs of a rack."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.catalog import read_catalog
from fabopt.io.servers import cases_of_servers
from fabopt.problem.demand import case_workload, stages_of
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.model import Experts
from fabopt.schema.workload import Workload as Wanted
from fabopt.solution import optimize
from fabopt.workload.ranks import ranks_of
from fabopt.workload.straddling import domain_in_use, straddlers
from fabopt.workload.timing import blocks_below
from tests.oracles.brute_ranks import groups
from tests.published_racks import RACKS, predicted, rows, solved as solved_run, table
from tests.published_runs import FURTHER_PAGE, further_runs, held_out
from tests.samples.small import Json, assert_proven
from tests.samples.workload_samples import TINY, tiny_model

NUM_PLANS = 150
MOST_GPUS = 640


def _straddle_by_ranks(name: str, plan: dict[str, int], gpus: int, domain: int) -> bool:
    """Whether groups have other numbers of members in some domains than in others, rank by rank."""
    model = tiny_model(**plan)
    shares = set()
    for members in groups(model.plan, ranks_of(model, model.plan, gpus).data, gpus, name):
        inside = [gpu // domain for gpu in members]
        shares |= {inside.count(one) for one in set(inside)}
    return len(shares) > 1


def test_the_part_in_use_keeps_groups_whole() -> None:
    """Most of the parts over half that all GPUs come out in, in whole servers; all where nothing straddles."""
    dice, fewer = random.Random(7), 0
    for _ in range(NUM_PLANS):
        plan = {"tensor": dice.choice([1, 2, 4, 8]), "pipeline": dice.choice([1, 2, 4])}
        model = tiny_model(**plan, batch=64)
        gpus = plan["tensor"] * plan["pipeline"] * dice.randint(1, MOST_GPUS // 32)
        ranks = ranks_of(model, model.plan, gpus)
        used = domain_in_use(ranks, 72, 4)
        good = [
            part
            for part in range(40, 72, 4)
            if gpus % part == 0
            and not any(_straddle_by_ranks(name, plan, gpus, part) for name in ("tensor", "pipeline", "data"))
        ]
        all_of_it = gpus <= 72 or gpus % 72 == 0 or not straddlers(ranks, 72) or not good
        assert used == (72 if all_of_it else max(good))
        fewer += used < 72
    assert fewer > 10


def test_experts_of_64_take_64_of_72() -> None:
    model = tiny_model(expert=64, batch=1024)
    model = model.model_copy(update={"architecture": TINY.model_copy(update={"experts": Experts(count=64, top_k=2)})})
    for gpus, used in ((64, 72), (256, 64), (512, 64), (576, 72)):
        assert domain_in_use(ranks_of(model, model.plan, gpus), 72, 4) == used


def test_published_runs_of_racks_are_on_servers_as_sold() -> None:
    """Racks of 72 in the catalog: no run has other domains than those of its server, or a whole part of one."""
    racks = {server.scale_up.domain_gpus for server in read_catalog(["reference"], Path()).servers
             if server.scale_up is not None and server.id.endswith("-tray")}  # fmt: skip
    assert 72 in racks
    large = [run for run in further_runs() if "GB" in run.name.split()[-1] and run.work.ranks.gpus > 72]
    assert large
    assert {run.work.domain_gpus for run in large} == {64}


def test_published_runs_of_racks_are_predicted_within_15_percent() -> None:
    errors = [abs(run.error) for run in held_out() if run.name.split()[-1] in RACKS]
    assert len(errors) == len(rows()) > 100
    assert sum(errors) / len(errors) < 0.15


def test_docs_have_the_runs_on_racks() -> None:
    """The table of runs through the command line is that of the data; its last row is the mean of all."""
    assert table(predicted()) in FURTHER_PAGE.read_text(), "run `make predictions`"


@pytest.mark.parametrize("place", [100, *(pytest.param(place, marks=pytest.mark.long) for place in range(0, 110, 11))])
def test_the_command_line_predicts_what_the_table_of_runs_says(place: int) -> None:
    """A run on its server and GPUs, solved as a user would, with the part of each rack that is picked."""
    found = solved_run(*rows()[place])
    assert found.error == pytest.approx(found.run.error, abs=1e-6)
    assert found.gpus_per_domain == (found.run.work.domain_gpus if found.run.work.ranks.gpus > 72 else 72)


PLAN = {"pipeline": 4, "virtual_stages": 4, "expert": 64, "batch": 4096}


def _case(gpus: int | None = 256, **workload: Any) -> Json:
    wanted = {"model": "deepseek-v3", "software": "tuned", "max_exposed_communication": 0.9, "plan": PLAN}
    return {
        "name": "racks", "server": "nvidia-gb200-nvl72-tray", "gpus": gpus, "workload": wanted | workload,
        "fabrics": [{"name": "compute", "protocol": "infiniband"}],
    }  # fmt: skip


def test_the_answer_says_how_many_are_in_use() -> None:
    """By default 64 of 72; 72 are taken where the case says so, and the experts then cross the network."""
    fewer, every = (
        optimize.solve(inputs_from_objects(_case(**part)), alternatives_s=0)
        for part in ({}, {"gpus_per_domain": 72})
    )  # fmt: skip
    assert fewer.workload is not None
    assert every.workload is not None
    assert every.workload.step_s > 2 * fewer.workload.step_s
    expert = [next(row for row in one.workload.communicators if row.communicator == "expert") for one in (fewer, every)]
    assert [row.place for row in expert] == ["domain", "leaf"]
    assert any("64 of the 72 GPUs of each scale-up domain, 4 domains" in note for note in fewer.notes)
    assert (fewer.stages[-1].servers, every.stages[-1].servers) == (72, 64)
    assert any("32 GPUs in all are spares, bought and cabled" in note for note in fewer.notes)
    assert not any("scale-up domain" in note and "expert 64" in note for note in every.notes)
    assert_proven(fewer)
    assert_proven(every)


def test_a_list_of_servers_asks_for_the_spares_that_each_alone_does() -> None:
    racks = [f"nvidia-{name}-nvl72-tray" for name in ("gb200", "gb300")]
    listed = inputs_from_objects(_case() | {"server": racks, "objective": "capex_usd"})
    for server, case in zip(racks, cases_of_servers(listed.case, listed.catalog), strict=True):
        alone = inputs_from_objects(_case() | {"server": server}).case
        assert case.workload == alone.workload is not None
        assert alone.workload.gpus_per_domain == 64
        assert stages_of(case, listed.catalog.servers[0]) == stages_of(alone, listed.catalog.servers[0])


def listed() -> Design:
    racks = [f"nvidia-{name}-nvl72-tray" for name in ("gb200", "gb300")]
    return optimize.solve(inputs_from_objects(_case() | {"server": racks}), alternatives_s=0)


@pytest.mark.long
def test_a_list_of_racks_is_proven_with_its_spares() -> None:
    design = listed()
    assert_proven(design)
    assert {(one.servers, one.gpus_at_work) for one in design.servers_compared} == {(72, 256)}


@pytest.mark.long(but=("said0",))
@pytest.mark.parametrize("said", [{}, {"gpus_per_domain": 64}])
def test_servers_given_without_their_spares_are_told(said: Json) -> None:
    """Four domains of 18 servers, of which 16 are there."""
    design = optimize.solve(inputs_from_objects(_case(gpus=None, **said) | {"servers": 64}), alternatives_s=0)
    assert design.stages[-1].servers == 64
    warned = next(note for note in design.notes if "each scale-up domain" in note)
    assert warned.startswith("warning: ") and "these hold 72 servers, and the case has 64: `servers: 72`" in warned


@pytest.mark.parametrize("plans", [20, pytest.param(NUM_PLANS, marks=pytest.mark.long)])
def test_servers_for_gpus_at_work_are_whole_domains(plans: int) -> None:
    """What is bought works or is a spare of a domain: by GPUs or by those servers, one demand and one step."""
    dice, racks = random.Random(11), next(
        server for server in read_catalog(["reference"], Path()).servers if server.id == "nvidia-gb200-nvl72-tray"
    )  # fmt: skip
    for _ in range(plans):
        part, domains = dice.randrange(4, 76, 4), dice.randint(1, 40)
        gpus = part * domains
        plan = {"batch": gpus * 4}
        by_gpus = _asked(part, plan, gpus=gpus)
        servers = stages_of(by_gpus, racks)[-1].servers
        assert servers == (18 * domains if part < 72 else gpus // 4)
        by_servers = _asked(part, plan, servers=servers)
        runs = [case_workload(case, racks) for case in (by_gpus, by_servers)]
        assert [run.ranks.gpus for run in runs if run is not None] == [gpus, gpus]
        for group in (18, 36, 18 * domains):
            # a leaf of whole racks holds whole parts of domains, in the prediction and rank by rank
            blocks = [blocks_below(run, group * 4, servers * 4) for run in runs if run is not None]
            assert {int(leaf) for leaf, _ in blocks} == {min(group * 4 // 72 * part, gpus)} or group > servers


@cache
def _read() -> Case:
    return inputs_from_objects(_case(256)).case


def _asked(part: int, plan: Json, **size: int) -> Case:
    wanted = Wanted.model_validate({"model": "unused", "gpus_per_domain": part, "placement": "packed", "plan": plan})
    case = _read()
    asked = wanted.model_copy(update={"model": tiny_model()})
    return case.model_copy(update={"gpus": None, "servers": None, "stages": None, "workload": asked} | size)


def test_groups_that_straddle_whole_racks_are_told() -> None:
    plan = PLAN | {"expert": 16, "batch": 4608}
    design = optimize.solve(inputs_from_objects(_case(576, plan=plan)), alternatives_s=0)
    assert any("expert 16 straddles scale-up domains of 72" in note and "use 64 of 72" in note for note in design.notes)


@pytest.mark.parametrize(
    ("given", "told"), [(80, "scale-up domains have 72 GPUs"), (63, "servers of 4"), (60, "no whole number")]
)
def test_parts_that_cannot_be_are_refused(given: int, told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        optimize.solve(inputs_from_objects(_case(gpus_per_domain=given)))
    assert "workload.gpus_per_domain" in str(refused.value)
