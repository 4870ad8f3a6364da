"""Hosts that manage a subnet of InfiniBand where no switch can: the design is asked for again, with them attached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabopt.parts.nics import NicOption
from fabopt.problem.problem import Problem
from fabopt.program.orders import sums_of
from fabopt.schema.attachment import Attachment
from fabopt.schema.default_rules import SUBNET_MANAGER
from fabopt.schema.structure import Structure
from fabopt.search.answer import Answer
from fabopt.solution.question import Answers, Question
from fabopt.topology.subnet_manager import managers_in
from fabopt.units import some, usd

HOST = "subnet-manager"
# What is bought for hosts, and in which words: what their cables need at the switch, or cables like the servers'.
AT_SWITCH, LIKE_SERVERS = "with what their cables need at the switch", "with NICs and cables like the servers'"


def hosted(question: Question, answers: Answers) -> Iterator[Question]:
    """The question with hosts on the fabrics that no switch manages: joined by optics, of which those at the switch
    are bought; or with NICs like the servers', and whole cables.
    """
    best, fabrics = answers.best, question.inputs.case.fabrics
    if best is None or question.problem is not None or len(best.problem.stages) > 1:
        return
    unmanaged = dict(_unmanaged(best))
    if not unmanaged or any(one.name == HOST for fabric in fabrics for one in fabric.attachments):
        return
    at_switch = {
        name: Attachment(name=HOST, kind="management", ports=n, buys="near") for name, (n, _) in unmanaged.items()
    }
    yield _with_hosts(question, at_switch, AT_SWITCH)
    if all(nic.port.ports == 1 for _, nic in unmanaged.values()):
        whole = {name: _like_servers(best.problem, nic, ports) for name, (ports, nic) in unmanaged.items()}
        yield _with_hosts(question, whole, LIKE_SERVERS)


def costed(question: Question, before: Answers, after: Answers) -> Question:
    """The question with a note of what its hosts cost."""
    assert before.best is not None and after.best is not None
    sums = (sums_of(one.problem, one.picked).cents for one in (before.best, after.best))
    more = usd(-next(sums) + next(sums))
    note = f"rule `{SUBNET_MANAGER}`: hosts and the ports for them make the design ${more:,} dearer"
    return replace(question, inputs=replace(question.inputs, notes=(*question.inputs.notes, note)))


def _with_hosts(question: Question, hosts: Mapping[str, Attachment], bought: str) -> Question:
    case = question.inputs.case
    fabrics = (
        one.model_copy(update={"attachments": (*one.attachments, hosts[one.name])}) if one.name in hosts else one
        for one in case.fabrics
    )
    notes = (
        f"{name}: rule `{SUBNET_MANAGER}`: no switch manages a subnet of this size; attached are "
        f"{some(host.ports, 'port')} of hosts (`{HOST}`), {bought}"
        for name, host in hosts.items()
    )
    changed = case.model_copy(update={"fabrics": tuple(fabrics)})
    return replace(question, inputs=replace(question.inputs, case=changed, notes=(*question.inputs.notes, *notes)))


def _like_servers(problem: Problem, nic: NicOption, ports: int) -> Attachment:
    """A host with the NICs of the servers."""
    product = next(one for one in problem.catalog.nics if one.id == nic.nic_id)
    built_in = next((one.cages for one in problem.server.nics if one.id == nic.nic_id and one.cages), None)
    cage = (built_in or product.cages)[nic.group]
    return Attachment(
        name=HOST,
        kind="management",
        ports=ports,
        form_factor=cage.form_factor,
        split=nic.split,
        lane_gbps=cage.lane_gbps,
    )


def _unmanaged(answer: Answer) -> Iterator[tuple[str, tuple[int, NicOption]]]:
    """Fabrics of one subnet that no switch of theirs manages, as far as that is known of all: how many ports of hosts
    they need, and their NICs.
    """
    problem = answer.problem
    for fabric, (candidate, _) in zip(problem.fabrics, answer.picked, strict=True):
        said = managers_in(fabric, problem.servers, candidate.design, candidate.twins)
        managers, part = fabric.binding_managers, candidate.design.file_part()
        is_clos = fabric.topologies == ("clos",) and isinstance(part.structure, Structure)
        is_known = all(tier.switch.product.managed is not None for tier in part.tiers)
        if (
            is_known
            and managers is not None
            and said is not None
            and said.kept is False
            and said.subnets == 1
            and is_clos
        ):
            yield fabric.name, (managers.fewest, part.nic)
