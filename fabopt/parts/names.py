"""Names of products as people say and order them.

Part numbers that can be ordered: one for each length of a family, and one for each airflow of a switch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fabopt.rules.defaults import AIRFLOW
from fabopt.schema.server import AIRFLOW_BESIDE, common_airflow
from fabopt.units import some

# Makers of what nobody in particular makes.
_NOBODY = ("generic", "various")


def name_in(parts: Mapping[str, Mapping[str, object]], id_: str, has_maker: bool = True) -> str:
    """The name of a product among parts by id; its id where they do not have it."""
    return product_name(parts.get(id_, {}), id_, has_maker)


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


# Placeholder of the length in part numbers that stand for all lengths; `yy` is another measure than metres.
FAMILY = re.compile(r"x{2,}|y{2,}")
# NVIDIA writes lengths in metres, with an A for half a metre more: N007 is 7 m, N01A is 1.5 m, N00A is 0.5 m (LinkX
# data sheets). What others write is not known.
_WRITES_METRES = "nvidia"
HALF = "A"
_BY_LENGTH = ("cable", "fibre", "trunk")
# What no vendor is told.
WHICH_IS_WANTED = "; `site.rack_rules.airflow` says which is wanted"


class OrderCode(NamedTuple):
    """The code that a part is ordered by; an empty ``code`` has a ``remark`` with the reason."""

    code: str
    remark: str = ""


def writes_metres(vendor: str | None) -> bool:
    """Whether a maker's codes of lengths are known to be in metres."""
    return (vendor or "").lower() == _WRITES_METRES


def metres_of(digits: str) -> float | None:
    """The length in metres that digits of a code give; None where they give none."""
    metres = float(digits.upper().rstrip(HALF) or 0) + (0.5 if digits.upper().endswith(HALF) else 0)
    return metres or None


def family_code(part_number: str, vendor: str | None, length_m: float) -> str | None:
    """The code of a length in metres of a family; None where the maker's rule, or another measure, is not known."""
    places = FAMILY.findall(part_number)
    if len(places) != 1 or places[0][0] != "x" or not writes_metres(vendor):
        return None
    whole, rest = divmod(length_m, 1)
    if rest not in (0, 0.5):
        return None
    digits = f"{whole:.0f}{HALF}" if rest else f"{whole:.0f}"
    return FAMILY.sub(digits.rjust(len(places[0]), "0"), part_number) if len(digits) <= len(places[0]) else None


def order_code(
    body: Mapping[str, object], length_m: float | None, airflow: str | None = None, beside: str | None = None
) -> OrderCode:
    """The code that an embedded part is ordered by: of its length, where it is sold by length, or of its airflow.

    ``airflow``: the one wanted of switches; ``beside``: that of the servers, of switches that are known to be sold so.
    Without either, the code is the product's, whatever its airflow.
    """
    number, kind = str(body.get("part_number") or ""), body.get("kind")
    if kind == "switch":
        return _by_airflow(number, body.get("airflows"), WantedAirflow(airflow, beside))
    if kind not in _BY_LENGTH or length_m is None:
        return OrderCode(number) if number else OrderCode("", "its part number is not known")
    lengths = [length for length in _lengths(body) if isinstance(length, Mapping)]
    own = next((str(length["part_number"]) for length in lengths
                if length.get("m") == length_m and length.get("part_number")), "")  # fmt: skip
    code = own or family_code(number, _text(body.get("vendor")), length_m)
    if code:
        return OrderCode(code)
    if number and len(lengths) == 1 and not FAMILY.search(number):
        return OrderCode(number)
    family = f", of the family {number}" if number else ""
    return OrderCode("", f"the code of {length_m:g} m{family} is not known")


class WantedAirflow(NamedTuple):
    """The airflow of switches that a case wants (``asked``), or that of its servers or racks; None: any."""

    asked: str | None = None
    beside: str | None = None


def wanted_airflow(case: Mapping[str, object], parts: Mapping[str, Mapping[str, object]]) -> WantedAirflow:
    """The airflow of switches that the content of a case wants; ``parts``: embedded, its server among them."""
    site = case.get("site")
    rack_rules = site.get("rack_rules") if isinstance(site, Mapping) else None
    asked = rack_rules.get("airflow") if isinstance(rack_rules, Mapping) else None
    rules, server = case.get("rules") or {}, parts.get(str(case.get("server")), {})
    asked = asked if isinstance(asked, str) else None
    if not isinstance(rules, Mapping) or rules.get(AIRFLOW, True) is False:
        return WantedAirflow(asked)
    switches = [part for part in parts.values() if part.get("kind") == "switch"]
    sold = (
        (ways, _text(part.get("part_number"))) for part in switches if isinstance(ways := part.get("airflows"), dict)
    )
    on_floor = isinstance(site, Mapping) and bool(site.get("floor") or site.get("halls"))
    return WantedAirflow(asked, common_airflow(AIRFLOW_BESIDE.get(str(server.get("ports_side"))), on_floor, sold))


def _by_airflow(number: str, airflows: object, airflow: WantedAirflow) -> OrderCode:
    codes = airflows if isinstance(airflows, Mapping) else {}
    wanted = airflow.asked or (airflow.beside if airflow.beside in codes else None)
    if wanted is not None:
        code = _text(codes.get(wanted)) or ""
        of_which = f", of {number}" if number else ""
        return OrderCode(code, "" if code else f"the code for {wanted}{of_which} is not known")
    own = [airflow for airflow, code in codes.items() if number and code == number]
    if own and airflow.beside is not None:
        return OrderCode(number, f"this is the code for {own[0]}, servers have their ports on the other side")
    if own:
        return OrderCode(number, f"this is the code for {own[0]}{WHICH_IS_WANTED}")
    return OrderCode(number) if number else OrderCode("", "its part number is not known")


def _lengths(body: Mapping[str, object]) -> list[object]:
    lengths = body.get("lengths")
    return lengths if isinstance(lengths, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
