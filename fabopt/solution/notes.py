"""Notes of an answer: facts that a reader must know and cannot see in the design."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fabopt.parts.switches import TIER_ROLES
from fabopt.problem.planes import planes_words
from fabopt.problem.problem import Problem
from fabopt.problem.roles import role_notes, share_notes
from fabopt.problem.rules_kept import holds_mix
from fabopt.rules.defaults import (
    ATTACHMENT_RUNS,
    DEFAULT_RULES,
    MOST_ROBUST_RATIO,
    NO_RULES,
    ROBUST_DESIGNS,
    SUBNET_MANAGER,
    is_kept,
)
from fabopt.schema.attachment import HOST_UNITS, HOST_W, WITH_SWITCHES
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.objective import DecidedBy
from fabopt.schema.roles import COULD_GIVE
from fabopt.schema.structure import Structure
from fabopt.schema.topologies import DESIGNED, EQUAL_PLANES, OWN_RAILS, refused
from fabopt.search.answer import choice_notes
from fabopt.solution.cliff_notes import cliff_notes
from fabopt.solution.designs import NO_BOUND
from fabopt.solution.lengths import length_notes, more_planes_notes
from fabopt.solution.notes_on_parts import (
    appliance_notes,
    coding_notes,
    feed_notes,
    loss_notes,
    pair_notes,
    pool_notes,
    protocol_notes,
    rack_notes,
    rack_part_notes,
    stand_in_notes,
    trunk_notes,
)
from fabopt.solution.price_basis import derived_notes, price_notes
from fabopt.solution.question import Answers, Question
from fabopt.solution.quotes import doubt_notes, firm_notes, offer_notes, quote_notes
from fabopt.solution.rule_levers import UNSETTLED
from fabopt.solution.rules_kept import generation_notes, nic_rule_notes, rules_left_out
from fabopt.solution.server_notes import server_notes
from fabopt.solution.switch_racks import strips_without_ports
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.wiring.attachment_runs import longer_runs, unmeasured_runs
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.migration import migration_notes
from fabopt.workload.remarks import service_notes, workload_notes

MOST_REFUSALS_NOTED = 6


def with_notes(question: Question, answers: Answers, design: Design) -> Design:
    """The design with the default rules that it is without, and all its notes: of the choice of separations, of the
    inputs, of the case, of the design.
    """
    inputs = question.inputs
    notes = (
        *price_notes(question, answers, design),
        *derived_notes(question, answers, design),
        *server_notes(question, design),
        *_on_cliffs(question, answers, design),
        *choice_notes(inputs.case, answers.tried, answers.best),
        *inputs.notes,
        *question.notes,
        *case_notes(answers.shown),
        *_design_notes(answers.shown, design),
        *nic_rule_notes(answers.shown, design),
        # a study picks its points by other things
        *(decision_notes(answers.shown.case, design) if question.answer is None else ()),
        *_equal_planes(answers, design),
        *more_planes_notes(answers.shown, design),
        *generation_notes(answers.shown, design),
        *stand_in_notes(design),
        *pool_notes(answers, design),
        *loss_notes(design),
        *subnet_notes(design),
        *(protocol_notes(inputs.catalog, design) if inputs.case.rules != NO_RULES else ()),
        *(coding_notes(design) if inputs.case.rules != NO_RULES else ()),
        *pair_notes(inputs.case, inputs.catalog, design),
        *rack_part_notes(inputs.case, inputs.catalog, design),
        *offer_notes(design),
        *firm_notes(design),
        *quote_notes(design),
        *doubt_notes(design),
        *migration_notes(design),
        *(rack_notes(inputs.case, answers.shown.case) if design.fabrics else ()),
        *feed_notes(answers.shown, design),
        *_without_bound(question, answers, design),
        *_cut_short(question, design),
    )
    left_out = rules_left_out(question, answers.shown, design)
    return design.model_copy(update={"notes": notes, "rules_left_out": left_out})


def _equal_planes(answers: Answers, design: Design) -> Iterator[str]:
    """Numbers of planes of equal cost, and the bandwidth that the chosen one has left without the worst switch."""
    for fabric in design.fabrics:
        equal = answers.optimum.equal_planes.get(fabric.name, ())
        if len(equal) > 1:
            left = min(row.gbps_per_gpu for row in fabric.failures if row.failed in TIER_ROLES)
            own = OWN_RAILS.words if fabric.own_rails else str(fabric.planes)
            yield (
                f"{fabric.name}: {planes_words(equal)} {EQUAL_PLANES} {own} there are {left:g} Gb/s per GPU "
                f"without the worst switch"
            )


def _on_cliffs(question: Question, answers: Answers, design: Design) -> Iterator[str]:
    """Notes on cliffs just below the demand, if alternatives were asked for."""
    if answers.best is not None and question.alternatives_s:
        yield from cliff_notes(answers.best.problem, design.alternatives)


def _without_bound(question: Question, answers: Answers, design: Design) -> Iterator[str]:
    """The cause, other than the clock, that ended a search, and the reason if there is no lower bound."""
    if answers.optimum.ended_by:
        yield f"the search ended before it was done: {answers.optimum.ended_by}"
    # what a study picks its points by has bounds of its own
    is_bounded = question.answer is not None or design.objective.bound is not None
    if design.status not in ("feasible", "unknown") or is_bounded:
        return
    case = answers.shown.case
    if case.growth.decide_by == "regret" or (case.workload is not None and case.workload.decide_by == "regret"):
        yield f"{NO_BOUND}: regrets are bounded only once the best design for each future or scenario is proven"
    elif not answers.complete:
        yield f"{NO_BOUND}: not every combination of separations, or not every server, was searched"
    elif answers.optimum.bound is not None:
        yield f"{NO_BOUND}: what is in stock may save all that a design costs"
    else:
        yield f"{NO_BOUND}: nothing of the space was bounded by then"


def _cut_short(question: Question, design: Design) -> Iterator[str]:
    """Notes on comparisons that the clock cut short."""
    if design.futures is not None and not design.futures.plans:
        yield "plans that count on one future were not compared: the time for them was over"
    elif design.notes:
        yield from design.notes
    elif not design.alternatives_complete:
        what = "alternatives were compared" if design.fabrics else "that could help was looked at"
        why = f"{question.alternatives_s:g} s for them (`--alternatives`) were over"
        if question.clock.is_over():
            why = question.clock.reason
        elif not design.fabrics:
            why = UNSETTLED
        yield f"not all {what}: {why}"


def case_notes(problem: Problem) -> Iterator[str]:
    """Notes that hold for every design of a case: shared fabrics, excluded families, refused NICs."""
    yield from share_notes(problem.case)
    yield from role_notes(problem.asked, problem.server)
    yield from _left_out(problem)
    if (spares := problem.case.procurement.spares) and "transceiver" not in spares:
        yield (
            "`procurement.spares` has no `transceiver`: no module is there for one that fails; 2 % is practice "
            "(`fraction: 0.02`), of which no source was read"
        )
    for fabric in problem.fabrics:
        for text in fabric.other_nics.refused[:MOST_REFUSALS_NOTED]:
            yield f"{fabric.name}: not picked: {text}"
        more = len(fabric.other_nics.refused) - MOST_REFUSALS_NOTED
        if more > 0:
            yield f"{fabric.name}: {more} more NICs are held back by their PCIe slots"


def _design_notes(problem: Problem, design: Design) -> Iterator[str]:
    """Notes on this design: its model's step, slower ports, whole racks, lengths, and strips without ports."""
    if design.workload is not None:
        yield from workload_notes(design.workload, problem.case, problem.server, problem.servers)
        if design.fabrics and holds_mix(problem):
            yield (
                f"rule `{ROBUST_DESIGNS}`: no boundary whose ratio the case leaves open has more than "
                f"{MOST_ROBUST_RATIO}:1, as jobs come and go; `rules: {{{ROBUST_DESIGNS}: false}}` asks for what these "
                f"need alone ({DEFAULT_RULES[ROBUST_DESIGNS].anchor})"
            )
    if design.serving is not None:
        yield from service_notes(design.serving)
    yield from trunk_notes(problem.case, design)
    yield from _slower_than_built_in(problem, design)
    yield from _whole_racks(problem, design)
    yield from length_notes(problem, design)
    if design.fabrics:
        yield from longer_runs(design)
        yield from appliance_notes(design, problem.case)
        yield from _assumed_hosts(problem)
        measures = is_kept(problem.case.rules, ATTACHMENT_RUNS) and not problem.site.runs_are_alike
        yield from unmeasured_runs(design) if measures else ()
        yield from strips_without_ports(design, problem.case)


