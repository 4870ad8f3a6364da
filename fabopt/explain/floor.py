"""Why a floor has no room for a case: too few racks, racks that no tray reaches, runs past everything on sale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from fabopt.explain.demands import WRITTEN_DIGITS, changed, ratio_key, rounded_up
from fabopt.explain.levers import UNSETTLED, advice, halfway_to_precision
from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.runs import measured_runs
from fabopt.explain.what_if import Inquiry
from fabopt.floor.airflow import ANY_AIR
from fabopt.floor.loads import LOAD_KEYS, RACK_LIMITS, with_floor
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import FEWEST_RACKS, parts_of, rule_of, with_parts, without_parts
from fabopt.floor.racks import racks_needed
from fabopt.problem.problem import Problem, estimating, servers_with_nics
from fabopt.problem.site import FloorSite
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import AIRFLOW, DEFAULT_RULES, RACK_RULES, is_asked_for, is_kept, without
from fabopt.schema.case import Oversubscription
from fabopt.schema.design import Conflict
from fabopt.schema.floor import MAX_RACKS, MAX_RACKS_PER_ROW
from fabopt.schema.rack_rules import OFF, SPREAD, PinnedRacks
from fabopt.search.floor.apart import TooFar, too_far_apart
from fabopt.search.floor.search import EstimateSearch
from fabopt.topology.clos.between_halls import ratio_of_halls
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.switch_sizes import airs_of
from fabopt.units import plain, plain_fraction, some

# Racks that a message names at most.
MOST_NAMED = 8
# By how much a limit of a rack is raised at first, to find one with which there is a design.
GROWTH = 16
# What a key of rule ``rack-spread`` is about.
SPREAD_WORDS = {
    "spread_spines": "the spines of a pod and all cores",
    "spread_leaves": "the leaves of a group of more than one rack",
    "spread_attachments": "the devices of an attachment",
}
# So many times the racks of a row, and so many more, are looked at first.
MORE_RACKS = 2
# Limits on what racks and rows take are looked at in thousandths of their units.
PARTS = 1000
SETTLED = "; a thousandth less would not do"
# Obstacles that are told where nothing is proven.
MOST_TOLD = 3


def floor_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """A floor with too few racks, with racks that no tray reaches, or with runs longer than everything on sale."""
    problem, site = inquiry.problem, inquiry.problem.site
    if not isinstance(site, FloorSite):
        return
    plan, needed = site.plan, racks_needed(problem.servers, site.servers_per_rack)
    if (fitting := servers_with_nics(problem)) is not None:
        yield _too_many_in_rack(problem, fitting)
        return
    if plan.server_racks is not None and needed > len(plan.server_racks):
        detail = f"{some(problem.servers, 'server')}, {site.servers_per_rack} a rack, fill {some(needed, 'rack')}"
        limit = f"{inquiry.case.site.floor_key}.server_racks"
        yield Conflict(limit=limit, value=len(plan.server_racks), needed=needed, detail=f"{detail}; name more")
        return
    yield from _pinned_too_closely(inquiry)
    lost = plan.cut_off()
    joined = plan.usable_racks - len(lost)
    if needed > joined:
        detail = f"{some(problem.servers, 'server')}, {site.servers_per_rack} a rack, fill {some(needed, 'rack')}; "
        others = [f"for {what} ({', '.join(racks[:MOST_NAMED])})" for what, racks in
                  (("attachments", site.appliances.taken), ("panels", tuple(site.ends.values()))) if racks]  # fmt: skip
        detail += f"the floor has {joined} that are neither {' nor '.join(['blocked', 'reserved', *others])}"
        if lost:
            detail += f", and no tray joins {', '.join(lost[:MOST_NAMED])} to these: a cross tray between them would"
        yield Conflict(limit=inquiry.case.site.floor_key, value=joined, needed=needed, detail=detail)
        return
    apart = too_far_apart(problem)
    if apart is not None:
        yield _out_of_reach(problem, apart)
        return
    runs = [*measured_runs(inquiry)]
    yield from runs or _far_apart(problem, plan)


def _too_many_in_rack(problem: Problem, fitting: int) -> Conflict:
    """The conflict of servers in a rack that do not fit with their NICs."""
    floor = problem.floor.plan.floor
    said = [
        f"{limit.most(floor):,.16g} {limit.unit} a rack (`{problem.case.site.floor_key}.{limit.key}`)"
        for limit in RACK_LIMITS
        if getattr(floor, limit.key) is not None and limit.unit == "W"
    ]
    detail = f"power of {' and '.join(said)} is enough for "
    detail += f"{some(fitting, 'server')} with the NICs and modules of all fabrics, the leanest at their most"
    return Conflict(
        limit="site.servers_per_rack", value=problem.floor.servers_per_rack, needed=max(1, fitting), detail=detail
    )


def more_racks(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of the floor: the fewest racks in a row that give a design."""
    site = inquiry.case.site
    if site.floor is None:
        return
    floor, limit = site.floor, f"{site.floor_key}.racks_per_row"
    own, most = floor.racks_per_row, min(MAX_RACKS_PER_ROW, MAX_RACKS // floor.rows)
    ask = inquiry.at_number(lambda racks: with_floor(inquiry.case, {"racks_per_row": racks}))

    def questions() -> Iterator[Conflict]:
        works = ask(enough) if (enough := min(most, MORE_RACKS * own + MORE_RACKS)) > own else None
        if works is not None:
            needed, is_least = closest(works, own, ask, halfway)
            detail = f"racks in each of {some(floor.rows, 'row')}"
            yield advice(limit, own, needed, detail if is_least else f"{detail}; {UNSETTLED}", is_least)

    yield from inquiry.of_limit(limit, own, questions())


def _pinned_too_closely(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of tiers whose pinned racks alone prevent a design."""
    for fabric in inquiry.case.fabrics:
        for tier, racks in fabric.pinned.items():
            limit, others = f"fabrics.{fabric.name}.racks.{tier}", {**fabric.pinned, tier: None}
            detail = "switches of the tier do not fit there, or no part reaches so far; in other racks they do"
            yield from inquiry.opened(
                changed(inquiry.case, fabric, racks=PinnedRacks.model_validate(others)),
                Conflict(limit=limit, value=", ".join(racks), needed="other racks", detail=detail),
            )


def _out_of_reach(problem: Problem, apart: TooFar) -> Conflict:
    """The conflict of links longer than any part on sale, wherever the switches are."""
    rack, farthest = apart.racks
    most = f"the longest part on sale for such links is {apart.reach_m:g} m" if apart.reach_m else "no part joins them"
    detail = (
        f"wherever servers and switches of {apart.fabric} are, some {apart.kind} run is {apart.run_m:.1f} m or more "
        f"(as from {rack} to {farthest}), and {most}; longer parts, more servers a rack or cross trays nearer to the "
        "racks would help"
    )
    return Conflict(limit=problem.case.site.floor_key, value=round(apart.run_m, 1), needed=apart.reach_m, detail=detail)


def _far_apart(problem: Problem, plan: FloorPlan) -> Iterator[Conflict]:
    """The conflict of the longest run on the floor, if no part on sale is as long."""
    usable = np.flatnonzero(plan.usable)
    runs = plan.run_m(usable[:, None], 1.0, usable[None, :], 1.0)
    finite = np.where(np.isfinite(runs), runs, 0.0)
    longest_m = max((item.length_m or 0.0 for item in problem.item_table.items), default=0.0)
    if finite.max(initial=0.0) > longest_m:
        rack, farthest = (plan.ids[usable[index]] for index in np.unravel_index(int(finite.argmax()), finite.shape))
        shorter = "routes between halls" if problem.case.site.halls else "cross trays"
        detail = (
            f"the run from {rack} to {farthest} is {finite.max():.1f} m, the longest cable or fibre on sale "
            f"{longest_m:g} m; shorter ways, such as {shorter}, would help"
        )
        yield Conflict(
            limit=problem.case.site.floor_key, value=round(float(finite.max()), 1), needed=longest_m, detail=detail
        )


def load_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of limits on what racks and rows take, and of the spread over halls, that alone prevent a design."""
    for index, fabric, _ in inquiry.fabrics:
        said = fabric.max_oversubscription
        if isinstance(said, Oversubscription) and said.hall is not None:
            yield from inquiry.of_limit(ratio_key(fabric, "hall"), said.hall, _of_halls(inquiry, index, said))
    if inquiry.case.site.spread == "halls":
        free = inquiry.case.model_copy(update={"site": inquiry.case.site.model_copy(update={"spread": "any"})})
        detail = "no design that was looked at has each group and pod in one hall and its highest tier in two"
        yield from inquiry.opened(free, Conflict(limit="site.spread", value="halls", needed="any", detail=detail))
    floor = inquiry.case.site.floor
    for key in () if floor is None else LOAD_KEYS:
        value = getattr(floor, key)
        if value is not None:
            limit = f"{inquiry.case.site.floor_key}.{key}"
            yield from inquiry.of_limit(limit, value, _raised(inquiry, key, value))


def _of_halls(inquiry: Inquiry, index: int, said: Oversubscription) -> Iterator[Conflict]:
    """The conflict of a ratio between halls, with that of the cheapest design without it."""
    fabric = inquiry.fabric(index)
    optimum = inquiry.design(changed(inquiry.case, fabric, max_oversubscription=said.model_copy(update={"hall": None})))
    design = None if optimum is None else optimum.picked[index][0].design
    if isinstance(design, ClosDesign) and said.hall is not None:
        limit, ratio = ratio_key(fabric, "hall"), ratio_of_halls(design.network)
        if ratio is None:
            yield Conflict(limit=limit, value=said.hall, needed="null", detail="without it there is a design")
            return
        needed = plain_fraction(rounded_up(ratio, WRITTEN_DIGITS), WRITTEN_DIGITS)
        yield advice(limit, said.hall, needed, "that of the cheapest design without it; others may do with less", False)


def _raised(inquiry: Inquiry, key: str, value: float) -> Iterator[Conflict]:
    """The conflict of one such limit, with the least value found that gives a design."""
    parts = 1 if isinstance(value, int) else PARTS
    ask = inquiry.at_number(lambda scaled: with_floor(inquiry.case, {key: plain(scaled, parts)}))
    if inquiry.design(with_floor(inquiry.case, {key: None})) is None:
        return
    fails, highest = int(value * parts), PARTS if key == "breaker_share" else None
    works = highest or max(1, 2 * fails)
    while ask(works) is None:
        fails, works = works, GROWTH * works
    needed, is_least = closest(works, fails, ask, halfway_to_precision)
    detail = f"without it there is a design{SETTLED if is_least else ''}"
    yield advice(f"{inquiry.case.site.floor_key}.{key}", value, plain(needed, parts), detail, is_least)


def airflow_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of the rule of airflow, where no rack takes switches beside devices that blow otherwise."""
    case = inquiry.case
    if not is_kept(case.rules, AIRFLOW) or case.site.floor is None or airs_of(inquiry.problem) == (ANY_AIR,):
        return
    detail = "racks whose devices blow one way have no room for switches that are sold so; without the rule there is a "
    off = case.model_copy(update={"rules": without(case.rules, AIRFLOW)})
    conflict = Conflict(limit=f"rules.{AIRFLOW}", value="true", needed="false", detail=f"{detail}design")
    yield from inquiry.opened(off, conflict)


def rack_rule_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of keys of the default rules of racks that alone prevent a design."""
    case = inquiry.case
    for key in reversed(parts_of(case)):
        inquiry.tell(f"site.rack_rules.{key}")
        if inquiry.design(without_parts(case, (key,))) is not None:
            detail = f"rule `{rule_of(key)}`: {_why(inquiry, key)}; without it there is a design"
            limit, value, off = f"site.rack_rules.{key}", getattr(case.site.rack_rules, key), OFF[key]
            if off is not None:
                yield Conflict(limit=limit, value=_told(value), needed=_told(off), detail=detail)
                continue
            needed, minimal = _enough(inquiry, key, value)
            if needed is None:
                yield Conflict(limit=limit, value=value, needed="more", detail=detail)
                continue
            yield advice(limit, value, needed, detail if minimal else f"{detail}; {UNSETTLED}", minimal)


def _why(inquiry: Inquiry, key: str) -> str:
    """Words on why a key of the rack rules prevents a design."""
    problem, case = inquiry.problem, inquiry.case
    if is_asked_for(case.rules, rule_of(key)):
        return f"`rules.{rule_of(key)}` asks for it"
    if key not in SPREAD:
        return f"{DEFAULT_RULES[RACK_RULES].sentence} (`{key}`)"
    plan = problem.floor.plan
    servers = racks_needed(problem.servers, problem.floor.servers_per_rack)
    left = some(max(0, plan.usable_racks - servers), "rack")
    return f"{SPREAD_WORDS[key]} are in {FEWEST_RACKS} racks at least, and the floor has {left} beside those of servers"


def _enough(inquiry: Inquiry, key: str, fails: int) -> tuple[int | None, bool]:
    """The least value of a limit of the rack rules that gives a design, and whether no lower one does; None if none was
    found in time. Large values are tried first, as designs are found faster than their absence is proven.
    """
    ask = inquiry.at_number(lambda value: with_parts(inquiry.case, {key: value}))
    with suppress(StoppedError), inquiry.clock.bounded():
        while (works := ask(GROWTH * fails)) is None:
            fails *= GROWTH
        return closest(works, fails, ask, halfway)
    return None, False


def _told(value: float | str | None) -> float | str | None:
    """The value of a rule as shown in a conflict: booleans as words."""
    return str(value).lower() if isinstance(value, bool) else value


def no_layout_fits(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts: obstacles of the likeliest design in every layout, where a design is neither found nor ruled out."""
    problem, context = estimating(inquiry.problem), inquiry.context.beside()
    obstacles = EstimateSearch(problem, inquiry.settings, inquiry.clock, context=context).obstacles()
    told = list(dict.fromkeys(obstacles)) or ["no layout has racks enough for servers and switches"]
    for detail in told[:MOST_TOLD]:
        yield Conflict(limit=problem.case.site.floor_key, value=None, needed=None, detail=detail)
