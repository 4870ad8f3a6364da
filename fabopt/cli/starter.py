"""Starter cases: a commented file that solves as it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fabopt.errors import refusal
from fabopt.floor.racks import racks_needed, servers_per_rack
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.io.library import by_name, checkout, is_path
from fabopt.io.text import parse_yaml
from fabopt.problem.problem import problem_of
from fabopt.schema.case import MAX_ROWS, Floor, Site
from fabopt.schema.server import Server
from fabopt.schema.workload import PROFILES
from fabopt.units import ceil_div

_ANY_GBPS = 0.001
_PORT_SPEEDS_GBPS = (400, 200, 100, 50, 25, 10, 1)
_COMMENT_COLUMN = 40
_RACKS_PER_ROW = 16
_SCHEMA = "# yaml-language-server: $schema="
_SCHEMA_LINE = re.compile(rf"^({re.escape(_SCHEMA)}).*$", re.MULTILINE)
_TRAILING_COMMENT = re.compile(r"^(.*\S) {2,}# (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Starter:
    """Inputs of a starter case. ``folder`` is where the file will be; ``schema``: the case's JSON Schema, if named.

    ``workload``: a profile, or the name of an AI model; ``later``: GPUs after ``months``; ``racks``: rows of a hall,
    and racks in each.
    """

    name: str
    gpus: int
    server: str
    workload: str
    catalogs: Sequence[str]
    folder: Path
    schema: Path | None
    later: int | None = None
    months: int = 12
    protocol: str = "any"
    racks: tuple[int, int] | None = None
    budget_usd: int | float | None = None

    @property
    def is_of_model(self) -> bool:
        """Whether what the network carries is that of an AI model of the library."""
        return self.workload not in PROFILES and by_name("models", self.workload) is not None


def starter_text(wanted: Starter) -> str:
    """Return the case file; ``InputError`` if what is wanted is wrong, or no case can be made of it."""
    inputs = _inputs(wanted)
    # as the catalog and the schema write them
    workload = inputs.case.workload
    profile = workload and workload.profile
    protocol = inputs.case.fabrics[0].protocol
    wanted = replace(wanted, server=inputs.case.server_id, workload=profile or wanted.workload, protocol=protocol)
    server = next(candidate for candidate in inputs.catalog.servers if candidate.id == wanted.server)
    text = _text(wanted, server)
    content = parse_yaml(text.encode(), "") | {"catalog": list(wanted.catalogs) or ["reference"]}
    checked = inputs_from_objects(content)
    problem_of(checked.case, checked.catalog)
    return text


def _text(wanted: Starter, server: Server) -> str:
    servers = wanted.gpus // server.gpus
    rows, racks_per_row = wanted.racks or (_rows(servers, server), _RACKS_PER_ROW)
    described = f"{wanted.gpus:,} GPUs in {servers:,} x {wanted.server}, {wanted.workload}"
    text = _TEMPLATE.format(
        schema="" if wanted.schema is None else f"{_SCHEMA}{_place(wanted.schema, wanted.folder)}\n#\n",
        file=wanted.name,
        name=_as_text(wanted.name),
        catalog=json.dumps([_catalog(catalog, wanted.folder) for catalog in wanted.catalogs or ("reference",)]),
        server=_as_text(wanted.server),
        described=described,
        size=_size(wanted, server),
        workload=f"model: {wanted.workload}, plan: auto" if wanted.is_of_model else f"profile: {wanted.workload}",
        protocol=wanted.protocol,
        site=(_SITE if wanted.racks is None else _HALL).format(rows=rows, racks_per_row=racks_per_row),
        limits=_limits(wanted),
        profiles="\n".join(
            f"#   {name:<12} {requirement.max_oversubscription:g} / {requirement.min_gbps_per_gpu:g}"
            for name, requirement in PROFILES.items()
        ),
        demands=_OF_MODEL if wanted.is_of_model else _demands(wanted),
    )
    return _TRAILING_COMMENT.sub(lambda match: f"{match[1]:<{_COMMENT_COLUMN}}  # {match[2]}", text)


def _inputs(wanted: Starter, **fabric: Any) -> Inputs:
    content = {
        "name": wanted.name,
        "server": wanted.server,
        "gpus": wanted.gpus,
        "workload": {"model": wanted.workload, "plan": "auto"} if wanted.is_of_model else {"profile": wanted.workload},
        "fabrics": [{"name": "compute", "protocol": wanted.protocol, **fabric}],
    }
    return inputs_from_objects(content, catalogs=list(wanted.catalogs) or None)


def _size(wanted: Starter, server: Server) -> str:
    """Return the lines for how many servers there are, and when."""
    servers = wanted.gpus // server.gpus
    if wanted.later is None:
        return _ONE_STAGE.format(gpus=wanted.gpus, servers=servers, gpus_each=server.gpus, first=max(1, servers // 4))
    if wanted.later % server.gpus:
        raise refusal(
            "--later",
            "",
            "no number of whole servers",
            wanted.later,
            allowed=f"a multiple of {server.gpus}, the GPUs of {server.id}",
        )
    later = wanted.later // server.gpus
    return _TWO_STAGES.format(servers=servers, later=later, months=wanted.months, gpus_each=server.gpus)


def _limits(wanted: Starter) -> str:
    """Return the line for limits."""
    if wanted.budget_usd is None:
        return "# limits: {budget_usd: null, power_w: null, rack_units: null}  # over all fabrics; null: no limit"
    return f"limits: {{budget_usd: {wanted.budget_usd}}}  # over all fabrics; power_w and rack_units may be limited too"


def _demands(wanted: Starter) -> str:
    """Return the lines for what the fabric must give, which are the profile's."""
    profile = PROFILES[wanted.workload]
    ratio = (
        f"    # max_oversubscription: {profile.max_oversubscription:g}  # at each boundary between tiers; the profile's"
    )
    return f"{ratio}\n{_bandwidth(wanted, profile.min_gbps_per_gpu)}"


