"""InfiniBand subnets without a manager among the switches of the cheapest design: other switches or attached hosts
manage them.

Designs without a manager are searched first, as they cost no more than with one. The manager of such a fabric is
decided by searching both parts of its space, fabric by fabric: designs with managing switches, and designs with hosts.
The cheaper of two optima is the optimum of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import lifted_case, lifted_catalog, on_larger_floors
from fabopt.program.orders import sums_of
from fabopt.program.settings import StoppedError
from fabopt.rules.defaults import SUBNET_MANAGER
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Case
from fabopt.schema.subnet_manager import HOSTS
from fabopt.schema.topologies import can_be_asked
from fabopt.search.answer import Answer
from fabopt.solution.question import Answers, Question
from fabopt.topology.subnet_manager import managers_in
from fabopt.units import some, usd

HOST = "subnet-manager"
# Purchases for hosts, in words: parts of their cables at the switch, or cables like the servers'.
AT_SWITCH, LIKE_SERVERS = "with what their cables need at the switch", "with NICs and cables like the servers'"

NOT_IN_TIME = (
    f"rule `{SUBNET_MANAGER}`: time was over before all managers of subnets were looked at; no design with them is "
    "below this one"
)

Search = Callable[[Question], Answers]


class Answered(NamedTuple):
    """A question with its answers."""

    question: Question
    answers: Answers


class Unmanaged(NamedTuple):
    """A fabric of one subnet without a manager among its switches: the ports of hosts that it needs, its NICs, and the
    switches whose catalog entry leaves open whether they run one.
    """

    fabric: str
    ports: int
    nic: NicOption
    silent: tuple[str, ...]


def with_managers_of_subnets(question: Question, answers: Answers, search: Search) -> Answered:
    """The question and answers with a manager in every subnet that can have one, at least cost; unchanged without such
    a subnet, or if time runs out. Studies prepare their own problems (``study.front.managed``).
    """
    best = answers.best
    if best is None or question.problem is not None:
        return Answered(question, answers)
    try:
        managed = _managed(question, answers, search, frozenset())
    except StoppedError:
        noted = replace(question.inputs, notes=(*question.inputs.notes, NOT_IN_TIME))
        return Answered(replace(question, inputs=noted), answers.cut_short())
    return Answered(_costed(managed.question, answers, managed.answers), managed.answers)


def _managed(question: Question, answers: Answers, search: Search, given_up: frozenset[str]) -> Answered:
    """The cheapest answers with a manager in every fabric but those ``given_up``; unchanged where all have one."""
    assert answers.best is not None
    unmanaged = next(unmanaged_fabrics(answers.best, question.managed | given_up), None)
    if unmanaged is None:
        return Answered(question, answers)
    question.settings.progress(f"no switch manages {unmanaged.fabric}: looking at other switches, and at hosts")
    ways: list[Answered] = []
    bounds: list[int | None] = []
    is_decided = answers.is_decided
    # other rules yield before that of managers, but none does where one of the ways keeps all
    for rules_yield in (False, True):
        is_asked = not rules_yield or (is_decided and not ways)
        for way in _ways(question, answers.best.problem, unmanaged) if is_asked else ():
            tried = (Answered(other, search(replace(other, rules_yield=rules_yield))) for other in way)
            first = next((one for one in tried if one.answers.best is not None or not one.answers.is_decided), None)
            if first is not None:
                is_decided &= first.answers.is_decided
                bounds.append(first.answers.optimum.bound)
                ways += [_managed(*first, search, given_up)] if first.answers.best is not None else []
    if not ways:
        barred = _barred_by_limits(question, answers.best.problem, unmanaged, search) if is_decided else None
        if barred is not None:
            return barred
        without = _managed(question, answers, search, given_up | {unmanaged.fabric})
        return without if is_decided else without._replace(answers=without.answers.cut_short())
    ways = [way for way in ways if way.answers.best is not None] or ways
    cheapest = min(ways, key=lambda way: way.answers.optimum.value or 0)
    if is_decided and all(way.answers.complete for way in ways):
        return cheapest
    # the answers that were looked at first cost no more than any with a manager, and no way has any below its bound
    known = [bound for bound in bounds if bound is not None]
    sure = [answers.optimum.bound, min(known) if len(known) == len(bounds) else None]
    bound = max((bound for bound in sure if bound is not None), default=None)
    bound = bound if cheapest.answers.complete else cheapest.answers.bound
    return cheapest._replace(answers=replace(cheapest.answers, complete=False, bound=bound))


def _barred_by_limits(question: Question, problem: Problem, unmanaged: Unmanaged, search: Search) -> Answered | None:
    """The infeasible answer of the way to manage a fabric that costs least with every limit lifted; None if it cannot
    be managed even then.
    """
    inputs = question.inputs
    is_dated = inputs.case.stages is not None or inputs.case.procurement.order_from_month is not None
    catalog = lifted_catalog(inputs.catalog, is_dated)
    case = lifted_case(inputs.case)
    for larger in (case, *on_larger_floors(case, problem)):
        free = replace(question, inputs=replace(inputs, case=larger, catalog=catalog))
        kept: list[tuple[int, Question]] = []
        for ways in zip(_ways(question, problem, unmanaged), _ways(free, problem, unmanaged), strict=True):
            for own, other in zip(*ways, strict=True):
                answers = search(other)
                if answers.best is not None:
                    kept.append((answers.optimum.value or 0, own))
                    break
        if kept:
            least = min(kept, key=lambda pair: pair[0])[1]
            return Answered(least, search(least))
    return None


def _ways(question: Question, problem: Problem, unmanaged: Unmanaged) -> Iterator[Iterator[Question]]:
    """Each way to manage a fabric, as questions of which the first with a design counts: by other switches; by hosts,
    with optics bought at the switch only, or with NICs like the servers' and whole cables.
    """
    yield iter((replace(question, managed=question.managed | {unmanaged.fabric}),))
    yield (_with_host(question, host) for host in hosts_of(problem, unmanaged))


def _takes_hosts(problem: Problem, name: str) -> bool:
    """Whether all families of a fabric have ports for hosts."""
    fabric = next(fabric for fabric in problem.case.fabrics if fabric.name == name)
    return can_be_asked(problem.case, fabric, attachments=(*fabric.attachments, _bare_host(1)))


def _bare_host(ports: int) -> Attachment:
    return Attachment(name=HOST, kind="management", ports=ports, boxes=ports, buys="near")


class Host(NamedTuple):
    """Hosts that are attached to a fabric, and a note that says so."""

    fabric: str
    attachment: Attachment
    note: str

    def attached(self, case: Case) -> Case:
        """A case with them; beside what stays in service they are new, and what may move has one stage."""
        host = self.attachment
        host = host if case.base is None or case.moving else host.beside_what_stays()
        fabrics = (
            fabric.model_copy(update={"attachments": (*fabric.attachments, host)})
            if fabric.name == self.fabric
            else fabric
            for fabric in case.fabrics
        )
        return case.model_copy(update={"fabrics": tuple(fabrics)})


def hosts_of(problem: Problem, unmanaged: Unmanaged) -> Iterator[Host]:
    """Hosts for a fabric in order of preference."""
    name, bare = unmanaged.fabric, _bare_host(unmanaged.ports)
    yield Host(name, bare, _note(unmanaged, bare, AT_SWITCH))
    if unmanaged.nic.port.ports == 1:
        alike = _like_servers(problem, unmanaged)
        yield Host(name, alike, _note(unmanaged, alike, LIKE_SERVERS))


def _note(unmanaged: Unmanaged, host: Attachment, bought: str) -> str:
    why = "no switch manages a subnet of this size"
    if unmanaged.silent:
        why = f"the catalog does not say that {' and '.join(unmanaged.silent)} runs a subnet manager"
    ports = f"{some(host.ports, 'port')} of hosts (`{HOST}`), {bought}"
    return f"{HOSTS} {unmanaged.fabric}: {why}; attached are {ports} (rule `{SUBNET_MANAGER}`)"


def _with_host(question: Question, host: Host) -> Question:
    inputs = replace(
        question.inputs, case=host.attached(question.inputs.case), notes=(*question.inputs.notes, host.note)
    )
    return replace(question, inputs=inputs, managed=question.managed | {host.fabric})


def note_of_cost(more_cents: int) -> str:
    """A note on the added cost of managers; ``more_cents``: against a design without them."""
    more = usd(more_cents)
    return f"rule `{SUBNET_MANAGER}`: managers of subnets, and the ports for them, make the design ${more:,} dearer"


def _costed(question: Question, before: Answers, after: Answers) -> Question:
    """The question with a note of its managers' cost, if they were added to the first answers."""
    if after.tried is before.tried or after.best is None:
        return question
    assert before.best is not None
    sums = (sums_of(one.problem, one.picked).cents for one in (before.best, after.best))
    note = note_of_cost(-next(sums) + next(sums))
    return replace(question, inputs=replace(question.inputs, notes=(*question.inputs.notes, note)))


