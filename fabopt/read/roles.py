"""Cross checks of roles: what fabrics beside the compute fabric ask for, with the server's cards and each other."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.oob import COUNTED
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Server

SEPARATIONS = ("physical", "shared")
SHARERS = ("storage", "in-band")


def check_roles(case: Case, server: Server, file: str) -> list[Fault]:
    """Return what does not work out between a case's roles, its server and this version; empty if nothing."""
    found = [*_built_in_once(case, server, file), *_cards_exist(case, server, file)]
    for index, fabric in enumerate(case.fabrics):
        where = f"fabrics[{index}]"
        found += _separation(case, fabric, where, file)
        found += _filled_in(fabric, where, file)
        if fabric.role == "oob":
            found += _out_of_band(case, fabric, server, where, file)
    return found


def _built_in_once(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """Built-in cards are all cabled into one fabric, so another one of that role has none."""
    first: dict[str, str] = {}
    for index, fabric in enumerate(case.fabrics):
        cards = sum(one.count for one in server.nics if one.role == fabric.role)
        if cards == 0 or fabric.separation == "shared":
            continue
        if fabric.role in first:
            yield fault(
                file,
                f"fabrics[{index}].role",
                f"{server.id} has {cards} built-in cards for {fabric.role}, and `{first[fabric.role]}` cables all of "
                f"them: {cards} + {cards} = {2 * cards} of {cards}",
                fabric.role,
                hint="give it another role, `separation: shared`, or several `planes` to one fabric",
            )
        first.setdefault(fabric.role, fabric.name)


def _cards_exist(case: Case, server: Server, file: str) -> Iterator[Fault]:
    """A fabric beside the compute fabric needs built-in cards, or a slot for some."""
    for index, fabric in enumerate(case.fabrics):
        built_in = any(one.role == fabric.role for one in server.nics)
        if fabric.role in SHARERS and fabric.separation != "shared" and not built_in and server.nic_slots == 0:
            yield fault(
                file,
                f"fabrics[{index}].role",
                f"{server.id} has no built-in cards for {fabric.role} and no free slot (nic_slots is 0)",
                fabric.role,
                hint="add cards to the server's `nics`, or say `separation: shared`",
            )


def _separation(case: Case, fabric: Fabric, where: str, file: str) -> Iterator[Fault]:
    if fabric.separation not in SEPARATIONS:
        allowed = " or ".join(SEPARATIONS)
        yield fault(
            file,
            f"{where}.separation",
            "this version cannot design networks that share switches but not cards, nor choose",
            fabric.separation,
            allowed=allowed,
        )
    if fabric.carries:
        yield fault(file, f"{where}.carries", "is filled in by fabopt", hint="say `separation: shared` in the other")
    if fabric.separation != "shared":
        return
    if fabric.role not in SHARERS:
        hint = f"a fabric of role {' or '.join(SHARERS)} can"
        yield fault(file, f"{where}.separation", f"role {fabric.role} cannot be shared", "shared", hint=hint)
    hosts = [one.name for one in case.fabrics if one.role == "compute"]
    if len(hosts) != 1:
        found = f"there are {len(hosts)}"
        yield fault(file, f"{where}.separation", f"sharing needs one fabric of role compute, {found}", "shared")
    for number, stage in enumerate(case.stages or ()):
        if fabric.name in stage.fabrics:
            key = f"stages[{number}].fabrics.{fabric.name}"
            yield fault(file, key, "a shared fabric has no demand of its own at a stage", hint=f"give it to {hosts}")


def _filled_in(fabric: Fabric, where: str, file: str) -> Iterator[Fault]:
    for number, one in enumerate(fabric.attachments):
        if one.adds and not (fabric.role == "oob" and one.name in COUNTED):
            key = f"{where}.attachments[{number}].adds"
            hint = "attachments are there from the first stage on"
            yield fault(file, key, "is filled in by fabopt", list(one.adds), hint=hint)


def _out_of_band(case: Case, fabric: Fabric, server: Server, where: str, file: str) -> Iterator[Fault]:
    if all(one.role != "oob" for one in server.nics):
        yield fault(
            file,
            f"{where}.role",
            f"{server.id} does not say which port is that of its management controller",
            "oob",
            hint="add `{id: generic-bmc-1g, count: 1, role: oob}` to the server's `nics`",
        )
    for number, one in enumerate(fabric.attachments):
        if one.name in COUNTED:
            key = f"{where}.attachments[{number}].name"
            yield fault(file, key, "is the name of what an out-of-band fabric counts by itself", one.name)
