"""Sections of designs that those of the families lack: each key is changed in every way, and the file is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from fabopt.schema.design import Design
from tests.mutations import OTHER, Change, changes, class_of, document_of, name_of, outcome
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
SLOW = ("regret", "scenarios", "at work")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] if kind in SLOW else []) for kind in MAKERS]
)
def test_a_changed_section_is_refused_or_of_a_class_that_may_pass(kind: str) -> None:
    document = document_of(designed(kind))
    before = Design.model_validate_json(json.dumps(document))
    assert outcome(document, before) == "same"
    tried = list(firsts(document, MAKERS[kind][0]))
    passing = [one for one in tried if outcome(one.applied(document), before) == "passes"]
    assert tried and [(name_of(one.place), one.how) for one in passing if class_of(name_of(one.place)) == OTHER] == []
