"""Rules of a file's statements besides its network: it is whole, unchanged, and agrees with its alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isclose
from typing import NamedTuple

from fabopt.floor.loads import LOAD_KEYS
from fabopt.io.keys import is_case
from fabopt.rules.defaults import RULES_KEPT, WITH_ROWS, YIELDING
from fabopt.schema.design import Alternative, BomRow, Design, FabricDesign, Metrics, Number
from fabopt.schema.hashes import facts_of, prices_of, sha256_of
from fabopt.schema.prediction import ServingUse
from fabopt.units import cents, exact, milliwatts, some
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.link_kinds import LEAF_SPINE, SERVER_LEAF, all_kinds
from fabopt.verify.proof import Proof, has_rules_of, since
from fabopt.verify.purchases import MOVES, breaks_of, expedite_cents, item_of, offer_of
from fabopt.verify.totals import totals_of

# Figures that a large graph of equal devices has not.
GRAPH_FIGURES = ("permutation_gbps_per_gpu", "allreduce_gbps_per_gpu", "mean_switch_hops")
# The version whose files state the rate of a single flow.
WITH_FLOWS = "0.3.0"
# The version whose files state what the worst rack of a floor leaves.
WITH_RACKS = "0.3.0"
FAILING_ALONE = {"server-torus": ("server", "cable")}
# Links, both ways, times switches: up to here all figures of a graph are worked out, however uneven it is.
SMALL_GRAPH = 1_000_000
# Half of the last digit of a difference of objectives, which is written to three.
HALF_A_DIGIT = Fraction(1, 2000)
# Tokens a second are written to a tenth; a little more than half of one.
HALF_A_TOKEN = 0.06
OTHER_SEPARATION = "separation"
# Keys that change the number of GPUs.
_GPUS = {"gpus", "servers", "stages"}
THREE_DIGITS = 1e-3
# Choices that alternatives change, each with words of which a key that they change has one; before 0.3.0 without.
KEYS_OF_ALTERNATIVES = {
    "redundancy": "resilience", "resilience": "resilience", "oversubscription": "max_oversubscription",
    "bandwidth": "min_gbps_per_", "servers": "", "attachments": "attachments", "topology": "topologies",
    "topologies": "topologies", "planes": "planes", "striping": "striping", "rails": "rails", "groups": "groups",
    "tiers": "tiers", "torus of": "torus_nodes", "protocol": "protocol", "port speed": "nics",
    "leaf switch": "forbidden_parts", "server": "server", "switches": "rules.interchangeable",
    "sourcing": "procurement.", "part numbers": "max_part_numbers",
    "growth": "stages", "recabling": "recabling", "trunks": "growth.trunks", OTHER_SEPARATION: "separation",
    "cabling": "site.cabling", "latency": "max_latency_us", "placement": "network_racks", "flat runs": "distances_m",
    "ttft_ms": "workload.ttft_ms", "tpot_ms": "workload.tpot_ms",
    RULES_KEPT: "rules resilience", **dict.fromkeys(WITH_ROWS, "rules."),
    **{f"site.floor.{key}": f"site.floor.{key}" for key in LOAD_KEYS},
    **{f"site.halls[*].{key}": f".{key}" for key in LOAD_KEYS}, "site.spread": "site.spread",
    "ratio between halls": "max_oversubscription.hall",
}  # fmt: skip
EARLIER_KINDS = ("spines", "family")


@since("0.2.0", "rules")
def case_is_resolved(proof: Proof, evidence: Evidence) -> None:
    """The embedded case has every key, defaults filled in, so that its meaning does not depend on its reader. content =
    the case as it is read, whole. Source: design file, ``case``.
    """
    content, whole = evidence.design.case.content, evidence.case.model_dump(mode="json", by_alias=True)
    for key in sorted(content.keys() | whole.keys()):
        there = key in content and content[key] == whole.get(key)
        proof.holds(there, f"`{key}` is not written out in full, as a resolved case is")
    proof.note(some(len(whole), "key"))


@since("0.2.0", "parts_sha256")
def facts_match_hash(proof: Proof, evidence: Evidence) -> None:
    """The embedded parts are those that the design was made of: ports, fit, power, sources. sha256(canonical JSON of
    all but prices and terms of orders) = parts_sha256.facts. Source: design file, ``parts``.
    """
    _hash_matches(proof, evidence, "facts", sha256_of(facts_of(evidence.design.parts)))


@since("0.2.0", "parts_sha256")
def prices_match_hash(proof: Proof, evidence: Evidence) -> None:
    """Prices, breaks, stock, supply and lead times are those that the design was chosen at.

    sha256(canonical JSON of prices and terms of orders) = parts_sha256.prices. Source: design file, ``parts``.
    """
    _hash_matches(proof, evidence, "prices", sha256_of(prices_of(evidence.design.parts)))


def _hash_matches(proof: Proof, evidence: Evidence, what: str, recomputed: str) -> None:
    hashes = evidence.design.parts_sha256
    if hashes is None:
        raise LookupError("the file has no parts_sha256")
    written = getattr(hashes, what)
    proof.holds(
        written == recomputed,
        f"{what} of parts were changed since the design was made: parts_sha256.{what} is {written[:12]}, "
        f"recomputed {recomputed[:12]}",
    )
    proof.note(f"{what} of {some(len(evidence.design.parts), 'part')}, sha256 {recomputed[:12]}")


@since("0.2.0", "bom.from_stock", "bom.from_earlier")
def nothing_is_left_out(proof: Proof, evidence: Evidence) -> None:
    """The file has every optional figure that files of its version have: none is withheld that a rule would recompute.

    Prices and dates of the bill, sums of stages, racks on a floor, bandwidth figures, bandwidth after failures, stages
    of links. Source: docs/design-file.md.
    """
    design, totals = evidence.design, totals_of(evidence)
    for row in evidence.goods:
        for name, expected in _row_says(evidence, row):
            said = getattr(row, name) is not None
            proof.holds(said == expected, f"{name} of {item_of(row)} is {'said' if said else 'left out'}")
    for stage in design.stages:
        for name in ("present_value_usd", "energy_usd", "rack_units"):
            proof.holds(getattr(stage, name) is not None, f"{name} of {stage.name} is left out")
    for name in ("racks", "cluster_rack_units"):
        said = getattr(totals, name) is not None
        proof.equal(f"totals say {name}", said, bool(design.racks.server_racks))
    for fabric in evidence.fabrics:
        _fabric_says(proof, fabric)
        _links_say_when(proof, fabric)
    proof.note(f"{some(len(design.bom), 'line')}, {some(len(design.stages), 'stage')}")


def _row_says(evidence: Evidence, row: BomRow) -> Iterator[tuple[str, bool]]:
    """Optional keys of a line of the bill, and whether it has them."""
    item, stage = item_of(row), evidence.stage_names.index(row.stage)
    yield "single_price_usd", True
    yield "present_value_usd", True
    yield "break_from", len(breaks_of(evidence, item, stage)) > 1
    yield "expedite_usd", row.quantity > 0 and expedite_cents(evidence, item, evidence.months[stage]) is not None
    yield "lead_time_weeks", item not in MOVES and offer_of(evidence, item).lead_time_weeks is not None
    yield "order_by_month", row.quantity > 0
    yield "order_by", row.quantity > 0 and evidence.case.start is not None


def _fabric_says(proof: Proof, fabric: FabricEvidence) -> None:
    designed, name = fabric.designed, fabric.designed.name
    if has_rules_of(fabric.evidence.design, WITH_FLOWS):
        told = [metrics.single_flow_gbps is not None for metrics in (designed.metrics, *_metrics_of_stages(designed))]
        proof.holds(all(told), f"{name}: single_flow_gbps is left out")
    is_whole = not fabric.is_direct or _is_small(fabric)
    if is_whole:
        for metrics in (designed.metrics, *_metrics_of_stages(designed)):
            for figure in GRAPH_FIGURES:
                proof.holds(getattr(metrics, figure) is not None, f"{name}: {figure} is left out")
    if is_whole:
        alone = [(failed, 1) for failed in _failing_alone(fabric)]
        expected = list(dict.fromkeys([*alone, *(demand.failures for demand in fabric.wanted.survived)]))
        proof.equal(f"{name}: failures", [(row.failed, row.count) for row in designed.failures], expected)
    for row in designed.failures:
        said = row.servers_cut_off is not None
        proof.equal(f"{name}: servers cut off by {some(row.count, row.failed)} are said", said, row.count == 1)


def _metrics_of_stages(designed: FabricDesign) -> Iterator[Metrics]:
    return (stage.metrics for stage in designed.growth)


def _links_say_when(proof: Proof, fabric: FabricEvidence) -> None:
    """Where a fabric grows, rows of links that fill whole cages state the stages of a cage's links."""
    if not fabric.designed.growth:
        return
    shared = bool(fabric.wanted.attachments)
    moves = any(stage.links_per_pair > fabric.clos.links_per_pair for stage in fabric.designed.growth)
    later = {f"attachment {attachment.name}" for attachment in fabric.wanted.attachments if attachment.adds}
    trunked = {kind.kind for kind in fabric.designed.structured}  # of one assembly each
    for kind in all_kinds(fabric):
        attached = kind.name.startswith("attachment ")
        alone = 1 in (kind.near.lane.ports, kind.far.lane.ports) and not attached
        alone &= not (kind.name == LEAF_SPINE and moves and kind.far.lane.ports > 1)
        alone &= kind.name not in trunked
        beside = fabric.evidence.case.base is not None and 1 not in (kind.near.lane.ports, kind.far.lane.ports)
        mixed = len(kind.rows) > 1 and not beside
        by_cage = kind.name in later or mixed or (alone and not (shared and kind.name == SERVER_LEAF))
        unsaid = sum(row.listed.stages is None for row in kind.rows)
        proof.holds(not (by_cage and unsaid), f"{fabric.designed.name}: stages of {kind.name} links are left out")


