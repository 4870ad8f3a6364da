"""The space of networks that a design is the best of, in words: families and choices that the case allows."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import listed, money, percent, plain, power
from fabopt.problem.interchangeable import what_keeps_one_product
from fabopt.rules.defaults import INTERCHANGEABLE, is_kept
from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.in_service import LiveFile
from fabopt.schema.last_group import (
    switched_tiers,
    tiers_of_last_groups,
    what_keeps_groups_equal,
    what_keeps_leaves_alike,
)
from fabopt.schema.structure import Structure
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded

_SWITCHED = ("clos", "rail-only")
_FAMILIES = {"clos": "Clos", "hyperx": "HyperX"}
_ANY = "network of any family"
# The pages that define a Clos, all other families, and networks outside of both.
PAGES = ("docs/formulation/clos.md", "docs/formulation/direct-networks.md", "docs/formulation/outside.md")
# What the layouts of a floor are, and where all places of switches are looked at.
FLOOR_PAGE = "docs/formulation/floor.md"
# The policy of a design whose switches might have been in any rack.
_ANYWHERE = "anywhere"


def space_line(design: Design) -> str:
    """The space of every fabric, in one line; fabrics with the same space are told once.

    Empty for a file whose case cannot be read: its checks say so.
    """
    try:
        return _told_once(design)
    except (LookupError, ValueError):
        return ""


def _told_once(design: Design) -> str:
    by_words = grouped((space_of(design, fabric), fabric.name) for fabric in design.fabrics)
    if len(by_words) == 1:
        return next(iter(by_words))
    return "; ".join(f"{words} for {listed(names)}" for words, names in by_words.items())


_TIERS = {2: "two", 3: "three"}


def floor_line(design: Design) -> str:
    """The cost below which no Clos of these parts is, whatever its groups, rails and stripes; empty if not known."""
    objective = design.objective
    if not objective.floor or not objective.value:
        return ""
    below = 1 - objective.floor / objective.value
    tiers = listed([_TIERS[number] for number in sorted({len(fabric.tiers) for fabric in design.fabrics})], "or")
    ratios = {f"{plain(ratio)}:1" for fabric in design.fabrics for ratio in _allowed(design, fabric)}
    ratio = f" at {ratios.pop()}" if len(ratios) == 1 else ""
    least = money(objective.floor) if "usd" in objective.metric else power(objective.floor)
    takes = "costs" if "usd" in objective.metric else "takes"
    return (
        f"no Clos of {tiers} tiers of these parts{ratio} {takes}, under the same rules, less than {least} "
        f"({percent(below)} below), whatever its groups, rails and stripes"
    )


def _allowed(design: Design, fabric: FabricDesign) -> tuple[float, ...]:
    """The ratios that the case allows."""
    most = _fabric(design, fabric).max_oversubscription
    if isinstance(most, Oversubscription):
        return tuple(ratio for ratio in (most.leaf, most.spine) if ratio is not None)
    return () if most is None else (most,)


def pages_line(design: Design) -> str:
    """The pages that define the space, and the page on networks outside of it; empty where there is no
    ``space_line``.
    """
    if not space_line(design):
        return ""
    direct = any(_families(_fabric(design, fabric)) - set(_SWITCHED) for fabric in design.fabrics)
    switched = any(_families(_fabric(design, fabric)) & {*_SWITCHED, "any"} for fabric in design.fabrics)
    inside = [page for page, names in zip(PAGES, (switched, direct), strict=False) if names]
    inside += [FLOOR_PAGE] if any(fabric.places.policy for fabric in design.fabrics) else []
    return f"this space is defined in {listed(inside)}; cheaper ones may be outside: {PAGES[-1]}"


def space_of(design: Design, fabric: FabricDesign) -> str:
    """The networks that a fabric was chosen from: ``Clos with aligned rails, even stripes, ...``."""
    return f"{_networks(design, fabric)}{_places(fabric)}"


def _places(fabric: FabricDesign) -> str:
    """Layouts of switches on a floor that were compared: places given by a rule in a few layouts, or all places."""
    policy = fabric.places.policy
    if not policy:
        return ""
    return ", in any place" if policy == _ANYWHERE else ", placed by the rule of a layout"


def _networks(design: Design, fabric: FabricDesign) -> str:
    asked = _fabric(design, fabric)
    families = _families(asked)
    kinds = _ANY if "any" in families else listed([_FAMILIES.get(name, name) for name in asked.topologies], "or")
    if not families & {*_SWITCHED, "any"}:
        if families == {"torus"} and asked.torus_nodes == "servers":
            return "switchless torus"
        may_have_none = "torus" in families and asked.torus_nodes == "any"
        types = f"one switch type{' a tier' * ('dragonfly+' in families)}{' or none' * may_have_none}"
        return f"{kinds} with equal groups, {types}"
    tiers = asked.tiers if isinstance(asked.tiers, tuple) else (asked.tiers,)
    if tiers == (1,):
        return f"{kinds} of one tier"
    if asked.tiers != "any":
        kinds = f"{kinds} of {listed([str(number) for number in tiers], 'or')} tiers"
    words = [
        f"{asked.rails} rails",
        f"{asked.striping} stripes",
        _groups(design, asked),
        _switch_types(design, asked, fabric.protocol),
    ]
    words.insert(0, _planes(asked.planes))
    case = Embedded(design).case
    base, joins = case.base, case.joins
    joined = None if joins is None else joins.of(fabric.name)
    if joins is not None and joined is not None:
        own = "leaves" if joined.role == "spine" else "leaves and spines"
        words.append(f"{own} of its own on free ports of all {joined.role}s in service ({_live(joins)})")
    if base is not None:
        mixes = is_kept(case.rules, INTERCHANGEABLE) and not any(what_keeps_one_product(case, asked))
        others = "other switches with its ports or " * mixes
        still = f"as it is, with more of its parts, {others}optics that fit, at its speeds"
        how = still if base.move is None else "moved or taken out at a price, what stays found in order of number"
        words.append(f"what is in service ({_live(base)}) {how}")
    return f"{kinds} with {', '.join(words)}"


def _live(said: LiveFile) -> str:
    """The file of what is in service, and of its ports where these were found."""
    return said.file if said.found is None else f"{said.file} with the ports of {said.found}"


def _groups(design: Design, asked: Fabric) -> str:
    """The leaf groups allowed: whether the last one may be unlike the others, and why not where it may not."""
    racks = asked.racks_per_group is not None
    groups = "groups of whole racks" if racks else "equal groups"
    if not _may_have_own_last_group(design, asked):
        return groups
    case = Embedded(design).case
    structures = (one.structure for one in design.fabrics if one.name == asked.name)
    if case.base is not None and any(isinstance(one, Structure) and one.last_group for one in structures):
        return f"{groups} but for one in service"
    equal, differing = list(what_keeps_groups_equal(case, asked)), tiers_of_last_groups(case)
    if equal:
        return f"{groups} (the last one too {listed(equal, 'or')})"
    last = "the last" if set(switched_tiers(asked)) <= set(differing) else f"the last of {_TIERS[differing[0]]} tiers"
    even = "" if asked.striping == "even" else ", which has even stripes"
    return f"{groups}{', alike' if racks else ''} but for {last}{even}"


def _may_have_own_last_group(design: Design, asked: Fabric) -> bool:
    """Whether the case allows a last group unlike the others; files of the first version do not, theirs are equal."""
    return asked.groups == "any" and design.rules is not None and bool(switched_tiers(asked))


def _switch_types(design: Design, asked: Fabric, protocol: str) -> str:
    """Number of switch types that a tier may have; two types of spines only in files of 0.2."""
    alike = "one switch type a tier"
    if _may_have_own_last_group(design, asked):
        own = not any(what_keeps_leaves_alike(Embedded(design).case, protocol))
        own_leaves = own and not any(what_keeps_groups_equal(Embedded(design).case, asked))
        alike += " (leaves of the last group may be of another with the same ports)" if own_leaves else ""
    stand_ins, case = list(_stand_ins(design, asked)), Embedded(design).case
    if any(product != beside for product, beside in stand_ins):
        if case.base is None:  # else its own words say so
            alike += ", but for interchangeable ones in place of what cannot be had"
    elif stand_ins:
        alike += ", of several vendors"
    return alike if asked.spines == "one-type" else f"{alike} (spines may be of two)"


def _stand_ins(design: Design, asked: Fabric) -> Iterator[tuple[object, object]]:
    """Products of stand-in switches, each with the product of its tier, of whichever vendor."""
    for tier in (tier for fabric in design.fabrics if fabric.name == asked.name for tier in fabric.tiers):
        for own in tier.stand_ins:
            product, beside = (design.parts.get(id_, {}).get("offer_of") or id_ for id_ in (own.id, tier.id))
            yield product, beside


def _planes(planes: str | int | tuple[int, ...]) -> str:
    if isinstance(planes, str):
        return "a plane a rail" if planes == "rails" else "any planes"
    numbers = (planes,) if isinstance(planes, int) else planes
    return "one plane" if numbers == (1,) else f"{listed([str(number) for number in numbers], 'or')} planes"


def _families(asked: Fabric) -> set[str]:
    return set(asked.topologies)


def _fabric(design: Design, fabric: FabricDesign) -> Fabric:
    for asked in Embedded(design).case.fabrics:
        if asked.name == fabric.name:
            return asked
    raise LookupError(f"the case has no fabric {fabric.name}")