def _assumed_hosts(problem: Problem) -> Iterator[str]:
    """Hosts that stand with switches and of which the case says no height."""
    said = {
        (fabric.name, attachment.name)
        for fabric in problem.asked.fabrics
        for attachment in fabric.attachments
        if attachment.rack_units is not None
    }
    size = f"{some(HOST_UNITS, 'unit')} and {HOST_W} W each, in racks of switches"
    for fabric in problem.case.fabrics:
        for host in fabric.attachments:
            if host.stands == WITH_SWITCHES and (fabric.name, host.name) not in said:
                yield f"{fabric.name} {host.name}: {size}, are an estimate: `rack_units` and `power_w` say others"


def _slower_than_built_in(problem: Problem, design: Design) -> Iterator[str]:
    """Cards that come with the servers and give less than they could, where the workload and not the case says so."""
    unsaid = {one.name for one in problem.asked.fabrics if one.role == "compute" and one.min_gbps_per_gpu is None}
    for fabric, designed in zip(problem.fabrics, design.fabrics, strict=False):
        options = (option for of_protocol in fabric.nics.values() for option in of_protocol)
        most = max((option.injection for option in options if option.nic_id == designed.nic.id), default=0)
        given = exact(designed.metrics.injection_gbps_per_gpu)
        if designed.name in unsaid and designed.nic.built_in and most > given * MBPS_PER_GBPS:
            able = plain_fraction(Fraction(most) / MBPS_PER_GBPS)
            asked = f"{plain_fraction(given)} are as many as the workload asks for"
            yield f"{designed.name}: {designed.nic.id}, {COULD_GIVE} {able} Gb/s per GPU; {asked} (`min_gbps_per_gpu`)"


