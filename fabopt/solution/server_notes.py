"""Notes on the choice among several servers: the one taken, what came of the others, prices, and unused GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from fabopt.parts.names import product_name
from fabopt.parts.price_basis import RESTS_ON, basis_of
from fabopt.rules.defaults import DEFAULT_RULES, SERVERS_COUNT, WHOLE_SERVERS, is_kept
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Alternative, Design
from fabopt.schema.server import Server
from fabopt.schema.servers import SERVER, SETTLED, ServerCompared
from fabopt.search.answer import Answer
from fabopt.solution.question import Question
from fabopt.units import milliwatts, some, watts

# Figures of the objective, in words.
_UNITS = {"capex_usd": "${:,.0f}", "tco_usd": "${:,.0f} of total cost"}


def server_notes(question: Question, design: Design) -> Iterator[str]:
    """All notes on the servers that a case lists; none for a case of one."""
    case = question.listed
    if case is None:
        return
    own = str(design.case.content[SERVER])
    if design.fabrics:
        yield from _prices(question, case, design, own)
        number = some(len(question.compared), "server")
        proof = "proven over all of them" if all(one.status in SETTLED for one in question.compared) else "not proven"
        yield f"server: {own} of {number}, the one with which the whole costs least, {proof}"
    yield from (_outcome(entry, case, design) for entry in question.compared if entry.id != own or not design.fabrics)
    if case.include_servers and is_kept(case.rules, SERVERS_COUNT):
        yield DEFAULT_RULES[SERVERS_COUNT].note("`include_servers: false` compares networks alone")
    entry = next((one for one in question.compared if one.id == own), None)
    if design.fabrics and entry is not None and (unused := _unused(entry, case, _server(question, own))):
        yield DEFAULT_RULES[WHOLE_SERVERS].note(unused)


def _server(question: Question, id_: str) -> Server:
    return next(server for server in question.inputs.catalog.servers if server.id == id_)


def name_of(catalog: Catalog, id_: str) -> str:
    """The name of a server as people say it, also of one that is in no design."""
    server = next(server for server in catalog.servers if server.id == id_)
    return product_name(server.model_dump(mode="json"), id_)


def _wanted(case: Case) -> int:
    """GPUs that the case asks for at its last stage."""
    return (case.stages[-1].gpus if case.stages else case.gpus) or 0


def _unused(entry: ServerCompared, case: Case, server: Server) -> str:
    """Words on GPUs beyond those asked for, in whole servers and whole racks; empty if there are none."""
    sold = server.sold_for(entry.servers)
    there = sold * server.sold_together * server.gpus
    if there == _wanted(case):
        return ""
    held = some(sold, "whole rack") if server.rack is not None else some(entry.servers, "server")
    joined = f", {there - entry.gpus:,} of them in servers that are not joined" if there > entry.gpus else ""
    return f"{held} of {entry.id} have {there:,} GPUs for {_wanted(case):,}: {there - _wanted(case):,} unused{joined}"


def _outcome(entry: ServerCompared, case: Case, design: Design) -> str:
    """What came of a server that was not taken, by the row of *what else* where that knows more."""
    row = row_of(design, entry.id)
    if row is not None and row.status is not None:
        entry = entry.model_copy(update={"status": row.status, "objective": row.objective})
    unit = _UNITS.get(case.objective, "{:,g}")
    bound = "nothing is known" if entry.bound is None else f"no design is below {unit.format(entry.bound)}"
    best = "" if entry.objective is None else f"the best costs {unit.format(entry.objective)}"
    told = {
        "optimal": best,
        "feasible": f"{best}, as far as was found, and {bound}",
        "infeasible": "no design",
        "dearer": bound,
        "unknown": f"not looked at to its end: {bound}",
    }
    size = f"{some(entry.servers, 'server')}, {entry.gpus:,} GPUs"
    return f"server: with {entry.id} ({size}): {told[entry.status]}"


# -- prices -----------------------------------------------------------------------------------------------------------


def _prices(question: Question, case: Case, design: Design, own: str) -> Iterator[str]:
    """A note on the prices of the servers, their basis, and the price above which another server is taken."""
    if not case.include_servers:
        yield "server: compared by their networks alone, as `include_servers` is false"
        return
    told = ", ".join(_price(_server(question, entry.id)) for entry in question.compared if entry.status != "infeasible")
    yield f"{RESTS_ON} prices of servers: {told}{_until(question, case, design, own)}"


def _price(server: Server) -> str:
    """The price of a server, or of the rack that it is sold in, and its basis."""
    price = server.price_usd
    words = f"${price:,.0f}" if isinstance(price, int | float) else "one by quantity"
    unit = " a rack" if server.rack is not None else ""
    part = server.model_dump(mode="json")
    return f"{words}{unit} for {product_name(part, server.id)} ({basis_of(part, None)})"


def _until(question: Question, case: Case, design: Design, own: str) -> str:
    """Words on the price of the taken server above which another one is; empty where other terms depend on it too."""
    rows = [row for row in design.bom if row.kind == "server" and row.quantity]
    prices, value = {row.unit_price_usd for row in rows}, design.objective.value
    others = [entry for entry in question.compared if entry.id != own and entry.status != "infeasible"]
    if len(prices) != 1 or value is None or case.charges or case.objective != "capex_usd" or not others:
        return ""
    ends = [_end_of(entry, design) for entry in others]
    least, is_exact, rival = min(ends, key=lambda end: end[0])
    price = prices.pop()
    most = floor(price + (least - value) / sum(row.quantity for row in rows))
    of_one = f"a rack of {own}" if _server(question, own).rack is not None else f"for {own}"
    if not is_exact:
        return f"; up to ${most:,} {of_one} at least, the whole costs less with no other"
    above = f"above ${most:,} {of_one}" if most > price else f"at any higher price of {own}"
    return f"; {above} the whole costs less with {name_of(question.inputs.catalog, rival)}"


def _end_of(entry: ServerCompared, design: Design) -> tuple[float, bool, str]:
    """What another server's best design comes to, or what none is below; whether it is that design; its id."""
    row = row_of(design, entry.id)
    if row is not None and row.objective is not None and row.status == "optimal":
        return row.objective, True, entry.id
    known = entry.objective if entry.status == "optimal" else entry.bound
    return known or 0, entry.status == "optimal", entry.id


