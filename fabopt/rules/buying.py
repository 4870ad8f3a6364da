"""Keys of a case that restrict what is bought, one record each: levers, freedoms and rows come from here."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class BuyingRule(NamedTuple):
    """A rule of buying. ``key``: of ``procurement``, or of the case itself; ``free``: its value without restriction.

    ``has_row``: whether *what else* has rows without it, ``by_place``: one for each entry of a mapping.
    """

    key: str
    free: Any = None
    has_row: bool = True
    by_place: bool = True
    of_case: bool = False

    @property
    def path(self) -> str:
        """The dotted key of the rule in a case."""
        return self.key if self.of_case else f"procurement.{self.key}"


# Which products may be bought.
LISTS: Final = (
    BuyingRule("approved_asics"),
    BuyingRule("forbidden_asics"),
    BuyingRule("qualified", by_place=False),
    BuyingRule("approved_vendors"),
    BuyingRule("forbidden_vendors"),
    BuyingRule("approved_parts", has_row=False),
    BuyingRule("forbidden_parts", has_row=False),
)
# At which prices.
PRICE_RULES: Final = (
    BuyingRule("price_basis", "any", of_case=True),
    BuyingRule("only_priced_by", (), of_case=True),
    BuyingRule("only_orderable", False, of_case=True),
)
# Of how many vendors, by kind, tier or fabric.
COUNTED: Final = (BuyingRule("max_vendors", {}), BuyingRule("min_sources", {}), BuyingRule("single_vendor", {}))
BUYING_RULES: Final = (*PRICE_RULES, *LISTS, *COUNTED, BuyingRule("quarterly_supply", {}))