def _is_small(fabric: FabricEvidence) -> bool:
    links, tiers = sum(row.count for row in fabric.designed.links), fabric.designed.tiers
    return 2 * links * (sum(tier.count for tier in tiers) or fabric.evidence.servers) <= SMALL_GRAPH


def _failing_alone(fabric: FabricEvidence) -> tuple[str, ...]:
    """Kinds of single failures that the file has figures for: a switch of every tier, a plane, a cable; from 0.3.0 on a
    rack of a floor.
    """
    designed = fabric.designed
    says_racks = has_rules_of(fabric.evidence.design, WITH_RACKS)
    racks = ("rack",) if says_racks and designed.places.policy else ()
    tiers = [str(tier.role) for tier in designed.tiers]
    return FAILING_ALONE.get(designed.structure.kind, (*tiers, "plane", "cable", *racks))


@since("0.2.0", "alternatives_complete")
def alternatives_add_up(proof: Proof, evidence: Evidence) -> None:
    """Alternatives differ from the answer by their stated deltas. objective - objective_delta, capex - capex_delta and
    power - power_delta are the answer's (in files of 0.2.0, which estimate alternatives on a floor, the same for all
    there, and for the objective where servers count). With as many GPUs, step x utilization is the answer's, and so is
    cost per effective GPU x utilization x GPUs - capex, what servers cost, to three digits. An unfinished alternative
    has no figures, and ``change`` names keys that make a valid case. Designs of alternatives are not in the file.
    Source: design file, ``alternatives``.
    """
    design, totals, value = evidence.design, totals_of(evidence), evidence.design.objective.value
    answer = _Sums(exact(value or 0), cents(totals.capex_usd), milliwatts(totals.power_w))
    names_keys = has_rules_of(design, "0.3.0")
    placed, before = bool(design.racks.server_racks), list[_Sums]()
    for rival in design.alternatives:
        name, sums = f"{rival.what} {rival.value}", _compared_with(rival)
        proof.holds(rival.finished == (sums is not None), f"{name} has figures, or none, and says otherwise")
        is_solved = rival.status in ("optimal", "feasible") if sums is not None else rival.status is None
        proof.holds(is_solved or not names_keys, f"the status of {name} is {rival.status}")
        kind = _kind_of(rival, design)
        words = KEYS_OF_ALTERNATIVES.get(kind, "")
        is_known = kind in KEYS_OF_ALTERNATIVES and any(
            word in key for word in words.split(" ") for key in rival.change
        )
        is_earlier = not names_keys and (kind in KEYS_OF_ALTERNATIVES or kind in EARLIER_KINDS)
        proof.holds(is_known or is_earlier, f"{rival.what} is no kind of design, or has other keys")
        if rival.change and kind != OTHER_SEPARATION:
            proof.holds(is_case(design.case.content, rival.change), f"{name}: there is no case with {[*rival.change]}")
        can_yield = all(row.rule in YIELDING for row in rival.rules_left_out)
        proof.holds(can_yield, f"{name} leaves out a rule that never yields")
        if sums is None:
            continue
        known = answer
        if not rival.change:
            before.append(sums)
            estimated = placed and rival.what != OTHER_SEPARATION
            known = before[0] if estimated else answer
            known = known._replace(objective=before[0].objective) if evidence.case.include_servers else known
        _same(proof, name, sums, known)
        _runs(proof, name, rival, design, totals.capex_usd)
        if evidence.case.objective == "capex_usd":
            proof.equal(f"objective of {name}", rival.objective, rival.capex_usd)
    proof.note(f"{some(len(design.alternatives), 'alternative')}, whose designs are not in the file")


