"""Commands about vendors' quotes."""

from __future__ import annotations

from typing import Annotated

import typer

from fabopt.cli.options import Catalogs

quote_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
QuoteFile = Annotated[str, typer.Argument(metavar="FILE", help="Quote as the vendor sent it: .xlsx or .csv.")]
Rates = Annotated[
    list[str] | None,
    typer.Option("--rate", metavar="EUR=1.09", help="Dollars for one unit of a currency; repeatable."),
]
Currency = Annotated[
    str | None, typer.Option("--currency", metavar="EUR", help="Currency of prices beside which none stands.")
]
Asked = Annotated[
    int, typer.Option("--asked", metavar="N", help="Of an RFQ sheet, the vendor whose columns are read, from 1.")
]


@quote_app.command("import")
def quote_import(
    file: QuoteFile,
    output: Annotated[str, typer.Option("-o", "--output", metavar="BOOK.yaml", help="Price book to write.")],
    rate: Rates = None,
    currency: Currency = None,
    asked: Asked = 1,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write every line as it was read.")] = None,
    catalog: Catalogs = None,
) -> None:
    """Read a vendor's quote into a price book; every line is matched, or listed with a reason."""
    from fabopt.cli.quotes import import_quote
    from fabopt.io.quote.reading import quote_options

    raise typer.Exit(import_quote(file, output, json, catalog, quote_options(rate or (), currency, asked)))
