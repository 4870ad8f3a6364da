"""What a design states of itself: every statement that is altered is named, and none that is honest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from fabopt.schema.design import Design
from fabopt.verify import not_asked, verify
from tests.mutations import Json, document_of
from tests.samples import small
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.older import as_written_by

RULE = "statements_are_true"
# Kinds of cases of which a structure is a Clos, and what is counted of it.
CLOS = [kind for kind in MAKERS if kind.startswith(("clos", "rail", "planes", "growth", "logical"))]
WORDS = ("groups", "pods", "spines_per_pod", "links_per_pair", "cores_per_group", "links_per_core_pair")


def told(document: Json) -> str:
    """What the rule says of a file; empty where it holds."""
    checks = {check.name: check for check in verify(Design.model_validate_json(json.dumps(document)))}
    return "" if checks[RULE].ok else checks[RULE].detail


def resilient() -> Json:
    """A fabric with parts of the default rule, some of which do not apply."""
    return document_of(small.solved({**small.case(), "resilience": "default"}))


@pytest.mark.parametrize("kind", MAKERS)
def test_honest_designs_state_what_is_counted(kind: str) -> None:
    document = document_of(designed(kind))
    assert told(document) == "" and document["objective"]["floor"] is None


def test_words_of_the_default_rule_are_those_of_its_numbers() -> None:
    document = resilient()
    assert told(document) == "" and document["fabrics"][0]["redundancy"]
    for row in document["fabrics"][0]["redundancy"]:
        honest, row["detail"] = row["detail"], "every server on 9 switches"
        assert f"fabrics.compute.redundancy.{row['rule']}.detail is every server on 9" in told(document)
        row["detail"] = honest


@pytest.mark.parametrize("value", [1, 0.01, "value"])
def test_a_floor_is_in_no_file(value: Any) -> None:
    """Not even one that may be true: no check proves it."""
    document = document_of(designed("clos, two tiers"))
    document["objective"]["floor"] = document["objective"]["value"] if value == "value" else value
    with pytest.raises(ValidationError, match="nothing in a file proves it"):
        told(document)
    document["objective"]["floor"] = None
    as_written_by("0.2.0", document)
    document["objective"]["floor"] = 1
    assert Design.model_validate_json(json.dumps(document)).objective.floor == 1


def test_lengths_as_which_runs_count_are_those_of_the_rows() -> None:
    document = document_of(designed("floor"))
    classes = document["floor"]["length_classes_m"]
    for altered in (classes[1:], [*classes, classes[-1] + 1], [classes[0] / 2, *classes], classes[:-1]):
        document["floor"]["length_classes_m"] = altered
        assert "floor.length_classes_m is " in told(document)


@pytest.mark.parametrize("kind", ["clos, two tiers", "hyperx", "growth"])
def test_servers_pass_nothing_on_where_there_are_switches(kind: str) -> None:
    document = document_of(designed(kind))
    for fabric in document["fabrics"]:
        for place in (fabric, *fabric["growth"]):
            place["metrics"]["max_nic_hops"] = 2
            assert "metrics.max_nic_hops is 2, recomputed None" in told(document)
            place["metrics"]["max_nic_hops"] = None


@pytest.mark.parametrize("kind", CLOS)
def test_words_of_a_structure_are_counted_in_the_wiring(kind: str) -> None:
    """A wiring that the file has not: that of the honest one beside altered words, each of which is named."""
    from fabopt.verify.evidence import Evidence
    from fabopt.verify.proof import prove
    from fabopt.verify.recount import statements_are_true
    from fabopt.verify.wiring import CabledDesign
    from fabopt.wiring.build import wiring_of

    design = designed(kind)
    wiring = wiring_of(design)
    design = Design.model_validate_json(json.dumps(document_of(design)))
    fabric = design.fabrics[0]

    def said(**changed: object) -> str:
        fabrics = (fabric.model_copy(update=changed), *design.fabrics[1:])
        return prove(
            statements_are_true, CabledDesign(Evidence(design.model_copy(update={"fabrics": fabrics})), wiring)
        ).detail

    for word in WORDS:
        structure = fabric.structure.model_copy(update={word: getattr(fabric.structure, word) + 1})
        assert f"structure.{word}" in said(structure=structure)
    for place, tier in enumerate(fabric.tiers):
        more = tier.model_copy(update={"up_ports": tier.up_ports + 1})
        assert f"tiers.{tier.role}.up_ports" in said(tiers=(*fabric.tiers[:place], more, *fabric.tiers[place + 1 :]))


def test_files_of_earlier_versions_state_it_in_their_own_words() -> None:
    document = resilient()
    document["fabrics"][0]["redundancy"][0]["detail"] = "two of them"
    as_written_by("0.2.0", document)
    assert RULE in not_asked(Design.model_validate_json(json.dumps(document)))
