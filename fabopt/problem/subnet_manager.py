"""Rule ``subnet-manager`` in a problem: how many a subnet needs, and which switches can be exchanged for their twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.offering import Offering
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.default_rules import SUBNET_MANAGER, is_asked_for, is_kept

INFINIBAND = "infiniband"
ONE, TWO = 1, 2


class Twin(NamedTuple):
    """A switch with a subnet manager that can take the place of one without."""

    item: Item
    product: Switch


@dataclass(frozen=True, eq=False)
class SubnetManagers:
    """The rule for one fabric. ``fewest``: managers that a subnet has if it can; ``twins`` on sale, by switch;
    ``is_asked_for``: by its name, so that it cannot be given up.
    """

    fewest: int
    twins: Mapping[str, Twin]
    is_asked_for: bool

    def manages_as(self, switch: Switch, other: Switch) -> bool:
        """Whether designs with ``switch`` in place of all ``other`` can be managed as cheaply."""
        if other.managed:
            return self._manages_as(switch, other) or switch.managed_twin == other.id
        twin = self.twins.get(other.id)
        if twin is None or self._manages_as(switch, twin.product):
            return True
        own = self.twins.get(switch.id)
        return own is not None and own.item is twin.item

    @staticmethod
    def _manages_as(switch: Switch, other: Switch) -> bool:
        most = switch.max_managed_nodes
        enough = most is None or (other.max_managed_nodes is not None and most >= other.max_managed_nodes)
        return bool(switch.managed) and enough


def subnet_managers(case: Case, fabric: Fabric, offering: Offering) -> SubnetManagers | None:
    """The rule, where it holds; a switch of which the catalog does not say that it runs a subnet manager runs none."""
    switches = {one.id: one for one in offering.offered.switches if one.protocol == INFINIBAND}
    asked = is_asked_for(case.rules, SUBNET_MANAGER)
    if not is_kept(case.rules, SUBNET_MANAGER) or fabric.protocol not in ("any", INFINIBAND):
        return None
    fewest = TWO if fabric.keeps_default else ONE
    return _RULES.of(offering, (fewest, asked), lambda: SubnetManagers(fewest, _twins(switches, offering), asked))


# One of each in an offering, so that fabrics under the same rule are known to be.
_RULES: Lookup[Offering, tuple[int, bool], SubnetManagers] = Lookup()


def _twins(switches: Mapping[str, Switch], offering: Offering) -> Mapping[str, Twin]:
    twins: dict[str, Twin] = {}
    for switch in switches.values():
        twin = switches.get(switch.managed_twin or "")
        item = None if twin is None else offering.item_table.item(twin.id)
        if twin is not None and item is not None:
            twins[switch.id] = Twin(item, twin)
    return MappingProxyType(twins)


def can_manage(product: Switch, nodes: int) -> bool:
    """Whether a switch runs a subnet manager and manages so many ports, as far as its catalog says."""
    return bool(product.managed) and (product.max_managed_nodes is None or nodes <= product.max_managed_nodes)
