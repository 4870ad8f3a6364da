"""The commands that compare a fabric, a design or measurements with a plan. Bodies import what they need."""

from __future__ import annotations

from typing import Annotated

import typer

from fabopt.cli.completion import HAND_MADE, cases, cases_and_designs, words
from fabopt.cli.options import (
    CaseFile,
    Catalogs,
    DesignFile,
    Engine,
    EngineOption,
    Full,
    Nearest,
    Point,
    PriceChanges,
    Stage,
    TimeLimit,
    Unchecked,
)

_POINT = "Take the design of point N, from 1, of a sweep or front."


def as_built(
    design: DesignFile,
    ibnetdiscover: Annotated[
        list[str] | None,
        typer.Option("--ibnetdiscover", metavar="FILE", help="What ibnetdiscover printed; repeatable."),
    ] = None,
    lldp: Annotated[
        list[str] | None,
        typer.Option("--lldp", metavar="FILE|DIR", help="What LLDP found, a file for each device; repeatable."),
    ] = None,
    csv: Annotated[
        list[str] | None,
        typer.Option("--csv", metavar="FILE", help="What was found, as a table like point-to-point.csv; repeatable."),
    ] = None,
    names: Annotated[
        str | None, typer.Option("--names", metavar="FILE", help="Table of names found and names planned.")
    ] = None,
    guids: Annotated[
        str | None, typer.Option("--guids", metavar="FILE", help="Table of devices, ports and their GUIDs or MACs.")
    ] = None,
    propose_names: Annotated[
        str | None,
        typer.Option("--propose-names", metavar="FILE.csv", help="Write names that the cables tell, for --names."),
    ] = None,
    cables: Annotated[
        str | None,
        typer.Option("--found", metavar="FILE.csv", help="Write what is cabled by planned names, for base.found."),
    ] = None,
    stage: Stage = None,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", help="Last window done of the migration of what is in service."),
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write findings and repairs.")] = None,
    findings: Annotated[str | None, typer.Option("--findings", metavar="FILE.csv", help="Write the findings.")] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page for people.")] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Take a saved design that fails its checks too; every file says so.")
    ] = False,
    point: Annotated[int | None, typer.Option("--point", metavar="N", help=_POINT)] = None,
) -> None:
    """Compare what is cabled with the plan, and list the fewest moves that put it right."""
    from fabopt.cli.as_built import Outputs, Request, compare

    files = (*(ibnetdiscover or ()), *(lldp or ()), *(csv or ()))
    request = Request(design, point, files, names, guids, stage, unchecked, propose_names, window, cables)
    raise typer.Exit(compare(request, Outputs(json, findings, html)))


def audit(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Design that somebody made by hand; a folder of NetBox tables.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="KIND",
            help=f"{', '.join(HAND_MADE[:-1])} or {HAND_MADE[-1]}.",
            autocompletion=words(HAND_MADE),
        ),
    ],
    case: Annotated[
        str | None,
        typer.Option("--case", metavar="CASE", help="Case that it is for: solved, and compared.", autocompletion=cases),
    ] = None,
    claimed: Annotated[
        str | None, typer.Option("--claimed", metavar="RATIO", help="Oversubscription that it should have, as 1:1.")
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write findings and costs.")] = None,
    findings: Annotated[str | None, typer.Option("--findings", metavar="FILE.csv", help="Write the findings.")] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page for people.")] = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
) -> None:
    """Hold a design made by hand against the rules of the field, its case, and the best design of that."""
    from fabopt.cli.as_built import Outputs
    from fabopt.cli.audit import HandMadeRequest, audit_hand_made
    from fabopt.cli.solving import SolveRequest

    solve = None if case is None else SolveRequest(case, engine.value, time_limit, catalog, None, 0)
    request = HandMadeRequest(file, kind, solve, catalog, claimed)
    raise typer.Exit(audit_hand_made(request, Outputs(json, findings, html)))


def accept(
    design: DesignFile,
    results: Annotated[
        list[str], typer.Argument(metavar="RESULTS...", help="What nccl-tests or perftest printed, a file a run.")
    ],
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write all verdicts.")] = None,
    findings: Annotated[str | None, typer.Option("--findings", metavar="FILE.csv", help="Write what fails.")] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Take a saved design that fails its checks too.")
    ] = False,
    point: Annotated[int | None, typer.Option("--point", metavar="N", help=_POINT)] = None,
) -> None:
    """Compare measured bandwidths with what a design should give."""
    from fabopt.cli.as_built import accept_results

    raise typer.Exit(accept_results(design, point, results, unchecked, json, findings))


def decide(
    case: CaseFile,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write all figures.")] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page for people.")] = None,
    rent: Annotated[
        float | None, typer.Option("--rent", metavar="USD", help="Price of a GPU and hour where it is rented.")
    ] = None,
    server_price: Annotated[
        float | None, typer.Option("--server-price", metavar="USD", help="Price of a server, before the catalog's.")
    ] = None,
    size: Annotated[
        list[float] | None,
        typer.Option("--size", metavar="FACTOR", help="Ask again with so many times the servers; repeatable."),
    ] = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
) -> None:
    """Answer what a case leaves open: protocol, speed, tiers, rails, stages, rent or build."""
    from fabopt.cli.decide import decide_case
    from fabopt.cli.solving import SolveRequest
    from fabopt.inspect.decisions.decide import Wanted

    solve = SolveRequest(case, engine.value, time_limit, catalog, price_change, 0)
    raise typer.Exit(decide_case(solve, Wanted(size or [], rent, server_price), json, html))


def show(design: DesignFile, point: Point = None, nearest: Nearest = False, full: Full = False) -> None:
    """Show a saved design: what it is, what it costs, what fails worst, and what else there is."""
    from fabopt.cli.evidence import chosen_point
    from fabopt.cli.solving import show_design

    raise typer.Exit(show_design(design, chosen_point(design, point, None, nearest), full))


def compare(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C D]",
            help="Designs, FRONT.json#3 (point 3), D.json@day-1 (its stage), cases, or after a design a quote for it.",
            autocompletion=cases_and_designs,
        ),
    ],
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write all that differs.")] = None,
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write a page for people.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with exit code 1 if they differ.")] = False,
    unchecked: Unchecked = False,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
) -> None:
    """Say what differs between designs, and why one costs more than another."""
    from fabopt.cli.compare import CompareRequest, compare_sides
    from fabopt.cli.solving import SolveRequest

    solve = SolveRequest("", engine.value, time_limit, catalog, None, 0)
    raise typer.Exit(compare_sides(CompareRequest(sides, solve, unchecked), json, html, exit_code))
