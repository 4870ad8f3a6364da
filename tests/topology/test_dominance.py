"""Switches that others take the place of: what keeps one, guard by guard, and answers without any left out."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from fabopt.floor.loads import ANY_LOAD
from fabopt.floor.rack_rules import RackLimits
from fabopt.parts.switches import SwitchType, with_peer_links
from fabopt.problem.attachments import SubnetManagers
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.interchangeable import InterchangeableSwitches
from fabopt.problem.problem import problem_of
from fabopt.problem.site import FlatSite
from fabopt.topology.clos.dominance import SwitchRivals
from fabopt.topology.clos.shape import SwitchUse
from tests.oracles.brute_force import solve
from tests.samples.adapter import assert_agrees, run
from tests.samples.random_cases import Dice, generate
from tests.samples.small import Json, case, catalog, inputs, product

CAGES: Json = {"count": 8, "form_factor": "QSFP-DD", "splits": ["2x200", "1x400"]}
# A module of QSFP112 goes into no other cage, one of QSFP-DD into these too where they say so.
WIDER: Json = {**CAGES, "form_factor": "QSFP112", "accepts": ["QSFP-DD"]}
# Cages for management, which make a switch fit for what another one is not.
APART: Json = {"count": 2, "form_factor": "QSFP56", "splits": ["1x200"]}
TEN_KW = ANY_LOAD._replace(power_mw=10_000_000)
Change = Callable[[Json, Json], object]
Guard = Callable[[FabricProblem], FabricProblem]


def _rivals(change: Change, guard: Guard = lambda fabric: fabric, **site: Any) -> tuple[SwitchRivals, list[SwitchType]]:
    """Two switches with equal cages, of which ``cheap`` costs less and has fewer cages of another group; changed."""
    cheap: Json = {
        "id": "cheap", "protocol": "ethernet", "power_w": 400, "price_usd": 9000, "rack_units": 1, "cages": [CAGES]
    }  # fmt: skip
    dear = {**cheap, "id": "dear", "price_usd": 9001, "cages": [CAGES, APART]}
    change(cheap := copy.deepcopy(cheap), dear := copy.deepcopy(dear))
    parts = {**catalog(), "switches": [cheap, dear]}
    product(parts, "dr4-nic")["power_w"] = 15
    given = inputs({**case(), "procurement": {}}, parts)
    problem = problem_of(given.case, given.catalog, prune=False)
    if site:
        problem = replace(problem, site=FlatSite({}, **site))
    fabric = guard(problem.fabrics[0])
    return SwitchRivals(problem, fabric, "ethernet"), list(fabric.switches["ethernet"]["spine"])


def _uses(switches: list[SwitchType], *splits: str, groups: tuple[int, ...] = (0, 0)) -> list[SwitchUse]:
    """Each switch with the uses of its cages down and up at these splits."""
    looks = list(zip(groups, splits, strict=False))
    of_each = [{(use.group, use.split): use for use in switch.uses} for switch in switches]
    return [SwitchUse(switch, *map(uses.get, looks)) for switch, uses in zip(switches, of_each, strict=True)]


def _kept(uses: list[SwitchUse], rivals: SwitchRivals) -> list[str]:
    return [use.switch.id for use in rivals.undominated_uses(uses)]


def _set(**changes: Any) -> Change:
    return lambda cheap, dear: cheap.update(changes)


def _cages(**changes: Any) -> Change:
    return lambda cheap, dear: cheap["cages"][0].update(changes)


def test_a_switch_takes_the_place_of_another_where_its_cages_in_use_are_as_good() -> None:
    rivals, switches = _rivals(_set())
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap"]
    assert _kept(_uses(switches, "2x200", "1x400"), rivals) == ["cheap"]
    # as a whole it is not as good: the other one has cages that it has not
    assert [switch.id for switch in rivals.undominated(switches)] == ["cheap", "dear"]


@pytest.mark.parametrize(
    "change",
    [
        _set(price_usd=9002),
        _set(power_w=401),
        _set(rack_units=2),
        _set(price_usd=9001),  # of equals all stay
        _set(max_ports=7),
        _set(stock=1),
        _set(price_usd=[{"from": 1, "usd": 9000}, {"from": 9, "usd": 8000}]),
        _cages(count=7),
        _cages(lane_gbps=25),
        _cages(form_factor="OSFP"),
        _cages(count=16, every_second=["1x400"]),
        lambda cheap, dear: (cheap.update(ports_per_cage_pair=1), cheap["cages"][0].update(count=16)),
        lambda cheap, dear: dear["cages"][0].update(count=16, every_second=["1x400"]),
    ],
)
def test_what_keeps_a_switch_beside_a_cheaper_one(change: Change) -> None:
    rivals, switches = _rivals(change)
    assert "dear" in _kept(_uses(switches, "1x400"), rivals)


@pytest.mark.parametrize("change", [_set(power_w=399), _set(rack_units=0.5)])
def test_of_equal_cost_the_leaner_or_smaller_one_is_enough(change: Change) -> None:
    def equal(cheap: Json, dear: Json) -> None:
        change(cheap, dear)
        cheap["price_usd"] = dear["price_usd"]

    rivals, switches = _rivals(equal)
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap"]


def test_ports_that_the_cages_in_use_do_not_have_are_not_missed() -> None:
    """Of cages at 1x400 and 2x200 no more than sixteen ports can be in use, of which the cheap switch drives all."""
    for most, kept in ((16, ["cheap"]), (15, ["cheap", "dear"])):

        def change(cheap: Json, dear: Json, most: int = most) -> None:
            cheap["max_ports"], dear["max_ports"] = most, 18

        rivals, switches = _rivals(change)
        assert _kept(_uses(switches, "2x200", "1x400"), rivals) == kept


def test_two_groups_of_cages_are_more_than_one() -> None:
    def two_groups(cheap: Json, dear: Json) -> None:
        dear["cages"] = [CAGES, CAGES]
        cheap |= {"cages": [CAGES, APART], "max_ports": 64}

    rivals, switches = _rivals(two_groups)
    cheap, dear = switches
    uses = [*_uses([cheap], "1x400", "2x200"), *_uses([dear], "1x400", "2x200", groups=(0, 1))]
    assert _kept(uses, rivals) == ["cheap", "dear"]
    assert _kept(_uses(switches, "1x400", "2x200"), rivals) == ["cheap"]


def test_leaves_of_a_last_group_have_the_ports_of_the_others() -> None:
    rivals, switches = _rivals(lambda cheap, dear: cheap.update(cages=[WIDER]))
    uses = _uses(switches, "1x400")
    assert uses[0].down.port is not uses[1].down.port
    assert _kept(uses, rivals) == ["cheap"]
    assert _kept(uses, replace(rivals, alike=True)) == ["cheap", "dear"]


def test_cages_of_a_peer_link_are_not_in_use_for_others() -> None:
    rivals, switches = _rivals(lambda cheap, dear: dear.update(cages=[{**CAGES, "count": 4}, APART]))
    (paired,) = (leaf for leaf in with_peer_links(switches[0]) if leaf.peers is not None)
    assert _kept(_uses([paired, switches[1]], "1x400"), rivals) == ["cheap", "dear"]
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap"]


def _ruled(fabric: FabricProblem, **rules: Any) -> FabricProblem:
    return replace(fabric, rules=replace(fabric.rules, **rules))


@pytest.mark.parametrize(
    ("change", "guard"),
    [
        (
            lambda cheap, dear: dear.update(features=["sharp"]),
            lambda fabric: replace(fabric, figure_demands=SimpleNamespace(deadline=object())),
        ),
        (
            lambda cheap, dear: dear.update(managed=True),
            lambda fabric: _ruled(fabric, managers=SubnetManagers(1, {}, True)),
        ),
        (
            lambda cheap, dear: cheap.update(asic="Tiny", buffer_pool={"size": 1}),
            lambda fabric: replace(fabric, roce=object()),
        ),
        (
            _set(),
            lambda fabric: replace(fabric, interchangeable=InterchangeableSwitches({("spine", "dear"): ()})),
        ),
        (
            lambda cheap, dear: (cheap.update(asic="New-1"), dear.update(asic="Old-1")),
            lambda fabric: _ruled(fabric, generations=SimpleNamespace(is_asked_for=True)),
        ),
    ],
    ids=["reduces", "managed", "pool", "stand-ins", "generation"],
)
def test_rules_keep_what_they_ask_of_a_switch(change: Change, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a fabric is bound to a rule, the one that keeps it stays."""
    monkeypatch.setattr("fabopt.schema.catalog.Switch.generation", property(lambda switch: switch.asic))
    rivals, switches = _rivals(change, guard)
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap", "dear"]
    rivals, switches = _rivals(change, lambda fabric: _ruled(fabric, generations=None))
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap"]