def _rows(servers: int, server: Server) -> int:
    """Return the rows of an example floor: as many as the servers fill, and one more for the network."""
    per_rack = servers_per_rack(Site(floor=Floor(rows=1, racks_per_row=_RACKS_PER_ROW)), server) or 1
    return min(MAX_ROWS, ceil_div(racks_needed(servers, per_rack), _RACKS_PER_ROW) + 1)


def _bandwidth(wanted: Starter, asked_gbps: float) -> str:
    """Return the line for ``min_gbps_per_gpu``: the profile's, or less where no NIC in this server can
    give that much.
    """
    inputs = _inputs(wanted, min_gbps_per_gpu=_ANY_GBPS)
    options = problem_of(inputs.case, inputs.catalog).fabrics[0].nics.values()
    most = max((option.injection / 1000 for group in options for option in group), default=Fraction(0))
    if not 0 < most < asked_gbps:
        return f"    # min_gbps_per_gpu: {asked_gbps:g}  # what each GPU must get; the profile's"
    less = next((speed for speed in _PORT_SPEEDS_GBPS if speed <= most), None)
    value = less if less is not None else float(most)
    return f"    min_gbps_per_gpu: {value:g}  # the profile asks {asked_gbps:g}, more than this server's NICs can give"


def _catalog(text: str, folder: Path) -> str:
    """Return a catalog as the case file names it: paths were given from the working directory."""
    if not is_path(text):
        return text
    relative = Path(os.path.relpath(text, folder)).as_posix()
    return relative if "/" in relative or is_path(relative) else f"./{relative}"


def _as_text(word: str) -> str:
    """Return a word as YAML that is text, in quotes where it would be read as a number or a truth."""
    return word if parse_yaml(word.encode(), "") == word else json.dumps(word)


def _place(schema: Path, folder: Path) -> str:
    """Return the schema's path for an editor: relative within a checkout, so that it can be shared, else absolute."""
    if folder.resolve().is_relative_to(checkout().resolve()):
        return Path(os.path.relpath(schema.resolve(), folder.resolve())).as_posix()
    return schema.resolve().as_posix()


