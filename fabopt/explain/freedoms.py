"""Single changes to a case or its catalog that could supply a part that is missing: each made, and put in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fabopt.explain.demands import changed
from fabopt.explain.what_if import Inquiry
from fabopt.parts.procurement import airflow_of
from fabopt.problem.problem import problem_of
from fabopt.schema.base import Strict
from fabopt.schema.case import Case, Distances, Fabric
from fabopt.schema.catalog import Catalog, Switch
from fabopt.schema.product import Product

KINDS_ON_SALE = ("switches", "nics", "transceivers", "cables", "fibres")
OPEN_KEYS: tuple[tuple[str, object], ...] = (
    ("topologies", ("clos",)),
    ("protocol", "any"),
    ("tiers", "any"),
    ("planes", "any"),
    ("rails", "any"),
    ("striping", "any"),
    ("homing", "any"),
    ("torus_nodes", "any"),
    ("nics", "any"),
    ("nics_per_server", "any"),
    ("group_by", "any"),
    ("groups", "any"),
    ("spines", "mixed"),
    ("reserve_ports", 0.0),
)
ROLES = ("leaf", "spine", "core")
RUNS = ("server-leaf", "leaf-spine", "spine-core")
RULES = (
    "approved_vendors",
    "forbidden_vendors",
    "approved_asics",
    "forbidden_asics",
    "approved_parts",
    "forbidden_parts",
    "qualified",
)
# Rules that count vendors, by kind, tier or fabric.
COUNTED = ("max_vendors", "min_sources", "single_vendor")
SHORTEST_RUN_M = 0.5
ANY_GBPS = 0.001
# Of products that a change brings in, so many are named.
MOST_PRODUCTS = 3
Sold = TypeVar("Sold", bound=Strict)
Says = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Freedom:
    """A change, as a case and a catalog. ``says``: it in words, with the products that it brings in.

    ``key``, ``why``: of the catalog what is wrong with each of these; empty where the change is to the case.
    """

    case: Case
    catalog: Catalog
    says: Says
    key: str = ""
    why: str = ""

    def asked(self, inquiry: Inquiry) -> Inquiry:
        """The questions about the changed case."""
        if self.catalog is inquiry.catalog:
            return replace(inquiry, case=self.case, problem=inquiry.problem_of(self.case))
        return replace(
            inquiry, case=self.case, catalog=self.catalog, problem=problem_of(self.case, self.catalog, prune=False)
        )


def freedoms_of(inquiry: Inquiry, fabric: Fabric) -> Iterator[Freedom]:
    """Every change that could bring in parts for a fabric: its own keys, runs, rules of buying, the catalog's terms."""
    yield from _of_fabric(inquiry, fabric)
    yield from _of_runs(inquiry)
    for rule in RULES:
        if getattr(inquiry.case.procurement, rule) is not None:
            rules = inquiry.case.procurement.model_copy(update={rule: None})
            case = inquiry.case.model_copy(update={"procurement": rules})
            yield Freedom(case, inquiry.catalog, _without(f"procurement.{rule}"))
    yield from _of_airflow(inquiry)
    yield from catalog_freedoms(inquiry)


def _of_airflow(inquiry: Inquiry) -> Iterator[Freedom]:
    site, wanted = inquiry.case.site, airflow_of(inquiry.case)
    if wanted is not None:
        any_way = site.model_copy(update={"rack_rules": site.rack_rules.model_copy(update={"airflow": None})})
        case = inquiry.case.model_copy(update={"site": any_way})
        yield Freedom(case, inquiry.catalog, _without(f"site.rack_rules.airflow: {wanted}"))


def _of_fabric(inquiry: Inquiry, fabric: Fabric) -> Iterator[Freedom]:
    path = f"fabrics.{fabric.name}"
    for key in ("protocol", "planes", "homing", "nics", "nics_per_server"):
        if getattr(fabric, key) != "any":
            yield Freedom(changed(inquiry.case, fabric, **{key: "any"}), inquiry.catalog, _with(f"`{path}.{key}: any`"))
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
    return lambda ids: f"{change} ({_named(ids)})" if ids else change


def _without(rule: str) -> Says:
    return lambda ids: f"without `{rule}`, which rules out {_named(ids)}"


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_PRODUCTS} more" if len(ids) > MOST_PRODUCTS else ""
    return ", ".join(ids[:MOST_PRODUCTS]) + more


# -- what the catalog says of its products ------------------------------------------------------------------------


def catalog_freedoms(inquiry: Inquiry) -> Iterator[Freedom]:
    """The catalog with a price, or a power figure, of every product, with parts for every vendor, in time, at life."""
    for key, update, why in (
        ("price_usd", _priced, "has no price, so it is listed, never chosen"),
        ("power_w", _powered, "has no power figure, so it is listed, never chosen"),
        ("works_with", _sociable, "works with other vendors only"),
        ("end_of_life", _alive, "is at the end of its life, and taken only where the case names it"),
        ("lead_time_weeks", _in_time, "cannot be there in time"),
        ("supply", _supplied, "is not in supply"),
    ):
        catalog = _mapped(inquiry.catalog, update)
        if catalog != inquiry.catalog:
            yield Freedom(inquiry.case, catalog, _if_changed(key, why), key, why)


def _if_changed(key: str, why: str) -> Says:
    return lambda ids: " and ".join(f"`catalog.{id_}.{key}` ({id_} {why})" for id_ in ids[:MOST_PRODUCTS])


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


def changed_products(inquiry: Inquiry, freedom: Freedom, ids: Sequence[str]) -> list[str]:
    """The ids of some products that a change brings in: of the catalog's, the ones that are different in it."""
    if freedom.catalog is inquiry.catalog:
        sold = {product.id for kind in KINDS_ON_SALE for product in getattr(inquiry.problem.offering.offered, kind)}
        return [id_ for id_ in ids if id_ not in sold] or list(ids)
    before, after = _by_id(inquiry.catalog), _by_id(freedom.catalog)
    return [id_ for id_ in ids if id_ in before and before[id_] != after[id_]]


def _by_id(catalog: Catalog) -> dict[str, Product]:
    return {product.id: product for kind in KINDS_ON_SALE for product in getattr(catalog, kind)}


def _mapped(catalog: Catalog, update: Callable[[Strict], dict[str, object]]) -> Catalog:
    return catalog.model_copy(
        update={kind: tuple(_updated(product, update) for product in getattr(catalog, kind)) for kind in KINDS_ON_SALE}
    )


def _updated(product: Sold, update: Callable[[Strict], dict[str, object]]) -> Sold:
    """A product, and each length of it, with other values for what it has."""
    changes = {key: value for key, value in update(product).items() if key in type(product).model_fields}
    lengths = getattr(product, "lengths", ())
    if lengths:
        changes["lengths"] = tuple(_updated(length, update) for length in lengths)
    return product.model_copy(update=changes) if changes else product


def _priced(product: Strict) -> dict[str, object]:
    return {} if getattr(product, "price_usd", 0) is not None else {"price_usd": 1.0}


def _powered(product: Strict) -> dict[str, object]:
    return {} if getattr(product, "power_w", 0) is not None else {"power_w": 0.0}


def _sociable(product: Strict) -> dict[str, object]:
    return {"works_with": ()}


def _alive(product: Strict) -> dict[str, object]:
    return {"end_of_life": False}


def _in_time(product: Strict) -> dict[str, object]:
    return {"lead_time_weeks": None}


def _supplied(product: Strict) -> dict[str, object]:
    return {"supply": None}
