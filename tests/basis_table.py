"""What the prices of the reference catalog rest on: ``python -m tests.basis_table``, or ``make basis``.

Prints the tables of docs/catalog.md: the share of each kind of price, and the products that are not confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabopt.io.catalog import named_catalogs
from fabopt.parts.price_basis import basis_of
from fabopt.schema.catalog import KINDS, Cable, Catalog, Fibre, Switch
from fabopt.schema.product import Product
from fabopt.schema.server import Server

BASES = ("list", "street", "quote", "paper", "estimate", "derived", "unknown")
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
    if isinstance(product, Cable | Fibre):
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
    high = sum(switch.confidence == "high" for switch in catalog.switches)
    medium = sum(switch.confidence == "medium" for switch in catalog.switches)
    yield ""
    unsure = ", ".join(f"`{id_}`" for id_ in unconfirmed(catalog))
    yield (
        f"Of {len(catalog.switches)} switches, the ports of {high} were read in a maker's page, firmware or platform "
        f"file (confidence `high`), those of {medium} in a secondary copy of one (`medium`). Products whose ports are "
        f"not confirmed (`low`): {unsure}."
    )
    selectable = [switch for switch in catalog.switches if None not in (switch.price_usd, switch.power_w)]
    yield ""
    yield f"Of the {len(selectable)} switches that can be chosen, with a price and a power figure, a primary source has"
    yield ""
    for what, key in FIGURES:
        rest = [switch.id for switch in selectable if confidence(switch, key) != "high"]
        count = len(selectable) - len(rest)
        share = 100 * count // len(selectable)
        listing = ", ".join(f"`{id_}`" for id_ in rest)
        yield f"- the {what} of {count} ({share} %); not of {listing}." if count else f"- the {what} of none."

    servers = catalog.servers
    rest = [server.id for server in servers if not takes_storage_and_in_band(server)]
    yield ""
    yield (
        f"Of {len(servers)} servers, {len(servers) - len(rest)} take a NIC for storage and one in-band beside one for "
        "each GPU (or, where they have fewer slots than GPUs, beside one), as they are listed"
        + ("; not " + ", ".join(f"`{id_}`" for id_ in rest) if rest else "")
        + "."
    )


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
