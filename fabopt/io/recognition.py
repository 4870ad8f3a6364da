"""The product or vendor of a catalog that is meant: by id, part number, description, or the name without the vendor.

Capitals, spaces and punctuation do not count. What several products could be called is nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from fabopt.errors import did_you_mean
from fabopt.io.spellings import PRODUCT_KINDS, Spelled
from fabopt.parts.chassis import fills_of
from fabopt.parts.price_books import KIND_OF_WORD
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import KINDS, ByLength, Catalog
from fabopt.schema.procurement import Procurement
from fabopt.schema.product import Product
from fabopt.units import first_of

_TIERS = ("leaf", "spine", "core")
# The first word of an id that is no maker's name.
_NO_MAKER = "generic"
# What is no letter or digit of a name.
_BETWEEN = re.compile(r"[\W_]+")
# Shorter words are in the names of too many products.
_SHORTEST_PART = 3
_CHANGE = re.compile(r"\s*(.*?)\s*=\s*([+-]?)\s*([0-9.]+)\s*(%?)\s*")


class ProductNames:
    """Names of a catalog's products, by their bare spelling."""

    def __init__(self, catalog: Catalog) -> None:
        self._ids: dict[str, dict[str, set[str]]] = {kind: {} for kind in KINDS}
        for kind in KINDS:
            for product in getattr(catalog, kind):
                for name in _names(product):
                    self._ids[kind].setdefault(bare(name), set()).add(product.id)

    def called(self, name: str, kinds: Iterable[str] = KINDS) -> list[str]:
        """Ids of all products of these kinds that go by a name."""
        return sorted(set().union(*(self._ids[kind].get(bare(name), set()) for kind in kinds)))

    def like(self, name: str, kinds: Iterable[str] = KINDS) -> list[str]:
        """Ids of all products of these kinds that have a name with this one in it."""
        part = bare(name)
        if len(part) < _SHORTEST_PART:
            return []
        return sorted({id_ for kind in kinds for known, ids in self._ids[kind].items() if part in known for id_ in ids})

    def only(self, name: str, kinds: Iterable[str] = KINDS) -> str | None:
        """The id of the only product that goes by a name; None if there is none, or several."""
        ids = self.called(name, kinds)
        return ids[0] if len(ids) == 1 else None


def bare(text: str) -> str:
    """The letters and digits of a product's name, all small, equal for two spellings of it."""
    return _BETWEEN.sub("", text.lower())


def _names(product: Product) -> Iterator[str]:
    yield product.id
    first, _, rest = product.id.partition("-")
    if rest and first in (_NO_MAKER, bare(product.vendor or "")):
        yield rest
    yield from (name for name in (product.part_number, product.description) if name and bare(name))
    if product.vendor and product.part_number:
        yield f"{product.vendor} {product.part_number}"
    if isinstance(product, ByLength):
        yield from (length.part_number for length in product.lengths if length.part_number)


def with_products(case: Case, catalog: Catalog, spelled: Spelled) -> Case:
    """The case with ids and vendors as the catalog has them, where only one can be meant."""
    reader = _Recognition(catalog, spelled)
    server, kinds = case.server, ("servers",)
    meant = reader.product(server, "server", kinds) if isinstance(server, str) else None
    update: dict[str, Any] = {"server": meant or reader.products(server, "server", kinds)}
    update["fabrics"] = tuple(reader.fabric(fabric, f"fabrics[{index}]") for index, fabric in enumerate(case.fabrics))
    update["procurement"] = reader.procurement(case.procurement)
    changes = {key: value for key, value in update.items() if value != getattr(case, key)}
    return case.model_copy(update=changes) if changes else case


class _Recognition:
    def __init__(self, catalog: Catalog, spelled: Spelled) -> None:
        self._catalog, self._spelled = catalog, spelled
        self._known = {product.id for kind in KINDS for product in getattr(catalog, kind)}
        self._names: ProductNames | None = None

    def product(self, id_: str, path: str, kinds: Iterable[str]) -> str:
        if id_ in self._known:
            return id_
        self._names = self._names or ProductNames(self._catalog)
        meant = self._names.only(id_, kinds)
        if meant is None:
            return id_
        self._spelled.take(path, self._spelled.written.get(id_, id_), meant)
        return meant

    def products(self, ids: Any, path: str, kinds: Iterable[str]) -> Any:
        """A list of ids, of a chassis those of all its fills; ``any`` and None as they are."""
        if not isinstance(ids, tuple):
            return ids
        meant = (self.product(id_, f"{path}[{index}]", kinds) for index, id_ in enumerate(ids))
        return tuple(fill for id_ in meant for fill in fills_of(id_, self._catalog))

    def fabric(self, fabric: Fabric, path: str) -> Fabric:
        nics = self.products(fabric.nics, f"{path}.nics", ("nics",))
        chosen = {tier: getattr(fabric.switches, tier) for tier in _TIERS}
        meant = {tier: self.products(ids, f"{path}.switches.{tier}", ("switches",)) for tier, ids in chosen.items()}
        if nics == fabric.nics and meant == chosen:
            return fabric
        return fabric.model_copy(update={"nics": nics, "switches": fabric.switches.model_copy(update=meant)})

    def procurement(self, rules: Procurement) -> Procurement:
        update: dict[str, Any] = {
            key: self.products(getattr(rules, key), f"procurement.{key}", KINDS)
            for key in ("approved_parts", "forbidden_parts")
        }
        for key in ("approved_vendors", "forbidden_vendors"):
            vendors = getattr(rules, key)
            if isinstance(vendors, dict):
                update[key] = {place: tuple(map(self._vendor, names)) for place, names in vendors.items()}
            else:
                update[key] = vendors and tuple(map(self._vendor, vendors))
        update["quarterly_supply"] = {self._vendor(vendor): units for vendor, units in rules.quarterly_supply.items()}
        changed = any(value != getattr(rules, key) for key, value in update.items())
        return rules.model_copy(update=update) if changed else rules

    def _vendor(self, vendor: str) -> str:
        vendors = {product.vendor for kind in KINDS for product in getattr(self._catalog, kind) if product.vendor}
        alike = [known for known in vendors if bare(known) == bare(vendor)]
        return alike[0] if vendor not in vendors and len(alike) == 1 else vendor


def meant_id(name: str, catalog: Catalog) -> str:
    """The id of the product that a name stands for; the name itself where that is not clear."""
    known = (product.id for kind in KINDS for product in getattr(catalog, kind))
    return name if name in known else ProductNames(catalog).only(name) or name


def meant_price_change(text: str, catalog: Catalog) -> str:
    """``Switches = +20 %`` as ``switch=+20%``, ``QM9700=-5%`` by its id; other text as it is."""
    match = _CHANGE.fullmatch(text)
    if match is None or not match.group(4):
        return text
    target = match.group(1)
    word = target.lower()
    kind = word if word in KIND_OF_WORD else PRODUCT_KINDS.get(word)
    return f"{kind or meant_id(target, catalog)}={match.group(2)}{match.group(3)}%"


def hint_for(name: str, ids: list[str], names: ProductNames, kinds: Iterable[str], most: int) -> str:
    """A hint with the products that a name could stand for, or the nearest id; nothing where neither is known."""
    kinds = tuple(kinds)
    several = names.called(name, kinds) or names.like(name, kinds)
    if len(several) == 1:
        return f"did you mean `{several[0]}`?"
    if several:
        return f"{len(several)} products go by that name; write one: {first_of(several, most)}"
    return did_you_mean(name, ids)
