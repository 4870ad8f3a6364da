"""Rule ``subnet-manager`` in a problem: the managers that a subnet needs, and the managed twins of switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.offering import Offering
from fabopt.rules.defaults import SUBNET_MANAGER, is_asked_for, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Switch

INFINIBAND = "infiniband"
ONE, TWO = 1, 2


class Twin(NamedTuple):
    """A switch with a subnet manager that can take the place of one without."""

    item: Item
    product: Switch


@dataclass(frozen=True, eq=False)
class SubnetManagers:
    """The rule for one fabric. ``fewest``: managers of a subnet, where possible; ``twins``: on sale, by id of switch;
    ``is_asked_for``: whether the case names the rule, so that it never yields.
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
    """The rule, where it holds, else None; switches run a subnet manager only if the catalog says so."""
    switches = {switch.id: switch for switch in offering.offered.switches if switch.protocol == INFINIBAND}
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
    """Whether a switch runs a subnet manager for ``nodes`` ports; without a limit in the catalog, any number."""
    return bool(product.managed) and (product.max_managed_nodes is None or nodes <= product.max_managed_nodes)
