"""Figures of a side by which it is compared: money, power, bandwidth, what it withstands, what it is, its case."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from fabopt.inspect.differences.sides import Compared
from fabopt.schema.design import FabricDesign, Number
from fabopt.schema.in_service import IN_SERVICE
from fabopt.schema.losses import SinglePoint
from fabopt.units import largest, usd
from fabopt.verify.proof import EDITIONS, named_edition

Group = Literal["rules and failures", "money", "power and space", "bandwidth", "network", "case"]
GROUPS: tuple[Group, ...] = ("rules and failures", "money", "power and space", "bandwidth", "network", "case")
RULE, FABRIC = "rule ", "fabric "
PER_GPU, PER_EFFECTIVE_GPU = "purchase price per GPU", "cost per effective GPU"
_ADDED = {PER_GPU: "purchase price per GPU added", PER_EFFECTIVE_GPU: "servers and what is bought, per effective GPU"}
# What a text is of which there is nothing.
NONE = "-"
Unit = Literal["usd", "w", "gbps", "count", "ratio", "s", "share", "rule", "fabric", "weeks", "text"]
Sense = Literal["less", "more", ""]
Value = Number | str | None


class Name(NamedTuple):
    """What a figure is: its group, the fabric (empty where there is one in each side, or for all), and words."""

    group: Group
    fabric: str
    what: str


class Fact(NamedTuple):
    """A figure of a side, its unit, and which is better; a value of None is not known."""

    value: Value
    unit: Unit = "count"
    sense: Sense = "less"


class Difference(NamedTuple):
    """A figure that is not the same on all sides; ``better``: numbers of the sides that have the best, from 0."""

    name: Name
    figures: tuple[Fact, ...]
    better: tuple[int, ...]


def differences(sides: Sequence[Compared]) -> tuple[Difference, ...]:
    """The figures that differ, group by group; what a file does not say is no difference.

    Of sides beside other things in service none is better for costing, drawing or filling less, but for each GPU added.
    """
    shared = frozenset.intersection(*(frozenset(_asked(side)) for side in sides))
    alike = frozenset.intersection(*(frozenset(_shapes(side)) for side in sides))
    have_fabrics = max(len(side.design.fabrics) for side in sides) > 1
    columns = [dict(_figures(side, have_fabrics, (shared, alike))) for side in sides]
    bases = [None if side.base is None else (side.base.sha256, side.base.stage) for side in sides]
    if any(bases):
        columns = [{_of_added(name): figure for name, figure in column.items()} for column in columns]
    names = sorted(dict.fromkeys(name for column in columns for name in column), key=_rank)
    rows = ((name, _row(name, columns, sides)) for name in names)
    return tuple(
        Difference(name, row, _better(row) if len({*bases}) == 1 or _is_alike(name) else ())
        for name, row in rows
        if len({figure.value for figure in row if figure.value is not None}) > 1
    )


def _of_added(name: Name) -> Name:
    """A figure's name where a side goes on from what is in service: what its money is of."""
    return name._replace(what=_ADDED.get(name.what, name.what))


def _is_alike(name: Name) -> bool:
    """Whether a figure means the same beside whatever is in service."""
    return name.group not in ("money", "power and space", "network") or name.what == _ADDED[PER_GPU]


def _rank(name: Name) -> tuple[int, bool]:
    """The place of a figure: by group, fabrics and rules before devices."""
    return GROUPS.index(name.group), not name.what.startswith((FABRIC, RULE))


def _row(name: Name, columns: Sequence[Mapping[Name, Fact]], sides: Sequence[Compared]) -> tuple[Fact, ...]:
    """A figure of all sides; of a rule, a text or a key, a whole design that could tell it and does not has none."""
    like = next(column[name] for column in columns if name in column)
    without: Mapping[str, Value] = {"rule": 0, "fabric": 1, "text": NONE}
    absent = without.get(like.unit)
    editions = [[*EDITIONS, named_edition(side.design)].index(named_edition(side.design)) for side in sides]
    can_tell = [
        edition == max(editions) if name.group == "case" else like.unit == "fabric" or _tells_all(side)
        for side, edition in zip(sides, editions, strict=True)
    ]
    return tuple(
        column.get(name, like._replace(value=absent if tells else None))
        for column, tells in zip(columns, can_tell, strict=True)
    )


def _tells_all(side: Compared) -> bool:
    """Whether a side is a design with all its stages, of which every figure is known."""
    return side.is_whole and side.offer is None


def _better(row: Sequence[Fact]) -> tuple[int, ...]:
    values = [figure.value for figure in row]
    known = [value for value in values if isinstance(value, int | float)]
    if not all(figure.sense for figure in row) or row[0].unit == "text" or len(known) < 2:
        return ()
    best = min(known) if row[0].sense == "less" else max(known)
    return tuple(number for number, value in enumerate(values) if value == best)


