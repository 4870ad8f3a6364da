"""The choice of a server: that it is one of those listed, as many as hold the GPUs, and none cheaper is in the file."""

from __future__ import annotations

from fabopt.rules.defaults import WHOLE_SERVERS, is_kept
from fabopt.schema.case import Case
from fabopt.schema.servers import SERVER, SETTLED, ServerCompared
from fabopt.units import ceil_div, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof, since, where


def compares(evidence: Evidence) -> bool:
    """Whether the case lists several servers, or the file says what came of some."""
    return bool(evidence.design.servers_compared) or (evidence.asked is not None and len(evidence.asked.server_ids) > 1)


@since("0.3.0", "servers_compared")
@where(compares)
def server_is_of_the_list(proof: Proof, evidence: Evidence) -> None:
    """The server is one of those that the case lists, all of which are in the file once; its number at each stage is
    the least that holds the GPUs asked for, with the spares of scale-up domains of which a model takes a part, and all
    of them where a rule does not round up. No other server has a
    design or a bound that is lower, nor one before it in the list an equal one; its prices count if the case says so.

    servers = ceil(gpus / gpus of a server); objective <= objective, bound of every other. What came of other servers
    is stated by the search. Source: case file, ``server``.
    """
    design, asked = evidence.design, evidence.asked
    if asked is None:
        raise LookupError("the file does not say how its case was written")
    entries = {entry.id: entry for entry in design.servers_compared}
    proof.equal("servers_compared", [entry.id for entry in design.servers_compared], list(asked.server_ids))
    own = entries[evidence.case.server_id]
    proof.equal("include_servers", evidence.case.include_servers, asked.include_servers)
    sizes = [stage.gpus for stage in asked.stages] if asked.stages else [asked.gpus]
    for name, wanted, servers in zip(evidence.stage_names, sizes, evidence.servers_by_stage, strict=True):
        proof.equal(f"servers of {own.id} at {name}", servers, _servers_for(wanted or 0, evidence))
    for entry in entries.values():
        _holds_gpus(proof, entry, asked, sizes[-1] or 0)
    proof.equal(f"servers of {own.id}", (own.servers, own.gpus), (evidence.servers, evidence.gpus))
    proof.equal(f"objective with {own.id}", own.objective, design.objective.value)
    _is_least(proof, evidence, own)
    _rows_agree(proof, evidence)
    proof.note(f"{own.id} of {some(len(entries), 'server')}, whose designs are not in the file")


def _servers_for(gpus: int, evidence: Evidence) -> int:
    """The fewest servers for so many GPUs, in whole scale-up domains where the model takes a part of each."""
    server, workload = evidence.server, evidence.case.workload
    used = None if workload is None else workload.gpus_per_domain
    held = 0 if server.scale_up is None else server.scale_up.domain_gpus
    if used is None or used >= held or used > gpus:
        return ceil_div(gpus, server.gpus)
    return ceil_div(gpus, used) * held // server.gpus


def _holds_gpus(proof: Proof, entry: ServerCompared, asked: Case, wanted: int) -> None:
    """The last stage of a server has all GPUs asked for, and less than a server more, but for spares of domains."""
    at_work = entry.gpus if entry.gpus_at_work is None else entry.gpus_at_work
    over = at_work - wanted
    per_server = entry.gpus // max(1, entry.servers)
    is_whole = per_server > 0 and entry.gpus == per_server * entry.servers and at_work <= entry.gpus
    fits = is_whole and 0 <= over < per_server and at_work % per_server == 0
    proof.holds(fits, f"{entry.servers} of {entry.id} with {entry.gpus} GPUs are not the least that hold {wanted}")
    proof.holds(is_kept(asked.rules, WHOLE_SERVERS) or not over, f"{entry.id} has {over} GPUs more, rounded up")


def _is_least(proof: Proof, evidence: Evidence, own: ServerCompared) -> None:
    """No other server is lower, by what the file says, and if the answer is proven all are settled."""
    design, value = evidence.design, evidence.design.objective.value
    if value is None:
        raise LookupError("there is no objective")
    proof.equal(f"bound of {own.id}, {own.status},", own.bound if own.status == "optimal" else value, value)
    is_chosen = own.status == "optimal" or (own.status == "feasible" and design.status == "feasible")
    proof.holds(is_chosen, f"{own.id} is {own.status}, and the answer {design.status}")
    is_earlier = True
    for entry in design.servers_compared:
        if entry is own:
            is_earlier = False
            continue
        best, words = entry.objective, f"{entry.id}, {entry.status},"
        has_design, has_bound = entry.status in ("optimal", "feasible"), entry.status != "infeasible"
        proof.equal(f"whether {words} has a design", best is not None, has_design)
        proof.holds(entry.bound is None or has_bound, f"{words} has a bound")
        is_no_better = best is None or (best > value if is_earlier else best >= value)
        proof.holds(is_no_better, f"{words} comes to {best}, the answer to {value}")
        if best is not None and entry.status == "optimal":
            proof.equal(f"bound of {words}", entry.bound, best)
        if entry.status == "dearer":
            proof.holds(
                entry.bound is not None and entry.bound >= value, f"{words} has a bound of {entry.bound}, below {value}"
            )
        if design.status == "optimal":
            proof.holds(entry.status in SETTLED, f"the answer is optimal, and {words}")
        elif design.objective.bound is not None and entry.status not in SETTLED:
            least = design.objective.bound
            proof.holds(entry.bound is not None and least <= entry.bound, f"the bound is {least}, of {words}")


def _rows_agree(proof: Proof, evidence: Evidence) -> None:
    """Designs of *what else* with another server are of one of the list, and not below what the search knew of it."""
    entries = {entry.id: entry for entry in evidence.design.servers_compared}
    for row in evidence.design.alternatives:
        if row.what != SERVER:
            continue
        entry = entries[row.change[SERVER]]
        proof.holds(entry.id != evidence.case.server_id, f"a row with {entry.id}, which is the answer's")
        if row.objective is not None and entry.bound is not None:
            proof.holds(row.objective >= entry.bound, f"a row with {entry.id} is below {entry.bound}")
        if row.objective is not None and row.status == entry.status == "optimal":
            proof.equal(f"objective of the row with {entry.id}", row.objective, entry.objective)
