"""Networks in service whose last group is unlike the others: it stays, or fills up, and groups come after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.schema.structure import LastGroup, Structure
from fabopt.units import ceil_div
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bare import bare
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.random_cases import generate
from tests.solution.test_brute_force import cage, case, catalog, switch

Json = dict[str, Any]


def ten() -> Json:
    """A catalog whose switches have ten ports of one lane, or twenty."""
    return catalog(switches=[switch("ten", cage(10, "1x100")), switch("twenty", cage(20, "1x100"))])


def of_servers(servers: int, **fabric: Any) -> Json:
    """A case of servers with one port each, on two tiers at 3:1, whose last group may differ."""
    content = bare(case(servers, {"tiers": 2, "groups": "any", "max_oversubscription": 3, **fabric}))
    return {key: value for key, value in content.items() if key != "catalog"}


def own_of(design: Design) -> LastGroup:
    """The group unlike the others."""
    last = design.fabrics[0].clos.last_group
    assert last is not None
    return last


def capex(design: Design) -> float:
    """Dollars of all that is bought."""
    assert design.totals is not None
    return design.totals.capex_usd


# -- random bases -----------------------------------------------------------------------------------------------------

# of these bases some servers of a last group are on fewer leaves, some have leaves of another type
TRIED = [*(("linear", seed) for seed in (7, 17, 22, 30)), *(("planes", seed) for seed in range(0, 40, 4))]


def a_base(family: str, seed: int) -> tuple[Json, Json]:
    """A random catalog, and a case whose last group may differ."""
    parts, content = generate(family, seed)
    fabric = {key: value for key, value in content["fabrics"][0].items() if key != "group_by"}
    fabric |= {"groups": "any", "tiers": 2, "rails": "any" if seed % 2 else "aligned"}
    wanted = {key: value for key, value in content.items() if key not in ("gpus", "stages", "catalog", "finance")}
    wanted |= {"servers": 5 + seed % 7, "fabrics": [fabric], "rules": "none"}
    return parts, {**wanted, "objective": "capex_usd", "include_servers": False}


def standing(structure: Structure) -> tuple[object, ...]:
    """What of the groups stays."""
    last = structure.last_group
    own = None if last is None else (last.ports_per_server_per_leaf, last.leaves, last.links_per_pair)
    return structure.servers_per_group, structure.ports_per_server_per_leaf, structure.links_per_pair, own


@pytest.mark.long(but=("planes-0", "planes-32"))
@pytest.mark.parametrize(("family", "seed"), TRIED)
def test_what_is_live_stays_whatever_comes(family: str, seed: int, tmp_path: Path) -> None:
    parts, wanted = a_base(family, seed)
    base = designed(parts, wanted)
    if base.status != "optimal" or base.fabrics[0].topology != "clos" or base.fabrics[0].clos.last_group is None:
        return
    old, before = base.fabrics[0].clos, 0.0
    for more in (0, 1, 2, old.servers_per_group, 2 * old.servers_per_group + 1):
        try:
            design = gone_on(parts, {**wanted, "servers": wanted["servers"] + more}, base, tmp_path)
        except InputError as refusal:
            assert all("of several parts" in fault.problem for fault in refusal.faults)
            return
        if design.status == "infeasible":
            assert more, "with nothing new the base is a design"
            continue
        assert design.status == "optimal"
        assert_stays(design, base, 0)
        assert standing(design.fabrics[0].clos) == standing(old)
        assert capex(design) >= before, "more servers never cost less"
        before = capex(design)
        if not more:
            assert capex(design) == 0 and live(wiring_of(design)) == live(wiring_of(base))


# -- by hand ----------------------------------------------------------------------------------------------------------
# Six servers on a leaf with two uplinks and three on one with a single uplink: three cables to the spine, where equal
# groups need four. A switch is 1,000 USD, a card 100, a cable 10 to a server and 20 to the spine.


@pytest.fixture(scope="module", name="base")
def nine() -> Design:
    """Nine servers, the last three on a leaf with a single uplink."""
    base = designed(ten(), of_servers(9))
    own = own_of(base)
    assert (base.fabrics[0].clos.servers_per_group, own.servers, own.up_ports) == (6, 3, 1)
    return base


def bought(base: Design, folder: Path, servers: int, **fabric: Any) -> tuple[Design, float]:
    """A design that goes on from a base, and what it spends."""
    design = gone_on(ten(), of_servers(servers, **fabric), base, folder)
    assert design.status == "optimal"
    assert_stays(design, base, 0)
    return design, capex(design)


@pytest.mark.long(but=("6",))
@pytest.mark.parametrize("more", [1, 6, 7])
def test_groups_like_the_others_come_after_it(base: Design, more: int, tmp_path: Path) -> None:
    design, spent = bought(base, tmp_path, 9 + more)
    leaves = ceil_div(more, 6)
    assert spent == leaves * (1000 + 2 * 20) + more * (100 + 10)
    own = own_of(design)
    assert (own.servers, own.number, design.fabrics[0].clos.groups) == (3, 2, 2 + leaves)


def test_it_fills_up_where_its_uplinks_carry_more(base: Design, tmp_path: Path) -> None:
    design, spent = bought(base, tmp_path, 12, max_oversubscription=6)
    assert spent == 3 * (100 + 10)
    assert (own_of(design).servers, own_of(design).number) == (6, None)
    design, spent = bought(base, tmp_path, 13, max_oversubscription=6)
    assert spent == 1000 + 2 * 20 + 4 * (100 + 10)
    assert own_of(design).number == 2


@pytest.mark.long
def test_one_goes_on_again_from_what_came_after_it(base: Design, tmp_path: Path) -> None:
    first, _ = bought(base, tmp_path, 13)
    same = gone_on(ten(), of_servers(13), first, tmp_path)
    assert capex(same) == 0 and live(wiring_of(same)) == live(wiring_of(first))
    design = gone_on(ten(), of_servers(20), first, tmp_path)
    assert_stays(design, first, 1)
    # two servers fill the third group, five are on a leaf of their own
    assert capex(design) == 1000 + 2 * 20 + 7 * (100 + 10)


def test_stages_go_on_from_it(base: Design, tmp_path: Path) -> None:
    content = {key: value for key, value in of_servers(9).items() if key != "servers"}
    content["stages"] = [{"name": "one", "servers": 10}, {"name": "two", "month": 6, "servers": 17}]
    design = gone_on(ten(), content, base, tmp_path)
    assert_stays(design, base, 0)
    assert [stage.capex_usd for stage in design.stages] == [0, 1040 + 110, 1040 + 7 * 110]


def test_a_file_that_says_otherwise_is_found_out(base: Design, tmp_path: Path) -> None:
    design, _ = bought(base, tmp_path, 15)
    (fabric,), own = design.fabrics, own_of(design)
    for key, value in (("number", None), ("number", 1), ("servers", 2), ("up_ports", 2)):
        last = own.model_copy(update={key: value})
        wrong = fabric.model_copy(update={"structure": fabric.clos.model_copy(update={"last_group": last})})
        failed = {check.name for check in verify(design.model_copy(update={"fabrics": (wrong,)})) if not check.ok}
        assert failed & {"last_group_may_differ", "base_stays"}


def test_moves_do_not_go_with_it(base: Design, tmp_path: Path) -> None:
    moved = {"file": str(saved(base, tmp_path)), "move": {"cable": 0, "device": 0}}
    with pytest.raises(InputError) as refusal:
        inputs_from_objects({**of_servers(12), "base": moved}, ten())
    (told,) = refusal.value.faults
    assert (told.path, told.value) == ("base.move", "compute")
