"""The file of what is in service, read: of a case that goes on from it, or whose pod joins it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from fabopt.errors import Fault, fault, refusal
from fabopt.io.design import parse_json, read_plan, whole_design
from fabopt.io.faults import document_of, refuse_any
from fabopt.io.library import MAX_LIST_BYTES, YAML_ENDINGS, check_is_file, read_bytes, shown
from fabopt.io.tables import COLUMNS, rows_of, text_of
from fabopt.io.text import DESIGN
from fabopt.problem.out_of_band import is_counted
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Case
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.in_service import Base, LiveFile
from fabopt.schema.installed import all_live, fabric_at
from fabopt.schema.operate import is_usual, span
from fabopt.schema.plan import PlanFile

AnyLive = TypeVar("AnyLive", bound=LiveFile)
# Of the file, what a design does not go on from.
_LEFT_OUT = ("alternatives", "notes")
_SOLVE_ITS_CASE = "solve its case with what the point says, `fabopt solve CASE --json design.json`"
_DESIGN = replace(
    DESIGN,
    instead={
        "sweep or front": f"a point of it is no file: {_SOLVE_ITS_CASE}, and name that",
        "plan": "a plan is taken where its file's name ends in .yaml, as `fabopt export --to plan` writes it",
    },
)


class LiveDesign(NamedTuple):
    """What is in service: a design, which of its stages from 0, its case, and how messages name its file."""

    design: Design
    stage: int
    case: Case
    file: str

    @property
    def servers(self) -> int:
        """Servers in service."""
        return self.design.stages[self.stage].servers

    @property
    def fabrics(self) -> list[FabricDesign]:
        """The fabrics in service."""
        return [fabric_at(fabric, self.stage) for fabric in self.design.fabrics]

    def attachments(self, name: str) -> tuple[Attachment, ...]:
        """The attachments of a fabric in service, but those whose ports are counted."""
        there = (
            one
            for fabric in self.case.fabrics
            if fabric.name == name
            for one in fabric.attachments
            if one.first_stage <= self.stage and not is_counted(fabric, one.name)
        )
        return tuple(one.model_copy(update={"adds": ()}) for one in there)


def further(live: LiveDesign) -> Iterator[LiveDesign]:
    """What is joined by what is in service, one after the other."""
    for said, design in all_live(live.case.joins):
        told = Case.model_validate_json(json.dumps(design.case.content))
        yield LiveDesign(design, said.stage, told, said.file)


def read_live(said: AnyLive, folder: Path, file: str) -> tuple[AnyLive, LiveDesign, str]:
    """What a case says of what is in service, filled in; its design, and the name of the stage that the case says.

    ``folder``: of paths in the case; ``file``: its name in messages. ``InputError`` lists all faults.
    """
    given, key = said, "base" if isinstance(said, Base) else "joins"
    path, stage, plan = _named(folder, said.file)
    check_is_file(str(path))
    data = read_bytes(path)
    design = whole_design(document_of(Design, parse_json(data, shown(path), _DESIGN), shown(path)), shown(path))
    content: dict[str, Any] = design.model_dump(mode="json", by_alias=True, exclude=set(_LEFT_OUT))
    said = _as_found(said, folder, {"sha256": sha256(data).hexdigest(), "design": content, "plan": None})
    if plan is not None:
        if plan.sha256 != design.case.sha256:
            raise refusal(
                file,
                f"{key}.file",
                f"{shown(path)} is not the design of this plan",
                said.file,
                hint="export the plan again",
            )
        said = said.model_copy(update={"plan": plan.model_dump(mode="json", exclude_none=True)})
    refuse_any([*_filled_otherwise(given, said, key, file)])
    told = Case.model_validate_json(json.dumps(design.case.content))
    return said, LiveDesign(design, said.stage, told, shown(path)), stage


def _filled_otherwise(given: LiveFile, said: LiveFile, key: str, file: str) -> Iterator[Fault]:
    """What a case says of the files itself, where these say otherwise; ``said``: what they do."""
    for name in ("sha256", "found_sha256", "found_cables", "plan"):
        value, right = getattr(given, name), getattr(said, name)
        if value not in (None, right):
            problem, hint = "is filled in from the files, which say otherwise", "leave it out"
            allowed = right if isinstance(right, str) and name.endswith("256") else ""
            yield fault(file, f"{key}.{name}", problem, value, allowed=allowed, hint=hint)


def check_design(said: LiveFile, key: str, file: str) -> None:
    """Raise ``InputError`` if what a case gives as the design that is in service, or as its plan, is none."""
    kinds: dict[str, type[BaseModel]] = {"design": Design, "plan": PlanFile}
    for name, kind in kinds.items():
        try:
            value = getattr(said, name)
            if value is not None:
                kind.model_validate_json(json.dumps(value))
        except ValidationError:
            raise refusal(
                file,
                f"{key}.{name}",
                f"is filled in when `{key}.file` is read, and this is no {name}",
                hint="leave it out",
            ) from None


def _as_found(said: AnyLive, folder: Path, design: dict[str, Any]) -> AnyLive:
    """What a case says, with what its design says, and what a table of its cables, with the hash of that."""
    if said.found is None:
        return said.model_copy(update=design | {"found_sha256": None, "found_cables": None})
    path = folder / said.found
    check_is_file(str(path))
    data = read_bytes(path, MAX_LIST_BYTES)
    text = text_of(data, shown(path))
    if not list(rows_of(text, shown(path), COLUMNS)):
        raise refusal(shown(path), "", "no cable is in this table", allowed="all cables in service")
    return said.model_copy(update=design | {"found_sha256": sha256(data).hexdigest(), "found_cables": text})


def _named(folder: Path, text: str) -> tuple[Path, str, PlanFile | None]:
    """The file of the design and the stage that a name says, and the plan if it is one; a file of just that name goes
    first.
    """
    path, stage = folder / text, ""
    if not path.exists() and "@" in path.name:
        text, _, stage = text.rpartition("@")
        path = folder / text
    if path.suffix not in YAML_ENDINGS or not path.exists():
        return path, stage, None
    plan = read_plan(str(path))
    if stage not in ("", plan.stage):
        raise refusal(shown(path), "stage", "this plan is of another stage", plan.stage, allowed=stage)
    if plan.design is None:
        raise refusal(
            shown(path),
            "design",
            "this plan does not say which file its design is",
            hint=f"a point of a study has none: {_SOLVE_ITS_CASE}, and export the plan of that",
        )
    return path.parent / plan.design, plan.stage, plan


def unfit(live: LiveDesign, stage: str, key: str, file: str) -> Iterator[Fault]:
    """What keeps a design from being in service at all; ``stage``: its name, if the case says one, by ``key``."""
    design, names = live.design, [one.name for one in live.design.stages]
    if not design.fabrics or not names:
        allowed = "a design that was found (status optimal or feasible)"
        yield fault(live.file, "status", "there is no design here", design.status, allowed=allowed)
    elif stage and stage not in names:
        yield fault(file, key, "the design has no such stage", stage, allowed=", ".join(names))


def run_on(case: Case, base: LiveDesign) -> Case:
    """The case with its fabrics in the order in which NICs and VLANs of the base are numbered, and run as that is."""
    names = [one.name for one in base.design.fabrics]
    fabrics = tuple(sorted(case.fabrics, key=lambda fabric: [*names, fabric.name].index(fabric.name)))
    operate = base.case.operate if is_usual(case.operate) else case.operate
    return case.model_copy(update={"fabrics": fabrics, "operate": operate})


def run_otherwise(case: Case, base: LiveDesign, file: str) -> Iterator[Fault]:
    """Keys of ``operate`` by which names or addresses in service would be others; pools may be larger."""
    theirs, ours = base.case.operate.model_dump(mode="json"), case.operate.model_dump(mode="json")
    for key in () if is_usual(case.operate) else (key for key in ours if key != "queues"):
        stays = ours[key] == theirs[key]
        if key in ("systems", "hcas"):
            stays = theirs[key].items() <= ours[key].items()
        elif key in base.case.operate.pools and ours[key] != "unnumbered":
            own, other = IPv4Network(ours[key]), IPv4Network(theirs[key])
            stays = own.network_address == other.network_address and own.supernet_of(other)
        elif key in ("asns", "vlans"):
            (first, last), (their_first, their_last) = span(ours[key]), span(theirs[key])
            stays = first == their_first and last >= their_last
        if not stays:
            problem = f"names and addresses in service are of another in {base.file}"
            hint = "leave `operate` out to go on with that of the base"
            yield fault(file, f"operate.{key}", problem, ours[key], allowed=str(theirs[key]), hint=hint)
