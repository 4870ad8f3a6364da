"""Findings of an audit: rule, place, value, and allowed values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fabopt.units import some

Severity = Literal["fault", "remark"]
# What each rule is about, in the order of their numbers.
RULES = {
    "A0": "servers that do not reach each other, leaves below no spine",
    "A1": "ports beyond those of the product, or used twice",
    "A2": "uneven striping over the spines",
    "A3": "oversubscription above what is claimed",
    "A4": "NIC faster than its PCIe slot",
    "A5": "ends of different speeds or protocols",
    "A6": "optics or connectors that do not mate",
    "A7": "cable shorter than its run, or beyond its reach",
    "A8": "cable ends that are missing",
    "A9": "no port for a subnet manager",
    "A10": "rails that cross",
    "A11": "spines or uplinks that nothing needs",
    "A12": "transceivers against the ports that need them",
    "A13": "no spares",
    "A14": "a single spine or leaf",
    "A15": "later stages that cannot be reached without moves",
    "A16": "price against the best design",
    "A17": "storage and compute on one priority",
    "A18": "power of a rack",
    "A19": "headroom of lossless queues",
    "A20": "NICs that lack a link, or do not divide over the leaves",
}
REMARKS = ("A9", "A11", "A13", "A14", "A15", "A16")
# Of one rule, so many findings are listed; the rest is a number.
MOST_OF_A_RULE = 200


@dataclass(frozen=True)
class AuditFinding:
    """A finding of a rule. ``line``: of the file, from 1; None: of no single line. ``usd``: dollars of it."""

    kind: str
    where: str
    value: str
    allowed: str
    text: str
    line: int | None = None
    usd: float | None = None

    @property
    def severity(self) -> Severity:
        """A remark is no fault of the design."""
        return "remark" if self.kind in REMARKS else "fault"


def listed(findings: Iterable[AuditFinding]) -> tuple[list[AuditFinding], list[str]]:
    """Findings in the order of rules, the first ``MOST_OF_A_RULE`` of each; and sentences on the number of further
    ones.
    """
    by_rule: dict[str, list[AuditFinding]] = {rule: [] for rule in RULES}
    more: Counter[str] = Counter()
    for finding in findings:
        if len(by_rule[finding.kind]) < MOST_OF_A_RULE:
            by_rule[finding.kind].append(finding)
        else:
            more[finding.kind] += 1
    notes = [f"{rule}: {some(number, 'finding')} more of this rule not listed" for rule, number in more.items()]
    return [finding for rule in by_rule.values() for finding in rule], notes


def verdict(findings: Sequence[AuditFinding]) -> str:
    """The numbers of faults, by rule, and of remarks, in words."""
    faults = Counter(finding.kind for finding in findings if finding.severity == "fault")
    remarks = sum(finding.severity == "remark" for finding in findings)
    told = f" ({', '.join(f'{number} x {rule}' for rule, number in faults.items())})" if faults else ""
    return f"{some(sum(faults.values()), 'fault')}{told}, {some(remarks, 'remark')}"