def _shapes(side: Compared) -> Iterator[tuple[str, str]]:
    """The fabrics of a side with the kinds of their structures."""
    yield from ((fabric.name, fabric.structure.kind) for fabric in side.design.fabrics)


def _figures(
    side: Compared, have_fabrics: bool, told: tuple[Collection[str], Collection[tuple[str, str]]]
) -> Iterator[tuple[Name, Fact]]:
    """``told``: fabrics of which all sides have keys, those of which they have sizes of one kind."""
    shared, alike = told
    yield from _lost(side, have_fabrics)
    yield from _money(side)
    yield from _power(side)
    for fabric in side.design.fabrics:
        is_alike = (fabric.name, fabric.structure.kind) in alike
        yield from _fabric(side, fabric, fabric.name if have_fabrics else "", is_alike)
        for what, text in _texts(side, fabric, is_alike):
            yield Name("network", fabric.name * have_fabrics, what), Fact(text, "text", "")
    for key, value in keys_of(side, shared).items():
        yield Name("case", "", key), Fact(value, "text", "")


def cutting_off(points: Sequence[SinglePoint]) -> tuple[int, int]:
    """Switches, and racks, without any one of which something is cut off."""
    most = largest(((point.fabric, point.device), point.count) for point in points if not point.degraded)
    racks = sum(number for (_, device), number in most.items() if device == "rack")
    return sum(most.values()) - racks, racks


def _lost(side: Compared, have_fabrics: bool) -> Iterator[tuple[Name, Fact]]:
    """Fabrics that are there, default rules left out, devices whose loss cuts something off, what failures leave."""
    design = side.design
    for asked in _asked(side):
        yield Name("rules and failures", "", f"{FABRIC}{asked}"), Fact(0, "fabric")
    for rule in design.rules_left_out:
        yield Name("rules and failures", rule.fabric or "", f"{RULE}{rule.part}"), Fact(1, "rule")
    points = design.single_points_of_failure
    if points is not None and side.is_whole:
        for what, number in zip(("switches", "racks"), cutting_off(points), strict=True):
            yield Name("rules and failures", "", f"{what} that cut something off"), Fact(number)
    for fabric in design.fabrics if side.is_whole else ():
        for failure in fabric.failures:
            what = f"left without {failure.count} {failure.failed}"
            yield (
                Name("rules and failures", fabric.name * have_fabrics, what),
                Fact(failure.gbps_per_gpu, "gbps", "more"),
            )
    if design.worst_rack is not None and side.is_whole:
        hit = design.worst_rack
        yield (
            Name("rules and failures", "", "servers that the worst rack takes"),
            Fact(hit.servers + hit.servers_cut_off),
        )


def _money(side: Compared) -> Iterator[tuple[Name, Fact]]:
    design, totals = side.design, side.design.sums
    # what is not all that was asked for is not better for costing less
    sense: Sense = "" if side.offer is not None and side.notes else "less"
    yield Name("money", "", "purchase price"), Fact(usd(side.cents), "usd", sense)
    if side.offer is not None:
        return
    if len(side.stages) > 1:
        for stage in side.stages:
            yield Name("money", "", f"spent at {stage.name}"), Fact(stage.capex_usd, "usd")
    yearly = sum(row.yearly_usd or 0 for row in side.rows)
    yield Name("money", "", "charges a year"), Fact(round(yearly, 2), "usd")
    weeks = [row.lead_time_weeks for row in side.rows if row.quantity and row.lead_time_weeks is not None]
    yield Name("money", "", "longest lead time"), Fact(max(weeks, default=None), "weeks")
    if not side.is_whole:
        return
    yield Name("money", "", PER_GPU), Fact(totals.capex_usd_per_gpu, "usd")
    yield Name("money", "", "total cost of ownership"), Fact(totals.tco_usd, "usd")
    yield Name("money", "", "answer"), Fact(design.status, "text", "")
    if design.workload is not None:
        use = design.workload
        yield Name("money", "", PER_EFFECTIVE_GPU), Fact(use.usd_per_effective_gpu, "usd")


def _power(side: Compared) -> Iterator[tuple[Name, Fact]]:
    design, totals, last = side.design, side.design.sums, side.stages[-1] if side.stages else None
    if side.offer is not None:
        return
    early = None if side.is_whole else last
    watts, units = (totals.power_w, totals.rack_units) if early is None else (early.power_w, early.rack_units)
    yield Name("power and space", "", "power of the network"), Fact(watts, "w")
    yield Name("power and space", "", "rack units of switches"), Fact(units)
    if last is not None:
        yield Name("network", "", "servers"), Fact(last.servers, "count", "")
        yield Name("network", "", "GPUs"), Fact(last.gpus, "count", "")
    if side.is_whole:
        yield Name("power and space", "", "power of network and servers"), Fact(totals.cluster_power_w, "w")
        yield Name("power and space", "", "racks"), Fact(totals.racks)
        for kind in ("switches", "NICs", "transceivers", "cables"):
            yield Name("network", "", kind), Fact(getattr(totals, kind.lower()), "count", "")
        moved = sum(stage.moved_cables for stage in design.stages)
        yield Name("network", "", "cables moved"), Fact(moved)