def with_schema(text: str, folder: Path, schema: Path) -> str:
    """A case's text with the line for editors as it is in ``folder``."""
    return _SCHEMA_LINE.sub(lambda match: match[1] + _place(schema, folder), text, count=1)


_TEMPLATE = """\
{schema}# A starter case, written by `fabopt new`; its design:
#
#     fabopt solve {file}.yaml
#
# A key that is commented out shows its default, or an example where it says so. Editors with a YAML language server
# (VS Code: the Red Hat YAML extension) complete and check the keys.

name: {name}
description: "{described}"
catalog: {catalog}  # names, see `fabopt catalog list`, or paths relative to this file
# prices: []  # price books, by name or path; later ones win

server: {server}  # `fabopt catalog list servers` names others
{size}

# Sets what a fabric below leaves out, as max_oversubscription / min_gbps_per_gpu:
{profiles}
workload: {{{workload}}}

fabrics:
  - name: compute
    role: compute
    protocol: {protocol}  # any, ethernet or infiniband
    tiers: any  # any, 1, 2 or 3 tiers of switches, or a list of them
    # planes: 1  # disjoint copies of the network that share no switch
    # rails: aligned  # aligned: port i of every server of a group is on one leaf; or any
{demands}
    # nics: any  # or a list of ids
    # switches: {{leaf: any, spine: any, core: any}}
    # reserve_ports: 0  # fraction of each leaf's down ports to keep free
    # attachments:  # other endpoints on the leaves (example)
    #   - {{name: subnet-manager, ports: 4, gbps: 400, buys: none}}

{site}
{limits}
# finance: {{energy_usd_per_kwh: 0.10, pue: 1.4, years: 5}}  # what tco_usd is made of
# include_servers: false  # true: the servers' price and power count too
objective: capex_usd  # minimized: capex_usd, tco_usd or power_w
"""

_ONE_STAGE = """\
gpus: {gpus}  # {servers:,} servers of {gpus_each} GPUs; or write `servers: {servers}`
# stages:  # growth, in place of `gpus` (example)
#   - {{name: day-1, month: 0, servers: {first}}}
#   - {{name: month-18, month: 18, servers: {servers}}}"""

_TWO_STAGES = """\
stages:  # growth, in servers of {gpus_each} GPUs; one stage alone is `servers: {servers}`
  - {{name: day-1, month: 0, servers: {servers}}}
  - {{name: month-{months}, month: {months}, servers: {later}}}"""

_OF_MODEL = """\
    # max_oversubscription: 1  # at each boundary between tiers; left out, it follows from the model
    # min_gbps_per_gpu: 400  # what each GPU must get; left out, it follows from the model"""

_SITE = """\
# Cable runs follow from the racks that groups of servers fill, unless they are said here or measured on a floor.
site:
  distances_m: null  # or in metres {{server-leaf: 3, leaf-spine: 30, spine-core: 50}}, or some of them
  # servers_per_rack: 4  # (example); on a floor, as many as fit if left out
  # floor:  # rows of racks under cable trays, from which runs are measured (example)
  #   rows: {rows}
  #   racks_per_row: {racks_per_row}
  #   rack_units: 48
  #   rack_power_w: null  # power of a rack; null: no limit
  #   network_racks: any  # where switches may be: any, middle, end, row, or a list of racks
  #   blocked: []  # columns and missing racks, such as [A01, B01]
"""

_HALL = """\
# Cable runs are measured on the floor, along trays over its rows.
site:
  # servers_per_rack: 4  # (example); as many as fit if left out
  floor:
    rows: {rows}
    racks_per_row: {racks_per_row}
    # rack_units: 48
    # rack_power_w: null  # power of a rack; null: no limit
    # network_racks: any  # where switches may be: any, middle, end, row, or a list of racks
    # blocked: []  # columns and missing racks, such as [A01, B01]
"""
