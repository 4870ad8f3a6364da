"""The few numbers that a network is made of, family by family: what a design file says of its arithmetic.

Three facts of every structure are in no file: ``kind`` tells families apart, ``is_direct`` says whether switches (or
servers) are joined to each other, ``has_switches`` whether there are any.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from fabopt.schema.base import Strict, is_as, is_open

# ``mixed`` is read in design files of 0.2 alone: see ``fabopt.io.references``
SpineTypes = Annotated[
    Literal["one-type", "mixed"],
    Field(exclude_if=is_as("one-type")),
    WithJsonSchema({"enum": ["one-type"], "type": "string"}),
]


class MixedSpines(Strict):
    """The spines of a Clos where they are of two types, as files of 0.2 may have them: each type in one plane.

    A leaf has its links to them in proportion to their weights.

    Attributes:
        spines: Spines of each type.
        weights: Weights of the types, without a common divisor.
        links_per_pair: Links of a leaf to each spine, by type.
    """

    spines: tuple[int, int]
    weights: tuple[int, int]
    links_per_pair: tuple[int, int]


class LastGroup(Strict):
    """The last server group of a Clos where it is unlike the others; counts are those of one plane.

    Attributes:
        servers: Servers of the group.
        ports_per_server_per_leaf: Ports of a server on each leaf of the group.
        leaves: Leaves of the group.
        down_ports: Most ports of any of its leaves that count in its ratio.
        reserved_ports: Ports kept free on each leaf, beside those of servers and attachments.
        up_ports: Uplinks of a leaf.
        links_per_pair: Links of a leaf to each spine.
        number: Its number, from 1, where it was the last one of what is in service, and others come after it.
    """

    servers: int
    ports_per_server_per_leaf: int
    leaves: int
    down_ports: int
    reserved_ports: int
    up_ports: int
    links_per_pair: int
    number: Annotated[int | None, Field(exclude_if=is_open)] = None


class Structure(Strict):
    """The sizes of a Clos, from which all its links follow.

    Counts are of one plane; of a rail-only fabric, what is of a plane or pod is of one rail, but for
    `ports_per_server`.

    Attributes:
        tiers: Tiers of switches.
        servers_per_group: Servers whose ports share one set of leaves; the last group may have fewer.
        groups: Groups of servers.
        ports_per_server: Ports of one server into one plane.
        ports_per_server_per_leaf: Ports of one server on each leaf of its group.
        links_per_pair: Links of a leaf to each spine of its pod, the fewest with uneven stripes; 0 for one tier.
        pods: Pods; 1 for one or two tiers.
        leaves_per_pod: Leaves of a full pod.
        spines_per_pod: Spines of a full pod.
        pod_of: Whether a pod is of whole server groups, or of the leaves of one rail.
        groups_per_pod: Groups of servers of a pod.
        links_per_core_pair: Links between a spine and each core of its group; 0 below three tiers.
        spines_per_core_group: Spines of every pod that one core group serves.
        cores_per_group: Cores of a core group.
        last_group: The last group, where it is unlike the others.
        mixed_spines: Spines of two types, in designs of 0.2.
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
    last_group: Annotated[LastGroup | None, Field(exclude_if=is_open)] = None
    mixed_spines: Annotated[MixedSpines | None, Field(exclude_if=is_open)] = None

    @property
    def number_of_own(self) -> int:
        """Number, from 1, of the group that may be unlike the others."""
        last = self.last_group
        return self.groups if last is None or last.number is None else last.number

    @property
    def own_end(self) -> int:
        """Servers up to the end of a differing group that others come after; 0 where none do."""
        last = self.last_group
        return 0 if last is None or last.number is None else (last.number - 1) * self.servers_per_group + last.servers


class DirectStructure(Strict):
    """What all networks of equal switches have, how servers are on them.

    Attributes:
        servers_per_group: Servers on one switch.
        groups: Switches with servers.
        ports_per_server: Ports of one server into one plane.
        ports_per_server_per_leaf: Ports of one server on its switch.
    """

    kind: ClassVar[str] = "direct"
    is_direct: ClassVar[bool] = True
    has_switches: ClassVar[bool] = True

    servers_per_group: int
    groups: int
    ports_per_server: int
    ports_per_server_per_leaf: int


class LatticeStructure(DirectStructure):
    """Switches of one plane on a lattice; ``has_rings``: its lines are rings, not fully joined.

    Attributes:
        family: Family of the network.
        sides: Switches along each dimension.
        links_per_pair: Parallel links of each joined pair, by dimension.
    """

    has_rings: ClassVar[bool] = True

    family: str
    sides: tuple[int, ...]
    links_per_pair: tuple[int, ...]


class HyperxStructure(LatticeStructure):
    """Switches of one plane on a lattice; any two that differ in one coordinate are joined."""

    kind: ClassVar[str] = "hyperx"
    has_rings: ClassVar[bool] = False

    family: Literal["hyperx"]


class TorusStructure(LatticeStructure):
    """Switches of one plane on a lattice whose lines are rings."""

    kind: ClassVar[str] = "torus"

    family: Literal["torus"]


class SwitchlessStructure(TorusStructure):
    """Servers on a lattice, joined port to port; each is a group of its own, with all its ports on itself.

    Attributes:
        nodes: What stands at the points of the lattice.
    """

    kind: ClassVar[str] = "server-torus"
    has_switches: ClassVar[bool] = False

    nodes: Literal["servers"]


class DragonflyStructure(DirectStructure):
    """Groups of switches of one plane, each fully joined, and every two of them by equally many links, or one more.

    Attributes:
        family: Family of the network.
        switches_per_group: Switches of a group.
        switch_groups: Groups of switches.
        links_per_local_pair: Links between two switches of a group.
        global_links_per_group: Links of a group to all others.
    """

    kind: ClassVar[str] = "dragonfly"

    family: Literal["dragonfly"]
    switches_per_group: int
    switch_groups: int
    links_per_local_pair: int
    global_links_per_group: int


class DragonflyPlusStructure(DirectStructure):
    """Leaf-spine groups of one plane, every two of them joined by equally many links between spines, or one more.

    Attributes:
        family: Family of the network.
        leaves_per_group: Leaves of a group.
        spines_per_group: Spines of a group.
        switch_groups: Groups of switches.
        links_per_pair: Links of a leaf to each spine of its group.
        global_links_per_group: Links of all spines of a group to those of others.
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
