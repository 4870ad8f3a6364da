"""Files of 0.2 with spines of two types: proven and used as they are, refused with one thing wrong, not designed again.

All are as 0.2.0 wrote them. ``by-hand``: nine servers in threes, six leaves of 3 + 3 ports, whose 18 uplinks a switch
of 12 ports and one of 8 take. ``last-group``: these with a last group of its own. ``one-model``: both types of one
model, with three links of a leaf to the first and two to the second.
"""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.output.space import space_line
from fabopt.output.terminal.families import links_of
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.cli_samples import Run
from tests.samples.small import Json, case, solved

FILES = Path(__file__).parent.parent / "inputs" / "spines-of-two-types"
NAMES = ("by-hand", "last-group", "one-model")


def design_of(name: str = "by-hand") -> Design:
    return Design.model_validate_json((FILES / f"{name}.json").read_text())


def failed(design: Design, fabric: Any) -> set[str]:
    """What fails where a fabric is another."""
    return {check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_proven_and_its_ports_are_mapped(name: str) -> None:
    """Every leaf has as many cables to a spine as the file says of the spine's type and the leaf's uplinks."""
    design = design_of(name)
    checks = verify(design)
    assert [check for check in checks if not check.ok] == []
    assert "spines_may_differ" in {check.name for check in checks}
    mixed, tier = design.fabrics[0].clos.mixed_spines, design.fabrics[0].tiers[1]
    assert mixed is not None and tier.other is not None
    wiring = wiring_of(design)
    devices = wiring.devices
    products = Counter(product for product, role in zip(devices.product, devices.role, strict=True) if role == "spine")
    assert products == Counter({tier.id: mixed.spines[0]}) + Counter({tier.other.id: mixed.spines[1]})
    pairs = Counter(
        (a, devices.product[b])
        for a, b in zip(wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True)
        if devices.role[b] == "spine"
    )
    if name == "by-hand":
        assert set(pairs.values()) == {1, 2} == {*mixed.links_per_pair}
        assert all(links == mixed.links_per_pair[product != tier.id] for (_, product), links in pairs.items())


@pytest.mark.parametrize(
    "changes",
    [
        {"spines": (2, 0)},
        {"spines": (1, 2)},
        {"weights": (4, 2)},
        {"weights": (1, 2)},
        {"links_per_pair": (1, 2)},
        {"links_per_pair": (3, 1)},
    ],
)
def test_what_is_wrong_of_the_structure_is_noticed(changes: Json) -> None:
    design = design_of()
    fabric = design.fabrics[0]
    assert fabric.clos.mixed_spines is not None
    both = fabric.clos.mixed_spines.model_copy(update=changes)
    wrong = fabric.model_copy(update={"structure": fabric.clos.model_copy(update={"mixed_spines": both})})
    assert "spines_may_differ" in failed(design, wrong)


@pytest.mark.parametrize(
    "changes",
    [{"id": "large"}, {"id": "lean"}, {"count": 2}, {"down_ports": 8}, {"up_ports": 1}, {"reserved_ports": 1}],
)
def test_what_is_wrong_of_the_tier_is_noticed(changes: Json) -> None:
    design = design_of()
    fabric = design.fabrics[0]
    tier = fabric.tiers[1]
    assert tier.other is not None
    other = tier.model_copy(update={"other": tier.other.model_copy(update=changes)})
    assert failed(design, fabric.model_copy(update={"tiers": (fabric.tiers[0], other)}))


def test_both_halves_of_it_have_to_be_there() -> None:
    design = design_of()
    fabric = design.fabrics[0]
    alike = fabric.tiers[1].model_copy(update={"other": None})
    assert failed(design, fabric.model_copy(update={"tiers": (fabric.tiers[0], alike)}))
    plain = fabric.clos.model_copy(update={"mixed_spines": None})
    assert "tiers_match_case" in failed(design, fabric.model_copy(update={"structure": plain}))


@pytest.mark.parametrize("changes", [{"spines": "one-type"}, {"striping": "any"}])
def test_it_has_to_be_allowed(changes: Json) -> None:
    design = design_of()
    content = copy.deepcopy(design.case.content)
    content["fabrics"][0].update(changes)
    refused = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert "spines_may_differ" in {check.name for check in verify(refused) if not check.ok}


def test_words_name_both_types() -> None:
    design = design_of()
    fabric = design.fabrics[0]
    assert "2 links from each leaf to each of 1, 1 to each of the other 1 of 2 spines" in links_of(
        fabric.structure, fabric
    )
    assert "one switch type a tier (spines may be of two)" in space_line(design)
    assert "spines may be" not in space_line(solved(case()))


def test_no_case_may_ask_for_it() -> None:
    with pytest.raises(InputError, match=r"fabrics\[0\]\.spines: .*'mixed'; allowed: one-type; leave out the key"):
        solved(case({"spines": "mixed"}))


def test_commands_prove_and_show_a_file_and_do_not_solve_it_again(run: Run, tmp_path: Path) -> None:
    path = str(FILES / "last-group.json")
    for arguments in (
        ["check", path],
        ["report", path, "-o", str(tmp_path / "page.html")],
        ["bom", path, "-o", str(tmp_path / "bom.csv")],
    ):
        code, _, err = run(*arguments)
        assert code == 0, err
    code, _, err = run("check", path, "--solve")
    assert code == 2
    assert "case.asked" in err
