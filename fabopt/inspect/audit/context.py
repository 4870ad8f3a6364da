"""The context of a design made by hand: roles, products, networks, and demands of its case."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from fabopt.inspect.audit.ports import PortPlace, cages_of, per_cage, place_of, places_on
from fabopt.inspect.audit.tables import SWITCH_ROLES, HandLink, HandMade, Role, role_of_words
from fabopt.io.quote.names import QuotedNames
from fabopt.io.recognition import bare
from fabopt.network.components import components
from fabopt.problem.demand import resolved
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Catalog, Nic, Switch
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.product import Product
from fabopt.schema.server import Server
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded

# Which role is next to which, from the servers up.
_NEXT: tuple[tuple[Role, Role], ...] = (("server", "leaf"), ("leaf", "spine"), ("spine", "core"))
_SERVER_NAMES = re.compile(r"^(?!.*stor)(?=.*(?:server|dgx|hgx|node|host|gpu|tray))", re.IGNORECASE)
# Names with fewer letters and digits are no part of a product's name.
_SHORTEST_NAME = 5
Model = TypeVar("Model", bound=Product)


@dataclass(frozen=True)
class HandNetwork:
    """Switches that reach each other over switches. ``fabric``: of the case, None if unknown."""

    number: int
    tiers: Mapping[Role, Sequence[str]]
    fabric: Fabric | None

    @property
    def name(self) -> str:
        """The name of the network in findings."""
        return "the fabric" if self.fabric is None else self.fabric.name


@dataclass(frozen=True, eq=False)
class HandContext:
    """A design made by hand with the facts that rules need.

    ``best``: the cheapest design of the case, if there is one; also the source of the case's demands.
    """

    hand: HandMade
    catalog: Catalog
    case: Case | None = None
    best: Design | None = None
    _products: dict[str, Product | None] = field(default_factory=dict)

    # -- the case ---------------------------------------------------------------------------------------------------

    @cached_property
    def embedded(self) -> Embedded | None:
        """The best design with its case."""
        return Embedded(self.best) if self.best is not None and self.best.fabrics else None

    @cached_property
    def fabrics(self) -> Mapping[str, Fabric]:
        """The case's fabrics by name, resolved."""
        if self.embedded is not None:
            return self.embedded.wanted
        if self.case is None or self.server is None:
            return {}
        return {fabric.name: fabric for fabric in resolved(self.case, self.server).fabrics}

    def design_of(self, fabric: Fabric | None) -> FabricDesign | None:
        """The best design of a fabric."""
        if self.best is None or fabric is None:
            return None
        return next((one for one in self.best.fabrics if one.name == fabric.name), None)

    @cached_property
    def server(self) -> Server | None:
        """The server: the case's, else the one that the file names."""
        if self.case is not None:
            return self.product(self.case.server_id, Server)
        named = [device.product for device in self.hand.devices.values() if device.product]
        if self.hand.counts is not None:
            named = [*self.hand.counts.products.values(), *(part.name for part in self.hand.counts.parts)]
        return next((server for name in dict.fromkeys(named) if (server := self.product(name, Server))), None)

    # -- products ---------------------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> QuotedNames:
        """Products by all their names."""
        return QuotedNames(self.catalog)

    def any_product(self, name: str) -> Product | None:
        """The product of a name; None if none has it, or several different ones."""
        if name not in self._products:
            ids = {match.id for match in self.names.called(name) or self.names.described(name)} if name else set()
            ids = ids or self._family(bare(name))
            self._products[name] = self.names.products[min(ids)] if ids and self._are_alike(ids) else None
        return self._products[name]

    def _family(self, name: str) -> set[str]:
        """Ids of products whose part number or id contains a name, as ``QM9700`` is in editions of that switch."""
        if len(name) < _SHORTEST_NAME or not any(letter.isdigit() for letter in name) or name not in self._bare_names:
            return set()
        return {
            id_ for id_, one in self.names.products.items() if name in bare(one.part_number or "") or name in bare(id_)
        }

    @cached_property
    def _bare_names(self) -> str:
        """Part numbers and ids of all products as one text, for a fast test of unknown names."""
        products = self.names.products.items()
        return "\n".join(bare(name) for id_, one in products for name in (one.part_number or "", id_))

    def _are_alike(self, ids: set[str]) -> bool:
        """Whether products are a single one, or switches with equal cages and protocols."""
        products = [self.names.products[id_] for id_ in ids]
        if len(products) == 1:
            return True
        return (
            len(
                {
                    (product.cages, product.protocol) if isinstance(product, Switch) else id(product)
                    for product in products
                }
            )
            == 1
        )

    def product(self, name: str, model: type[Model]) -> Model | None:
        """The product of a name, if it is of class ``model``; else None."""
        product = self.any_product(name)
        return product if isinstance(product, model) else None

    # -- devices ----------------------------------------------------------------------------------------------------

    @cached_property
    def ports(self) -> dict[str, dict[str, list[HandLink]]]:
        """Links of every device by its ports."""
        ports: dict[str, dict[str, list[HandLink]]] = defaultdict(dict)
        for link in self.hand.links:
            ports[link.a].setdefault(link.a_port, []).append(link)
            ports[link.b].setdefault(link.b_port, []).append(link)
        return ports

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """The role of every device: from the file, its name, or its distance from the servers."""
        roles: dict[str, Role] = {}
        for name, device in self.hand.devices.items():
            roles[name] = device.role or self._role_of_name(name, device.product, device.is_host)
        return self._by_distance(roles)

    def _role_of_name(self, name: str, product: str, is_host: bool | None) -> Role:
        if product and self.product(product, Server):
            return "server"
        if is_host:
            return "server" if self._is_server(name) else "attachment"
        role = role_of_words(name)
        is_switch = is_host is False or bool(self.product(product, Switch))
        if role in SWITCH_ROLES or is_switch:
            return role if role in SWITCH_ROLES else ""
        return "server" if _SERVER_NAMES.search(name) else ""

    def _is_server(self, host: str) -> bool:
        """Whether a host is a server: by its name where names of any tell, else by its number of ports."""
        named, usual = self._hosts
        return bool(_SERVER_NAMES.search(host)) if named else len(self.ports[host]) >= usual

    @cached_property
    def _hosts(self) -> tuple[bool, int]:
        """Whether some host is called a server, and the ports that most hosts have."""
        hosts = [name for name, device in self.hand.devices.items() if device.is_host]
        numbers = Counter(len(self.ports[name]) for name in hosts)
        usual = max(numbers, key=lambda number: (numbers[number], number), default=0)
        return any(map(_SERVER_NAMES.search, hosts)), usual

    def _by_distance(self, roles: dict[str, Role]) -> dict[str, Role]:
        """Roles with unknown ones filled in by distance: leaves are next to servers, spines to leaves, and so on.

        If names identify switches, other devices are none.
        """
        if any(role in SWITCH_ROLES for role in roles.values()):
            return {name: role or "attachment" for name, role in roles.items()}
        for near, role in _NEXT:
            for link in self.hand.links:
                for own, other in ((link.a, link.b), (link.b, link.a)):
                    if not roles[own] and roles[other] == near:
                        roles[own] = role
        return {name: role or "attachment" for name, role in roles.items()}

    @cached_property
    def servers(self) -> int:
        """Number of servers in the file."""
        if self.hand.counts is not None:
            return self.hand.counts.numbers.get("servers", 0)
        return sum(role == "server" for role in self.roles.values())

    def switches(self, *roles: Role) -> list[str]:
        """Names of switches, of some roles or all."""
        return [name for name, role in self.roles.items() if role in (roles or SWITCH_ROLES)]

    def peer_links(self, device: str) -> Iterable[tuple[str, str, HandLink]]:
        """Own port, far device and link of every link of a device."""
        for port, links in self.ports.get(device, {}).items():
            for link in links:
                yield port, link.b if link.a == device and link.a_port == port else link.a, link

    @cached_property
    def networks(self) -> list[HandNetwork]:
        """The networks of switches, in the order of their first devices."""
        known = frozenset(self.switches())
        links = ((link.a, link.b) for link in self.hand.links if {link.a, link.b} <= known)
        root = components(self.switches(), links)
        members: dict[str, dict[Role, list[str]]] = {}
        for name in root:
            members.setdefault(root[name], {}).setdefault(self.roles[name], []).append(name)
        return [HandNetwork(number, tiers, self._fabric_of(tiers)) for number, tiers in enumerate(members.values())]

    def _fabric_of(self, tiers: Mapping[Role, Sequence[str]]) -> Fabric | None:
        """The case's fabric whose name begins the switches' names, or the only fabric."""
        first = next(iter(next(iter(tiers.values()))))
        named = [fabric for name, fabric in self.fabrics.items() if first.startswith(f"{name}-")]
        if not named and len(self.fabrics) == 1:
            named = list(self.fabrics.values())
        return max(named, key=lambda fabric: len(fabric.name), default=None)

    @cached_property
    def network_of(self) -> Mapping[str, HandNetwork]:
        """The network of every switch."""
        return {name: network for network in self.networks for names in network.tiers.values() for name in names}

    # -- products of devices ----------------------------------------------------------------------------------------

    @cached_property
    def switch_of(self) -> Mapping[str, Switch]:
        """The products of switches: as the file names them, else of the same tier of the best design."""
        own = {name: self.product(self.hand.devices[name].product, Switch) for name in self.switches()}
        known = {name: product for name, product in own.items() if product is not None}
        return known | {name: self._assumed[key] for name in own if name not in known
                        if (key := self._tier_key(name)) in self._assumed}  # fmt: skip

    def _tier_key(self, name: str) -> tuple[str, Role]:
        fabric = self.network_of[name].fabric
        return ("" if fabric is None else fabric.name, self.roles[name])

    @cached_property
    def _assumed(self) -> Mapping[tuple[str, Role], Switch]:
        """Products of the best design by fabric and tier, where the names of ports in the file can be theirs."""
        assumed: dict[tuple[str, Role], Switch] = {}
        unnamed = grouped(
            (self._tier_key(name), name) for name in self.switches() if not self.hand.devices[name].product
        )
        for key, names in unnamed.items():
            design = self.design_of(self.fabrics.get(key[0]))
            tiers = () if design is None else design.tiers
            types = (self.product(own.id, Switch) for tier in tiers if tier.role == key[1] for own in tier.types)
            fitting = [product for product in types if product is not None and self._may_be(product, names)]
            # of two types nothing says which of them a switch is
            if len(fitting) == 1:
                assumed[key] = fitting[0]
        return assumed

    def _may_be(self, switch: Switch, names: Sequence[str]) -> bool:
        """Whether most of some devices have no port that a product has not."""
        cages, fitting = len(cages_of(switch)), 0
        ports = per_cage(switch, [self.ports[name] for name in names])
        for name in names:
            places = places_on(switch, self.ports[name], ports, self._counts_lanes)
            is_read = len(places) == len(self.ports[name]) or not self._counts_lanes
            fitting += is_read and all(place.cage <= cages for place in places.values())
        return 2 * fitting > len(names)

    @property
    def assumptions(self) -> list[str]:
        """Sentences on products that the file does not name."""
        return [
            f"the file does not name the {role} switches{f' of {fabric}' if fabric else ''}: taken for {product.id}, "
            "as in the best design"
            for (fabric, role), product in self._assumed.items()
        ]

    @cached_property
    def _per_cage(self) -> Mapping[str, int]:
        """By product: ports of a cage where plain numbers count over all cages, else 0."""
        devices = grouped((switch.id, name) for name, switch in self.switch_of.items())
        return {
            product: per_cage(self.switch_of[names[0]], [self.ports[name] for name in names])
            for product, names in devices.items()
        }

    @cached_property
    def _counts_lanes(self) -> bool:
        """Whether switches number their ports by lanes of the ASIC, as SONiC does."""
        return any("Ethernet0" in ports for ports in self.ports.values())

    def places(self, device: str) -> dict[str, PortPlace]:
        """Places of a switch's ports, for names that determine them."""
        switch, names = self.switch_of.get(device), self.ports.get(device, {})
        if switch is not None:
            return places_on(switch, names, self._per_cage[switch.id], self._counts_lanes)
        return {} if self._counts_lanes else {name: place for name in names if (place := place_of(name))}

    def nic_of(self, fabric: Fabric | None) -> Nic | None:
        """The NIC of servers in a fabric: the best design's, else a built-in one."""
        design = self.design_of(fabric)
        if design is not None or self.server is None:
            return None if design is None else self.product(design.nic.id, Nic)
        role = "compute" if fabric is None else fabric.role
        built_in = {nic.id for nic in self.server.nics if nic.role == role}
        ports = next((len(self.ports.get(name, ())) for name, own in self.roles.items() if own == "server"), 0)
        if fabric is None and ports != sum(nic.count for nic in self.server.nics if nic.role == role):
            return None
        return self.product(built_in.pop(), Nic) if len(built_in) == 1 else None