@pytest.mark.parametrize(
    ("change", "site"),
    [
        (_cages(count=9), {"rack_limits": RackLimits(cable_ends=100)}),
        (_set(power_max_w=900), {"most_in_rack": TEN_KW, "rack_limits": RackLimits(largest_power=True)}),
        (lambda cheap, dear: cheap.update(cages=[WIDER]), {"most_in_rack": TEN_KW}),
    ],
    ids=["cable-ends", "largest-power", "hungrier-modules"],
)
def test_racks_have_room_for_what_takes_the_place(change: Change, site: Json) -> None:
    """More cages are more cable ends, and cages that take other modules may have hungrier ones."""
    rivals, switches = _rivals(change, **site)
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap", "dear"]
    rivals, switches = _rivals(change)
    assert _kept(_uses(switches, "1x400"), rivals) == ["cheap"]


# -- random catalogs ----------------------------------------------------------------------------------------------


def _with_rivals(parts: Json, seed: int) -> Json:
    """The catalog with switches that differ little from its first: dearer, leaner, with other cages or fewer ports."""
    dice = Dice(f"rivals-{seed}")
    switches = parts["switches"][:1]
    for number in range(3):
        rival = {**copy.deepcopy(dice.one(switches)), "id": f"switch-{dice.one('abc')}{number}"}
        cage = dice.one(rival["cages"])
        for _ in range(dice.number(1, 2)):
            match dice.number(0, 7):
                case 0:
                    rival["price_usd"] += dice.one([-40, -1, 0, 1, 40])
                case 1:
                    rival["power_w"] += dice.one([-1, 0, 1])
                case 2:
                    cage["count"] = max(2, cage["count"] + dice.one([-1, 1, 2]))
                case 3:
                    cage["splits"] = dice.some([*dict.fromkeys([*cage["splits"], "2x100", "1x200", "4x100"])], 1, 3)
                case 4:
                    rival["max_ports"] = dice.number(3, 12)
                case 5:
                    rival["cages"] = [*rival["cages"], {**cage, "splits": ["1x25"]}]
                case 6:
                    cage["lane_gbps"] = dice.one([50, 100])
                case 7:
                    rival["rack_units"] = dice.number(1, 2)
        switches = [*switches, rival]
    return {**parts, "switches": switches}


@pytest.mark.long("linear-20", "linear-0", "linear-8")
@pytest.mark.long(but_every=12)
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize(("family", "seed"), [(f, s) for s in range(24) for f in ("linear", "attached", "three_tier")])
def test_no_design_is_lost(family: str, seed: int) -> None:
    """Cost, ties, structure and bill are those of all designs, of which the oracle leaves none out."""
    parts, wanted = generate(family, seed)
    parts = _with_rivals(parts, seed)
    text = json.dumps({"catalog": parts, "case": wanted})
    assert_agrees(solve(parts, wanted), run(parts, wanted), text)
