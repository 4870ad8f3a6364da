"""The site of a problem: all links of a kind have the same run, stated by the case or derived from the size of the
groups, or a floor plan gives the run of each link.

A site is chosen once, when a case is resolved (``site_of``); rooms that search and explain ask the site, not whether
there is a floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from fabopt.floor.appliances import ApplianceRacks
from fabopt.floor.group_runs import GroupRuns, counted_m, given_m, group_runs
from fabopt.floor.loads import ANY_LOAD, RackLoad
from fabopt.floor.open_layouts import MOST_RACKS
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import POLICIES, Policy
from fabopt.floor.rack_rules import NO_LIMITS, RackLimits, rack_limits, servers_in_rack
from fabopt.floor.racks import Floats, Ints
from fabopt.floor.row_ends import row_ends
from fabopt.rules.defaults import ATTACHMENT_RUNS, LENGTHS, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.schema.server import Server
from fabopt.schema.site import Distances

# On larger floors only the candidates that look best are measured, and nothing is called optimal: of one fabric, and of
# several, whose layouts are searched one by one.
MOST_SERVERS_PROVEN_ON_FLOOR = 1024
MOST_SERVERS_OF_SEVERAL_FABRICS = 512
# On floors of few racks, up to so many servers, switches may be anywhere.
MOST_SERVERS_ANYWHERE = 32

# How candidates are searched: by their sizes alone; with switches in any rack; in layouts with a rule for every switch;
# in these, but only those that look best are placed.
Method = Literal["sizes", "places", "layouts", "estimates"]
# What one plans with where neither groups nor a floor are looked at.
USUAL = Distances(server_leaf=3, leaf_spine=30, spine_core=50)
# Kinds of links whose runs follow from a floor.
RUNS_ON_FLOOR = ("server-leaf", "leaf-spine", "spine-core")
RUN_OF_PEERS = "leaf-leaf"
RUNS_OF_ATTACHMENTS = ("attachment-leaf", "attachment-spine")


@dataclass(frozen=True, eq=False)
class FlatSite:
    """No floor plan: runs by kind of link, in metres, are ``given``, or derived from the size of ``groups``.

    ``method``: of search; ``runs_are_alike``: whether all links of a kind have the same run; ``settles``: whether a
    search without time limit always decides whether there is a design; ``policies``: rules of placing switches;
    ``most_in_rack``: what devices may load any rack with, ``most_with_servers``, ``most_without_servers``: some;
    ``rack_limits``: see ``RackLimits``; ``servers_per_rack``: servers in a full rack, where known.
    """

    given: Mapping[str, float]
    groups: GroupRuns | None = None
    method: Method = "sizes"
    runs_are_alike = True
    settles = True
    policies: tuple[Policy, ...] = ()
    measures_attachments: bool = False
    most_in_rack: RackLoad = ANY_LOAD
    most_with_servers: RackLoad = ANY_LOAD
    most_without_servers: RackLoad = ANY_LOAD
    rack_limits: RackLimits = NO_LIMITS
    servers_per_rack: int | None = None

    def runs_m(self, lengths_m: Floats, fabric: Fabric) -> Mapping[str, float]:
        """The least run of each kind of links of a fabric, in metres.

        ``lengths_m``: all lengths on sale, rising, shape (lengths,).
        """
        if self.groups is None:
            return self.given
        return {kind: counted_m(lengths_m, run_m) for kind, run_m in self.groups.least_m.items()}

    def with_method(self, method: Method) -> FlatSite:
        """The site itself: without a floor there is one method."""
        return self

    def estimated(self) -> FlatSite:
        """The site itself: sizes are compared exactly as fast as by estimates."""
        return self


@dataclass(frozen=True, eq=False)
class FloorSite:
    """A floor plan: a link runs from the rack of one device to that of the other. Fields as those of ``FlatSite``.

    ``appliances``: their racks, filled before any other; ``measures_attachments``: whether runs of attachments are
    measured to these racks (rule ``attachment-runs``); ``ends``: the rack of each row that is kept for panels;
    ``panels_fit``: whether racks have room for all panels of a design.
    """

    given: Mapping[str, float]
    plan: FloorPlan
    appliances: ApplianceRacks
    servers_per_rack: int
    method: Method
    measures_attachments: bool
    ends: Mapping[str, str]
    panels_fit: bool = True
    runs_are_alike = False
    settles = False
    policies: tuple[Policy, ...] = POLICIES
    groups = None

    @property
    def most_in_rack(self) -> RackLoad:
        """What devices may load a rack with."""
        return self.plan.most_in_rack

    @property
    def most_with_servers(self) -> RackLoad:
        """What devices may load a rack with servers with."""
        return self.plan.most_with_servers

    @property
    def most_without_servers(self) -> RackLoad:
        """What devices may load a rack without servers with."""
        return self.plan.most_without_servers

    @property
    def rack_limits(self) -> RackLimits:
        """The limits of every rack."""
        return self.plan.limits

    @cached_property
    def zone_of(self) -> Ints:
        """The rack of the panels of the devices in every rack, shape (racks,)."""
        names = self.plan.row_names
        return self.plan.indices(
            self.ends.get(names[row], rack) for row, rack in zip(self.plan.row.tolist(), self.plan.ids, strict=True)
        )

    def runs_m(self, lengths_m: Floats, fabric: Fabric) -> Mapping[str, float]:
        """A lower bound of the run of every kind of links of a fabric, rounded up to a length on sale, in metres; for
        attachments with devices in no rack, the flat distance.

        ``lengths_m``: all lengths on sale, rising, shape (lengths,).
        """
        least_m = counted_m(lengths_m, self.plan.least_m)
        measured = (*RUNS_ON_FLOOR, RUN_OF_PEERS, *(RUNS_OF_ATTACHMENTS if self.measures_attachments else ()))
        nowhere = {
            f"attachment-{attachment.placed_on}"
            for attachment in fabric.attachments
            if not self.appliances.has_place((fabric.name, attachment.name))
        }
        across = {kind: max(least_m, self.given[kind]) for kind in nowhere.intersection(measured)}
        return {**self.given, **dict.fromkeys(measured, least_m), **across}

    def with_method(self, method: Method) -> FloorSite:
        """The site whose candidates are searched by a method."""
        return self if method == self.method else replace(self, method=method)

    def estimated(self) -> FloorSite:
        """The site searched by estimates, without proof."""
        return self.with_method("estimates")

    def in_layouts(self) -> FloorSite:
        """The site with a rule for every switch."""
        return self.with_method("layouts")


Site = FlatSite | FloorSite


def servers_per_rack(case: Case, site: Site) -> int | None:
    """Servers of a rack, where a floor, the lengths of links or the case say it."""
    if isinstance(site, FloorSite):
        return site.servers_per_rack
    return case.site.servers_per_rack if site.groups is None else site.groups.per_rack.number


def site_of(case: Case, server: Server, servers: int, grows: bool) -> Site:
    """The site of a case. ``servers``: at the last stage; ``grows``: whether there are stages before it."""
    given, floor = given_m(case.site), case.site.floor
    if floor is None:
        return FlatSite(given, group_runs(case.site, server, servers))
    appliances, per_rack, ends = ApplianceRacks(case, floor), servers_in_rack(case, server), row_ends(case)
    taken = {*appliances.taken, *ends.values()}
    plan = FloorPlan(floor, taken, rack_limits(case), case.pinned_racks, appliances.row_air_mw)
    assert per_rack is not None, "a case with a floor is refused if its server has no height"
    method: Method = "layouts"
    several = len(case.fabrics) > 1
    if servers > (MOST_SERVERS_OF_SEVERAL_FABRICS if several else MOST_SERVERS_PROVEN_ON_FLOOR):
        method = "estimates"
    elif case.site.trunked:
        pass  # trunks of a route are shared by links, which a place of switch after switch cannot weigh
    elif plan.usable_racks <= MOST_RACKS and servers <= MOST_SERVERS_ANYWHERE and not grows:
        method = "places"
    measures = bool(appliances.appliances or appliances.hosts) and is_kept(case.rules, ATTACHMENT_RUNS)
    return FloorSite(given, plan, appliances, per_rack, method, measures, ends)


def with_distances(case: Case) -> Case:
    """The case with all distances said where none follows from groups: on a floor, and without the default rule."""
    if case.site.floor is None and is_kept(case.rules, LENGTHS):
        return case
    said = {} if case.site.distances_m is None else case.site.distances_m.model_dump(exclude_none=True)
    if is_across_floor(case):
        said["attachment_leaf"] = floor_plan(case).farthest_m
        if "leaf_spine" not in said:
            said.setdefault("attachment_spine", said["attachment_leaf"])
    site = case.site.model_copy(update={"distances_m": USUAL.model_copy(update=said)})
    return case.model_copy(update={"site": site})


def is_across_floor(case: Case) -> bool:
    """Whether cables of some attachments are planned for the longest run on a floor, as the case states neither racks
    nor distance of their devices. Management ports are in all racks. Rule ``attachment-runs``.
    """
    said = case.site.distances_m or Distances()
    is_said = said.server_leaf is not None or said.attachment_leaf is not None
    if case.site.floor is None or is_said or not is_kept(case.rules, ATTACHMENT_RUNS):
        return False
    return any(
        fabric.role == "oob" or any(attachment.rack_units is None for attachment in fabric.attachments)
        for fabric in case.fabrics
    )


def floor_plan(case: Case) -> FloorPlan:
    """The empty floor of a case with a floor."""
    assert case.site.floor is not None
    return FloorPlan(case.site.floor, (), rack_limits(case))
