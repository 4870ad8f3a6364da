"""Names of products as people say and order them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabopt.units import some

# Makers of what nobody in particular makes.
_NOBODY = ("generic", "various")


def product_name(part: Mapping[str, object], id_: str, has_maker: bool = True) -> str:
    """The maker, if wanted, and part number of a product; its id where the catalog names no part number.

    An ordering code that begins with a digit (920-9B36F-00RX-8S0) is no name: the model in the id stands for it.
    """
    vendor, number = str(part.get("vendor") or ""), str(part.get("part_number") or "")
    if vendor.lower() in _NOBODY:
        return number or str(part.get("description") or id_)
    if not number:
        return id_
    if number[0].isdigit():
        number = str(part.get("id", id_)).removeprefix(f"{vendor.lower()}-").upper()
    return f"{vendor} {number}".strip() if has_maker else number


def with_names(parts: Mapping[str, Mapping[str, object]], text: str) -> str:
    """Text with the names of products in place of their ids."""
    if not parts:
        return text
    ids = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return re.sub(rf"(?<![\w-])({ids})(?![\w-])", lambda found: product_name(parts[found[0]], found[0]), text)


def named_switches(tiers: Mapping[str, Sequence[tuple[int, str]]]) -> str:
    """Switches with their products, by noun: ``18 leaves of A + 2 spines of B``; the product once where all are
    alike.
    """
    counts = {noun: some(sum(number for number, _ in rows), noun) for noun, rows in tiers.items()}
    products = {name for rows in tiers.values() for _, name in rows}
    if len(products) == 1:
        return f"{' + '.join(counts.values())} of {products.pop()}"
    return " + ".join(
        f"{counts[noun]} of {rows[0][1]}" if len(rows) == 1
        else f"{counts[noun]} ({', '.join(f'{number:,} of {name}' for number, name in rows)})"
        for noun, rows in tiers.items()
    )  # fmt: skip
