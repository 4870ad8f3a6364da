"""What keeps a pod from joining what is in service: each is refused where it is written, with what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from tests.samples.bases import designed, saved
from tests.solution.test_joins import in_service, joined, parts, pod

Json = dict[str, Any]
GIVEN = parts({"small": 6}, 8)
LABOUR = {"usd_per_hour": 90, "minutes": {"rack": 10}}


def live() -> Design:
    return designed(GIVEN, in_service(4, max_oversubscription=2))


def refused(content: Json, folder: Path, given: Json = GIVEN, there: Design | None = None) -> dict[str, str]:
    """What is told of a case, by key."""
    file = saved(live() if there is None else there, folder)
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({"joins": {"file": str(file)}, **content}, given)
    return {fault.path: str(fault) for fault in refusal.value.faults}


def test_a_case_that_does_not_go_with_a_pod(tmp_path: Path) -> None:
    content = pod(3, ["small"], max_oversubscription=2)
    fabric, without = content["fabrics"][0], {key: value for key, value in content.items() if key != "servers"}
    above = [{"name": "storage", "ports": 2, "buys": "none", "tier": "spine"}]
    for changes, key, words in (
        ({"fabrics": [{**fabric, "name": "other"}]}, "fabrics", "allowed: compute"),
        ({"charges": [{"name": "care", "usd": 5, "per": "fabric"}]}, "charges", "does not go with `joins`"),
        ({"procurement": {"spares": {"switch": {"minimum": 1}}}}, "procurement.spares", "does not go with `joins`"),
        ({"site": {**content["site"], "labour": LABOUR}}, "site.labour", "does not go with `joins`"),
        ({"fabrics": [{**fabric, "tiers": 3}]}, "fabrics[0].tiers", "allowed: 2"),
        ({"fabrics": [{**fabric, "planes": 2}]}, "fabrics[0].planes", "allowed: 1"),
        ({"fabrics": [{**fabric, "protocol": "infiniband"}]}, "fabrics[0].protocol", "allowed: ethernet"),
        ({"fabrics": [{**fabric, "switches": {"spine": ["small"]}}]}, "fabrics[0].switches.spine", "live-spine"),
        ({"fabrics": [{**fabric, "homing": "pair"}]}, "fabrics[0].homing", "does not go with `joins`"),
        ({"fabrics": [{**fabric, "attachments": above}]}, "fabrics[0].attachments", "leaves"),
    ):  # fmt: skip
        assert words in refused({**content, **changes}, tmp_path)[key], key
    stages = [{"name": "one", "servers": 2}, {"name": "two", "month": 6, "servers": 4}]
    comes = {"stages": stages, "scenarios": [{"name": "may", "probability": 1, "months": {"two": 6}}]}
    told = refused({**without, **comes, "objective": "tco_usd"}, tmp_path)
    assert "does not go with `joins`" in told["scenarios"]


def test_attachments_of_a_pod_have_names_of_their_own(tmp_path: Path) -> None:
    """Also beside what an earlier pod has: here the second pod names one as what is in service first."""
    before, content = in_service(4, max_oversubscription=3), pod(3, ["small"], max_oversubscription=6)
    stored = {"attachments": [{"name": "storage", "ports": 1, "buys": "none", "tier": "leaf"}]}
    before["fabrics"][0] |= stored
    first = joined(GIVEN, content, designed(GIVEN, before), tmp_path)
    told = refused(pod(2, ["small"], max_oversubscription=6, **stored), tmp_path, there=first)
    assert "in service has this name; found 'storage'" in told["fabrics[0].attachments[0].name"]


def test_what_cannot_be_joined(tmp_path: Path) -> None:
    content = pod(3, ["small"], max_oversubscription=2)
    document = json.loads(live().model_dump_json(by_alias=True))
    document["fabrics"][0]["homing"] = "pair"
    pairs = Design.model_validate_json(json.dumps(document))
    assert "pairs of switches cannot be joined" in refused(content, tmp_path, there=pairs)["fabrics.compute.homing"]
    spineless = {**GIVEN, "switches": [one for one in GIVEN["switches"] if one["id"] != "live-spine"]}
    assert "the catalog lacks" in refused(content, tmp_path, spineless)["fabrics.compute.tiers"]


def test_runs_to_spines_are_those_of_both(tmp_path: Path) -> None:
    """Where the case says nothing of them: from the middle of the racks of both, or as far as those in service."""
    content = {key: value for key, value in pod(3, ["small"]).items() if key != "site"}
    case: Case = inputs_from_objects({**content, "joins": {"file": str(saved(live(), tmp_path))}}, GIVEN).case
    there = max(row.length_m for row in live().fabrics[0].links if row.to == "spine")
    assert case.site.distances_m is not None and case.site.distances_m.leaf_spine == there
    assert case.site.distances_m.server_leaf is None
