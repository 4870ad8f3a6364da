"""The commands and their options. Bodies import what they need, so that ``--help`` is instant."""

from __future__ import annotations

from typing import Annotated

import typer

from fabopt.cli import completion
from fabopt.cli.inspection import accept, as_built, audit, compare, decide, show
from fabopt.cli.lookup import cases_app, catalog_app, models, schema, studio
from fabopt.cli.options import (
    AlternativesTime,
    CaseFile,
    Catalogs,
    DesignFile,
    Engine,
    EngineOption,
    FrontCsv,
    FrontJson,
    FrontPlot,
    FrontResume,
    FrontTimeLimit,
    Full,
    Jobs,
    LabelSheets,
    Maximize,
    MaybeOutput,
    Minimize,
    Nearest,
    NetBox,
    Output,
    Point,
    PriceChanges,
    PriceKinds,
    PriceParts,
    Profile,
    Protocol,
    ServerId,
    Source,
    Stage,
    TimeLimit,
    Unchecked,
    WithinBudget,
    seconds,
)
from fabopt.cli.panels import HELP_WIDTH, Panels
from fabopt.cli.quote import quote_app
from fabopt.cli.signals import ATTENDANT
from fabopt.output.export import ALL, FORMATS

app = typer.Typer(
    name="fabopt",
    help="Design the network of an AI GPU cluster: the cheapest fabric that can be bought, with proof.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 proven infeasible, 4 stopped with no answer. "
    "A FILE of - is standard input or output.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Panels,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH},
)
app.add_typer(cases_app, name="cases")
app.add_typer(catalog_app, name="catalog", help="List, show and check the products that designs are made of.")
app.add_typer(quote_app, name="quote", help="Read vendors' quotes, and hold them against designs.")
for _command in (models, schema, studio, as_built, audit, accept, decide, show, compare):
    app.command()(_command)


def _version(wanted: bool) -> None:
    if wanted:
        from fabopt.schema.version import VERSION

        typer.echo(f"fabopt {VERSION}")
        raise typer.Exit


# Commands with a time limit: a signal stops their clock, and results by then are kept.
TIMED = ("solve", "bom", "sweep", "pareto", "sensitivity", "explain", "audit", "decide", "compare", "studio")


