"""Options and arguments that several commands have."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import Annotated

import typer

from fabopt.cli import completion
from fabopt.output.export import LABEL_SHEETS


class Engine(StrEnum):
    """Solvers of the integer program; all find the same optimum."""

    cp_sat = "cp-sat"
    highs = "highs"
    scip = "scip"
    cbc = "cbc"


class NetBox(StrEnum):
    """Versions of NetBox that files can be for."""

    v4_4 = "4.4"
    v4_6 = "4.6"
    v4_7 = "4.7"


def seconds(text: str) -> float:
    """A time as people write it, in seconds: ``90``, ``90s``, ``2m``."""
    from fabopt.io.quantities import time_s

    with contextlib.suppress(ValueError):
        return float(text)
    time = time_s(text)
    if time is None:
        raise typer.BadParameter(f"'{text}' is not a time: write seconds, as 90, or 90s, 2m, 1h.")
    return float(time)


def _begun(context: typer.Context, value: str) -> str:
    """Say at once that a file is being read, which waits for what is imported."""
    if not context.resilient_parsing:
        from fabopt.cli.output import announce

        announce("0 s · reading")
    return value


CaseFile = Annotated[
    str,
    typer.Argument(
        metavar="CASE",
        help="Case file, - for standard input, or the name of an example case.",
        autocompletion=completion.cases,
        callback=_begun,
    ),
]
DesignFile = Annotated[
    str,
    typer.Argument(
        metavar="DESIGN.json",
        help="Design file, as `solve --json` writes it.",
        autocompletion=completion.designs,
        callback=_begun,
    ),
]
Stage = Annotated[
    str | None,
    typer.Option(
        "--stage", metavar="NAME", help="Stage that it is for; default: the last.", autocompletion=completion.stages
    ),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="CASE|DESIGN.json",
        help="Case to solve, or saved design.",
        autocompletion=completion.cases_and_designs,
        callback=_begun,
    ),
]
Minimize = Annotated[
    list[str] | None,
    typer.Option(
        "--minimize",
        metavar="METRIC",
        help="Less is better: capex_usd, power_w, ...; repeatable.",
        autocompletion=completion.words(completion.MINIMIZED),
    ),
]
Maximize = Annotated[
    list[str] | None,
    typer.Option(
        "--maximize",
        metavar="METRIC",
        help="More is better: gbps_per_gpu, ...; repeatable.",
        autocompletion=completion.words(completion.MAXIMIZED),
    ),
]
PriceKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="WORD",
        help="Only prices of this kind, such as transceiver; repeatable.",
        autocompletion=completion.words(completion.PRODUCT_WORDS),
    ),
]
PriceParts = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        metavar="ID",
        help="Only the price of this product, bought or not; repeatable.",
        autocompletion=completion.products(*completion.PRODUCTS),
    ),
]
ServerId = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="ID",
        help="Server id; see `fabopt catalog list servers`.",
        autocompletion=completion.products("servers"),
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="PROFILE",
        help=f"{', '.join(completion.PROFILES)}, or an AI model of `fabopt models`.",
        autocompletion=completion.workloads,
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="WORD",
        help="ethernet, infiniband or any.",
        autocompletion=completion.words(("any", "ethernet", "infiniband")),
    ),
]
EngineOption = Annotated[Engine, typer.Option("--engine", help="Solver to use.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="TIME", parser=seconds, help="Stop after 90, 90s or 2m with the best design found."
    ),
]
AlternativesTime = Annotated[
    float | None,
    typer.Option(
        "--alternatives", metavar="TIME", parser=seconds, help="Cut the look at what else there is off; 0: none."
    ),
]
Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        metavar="NAME|PATH",
        help="Catalog to use instead of the case's; repeatable.",
        autocompletion=completion.library("catalogs"),
    ),
]
PriceChanges = Annotated[
    list[str] | None,
    typer.Option("--price-change", metavar="KIND=+20%", help="Change prices of a kind or product id; repeatable."),
]
FrontJson = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write all points with their designs.")]
FrontCsv = Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Write a table of the points.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Processes that solve points.")]
FrontResume = Annotated[
    str | None, typer.Option("--resume", metavar="FILE", help="Go on with the points of a file or its journal.")
]
FrontPlot = Annotated[str | None, typer.Option("--plot", metavar="FILE", help="Draw the points: .html, .png or .svg.")]
FrontTimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="TIME", parser=seconds, help="Stop after 90, 90s or 2m with the points done by then."
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print everything: links, bill, proof, all that was compared.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="File to write.")]
Unchecked = Annotated[
    bool, typer.Option("--unchecked", help="Write a saved design that fails its checks too; every file says so.")
]
Point = Annotated[
    int | None, typer.Option("--point", metavar="N", help="Take the design of point N, from 1, of a sweep or front.")
]
Nearest = Annotated[
    bool, typer.Option("--nearest", help="Take the nearest design of a case that has none, as limits leave it out.")
]
WithinBudget = Annotated[
    str | None,
    typer.Option("--budget", metavar="USD", help="Take the best point of a front for so much money, such as 2.5M."),
]
LabelSheets = Annotated[
    list[str] | None,
    typer.Option(
        "--sheet",
        metavar="CODE",
        help=f"Sheet of labels, repeatable: {', '.join(LABEL_SHEETS)}; default: the first two.",
    ),
]
MaybeOutput = Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.")]
