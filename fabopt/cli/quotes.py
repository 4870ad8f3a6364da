"""The commands about quotes; each returns its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from fabopt.cli.output import check_targets, deliver, say, tell
from fabopt.errors import EXIT_CHECK_FAILED, EXIT_DONE, fault
from fabopt.inspect.quote_optimum import with_parts_of
from fabopt.io.case import read_price_books
from fabopt.io.catalog import named_catalogs, read_catalog
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, YAML_ENDINGS, ending_of, find_catalog
from fabopt.io.quote.reading import QuoteOptions, read_quote
from fabopt.output.export.quote_book import book_bytes, quote_bytes
from fabopt.output.terminal.quotes import headline_of_quote, quote_report
from fabopt.output.words import printable
from fabopt.parts.chassis import with_fills
from fabopt.parts.price_books import check_price_book, with_price_books
from fabopt.parts.quotes import Quote, book_of, known_prices, with_band
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design

_ASK = (
    "no line states a price: fill in the column of prices, such as `Quoted unit price USD`, or name the vendor of an "
    "RFQ sheet whose columns have them (`--asked 2`)"
)
_DEFAULT = ("reference",)


def quoted_catalog(catalogs: Sequence[str] | None) -> Catalog:
    """The catalog that a quote is read against."""
    return with_fills(read_catalog(list(catalogs or _DEFAULT), Path(), "--catalog" if catalogs else "library", ""))


def import_quote(
    file: str,
    output: str,
    json: str | None,
    catalogs: Sequence[str] | None,
    options: QuoteOptions,
    against: Sequence[str] = (),
    vendor: str | None = None,
) -> int:
    """Write a quote's price book; the exit code tells of prices left out, or doubted.

    A file without any priced line is refused once its lines are shown, and no book is written. ``against``: price books
    with which prices are compared, over the catalog's; ``vendor``: the seller of the book's offers.
    """
    if output != STANDARD_STREAM:
        ending_of(output, "a price book", YAML_ENDINGS)
    check_targets([output, json])
    catalog = quoted_catalog(catalogs)
    priced = with_price_books(catalog, read_price_books(list(against), catalog, Path()))
    quote, wrong = read_quote(file, catalog, options)
    quote = replace(quote, vendor=vendor or quote.vendor)
    quote = with_band(quote, known_prices(priced), options.band)
    faults = [] if quote.with_status("matched") else wrong
    if not faults and not quote.with_status("matched") and not quote.with_status("left over"):
        faults = [fault(quote.file, "", "no line could be priced, so there is no book to write", hint=_ASK)]
    if not faults:
        book = book_of(quote, None, f"quote {printable(PurePath(file).name)}")
        faults = check_price_book(book, quote.file, "", catalog)
    if json is not None:
        deliver(json, quote_bytes(quote, faults, None if faults else output))
    _show(quote, STANDARD_STREAM in (output, json))
    refuse_any(faults)
    deliver(output, book_bytes(book))
    return EXIT_DONE if quote.is_clear else EXIT_CHECK_FAILED


def _show(quote: Quote, is_taken: bool) -> None:
    """Print the report; one line to standard error where standard output is taken."""
    if is_taken:
        tell(headline_of_quote(quote))
    else:
        say(quote_report(quote))


def catalog_of_design(design: Design, catalogs: Sequence[str] | None) -> tuple[Catalog, bool]:
    """Products that the case of a design may choose, with the design's own versions of its parts; whether all catalogs
    were found.
    """
    named = design.case.content.get("catalog", ())
    catalog = quoted_catalog(catalogs) if catalogs else named_catalogs(named)
    whole = with_parts_of(design, catalog)
    return whole, bool(catalogs) or all(isinstance(find_catalog(name, Path(), "", ""), Path) for name in named)
