"""What the prices of the reference catalog rest on: ``python -m tests.basis_table``, or ``make basis``.

Prints the tables of docs/catalog.md: the share of each kind of price, and the products that are not confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from fabopt.io.catalog import named_catalogs
from fabopt.parts.price_basis import basis_of
from fabopt.schema.catalog import KINDS, ByLength, Catalog, Switch
from fabopt.schema.product import Product
from fabopt.schema.server import Server

BASES = ("list", "street", "quote", "compatible", "paper", "estimate", "derived", "unknown")
NO_PRICE = "no price"

FIGURES = (
    ("ports", "source"),
    ("form factors of the cages", "cages"),
    ("number of power supplies", "power_supplies"),
    ("typical power", "power_w"),
    ("rack units", "rack_units"),
)
"""What is counted of switches, and of which field the provenance says where it comes from."""


def bases(product: Product) -> list[str]:
    """How each price of a product is known, one a length where it has lengths; ``no price`` where it has none."""
    body = product.model_dump(mode="json", include={"provenance", "source", "lengths", "price_usd"})
    if isinstance(product, ByLength):
        priced = [basis_of(body, length.m) for length in product.lengths if length.price_usd is not None]
    else:
        priced = [basis_of(body, None)] * (getattr(product, "price_usd", None) is not None)
    return priced or [NO_PRICE]


def unconfirmed(catalog: Catalog) -> list[str]:
    """Products whose ports no source of high confidence states, by id."""
    return sorted(
        product.id
        for kind in KINDS
        for product in getattr(catalog, kind)
        if product.confidence == "low" and kind in ("switches", "nics", "transceivers", "cables")
    )


def lines(catalog: Catalog) -> Iterator[str]:
    """The tables as lines of Markdown."""
    yield "| kind | " + " | ".join((*BASES, NO_PRICE)) + " |"
    yield "| --- |" + " ---: |" * (len(BASES) + 1)
    for kind in KINDS:
        products = getattr(catalog, kind)
        counted = Counter(basis for product in products for basis in bases(product))
        of_all = {word: f"{round(100 * number / counted.total())} %" for word, number in counted.items()}
        shares = (of_all.get(word, "") for word in (*BASES, NO_PRICE))
        yield f"| {kind} | " + " | ".join(shares) + " |"
    switches = catalog.switches
    by_word = Counter(switch.confidence for switch in switches)
    yield ""
    yield "| what | how many | those that are not, or not confirmed |"
    yield "| --- | ---: | --- |"
    every = len(switches)
    yield f"| ports read in the maker's page or code (`high`) | {by_word['high']} of {every} switches | |"
    yield f"| ports read in a secondary copy of one (`medium`) | {by_word['medium']} of {every} switches | |"
    yield f"| ports not confirmed (`low`), of parts too | {len(unconfirmed(catalog))} | {_ids(unconfirmed(catalog))} |"
    selectable = [switch for switch in switches if None not in (switch.price_usd, switch.power_w)]
    for what, key in FIGURES:
        rest = [switch.id for switch in selectable if confidence(switch, key) != "high"]
        count = len(selectable) - len(rest)
        share = f"{count} of {len(selectable)} ({100 * count // len(selectable)} %)" if count else "none"
        yield f"| {what} by a primary source, of switches to choose from | {share} | {_ids(rest) if count else ''} |"
    rest = [server.id for server in catalog.servers if not takes_storage_and_in_band(server)]
    share = f"{len(catalog.servers) - len(rest)} of {len(catalog.servers)} servers"
    yield f"| take storage and in-band NICs beside one a GPU (or beside one) | {share} | {_ids(rest)} |"


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(f"`{id_}`" for id_ in ids)


def takes_storage_and_in_band(server: Server) -> bool:
    """Whether NICs for both are built in, or slots are left for them beside one for each GPU (where so many are)."""
    built_in = {nic.role for nic in server.nics}
    of_gpus = server.gpus if server.nic_slots >= server.gpus else min(1, server.gpus)
    compute = 0 if "compute" in built_in else of_gpus
    return server.nic_slots - compute >= len({"storage", "in-band"} - built_in)


def confidence(switch: Switch, key: str) -> str | None:
    """How far a figure is to be trusted, or, of ``source``, the product and its ports; None: it is not known."""
    if getattr(switch, key) is None:
        return None
    of_figure = switch.provenance.get(key)
    return (of_figure and of_figure.confidence) or switch.confidence


def main() -> None:
    """Print the tables."""
    print("\n".join(lines(named_catalogs(["reference"]))))


if __name__ == "__main__":
    main()