def _kind_of(rival: Alternative, design: Design) -> str:
    """The choice that an alternative changes; where there are several fabrics, the word after one's name."""
    names = [f"{fabric.name} " for fabric in design.fabrics if len(design.fabrics) > 1]
    return next((rival.what.removeprefix(name) for name in names if rival.what.startswith(name)), rival.what)


def _runs(proof: Proof, name: str, rival: Alternative, design: Design, capex_usd: Number) -> None:
    """A model on the design of an alternative, on as many GPUs as in the answer."""
    is_served = all((waited is not None) == (design.serving is not None) for waited in (rival.ttft_s, rival.tpot_s))
    proof.holds(is_served, f"{name} says what users of a service wait for, or the answer does")
    if has_rules_of(design, "0.3.0") and design.serving is not None and is_served:
        _serves(proof, name, rival, design.serving)
    use = design.workload if has_rules_of(design, "0.3.0") else None
    if use is None or _GPUS.intersection(rival.change):
        return
    jobs = {job.name: (job.step_s, job.gpu_utilization, job.tokens_per_s) for job in use.jobs}
    theirs = {job_name: (job.step_s, job.gpu_utilization, job.tokens_per_s) for job_name, job in rival.jobs.items()}
    if not jobs:
        jobs[""] = use.step_s, use.gpu_utilization, use.tokens_per_s
        theirs[""] = rival.step_s or 0, rival.gpu_utilization or 0, rival.tokens_per_s or 0
    ours = (use.gpu_utilization, use.usd_per_effective_gpu)
    others = (rival.gpu_utilization, rival.usd_per_effective_gpu)
    is_alike = [own is None for own in ours] == [other is None for other in others] and list(jobs) == list(theirs)
    proof.holds(is_alike, f"{name} says of a step what the answer does not, or the reverse")
    if not is_alike:
        return
    for own, (step_s, used, tokens) in jobs.items():
        whose = f"{name} for {own}" if own else name
        other_s, other_used, other_tokens = theirs[own]
        near = isclose(step_s * used, other_s * other_used, rel_tol=THREE_DIGITS)
        proof.holds(near, f"step x utilization of {whose} is not the answer's")
        near = isclose(step_s * tokens, other_s * other_tokens, rel_tol=1e-7, abs_tol=HALF_A_TOKEN * (step_s + other_s))
        proof.holds(near, f"step x tokens a second of {whose} is not the answer's")
    if use.usd_per_effective_gpu is None or rival.usd_per_effective_gpu is None:
        return
    whole = [dollars * used * use.gpus for used, dollars in (ours, others) if dollars is not None and used]
    more = (rival.capex_usd or 0) - capex_usd
    proof.holds(isclose(whole[0] + more, whole[-1], rel_tol=THREE_DIGITS), f"cost per effective GPU of {name}")


