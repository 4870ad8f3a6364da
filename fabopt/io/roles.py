"""Cross checks of roles: what fabrics beside the compute fabric ask for, with the server's NICs and each other."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.problem.names import alike
from fabopt.problem.roles import reserves_too_much
from fabopt.problem.separation import (
    SHARERS,
    WAYS,
    cabled_twice,
    combinations,
    has_no_nics,
    hindrances,
    is_open,
    reasons_against,
)
from fabopt.schema.attachment import COUNTED
from fabopt.schema.case import Case, Fabric
from fabopt.schema.server import Server


def check_roles(case: Case, server: Server, file: str) -> list[Fault]:
    """Return faults between a case's roles, its server and this version; empty if there are none."""
    faults = [*_built_in_once(case, server, file), *_nics_exist(case, server, file)]
    for index, fabric in enumerate(case.fabrics):
        where = f"fabrics[{index}]"
        faults += _separation(case, fabric, server, where, file)
        faults += _shared_port(fabric, where, file)
        faults += _filled_in(fabric, where, file) if case.base is None else ()
        faults += _attachments_of_one_stage(case, fabric, where, file)
        if fabric.role == "oob":
            faults += _out_of_band(case, fabric, server, where, file)
    if not faults and is_open(case) and not combinations(case, server):
        faults += _nothing_left(case, server, file)
    return faults or [*_ports_are_left(case, server, file)]


def _ports_are_left(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """What others reserve of the NICs of a fabric leaves it some."""
    for host, last, text in reserves_too_much(case, server):
        yield fault(
            file,
            f"fabrics[{case.fabrics.index(next(own for own in case.fabrics if own.name == last.name))}].shared_port",
            f"{text} of `{host.name}` are reserved for fabrics on it, which leaves it none",
            "reserved",
            hint=f"say `shared_port: added`, or raise `min_gbps_per_gpu` of `{host.name}`",
        )


def _shared_port(fabric: Fabric, where: str, file: str) -> Iterator[Fault]:
    if fabric.shared_port is not None and fabric.separation not in ("shared", "any"):
        hint = "leave it out, or say `separation: shared`"
        text = f"goes with NICs that are shared, and `separation` is {fabric.separation}"
        yield fault(file, f"{where}.shared_port", text, fabric.shared_port, hint=hint)


def _built_in_once(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """Built-in NICs are all cabled into one fabric, so another one of that role has none."""
    for index, first, nics in cabled_twice(case, server):
        role = case.fabrics[index].role
        yield fault(
            file,
            f"fabrics[{index}].role",
            f"{server.id} has {nics} built-in NICs for {role}, and `{first}` cables all of "
            f"them: {nics} + {nics} = {2 * nics} of {nics}",
            role,
            hint="give it another role, `separation: shared`, or several `planes` to one fabric",
        )


def _nics_exist(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """A fabric beside the compute fabric needs built-in NICs, or a slot for some."""
    for index, fabric in enumerate(case.fabrics):
        if fabric.separation not in ("shared", "any") and has_no_nics(fabric, server):
            yield fault(
                file,
                f"fabrics[{index}].role",
                f"{server.id} has no built-in NICs for {fabric.role} and no free slot (nic_slots is 0)",
                fabric.role,
                hint="add NICs to the server's `nics`, or say `separation: shared`",
            )


def _separation(case: Case, fabric: Fabric, server: Server, where: str, file: str) -> Iterator[Fault]:
    if fabric.carries:
        yield fault(file, f"{where}.carries", "is filled in by fabopt", hint="say `separation: shared` in the other")
    for number, attachment in enumerate(fabric.attachments):
        if attachment.network is not None:
            yield fault(file, f"{where}.attachments[{number}].network", "is filled in by fabopt", attachment.network)
    if fabric.separation == "any":
        if fabric.role not in SHARERS:
            hint = f"leave it out; a fabric of role {' or '.join(SHARERS)} has a choice"
            yield fault(file, f"{where}.separation", f"role {fabric.role} is physical", "any", hint=hint)
        return
    for hindrance in hindrances(fabric, case, server, fabric.separation):
        key = hindrance.key if hindrance.key.startswith("stages") else f"{where}.{hindrance.key}"
        yield fault(
            file, key, hindrance.text, *(() if hindrance.value is None else (hindrance.value,)), hint=hindrance.hint
        )


def _nothing_left(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """Why no separation is left for fabrics that leave it to cost."""
    for index, fabric in enumerate(case.fabrics):
        if fabric.separation == "any":
            against = {way: reasons_against(fabric, case, server, way) for way in WAYS}
            text = "; ".join(f"{way}: {reasons[0]}" for way, reasons in against.items() if reasons)
            left = [way for way, reasons in against.items() if not reasons]
            taken = f"; {' or '.join(left)}: another fabric cables the same built-in NICs" if left else ""
            yield fault(file, f"fabrics[{index}].separation", f"nothing is left to choose: {text}{taken}", "any")


def _filled_in(fabric: Fabric, where: str, file: str) -> Iterator[Fault]:
    for number, attachment in enumerate(fabric.attachments):
        if attachment.adds and not (fabric.role == "oob" and attachment.name in COUNTED):
            key = f"{where}.attachments[{number}].adds"
            hint = "attachments are there from the first stage on"
            yield fault(file, key, "is filled in by fabopt", list(attachment.adds), hint=hint)


def _attachments_of_one_stage(case: Case, fabric: Fabric, where: str, file: str) -> Iterator[Fault]:
    """Attachments of several stages have to be either outside the ratio and on free ports, or in it and on leaves."""
    stages = len(case.stages or ())
    several, or_one = f"`stages` has {stages}", ", or give one stage"
    if case.base is not None:
        several, or_one = "new ones come after what is in service (`base`)", ""
    for number, attachment in enumerate(fabric.attachments if stages > 1 else ()):
        on_leaves, stays = attachment.placed_on == "leaf", case.base is not None and not attachment.adds
        if stays or on_leaves == attachment.counts:
            continue
        key = "tier" if attachment.tier is not None else "counts_in_ratio"
        kind, other = ("of `tier: leaf` outside", "any") if on_leaves else ("on free ports that count in", "leaf")
        yield fault(
            file,
            f"{where}.attachments[{number}].{key}",
            f"attachments {kind} the ratio are designed for one stage, and {several}",
            getattr(attachment, key),
            hint=f"say `tier: {other}` or `counts_in_ratio: {str(on_leaves).lower()}`{or_one}",
        )


def _out_of_band(case: Case, fabric: Fabric, server: Server, where: str, file: str) -> Iterator[Fault]:
    if all(nic.role != "oob" for nic in server.nics):
        yield fault(
            file,
            f"{where}.role",
            f"{server.id} does not say which port is that of its management controller",
            "oob",
            hint="add `{id: generic-bmc-1g, count: 1, role: oob}` to the server's `nics`",
        )
    for number, attachment in enumerate(fabric.attachments):
        if alike(attachment.name) in COUNTED:
            key = f"{where}.attachments[{number}].name"
            yield fault(file, key, "is the name of what an out-of-band fabric counts by itself", attachment.name)
