"""The audit of a design made by hand: against the rules of the field, its case, and the best design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabopt.errors import InputError, fault
from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.money import CostComparison, compared_cost, price_finding
from fabopt.inspect.audit.panels import traced
from fabopt.inspect.audit.rules_counts import count_findings
from fabopt.inspect.audit.rules_network import (
    LinkSpeeds,
    WiredByHand,
    ratio_is_as_claimed,
    shape_is_needed,
    stages_can_be_reached,
    storage_is_apart,
    striping_is_even,
    subnet_is_managed,
)
from fabopt.inspect.audit.rules_parts import (
    cables_are_long_enough,
    modules_are_enough,
    nic_fits_slot,
    optics_mate,
    racks_have_power,
)
from fabopt.inspect.audit.rules_ports import (
    cables_have_ends,
    headroom_fits,
    parts_are_qualified,
    ports_exist,
    protocols_agree,
    speeds_agree,
)
from fabopt.inspect.audit.rules_servers import (
    nics_divide_over_leaves,
    peers_are_joined_alike,
    rails_do_not_cross,
    servers_are_all_there,
    servers_are_joined,
)
from fabopt.inspect.audit.tables import AuditFinding, HandMade, listed
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from fabopt.units import some

# Of names that match nothing in the case, so small a share makes a file one of another fabric.
_OTHER_FABRIC = 0.5


@dataclass(frozen=True)
class Audit:
    """The result of an audit. ``cost``: compared with the best design; None without one, or without prices.

    ``numbers``: of devices and links in the file, by kind.
    """

    hand: HandMade
    findings: Sequence[AuditFinding]
    numbers: Sequence[tuple[str, int]]
    cost: CostComparison | None
    notes: Sequence[str]

    @property
    def ok(self) -> bool:
        """Whether no finding is a fault."""
        return all(finding.severity == "remark" for finding in self.findings)


def audited(hand: HandMade, catalog: Catalog, case: Case | None, best: Design | None, claimed: float | None) -> Audit:
    """Audit a design. ``best``: design of the case; ``claimed``: oversubscription that it should have.

    Raises ``InputError`` where the file is of another cluster than the case.
    """
    hand = traced(hand)
    context = HandContext(hand, catalog, case, best)
    _require_same_cluster(context)
    cost = compared_cost(context)
    findings = list(count_findings(context, claimed) if hand.counts is not None else _wired(context, claimed))
    findings[:0] = servers_are_all_there(context)
    findings, more = listed([*findings, *price_finding(cost, best)])
    notes = (*hand.notes, *context.assumptions, *_not_known(context), *more, *(cost.notes if cost is not None else ()))
    return Audit(hand, findings, _numbers(context), cost, notes)


def _wired(context: HandContext, claimed: float | None) -> Iterator[AuditFinding]:
    """The findings of all rules on links."""
    speeds = LinkSpeeds(context)
    wired = WiredByHand(context, speeds, claimed)
    yield from servers_are_joined(context)
    yield from ports_exist(context)
    yield from striping_is_even(wired)
    yield from peers_are_joined_alike(context)
    yield from ratio_is_as_claimed(wired)
    yield from nic_fits_slot(context, speeds)
    yield from speeds_agree(context, speeds)
    yield from protocols_agree(context)
    yield from optics_mate(context)
    yield from parts_are_qualified(context)
    yield from cables_are_long_enough(context)
    yield from cables_have_ends(context)
    yield from subnet_is_managed(context)
    yield from rails_do_not_cross(wired)
    yield from shape_is_needed(wired)
    yield from modules_are_enough(context, speeds)
    yield from stages_can_be_reached(wired)
    yield from storage_is_apart(context)
    yield from racks_have_power(context)
    yield from headroom_fits(context, speeds)
    yield from nics_divide_over_leaves(wired)


def _require_same_cluster(context: HandContext) -> None:
    """Refuse a file without servers, or with a number of servers far from any stage of the case."""
    if context.embedded is None or context.hand.counts is not None:
        return
    servers = context.servers
    wanted = [stage.servers or 0 for stage in context.embedded.case.stages or ()]
    if wanted and not any(number * _OTHER_FABRIC <= servers <= number / _OTHER_FABRIC for number in wanted):
        what = f"{some(servers, 'server')} here, {wanted[-1]:,} in the case: this is of another cluster"
        raise InputError([fault(context.hand.file, "", what, hint="leave --case out, or name the case of this file")])


def _not_known(context: HandContext) -> Iterator[str]:
    unknown = [name for name in context.switches() if name not in context.switch_of]
    if unknown:
        yield (
            f"{some(len(unknown), 'switch')} of no known product ({unknown[0]}, ...): rules on their ports and speeds "
            "are not applied"
        )


def _numbers(context: HandContext) -> list[tuple[str, int]]:
    counts = context.hand.counts
    if counts is not None:
        return [*counts.numbers.items(), *((part.name, part.quantity) for part in counts.parts)]
    roles = list(context.roles.values())
    numbers = [(role, roles.count(role)) for role in ("server", "attachment", "leaf", "spine", "core")]
    return [(role, number) for role, number in numbers if number] + [("links", len(context.hand.links))]
