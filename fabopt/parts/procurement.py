"""The rules of buying: dates, prices by stage, allowed parts, spares, deadlines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from fabopt.parts.price_basis import ANY_PRICE, PriceRules, price_rules_of
from fabopt.parts.price_books import KIND_OF_WORD
from fabopt.rules.defaults import AIRFLOW, RACK_RULES, is_kept
from fabopt.schema.asics import asic_is
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog, Switch
from fabopt.schema.finance import KIND_WORDS, Charge, Finance, KindWord
from fabopt.schema.labour import Labour
from fabopt.schema.procurement import Procurement, Spares, lists_at
from fabopt.schema.product import Airflow, Product, Purchasable, Supply
from fabopt.schema.server import AIRFLOW_BESIDE, Server, common_airflow
from fabopt.units import CENTS_PER_USD, ceil_div, cents, exact, rounded

WEEKS_PER_YEAR = 52
MONTHS_PER_YEAR = 12
# Months with more digits than these are not worth reading.
MONTH_DIGITS = 2


Rule = TypeVar("Rule")


def of_kind(by_kind: Mapping[KindWord, Rule], kind: str) -> Rule | None:
    """The entry of a kind of part, if it has one."""
    return next((rule for word, rule in by_kind.items() if word == kind), None)


@dataclass(frozen=True)
class FutureTerms:
    """One way in which growth may come: its chance out of ``Terms.chance_unit``, and the month of each stage (None:
    never). ``changes``: shares by which kinds cost more after the first stage; ``energy``: the share by which energy
    does.
    """

    chance: int
    months: tuple[int | None, ...]
    changes: tuple[tuple[str, Fraction], ...] = ()
    energy: Fraction = Fraction(0)

    def factor(self, kind: str, stage: int) -> Fraction:
        """The factor of the prices of a kind at a stage."""
        return 1 + dict(self.changes).get(kind, Fraction(0)) if stage else Fraction(1)


@dataclass(frozen=True)
class Terms:
    """The terms of buying a catalog's products: equal terms make equal items of one catalog.

    ``months``: of the stages; ``move_cents``: of a cable that moves, and of a device;
    ``charges``: beside the price of parts.
    ``futures``: the ways in which growth may come, none where it is certain. ``dated``: whether the quarter or year of
    an order counts. ``airflow``: airflow that switches must be sold with, if known; None: any. ``start``: the calendar
    month that is month 0, if given. ``price_rules``: which prices may be paid. ``looked_at``: keys of switches that
    racks and times of paths look at. ``labour``: what installing costs from the stage ``labour_since`` on; None: it is
    not counted. ``jumper_run_m``: the longest run of a jumper. ``installed``: ids and lengths of parts in service that
    may move: units beyond theirs have labour.
    """

    months: tuple[int, ...] = (0,)
    finance: Finance = field(default_factory=Finance)
    rules: Procurement = field(default_factory=Procurement)
    move_cents: tuple[int, ...] = ()
    futures: tuple[FutureTerms, ...] = ()
    charges: tuple[Charge, ...] = ()
    dated: bool = False
    airflow: Airflow | None = None
    start: str | None = None
    price_rules: PriceRules = ANY_PRICE
    looked_at: tuple[str, ...] = ()
    labour: Labour | None = None
    jumper_run_m: float | None = None
    labour_since: int = 0
    installed: frozenset[tuple[str, float | None]] = frozenset()

    @property
    def chance_unit(self) -> int:
        """Sum of the chances of all futures; 1 without any."""
        return sum(future.chance for future in self.futures) or 1

    def decline(self, kind: str, firm_until: str | None = None, month: int = 0) -> Fraction:
        """The share of its price that a kind loses in a year; 0 at a month before whose first day it is firm."""
        if firm_until is not None and self.start is not None and first_day(self.start, month) <= firm_until:
            return Fraction(0)
        return exact(of_kind(self.finance.price_decline, kind) or 0)

    def spares(self, kind: str) -> Spares | None:
        """The rule of spares of a kind; None: none are kept."""
        return of_kind(self.rules.spares, kind)

    def most_part_numbers(self, kind: str) -> int | None:
        """Most part numbers of a kind; None: any."""
        return of_kind(self.rules.max_part_numbers, kind)


def terms_of(case: Case) -> Terms:
    """The terms of a case."""
    months = tuple(stage.month for stage in case.stages) if case.stages else (0,)
    moves = tuple(rounded(exact(usd) * CENTS_PER_USD) for usd in case.usd_per_move)
    payment = case.finance.payment
    timed = ("asic", "latency_ns") if case.times_paths else ()
    dated = bool(case.limits.by_period) and payment is not None and payment.on_order > 0
    return Terms(
        months, case.finance, case.procurement, moves, _futures_of(case), case.charges, dated, airflow_of(case),
        case.start, price_rules_of(case), (*case.site.racks_look_at, *timed), case.site.labour,
        None if case.site.labour is None else case.jumper_run_m,
        int(case.base is not None and case.moving is None),
        frozenset() if case.moving is None else frozenset((id_, length_m) for _, id_, length_m in case.moving.in_use),
    )  # fmt: skip


def first_day(start: str, month: int) -> str:
    """The first day of a month that is counted from the calendar month ``start``, as ISO writes it."""
    year, number = (int(word) for word in start.split("-"))
    years, index = divmod(number - 1 + month, 12)
    return f"{year + years:04}-{index + 1:02}-01"


def airflow_of(case: Case) -> Airflow | None:
    """The airflow that a case wants of its switches; None: any."""
    return case.site.rack_rules.airflow if is_kept(case.rules, RACK_RULES) else None


def planned_airflow(case: Case, server: Server, switches: Iterable[Switch]) -> Airflow | None:
    """The airflow that the switches of a design are ordered in where they are sold so: that which the case wants, else
    that of the servers, or of all racks of switches; None: not known. Rule ``airflow_follows_servers``.
    """
    asked = airflow_of(case)
    if asked is not None or not is_kept(case.rules, AIRFLOW):
        return asked
    sold = ((switch.airflows, switch.part_number) for switch in switches)
    return common_airflow(AIRFLOW_BESIDE.get(server.ports_side or ""), case.site.has_floor, sold)


def _futures_of(case: Case) -> tuple[FutureTerms, ...]:
    unit = math.lcm(*(exact(future.probability).denominator for future in case.futures))
    return tuple(
        FutureTerms(
            int(exact(future.probability) * unit),
            future.months_of(case.stages or ()),
            tuple((kind, exact(share)) for kind, share in future.price_change.items()),
            exact(future.energy_change),
        )
        for future in case.futures
    )


def is_allowed(rules: Procurement, kind: str, product: Product, approved_by_part: bool) -> bool:
    """Whether the rules let a product be bought; ``approved_by_part``: whether approved parts name one of its kind.

    Approved vendors are for every kind, or those that they name, approved parts for the kinds of which they name one.
    Where both name a kind, either will do. Forbidden parts are never allowed, nor ASICs that are not approved.
    """
    asic = product.asic if isinstance(product, Switch) else None
    if product.is_among(rules.forbidden_parts or ()) or (isinstance(product, Switch) and not _asic_may_be(rules, asic)):
        return False
    places = "", kind, asic
    if (
        approved_by_part
        and not lists_at(rules.approved_vendors, *places)
        and not product.is_among(rules.approved_parts or ())
    ):
        return False
    return is_allowed_at(rules, product, places)


def is_allowed_at(rules: Procurement, product: Product, places: Iterable[str | None]) -> bool:
    """Whether the lists of vendors that hold at some places let a product be bought there."""
    named = tuple(places)
    if any(product.vendor in vendors for vendors in lists_at(rules.forbidden_vendors, *named)):
        return False
    approved = lists_at(rules.approved_vendors, *named)
    return product.is_among(rules.approved_parts or ()) or all(product.vendor in vendors for vendors in approved)


def _asic_may_be(rules: Procurement, asic: str | None) -> bool:
    forbidden, approved = rules.forbidden_asics or (), rules.approved_asics
    return not any(asic_is(asic, name) for name in forbidden) and (
        approved is None or any(asic_is(asic, name) for name in approved)
    )


def built_in(catalog: Catalog, server_id: str) -> set[str]:
    """Ids of the NICs that are built into a server."""
    return {nic.id for server in catalog.servers if server.id == server_id for nic in server.nics}


def allowed(catalog: Catalog, rules: Procurement, server_id: str) -> Catalog:
    """The catalog without forbidden products. Servers, and the parts built into the case's, are exempt.

    Rule ``parts_are_approved``.
    """
    exempt = built_in(catalog, server_id)
    kept: dict[str, tuple[Product, ...]] = {}
    for word in KIND_WORDS[:-1]:
        products: tuple[Product, ...] = getattr(catalog, KIND_OF_WORD[word])
        by_part = any(product.is_among(rules.approved_parts or ()) for product in products)
        kept[KIND_OF_WORD[word]] = tuple(
            product for product in products if product.id in exempt or is_allowed(rules, word, product, by_part)
        )
    return catalog.model_copy(update=kept)


def qualified_parts(rules: Procurement, catalog: Catalog, server_id: str) -> dict[str, frozenset[str]]:
    """Ids of the parts that may be plugged into a switch or NIC, by its id, for those that are restricted.

    The case server's restriction holds for its built-in NICs, beside their own. Rule ``pairs_are_qualified``.
    """
    restricted = {device: frozenset(parts) for device, parts in rules.parts_by_device.items()}
    of_server = restricted.get(server_id)
    if of_server is not None:
        built_ins = built_in(catalog, server_id)
        restricted |= {nic: restricted.get(nic, of_server) & of_server for nic in built_ins}
    return _with_offers(restricted, catalog) if restricted else restricted


def _with_offers(restricted: dict[str, frozenset[str]], catalog: Catalog) -> dict[str, frozenset[str]]:
    """Qualified pairs with every vendor's offers of the products."""
    offers = [
        product
        for word in KIND_WORDS
        for product in getattr(catalog, KIND_OF_WORD[word])
        if product.offer_of is not None
    ]
    parts = {
        device: own | {product.id for product in offers if product.offer_of in own}
        for device, own in restricted.items()
    }
    return parts | {product.id: parts[product.base_id] for product in offers if product.base_id in parts}


