"""Single changes to a case or its catalog that could supply a missing part, with their words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from fabopt.explain.demands import changed
from fabopt.explain.what_if import Inquiry
from fabopt.parts.price_basis import why_not_paid, with_each_sold
from fabopt.parts.procurement import airflow_of
from fabopt.problem.problem import problem_of
from fabopt.rules.buying import LISTS, PRICE_RULES, BuyingRule
from fabopt.rules.choices import FABRIC_CHOICES
from fabopt.schema.base import Strict, parse_split
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import ByLength, Catalog, Switch
from fabopt.schema.product import Cage, PriceSource, Product
from fabopt.schema.site import Distances
from fabopt.units import first_of

KINDS_ON_SALE = ("switches", "nics", "transceivers", "cables", "fibres")
ROLES = ("leaf", "spine", "core")
RUNS = ("server-leaf", "leaf-spine", "spine-core")
SHORTEST_RUN_M = 0.5
ANY_GBPS = 0.001
# Of products that a change brings in, so many are named.
MOST_PRODUCTS = 3
Entry = TypeVar("Entry", bound=Strict)
# What is bought: the id of a product, and the length in metres where it is sold by length.
Sold = tuple[str, float | None]
Says = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Freedom:
    """A change, as a case and a catalog. ``says``: its sentence, given the products that it brings in; ``key``: the
    changed key of these products, if it is one of the catalog.
    """

    case: Case
    catalog: Catalog
    says: Says
    key: str = ""

    def asked(self, inquiry: Inquiry) -> Inquiry:
        """The questions about the changed case."""
        if self.catalog is inquiry.catalog:
            return inquiry.about(self.case)
        return replace(
            inquiry, case=self.case, catalog=self.catalog, problem=problem_of(self.case, self.catalog, prune=False)
        )

    def lacking(self, inquiry: Inquiry, ids: Iterable[str]) -> list[str]:
        """Ids of products that differ in the changed catalog."""
        before, after = _by_id(inquiry.catalog), _by_id(self.catalog)
        return [id_ for id_ in dict.fromkeys(ids) if id_ in after and before[id_] != after[id_]]


def freedoms_of(inquiry: Inquiry, fabric: Fabric) -> Iterator[Freedom]:
    """Every change that could bring in parts for a fabric: keys of the case, the catalog's terms."""
    yield from freedoms_of_case(inquiry, fabric)
    yield from catalog_freedoms(inquiry)


def freedoms_of_case(inquiry: Inquiry, fabric: Fabric) -> Iterator[Freedom]:
    """Changes to the case: the fabric's own keys, runs, rules of buying and of prices, airflow."""
    yield from _of_fabric(inquiry, fabric)
    yield from _of_runs(inquiry)
    for rule in (*LISTS, *PRICE_RULES):
        if rule.free != value_of(inquiry.case, rule):
            yield Freedom(unruled(rule, inquiry.case), inquiry.catalog, _without(rule.path))
    yield from _of_airflow(inquiry)


def ruled(case: Case, **changes: object) -> Case:
    """The case with procurement rules updated."""
    return case.model_copy(update={"procurement": case.procurement.model_copy(update=changes)})


def value_of(case: Case, rule: BuyingRule) -> Any:
    """The value of a rule of buying in a case."""
    return getattr(case if rule.of_case else case.procurement, rule.key)


def unruled(rule: BuyingRule, case: Case) -> Case:
    """The case without a rule of buying."""
    free = {rule.key: rule.free}
    return case.model_copy(update=free) if rule.of_case else ruled(case, **free)


def _of_airflow(inquiry: Inquiry) -> Iterator[Freedom]:
    site, wanted = inquiry.case.site, airflow_of(inquiry.case)
    if wanted is not None:
        any_way = site.model_copy(update={"rack_rules": site.rack_rules.model_copy(update={"airflow": None})})
        case = inquiry.case.model_copy(update={"site": any_way})
        yield Freedom(case, inquiry.catalog, _without(f"site.rack_rules.airflow: {wanted}"))


def _of_fabric(inquiry: Inquiry, fabric: Fabric) -> Iterator[Freedom]:
    path = f"fabrics.{fabric.name}"
    for choice in FABRIC_CHOICES:
        if choice.of_parts and choice.prescribes(getattr(fabric, choice.key)):
            words = _with(f"`{path}.{choice.key}: {choice.free}`")
            yield Freedom(changed(inquiry.case, fabric, **{choice.key: choice.free}), inquiry.catalog, words)
    for role in ROLES:
        if getattr(fabric.switches, role) != "any":
            switches = fabric.switches.model_copy(update={role: "any"})
            words = _with(f"`{path}.switches.{role}: any`")
            yield Freedom(changed(inquiry.case, fabric, switches=switches), inquiry.catalog, words)
    lower = changed(inquiry.case, fabric, min_gbps_per_gpu=ANY_GBPS, min_bisection_gbps_per_gpu=None)
    yield Freedom(lower, inquiry.catalog, _with(f"a lower `{path}.min_gbps_per_gpu`"))


