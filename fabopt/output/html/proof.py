"""What was proven: the checks in groups, worst first to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabopt.output.words import some
from fabopt.schema.design import Check
from fabopt.verify.rules import DESIGN_RULES, FABRIC_RULES, FILE_RULES, FLOOR_RULES, MONEY_RULES, WIRING_RULES

_GROUPS = (
    ("The file", FILE_RULES),
    ("Choice of parts", DESIGN_RULES),
    ("Fabrics: sizes, ports and speeds", FABRIC_RULES),
    ("Wiring, port by port", WIRING_RULES),
    ("Floor", FLOOR_RULES),
    ("Money, power and limits", MONEY_RULES),
)
_OTHER = "Other rules"


@dataclass(frozen=True)
class CheckGroup:
    """Checks of one kind."""

    title: str
    checks: tuple[Check, ...]

    @property
    def failed(self) -> int:
        """How many do not hold."""
        return sum(not check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """``all 31 hold``, ``2 of 31 FAILED``."""
        number = len(self.checks)
        return f"{self.failed} of {number} FAILED" if self.failed else f"all {number} hold" if number > 1 else "holds"


def check_groups(checks: Sequence[Check]) -> list[CheckGroup]:
    """Return checks by what they are about; groups without any are left out."""
    title_of = {rule.__name__: title for title, rules in _GROUPS for rule in rules}
    titles = [*(title for title, _ in _GROUPS), _OTHER]
    found = [
        CheckGroup(title, tuple(check for check in checks if title_of.get(check.name, _OTHER) == title))
        for title in titles
    ]
    return [group for group in found if group.checks]


def holds_together(checks: Sequence[Check]) -> bool:
    """Whether parts, sizes and wiring hold, so that a fabric can be drawn; money may be wrong."""
    aside = {rule.__name__ for rule in (*FILE_RULES, *MONEY_RULES)}
    return all(check.ok or check.name in aside for check in checks)


def checks_sentence(checks: Sequence[Check]) -> str:
    """Say what checking again, without the solver, came to."""
    failed = sum(not check.ok for check in checks)
    if failed:
        return f"{failed} of {some(len(checks), 'check')} FAILED when this page was made. Do not buy from this design."
    return f"When this page was made, the design was checked again without the solver: all {len(checks)} checks hold."