def row_of(design: Design, server: str) -> Alternative | None:
    """The row of *what else* with another server; None without one."""
    return next((row for row in design.alternatives if row.what == SERVER and row.change[SERVER] == server), None)


# -- what else --------------------------------------------------------------------------------------------------------


def beside_server(other: Answer, own: Answer) -> str:
    """What a design with another server has more or less of than the answer."""
    figures = [_figures(answer) for answer in (other, own)]
    pairs = zip(figures[0].items(), figures[1].values(), strict=True)
    told = (f"{theirs} {what}, not {ours}" for (what, theirs), ours in pairs if theirs != ours and theirs)
    return "; ".join(told)


def _figures(answer: Answer) -> dict[str, str]:
    """Figures of a design that its server decides, in words by what they are."""
    problem, server = answer.problem, answer.problem.server
    domain = server.gpus if server.scale_up is None else server.scale_up.domain_gpus
    roles = {fabric.name: fabric.role for fabric in problem.fabrics}
    speeds = [built.design.nic.injection for built, _ in answer.picked if roles.get(built.fabric) == "compute"]
    power = None if server.power_w is None else problem.server.sold_for(problem.servers) * milliwatts(server.power_w)
    return {
        "GPUs": f"{problem.gpus:,}",
        "GPUs to a scale-up domain": f"{domain:,}",
        "Gb/s a GPU": f"{float(min(speeds)) / 1000:g}" if speeds else "",
        "kW of servers": "" if power is None else f"{watts(power) / 1000:,.0f}",
    }