def lead_months(weeks: float | None) -> Fraction:
    """A lead time in months, of which a year of 52 weeks has twelve."""
    return exact(weeks or 0) * MONTHS_PER_YEAR / WEEKS_PER_YEAR


def order_month(stage_month: int, weeks: float | None) -> Fraction:
    """The month in which a stage's order has to be placed."""
    return stage_month - lead_months(weeks)


def is_late(stage_month: int, weeks: float | None, order_from_month: int | None) -> bool:
    """Whether an order for a stage would have to be placed before any order can be.

    With no first month given that is month 0, and orders for month 0 are in time.
    """
    if order_from_month is None:
        return stage_month > 0 and order_month(stage_month, weeks) < 0
    return order_month(stage_month, weeks) < order_from_month


def soonest_weeks(sold: Purchasable) -> float | None:
    """The shortest lead time that a vendor offers, at a surcharge or not."""
    if sold.expedite is None or sold.lead_time_weeks is None:
        return sold.lead_time_weeks
    return max(0.0, float(exact(sold.lead_time_weeks) - exact(sold.expedite.weeks)))


def expedite_cents(stage_month: int, sold: Purchasable, order_from_month: int | None) -> int | None:
    """Surcharge in cents a unit where a stage orders too late for the lead time; None: in time, or no surcharge
    helps.
    """
    if sold.expedite is None or not is_late(stage_month, sold.lead_time_weeks, order_from_month):
        return None
    return None if is_late(stage_month, soonest_weeks(sold), order_from_month) else cents(sold.expedite.price_usd)


def supply_by(supply: Supply | None, month: int) -> int | None:
    """Most units bought by a month; None: any number."""
    if not isinstance(supply, tuple):
        return supply
    return max((step.quantity for step in supply if step.from_month <= month), default=0)


def spares_of(rule: Spares, in_use: int) -> int:
    """Spares for ``in_use`` units: none for none, else the fraction rounded up, and the minimum at least."""
    share = exact(rule.fraction)
    return max(rule.minimum, ceil_div(share.numerator * in_use, share.denominator)) if in_use else 0
