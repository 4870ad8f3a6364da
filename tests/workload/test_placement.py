"""Where ranks are put: what stays below leaves and pods, what is asked of a network for it, and what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.design import design_bytes
from fabopt.output.terminal.workload import needs_line, placement_lines, step_line
from fabopt.output.words import plain
from fabopt.schema.design import Design
from fabopt.schema.model import Overlap
from fabopt.schema.workload import Placement, Within
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.workload.ends import allowed, placed, tapered_leaves, tapers_of
from fabopt.workload.needs import demanding
from fabopt.workload.placement import Domains, Placing, blocks_of
from fabopt.workload.prediction import Prediction, seconds
from fabopt.workload.timing import step_on
from tests.samples.small import Json
from tests.samples.workload_samples import H100, middle_model, network, on
from tests.workload.test_workload_designs import case, solved

LEAVES, PODS = Within(within="leaf"), Within(within="pod")
PLACEMENTS: tuple[Placement, ...] = ("packed", LEAVES, PODS, "scattered")


@pytest.mark.parametrize(
    ("placement", "below"),
    [("packed", (32, 128)), (LEAVES, (32, 32)), (PODS, (0, 128)), ("scattered", (0, 0))],
)
def test_what_is_below_for_certain(placement: Placement, below: tuple[int, int]) -> None:
    assert blocks_of(Placing(placement), 32, 128, Domains(8, 8), 1024) == below
    # racks that are groups of leaves are dealt whole, and where there is one block nothing can be elsewhere
    assert blocks_of(Placing("scattered", 32), 32, 128, Domains(8, 8), 1024) == (32, 32)
    assert blocks_of(Placing(placement), 1024, 1024, Domains(8, 8), 1024) == (1024, 1024)


def test_ranks_that_are_put_nearer_never_wait_longer() -> None:
    for plan in ({}, {"pipeline": 4}, {"tensor": 16, "overlap": Overlap(data=1)}):
        work = on(middle_model(**plan), H100, 256)
        there = network(50_000, leaf_gpus=32, pod_gpus=128, leaf=3, spine=2)
        packed, leaves, pods, scattered = (step_on(placed(work, one), there).step_s for one in PLACEMENTS)
        assert packed <= min(leaves, pods) and max(leaves, pods) <= scattered
        flat = network(50_000, leaf_gpus=32, pod_gpus=128)
        assert len({step_on(placed(work, one), flat).step_s for one in PLACEMENTS}) == 1


def test_what_pods_hold_may_be_tapered_above_them() -> None:
    """By hand: data ranks of 16 pods of 128 servers share what leaves a pod, so that 1:7 above pods costs nothing.

    Within pods 1,024 GPUs send what one would, so that the ratio which keeps the limit is far larger than
    where only the eight of a server share it; in thousandths, one more breaks it.
    """
    work = on(middle_model(batch=2**17), H100, 2**14)
    there, limit = network(400_000, leaf_gpus=16, pod_gpus=1024, spine=7), Fraction(1, 2)
    ratios = []
    for placement in (PODS, "scattered"):
        prediction = Prediction(placed(work, placement), there, None, limit)
        kept = Fraction(str(allowed(prediction)["spine"]))
        tapered = [replace(there, pod_mbps=there.leaf_mbps / (kept + more)) for more in (0, Fraction(1, 1000))]
        exposed = [step_on(demanding(prediction.workload), one).exposed_share for one in tapered]
        assert exposed[0] <= limit < exposed[1]
        ratios.append(kept)
    assert ratios[0] > 7 and ratios[0] > 50 * ratios[1]


def test_what_other_ratios_above_pods_cost_is_the_step_there() -> None:
    """By hand: a quarter of the bandwidth above pods is the network with 4:1 there, the leaves untouched."""
    work = on(middle_model(batch=2**14), H100, 2**11)
    there = network(400_000, leaf_gpus=16, pod_gpus=512, leaf=2, spine=7)
    steps = {one.spine_ratio: one for one in tapers_of(Prediction(work, there, None, None)) if one.spine_ratio}
    assert list(steps) == [1, 2, 3, 4, 7]
    for ratio, step in steps.items():
        built = network(400_000, leaf_gpus=16, pod_gpus=512, leaf=2, spine=int(ratio))
        assert step.leaf_ratio is None
        assert step.packed_s == seconds(step_on(placed(work, "packed"), built).step_s)
        assert step.scattered_s == seconds(step_on(placed(work, "scattered"), built).step_s)
    assert steps[7].scattered_s > steps[1].scattered_s
    two_tiers = replace(there, pod_gpus=2**11)
    assert [one.spine_ratio for one in tapers_of(Prediction(work, two_tiers, None, None))] == [None] * 5


def test_without_the_rule_ranks_are_packed_and_demands_hold_for_any() -> None:
    """As before there were placements: demands in ratios that count on nothing, predictions of packed ranks."""
    free = optimize.solve(inputs_from_objects(case(TIGHT, **SMALL) | {"rules": "none"}), alternatives_s=0)
    kept = solved(TIGHT, **SMALL)
    assert free.workload is not None and kept.workload is not None
    assert (free.workload.placement, kept.workload.placement) == ("packed", "scattered")
    assert free.workload.needs == kept.workload.needs


def test_tapered_leaves_keep_the_ratio_of_the_pods() -> None:
    there = tapered_leaves(network(1200, leaf_gpus=8, pod_gpus=64, leaf=2, spine=3), Fraction(4))
    assert (there.server_mbps, there.leaf_mbps, there.pod_mbps) == (1200, 300, 100)


@pytest.fixture(scope="module")
def packed() -> Design:
    return solved(TIGHT | {"placement": "packed"}, **SMALL)


def test_a_limit_on_the_step_is_told_as_what_the_model_needs(packed: Design) -> None:
    """Ratios are open where each design is timed, but the bandwidth at 1:1 is known, and waiting is not free."""
    assert packed.workload is not None
    line = needs_line(packed.workload)
    assert f"needs {plain(packed.workload.needs.min_gbps_per_gpu)} Gb/s per GPU at 1:1" in line
    assert line.endswith("per GPU, any ratio at the leaf, any at the spine: each design is timed")


TIGHT: Json = {"gpu_utilization": 1, "max_exposed_communication": 0.03}
SMALL: Json = {"tiers": 2}


def test_designs_with_packed_ranks_are_timed_in_place_of_ratios(packed: Design) -> None:
    """What is asked for is the limit itself: no dearer than with ratios that hold for any design, and kept."""
    scattered = solved(TIGHT, **SMALL)
    assert packed.workload is not None and scattered.workload is not None
    assert packed.totals is not None and scattered.totals is not None
    assert packed.status == scattered.status == "optimal"
    assert packed.totals.capex_usd <= scattered.totals.capex_usd
    assert packed.workload.exposed_communication <= 0.03 and scattered.workload.exposed_communication <= 0.03
    assert packed.workload.needs.max_oversubscription == {"leaf": 10**6, "spine": 10**6}
    assert packed.workload.placement == "packed" and scattered.workload.placement == "scattered"
    assert [check for check in packed.checks if not check.ok] == []
    assert packed.case.content["workload"]["placement"] == "packed"
    assert "placement" not in scattered.case.content["workload"]


def test_both_ends_are_said(packed: Design) -> None:
    use = packed.workload
    assert use is not None
    by_placement = {str(one.placement): one.step_s for one in use.ends}
    assert use.step_s == by_placement["packed"] <= by_placement["scattered"]
    assert [one.leaf_ratio for one in use.tapers] == [1, 2, 3, 4, 7]
    assert all(one.packed_s <= one.scattered_s for one in use.tapers)
    lines = list(placement_lines(use))
    assert lines[0].startswith("ranks packed; a step with ranks packed ")
    assert "at most " in lines[0] and " at the leaf" in lines[0]
    assert "3:1 " in lines[1]
    assert "all servers are on the same switches" in list(placement_lines(use.model_copy(update={"tapers": ()})))[-1]


def test_tokens_a_second_have_a_band(packed: Design) -> None:
    """As steps have: no figure is said more exactly than it is known."""
    use = packed.workload
    assert use is not None
    slow, fast = (use.tokens_per_step / bound for bound in reversed(use.step_band_s))
    said = step_line(use).removesuffix(" tokens/s").replace(",", "").split()
    assert [float(said[-3]), float(said[-1])] == [float(f"{slow:.3g}"), float(f"{fast:.3g}")]


def failed(content: Json) -> set[str]:
    return {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}


def test_wrong_ends_are_found(packed: Design) -> None:
    good = json.loads(design_bytes(packed))
    assert failed(good) == set()
    changes: list[tuple[str, Any]] = [
        ("placement", "scattered"), ("ends", []), ("tapers", []), ("allowed_oversubscription", {"leaf": 9}),
    ]  # fmt: skip
    for key, value in changes:
        bad = json.loads(json.dumps(good))
        bad["workload"][key] = value
        assert "workload_is_recomputed" in failed(bad), key
    bad = json.loads(json.dumps(good))
    bad["case"]["content"]["workload"]["max_exposed_communication"] = 1e-9
    assert "workload_needs_are_met" in failed(bad)


@pytest.mark.parametrize(
    ("workload", "keys", "said"),
    [
        ({"placement": "near"}, {}, "workload.placement"),
        ({"placement": {"within": "rack"}}, {}, "workload.placement.*within"),
        ({"placement": "packed"}, {"topologies": ["torus"]}, "ranks that are put together within leaves or pods"),
    ],
)
def test_placements_that_there_are_not_are_refused(workload: Json, keys: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        inputs_from_objects(case(workload, **keys))


def test_a_profile_has_no_placement() -> None:
    with pytest.raises(InputError, match="`placement` goes with a `model`"):
        inputs_from_objects(case() | {"workload": {"profile": "mixed", "placement": "packed"}})