def _serves(proof: Proof, name: str, rival: Alternative, use: ServingUse) -> None:
    """Tokens a second of a service on the design of an alternative. With the replicas and sequences of the answer: what
    its time of a further token allows; where other GPUs read prompts, those may be slower, within its first token.
    """
    told = rival.tokens_per_s
    proof.holds(told is not None, f"{name} says how many tokens a second a service writes")
    if told is None or _GPUS.intersection(rival.change) or not rival.ttft_s or not rival.tpot_s:
        return
    most = use.decode.gpus // use.decode.tensor * use.decode.at_once / rival.tpot_s
    read = use.prefill.gpus // use.prefill.tensor * use.prefill.at_once * use.output_tokens / rival.ttft_s
    least = min(most, read) if use.disaggregated else most
    near = HALF_A_TOKEN + most * 1e-7
    proof.holds(least - near <= told <= most + near, f"{told} tokens a second of {name}: {least:g} to {most:g}")


class _Sums(NamedTuple):
    """Objective, cents and milliwatts of a design."""

    objective: Fraction
    cents: int
    milliwatts: int


def _compared_with(rival: Alternative) -> _Sums | None:
    """The answer that an alternative was compared with; None for an alternative without figures."""
    pairs = (rival.objective, rival.objective_delta), (rival.capex_usd, rival.capex_delta_usd)
    (objective, more), (capex, more_usd), (power, more_w) = (*pairs, (rival.power_w, rival.power_delta_w))
    if None in (objective, more, capex, more_usd, power, more_w):
        return None
    assert objective is not None and more is not None and capex is not None
    assert more_usd is not None and power is not None and more_w is not None
    return _Sums(exact(objective) - exact(more), cents(capex) - cents(more_usd), milliwatts(power) - milliwatts(more_w))


def _same(proof: Proof, what: str, told: _Sums, known: _Sums) -> None:
    near = abs(told.objective - known.objective) <= HALF_A_DIGIT
    proof.holds(near, f"{what} is compared with {float(told.objective):g}, the objective is {float(known.objective):g}")
    proof.equal(f"cents of the answer that {what} is compared with", told.cents, known.cents)
    proof.equal(f"milliwatts of the answer that {what} is compared with", told.milliwatts, known.milliwatts)