def _of_runs(inquiry: Inquiry) -> Iterator[Freedom]:
    if not inquiry.problem.site.runs_are_alike:
        return
    for run in RUNS:
        said = inquiry.case.site.distances_m or Distances()
        distances = said.model_copy(update={run.replace("-", "_"): SHORTEST_RUN_M})
        site = inquiry.case.site.model_copy(update={"distances_m": distances})
        case = inquiry.case.model_copy(update={"site": site})
        yield Freedom(case, inquiry.catalog, _with(f"a shorter `site.distances_m.{run}`"))


def _with(change: str) -> Says:
    return lambda ids: f"{change} ({first_of(ids, MOST_PRODUCTS)})" if ids else change


def _without(rule: str) -> Says:
    return lambda ids: f"without `{rule}`, which rules out {first_of(ids, MOST_PRODUCTS)}"


# -- what the catalog says of its products ------------------------------------------------------------------------


def catalog_freedoms(inquiry: Inquiry) -> Iterator[Freedom]:
    """Changes to the catalog: missing figures filled in, any vendor, end of life lifted, no lead time, unlimited
    supply.
    """
    yield from lacking_freedoms(inquiry, 1.0)
    for key, free, why in (
        ("works_with", (), "works with other vendors only"),
        ("end_of_life", False, "is at the end of its life, and taken only where the case names it"),
        ("lead_time_weeks", None, "cannot be there in time"),
        ("supply", None, "is not in supply"),
    ):
        yield from _with_terms(inquiry, key, partial(_with_all, {key: free}), why)


def lacking_freedoms(inquiry: Inquiry, dollars: float) -> Iterator[Freedom]:
    """The catalog with a price, a power figure, or all splits of its cages, of every product that lacks it."""
    yield from _with_prices(inquiry, dollars)
    for key, update, why in (
        ("power_w", _powered, "has no power figure, so it is listed, never chosen"),
        ("cages", of_all_splits(inquiry.catalog), "lists no such split, which others of its cages have"),
    ):
        yield from _with_terms(inquiry, key, update, why)


def _with_terms(
    inquiry: Inquiry, key: str, update: Callable[[Strict], dict[str, object]], why: str
) -> Iterator[Freedom]:
    catalog = mapped(inquiry.catalog, update)
    if catalog != inquiry.catalog:
        yield Freedom(inquiry.case, catalog, _if_changed(key, why), key)


def _with_prices(inquiry: Inquiry, dollars: float) -> Iterator[Freedom]:
    """The catalog with a price that may be paid for all that has none."""
    catalog, unpaid = with_prices(inquiry, dollars)
    why = {id_: reason for (id_, _), reason in unpaid.items()}
    if why:
        yield Freedom(inquiry.case, catalog, partial(_if_each_changed, "price_usd", why), "price_usd")


def payable(case: Case) -> PriceSource:
    """A source of prices that a case pays."""
    kind = "quote" if case.price_basis == "any" or "quote" in case.price_basis else case.price_basis[0]
    return PriceSource(kind=kind, book=next(iter(case.only_priced_by), None))


def with_prices(inquiry: Inquiry, dollars: float, only: str | None = None) -> tuple[Catalog, dict[Sold, str]]:
    """The catalog with a price that may be paid for all that has none, or of that for one product, and why each had
    none.
    """
    terms, source = inquiry.problem.offering.terms, payable(inquiry.case)
    why: dict[Sold, str] = {}

    def priced(word: str, product: Product, sold: Strict, length_m: float | None) -> dict[str, object]:
        reason = "has no price, so it is listed, never chosen"
        if getattr(sold, "price_usd", None) is not None:
            reason = why_not_paid(terms.price_rules, word, product, length_m, terms.airflow)
        if not reason or only not in (None, product.id):
            return {}
        why[product.id, length_m] = reason
        own = {"provenance": {**sold.provenance, "price_usd": source}} if isinstance(sold, Product) else {}
        return {"price_usd": dollars, **(own or {"source": source})}

    return with_each_sold(inquiry.catalog, priced), why


def _if_each_changed(key: str, why: Mapping[str, str], ids: Sequence[str]) -> str:
    return " and ".join(f"`catalog.{id_}.{key}` ({id_} {why[id_]})" for id_ in ids)


def _if_changed(key: str, why: str) -> Says:
    return lambda ids: _if_each_changed(key, dict.fromkeys(ids, why), ids)


