"""Spans: the parts of a space in which all links of a kind have one run, where runs follow from the size of the groups.

A run is a step function of the servers of a leaf group, or of a pod, and lengths are on sale in classes. So the sizes
fall into a few spans with equal runs; a space is searched span by span, and no size is in two of them. See
docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.group_runs import GroupRuns, Sizes, classes_of_runs, counted_m
from fabopt.parts.lookup import Lookup
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.link_runs import Span
from fabopt.problem.problem import Problem
from fabopt.topology.clos.shape import Ints, usable_ports
from fabopt.topology.link_parts import Floats
from fabopt.units import ceil_of

# Families whose switches above the leaves join a part of the servers only, and the tiers for which that is so.
PODS = {"clos": (3,), "rail-only": (3,), "dragonfly": (1, 2, 3), "dragonfly+": (1, 2, 3)}
# More servers than any pod has.
NO_END = 2**62
ANY_SIZE = (1, NO_END)
Interval = tuple[int, int]


def spans_of(problem: Problem, fabric: FabricProblem, family: str) -> tuple[FabricProblem, ...]:
    """A fabric in all spans of a family, each with its runs; the fabric alone where runs do not follow from groups."""
    if not fabric.runs.are_open:
        return (fabric,)
    return _SPANS.of(fabric, family, lambda: tuple(_spans(problem, fabric, family)))


_SPANS: Lookup[FabricProblem, str, tuple[FabricProblem, ...]] = Lookup()


# No pod has more servers: its leaves times their ports.
MOST_IN_POD = 10_000_000


def _spans(problem: Problem, fabric: FabricProblem, family: str) -> Iterator[FabricProblem]:
    """The fabric in its spans, the largest groups first, which need the fewest switches."""
    runs, lengths_m, with_pods = fabric.runs.of_groups, problem.item_table.lengths_m, PODS.get(family, ())
    assert runs is not None
    plain = tuple(tier for tier in fabric.shapes.tiers if tier not in with_pods)
    with_pods = tuple(tier for tier in fabric.shapes.tiers if tier in with_pods)
    pods = _intervals(runs, family, "leaf-spine", lengths_m, min(problem.servers, MOST_IN_POD)) if with_pods else []
    last_may_differ = family in ("clos", "rail-only") and fabric.last_may_differ
    group_most = 1 if family == "server-torus" else min(problem.servers, _most_in_group(fabric))
    spans: list[Span] = []
    for group in reversed(_intervals(runs, family, "server-leaf", lengths_m, group_most)):
        if plain:
            spans.append(Span(group, ANY_SIZE, plain))
        differing = fabric.tiers_of_own_last if last_may_differ and group[0] < problem.servers else ()
        if 2 in differing:
            spans.append(Span(group, ANY_SIZE, (2,), own_last=True))
        of_group = [pod for pod in pods if pod[1] >= group[0]]
        spans += (Span(group, pod, with_pods) for pod in of_group)
        if 3 in differing:
            spans += (Span(group, pod, (3,), own_last=True) for pod in of_group)
    return _in_spans(fabric, family, spans, lengths_m)


def _most_in_group(fabric: FabricProblem) -> int:
    """Upper bound of the servers of a group, each of which has at least one port on a leaf."""
    leaves = (leaf for roles in fabric.switches.values() for leaf in roles["leaf"])
    return max((usable_ports(use, leaf) for leaf in leaves for use in leaf.uses), default=1)


def _intervals(runs: GroupRuns, family: str, kind: str, lengths_m: Floats, most: int) -> list[Interval]:
    """The numbers of servers, from 1 on, over which a kind of links counts as equally long; the last is open."""
    racks = int(runs.racks(most))
    last = np.arange(1, racks + 1, dtype=np.int64) * runs.per_rack.number
    of_size = runs.runs_m(family, Sizes(last, last))[kind]
    classes = np.broadcast_to(classes_of_runs(lengths_m, of_size), last.shape)
    ends: Ints = last[np.flatnonzero(np.diff(classes, append=-1))]
    starts = [1, *(ends[:-1] + 1).tolist()]
    return list(zip(starts, [*ends[:-1].tolist(), NO_END], strict=True))


def _in_spans(fabric: FabricProblem, family: str, spans: Sequence[Span], lengths_m: Floats) -> Iterator[FabricProblem]:
    assert fabric.runs.of_groups is not None
    group = np.array([span.group[0] for span in spans], dtype=np.int64)
    pod = np.array([NO_END if span.pod == ANY_SIZE else span.pod[0] for span in spans], dtype=np.int64)
    of_kind = fabric.runs.of_groups.runs_m(family, Sizes(group, pod))
    each_m = {kind: np.broadcast_to(runs, group.shape).tolist() for kind, runs in of_kind.items()}
    for number, span in enumerate(spans):
        counted = {kind: counted_m(lengths_m, runs[number]) for kind, runs in each_m.items()}
        runs = replace(fabric.runs, m=counted, span=span)
        yield replace(fabric, runs=runs, shapes=replace(fabric.shapes, tiers=span.tiers))


Together = tuple[tuple[FabricProblem, tuple[FabricProblem, ...]], ...]


def pods_together(problem: Problem, fabric: FabricProblem, family: str) -> Together:
    """Spans of a family that differ in nothing but their pods, each with a fabric whose runs are no longer than theirs.

    A single span comes with itself.
    """
    if not fabric.runs.are_open:
        return ((fabric, (fabric,)),)
    return _TOGETHER.of(fabric, family, lambda: tuple(_together(spans_of(problem, fabric, family))))


_TOGETHER: Lookup[FabricProblem, str, Together] = Lookup()


def _together(spans: Sequence[FabricProblem]) -> Iterator[tuple[FabricProblem, tuple[FabricProblem, ...]]]:
    for _, same in groupby(spans, key=lambda one: one.runs.span and one.runs.span._replace(pod=ANY_SIZE)):
        parts = tuple(same)
        first, last = parts[0].runs.span, parts[-1].runs.span
        if first is None or last is None or len(parts) == 1:
            yield from ((part, (part,)) for part in parts)
        else:
            runs_m = {kind: min(part.runs.m[kind] for part in parts) for kind in parts[0].runs.m}
            span = Span(first.group, (first.pod[0], last.pod[1]), first.tiers, alike=False)
            yield replace(parts[0], runs=replace(parts[0].runs, m=runs_m, span=span)), parts


# -- sizes of a span --------------------------------------------------------------------------------------------


def groups_wanted(fabric: FabricProblem) -> Interval:
    """The fewest and the most servers of a leaf group."""
    return ANY_SIZE if fabric.runs.span is None else fabric.runs.span.group


def group_sizes(fabric: FabricProblem, most: int) -> Ints:
    """Sizes of a leaf group up to ``most`` that are in the fabric's span and that the case allows, shape (sizes,)."""
    least, last = groups_wanted(fabric)
    g = np.arange(least, min(last, most) + 1, dtype=np.int64)
    given = fabric.leaf_groups.servers
    return g if given is None else g[g == given]


def pod_sizes(fabric: FabricProblem, g: Ints, least: Ints, most: Ints) -> tuple[Ints, Ints]:
    """The fewest and the most groups of a pod, of ``g`` servers each, that are in the fabric's span.

    ``g``, ``least``, ``most`` and the results have shape (rows,).
    """
    if fabric.runs.span is None:
        return least, most
    fewest, last = fabric.runs.span.pod
    return np.maximum(least, ceil_of(fewest, g)), np.minimum(most, last // g)


def in_pods(fabric: FabricProblem, servers: Ints) -> NDArray[np.bool_]:
    """Whether numbers of servers of a pod are in the fabric's span, shape of ``servers``."""
    least, most = ANY_SIZE if fabric.runs.span is None else fabric.runs.span.pod
    return np.asarray((servers >= least) & (servers <= most))
