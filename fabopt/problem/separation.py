"""How a fabric may be kept apart from the others: on shared NICs, on shared switches, or on a network of its own.

``shared``: on the NICs and switches of the compute fabric, told apart by a QoS class. ``logical``: NICs and cables of
its own that land on the switches of another fabric, its host, told apart by a VLAN and a VRF. ``physical``: NICs,
switches and cables of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal, NamedTuple

from fabopt.problem.hosts import host_of
from fabopt.problem.names import confused_attachments
from fabopt.rules.demands import FABRIC_DEMANDS
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.server import Server
from fabopt.schema.topologies import BASE, FLOOR, GROWTH

Way = Literal["physical", "logical", "shared"]
# From the most apart to the least: of ways that cost the same the first is taken.
WAYS: tuple[Way, ...] = ("physical", "logical", "shared")
# The ways that each isolation allows.
ALLOWED: dict[str, tuple[Way, ...]] = {"none": WAYS, "logical": WAYS[:2], "physical": WAYS[:1]}
SHARERS = ("storage", "in-band")
HOST_FAMILY = "clos"


class Hindrance(NamedTuple):
    """A reason against a separation: ``key`` of the fabric, what is wrong, the value found, what to do."""

    key: str
    text: str
    value: object = None
    hint: str = ""


class CabledTwice(NamedTuple):
    """A fabric (its place in the case) whose built-in NICs are an earlier one's; ``first``: the name of that one."""

    place: int
    first: str
    nics: int


def hindrances(fabric: Fabric, case: Case, server: Server, way: Way) -> Iterator[Hindrance]:
    """All reasons against a separation of a fabric; empty if it is possible."""
    if way not in ALLOWED[fabric.isolation]:
        least = " or ".join(ALLOWED[fabric.isolation])
        yield Hindrance("separation", f"`isolation: {fabric.isolation}` allows {least}", way)
    if way == "physical":
        return
    if fabric.role not in SHARERS:
        hint = f"a fabric of role {' or '.join(SHARERS)} can"
        yield Hindrance("separation", f"role {fabric.role} cannot be {way}, it is physical", way, hint)
        return
    yield from _of_host(fabric, case, way)
    for number, stage in enumerate(case.stages or ()):
        if fabric.name in stage.fabrics:
            key = f"stages[{number}].fabrics.{fabric.name}"
            yield Hindrance(key, f"a {way} fabric has no demand of its own at a stage", hint="give it to its host")
    if way == "logical":
        yield from _of_logical(fabric, case, server)


def _of_host(fabric: Fabric, case: Case, way: Way) -> Iterator[Hindrance]:
    computing = [other.name for other in case.fabrics if other.role == "compute"]
    host, word = host_of(fabric, case), "sharing" if way == "shared" else "a logical fabric"
    if fabric.host is not None and host is None:
        known = ", ".join(other.name for other in case.fabrics if other is not fabric)
        yield Hindrance("host", "the case has no fabric of this name", fabric.host, f"it has {known or 'no other'}")
    elif host is None:
        text = f"{word} needs one fabric of role compute, there are {len(computing)}"
        yield Hindrance("separation", text, way, "say `host`, the name of the fabric" if way == "logical" else "")
    elif way == "shared" and host.role != "compute":
        yield Hindrance("host", "NICs are shared with the fabric of role compute only", fabric.host)
    elif way == "shared" and fabric.homing == "pair" and host.homing in ("any", "single"):
        text = f"its NICs are those of `{host.name}`, which says `homing: {host.homing}`"
        yield Hindrance("homing", text, fabric.homing, f"leave it out of `{host.name}`")
    elif host is fabric or host.separation != "physical" or host.role == "oob":
        place = "itself" if host is fabric else f"`{host.name}`, which is {_unfit(host)}"
        yield Hindrance(
            "host", f"it cannot be on {place}", host.name, "name a physical fabric of another role than oob"
        )


def _unfit(host: Fabric) -> str:
    return "of role oob" if host.role == "oob" else f"`separation: {host.separation}`"


def _of_logical(fabric: Fabric, case: Case, server: Server) -> Iterator[Hindrance]:
    """Reasons against a logical fabric: this version designs them on one Clos, at one stage, without a floor."""
    for feature in (FLOOR, BASE, GROWTH):
        if feature.is_asked(case, fabric):
            yield Hindrance("separation", f"a logical fabric is not designed with {feature.words}", "logical")
    for key in _promised(fabric):
        yield Hindrance(key, "a fabric on the switches of another has no figures of its own", hint="leave it out")
    if fabric.planes not in (1, "any") or fabric.homing == "dual":
        key = "homing" if fabric.homing == "dual" else "planes"
        yield Hindrance(key, "a logical fabric has one plane, and ports that are dealt over all leaves")
    host = host_of(fabric, case)
    if host is None:
        return
    if host.planes != 1 or not {HOST_FAMILY, "any"} & set(host.topologies):
        text = f"its host `{host.name}` has to be a Clos of one plane, where every leaf reaches every other"
        yield Hindrance("host", text, host.name, f"give `{host.name}` `planes: 1` and `topologies: [clos]`")
    if "any" not in (fabric.protocol, host.protocol) and fabric.protocol != host.protocol:
        yield Hindrance("protocol", f"its host `{host.name}` speaks {host.protocol}", fabric.protocol)
    names = [attachment.name for other in case.fabrics if other is not fabric for attachment in other.attachments]
    taken = [one for one in (fabric.name, *(attachment.name for attachment in fabric.attachments)) if one in names]
    for name in taken:
        yield Hindrance("attachments", "on one fabric attachments and logical fabrics have different names", name)


