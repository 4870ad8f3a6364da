"""The stock of a case: units of products that are used first and free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.parts.price_books import products
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, ByLength, CableLength, Catalog
from fabopt.schema.product import Product, Purchasable

Have = Mapping[str, int | dict[float, int]]


def check_stock(have: Have, catalog: Catalog, file: str) -> list[Fault]:
    """Faults of a case's stock: unknown ids, and lengths that are not sold."""
    known = {product.id: product for product in products(catalog)}
    return [fault_of_id for id_, units in have.items() for fault_of_id in _check(id_, units, known, file)]


def _check(id_: str, units: int | dict[float, int], known: Mapping[str, Product], file: str) -> Iterator[Fault]:
    path, product = f"have.{id_}", known.get(id_)
    if product is None:
        yield fault(file, path, "the catalog has no such product", id_, hint=did_you_mean(id_, known))
    elif not isinstance(product, ByLength):
        if isinstance(units, dict):
            yield fault(file, path, "this product is not sold by length", allowed="how many there are")
    else:
        sold = [length.m for length in product.lengths]
        allowed = "how many there are of each length in metres: " + ", ".join(f"{m:g}" for m in sold)
        if not isinstance(units, dict):
            yield fault(file, path, "this product is sold by length", allowed=allowed)
        else:
            yield from (
                fault(file, path, f"the length {m:g} m is not sold", allowed=allowed) for m in units if m not in sold
            )


def with_stock(catalog: Catalog, case: Case) -> Catalog:
    """The catalog with the stock of a case. A product without a price can be had as long as the stock lasts."""
    return _with_units(catalog, case.owned)


def without_base(catalog: Catalog, case: Case) -> Catalog:
    """The catalog of a case without what is in service as its stock: what ``have`` says alone is on hand."""
    left: dict[str, int | dict[float, int]] = {}
    for id_, units in case.base.owned.items() if case.base is not None else ():
        said = case.have.get(id_, {} if isinstance(units, dict) else 0)
        left[id_] = dict.fromkeys(units, 0) | said if isinstance(units, dict) and isinstance(said, dict) else said
    return _with_units(catalog, left)


def _with_units(catalog: Catalog, owned: Have) -> Catalog:
    if not owned:
        return catalog
    return catalog.model_copy(
        update={
            kind: tuple(
                _stocked(product, owned[product.id]) if product.id in owned else product
                for product in getattr(catalog, kind)
            )
            for kind in KINDS
        }
    )


def _stocked(product: Product, units: int | dict[float, int]) -> Product:
    if isinstance(units, dict):
        assert isinstance(product, ByLength)
        lengths = (
            length.model_copy(update=_terms(length, units[length.m])) if length.m in units else length
            for length in product.lengths
        )
        return product.model_copy(update={"lengths": tuple[CableLength, ...](lengths)})
    assert isinstance(product, Purchasable)
    return product.model_copy(update=_terms(product, units))


def _terms(sold: Purchasable, units: int) -> dict[str, float]:
    return {"stock": units} if sold.price_usd is not None else {"stock": units, "supply": 0, "price_usd": 0.0}
