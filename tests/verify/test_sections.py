"""Sections of designs that those of the families lack: each key is changed in every way, and the file is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from fabopt.schema.design import Design
from tests.mutations import OTHER, Change, changes, class_of, document_of, held, name_of, outcome, places
from tests.samples import designs_of_families
from tests.samples.designs_of_sections import MAKERS, designed


def firsts(document: dict[str, object], keys: str) -> Iterator[Change]:
    """Of the changes of each of these keys, and of keys below, the first of every kind."""
    known: set[tuple[str, str]] = set()
    own = re.compile(rf"(?:{keys})(?:\..*)?")
    for change in changes(document):
        name = name_of(change.place)
        if own.fullmatch(name) and (name, change.how) not in known:
            known.add((name, change.how))
            yield change


# Verified for seconds, as futures and models are.
SLOW = (
    *("regret", "scenarios", "at work", "decided", "memory", "what else", "racks of cores", "left over"),
    *("served", "jobs", "jobs that train"),
)


# Changes of no class that may pass, and why each says nothing else, or nothing wrong.
AS_TRUE = {
    r"fabrics\.#\.links\.#\.runs_m (delete|null)": "the links of such a row are all of its own length",
    r"fabrics\.#\.placement\.\w+\.#\.# [+-]1": "another free unit of the same rack",
    r"(workload|serving)\.needs\.leaf_gpus -1": "fewer GPUs that share a leaf ask for no less, and here for no more",
    r"alternatives\.#\.tokens_per_s [+-]1": "of a service whose prompts are read apart, held between what times allow",
    r"alternatives\.#\.usd_per_effective_gpu [+-]1": "held to three digits, as the utilization beside it has four",
}


@pytest.mark.long(but=("a rule left out", "shared", "free ports", "stand-ins", "rails as planes", "two servers"))
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] if kind in SLOW else []) for kind in MAKERS]
)
def test_a_changed_section_is_refused_or_of_a_class_that_may_pass(kind: str) -> None:
    document = document_of(designed(kind))
    before = Design.model_validate_json(json.dumps(document))
    assert outcome(document, before) == "same"
    tried = list(firsts(document, MAKERS[kind][0]))
    own = [one for one in tried if class_of(name_of(one.place)) == OTHER]
    passing = [f"{name_of(one.place)} {one.how}" for one in own if outcome(one.applied(document), before) == "passes"]
    assert tried and [name for name in passing if not re.fullmatch("|".join(AS_TRUE), name)] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", [*designs_of_families.MAKERS, *(f"section {kind}" for kind in MAKERS)])
def test_every_key_of_a_file_is_held_to_what_it_says(kind: str) -> None:
    """Each key of the design itself changed in each way, at one of its places."""
    section = kind.removeprefix("section ")
    document = document_of(designed(section) if kind.startswith("section ") else designs_of_families.designed(kind))
    before = Design.model_validate_json(json.dumps(document))
    places_of: dict[str, list[Change]] = {}
    for change in changes(document):
        if class_of(name_of(change.place)) == OTHER:
            places_of.setdefault(f"{name_of(change.place)} {change.how}", []).append(change)
    tried = {name: Random(kind).choice(there) for name, there in places_of.items()}
    passing = [name for name, change in tried.items() if outcome(change.applied(document), before) == "passes"]
    assert [name for name in passing if not re.fullmatch("|".join(AS_TRUE), name)] == [] and len(tried) > 500


# Keys that no sample has a value of, and why.
WITHOUT_SAMPLE: dict[str, str] = {
    r"(conflicts|nearest)\b.*": "of files without a design, which `check` refuses whole",
    r"objective\.floor": "null in files: nothing in one proves it",
    r"objective\.decision\.least_in_ratio_usd": "of some thousand GPUs; tests/search/test_decision.py forges one",
    r"fabrics\.#\.growth\.#\.metrics\.max_nic_hops": "no torus of servers grows in stages",
    r"fabrics\.#\.logical\.#\.nic\.stand_ins\b.*": "the cards of a logical fabric are of one vendor",
    r"fabrics\.#\.tiers\.#\.other\.up\b.*": "0.2 had spines of two types at the top alone",
    r"workload\.services\.#\.service\.prefill\.communicators\b.*": "its prompts are read within one GPU",
    r"(workload\.services\.#\.service|serving)\.needs\.overlapped_gbps_per_gpu": "of models that train",
    r"workload\.ends\.#\.placement\.within": "ends are packed and scattered; the type is that of the case",
}


def keys_of(kind: Any, name: str = "") -> Iterator[str]:
    """Every key that a type's files can have, ``#`` for entries of lists; words of the user's own are no keys."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for key, field in kind.model_fields.items():
            below = f"{name}.{field.alias or key}".removeprefix(".")
            yield below
            yield from keys_of(field.annotation, below)
    elif get_origin(kind) is not dict:
        for inner in get_args(kind):
            yield from keys_of(inner, f"{name}.#" if get_origin(kind) is tuple else name)


def test_what_has_no_sample_is_a_key() -> None:
    keys = set(keys_of(Design))
    assert len(keys) > 400 and all(any(re.fullmatch(own, key) for key in keys) for own in WITHOUT_SAMPLE)


@pytest.mark.long
def test_every_key_says_something_in_a_sample() -> None:
    """So that whoever adds a key has it changed in every way, here or among the families."""
    kinds = [*map(designed, MAKERS), *map(designs_of_families.designed, designs_of_families.MAKERS)]
    said = {
        name_of(place)
        for document in map(document_of, kinds)
        for place in places(document)
        if held(document, place) not in (None, [], {})
    }
    without = re.compile("|".join(WITHOUT_SAMPLE))
    assert [key for key in keys_of(Design) if (key in said) == bool(without.fullmatch(key))] == []
