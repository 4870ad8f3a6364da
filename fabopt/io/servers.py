"""Servers of a case: the one that it names, or several that are compared; what is wrong with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabopt.errors import Fault, fault
from fabopt.io.references import check_counted_servers, check_references
from fabopt.io.workload import with_domains, with_plan
from fabopt.rules.defaults import SERVERS_COUNT, WHOLE_SERVERS, is_kept
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.server import Server
from fabopt.units import ceil_div

# Objectives in which servers are compared: of what the whole costs.
COMPARED_IN = ("capex_usd", "tco_usd")
WITHOUT_PRICE = "give it one, take it out of `server`, or say `include_servers: false`"


def with_counted_servers(case: Case) -> Case:
    """The case that counts its servers where it lists several and says nothing else; rule ``servers-count``."""
    is_said = "include_servers" in case.model_fields_set or not is_kept(case.rules, SERVERS_COUNT)
    return case if isinstance(case.server, str) or is_said else case.model_copy(update={"include_servers": True})


def cases_of_servers(case: Case, catalog: Catalog) -> tuple[Case, ...]:
    """The case of each server that a case lists, with its GPUs in whole servers; a case of one server itself.

    Rule ``server_is_of_the_list``.
    """
    if isinstance(case.server, str):
        return (case,)
    known = {server.id: server for server in catalog.servers}
    singles = (with_plan(_with_server(case, known[id_]), catalog) for id_ in case.server)
    return tuple(with_domains(single, catalog) for single in singles)


def _with_server(case: Case, server: Server) -> Case:
    stages = case.stages and tuple(
        stage.model_copy(update={"gpus": _in_whole(stage.gpus, server, case)}) for stage in case.stages
    )
    return case.model_copy(update={"server": server.id, "gpus": _in_whole(case.gpus, server, case), "stages": stages})


def _in_whole(gpus: int | None, server: Server, case: Case) -> int | None:
    """GPUs rounded up to whole servers; rule ``whole-servers``."""
    if gpus is None or not is_kept(case.rules, WHOLE_SERVERS):
        return gpus
    return ceil_div(gpus, server.gpus) * server.gpus


def check_case(case: Case, catalog: Catalog, file: str, written: Mapping[str, str] | None = None) -> list[Fault]:
    """Return all faults of a case with this catalog; of one that lists servers, of the list, then with each of them.

    ``written``: what the user wrote, by the id made of it, where these differ.
    """
    if isinstance(case.server, str):
        return check_references(case, catalog, file, written)
    if faults := [*_of_list(case, case.server, catalog, file, written or {})]:
        return faults
    by_server = {
        str(single.server): check_references(single, catalog, file, written)
        for single in cases_of_servers(case, catalog)
    }
    return _told_once(by_server)


def check_counted(case: Case, catalog: Catalog, file: str) -> list[Fault]:
    """Return what servers that count do not say of themselves, price books applied."""
    if isinstance(case.server, str):
        return check_counted_servers(case, catalog, file)
    return [
        replace(wrong, hint=WITHOUT_PRICE)
        for single in cases_of_servers(case, catalog)
        for wrong in check_counted_servers(single, catalog, file)
    ]


def _of_list(
    case: Case, listed: tuple[str, ...], catalog: Catalog, file: str, written: Mapping[str, str]
) -> Iterator[Fault]:
    """What is wrong with a list of servers, whatever else the case says."""
    gpus_of = {server.id: server.gpus for server in catalog.servers}
    for index, id_ in enumerate(listed):
        where = f"server[{index}]"
        if id_ in listed[:index]:
            yield fault(file, where, "is in the list twice", id_, hint="leave it out")
        elif id_ not in gpus_of:
            named = check_references(case.model_copy(update={"server": id_}), catalog, file, written)
            yield from (replace(wrong, path=where) for wrong in named if wrong.path == "server")
        elif not gpus_of[id_]:
            yield fault(file, where, "has no GPUs, by which servers are compared", id_, hint="leave it out")
    sizes = {"servers": case.servers}
    sizes |= {f"stages[{index}].servers": stage.servers for index, stage in enumerate(case.stages or ())}
    for path, servers in sizes.items():
        if servers is not None:
            problem = "servers of a list hold different numbers of GPUs, so that their own number says nothing"
            yield fault(file, path, problem, servers, allowed=path.replace("servers", "gpus"), hint="say how many GPUs")
    if case.objective not in COMPARED_IN:
        problem = "servers are compared by what the whole costs"
        allowed = " or ".join(COMPARED_IN)
        yield fault(file, "objective", problem, case.objective, allowed=allowed, hint="or name one `server`")
    if case.growth.decide_by == "regret":
        problem = "regret is measured against the best plan with one server"
        yield fault(file, "growth.decide_by", problem, "regret", allowed="expected cost", hint="or name one `server`")


def _told_once(by_server: Mapping[str, list[Fault]]) -> list[Fault]:
    """Faults with any server once, and others with the server that has them."""
    texts = [{str(wrong) for wrong in faults} for faults in by_server.values()]
    common = set.intersection(*texts)
    first = next(iter(by_server.values()))
    return [wrong for wrong in first if str(wrong) in common] + [
        replace(wrong, problem=f"with {id_}: {wrong.problem}")
        for id_, faults in by_server.items()
        for wrong in faults
        if str(wrong) not in common
    ]
