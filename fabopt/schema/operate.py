"""How a fabric is to be run: what a case says of names, addresses and queues, and what a switch says of its systems.

Defaults are sourced in docs/running.md.
"""

import re
from ipaddress import IPv4Network
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fabopt.schema.base import Identifier, Strict, Word, is_as

System = Literal["cumulus", "sonic", "eos"]
FIELDS = ("name", "site", "fabric", "role", "number", "plane", "pod", "group", "rail", "rack", "unit")
_FIELD = re.compile(r"\{([a-z]+)(?::0?[1-9]d)?\}")
_WORDS = ("name", "site", "fabric", "role", "rack")
MAX_ASN = 4_294_967_294
# Shared addresses (RFC 6598), which no other pool begins with.
VRF_LINKS = "100.64.0.0/10"

_NAME = re.compile(r"[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*")


def _check_template(text: str) -> str:
    rest = _FIELD.sub("0", text)
    if not _NAME.fullmatch(rest):
        raise ValueError("a name has letters, digits, - and . only, and fields such as {name} or {rail:02d}")
    for match in _FIELD.finditer(text):
        if match[1] not in FIELDS:
            raise ValueError(f"there is no field {{{match[1]}}}; fields are {', '.join(FIELDS)}")
        if match[1] in _WORDS and ":" in match[0]:
            raise ValueError(f"{{{match[1]}}} is a word, so it has no digits to fill")
    return text


def _check_network(text: str) -> str:
    try:
        network = IPv4Network(text)
    except ValueError:
        raise ValueError("a pool of addresses is written as in 10.0.0.0/16, its first address and its length") from None
    if not 1 <= network.prefixlen <= 31:
        raise ValueError("a pool of addresses has a length of 1 to 31")
    return text


def _check_range(text: str) -> str:
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit()) or int(first) > int(last):
        raise ValueError("a range is written FIRST-LAST, as in 4200000000-4294967294")
    return text


def span(text: str) -> tuple[int, int]:
    """The first and the last number of a range as ``FIRST-LAST``."""
    first, _, last = text.partition("-")
    return int(first), int(last)


def _check_asns(text: str) -> str:
    first, last = span(_check_range(text))
    if not 1 <= first <= last <= MAX_ASN:
        raise ValueError(f"numbers of autonomous systems are from 1 to {MAX_ASN}")
    return text


def _check_vlans(text: str) -> str:
    first, last = span(_check_range(text))
    if not 2 <= first <= last <= 4094:
        raise ValueError("numbers of VLANs are from 2 to 4094")
    return text


Template = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_template)]
AddressPool = Annotated[str, AfterValidator(_check_network)]
NumberPool = Annotated[str, AfterValidator(_check_asns)]
VlanPool = Annotated[str, AfterValidator(_check_vlans)]
Dscp = Annotated[int, Field(ge=0, le=63)]
Priority = Annotated[int, Field(ge=0, le=7)]


class NameTemplates(Strict):
    """What devices are called, by role; ``{name}`` is the design's own name.

    Attributes:
        server: Template of names of servers.
        attachment: Template of names of attached devices.
        leaf: Template of names of leaves.
        spine: Template of names of spines.
        core: Template of names of cores.
    """

    server: Template = "{name}"
    attachment: Template = "{name}"
    leaf: Template = "{name}"
    spine: Template = "{name}"
    core: Template = "{name}"


class Queues(Strict):
    """How traffic is told apart; of RDMA, the lossless class, and of its congestion notifications (CNP).

    Attributes:
        rdma_dscp: DSCP of RDMA traffic.
        rdma_priority: Priority of RDMA traffic, which is lossless.
        rdma_share: Least share of a busy link that RDMA traffic has, in per cent.
        cnp_dscp: DSCP of congestion notifications.
        cnp_priority: Priority of congestion notifications.
        mtu: Largest packet, in bytes.
    """

    rdma_dscp: Dscp = 26
    rdma_priority: Priority = 3
    rdma_share: Annotated[int, Field(ge=1, le=99)] = 50
    cnp_dscp: Dscp = 48
    cnp_priority: Priority = 6
    mtu: Annotated[int, Field(ge=1500, le=9216)] = 9216

    @model_validator(mode="after")
    def _classes_differ(self) -> Self:
        if self.rdma_dscp == self.cnp_dscp or self.rdma_priority == self.cnp_priority:
            raise ValueError("RDMA and its notifications have a DSCP and a priority of their own each")
        return self