def _promised(fabric: Fabric) -> Iterator[str]:
    """Keys of a fabric's demands on a network of its own."""
    yield from (demand.key for demand in FABRIC_DEMANDS if getattr(fabric, demand.key) is not None)
    if fabric.survived:
        yield "resilience"


def cabled_twice(case: Case, server: Server) -> Iterator[CabledTwice]:
    """Fabrics that need built-in NICs already cabled by an earlier fabric of the same role."""
    first: dict[str, str] = {}
    for index, fabric in enumerate(case.fabrics):
        count = sum(nic.count for nic in server.nics if nic.role == fabric.role)
        if count == 0 or fabric.separation in ("shared", "any"):
            continue
        if fabric.role in first:
            yield CabledTwice(index, first[fabric.role], count)
        first.setdefault(fabric.role, fabric.name)


def has_no_nics(fabric: Fabric, server: Server) -> bool:
    """Whether a server has neither built-in NICs nor a slot for a fabric of a role that may be shared."""
    return fabric.role in SHARERS and server.nic_slots == 0 and all(nic.role != fabric.role for nic in server.nics)


# -- what a case leaves open --------------------------------------------------------------------------------------


def reasons_against(fabric: Fabric, case: Case, server: Server, way: Way) -> list[str]:
    """Reasons in words why cost may not choose a separation for a fabric that leaves it open; empty if it may.

    Shared NICs are held to no less than shared switches: the fabric's demands on its network, and its protocol.
    """
    if way != "shared" and has_no_nics(fabric, server):
        return [f"{server.id} has no NICs for {fabric.role} and no slot"]
    reasons = [hindrance.text for hindrance in hindrances(fabric, case, server, way)]
    if way != "physical":
        reasons += _confused(fabric, case, way)
    if way == "shared":
        host = host_of(fabric, case)
        reasons += [f"it asks for `{key}`" for key in _promised(fabric)]
        if host is not None and "any" not in (fabric.protocol, host.protocol) and fabric.protocol != host.protocol:
            reasons.append(f"`{host.name}` speaks {host.protocol}, not {fabric.protocol}")
    return reasons


def _confused(fabric: Fabric, case: Case, way: Way) -> Iterator[str]:
    """Reasons in words: attachments whose names are confusable on the host's leaves."""
    said = tuple(one.model_copy(update={"separation": way}) if one is fabric else one for one in case.fabrics)
    for confusion in confused_attachments(case.model_copy(update={"fabrics": said}), ""):
        yield f"attachment `{confusion.value}` {confusion.problem}"


def is_open(case: Case) -> bool:
    """Whether a case leaves the separation of some fabric to cost."""
    return any(fabric.separation == "any" for fabric in case.fabrics)


def combinations(case: Case, server: Server) -> list[Case]:
    """The case in every allowed combination of separations, the strictest first.

    Rule ``isolation_is_kept``: none is looser than the fabric's isolation. The case alone if no separation is open.
    """
    if not is_open(case):
        return [case]
    combined_cases = []
    for ways in product(*(_ways(fabric, case, server) for fabric in case.fabrics)):
        said = [_separated(one, way) for one, way in zip(case.fabrics, ways, strict=True)]
        combined = _speaking(case.model_copy(update={"fabrics": tuple(said)}), case)
        if combined is not None and not any(cabled_twice(combined, server)):
            combined_cases.append(combined)
    return combined_cases


def _separated(fabric: Fabric, way: str) -> Fabric:
    """A fabric with a separation stated. Where cost chooses it, shared bandwidth is added, so that the compared
    separations give every fabric the same bandwidth.
    """
    if fabric.separation != "any":
        return fabric
    port = None if way != "shared" else fabric.shared_port or "added"
    return fabric.model_copy(update={"separation": way, "shared_port": port})


def first_combination(case: Case, catalog: Catalog) -> Case:
    """The combination of strictest separation; the case itself if no separation is open."""
    server = next(server for server in catalog.servers if server.id == case.server_id)
    return combinations(case, server)[0]


def _ways(fabric: Fabric, case: Case, server: Server) -> list[str]:
    if fabric.separation != "any":
        return [fabric.separation]
    return [way for way in WAYS if not reasons_against(fabric, case, server, way)]


def _speaking(case: Case, asked: Case) -> Case | None:
    """The case with hosts of the protocol of the fabrics on them, where a separation was open; None if they clash."""
    fabrics = {one.name: one for one in case.fabrics}
    for fabric, before in zip(case.fabrics, asked.fabrics, strict=True):
        host = None if fabric.separation == "physical" else host_of(fabric, case)
        if before.separation != "any" or host is None or fabric.protocol == "any":
            continue
        if fabrics[host.name].protocol not in ("any", fabric.protocol):
            return None
        fabrics[host.name] = fabrics[host.name].model_copy(update={"protocol": fabric.protocol})
    return case.model_copy(update={"fabrics": tuple(fabrics.values())})
