"""Going on with a sweep that was stopped: the points that its file has are kept."""

from __future__ import annotations

from fabopt.errors import Fault, fault
from fabopt.io.design import read_front
from fabopt.io.faults import refuse
from fabopt.schema.front import Front


def resumed(path: str, wanted: Front) -> Front:
    """The file of a sweep of the same case, catalog, prices and keys; ``InputError`` lists all that differs."""
    before = read_front(path)
    faults: list[Fault] = []
    if before.kind != "sweep":
        faults.append(fault(path, "kind", "this is not a sweep", before.kind, allowed="sweep"))
    for key, had, needed, what in (
        ("case.sha256", before.case.sha256, wanted.case.sha256, "another case, or the case has changed"),
        ("catalog_sha256", before.catalog_sha256, wanted.catalog_sha256, "other products or prices"),
        ("keys", list(before.keys), list(wanted.keys), "other keys were swept"),
        ("fabopt", before.fabopt, wanted.fabopt, "another version of fabopt wrote it"),
    ):
        if had != needed:
            faults.append(fault(path, key, what, had, allowed=str(needed), hint="start again without --resume"))
    if faults:
        raise refuse(faults)
    return before
