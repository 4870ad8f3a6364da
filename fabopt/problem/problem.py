"""The resolved case: ids looked up, units uniform, demand computed, tables indexed.

After ``problem_of`` every default is filled in and every id is resolved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from fabopt.floor.loads import ANY_LOAD, added, load_of, load_of_server, times_in
from fabopt.parts.finance import Weights, energy_cents_per_mw, weights_of
from fabopt.parts.instalments import Instalments, calendar_month
from fabopt.parts.item_table import ItemTable
from fabopt.parts.items import CABLE_KINDS, Item, order_at_once
from fabopt.parts.link_table import LinkTable
from fabopt.parts.nics import PCIE_X16_GBPS
from fabopt.parts.offering import Offering, offering_of, what_decides
from fabopt.parts.procurement import FutureTerms, Terms
from fabopt.problem.demand import case_service, demand_of, pace_of, stages_of
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.fabric_case import fabric_of, timed, with_needs
from fabopt.problem.in_service import going_on_from
from fabopt.problem.labour import NO_LABOUR, StageLabour, labour_of
from fabopt.problem.limits import Delivery, ExactLimits, deliveries_of, limits_of, tighter
from fabopt.problem.roles import settled, with_separations
from fabopt.problem.site import FloorSite, Site, site_of
from fabopt.problem.slot_shares import within_slots
from fabopt.schema.case import Case, Stage
from fabopt.schema.catalog import Catalog
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.schema.server import Server
from fabopt.workload.pace import Pace
from fabopt.workload.service import Service


def of_item(weights: Weights, stage: int, item: Item) -> int:
    """The weight in the objective, price apart, of one unit of an item that a stage adds."""
    counted = weights.per_switch * (item.kind == "switch") + weights.per_cable * (item.kind in CABLE_KINDS)
    return weights.of_mw(stage) * item.power_mw + weights.per_unit * item.rack_milliunits + counted


class BestAlone(NamedTuple):
    """A future's probability, and the cost in cents of the best plan for it alone."""

    probability: Fraction
    cents: Fraction


