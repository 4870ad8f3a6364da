"""Commands about vendors' quotes."""

from __future__ import annotations

from typing import Annotated

import typer

from fabopt.cli.options import Catalogs, Engine, EngineOption, Point, TimeLimit
from fabopt.cli.panels import Panels

quote_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, cls=Panels)
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
Band = Annotated[
    str,
    typer.Option("--band", metavar="50:200,20:120|none",
                 help="Percent of known street prices, and of list prices, within which a price is believed."),
]  # fmt: skip


@quote_app.command("import")
def quote_import(
    file: QuoteFile,
    output: Annotated[str, typer.Option("-o", "--output", metavar="BOOK.yaml", help="Price book to write.")],
    rate: Rates = None,
    currency: Currency = None,
    asked: Asked = 1,
    band: Band = "50:200,20:120",
    against: Annotated[
        list[str] | None,
        typer.Option("--against", metavar="BOOK", help="Price book whose prices are the known ones; repeatable."),
    ] = None,
    vendor: Annotated[
        str | None,
        typer.Option("--vendor", metavar="NAME", help="Whose offer it is: the book then stands beside others'."),
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write every line as it was read.")] = None,
    catalog: Catalogs = None,
) -> None:
    """Read a vendor's quote into a price book; every line is matched, or listed with a reason."""
    from fabopt.cli.quotes import import_quote
    from fabopt.io.quote.reading import quote_options

    options = quote_options(rate or (), currency, asked, band)
    raise typer.Exit(import_quote(file, output, json, catalog, options, against or (), vendor))


@quote_app.command("request")
def quote_request(
    design: Annotated[str, typer.Argument(metavar="DESIGN.json", help="Design whose bill is asked for.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="Folder to write the requests to.")],
    vendor: Annotated[
        list[str] | None,
        typer.Option("--vendor", metavar="NAME", help="Ask this vendor for every line; repeatable. Else every maker."),
    ] = None,
    revision: Annotated[str, typer.Option("--revision", metavar="TEXT", help="Revision of the request.")] = "1",
    due: Annotated[
        str | None, typer.Option("--due", metavar="2026-12-31", help="Day by which vendors are to answer.")
    ] = None,
    point: Point = None,
) -> None:
    """Write a request for quotes for each maker, or each vendor asked, without planned prices."""
    from fabopt.cli.quote_audit import request_quotes
    from fabopt.output.export.requests import RequestTerms

    raise typer.Exit(request_quotes(design, output, vendor or (), RequestTerms(revision, due), point))


@quote_app.command("audit")
def quote_audit(
    file: QuoteFile,
    design: Annotated[str, typer.Option("--design", metavar="DESIGN.json", help="Design to hold it against.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE.xlsx", help="Write the quote with findings marked.")
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write findings and sums.")] = None,
    findings: Annotated[
        str | None, typer.Option("--findings", metavar="FILE.csv", help="Write findings as a table.")
    ] = None,
    rate: Rates = None,
    currency: Currency = None,
    asked: Asked = 1,
    band: Band = "50:200,20:120",
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
    point: Point = None,
) -> None:
    """Compare a quote with a design's bill, and with the best design on the same prices."""
    from fabopt.cli.quote_audit import AuditRequest, audit_quote
    from fabopt.cli.solving import SolveRequest
    from fabopt.io.quote.reading import quote_options

    options = quote_options(rate or (), currency, asked, band)
    solve = SolveRequest(design, engine.value, time_limit, catalog)
    raise typer.Exit(audit_quote(AuditRequest(file, options, solve, point, output, json, findings)))
