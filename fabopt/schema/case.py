"""The case: what the user wants. Defaults here are the contract's; nothing is resolved yet."""

from itertools import pairwise
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from fabopt.errors import cut, refusal
from fabopt.rules.defaults import FILL_RULES, RACK_RULES, TWO_DUCTS, RuleChoices, is_kept
from fabopt.schema.base import Count, Identifier, Reference, Strict, Text, is_as, is_empty
from fabopt.schema.fabric import Fabric as Fabric
from fabopt.schema.finance import Charge, Finance, check_charges
from fabopt.schema.floor import MAX_RACKS as MAX_RACKS, MAX_ROWS as MAX_ROWS, Floor as Floor
from fabopt.schema.growth import Growth
from fabopt.schema.in_service import IN_SERVICE, Base, Joins, LiveFile
from fabopt.schema.operate import Operate, OperateSaid
from fabopt.schema.procurement import LengthLimits, Procurement
from fabopt.schema.resilience import DEFAULT_RULE, AnyResilience
from fabopt.schema.scenarios import GrowthScenario, check_probabilities, check_regret, scenarios_of
from fabopt.schema.site import Site as Site, longest_in_rack_m
from fabopt.schema.stages import (
    KEBAB,
    CaseLimits as CaseLimits,
    Limits as Limits,
    Oversubscription as Oversubscription,
    Servers,
    Stage as Stage,
    StageDemand as StageDemand,
    is_certain,
)
from fabopt.schema.structured import CablingWord
from fabopt.schema.workload import Workload

Any_ = Literal["any"]
Ids = Annotated[tuple[Identifier, ...], Field(min_length=1)]
CALENDAR_MONTH = r"^20[0-9]{2}-(?:0[1-9]|1[0-2])$"
Metric = Literal["capex_usd", "tco_usd", "power_w", "usd_per_effective_gpu"]
# Servers and network over GPUs that work.
EFFECTIVE: Final = "usd_per_effective_gpu"
Units = Annotated[int, Field(ge=0, le=1_000_000_000)]
# How a price may be known.
Basis = Literal["list", "street", "quote", "compatible", "paper", "estimate", "derived"]


