"""Every rule that holds for a design, evaluated.

Only the design file is read: its case, its embedded parts, its claims. Counts run over classes of equal devices, so a
fabric of a hundred thousand GPUs takes as long as one of a hundred. The rules of the wiring go on port by port.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import TypeVar

from fabopt.schema import default_rules
from fabopt.schema.design import Check, Design
from fabopt.verify.appliances import has_attachments_in_racks
from fabopt.verify.charges import owes_charges
from fabopt.verify.editions import rules_off
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor import has_floor
from fabopt.verify.futures import names_futures
from fabopt.verify.out_of_band import counts_ports
from fabopt.verify.payments import has_period_budgets
from fabopt.verify.proof import Proof, as_check, prove
from fabopt.verify.rack_losses import names_feeds
from fabopt.verify.racks import has_named_racks, keeps_rule
from fabopt.verify.rules import (
    APPLIANCE_RULES,
    CABLED_RULES,
    CHARGE_RULES,
    DESIGN_RULES,
    FEED_RULES,
    FILE_RULES,
    FLOOR_RULES,
    FUTURE_RULES,
    LEFT_OUT_FLOOR_RULES,
    LEFT_OUT_RULES,
    MANAGEMENT_RULES,
    MONEY_RULES,
    NAMED_RACK_RULES,
    PAYMENT_RULES,
    QUOTA_RULES,
    RACK_RULES,
    ROBUST_RULES,
    SEPARATION_RULES,
    SPREAD_RULES,
    VENDOR_RULES,
    WORKLOAD_RULES,
    fabric_rules,
    logical_rules,
    wiring_rules,
)
from fabopt.verify.separation import logical_fabrics, separates
from fabopt.verify.sourcing import counts_vendors, has_quarterly_supply
from fabopt.verify.totals import is_picked_for_robustness
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import Wiring

Given = TypeVar("Given")


def verify(design: Design, wiring: Wiring | None = None) -> tuple[Check, ...]:
    """Return one check for each rule (for each rule and fabric, where a rule is about a fabric).

    Rules that the file's version did not have are off; ``rules_are_named`` names them.
    A file without a design (infeasible, unknown) has only the rules of the file. With more than a million links
    (``MOST_LINKS``) the rules of the wiring are left out. ``wiring``: the design's own, where it has been made
    already. Never raises: what cannot be evaluated is a check that fails.
    """
    return tuple(verified_in_turn(design, wiring))


def verified_in_turn(design: Design, wiring: Wiring | None = None) -> Iterator[Check]:
    """The checks of :func:`verify`, each evaluated when it is asked for: for who looks for the first that fails."""
    off = rules_off(design)
    return (check for check in _checks(Evidence(design), wiring, off) if check.name not in off)


def not_asked(design: Design) -> tuple[str, ...]:
    """The checks, by their rules, that a file is spared since the version that it names did not have them."""
    off = rules_off(design)
    return (
        tuple(check.name for check in _checks(Evidence(design), None, Everything()) if check.name in off) if off else ()
    )


class Everything:
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


def verify_wiring(design: Design, wiring: Wiring) -> tuple[Check, ...]:
    """Return the checks of ``WIRING_RULES`` for a wiring of a design, wherever it comes from. Never raises."""
    return tuple(wiring_verified_in_turn(design, wiring))


def wiring_verified_in_turn(design: Design, wiring: Wiring) -> Iterator[Check]:
    """The checks of :func:`verify_wiring`, each evaluated when it is asked for."""
    evidence = Evidence(design)
    return _wiring_checks(evidence, CabledDesign(evidence, wiring), frozenset())


def _proven(
    off: Container[str],
    rules: Iterable[Callable[[Proof, Given], None]],
    given: Given,
    subject: str = "",
    when: bool = True,
) -> Iterator[Check]:
    """The checks of some rules, if the design has what they are about; those that are ``off`` are not evaluated."""
    for rule in rules if when else ():
        yield as_check(rule.__name__, Proof() if rule.__name__ in off else prove(rule, given), subject)


def _checks(evidence: Evidence, wiring: Wiring | None, off: Container[str]) -> Iterator[Check]:
    proven = partial(_proven, off)
    yield from proven(FILE_RULES, evidence)
    if evidence.design.status in ("infeasible", "unknown"):
        return
    yield from proven(DESIGN_RULES, evidence)
    yield from proven(MANAGEMENT_RULES, evidence, when=counts_ports(evidence))
    yield from proven(SEPARATION_RULES, evidence, when=separates(evidence))
    for logical in logical_fabrics(evidence):
        yield from proven(logical_rules(logical), logical, logical.designed.name)
    for fabric in evidence.fabrics:
        yield from proven(fabric_rules(fabric), fabric, fabric.designed.name)
    yield from proven(LEFT_OUT_RULES, evidence)
    cabled = CabledDesign(evidence, wiring)
    if cabled.is_listed:
        yield from _wiring_checks(evidence, cabled, off)
        yield from proven(CABLED_RULES, cabled)
        if has_floor(evidence):
            yield from proven(FLOOR_RULES, cabled)
            yield from proven(RACK_RULES, cabled, when=keeps_rule(evidence, default_rules.RACK_RULES))
            yield from proven(SPREAD_RULES, cabled, when=keeps_rule(evidence, default_rules.RACK_SPREAD))
            yield from proven(LEFT_OUT_FLOOR_RULES, cabled, when=bool(evidence.design.rules_left_out))
            yield from proven(NAMED_RACK_RULES, cabled, when=has_named_racks(evidence))
            yield from proven(FEED_RULES, cabled, when=names_feeds(evidence))
            yield from proven(APPLIANCE_RULES, cabled, when=has_attachments_in_racks(evidence))
    yield from proven(MONEY_RULES, evidence)
    yield from proven(VENDOR_RULES, evidence, when=counts_vendors(evidence))
    yield from proven(QUOTA_RULES, evidence, when=has_quarterly_supply(evidence))
    yield from proven(CHARGE_RULES, evidence, when=owes_charges(evidence))
    yield from proven(PAYMENT_RULES, evidence, when=has_period_budgets(evidence))
    yield from proven(FUTURE_RULES, evidence, when=names_futures(evidence))
    yield from proven(WORKLOAD_RULES, evidence, when=evidence.design.workload is not None or evidence.names_model)
    yield from proven(ROBUST_RULES, evidence, when=is_picked_for_robustness(evidence))


def _wiring_checks(evidence: Evidence, cabled: CabledDesign, off: Container[str]) -> Iterator[Check]:
    proven = partial(_proven, off)
    for index, fabric in enumerate(evidence.fabrics):
        yield from proven(wiring_rules(fabric), FabricCabling(fabric, cabled, index), fabric.designed.name)
