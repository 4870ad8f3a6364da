"""The commands that look up what is there: example cases, catalogs, AI models, schemas."""

from __future__ import annotations

from typing import Annotated

import typer

from fabopt.cli.completion import FILES, PRODUCTS, library, products, words
from fabopt.cli.options import Catalogs, MaybeOutput
from fabopt.cli.panels import Panels

catalog_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, cls=Panels)
cases_app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, cls=Panels)
CaseName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of an example case.", autocompletion=library("cases"))
]


@cases_app.callback()
def cases(context: typer.Context) -> None:
    """List the example cases, show one, or copy one to begin with."""
    from fabopt.cli.library import list_folder

    if context.invoked_subcommand is None:
        list_folder("cases")


@cases_app.command("show")
def cases_show(name: CaseName) -> None:
    """Print an example case as it stands in its file."""
    from fabopt.cli.library import show_case

    show_case(name)


@cases_app.command("copy")
def cases_copy(
    name: CaseName,
    folder: Annotated[str, typer.Argument(metavar="[DIR]", help="Folder for NAME.yaml; made if absent.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Copy an example case into a folder, to be changed there."""
    from fabopt.cli.library import copy_case

    copy_case(name, folder, force)


def models(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="One of them, or a path to a model file.", autocompletion=library("models")
        ),
    ] = None,
    server: Annotated[
        str,
        typer.Option("--server", metavar="ID", help="Server to run on.", autocompletion=products("servers")),
    ] = "nvidia-dgx-h100",
    serve: Annotated[
        str | None,
        typer.Option("--serve", metavar="P,O", help="Serve it: tokens of a prompt, and of its output."),
    ] = None,
) -> None:
    """List the AI workload models, or show what one takes."""
    from fabopt.cli.models import list_models, show_model, show_serving

    if serve is not None:
        show_serving(name, server, serve)
    elif name is None:
        list_models(server)
    else:
        show_model(name, server)


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="case, catalog, design, front, sensitivity, price-book, model or a product: nic, ...",
            autocompletion=words(FILES),
        ),
    ],
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="A key to explain: limits.budget_usd, or its last word.")
    ] = None,
    output: MaybeOutput = None,
) -> None:
    """Say what a key of a kind of file means; without KEY, print its JSON Schema, for editors."""
    from fabopt.cli.library import write_schema

    write_schema(kind, key, output)


@catalog_app.command("list")
def catalog_list(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="switches, nics, transceivers, ...", autocompletion=words(PRODUCTS)),
    ] = None,
    catalog: Catalogs = None,
) -> None:
    """List catalogs, or the products of one kind."""
    from fabopt.cli.library import list_catalog

    list_catalog(kind, catalog)


@catalog_app.command("show")
def catalog_show(
    product: Annotated[str, typer.Argument(metavar="ID", help="Product id.", autocompletion=products(*PRODUCTS))],
    catalog: Catalogs = None,
) -> None:
    """Show everything the catalog says about a product, with its sources."""
    from fabopt.cli.library import show_product

    show_product(product, catalog)


@catalog_app.command("check")
def catalog_check(
    catalogs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|PATH]...", help="Catalogs to check together; default: each in the library."),
    ] = None,
) -> None:
    """Check catalogs, and say what can never be chosen."""
    from fabopt.cli.library import check_catalogs

    raise typer.Exit(check_catalogs(catalogs))


def studio(
    start: Annotated[
        str | None, typer.Argument(metavar="[CASE|DIR]", help="Case to open, or folder to work in; default: this one.")
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port to listen on; default: a free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> None:
    """Open a page on this machine to ask, see, pin, break and hand over designs (extra `fabopt[studio]`)."""
    from fabopt.cli.studio import run_studio

    raise typer.Exit(run_studio(start, port, not no_browser))
