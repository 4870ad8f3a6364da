"""Why a product is not in an answer: what it lacks, which key or rule leaves it out, or that no part joins it.

By arithmetic alone, without a search. A product is a candidate if a fabric may have it and something on sale joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product as pairs
from typing import NamedTuple

from fabopt.explain.freedoms import freedoms_of_case, mapped, of_all_splits, payable, with_prices
from fabopt.explain.gaps import CLOS, ENDS, OF_LEAVES, OF_SERVERS, fillers, ports_of
from fabopt.explain.in_service import put_together_anew
from fabopt.explain.what_if import Inquiry
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.unlisted_parts import MOST_PAIRS, cage_ends, unjoined, with_any_optics
from fabopt.schema.base import Strict
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, ByLength, Catalog, Nic, Switch
from fabopt.schema.product import Product

# What a product lacks, by the key of the catalog.
PRICE, POWER, SPLITS, PARTS = "price_usd", "power_w", "cages", "parts"
# Kinds of items that are at the ends of links.
DEVICES = ("switch", "nic")
NO_SPLIT = "has no split at a speed that the case needs"
# For a price that is not known.
ANY_USD = 1.0


class Lack(NamedTuple):
    """A key of the catalog that a product lacks, and why that keeps it out, in words that go on after its id."""

    key: str
    why: str


class Obstacles(NamedTuple):
    """What keeps a product out: all that it lacks, and besides, keys of the case or the catalog of which each alone
    would let it in, in words. Both empty: it is a candidate.
    """

    lacks: tuple[Lack, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def lacks_only(self) -> str:
        """The only key that it lacks, where nothing else keeps it out; else empty."""
        return self.lacks[0].key if len(self.lacks) == 1 and not self.others else ""


def obstacles_to(inquiry: Inquiry, product: Product) -> Obstacles:
    """What keeps a product out of all fabrics of a case."""
    lacks, catalog = _filled(inquiry, product)
    asked = _problem(inquiry.case, catalog)
    if is_candidate(asked, product.id):
        return Obstacles(lacks)
    others = list(_ways_in(inquiry, asked, product))
    if others:
        return Obstacles(lacks, tuple(others))
    if others := list(_without_base(inquiry, catalog, product)):
        return Obstacles(lacks, tuple(others))
    split = _with(catalog, product.id, of_all_splits(inquiry.catalog))
    if is_candidate(_problem(inquiry.case, split), product.id):
        return Obstacles((*lacks, Lack(SPLITS, NO_SPLIT)))
    if isinstance(product, Nic) and not _is_fast_enough(asked, product):
        return Obstacles(lacks, ("no single change: no number of it that fits the server gives a GPU what is asked",))
    return Obstacles((*lacks, Lack(PARTS, _unjoined(asked, product))))


def lacking_only(inquiry: Inquiry) -> Iterator[tuple[str, tuple[Lack, ...]]]:
    """Ids of listed products that what they lack would make candidates, with that: a price, a power figure or both; of
    switches and NICs with these a split that others of their cages have, or a matching part.
    """
    splits = of_all_splits(inquiry.catalog)
    with_splits = _problem(inquiry.case, mapped(inquiry.catalog, splits))
    with_parts = _problem(inquiry.case, with_any_optics(inquiry.catalog, ANY_USD, payable(inquiry.case)))
    for product in (product for kind in KINDS[:-1] for product in getattr(inquiry.catalog, kind)):
        lacks, catalog = _filled(inquiry, product)
        if product.end_of_life or (not lacks and is_candidate(inquiry.problem, product.id)):
            continue
        if lacks:
            if is_candidate(_problem(inquiry.case, catalog), product.id):
                yield product.id, lacks
        elif isinstance(product, Switch | Nic) and is_candidate(with_splits, product.id):
            if is_candidate(_problem(inquiry.case, _with(inquiry.catalog, product.id, splits)), product.id):
                yield product.id, (Lack(SPLITS, NO_SPLIT),)
        elif isinstance(product, Switch | Nic) and is_candidate(with_parts, product.id):
            yield product.id, (Lack(PARTS, _unjoined(inquiry.problem, product)),)


def _is_fast_enough(problem: Problem, nic: Nic) -> bool:
    """Whether some number of a NIC gives the GPUs of some fabric their bandwidth."""
    options = (option for fabric in problem.fabrics for of in fabric.nics.values() for option in of)
    return any(option.nic_id == nic.id for option in options)


def _problem(case: Case, catalog: Catalog) -> Problem:
    return problem_of(case, catalog, prune=False)


def _with(catalog: Catalog, id_: str, update: Callable[[Strict], dict[str, object]]) -> Catalog:
    """The catalog with keys of one product, or of each of its lengths, changed."""

    def changed(product: Product) -> Product:
        update_of_it = {key: value for key, value in update(product).items() if key in type(product).model_fields}
        return product.model_copy(update=update_of_it) if product.id == id_ else product

    kinds = ("switches", "nics", "transceivers", "cables", "fibres")
    return catalog.model_copy(update={kind: tuple(map(changed, getattr(catalog, kind))) for kind in kinds})


def _filled(inquiry: Inquiry, product: Product) -> tuple[tuple[Lack, ...], Catalog]:
    """What a product lacks of a price that may be paid and a power figure, and the catalog with both."""
    lacks: list[Lack] = []
    catalog, unpaid = with_prices(inquiry, ANY_USD, product.id)
    is_priced = len(unpaid) < len(getattr(product, "lengths", (product,)))
    if is_priced or any(nic.id == product.id for nic in inquiry.problem.server.nics):
        catalog = inquiry.catalog
    else:
        lacks.append(Lack(PRICE, next(iter(unpaid.values()))))
    if getattr(product, POWER, 0) is None:
        lacks.append(Lack(POWER, "has no power figure, so it is listed, never chosen"))
        catalog = _with(catalog, product.id, partial(_set, POWER, 0.0))
    return tuple(lacks), catalog


def _ways_in(inquiry: Inquiry, asked: Problem, product: Product) -> Iterator[str]:
    """The single changes, to the case or to what the catalog says of the product, that let it in, in words.

    ``asked``: the problem in which it has a price and a power figure.
    """
    catalog = asked.catalog
    for key, value, why in (
        ("end_of_life", False, "is at the end of its life, and taken only where the case names it"),
        ("works_with", (), "works with other vendors only"),
        ("coded_for", (), "is coded for other makers"),
    ):
        if getattr(product, key, value) != value:
            changed = _with(catalog, product.id, partial(_set, key, value))
            if is_candidate(_problem(inquiry.case, changed), product.id):
                yield f"`catalog.{product.id}.{key}` (it {why})"
    told: set[str] = set()
    is_left_out = False
    for meant in asked.fabrics:
        left_out = (option for of in meant.other_nics.by_rules.values() for option in of if option.nic_id == product.id)
        broken = sorted((sorted(option.breaks) for option in left_out), key=len)
        if broken:
            rules = " and ".join(f"`{rule}`" for rule in broken[0])
            is_left_out = True
            yield f"without default rule {rules}, which leaves it out of {meant.name}"
    if is_left_out:
        return
    for _, fabric, _ in inquiry.fabrics:
        for freedom in freedoms_of_case(inquiry, fabric):
            words = freedom.says([product.id])
            if words not in told and is_candidate(_problem(freedom.case, catalog), product.id):
                told.add(words)
                yield words


def _without_base(inquiry: Inquiry, catalog: Catalog, product: Product) -> Iterator[str]:
    """What lets a device in that does not go with those in service, which stay; ``catalog``: as of ``_ways_in``."""
    if inquiry.case.base is None or inquiry.case.base.move is not None or not isinstance(product, Switch | Nic):
        return
    anew = put_together_anew(inquiry.case)
    asked = _problem(anew, catalog)
    words = f"`base: null` (beside {inquiry.case.base.file} come more of its own, or what is interchangeable with them)"
    if is_candidate(asked, product.id):
        yield words
        return
    for way in _ways_in(replace(inquiry, case=anew, problem=_problem(anew, inquiry.catalog)), asked, product):
        yield f"{way} with {words}"


def _set(key: str, value: object, _: Strict) -> dict[str, object]:
    return {key: value}


def is_candidate(problem: Problem, id_: str) -> bool:
    """Whether some fabric may have a product, and something on sale joins it, at some speed over some run."""
    return any(
        _may_have(problem, fabric, protocol, step, id_)
        for fabric in problem.fabrics
        for protocol in fabric.protocols
        for step in _links(fabric)
    )


def _links(fabric: FabricProblem) -> Iterator[str]:
    """Kinds of links of all networks that a fabric may be."""
    if fabric.shapes.have_tiered:
        yield from (step for steps in CLOS[: max(fabric.shapes.tiers, default=1)] for step in steps if step in ENDS)
    if fabric.shapes.have_direct:
        yield from (step for step in (*OF_LEAVES, *OF_SERVERS) if step in ENDS)


def _may_have(problem: Problem, fabric: FabricProblem, protocol: str, step: str, id_: str) -> bool:
    """Whether links of a kind may have a product at an end, or as a part."""
    near, far, run = ENDS[step]
    own: list[tuple[list[PortType], str]] = []
    for end, other in ((near, far), (far, near)):
        if end == "server":
            ports = [nic.port for nic in fabric.nics.get(protocol, ()) if nic.nic_id == id_]
        else:
            mixed = fabric.interchangeable.products if fabric.interchangeable is not None else {}
            beside = (one for (role, _), many in mixed.items() if role == end for one in many)
            switches = (*fabric.switches[protocol][end], *beside)
            ports = [use.port for one in switches if one.id == id_ for use in one.uses]
        own.append((list(dict.fromkeys(ports)), other))
    run_m = fabric.runs.m[run]
    for ports, other in own:
        if any(
            problem.links.assemblies(one, peer, run_m, protocol, True, True)
            for one in ports
            for peer in ports_of(fabric, other, protocol)
            if one.lane.port_mbps == peer.lane.port_mbps
        ):
            return True
    item = problem.item_table.item(id_)
    if item is not None and item.kind in DEVICES:
        return False
    return any(any(sold == id_ for sold, _ in way) for way in fillers(problem, fabric, step, protocol))


def _unjoined(problem: Problem, product: Product) -> str:
    """Why nothing joins a product, or no device takes it."""
    if isinstance(product, Switch | Nic):
        told = list(dict.fromkeys(_missing(problem, product.id)))[:MOST_PAIRS]
        splits = ", ".join(dict.fromkeys(split for cage in product.cages for split in cage.splits))
        none = f"nothing on sale joins its cages ({splits}) to what is at the other end of a link"
        return f"has no matching part: {'; '.join(told) or none}"
    if isinstance(product, ByLength):
        longest = max((length.m for length in product.lengths), default=0.0)
        runs = [run for fabric in problem.fabrics for run in fabric.runs.m.values()]
        if runs and longest < min(runs):
            return f"has no length for the runs of the case: {longest:g} m at most, {min(runs):g} m at least"
    return "has no matching part: no devices and parts on sale that the case allows take it at both ends of a link"


def _missing(problem: Problem, id_: str) -> Iterator[str]:
    """What would join the cages of a device to those at the other ends of its links, in words."""
    for fabric in problem.fabrics:
        for protocol, step in pairs(fabric.protocols, _links(fabric)):
            near, far, run = ENDS[step]
            for end, other in dict.fromkeys(((near, far), (far, near))):
                own = {cages: [id_] for cages, ids in cage_ends(problem, fabric, end, protocol).items() if id_ in ids}
                yield from unjoined(
                    problem, (own, cage_ends(problem, fabric, other, protocol)), fabric.runs.m[run], protocol
                )
