"""Products of new switches beside those in service, where racks tell them apart by what they load a rack with.

A tier is sized with the hungriest product that its new switches may be of. So that a hungry one which the case allows
takes no room from a lean one, a fabric is looked at once for each product: with all of that one's load or less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from fabopt.floor.loads import ANY_LOAD
from fabopt.parts.lookup import Lookup
from fabopt.parts.switches import SwitchType
from fabopt.problem.attachments import Twin
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.interchangeable import InterchangeableSwitches, TierInService
from fabopt.problem.problem import Problem
from fabopt.schema.product import OUTLETS
from fabopt.units import milliwatts

Needs = tuple[float, ...]

_BY_LOAD: Lookup[Problem, FabricProblem, tuple[FabricProblem, ...]] = Lookup()


def by_load(problem: Problem, fabric: FabricProblem) -> tuple[FabricProblem, ...]:
    """A fabric once for each load that new switches of its tiers may have at most; itself alone where racks tell none
    apart.
    """
    rule = fabric.interchangeable
    if rule is None or not rule.beside or problem.site.most_in_rack == ANY_LOAD:
        return (fabric,)
    return _BY_LOAD.of(problem, fabric, lambda: tuple(_by_load(problem, fabric, rule)))


def _by_load(problem: Problem, fabric: FabricProblem, rule: InterchangeableSwitches) -> Iterator[FabricProblem]:
    levels = [[(role, own) for own in _levels(problem, tier)] for role, tier in rule.beside.items()]
    if all(len(of_tier) == 1 for of_tier in levels):
        yield fabric
        return
    for tiers in product(*levels):
        yield replace(fabric, interchangeable=_with(rule, dict(tiers)))


def _levels(problem: Problem, tier: TierInService) -> list[TierInService]:
    """A tier with all products that load a rack no more than one of them, once for each; as it is without any."""
    needs = {one: _needs(problem, one) for one in tier.new}
    least = sorted({*needs.values()})
    ways = ([_within(way, needs, most) for way in tier.ways] for most in least)
    return [tier._replace(ways=tuple(dict.fromkeys(way for way in of_level if way))) for of_level in ways] or [tier]


def _within(way: Iterable[SwitchType], needs: Mapping[SwitchType, Needs], most: Needs) -> tuple[SwitchType, ...]:
    return tuple(one for one in way if all(own <= limit for own, limit in zip(needs[one], most, strict=True)))


def _needs(problem: Problem, switch: SwitchType) -> Needs:
    """Figures of a switch, or of its managed twin if they are more, by which its load never falls with any modules; of
    those alone that some rack limits.
    """
    rules = (fabric.rules.binding_managers for fabric in problem.fabrics)
    twins = (rule.twins[switch.id] for rule in rules if rule is not None and switch.id in rule.twins)
    switches: list[SwitchType | Twin] = [switch, *twins]
    limits = problem.site.most_in_rack._asdict()
    limited = {key for key, most in limits.items() if most < ANY_LOAD._asdict()[key]}
    columns = [_figures(one, limited, problem.site.rack_limits.largest_power) for one in switches]
    return tuple(map(max, zip(*columns, strict=True)))


def _figures(switch: SwitchType | Twin, limited: set[str], largest_power: bool) -> list[float]:
    figures: list[float] = []
    if limited & {"power_mw", "air_mw"}:
        figures += [switch.item.power_mw, milliwatts(switch.product.power_max_w or 0) * largest_power]
    figures += [-(switch.product.liquid_share or 0)] if "air_mw" in limited else []
    figures += [switch.product.weight_kg or 0] if "grams" in limited else []
    inlets: Mapping[str, int] = dict(switch.product.inlets.items())
    return figures + [inlets.get(inlet, 0) for inlet, outlet in OUTLETS.items() if outlet.lower() in limited]


def _with(rule: InterchangeableSwitches, tiers: Mapping[str, TierInService]) -> InterchangeableSwitches:
    """The rule with other products of new switches."""
    products = dict(rule.products)
    for role, tier in tiers.items():
        own = [switch for switch, _ in tier.standing]
        products[role, own[0].id] = tuple({one.id: one for one in (*own, *tier.new)}.values())
    return InterchangeableSwitches(products, tiers)
