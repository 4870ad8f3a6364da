"""The commands that hold what is there against what was planned. Bodies import what they need."""

from __future__ import annotations

from typing import Annotated

import typer

_POINT = "Take the design of point N, from 1, of a sweep or front."


def as_built(
    design: Annotated[str, typer.Argument(metavar="DESIGN.json", help="Design file, as `solve --json` writes it.")],
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
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="NAME", help="Stage that is built; default: the last.")
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
    request = Request(design, point, files, names, guids, stage, unchecked)
    raise typer.Exit(compare(request, Outputs(json, findings, html)))