class Case(Strict):
    """A whole case file.

    Attributes:
        name: Name of the case; lower-case words joined by `-`.
        description: Free text.
        catalog: Catalogs to choose from, names of shipped ones or paths from the case file; all are merged.
        prices: Price books that replace prices of the catalog, by name or path; of two for the same part the later one
            holds.
        price_basis: Kinds of prices that may be used; parts with other prices are never chosen.
        only_priced_by: Price books that alone give prices; nothing else is bought, the server and its built-in NICs
            aside.
        only_orderable: Whether all that is bought needs an order code, and a list, street or quoted price of its own.
        max_lengths: Most different lengths, in metres, that cables and fibres are ordered in; a number for the whole
            site, or limits for the `site` and for each `product`. Null is any.
        have: Units that are there already, by id, and by length in metres of what is sold by length; used first, and
            free.
        base: What is in service: it stays as it is, costs nothing, and the stages go on from it.
        joins: What is in service beside these servers, which are a pod of their own: it is on free ports of the
            spines or cores that are there, and nothing in service changes.
        charges: What is paid beside the price of parts, such as licences, support, freight and tax.
        server: Id of the server in the catalog, or ids of several, of which the one is taken that makes the whole
            cheapest; `gpus` then says how many.
        servers: Number of servers, where there is one stage.
        gpus: Number of GPUs, where there is one stage; a multiple of the server's, or with several servers rounded up.
        stages: Stages of growth, in order; servers never fall.
        scenarios: Ways in which growth may come, with their probabilities.
        start: The calendar month that is month 0, as `2026-01`; orders then have dates.
        workload: What runs on the cluster, a profile or an AI model; sets what fabrics leave out.
        fabrics: The networks to design; they share NIC slots, purchases and limits.
        site: Where things stand, and so how long cables are.
        rules: Default rules turned off (`false`) or asked for (`true`), by name; `none` turns all off.
        limits: What may be spent over all fabrics, in money, power and rack units.
        resilience: What failures fabrics must survive that say nothing themselves: their redundancy.
        finance: What turns power and dates into money.
        growth: Whether cables may move when the cluster grows, and what decides where growth is uncertain.
        procurement: Rules of buying, such as approved vendors, spares and order dates.
        operate: Names, addresses and queues that the fabric is run with; no part of the design.
        include_servers: Whether the price and power of servers count in cost, budget, power limit and bill; they do by
            default where `server` is a list.
        objective: What is minimised.
        maximize: What a budget sweep maximises, before the least capex.
    """

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    description: Text = ""
    catalog: Annotated[tuple[Reference, ...], Field(min_length=1)] = ("reference",)
    prices: tuple[Reference, ...] = ()
    price_basis: Annotated[
        Literal["any"] | Annotated[tuple[Basis, ...], Field(min_length=1)], Field(exclude_if=is_as("any"))
    ] = "any"
    only_priced_by: Annotated[tuple[Reference, ...], Field(exclude_if=is_empty)] = ()
    only_orderable: Annotated[bool, Field(exclude_if=is_empty)] = False
    max_lengths: Annotated[Count | LengthLimits | None, Field(exclude_if=is_empty)] = None
    have: Annotated[dict[Identifier, Units | dict[float, Units]], Field(exclude_if=is_empty)] = {}
    base: Annotated[Base | None, Field(exclude_if=is_empty)] = None
    joins: Annotated[Joins | None, Field(exclude_if=is_empty)] = None
    charges: Annotated[tuple[Charge, ...], Field(exclude_if=is_empty)] = ()
    server: Identifier | Ids
    servers: Servers | None = None
    gpus: Servers | None = None
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)] | None = None
    scenarios: Annotated[tuple[GrowthScenario, ...], Field(exclude_if=is_empty)] = ()
    start: Annotated[str, Field(pattern=CALENDAR_MONTH)] | None = None
    workload: Workload | None = None
    fabrics: Annotated[tuple[Fabric, ...], Field(min_length=1)] = (Fabric(name="compute"),)
    site: Site = Site()
    rules: RuleChoices = {}
    limits: CaseLimits = CaseLimits()
    resilience: AnyResilience = DEFAULT_RULE
    finance: Finance = Finance()
    growth: Growth = Growth()
    procurement: Procurement = Procurement()
    operate: OperateSaid = Operate()
    include_servers: bool = False
    objective: Metric = "capex_usd"
    maximize: Literal["gbps_per_gpu", "servers", "bisection"] = "gbps_per_gpu"

    @property
    def live(self) -> LiveFile | None:
        """What is in service, which it goes on from or joins."""
        return self.base or self.joins

    @property
    def owned(self) -> dict[str, int | dict[float, int]]:
        """Units that are there already, in service or on hand, by id, and by length in metres."""
        live = self.base or self.joins
        parts = {} if live is None else live.owned
        if self.base is not None and self.include_servers:
            parts |= self.base.server_units
        for part, units in self.have.items():
            there = parts.get(part, 0)
            if isinstance(units, dict):
                lengths = there if isinstance(there, dict) else {}
                parts[part] = {**lengths, **{m: count + lengths.get(m, 0) for m, count in units.items()}}
            else:
                parts[part] = units + (there if isinstance(there, int) else 0)
        return parts

    def gpus_added(self, gpus: int) -> int:
        """GPUs that join what is in service, of so many in all."""
        return gpus - (0 if self.base is None else self.base.gpus)

    @property
    def own_stages(self) -> list[Stage]:
        """The stages without that of what is in service."""
        return [stage for stage in self.stages or () if stage.name != IN_SERVICE]

    @property
    def moving(self) -> Base | None:
        """What is in service and may move, if anything may."""
        return self.base if self.base is not None and self.base.move is not None else None

    @property
    def usd_per_move(self) -> tuple[float, ...]:
        """What moving a cable costs, in US dollars, and of what is in service a device; empty where nothing moves."""
        if self.base is not None and self.base.move is not None:
            return self.base.move.cable or 0, self.base.move.device or 0
        return (self.growth.usd_per_moved_cable,) if len(self.stages or ()) > 1 else ()

    @property
    def length_limits(self) -> LengthLimits:
        """Limits on the lengths that are ordered; a number is of the site."""
        said = self.max_lengths
        return said if isinstance(said, LengthLimits) else LengthLimits(site=said)

    @property
    def fill_limits(self) -> dict[str, float]:
        """The most of a ``tray``, and of the ``manager``s of a rack, that cables fill, where a rule limits it; of a
        ``route`` all fibres, where one says how many it has.
        """
        sections = self.site.floor.sections if self.site.floor else {}
        fills = {what: fill for what, (_, _, fill) in sections.items() if is_kept(self.rules, FILL_RULES[what])}
        limited = {what: fill for what, fill in fills.items() if fill is not None}
        return limited | ({"route": 1.0} if any(route.fibres for route in self.site.routes) else {})

    @property
    def fill_keys(self) -> dict[str, str]:
        """The keys of these limits."""
        return {
            what: "site.routes" if what == "route" else f"{self.site.floor_key}.{what}_fill"
            for what in self.fill_limits
        }

    @property
    def shares_ducts(self) -> bool:
        """Whether rule ``two-ducts`` holds: several ducts join two halls, and nothing is in service or uncertain."""
        routes = self.site.routes
        ducts = {(frozenset(route.between), route.duct or number) for number, route in enumerate(routes)}
        is_shared = len({between for between, _ in ducts}) < len(ducts)
        is_open = self.objective == EFFECTIVE or self.is_uncertain or self.base is not None
        return is_shared and is_kept(self.rules, TWO_DUCTS) and not is_open

    @property
    def deals_ducts(self) -> bool:
        """Whether it deals cables over ducts: it lists no racks at routes."""
        return self.shares_ducts and not any(route.pairs for route in self.site.routes)

    @property
    def times_paths(self) -> bool:
        """Whether it limits how long messages take."""
        return any(fabric.max_latency_us is not None for fabric in self.fabrics)

    def trunked_of(self, fabric: str) -> dict[str, CablingWord]:
        """How links of a fabric are cabled, by kind, without kinds of leads alone: all kinds of an out-of-band one."""
        words = self.site.trunked
        has_leads = words and any(wanted.name == fabric and wanted.role == "oob" for wanted in self.fabrics)
        return {} if has_leads else words

    @property
    def jumper_run_m(self) -> float | None:
        """The longest run of a jumper within a rack, in metres; None without a floor, where no rack is known."""
        floor, rules = self.site.floor, self.site.rack_rules
        if not floor:
            return None
        kept = is_kept(self.rules, RACK_RULES)
        spared = (rules.side_m, rules.spare_m, rules.spare_fraction) if kept else (0.0, 0.0, 0.0)
        return longest_in_rack_m(floor, *spared)

    @property
    def own_workload(self) -> Workload:
        """The workload of a case that names a model."""
        assert self.workload is not None
        return self.workload

    @property
    def is_uncertain(self) -> bool:
        """Whether growth may end before its last stage."""
        return bool(self.futures)

    @property
    def futures(self) -> tuple[GrowthScenario, ...]:
        """All ways in which growth may come; none where it is certain."""
        return scenarios_of(self.stages or (), self.scenarios)

    @property
    def pinned_racks(self) -> frozenset[str]:
        """Ids of the racks that the case names for the switches of some tier."""
        return frozenset(rack for fabric in self.fabrics for racks in fabric.pinned.values() for rack in racks)

    @property
    def server_id(self) -> str:
        """The id of its server; raises ``InputError`` where it lists several, which only a search compares."""
        if isinstance(self.server, str):
            return self.server
        raise refusal(
            self.name,
            "server",
            "only `fabopt solve` and what solves a case compare servers, all else is about one",
            list(self.server),
            allowed="one id",
            hint="say the one that `fabopt solve` picks",
        )

    @property
    def server_ids(self) -> tuple[str, ...]:
        """The ids of all servers that it allows."""
        return (self.server,) if isinstance(self.server, str) else self.server

    def resilience_of(self, fabric: Fabric) -> AnyResilience:
        """What holds for a fabric: its own words, else the case's."""
        return self.resilience if fabric.resilience is None else fabric.resilience

    @field_validator("server")
    @classmethod
    def _only_one(cls, server: str | tuple[str, ...]) -> str | tuple[str, ...]:
        """The only server of a list is that server."""
        return server[0] if isinstance(server, tuple) and len(server) == 1 else server

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        given = [self.servers is not None, self.gpus is not None, self.stages is not None]
        if sum(given) != 1:
            raise ValueError("give exactly one of `stages`, `servers` and `gpus`")
        return self

    @model_validator(mode="after")
    def _lengths_go_with_sums(self) -> Self:
        if self.length_limits.are_set and (self.objective == EFFECTIVE or self.growth.decide_by == "regret"):
            what = "`growth.decide_by: regret`" if self.growth.decide_by == "regret" else f"`objective: {EFFECTIVE}`"
            raise ValueError(f"`max_lengths` and {what} do not go together: lengths are chosen by a sum")
        return self

    @model_validator(mode="after")
    def _fills_go_with_one_design(self) -> Self:
        if self.fill_limits and (self.objective == EFFECTIVE or self.is_uncertain):
            what = f"`objective: {EFFECTIVE}`" if self.objective == EFFECTIVE else "growth that may end"
            key = next(iter(self.fill_keys.values()))
            raise ValueError(f"`{key}` and {what} do not go together: leave it out, or turn its rule off")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for noun, names in (
            ("fabrics", [fabric.name for fabric in self.fabrics]),
            ("stages", [stage.name for stage in self.stages or ()]),
        ):
            twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
            if twice is not None:
                raise ValueError(f"two {noun} have the same name, `{twice}`")
        return self

    @model_validator(mode="after")
    def _stage_fabrics_exist(self) -> Self:
        known = {fabric.name for fabric in self.fabrics}
        for stage in self.stages or ():
            for name in stage.fabrics:
                if name not in known:
                    raise ValueError(f"stage `{stage.name}` names the fabric `{cut(name)}`, which is not in `fabrics`")
        return self

    @model_validator(mode="after")
    def _charges_go_together(self) -> Self:
        check_charges(self.charges)
        return self

    @model_validator(mode="after")
    def _months_rise(self) -> Self:
        for index, (above, stage) in enumerate(pairwise(self.stages or ()), start=1):
            if stage.month < above.month:
                raise ValueError(
                    f"stages must be in order: `stages[{index}].month` is {stage.month}, before the {above.month} of "
                    f"the stage above it, `{above.name}`"
                )
        return self

    @model_validator(mode="after")
    def _probabilities_are_weighed(self) -> Self:
        stages = self.stages or ()
        check_probabilities(stages, self.scenarios)
        if self.growth.decide_by == "regret":
            check_regret(self.futures)
        if not self.is_uncertain:
            return self
        likely = next((number for number, stage in enumerate(stages) if not is_certain(stage.probability)), None)
        key = (
            "`scenarios` are given"
            if likely is None
            else f"`stages[{likely}].probability` is {stages[likely].probability}"
        )
        if self.objective != "tco_usd":
            raise ValueError(
                f"{key}, and `objective` is {self.objective}: what growth costs that may not come is weighed as "
                "`objective: tco_usd`"
            )
        if self.scenarios and self.growth.recabling == "allow":
            raise ValueError(
                "`scenarios` are given, and `growth.recabling` is allow: moves are planned for stages that come one by "
                "one; say how likely these are with `stages[].probability`"
            )
        return self
