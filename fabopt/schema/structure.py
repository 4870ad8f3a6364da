"""The few numbers that a network is made of, family by family: what a design file says of its arithmetic.

Three facts of every structure are in no file: ``kind`` tells families apart, ``is_direct`` says whether switches (or
servers) are joined to each other, ``has_switches`` whether there are any.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from fabopt.schema.base import Strict


def is_like_others(value: object) -> bool:
    """Whether the last group (or all spines) is like the others, and so not written."""
    return value is None


def is_one_type(value: object) -> bool:
    """Whether spines are all alike, which is not written."""
    return value == "one-type"


SpineTypes = Annotated[Literal["one-type", "mixed"], Field(exclude_if=is_one_type)]
# The links of a leaf to spines of two types are as two whole numbers from 1 to this.
MOST_WEIGHT: Final = 4


class MixedSpines(Strict):
    """The spines of a Clos where they are of two types: of each type, the first one first, in one plane.

    spines          S_a and S_b, the last of which are ``other`` of the tier
    weights         a and b: a leaf has its links to them in proportion; without a common divisor
    links_per_pair  a m and b m: links of a leaf to each spine
    """

    spines: tuple[int, int]
    weights: tuple[int, int]
    links_per_pair: tuple[int, int]


class LastGroup(Strict):
    """The last server group of a Clos where it is unlike the others. Counts are those of one plane.

    servers                    N - (G - 1) g
    ports_per_server_per_leaf  k'
    leaves                     r' = R / k'
    down_ports                 the most of any of its leaves that count in its ratio, as ``tiers`` has them of others;
    reserved_ports             kept free beside those of servers and attachments
    up_ports                   u': of a leaf
    links_per_pair             m': links of a leaf to each spine
    """

    servers: int
    ports_per_server_per_leaf: int
    leaves: int
    down_ports: int
    reserved_ports: int
    up_ports: int
    links_per_pair: int


class Structure(Strict):
    """The arithmetic of a Clos. Counts marked "per plane" are of one plane; "per pod" of a full pod.

    tiers                      switch tiers: 1, 2 or 3
    servers_per_group          g: servers whose ports share one set of leaves (the last group may have fewer)
    groups                     ceil(N / g)
    ports_per_server           R: ports of one server into one plane
    ports_per_server_per_leaf  k
    links_per_pair             m: links of a leaf to each spine of its pod (the fewest, striping `any`); 0 for one tier
    pods                       per plane; 1 for one or two tiers
    leaves_per_pod             of a full pod; spines_per_pod: S
    pod_of                     "groups" (whole server groups) or "rail" (the leaves of one rail)
    groups_per_pod             T
    links_per_core_pair        m2: links between a spine and each core of its group; 0 below three tiers
    spines_per_core_group      q: spine indices of every pod that one core group serves
    cores_per_group            C

    last_group                 absent where it is like the others; else what is its own, of one plane
    mixed_spines               absent where spines are of one type

    Of a rail-only fabric, what is "per plane" or of a pod is of one rail, apart from ``ports_per_server``.
    """

    kind: ClassVar[str] = "clos"
    is_direct: ClassVar[bool] = False
    has_switches: ClassVar[bool] = True

    tiers: Literal[1, 2, 3]
    servers_per_group: int
    groups: int
    ports_per_server: int
    ports_per_server_per_leaf: int
    links_per_pair: int
    pods: int
    leaves_per_pod: int
    spines_per_pod: int
    pod_of: Literal["groups", "rail"]
    groups_per_pod: int
    links_per_core_pair: int
    spines_per_core_group: int
    cores_per_group: int
    last_group: Annotated[LastGroup | None, Field(exclude_if=is_like_others)] = None
    mixed_spines: Annotated[MixedSpines | None, Field(exclude_if=is_like_others)] = None


class DirectStructure(Strict):
    """What all networks of equal switches have: how servers are on them. Words are those of ``Structure``."""

    kind: ClassVar[str] = "direct"
    is_direct: ClassVar[bool] = True
    has_switches: ClassVar[bool] = True

    servers_per_group: int
    groups: int
    ports_per_server: int
    ports_per_server_per_leaf: int


class HyperxStructure(DirectStructure):
    """Switches of one plane on a lattice: any two that differ in coordinate i have ``links_per_pair[i]`` links."""

    kind: ClassVar[str] = "hyperx"

    family: Literal["hyperx"]
    sides: tuple[int, ...]
    links_per_pair: tuple[int, ...]


class TorusStructure(DirectStructure):
    """Switches of one plane on a lattice: lines of dimension i are rings of ``links_per_pair[i]`` parallel links."""

    kind: ClassVar[str] = "torus"

    family: Literal["torus"]
    sides: tuple[int, ...]
    links_per_pair: tuple[int, ...]


class SwitchlessStructure(TorusStructure):
    """Servers on a lattice, joined port to port; each is a group of its own, with all its ports on itself."""

    kind: ClassVar[str] = "server-torus"
    has_switches: ClassVar[bool] = False

    nodes: Literal["servers"]


class DragonflyStructure(DirectStructure):
    """Groups of switches of one plane, each fully joined, and every two of them by equally many links, or one more."""

    kind: ClassVar[str] = "dragonfly"

    family: Literal["dragonfly"]
    switches_per_group: int
    switch_groups: int
    links_per_local_pair: int
    global_links_per_group: int


class DragonflyPlusStructure(DirectStructure):
    """Leaf-spine groups of one plane, every two of them joined by equally many links between spines, or one more.

    links_per_pair           of a leaf to each spine of its group
    global_links_per_group   of all spines of a group to those of others
    """

    kind: ClassVar[str] = "dragonfly+"

    family: Literal["dragonfly+"]
    leaves_per_group: int
    spines_per_group: int
    switch_groups: int
    links_per_pair: int
    global_links_per_group: int


AnyStructure = (
    Structure | HyperxStructure | TorusStructure | SwitchlessStructure | DragonflyStructure | DragonflyPlusStructure
)
