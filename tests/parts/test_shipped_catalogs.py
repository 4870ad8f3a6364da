"""Every product that ships: what its numbers rest on, and that estimates are called so."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.io.library import names
from fabopt.parts.price_books import products
from fabopt.schema.catalog import Cable, Catalog
from fabopt.schema.product import Product, Source
from tests.basis_table import lines
from tests.paths import ROOT

# A document has an address, or a name that a reader can look up.
NAMED = re.compile(
    r"[a-z0-9-]+\.(com|org|net|io|edu|ai|jp)\b|docs/catalog\.md|data ?sheet|manual|guide|SIGCOMM|ASPLOS|IEEE|RA-1|SP-1|"
    r"reference design|ordering|product page|bill of materials|LinkX|BCM957608|QuickSpecs",
    re.IGNORECASE,
)
GUESS = re.compile(r"\bestimate of|no citation|catalog authors", re.IGNORECASE)
GUESSED = ("estimate", "derived")
# ``none`` is of what is invented.
CONFIDENCES = ("high", "medium", "low", "none")


def _shipped(name: str) -> Catalog:
    return named_catalogs([name])


def _sources(product: Product) -> Iterator[tuple[str, Source]]:
    if product.source is not None:
        yield "source", product.source
    yield from product.provenance.items()


@pytest.mark.parametrize("name", names("catalogs"))
def test_every_source_is_a_named_document_or_is_not_trusted(name: str) -> None:
    """What was read names where; what does not is a guess, or nothing that anybody should build on."""
    trusted = {
        (product.id, key)
        for product in products(_shipped(name))
        for key, source in _sources(product)
        if source.kind not in GUESSED
        and not NAMED.search(source.url or "")
        and (source.confidence or product.confidence) != "low"
    }
    assert trusted == set()


@pytest.mark.parametrize("name", names("catalogs"))
def test_no_guess_is_called_anything_else(name: str) -> None:
    called = [
        (product.id, key, source.kind)
        for product in products(_shipped(name))
        for key, source in _sources(product)
        if (GUESS.search(source.url or "") or (source.note or "").startswith("derived")) and source.kind not in GUESSED
    ]
    assert called == []


@pytest.mark.parametrize("name", names("catalogs"))
def test_every_product_says_how_far_to_trust_it(name: str) -> None:
    silent = [product.id for product in products(_shipped(name)) if product.confidence not in CONFIDENCES]
    silent += [
        product.id
        for product in products(_shipped(name))
        for source in product.provenance.values()
        if source.confidence not in CONFIDENCES
    ]
    assert silent == []


@pytest.mark.parametrize("name", names("catalogs"))
def test_every_price_has_a_source_that_says_its_kind(name: str) -> None:
    priced = [product for product in products(_shipped(name)) if getattr(product, "price_usd", None) is not None]
    kinds = {product.id: (product.provenance.get("price_usd") or product.source or Source()).kind for product in priced}
    assert {id_: kind for id_, kind in kinds.items() if kind in (None, "datasheet")} == {}


def test_the_page_shows_what_prices_rest_on() -> None:
    assert "\n".join(lines(_shipped("reference"))) in (ROOT / "docs" / "catalog.md").read_text()


@pytest.mark.parametrize("name", names("catalogs"))
def test_every_shipped_transceiver_and_cable_names_its_protocols(name: str) -> None:
    shipped = named_catalogs([name])
    assert [part.id for part in (*shipped.transceivers, *shipped.cables) if not part.protocols] == []


@pytest.mark.parametrize("name", names("catalogs"))
def test_active_copper_asks_for_cages_that_equalise_and_those_say_from_what(name: str) -> None:
    """ACC has amplifiers and no retimer. That a device drives it is a fact of its own, with a source of its own."""
    shipped = named_catalogs([name])
    assert [cable.id for cable in shipped.cables if cable.medium == "ACC" and cable.retiming == "full"] == []
    with_cages = [*((one, one.cages) for one in (*shipped.switches, *shipped.nics))]
    with_cages += [(server, nic.cages or ()) for server in shipped.servers for nic in server.nics]
    equalising = {product.id: product for product, cages in with_cages if any(cage.equalises for cage in cages)}
    assert [id_ for id_, product in equalising.items() if "equalises" not in product.provenance] == []
    if name == "reference":
        assert "nvidia-qm9700" in equalising


def test_single_mode_fibre_is_as_long_as_modules_reach() -> None:
    """Up to 2 km, so that a large cluster is no conflict for want of a length that is made to order."""
    shipped = named_catalogs(["reference"])
    longest: dict[str, float] = {}
    for fibre in shipped.fibres:
        for end in fibre.both_ends if fibre.fibre == "smf" else ():
            priced = [length.m for length in fibre.lengths if length.price_usd is not None]
            longest[end.connector] = max(longest.get(end.connector, 0), *priced, 0)
    single = [module for module in shipped.transceivers if module.fibre == "smf" and module.price_usd is not None]
    short = {one.id: longest[one.connector] for one in single if longest[one.connector] < min(one.reach_m, 2000)}
    assert short == {}


def test_what_is_laid_says_how_thick_and_heavy_it_is_or_is_known_not_to() -> None:
    """Each figure has a source of its own; armoured, LC and Cat6 leads and shuffles have none that was read."""
    catalog = _shipped("reference")
    laid = [*catalog.cables, *catalog.fibres]
    keys = ("diameter_mm", "weight_kg_m", "bend_radius_mm")
    without = [(p.id, key) for p in laid for key in keys if getattr(p, key) and p.provenance[key].confidence is None]
    assert without == []
    unknown = {product.id for product in laid if product.diameter_mm is None}
    assert {one for one in unknown if not re.search(r"-lc-|4lc|shuffle|cat6", one)} == set()
    assert len(unknown) == 11
    for product in laid:
        glass = not (isinstance(product, Cable) and product.medium != "AOC")
        if product.diameter_mm is not None:
            assert product.diameter_mm == 3 if glass else 4 <= product.diameter_mm <= 9.43
