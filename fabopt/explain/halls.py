"""Conflicts of runs across the racks of all servers that no part covers, and what makes them shorter.

Such runs follow from the number of servers alone by the rule of lengths, whatever the network.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.levers import advice
from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.runs import SWITCH_ENDS, run_conflict
from fabopt.explain.what_if import Inquiry
from fabopt.floor.group_runs import HALL, Sizes
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.rules.defaults import DEFAULT_RULES, LENGTHS, without
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict

# Kinds of links between switches that span the racks of all servers, in networks of so many tiers.
TIERS_ACROSS = {"leaf-spine": 2, "spine-core": 3}
PER_RACK = "site.servers_per_rack"


def hall_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each such kind of links: its run, the rule of lengths, and servers in a rack.

    Found by arithmetic, then solved.
    """
    past = {kind: run_m for kind, tiers in TIERS_ACROSS.items() if (run_m := _past_all_m(inquiry.problem, kind, tiers))}
    flat = inquiry.case.model_copy(update={"rules": without(inquiry.case.rules, LENGTHS)})
    kind = max(past, default="") if len(past) < len(TIERS_ACROSS) else _needed_kind(inquiry, flat)
    told = [*run_conflict(inquiry, kind, past[kind])] if kind else []
    yield from told
    if told:
        detail = f"with runs of {DEFAULT_RULES[LENGTHS].off}, there is a design"
        yield from inquiry.opened(flat, Conflict(limit=f"rules.{LENGTHS}", value="true", needed="false", detail=detail))
        yield from inquiry.of_limit(PER_RACK, None, _fuller_racks(inquiry))


def _needed_kind(inquiry: Inquiry, flat: Case) -> str:
    """The kind of links across all racks of the cheapest network with ``flat`` runs; that of cores where none is
    found.
    """
    optimum = inquiry.design(flat)
    parts = [candidate.design.file_part() for candidate, _ in optimum.picked] if optimum else []
    has_cores = not parts or any(tier.role == "core" for part in parts for tier in part.tiers)
    return "spine-core" if has_cores else "leaf-spine"


def _past_all_m(problem: Problem, kind: str, tiers: int) -> float | None:
    """The run in metres of a kind of links that spans all racks in networks of ``tiers`` tiers; None where the case
    says it, or some part is as long.
    """
    groups = problem.site.groups
    if groups is None or kind in groups.given:
        return None
    run_m = float(groups.runs_m("clos", Sizes(problem.servers, problem.servers))[kind])
    tall = (fabric for fabric in problem.fabrics if tiers in fabric.shapes.tiers)
    return run_m if any(0 < _reach_m(problem, fabric, kind) < run_m for fabric in tall) else None


def _reach_m(problem: Problem, fabric: FabricProblem, kind: str) -> float:
    """The longest run in metres over which parts join switches of the two tiers of a kind; 0 if none do."""
    reaches = [0.0]
    for protocol in fabric.protocols:
        low, high = (
            {use.port for switch in fabric.switches[protocol][tier] for use in switch.uses}
            for tier in SWITCH_ENDS[kind]
        )
        reaches += (problem.links.longest_m(near, far, protocol) for near in low for far in high)
    return max(reaches)


def _fuller_racks(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of servers in a rack: the fewest with a design, as far as the units of a rack go."""
    server, groups = inquiry.problem.server, inquiry.problem.site.groups
    if groups is None or server.rack is not None or not server.rack_units:
        return
    own, most = groups.per_rack.number, int(HALL.rack_units // server.rack_units)
    case, site = inquiry.case, inquiry.case.site
    ask = inquiry.at_number(
        lambda servers: case.model_copy(update={"site": site.model_copy(update={"servers_per_rack": servers})})
    )
    if most <= own or ask(most) is None:
        return
    needed, is_least = closest(most, own, ask, halfway)
    detail = f"racks of {HALL.rack_units} units hold as many"
    if server.power_w is not None:
        detail += f", which take {needed * server.power_w / 1000:,.4g} kW"
    yield advice(PER_RACK, own, needed, detail, is_least)