def _whole_racks(problem: Problem, design: Design) -> Iterator[str]:
    """Servers of whole racks beyond the demand, and groups that cut racks."""
    server, of_rack = problem.server, problem.server.sold_together
    if of_rack == 1:
        return
    racks = some(server.sold_for(problem.servers), "whole rack")
    if spare := -problem.servers % of_rack:
        held = f"{problem.servers} x {server.id} are in {racks} of {of_rack}"
        yield f"{held}: {spare} more come with them, and are not joined"
    for fabric in design.fabrics:
        structure = fabric.structure
        size = structure.servers_per_group if isinstance(structure, Structure) else of_rack
        if size % of_rack and size < problem.servers:
            yield f"{fabric.name}: groups of {some(size, 'server')} cut racks of {of_rack}; `group_by` keeps them whole"


def _left_out(problem: Problem) -> Iterator[str]:
    """Families that ``any`` excludes in this case, with reasons."""
    for fabric in problem.case.fabrics:
        for topology in DESIGNED if "any" in fabric.topologies else ():
            words = [feature.words for feature in refused(problem.case, fabric, topology)]
            if words:
                yield f"{fabric.name}: {topology} left out, which does not support {' and '.join(words)}"


# -- subnet managers: exchanged switches, and facts that are unknown or rules that are not kept -----------------------


def subnet_notes(design: Design) -> Iterator[str]:
    """Notes on the management of each InfiniBand fabric's subnets."""
    for fabric in design.fabrics:
        said = fabric.subnet_manager
        if said is not None and said.kept:
            yield from _kept(design, fabric)


def _kept(design: Design, fabric: FabricDesign) -> Iterator[str]:
    said, embedded = fabric.subnet_manager, Embedded(design)
    assert said is not None
    own = {tier.role: embedded.part(tier.id, Switch) for tier in fabric.tiers}
    used = [embedded.part(twin.id, Switch) for twin in said.twins] + [one for one in own.values() if one.managed]
    if said.twins:
        exchanged = ", ".join(f"{twin.count} {twin.role} x {twin.id} for {own[twin.role].id}" for twin in said.twins)
        yield f"{fabric.name}: {DEFAULT_RULES[SUBNET_MANAGER].note(exchanged)}"
    for switch in {one.id: one for one in used if one.max_managed_nodes is None}.values():
        yield f"{fabric.name}: the catalog does not say how many ports {switch.id} manages"


# -- the choice among designs that are equal within the uncertainty of the model --------------------------------------


RULE = DEFAULT_RULES[ROBUST_DESIGNS]


def decision_notes(case: Case, design: Design) -> Iterator[str]:
    """The number of designs as good as the least, their ranges of ratios, and the robust choice; or that time was too
    short for it.
    """
    decision = design.objective.decision
    if case.objective == EFFECTIVE and design.fabrics and (decision is None or decision.designs is None):
        if is_kept(case.rules, ROBUST_DESIGNS):
            why = "not finished in time" if design.status == "optimal" else "not begun, as the least is not proven"
            yield f"rule `{ROBUST_DESIGNS}`: the robust choice was {why}: this is the least met ({RULE.anchor})"
        return
    if decision is None or decision.designs is None:
        return
    bands = {"at the leaves": decision.leaf_oversubscription, "above pods": decision.spine_oversubscription}
    told = [f"{_ratios(*band)} {where}" for where, band in bands.items() if band is not None]
    between = f", {' and '.join(told)}," if told else ""
    verb = "was" if decision.designs == 1 else "were"
    within = f"within {100 * (decision.error or 0):g} % of the least"
    base = decision.least_in_ratio_usd or decision.least_usd
    least = f"cost {within}, ${base:,.2f}" if decision.by == "robustness" else _regrets(decision, within)
    if decision.least_in_ratio_usd is not None:
        least += f" with no more than {MOST_ROBUST_RATIO}:1; with more it is ${decision.least_usd:,.2f}"
    if decision.most_oversubscription is None:
        least += f"; no design has {MOST_ROBUST_RATIO}:1 or less at every boundary, so that more is allowed"
    met = f"{some(decision.designs, 'design')} that {verb} met{between}"
    yield RULE.note(f"{met} {least}")


def _regrets(decision: DecidedBy, within: str) -> str:
    return f"cost in their worst scenario {within}, whose regret is {100 * (decision.least_regret or 0):.2g} %"


def _ratios(low: float, high: float) -> str:
    return f"from {low:g}:1 to {high:g}:1" if high > low else f"at {low:g}:1"