@app.callback()
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of every command."""
    ATTENDANT.begin(context.invoked_subcommand in TIMED)


@app.command()
def solve(
    case: CaseFile,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the design file.")] = None,
    bom: Annotated[
        str | None,
        typer.Option("--bom", metavar="FILE", help="Write the bill of materials: .csv, .xlsx or .json."),
    ] = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
    alternatives: AlternativesTime = None,
    full: Full = False,
) -> None:
    """Find the cheapest design that meets a case."""
    from fabopt.cli.solving import SolveRequest, solve_case

    request = SolveRequest(case, engine.value, time_limit, catalog, price_change, alternatives, full)
    raise typer.Exit(solve_case(request, json, bom))


@app.command()
def check(
    design: DesignFile,
    failures: Annotated[
        str | None,
        typer.Option(
            "--failures", metavar="K[ KIND]", help="Say what K random failures leave: 3 of each kind, or '2 leaves'."
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="Sets of failures to draw; default: 200.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Draws other sets; default: 0.")] = None,
    against: Annotated[
        str | None, typer.Option("--design", metavar="DESIGN.json", help="Compare a plan.yaml with its design.")
    ] = None,
    point: Point = None,
    nearest: Nearest = False,
    solve: Annotated[bool, typer.Option("--solve", help="Prove the optimum again, and what no design keeps.")] = False,
    catalog: Catalogs = None,
) -> None:
    """Prove a saved design again, without any solver; or a plan of one."""
    from fabopt.cli.evidence import chosen_point
    from fabopt.cli.outages import draws_of
    from fabopt.cli.plan import check_plan, is_plan
    from fabopt.cli.solving import SolveRequest, check_design

    if is_plan(design):
        raise typer.Exit(check_plan(design, against, point))
    again = SolveRequest(design, catalogs=catalog, alternatives_s=0) if solve else None
    number = chosen_point(design, point, None, nearest)
    raise typer.Exit(check_design(design, draws_of(failures, samples, seed), number, again))


@app.command()
def bom(
    source: Source,
    output: Output,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
    prices: Annotated[
        list[str] | None,
        typer.Option("--prices", metavar="BOOK", help="Price the bill again with a price book; repeatable."),
    ] = None,
    date: Annotated[
        str, typer.Option("--date", metavar="TEXT", help="Date of the bill; default: that of its newest price.")
    ] = "",
    revision: Annotated[
        str, typer.Option("--revision", metavar="TEXT", help="Revision of the bill; default: the hash of its case.")
    ] = "",
    unchecked: Unchecked = False,
    point: Point = None,
    budget: WithinBudget = None,
    nearest: Nearest = False,
) -> None:
    """Write the bill of materials as .csv, .xlsx or .json."""
    from fabopt.cli.evidence import chosen_point
    from fabopt.cli.export import write_bill
    from fabopt.cli.solving import SolveRequest

    request = SolveRequest(source, engine.value, time_limit, catalog, price_change)
    number = chosen_point(source, point, budget, nearest)
    raise typer.Exit(write_bill(request, output, prices or (), unchecked, number, date=date, revision=revision))


@app.command()
def sweep(
    case: CaseFile,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="2M:10M:9", help="Budgets: start:stop:count, or a list; suffixes K and M."),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="KEY=VALUES", help="A key of the case, its values like budgets; repeatable."),
    ] = None,
    json: FrontJson = None,
    csv: FrontCsv = None,
    plot: FrontPlot = None,
    jobs: Jobs = 1,
    dask: Annotated[
        str | None, typer.Option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster that solves points.")
    ] = None,
    resume: FrontResume = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: FrontTimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
) -> None:
    """Find the best design at each of many budgets, or values of keys of the case."""
    from fabopt.cli.fronts import Targets, sweep_case
    from fabopt.cli.solving import SolveRequest

    request = SolveRequest(case, engine.value, time_limit, catalog, price_change)
    raise typer.Exit(sweep_case(request, budget, over or [], jobs, dask, resume, Targets(json, csv, plot)))


@app.command()
def pareto(
    case: CaseFile,
    minimize: Minimize = None,
    maximize: Maximize = None,
    points: Annotated[
        int | None, typer.Option("--points", metavar="N", help="At most N points, evenly spread; default: all.")
    ] = None,
    json: FrontJson = None,
    csv: FrontCsv = None,
    plot: FrontPlot = None,
    jobs: Jobs = 1,
    resume: FrontResume = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: FrontTimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
) -> None:
    """Find the exact front of two metrics, or three: every design that no other beats in all; by default of money and
    bandwidth.
    """
    from fabopt.cli.fronts import Targets, pareto_case
    from fabopt.cli.solving import SolveRequest

    request = SolveRequest(case, engine.value, time_limit, catalog, price_change)
    raise typer.Exit(
        pareto_case(request, minimize or [], maximize or [], points, jobs, resume, Targets(json, csv, plot))
    )


@app.command()
def sensitivity(
    case: CaseFile,
    kind: PriceKinds = None,
    part: PriceParts = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write all ranges.")] = None,
    csv: Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Write a table of the ranges.")] = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="TIME", parser=seconds, help="Stop after 90, 90s or 2m with the ranges known then."
        ),
    ] = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
) -> None:
    """Find how far prices can move before the answer changes, and what it changes to."""
    from fabopt.cli.fronts import sensitivity_of_case
    from fabopt.cli.solving import SolveRequest

    request = SolveRequest(case, engine.value, time_limit, catalog, price_change)
    raise typer.Exit(sensitivity_of_case(request, kind or [], part or [], json, csv))


@app.command()
def explain(
    case: CaseFile,
    why_not: Annotated[
        list[str] | None,
        typer.Option(
            "--why-not",
            metavar="ID",
            help="A product; repeatable.",
            autocompletion=completion.products(*completion.PRODUCTS),
        ),
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write what keeps each out.")] = None,
    engine: EngineOption = Engine.cp_sat,
    time_limit: TimeLimit = None,
    catalog: Catalogs = None,
    price_change: PriceChanges = None,
) -> None:
    """Say what keeps a product out of the answer, or how much dearer it is; without any, which lack only a price."""
    from fabopt.cli.explain import explain_case
    from fabopt.cli.solving import SolveRequest

    request = SolveRequest(case, engine.value, time_limit, catalog, price_change)
    raise typer.Exit(explain_case(request, why_not or [], json))


@app.command()
def export(
    design: DesignFile,
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=f"{', '.join(FORMATS)} or {ALL}; repeatable, or several with commas.",
            autocompletion=completion.formats,
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files; made if absent.")],
    netbox: Annotated[NetBox, typer.Option("--netbox", help="Version that NetBox files are for.")] = NetBox.v4_7,
    stage: Stage = None,
    guids: Annotated[
        str | None, typer.Option("--guids", metavar="FILE", help="Discovery (ibnetdiscover) that has the real GUIDs.")
    ] = None,
    sheet: LabelSheets = None,
    date: Annotated[
        str | None, typer.Option("--date", metavar="TEXT", help="Date in title blocks of drawings; default: today.")
    ] = None,
    revision: Annotated[
        str, typer.Option("--revision", metavar="TEXT", help="Revision in title blocks of drawings.")
    ] = "1",
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out formats that do not apply to the design, and write the others.")
    ] = False,
    unchecked: Unchecked = False,
    point: Point = None,
    budget: WithinBudget = None,
    nearest: Nearest = False,
) -> None:
    """Write drawings, cable schedules, pages for crews, labels, rack elevations and files for other programs."""
    from fabopt.cli.evidence import chosen_point
    from fabopt.cli.export import ExportRequest, export_design

    number = chosen_point(design, point, budget, nearest)
    about = netbox.value, stage, guids, unchecked, skip, sheet, date, revision
    export_design(ExportRequest(design, number, to, output, *about))


@app.command()
def report(
    design: DesignFile,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Page to write: .html.")],
    front: Annotated[
        str | None, typer.Option("--front", metavar="FRONT.json", help="Front or sweep of the same case to show.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="Of a front or sweep: a page of each point too, in FILE-points/.")
    ] = False,
    unchecked: Unchecked = False,
    point: Point = None,
    budget: WithinBudget = None,
    nearest: Nearest = False,
) -> None:
    """Write one self-contained HTML page about a design."""
    from fabopt.cli.evidence import chosen_point
    from fabopt.cli.report import write_report

    number = chosen_point(design, point, budget, nearest)
    raise typer.Exit(write_report(design, output, front, unchecked, number, pages))


@app.command()
def formulation(case: CaseFile, output: Output, catalog: Catalogs = None, price_change: PriceChanges = None) -> None:
    """Write the integer program of a case as .lp or .mps."""
    from fabopt.cli.solving import SolveRequest, write_formulation

    write_formulation(SolveRequest(case, catalogs=catalog, price_changes=price_change), output)


@app.command()
def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the case: lower-case words joined by -.")
    ] = None,
    server: ServerId = None,
    gpus: Annotated[
        str | None, typer.Option("--gpus", metavar="N", help="GPUs, a multiple of the server's; or '32 servers'.")
    ] = None,
    later: Annotated[
        str | None,
        typer.Option("--later", metavar="N", help="GPUs in a second stage, or servers: 1024, or '1024 in 18 months'."),
    ] = None,
    workload: Profile = None,
    protocol: Protocol = None,
    racks: Annotated[
        str | None,
        typer.Option("--racks", metavar="2x16", help="Rows of racks in the hall, and racks in a row; or none."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="USD", help="What may be spent in all, such as 2.5M; or none.")
    ] = None,
    output: MaybeOutput = None,
    catalog: Catalogs = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Write a commented case to begin with; in a terminal, ask for what is not given, solve it and offer its page."""
    from fabopt.cli.newcomer import NewCaseAnswers, new_case

    answers = NewCaseAnswers(server, gpus, later, workload, protocol, racks, budget)
    raise typer.Exit(new_case(name, answers, output, catalog, force))
