"""Every rule that holds for a design, evaluated.

Only the design file is read: its case, its embedded parts, its statements. What a structure implies is worked out by
classes of equal devices; links, cages, ports and parts are counted one by one in the wiring, as arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import TypeVar

from fabopt.schema.design import Check, Design
from fabopt.verify.editions import rules_off
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor import has_floor
from fabopt.verify.proof import Proof, applies, as_check, prove
from fabopt.verify.rules import (
    CABLED_RULES,
    DESIGN_RULES,
    FILE_RULES,
    FLOOR_RULES,
    LEFT_OUT_RULES,
    LOGICAL_RULES,
    MONEY_RULES,
    STATEMENT_RULES,
    WORKLOAD_RULES,
    fabric_rules,
    wiring_rules,
)
from fabopt.verify.separation import logical_fabrics
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import Wiring

Given = TypeVar("Given")


def verify(design: Design, wiring: Wiring | None = None) -> tuple[Check, ...]:
    """Return one check for each rule (for each rule and fabric, where a rule is about a fabric).

    Rules that the file's version did not have are off; ``rules_are_named`` names them. A file without a design
    (infeasible, unknown) has only the rules of the file. With more than two million links (``MOST_LINKS``) the rules of
    the wiring are left out. ``wiring``: the design's own, where it has been made already. Never raises: a rule that
    cannot be evaluated is a check that fails.
    """
    return tuple(verified_in_turn(design, wiring))


def verified_in_turn(design: Design, wiring: Wiring | None = None) -> Iterator[Check]:
    """The checks of :func:`verify`, each evaluated when it is asked for: for callers that stop at the first failure."""
    off = rules_off(design)
    return (check for check in _checks(Evidence(design), wiring, off) if check.name not in off)


def not_asked(design: Design) -> tuple[str, ...]:
    """The rules of a file's checks that the version it names did not have, and that are not asked of it."""
    off = rules_off(design)
    return (
        tuple(check.name for check in _checks(Evidence(design), None, Everything()) if check.name in off) if off else ()
    )


class Everything:
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


def verify_wiring(design: Design, wiring: Wiring) -> tuple[Check, ...]:
    """Return the checks of ``WIRING_RULES`` for a wiring of a design, made or read from elsewhere. Never raises."""
    return tuple(wiring_verified_in_turn(design, wiring))


def wiring_verified_in_turn(design: Design, wiring: Wiring) -> Iterator[Check]:
    """The checks of :func:`verify_wiring`, each evaluated when it is asked for."""
    evidence = Evidence(design)
    return _wiring_checks(evidence, CabledDesign(evidence, wiring), frozenset())


def _proven(
    off: Container[str],
    rules: Iterable[Callable[[Proof, Given], None]],
    evidence: object,
    given: Given,
    subject: str = "",
) -> Iterator[Check]:
    """The checks of the rules that apply by the evidence; rules that are ``off`` are not evaluated."""
    for rule in rules:
        if applies(rule, evidence):
            yield as_check(rule.__name__, Proof() if rule.__name__ in off else prove(rule, given), subject)


def _checks(evidence: Evidence, wiring: Wiring | None, off: Container[str]) -> Iterator[Check]:
    proven = partial(_proven, off)
    yield from proven(FILE_RULES, evidence, evidence)
    if evidence.design.status in ("infeasible", "unknown"):
        return
    yield from proven(DESIGN_RULES, evidence, evidence)
    for logical in logical_fabrics(evidence):
        yield from proven(LOGICAL_RULES, logical, logical, logical.designed.name)
    for fabric in evidence.fabrics:
        yield from proven(fabric_rules(fabric), fabric, fabric, fabric.designed.name)
    yield from proven(LEFT_OUT_RULES, evidence, evidence)
    cabled = CabledDesign(evidence, wiring)
    yield from proven(STATEMENT_RULES, evidence, cabled)
    if cabled.is_listed:
        yield from _wiring_checks(evidence, cabled, off)
        yield from proven(CABLED_RULES, evidence, cabled)
        yield from proven(FLOOR_RULES if has_floor(evidence) else (), evidence, cabled)
    yield from proven(MONEY_RULES, evidence, evidence)
    yield from proven(WORKLOAD_RULES, evidence, evidence)


def _wiring_checks(evidence: Evidence, cabled: CabledDesign, off: Container[str]) -> Iterator[Check]:
    for index, fabric in enumerate(evidence.fabrics):
        rules, cabling = wiring_rules(fabric), FabricCabling(fabric, cabled, index)
        yield from _proven(off, rules, fabric, cabling, fabric.designed.name)