class Operate(Strict):
    """Templates and pools of the plan that a fabric is run by; no part of the design.

    Attributes:
        site: Name of the site, used in names of devices.
        names: What devices are called, by role.
        management: Pool of addresses for management ports.
        loopbacks: Pool of loopback addresses of switches.
        links: Pool of addresses of links between switches, or `unnumbered`.
        vrf_links: Pool of addresses for what a VRF has of such a link.
        hosts: Pool of addresses of servers.
        host_addresses: Two addresses for every port of a host (`routed`), or a subnet for every leaf (`rails`).
        asns: Pool of autonomous system numbers.
        vlans: Pool of VLAN numbers.
        systems: System that runs on a switch, by product id, where that is not the first of its `nos`.
        hcas: Names of a server's RDMA devices, by fabric; one for each of its ports there, in order.
        queues: How classes of traffic are told apart.
    """

    site: Annotated[str, Field(pattern=r"^[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*$", max_length=40)] = "site"
    names: NameTemplates = NameTemplates()
    management: AddressPool = "10.0.0.0/16"
    loopbacks: AddressPool = "10.1.0.0/16"
    links: Literal["unnumbered"] | AddressPool = "unnumbered"
    vrf_links: Annotated[AddressPool, Field(exclude_if=is_as(VRF_LINKS))] = VRF_LINKS
    hosts: AddressPool = "10.128.0.0/9"
    host_addresses: Literal["routed", "rails"] = "routed"
    asns: NumberPool = "4200000000-4294967294"
    vlans: VlanPool = "100-999"
    systems: dict[Identifier, System] = {}
    hcas: dict[Word, Annotated[tuple[Word, ...], Field(min_length=1)]] = {}
    queues: Queues = Queues()

    @property
    def pools(self) -> dict[str, str]:
        """Pools of addresses by their key."""
        pools = {key: getattr(self, key) for key in ("management", "loopbacks", "links", "vrf_links", "hosts")}
        return {key: pool for key, pool in pools.items() if pool != "unnumbered"}

    @model_validator(mode="after")
    def _pools_are_apart(self) -> Self:
        for (key, pool), (other_key, other) in combinations(self.pools.items(), 2):
            if IPv4Network(pool).overlaps(IPv4Network(other)):
                raise ValueError(f"`{key}` {pool} and `{other_key}` {other} have addresses in common")
        return self


class Roce(Strict):
    """What a fabric has to hold without loss.

    Attributes:
        lossless_priorities: Lossless priorities of each port.
        mtu: Largest packet, in bytes.
    """

    lossless_priorities: Annotated[int, Field(ge=1, le=7)] = 1
    mtu: Annotated[int, Field(ge=1500, le=9216)] = 9216


_USUAL = Operate()


def is_usual(operate: object) -> bool:
    """Whether a case says nothing of its own, so that nothing is written."""
    return operate == _USUAL


OperateSaid = Annotated[Operate, Field(exclude_if=is_usual)]


class SonicPorts(Strict):
    """How SONiC numbers the ports of a switch.

    Attributes:
        first: Number of the first port.
        step: Numbers from one cage to the next.
        index_from: Index of the first cage.
        alias: Alias of the first cage, as `etp1`.
        lanes: First lane of the ASIC behind each cage, cage by cage. Null is not known.
        most_per_cage: Most ports into which it splits a cage. Null is as the switch.
    """

    first: Annotated[int, Field(ge=0, le=100)]
    step: Annotated[int, Field(ge=1, le=16)]
    index_from: Annotated[int, Field(ge=0, le=1)] = 1
    alias: Word | None = None
    lanes: tuple[Annotated[int, Field(ge=0, le=10_000)], ...] | None = None
    most_per_cage: Annotated[int, Field(ge=1, le=16)] | None = None


class BufferPool(Strict):
    """Packet memory of a switch, and what of it is kept for what is under way when a port pauses.

    Of Spectrum ``size`` is all of it, and what is kept follows from its ports.

    Attributes:
        size: Packet memory, in bytes.
        shared_headroom: What of it all ports share for traffic under way, in bytes. Null of Spectrum.
    """

    size: Annotated[int, Field(gt=0)]
    shared_headroom: Annotated[int, Field(gt=0)] | None = None


class Operable(Strict):
    """What runs on a switch.

    Attributes:
        nos: Network operating systems, the usual one first. Empty is not known.
        sonic_ports: How SONiC numbers its ports. Absent is not known.
        buffer_pool: Its packet memory. Absent is not known.
    """

    nos: tuple[System, ...] = ()
    sonic_ports: SonicPorts | None = None
    buffer_pool: BufferPool | None = None
