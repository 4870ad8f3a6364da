"""What a catalog offers a case: the items, their ports, and what joins them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from fabopt.parts.dominance import without_dominated_products
from fabopt.parts.item_table import ItemTable, item_table_of
from fabopt.parts.link_table import LinkTable
from fabopt.parts.port_types import PortTypes
from fabopt.parts.price_books import products
from fabopt.parts.procurement import Terms, allowed, qualified_parts, terms_of
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog, Nic, Switch
from fabopt.schema.default_rules import INTERCHANGEABLE, ONE_GENERATION, SUBNET_MANAGER, is_kept
from fabopt.schema.product import Airflow


@dataclass(frozen=True, eq=False)
class Offering:
    """What a catalog offers a case: shared by all problems that differ in other things only."""

    named: frozenset[str]
    terms: Terms
    offered: Catalog
    item_table: ItemTable
    ports: PortTypes
    links: LinkTable


def named_products(case: Case, catalog: Catalog) -> frozenset[str]:
    """Products that are offered even at the end of their life: the case names them, or they are built in."""
    server = next(one for one in catalog.servers if one.id == case.server)
    kept = _that_manage(case, catalog) | _told_apart(case, catalog) | _weighed(case, catalog)
    named = _named_ids(case) | {one.id for one in server.nics}
    offers = frozenset(one.id for one in products(catalog) if one.offer_of in named)
    return named | offers | kept


def _that_manage(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches that run a subnet manager, and their twins: none stands in for them where the rule holds."""
    if not is_kept(case.rules, SUBNET_MANAGER):
        return frozenset()
    managed = (one for one in catalog.switches if one.managed or one.managed_twin is not None)
    return frozenset(one.id for one in managed if not one.end_of_life)


def _told_apart(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches of a known generation: none of another one stands in for them where the rule holds."""
    if not is_kept(case.rules, ONE_GENERATION):
        return frozenset()
    return frozenset(one.id for one in catalog.switches if one.generation is not None and not one.end_of_life)


def _weighed(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches whose pool is known: none of another one stands in for them where pools are a condition."""
    if not weighs_pools(case):
        return frozenset()
    return frozenset(one.id for one in catalog.switches if one.buffer_pool is not None and not one.end_of_life)


def _stood_in_for(case: Case, catalog: Catalog, item_table: ItemTable) -> frozenset[str]:
    """Switches with as many ports as one that is short: together with it they may cost less than what dominates them
    alone. Rule ``switches_are_interchangeable``.
    """
    on_sale = [one for one in catalog.switches if not one.end_of_life]
    items = ((one, item_table.item(one.id)) for one in on_sale if is_kept(case.rules, INTERCHANGEABLE))
    short = {_ports_of(one) for one, item in items if item is not None and item.is_short}
    return frozenset(one.id for one in on_sale if _ports_of(one) in short)


def _ports_of(switch: Switch) -> Hashable:
    return (
        switch.protocol,
        switch.most_ports,
        tuple((cage.count, frozenset(cage.splits), frozenset(cage.every_second)) for cage in switch.cages),
    )


def weighs_pools(case: Case) -> bool:
    """Whether pools of switches are a condition, so that a shorter cable may be worth its price."""
    return any(fabric.roce is not None for fabric in case.fabrics)


def offering_of(case: Case, catalog: Catalog, prune: bool = True, whole: bool = False) -> Offering:
    """Everything on sale, and what joins it; ``whole``: also what others stand in for at today's prices."""
    named, terms = named_products(case, catalog), terms_of(case)
    qualified = qualified_parts(terms.rules, catalog, case.server)
    offered = _with_airflow(allowed(_on_sale(catalog, named), terms.rules, case.server), terms.airflow)
    item_table = item_table_of(offered, terms)
    if prune and not whole:
        kept = named | _stood_in_for(case, offered, item_table)
        item_table = without_dominated_products(offered, item_table, kept, qualified)
    links = LinkTable(offered, item_table, prune and not weighs_pools(case))
    return Offering(named, terms, offered, item_table, PortTypes(offered, qualified), links)


def _named_ids(case: Case) -> frozenset[str]:
    named = {case.server, *case.have}
    for fabric in case.fabrics:
        logical = (one.nics for one in fabric.carries if one.separation == "logical")
        for chosen in (fabric.nics, *logical, fabric.switches.leaf, fabric.switches.spine, fabric.switches.core):
            if not isinstance(chosen, str):
                named.update(chosen)
    return frozenset(named)


def _on_sale(catalog: Catalog, named: frozenset[str]) -> Catalog:
    """The catalog without what is at the end of its life, unless the case names it."""
    kinds = ("switches", "nics", "transceivers", "cables", "fibres", "servers")
    kept = {
        kind: tuple(one for one in getattr(catalog, kind) if not one.end_of_life or one.id in named) for kind in kinds
    }
    return catalog.model_copy(update=kept)


def _with_airflow(catalog: Catalog, wanted: Airflow | None) -> Catalog:
    """The catalog without switches that are not sold with an airflow; those of which it is not known are kept.

    Rule ``airflows_agree``.
    """
    return catalog.model_copy(update={"switches": tuple(one for one in catalog.switches if one.may_have(wanted))})


def is_chosen(product: Switch | Nic, ids: str | tuple[str, ...]) -> bool:
    """Rule ``products_are_offered``: whether a choice of the case allows a product; one that is ending only by name."""
    return not product.end_of_life if isinstance(ids, str) else product.is_among(ids)