def _like_servers(problem: Problem, unmanaged: Unmanaged) -> Attachment:
    """A host with the NICs of the servers."""
    nic = unmanaged.nic
    product = next(one for one in problem.catalog.nics if one.id == nic.nic_id)
    built_in = next((one.cages for one in problem.server.nics if one.id == nic.nic_id and one.cages), None)
    cage = (built_in or product.cages)[nic.group]
    return Attachment(
        name=HOST,
        kind="management",
        ports=unmanaged.ports,
        boxes=unmanaged.ports,
        form_factor=cage.form_factor,
        split=nic.split,
        lane_gbps=cage.lane_gbps,
    )


def unmanaged_fabrics(answer: Answer, decided: frozenset[str]) -> Iterator[Unmanaged]:
    """InfiniBand fabrics of one subnet whose switches are not known to run a subnet manager.

    ``decided``: names of fabrics that already have a manager; these are left out.
    """
    problem = answer.problem
    for fabric, (candidate, _) in zip(problem.fabrics, answer.picked, strict=True):
        said = managers_in(fabric, problem.servers, candidate.design, candidate.twins)
        managers, part = fabric.rules.binding_managers, candidate.design.file_part()
        silent = dict.fromkeys(tier.switch.id for tier in part.tiers if tier.switch.product.managed is None)
        if (
            fabric.name not in decided
            and managers is not None
            and said is not None
            and said.kept is False
            and said.subnets == 1
            and _takes_hosts(problem, fabric.name)
        ):
            yield Unmanaged(fabric.name, managers.fewest, part.nic, tuple(silent))