@dataclass(frozen=True, eq=False)
class StageProblem:
    """A stage of a problem.

    ``limits``: on the stage's spending, and on installed power and rack units from it on. ``oversubscription``: limits
    at the leaf and the spine boundary, by fabric.
    """

    name: str
    month: int
    servers: int
    limits: ExactLimits
    oversubscription: Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that the search and the program need. ``asked``: the case before its demands were worked out."""

    asked: Case
    case: Case
    catalog: Catalog
    server: Server
    servers: int
    stages: tuple[StageProblem, ...]
    item_table: ItemTable
    links: LinkTable
    offering: Offering
    fabrics: tuple[FabricProblem, ...]
    nic_slots: int
    limits: ExactLimits
    weights: Weights
    # of a milliwatt from each stage on
    energy_cents_per_mw: tuple[Fraction, ...]
    server_item: Item | None
    pcie_x16_gbps: Mapping[int, float]
    site: Site
    labour: StageLabour
    # metrics that break ties before the documented order, as names of the program's levels
    then: tuple[str, ...] = ()
    # where the case has a model: what it needs of the computing fabric, and how long its steps take
    needs: WorkloadNeeds | None = None
    pace: Pace | None = None
    # where the case's model is served, in place of the pace
    service: Service | None = None
    # where the worst regret is minimized; some design has one of so many cents
    best_alone: tuple[BestAlone, ...] = ()
    most_regret: Fraction | None = None

    @property
    def shares_slots(self) -> bool:
        """Whether several fabrics, logical ones among them, compete for a server's NIC slots."""
        equipment = [fabric.nics for fabric in self.fabrics] + [
            logical.nics for fabric in self.fabrics for logical in fabric.logical_fabrics
        ]
        bought = any(nic.item is not None for nics in equipment for many in nics.values() for nic in many)
        return len(equipment) > 1 and bought

    @property
    def limits_in_all(self) -> ExactLimits:
        """Limits on all purchases and on the final installation: the case's and its stages' together."""
        limits = self.limits.with_others([stage.limits for stage in self.stages])
        return replace(limits, capex_cents=tighter(limits.capex_cents, self._payable_cents))

    @cached_property
    def instalments(self) -> Instalments:
        """The dates of payment of the stages' orders."""
        case = self.case
        return Instalments(
            case.finance.payment, tuple(stage.month for stage in self.stages), calendar_month(case.start)
        )

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """The deliveries of every quarter by makers with a quota."""
        months = tuple(stage.month for stage in self.stages)
        ways = tuple(future.months for future in self.offering.terms.futures) or (months,)
        return deliveries_of(self.case.procurement.quotas, ways, calendar_month(self.case.start))

    def shares_paid(self, months: int) -> list[dict[int, Fraction]]:
        """By stage, the least share of any item's order that is paid in each period; ``months``: of a period."""
        by_stage = []
        for stage in range(len(self.stages)):
            of_items = [self.instalments.shares_in(item, stage, months) for item in self.item_table.items]
            periods = sorted(set().union(*of_items))
            nothing = Fraction(0), Fraction(0)
            by_stage.append({at: min(min(shares.get(at, nothing)) for shares in of_items) for at in periods})
        return by_stage

    @cached_property
    def _payable_cents(self) -> int | None:
        """The most that budgets of quarters and years leave for all orders; None: any amount."""
        caps: list[int | Fraction | None] = []
        for budgets in self.limits.periods:
            shares = self.shares_paid(budgets.months)
            most = [budgets.most(at) for at in sorted(set().union(*shares))]
            caps.append(None if None in most else sum(cap for cap in most if cap is not None))
            of_stages = [
                min(
                    (limit / share for at, share in of_stage.items()
                     if share and (limit := budgets.most(at)) is not None),
                    default=None,
                )
                for of_stage in shares
            ]  # fmt: skip
            caps.append(None if None in of_stages else sum(cap for cap in of_stages if cap is not None))
        least = min((cap for cap in caps if cap is not None), default=None)
        return None if least is None else math.floor(least)

    @property
    def floor(self) -> FloorSite:
        """The site, where only a floor can be meant."""
        assert isinstance(self.site, FloorSite)
        return self.site

    @property
    def gpus(self) -> int:
        """GPUs at the last stage."""
        return self.servers * self.server.gpus

    @property
    def first_servers(self) -> int:
        """Servers of the first stage; 0 where there is one stage."""
        return self.stages[0].servers if len(self.stages) > 1 else 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Servers at each stage; empty where there is one."""
        return tuple(stage.servers for stage in self.stages) if len(self.stages) > 1 else ()

    @property
    def server_adds(self) -> tuple[int, ...]:
        """Servers that each stage adds, or whole racks of them, if they count; else none."""
        if self.server_item is None:
            return (0,) * len(self.stages)
        sold = (self.server.sold_for(stage.servers) for stage in self.stages)
        return tuple(now - before for before, now in pairwise([0, *sold]))

    def least_server_cents(self, present: bool = False) -> int:
        """Least cost of the servers in cents, 0 if they do not count; exact where it depends on no other choice."""
        item, adds = self.server_item, self.server_adds
        if item is None:
            return 0
        if item.is_ordered and len(adds) == 1 and item.spares is None:
            return item.cost(0, order_at_once(item, adds[0]), present)
        least = sum(count * item.least_cents(stage, present) for stage, count in enumerate(adds))
        return max(0, least - item.stock_value(present))

    def lumps(self, fabric: str, protocol: str) -> dict[tuple[int, Item], int]:
        """Charges on a fabric of a protocol and on its servers, by (number of the stage, item)."""
        uses: dict[tuple[int, Item], int] = {}
        for charge in self.case.charges:
            item = self.item_table.item(charge.name) if charge.is_lump else None
            if item is None or fabric not in (charge.fabrics or (fabric,)) or charge.protocol not in (None, protocol):
                continue
            base, sizes = self.case.base, [stage.servers for stage in self.stages]
            # what is in service has been paid for
            first = [0 if base is None else base.servers, *sizes]
            adds = [int(base is None)] if charge.per == "fabric" else [now - before for before, now in pairwise(first)]
            uses |= {(stage, item): count for stage, count in enumerate(adds) if count}
        return uses

    def least_lump_cents(self, present: bool = False) -> int:
        """Least sum, in cents, of charges on fabrics and their servers, and the labour of every design."""
        if not self.case.charges:
            return self.labour.cents(present)
        return self.labour.cents(present) + sum(
            min(
                sum(
                    item.cost(stage, count, present)
                    for (stage, item), count in self.lumps(fabric.name, protocol).items()
                )
                for protocol in fabric.protocols
            )
            for fabric in self.fabrics
        )

    @property
    def fixed_cents(self) -> int:
        """Least cost of any design in cents: the servers, if they count, charges on fabrics, and labour."""
        return self.least_server_cents() + self.least_lump_cents()

    @property
    def fixed_power_mw(self) -> int:
        """Power that every design uses: the servers, if they count."""
        return 0 if self.server_item is None else sum(self.server_adds) * self.server_item.power_mw

    @property
    def fixed_energy(self) -> int:
        """The weight of the servers' energy, where energy is paid.

        As ``power_w`` the objective is the network's alone, like ``totals.power_w``.
        """
        if self.server_item is None or not self.weights.per_cent:
            return 0
        return self.server_item.power_mw * sum(
            count * self.weights.of_mw(stage) for stage, count in enumerate(self.server_adds)
        )

    @property
    def fixed_objective(self) -> int:
        """The part of the objective that every design has: the servers' price and energy, charges on fabrics."""
        weights, present = self.weights, bool(self.weights.energy)
        least_cents = self.least_server_cents(present) + self.least_lump_cents(present)
        return weights.per_cent * least_cents + self.fixed_energy

    def fixed_in(self, weights: Weights) -> int:
        """The constant part of another objective."""
        return replace(self, weights=weights).fixed_objective

    @property
    def energy_weighed(self) -> tuple[Fraction, ...]:
        """Cents of a milliwatt's energy from each stage on, weighted over all futures."""
        return _weighed(self.energy_cents_per_mw, self.offering.terms)

    def weights_in(self, metric: str) -> Weights:
        """The weights of a metric, in the units of the futures' probabilities."""
        return weights_of(metric, self.energy_weighed, self.offering.terms.chance_unit)

    @property
    def prunes(self) -> bool:
        """Whether no price depends on a quantity, so that dominated sizes may be pruned one by one."""
        return not any(item.varies for item in self.item_table.items if item.kind != "server")


