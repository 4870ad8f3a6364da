"""Results of checking again: the checks in groups, failed ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fabopt.output.words import AN_EARLIER_FILE, verdict_on
from fabopt.schema.design import Check
from fabopt.units import some
from fabopt.verify import rules


def _names(*tables: Iterable[Callable[..., None]]) -> frozenset[str]:
    return frozenset(rule.__name__ for table in tables for rule in table)


_GROUPS = (
    ("The file", _names(rules.FILE_RULES)),
    ("Choice of parts", _names(rules.DESIGN_RULES)),
    (
        "Fabrics: sizes, ports and speeds",
        _names(rules.FABRIC_RULES, rules.LOGICAL_RULES, *rules.DIRECT.values(), *rules.SWITCHLESS.values()),
    ),
    (
        "Wiring, port by port",
        _names(rules.WIRING_RULES, *rules.DIRECT_WIRING.values(), *rules.SWITCHLESS_WIRING.values()),
    ),
    ("Floor", _names(rules.FLOOR_RULES)),
    ("Money, power and limits", _names(rules.MONEY_RULES)),
    ("Workload", _names(rules.WORKLOAD_RULES)),
)
# Of a file that another version wrote.
_OTHER = "Other rules"


@dataclass(frozen=True)
class CheckGroup:
    """Checks of one kind."""

    title: str
    checks: tuple[Check, ...]

    @property
    def failed(self) -> int:
        """Count of checks that do not hold."""
        return sum(not check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """``all 31 hold``, ``2 of 31 FAILED``."""
        number = len(self.checks)
        return f"{self.failed} of {number} FAILED" if self.failed else f"all {number} hold" if number > 1 else "holds"


def check_groups(checks: Sequence[Check]) -> list[CheckGroup]:
    """Return checks by subject; empty groups are left out."""
    title_of = {name: title for title, names in _GROUPS for name in names}
    titles = [*(title for title, _ in _GROUPS), _OTHER]
    groups = [
        CheckGroup(title, tuple(check for check in checks if title_of.get(check.name, _OTHER) == title))
        for title in titles
    ]
    return [group for group in groups if group.checks]


def holds_together(checks: Sequence[Check]) -> bool:
    """Whether parts, sizes and wiring hold, so that a fabric can be drawn; money may be wrong."""
    aside = _names(rules.FILE_RULES, rules.MONEY_RULES)
    return all(check.ok or check.name in aside for check in checks)


def checks_sentence(checks: Sequence[Check], spared: int = 0) -> str:
    """State the result of checking again without the solver; ``spared``: checks that the file is not asked for."""
    failed = sum(not check.ok for check in checks)
    if failed:
        return f"{failed} of {some(len(checks), 'check')} FAILED when this page was made. Do not buy from this design."
    held = f"every one of {some(len(checks), 'check')} holds"
    if spared:
        held = f"{verdict_on(len(checks), spared)}; {AN_EARLIER_FILE}"
    return f"When this page was made, the design was checked again without the solver: {held}."