def not_on_sale(inquiry: Inquiry, ids: Sequence[str]) -> list[str]:
    """Why products that a case names cannot be chosen, where that is so."""
    products, offered = _by_id(inquiry.catalog), inquiry.problem.offering.offered
    sold = {product.id for kind in KINDS_ON_SALE for product in getattr(offered, kind)}
    why: list[str] = []
    for id_ in ids:
        missing = [key for key in ("price_usd", "power_w") if getattr(products[id_], key, 0) is None]
        if id_ not in sold and products[id_].end_of_life:
            why.append(f"{id_} is at the end of its life, and taken only where the case names it")
        elif isinstance(switch := products[id_], Switch) and not switch.may_have(airflow_of(inquiry.case)):
            why.append(f"{id_} is not sold with `site.rack_rules.airflow: {airflow_of(inquiry.case)}`")
        elif id_ not in sold:
            why.append(f"{id_} is ruled out by `procurement`")
        elif missing:
            why.append(f"{id_} has no {' and no '.join(missing)} (`catalog.{id_}`): it is listed, never chosen")
    return why[:MOST_PRODUCTS]


def enough_together(inquiry: Inquiry, freedom: Freedom, ways: Iterable[Collection[Sold]]) -> list[list[str]]:
    """Products that a changed catalog must complete to fill a gap, by way; ``ways``: purchases that fill it.

    Only ways with the fewest incomplete products count, those with the most complete ones first, as where a quote has
    left out a single module.
    """
    before, after = _by_id(inquiry.catalog), _by_id(freedom.catalog)
    present: dict[tuple[str, ...], int] = {}
    for way in ways:
        lacking = tuple(sorted({id_ for id_, m in way if _at(before[id_], m) != _at(after[id_], m)}))
        present[lacking] = max(present.get(lacking, 0), len({id_ for id_, _ in way}) - len(lacking))
    present.pop((), None)
    fewest = min(map(len, present), default=0)
    ordered = sorted(present, key=lambda lacking: (-present[lacking], lacking))
    return [list(lacking) for lacking in ordered if len(lacking) == fewest][:MOST_PRODUCTS]


def _at(product: Product, length_m: float | None) -> Product:
    """The product with one length only, if it is sold by length."""
    if not isinstance(product, ByLength):
        return product
    return product.model_copy(update={"lengths": tuple(sold for sold in product.lengths if sold.m == length_m)})


def newly_on_sale(inquiry: Inquiry, ids: Sequence[str]) -> list[str]:
    """Ids among ``ids`` that the unchanged case rules out, or leaves without a price; all if it rules out none."""
    sold = {
        product.id
        for kind in KINDS_ON_SALE
        for product in getattr(inquiry.problem.offering.offered, kind)
        if any(getattr(one, "price_usd", None) is not None for one in getattr(product, "lengths", (product,)))
    }
    return [id_ for id_ in ids if id_ not in sold] or list(ids)


def _by_id(catalog: Catalog) -> dict[str, Product]:
    return {product.id: product for kind in KINDS_ON_SALE for product in getattr(catalog, kind)}


def mapped(catalog: Catalog, update: Callable[[Strict], dict[str, object]]) -> Catalog:
    """The catalog with ``update`` applied to every product that is bought, and to its lengths."""
    return catalog.model_copy(
        update={kind: tuple(_updated(product, update) for product in getattr(catalog, kind)) for kind in KINDS_ON_SALE}
    )


def _updated(product: Entry, update: Callable[[Strict], dict[str, object]]) -> Entry:
    """A product and its lengths with ``update`` applied to the fields that they have."""
    changes = {key: value for key, value in update(product).items() if key in type(product).model_fields}
    lengths = getattr(product, "lengths", ())
    if lengths:
        changes["lengths"] = tuple(_updated(length, update) for length in lengths)
    return product.model_copy(update=changes) if changes else product


def _powered(product: Strict) -> dict[str, object]:
    return {} if getattr(product, "power_w", 0) is not None else {"power_w": 0.0}


def of_all_splits(catalog: Catalog) -> Callable[[Strict], dict[str, object]]:
    """What gives a device every split that others have of its cages."""
    return partial(_split, _splits_of(catalog))


def _splits_of(catalog: Catalog) -> dict[str, set[str]]:
    """By form factor, every split that some product has a cage with."""
    splits: dict[str, set[str]] = {}
    for cages in (*(switch.cages for switch in catalog.switches), *(nic.cages for nic in catalog.nics)):
        for cage in cages:
            splits.setdefault(cage.form_factor, set()).update(cage.splits)
    return splits


def _split(known: dict[str, set[str]], product: Strict) -> dict[str, object]:
    """The cages of a device with every known split of no more Gb/s than its own have."""
    cages: tuple[Cage, ...] = getattr(product, "cages", ())

    def with_all(cage: Cage) -> Cage:
        most = max(map(_mbps, cage.splits))
        more = sorted(split for split in known.get(cage.form_factor, set()) - {*cage.splits} if _mbps(split) <= most)
        return cage.model_copy(update={"splits": (*cage.splits, *more)})

    return {"cages": tuple(map(with_all, cages))} if cages else {}


def _mbps(split: str) -> int:
    ports, port_mbps = parse_split(split)
    return ports * port_mbps


def _with_all(terms: dict[str, object], product: Strict) -> dict[str, object]:
    return terms