def problem_of(case: Case, catalog: Catalog, prune: bool = True, offering: Offering | None = None) -> Problem:
    """Resolve a case whose references have been checked (``fabopt.io.check_references``).

    ``offering``: of another case with the same catalog, reused if its products and terms are the same.
    """
    problem = _problem_of(case, catalog, prune, offering)
    fewer = servers_with_nics(problem)
    if fewer is None or problem.case.site.servers_per_rack is not None:
        return problem
    site = case.site.model_copy(update={"servers_per_rack": max(1, fewer)})
    narrower = _problem_of(case.model_copy(update={"site": site}), catalog, prune, problem.offering)
    return replace(narrower, asked=problem.asked)


def servers_with_nics(problem: Problem) -> int | None:
    """Servers that a rack takes with their leanest NICs, if fewer than fit without; else None."""
    site, server = problem.site, problem.server
    if site.most_in_rack == ANY_LOAD or server.rack is not None:
        return None
    choices = [fabric.nics for fabric in problem.fabrics]
    choices += [logical.nics for fabric in problem.fabrics for logical in fabric.logical_fabrics]
    least_mw = sum(
        min((nic.most_mw(problem.links, protocol) for protocol, nics in choice.items() for nic in nics), default=0)
        for choice in choices
    )
    fitting = times_in(added((load_of_server(server), load_of(least_mw, None, None))), site.most_with_servers)
    return fitting if fitting < problem.floor.servers_per_rack else None