def _fabric(side: Compared, fabric: FabricDesign, name: str, is_alike: bool) -> Iterator[tuple[Name, Fact]]:
    """``is_alike``: on all sides of one kind of structure; ratios of others have not the same meaning."""
    metrics, ratios = side.metrics_of(fabric)
    speeds: Mapping[str, Number | None] = {
        "to each GPU": metrics.injection_gbps_per_gpu,
        "bisection per GPU": metrics.bisection_gbps_per_gpu,
        "all-to-all per GPU": metrics.alltoall_gbps_per_gpu,
        "ring all-reduce per GPU": metrics.allreduce_gbps_per_gpu,
        "a single flow": metrics.single_flow_gbps,
    }
    for what, gbps in speeds.items():
        yield Name("bandwidth", name, what), Fact(gbps, "gbps", "more")
    for role, ratio in ratios.items():
        yield Name("bandwidth", name, f"oversubscription of {role}"), Fact(ratio, "ratio", "less" if is_alike else "")
    yield Name("bandwidth", name, "switches on the longest path"), Fact(metrics.max_switch_hops)
    use, served = side.design.workload, side.design.serving
    services = {} if use is None else {f" of {job.name}": job.service for job in use.services}
    services |= {} if served is None else {"": served}
    for whose, service in services.items() if side.is_whole and fabric == side.design.fabrics[0] else ():
        yield Name("bandwidth", "", f"time to the first token{whose}"), Fact(service.ttft_s, "s")
        yield Name("bandwidth", "", f"time of each further token{whose}"), Fact(service.tpot_s, "s")
    if use is not None and side.is_whole and fabric == side.design.fabrics[0]:
        steps = {job.name: job.step_s for job in use.jobs} or {"the model": use.step_s}
        for whose, step_s in steps.items():
            yield Name("bandwidth", "", f"step of {whose}"), Fact(step_s, "s")
        yield Name("bandwidth", "", "utilization of the GPUs"), Fact(use.gpu_utilization, "share", "more")


def _texts(side: Compared, fabric: FabricDesign, has_sizes: bool) -> Iterator[tuple[str, str]]:
    planes = f", {fabric.planes} planes" if fabric.planes > 1 else ""
    yield "family", f"{fabric.protocol} {fabric.topology}{planes}"
    grown = side.stages[-1].fabrics.get(fabric.name) if side.stages and not side.is_whole else None
    for tier in fabric.tiers:
        counts = [(row.count if grown is None else grown.get(tier.role, 0), row.id) for row in tier.types]
        yield tier.role, " + ".join(f"{number:,} x {part}" for number, part in counts)
    nic = fabric.nic
    yield "NICs of a server", f"{nic.per_server} x {nic.id}, {nic.ports_per_nic} x {nic.gbps:g}G each"
    if fabric.homing != "any":
        yield "servers are on", f"{fabric.homing} ({fabric.pairing})"
    if side.is_whole and has_sizes:
        for key, value in _leaves(fabric.structure.model_dump(mode="json"), ""):
            yield key.replace("_", " ").replace(".", ": "), value


def _asked(side: Compared) -> list[str]:
    """The names of the fabrics of a side's case."""
    return [fabric["name"] for fabric in side.design.case.content["fabrics"]]


# What a user says of what is in service.
_OF_LIVE = ("file", "found", "move", "keep")


def keys_of(side: Compared, shared: Collection[str]) -> dict[str, str]:
    """The keys of a side's case as its file has them, dotted; entries of lists by their names.

    Of fabrics only those that are ``shared``; of what is in service its file and what moving it costs.
    """
    content = side.design.case.content
    fabrics = [fabric for fabric in content["fabrics"] if fabric["name"] in shared]
    asked = {key: value for key, value in content.items() if key not in ("name", "description")}
    for word in ("base", "joins"):
        if live := asked.get(word):
            asked[word] = {key: value for key, value in live.items() if key in _OF_LIVE}
    if asked.get("base"):
        asked["stages"] = [stage for stage in asked["stages"] if stage["name"] != IN_SERVICE]
    return dict(_leaves({**asked, "fabrics": fabrics}, ""))


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Dotted keys of a tree of JSON with their values in words."""
    if isinstance(value, list) and value and all(isinstance(entry, dict) and "name" in entry for entry in value):
        value = {str(entry["name"]): {word: entry[word] for word in entry if word != "name"} for entry in value}
    if isinstance(value, dict) and value:
        for word, inner in value.items():
            yield from _leaves(inner, f"{key}.{word}" if key else word)
    elif value in (None, "", [], {}):
        yield key, NONE
    elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        yield key, ", ".join(value)
    elif isinstance(value, float) and value.is_integer():
        yield key, str(int(value))
    else:
        yield key, value if isinstance(value, str) else json.dumps(value)
