"""The offering of a catalog for a case: items, port types, and assemblies."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fabopt.parts.channels import ChannelLimits
from fabopt.parts.dominance import without_dominated_products
from fabopt.parts.item_table import ItemTable, item_table_of
from fabopt.parts.latency import Delays
from fabopt.parts.link_table import LinkTable
from fabopt.parts.port_types import PortTypes
from fabopt.parts.price_basis import payable
from fabopt.parts.price_books import products
from fabopt.parts.procurement import Terms, allowed, built_in, qualified_parts, terms_of
from fabopt.rules.defaults import INTERCHANGEABLE, ONE_GENERATION, OPTIC_LOSS, SUBNET_MANAGER, is_kept
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Catalog, Nic, Switch
from fabopt.schema.facts import Optics
from fabopt.schema.product import Airflow


@dataclass(frozen=True, eq=False)
class Offering:
    """The offering of a catalog for a case, shared by all problems that do not differ in it.

    ``decided_by``: what of the case decides it; ``named``: ids of products that others do not dominate; ``qualified``:
    by device the parts that may be plugged in.
    """

    decided_by: Hashable
    named: frozenset[str]
    terms: Terms
    offered: Catalog
    item_table: ItemTable
    ports: PortTypes
    links: LinkTable
    qualified: Mapping[str, frozenset[str]]


def named_products(case: Case, catalog: Catalog) -> frozenset[str]:
    """Products that are offered even at the end of their life: the case names them, or they are built in."""
    server = next(server for server in catalog.servers if server.id == case.server_id)
    kept = _that_manage(case, catalog) | _told_apart(case, catalog) | _weighed(case, catalog)
    named = _named_ids(case) | {nic.id for nic in server.nics}
    offers = frozenset(product.id for product in products(catalog) if product.offer_of in named)
    return named | offers | kept


def _that_manage(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches that run a subnet manager, and their twins, which others do not dominate where the rule holds."""
    if not is_kept(case.rules, SUBNET_MANAGER):
        return frozenset()
    managed = (switch for switch in catalog.switches if switch.managed or switch.managed_twin is not None)
    return frozenset(switch.id for switch in managed if not switch.end_of_life)


def _told_apart(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches of a known generation, which others do not dominate where the rule holds."""
    if not is_kept(case.rules, ONE_GENERATION):
        return frozenset()
    return frozenset(
        switch.id for switch in catalog.switches if switch.generation is not None and not switch.end_of_life
    )


def _weighed(case: Case, catalog: Catalog) -> frozenset[str]:
    """Switches whose pool is known, which others do not dominate where pools are a condition."""
    if not weighs_pools(case):
        return frozenset()
    return frozenset(
        switch.id for switch in catalog.switches if switch.buffer_pool is not None and not switch.end_of_life
    )


def _stood_in_for(case: Case, catalog: Catalog, item_table: ItemTable) -> frozenset[str]:
    """Switches with the ports of one that is short: mixed with it they may cost less than the product that dominates
    them. Rule ``switches_are_interchangeable``.
    """
    on_sale = [switch for switch in catalog.switches if not switch.end_of_life]
    items = ((switch, item_table.item(switch.id)) for switch in on_sale if is_kept(case.rules, INTERCHANGEABLE))
    short = {_ports_of(switch) for switch, item in items if item is not None and item.is_short}
    return frozenset(switch.id for switch in on_sale if _ports_of(switch) in short)


def _ports_of(switch: Switch) -> Hashable:
    return (
        switch.protocol,
        switch.most_ports,
        tuple((cage.count, frozenset(cage.splits), frozenset(cage.every_second)) for cage in switch.cages),
    )


def what_decides(case: Case, catalog: Catalog) -> Hashable:
    """Everything of a case that its offering depends on: those of two cases that agree in it are the same."""
    rules = is_kept(case.rules, INTERCHANGEABLE), is_kept(case.rules, OPTIC_LOSS), case.site.optical_margin_db
    trunked = bool(case.site.trunked)
    return named_products(case, catalog), terms_of(case), *rules, weighs_pools(case), case.times_paths, trunked


def channel_limits(case: Case, catalog: Catalog) -> ChannelLimits:
    """How far modules reach by rule ``optic-loss``, or without it, and how long parts take where that is limited."""
    optics = (catalog.facts.optics or Optics()) if is_kept(case.rules, OPTIC_LOSS) else None
    delays = Delays(catalog.facts.latency) if case.times_paths else None
    return ChannelLimits(optics, case.site.optical_margin_db, delays)


def weighs_pools(case: Case) -> bool:
    """Whether pools of switches are a condition, so that a shorter cable may be worth its price."""
    return any(fabric.roce is not None for fabric in case.fabrics)


def offering_of(case: Case, catalog: Catalog, prune: bool = True, whole: bool = False) -> Offering:
    """Everything on sale, with its assemblies; ``whole``: dominated products too."""
    named, terms = named_products(case, catalog), terms_of(case)
    qualified = MappingProxyType(qualified_parts(terms.rules, catalog, case.server_id))
    offered = _with_airflow(allowed(_on_sale(catalog, named), terms.rules, case.server_id), terms.airflow)
    offered = payable(offered, terms.price_rules, built_in(catalog, case.server_id), terms.airflow)
    if not case.site.trunked:
        offered = offered.model_copy(update={"trunks": (), "panels": ()})
    item_table = item_table_of(offered, terms)
    if prune and not whole:
        item_table = undominated(case, offered, item_table, named, qualified)
    links = LinkTable(offered, item_table, channel_limits(case, catalog), prune and not weighs_pools(case))
    ports = PortTypes(offered, qualified)
    return Offering(what_decides(case, catalog), named, terms, offered, item_table, ports, links, qualified)


def undominated(
    case: Case,
    offered: Catalog,
    item_table: ItemTable,
    named: frozenset[str],
    qualified: Mapping[str, frozenset[str]],
) -> ItemTable:
    """The items on offer without products that no design of a case needs at their prices; see ``Offering``."""
    kept = named | _stood_in_for(case, offered, item_table)
    return without_dominated_products(terms_of(case), offered, item_table, kept, qualified)


def _named_ids(case: Case) -> frozenset[str]:
    named = {case.server_id, *case.owned}
    for fabric in case.fabrics:
        logical = (carried.nics for carried in fabric.carries if carried.separation == "logical")
        for chosen in (fabric.nics, *logical, fabric.switches.leaf, fabric.switches.spine, fabric.switches.core):
            if not isinstance(chosen, str):
                named.update(chosen)
    return frozenset(named)


def _on_sale(catalog: Catalog, named: frozenset[str]) -> Catalog:
    """The catalog without products at the end of their life, but for those that the case names."""
    kept = {
        kind: tuple(product for product in getattr(catalog, kind) if not product.end_of_life or product.id in named)
        for kind in KINDS
    }
    return catalog.model_copy(update=kept)


def _with_airflow(catalog: Catalog, wanted: Airflow | None) -> Catalog:
    """The catalog without switches that are not sold with an airflow; those with unknown airflows are kept.

    Rule ``airflows_agree``.
    """
    return catalog.model_copy(
        update={"switches": tuple(switch for switch in catalog.switches if switch.may_have(wanted))}
    )


def is_chosen(product: Switch | Nic, ids: str | tuple[str, ...]) -> bool:
    """Rule ``products_are_offered``: whether a choice of the case allows a product; one that is ending only by name."""
    return not product.end_of_life if isinstance(ids, str) else product.is_among(ids)