def _problem_of(case: Case, catalog: Catalog, prune: bool, offering: Offering | None) -> Problem:
    server = next(server for server in catalog.servers if server.id == case.server_id)
    asked = with_separations(case, server)
    case = settled(asked, server, catalog)
    if offering is None or offering.decided_by != what_decides(case, catalog):
        offering = offering_of(case, catalog, prune)
    item_table = offering.item_table
    pcie = MappingProxyType({**PCIE_X16_GBPS, **catalog.facts.pcie_x16_gbps})
    case, needs = with_needs(case, offering, server, pcie)
    stages = tuple(_stage(stage, case) for stage in stages_of(case, server))
    servers = stages[-1].servers
    energy = energy_cents_per_mw(case.finance, [stage.month for stage in stages])
    site = site_of(case, server, servers, grows=len(stages) > 1)
    pace = pace_of(case, server)
    fabrics = tuple(fabric_of(fabric, case, offering, server, servers, pcie, site) for fabric in case.fabrics)
    fabrics = going_on_from(case, within_slots(fabrics, server.nic_slots))
    return Problem(
        asked=asked,
        case=case,
        catalog=catalog,
        server=server,
        servers=servers,
        stages=stages,
        item_table=item_table,
        links=offering.links,
        offering=offering,
        fabrics=timed(fabrics, case, needs, pace),
        nic_slots=server.nic_slots,
        limits=limits_of(case.limits),
        weights=weights_of(case.objective, _weighed(energy, offering.terms), offering.terms.chance_unit),
        energy_cents_per_mw=energy,
        server_item=item_table.item(server.id) if case.include_servers else None,
        pcie_x16_gbps=pcie,
        site=site,
        labour=labour_of(item_table, server.sold_for, [stage.servers for stage in stages], case.moving),
        needs=needs,
        pace=pace,
        service=case_service(case, server),
    )


def future_energy(terms: Terms, future: FutureTerms) -> tuple[Fraction, ...]:
    """Cents of a milliwatt's energy in a future from each stage on; 0 where the stage does not come."""
    months = sorted({month for month in future.months if month is not None})
    worth = dict(zip(months, energy_cents_per_mw(terms.finance, months), strict=True))
    return tuple(Fraction(0) if month is None else (1 + future.energy) * worth[month] for month in future.months)


def _weighed(energy: tuple[Fraction, ...], terms: Terms) -> tuple[Fraction, ...]:
    if not terms.futures:
        return energy
    futures = [(future.chance, future_energy(terms, future)) for future in terms.futures]
    return tuple(sum((chance * cents[stage] for chance, cents in futures), Fraction(0)) for stage in range(len(energy)))


def estimating(problem: Problem) -> Problem:
    """The problem searched by estimates without proof; itself where its site has no faster method."""
    site = problem.site.estimated()
    return problem if site is problem.site else replace(problem, site=site)


def in_layouts_only(problem: Problem) -> Problem:
    """The problem in layouts with a rule for every switch."""
    return replace(problem, site=problem.floor.in_layouts())


def with_objective(problem: Problem, metric: str, limits: ExactLimits) -> Problem:
    """The problem with another objective and other limits."""
    return replace(problem, weights=problem.weights_in(metric), limits=limits)


def alone(problem: Problem, fabric: FabricProblem) -> Problem:
    """The problem of one fabric of several, without servers and limits: a relaxation of the whole problem."""
    stages = tuple(replace(stage, limits=ExactLimits()) for stage in problem.stages)
    free = replace(problem, stages=stages, limits=ExactLimits(), server_item=None, labour=NO_LABOUR)
    return replace(free, fabrics=(fabric,))


def _stage(stage: Stage, case: Case) -> StageProblem:
    assert stage.servers is not None
    demands = {fabric.name: demand_of(fabric, case, stage) for fabric in case.fabrics}
    return StageProblem(
        stage.name,
        stage.month,
        stage.servers,
        limits_of(stage.limits),
        MappingProxyType({name: (one.ratios.leaf, one.ratios.spine) for name, one in demands.items()}),
    )
