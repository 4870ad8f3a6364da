"""Subnet managers of InfiniBand: what a switch says of its own, and what a design says of those that it has."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Identifier, Strict, is_open
from fabopt.units import some

# What a switch may say of its subnet manager.
MANAGEMENT_KEYS: Final = ("managed", "managed_twin", "max_managed_nodes")
Managing = Literal["leaf", "spine", "core"]
# How the note begins that hosts are attached which run subnet managers.
HOSTS: Final = "hosts for subnet managers:"
# What is said where there is no switch.
ON_A_SERVER: Final = "one of the servers runs it, as they are joined to each other"


class Manageable(Strict):
    """Whether a switch runs a subnet manager.

    Attributes:
        managed: Whether it runs a subnet manager. Null is not known.
        managed_twin: Id of the same switch with a subnet manager, of one that has none.
        max_managed_nodes: Most ports of NICs in a fabric that it manages.
    """

    managed: bool | None = None
    managed_twin: Identifier | None = None
    max_managed_nodes: Annotated[int, Field(ge=1, le=10**9)] | None = None

    @model_validator(mode="after")
    def _says_what_fits(self) -> Self:
        if self.managed_twin is not None and self.managed is not False:
            raise ValueError("`managed_twin` is of a switch that says `managed: false`")
        if self.max_managed_nodes is not None and self.managed is not True:
            raise ValueError("`max_managed_nodes` is of a switch that says `managed: true`")
        return self


class TwinUse(Strict):
    """Switches of a tier that are exchanged for their managed twin; in each subnet those installed first.

    Attributes:
        role: Tier of the switches.
        id: Id of the twin.
        count: Number of switches, over all subnets.
    """

    role: Managing
    id: str
    count: int


class SubnetManagerUse(Strict):
    """Rule ``subnet-manager`` in a fabric.

    Attributes:
        kept: Whether every subnet is managed. Null where the rule does not apply.
        detail: What manages subnets, in words.
        subnets: Networks of switches that share no link.
        nodes: Most ports of NICs and attachments in one subnet.
        managers: Switches of each subnet that run a subnet manager and manage so many ports.
        hosts: Ports of hosts that manage the fabric.
        in_service: Managers of each subnet that are in service; absent of a fabric that joins none.
        twins: Switches exchanged for their managed twin.
    """

    kept: bool | None
    detail: str
    subnets: int = 0
    nodes: int = 0
    managers: int = 0
    hosts: int = 0
    in_service: Annotated[int | None, Field(exclude_if=is_open)] = None
    twins: tuple[TwinUse, ...] = ()


def words_of(use: SubnetManagerUse, silent: Sequence[str]) -> str:
    """The detail of what a fabric with switches has. ``silent``: switches of which the catalog says nothing of it."""
    switches, is_several = use.managers - use.hosts, use.subnets > 1
    ports = some(use.nodes, "port") + (" of each subnet" if is_several else "")
    told = [some(number, noun) for number, noun in ((switches, "switch"), (use.hosts, "port")) if number]
    if told:
        words = [*told[:-1], told[-1] + (" of hosts" if use.hosts else "")]
        there = "" if use.in_service is None else f" of both, {use.in_service} of them in service"
        return f"{' and '.join(words)}{' each' if is_several else ''} for {ports}{there}"
    if silent:
        return f"the catalog does not say whether {' and '.join(dict.fromkeys(silent))} runs a subnet manager"
    of_all = "the design" if use.in_service is None else "both"
    return f"no switch of {of_all} manages {ports}, nor can be exchanged for one on sale that does"


def twins_of(said: SubnetManagerUse | None, role: str) -> tuple[TwinUse, ...]:
    """The twins that a tier has."""
    return () if said is None else tuple(twin for twin in said.twins if twin.role == role)


# Files that say nothing of it have no key for it.
SubnetManagerSaid = Annotated[SubnetManagerUse | None, Field(exclude_if=is_open)]
